// What Transposes leave of a graph: tensors, and the orders of axes in which
// their readers want them.
#ifndef TIM_COMPILER_TRANSPOSES_NETS_H_
#define TIM_COMPILER_TRANSPOSES_NETS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "compiler/module.h"
#include "ir/permuted_node.h"

namespace tim::compiler {

/// The nodes that have other axes than at first, and how.
using PermutedNodes =
    std::map<ir::NodeId, std::shared_ptr<const ir::PermutedNode>>;

/// A reader of a net.
struct Sink {
  ir::NodeId node = ir::kNone;  ///< kNone: the graph's user, or a state.
  int operand = 0;
  ir::ValueId value = ir::kNone;  ///< That it reads at first.
};

/// A value that no Transpose makes, with all that Transposes make of it.  An
/// order is that of axes against those of `root`: axis i of a tensor of the net
/// is axis order[i] of `root`; axes beyond the rank have an extent of 1.
struct Net {
  ir::ValueId root = ir::kNone;
  ir::NodeId driver = ir::kNone;  ///< That makes `root`; kNone: no node does.
  int output = 0;                 ///< Of the driver.
  std::vector<Sink> sinks;
  std::vector<ir::NodeId> transposes;
};

/// Whether Transposes at graph inputs and outputs cost what others do, see
/// LayoutOptions::free_ports.
enum class PortCost : uint8_t { kCounted, kFree };

class Nets {
 public:
  /// Of a graph with known ranks.  `stays` names Transposes that count as any
  /// other node.
  Nets(const ir::Graph& graph, const std::vector<ir::NodeId>& order,
       const std::function<bool(const ir::Node&)>& stays,
       PortCost port_cost = PortCost::kCounted);

  const ir::Graph& graph() const { return graph_; }
  const std::vector<Net>& all() const { return nets_; }
  int NetOf(ir::ValueId value) const { return net_of_[value]; }
  /// The order in which `value` is at first; of its rank.
  const ir::Permutation& OrderOf(ir::ValueId value) const {
    return orders_[value];
  }

  /// Orders, with axes of PermutedNodes.
  ir::Permutation Driven(const Net& net, const PermutedNodes& nodes) const;
  ir::Permutation Wanted(const Sink& sink, const PermutedNodes& nodes) const;
  /// An operand's order where its node permutes it by `perm`.
  ir::Permutation OrderBy(ir::ValueId value, const ir::Permutation& perm) const;

  /// Equal for two orders in which the bytes are the same.
  ir::Permutation Key(const Net& net, const ir::Permutation& order) const;
  /// True where the order in which the net is driven costs nothing: it is a
  /// port's memory.
  bool IsFreelyDriven(const Net& net) const;
  /// The same of the order in which the graph's user reads it.
  bool IsFreelyRead(const Net& net) const;
  /// What one Transpose costs; nothing for constants.
  double Weight(const Net& net) const;
  /// What all that the sinks need costs.
  double Cost(const Net& net, const PermutedNodes& nodes) const;

 private:
  void AddToNet(const ir::Node& node);
  void AddNet(ir::ValueId root);

  const ir::Graph& graph_;
  const PortCost port_cost_;
  std::vector<Net> nets_;
  std::vector<int> net_of_;              ///< By value; -1: of none.
  std::vector<ir::Permutation> orders_;  ///< By value.
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_NETS_H_
