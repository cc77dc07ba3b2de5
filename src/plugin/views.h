// Nodes and graphs as plug-ins see them.
#ifndef TIM_PLUGIN_VIEWS_H_
#define TIM_PLUGIN_VIEWS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/constant.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "plugin/descs.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

using Descs = std::vector<std::unique_ptr<DescView>>;  ///< Null: absent.
using ConstantBytes = std::shared_ptr<const ir::ConstantData>;

/// An operator that follows the anchor of a fused node.
struct EpilogueView {
  std::unique_ptr<TimNode> node;
  std::vector<int32_t> operands;
};

/// An attribute with what it points to.
struct NamedAttribute {
  std::string name;
  std::unique_ptr<TimGraph> graph;  ///< Of an attribute that is one.
  std::unique_ptr<AttributeView> value;
};

}  // namespace tim::plugin

/// The host's side of the opaque type, for one call: what it shows does not
/// change once it is made.
/// It points into the node that it shows.
struct TimNode {
  TimNode();
  ~TimNode();

  const tim::ir::Node* node = nullptr;
  std::string op;
  tim::plugin::Descs inputs, outputs;
  std::vector<tim::plugin::ConstantBytes> constants;  ///< Per input, or null.
  std::vector<tim::plugin::NamedAttribute> attributes;
  std::unique_ptr<TimNode> anchor;  ///< Of a fused node.
  std::vector<tim::plugin::EpilogueView> epilogue;
  /// Whether the plug-in asked for the epilogue: of what it knows nothing it
  /// does nothing.
  mutable bool epilogue_was_read = false;
  std::unique_ptr<TimGraph> body;
  tim::ir::ComputeEstimate estimate;
};

struct TimGraph {
  TimGraph();
  ~TimGraph();

  const tim::ir::Graph* graph = nullptr;
  std::vector<std::unique_ptr<TimNode>> nodes;  ///< In topological order.
  std::map<tim::ir::NodeId, int32_t> places;    ///< In `nodes`.
  std::map<tim::ir::ValueId, std::unique_ptr<tim::plugin::DescView>> values;
};

namespace tim::plugin {

/// The view of a kernel; valid while `node` is.
Result<std::unique_ptr<TimNode>> ViewOf(const ir::KernelNode& node);

/// An operand of an operator's node.
struct OperandView {
  const ir::TensorDesc* desc = nullptr;  ///< Null: absent.
  bool is_scalar = false;
  ConstantBytes constant = nullptr;  ///< Null: it is none.
};
/// The view of an operator's functions; valid while `node` is.
std::unique_ptr<TimNode> ViewOf(const ir::Node& node,
                                const std::vector<OperandView>& inputs,
                                const std::vector<OperandView>& outputs);

/// A graph without cycles; valid while `graph` is.
Result<std::unique_ptr<TimGraph>> ViewOf(const ir::Graph& graph);

/// The functions that look at them.
const TimViewFns& Views();

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_VIEWS_H_
