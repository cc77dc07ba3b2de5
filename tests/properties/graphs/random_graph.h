// Graphs of operators drawn from their descriptions, as the public API has
// them.
#ifndef TIM_TESTS_PROPERTIES_GRAPHS_RANDOM_GRAPH_H_
#define TIM_TESTS_PROPERTIES_GRAPHS_RANDOM_GRAPH_H_

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/properties/node_case.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/builtin_op.h"
#include "tim/vx/context.h"

namespace tim::testing {

/// Any operator by name.
class AnyOp : public vx::BuiltinOp {
 public:
  AnyOp(vx::Graph* graph, std::string op, const ir::AttributeMap& attributes);
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;

 private:
  std::string op_;
};

struct RandomValue {
  ir::TensorDesc desc;
  /// Of an input or a constant.
  std::optional<TensorData> data = {};
  bool is_constant = false;
  bool is_free = false;      ///< Any value is legal for its readers.
  bool is_declared = false;  ///< Its shape is, as that of an OUTPUT.
  bool is_read = false;
};

struct RandomNode {
  std::string op;
  ir::AttributeMap attributes = {};
  std::vector<int> inputs = {};  ///< Values; -1: absent.
  std::vector<int> outputs = {};
};

/// Nodes in an order in which they can run.
struct RandomGraph {
  std::vector<RandomValue> values;
  std::vector<RandomNode> nodes;

  /// A node of `cases`, on values of the graph where they fit.  False where
  /// the public API cannot say any of its nodes.
  bool Add(const OperatorCases& cases, std::mt19937& rng);
  bool IsOutput(int value) const {
    return !values[value].data &&
           (values[value].is_declared || !values[value].is_read);
  }
  /// How many operands are results of nodes.
  int Joined() const;
  std::string Dump() const;

 private:
  int Fitting(const ir::TensorDesc& desc) const;
  int Reshaped(const ir::TensorDesc& desc);
  bool AddNode(const NodeCase& node, bool must_fit, std::mt19937& rng);
};

/// A graph of tim::vx and its tensors.
struct BuiltGraph {
  std::shared_ptr<vx::Graph> graph;
  std::vector<std::shared_ptr<vx::Tensor>> tensors;  ///< By value.
  /// In which order the inputs arrive, by value; empty: as they are.
  std::vector<ir::Permutation> arrival;
};

/// As it is.
BuiltGraph Build(const RandomGraph& random, vx::Context& context);
/// With inputs that arrive in other orders, and with operators in other
/// layouts between Transposes: LayoutInference() makes the same of it.
BuiltGraph BuildInLayouts(const RandomGraph& random, vx::Context& context,
                          std::mt19937& rng);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_GRAPHS_RANDOM_GRAPH_H_
