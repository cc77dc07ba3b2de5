#include "compiler/module.h"

namespace tim::compiler {

std::string Describe(const ir::Graph& graph, const ir::Node& node) {
  std::string text = StrCat("operation ", node.name);
  if (!graph.name().empty()) text += StrCat(" of graph '", graph.name(), "'");
  return text;
}

std::string DescribeOperands(const ir::Graph& graph, const ir::Node& node) {
  std::string text;
  const auto add = [&](const char* what, size_t index, ir::ValueId id) {
    text += StrCat("\n  ", what, " ", index, ": ");
    text += id == ir::kNone ? "not bound"
                            : StrCat(graph.value(id).name, " ",
                                     graph.value(id).desc.ToString());
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    add("input", i, node.inputs[i]);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    add("output", i, node.outputs[i]);
  }
  return text;
}

NodeDescs::NodeDescs(const ir::Graph& graph, const ir::Node& node)
    : node_(node) {
  for (const ir::ValueId id : node.inputs) {
    inputs_.push_back(id != ir::kNone ? &graph.value(id).desc : nullptr);
  }
  for (const ir::ValueId id : node.outputs) {
    outputs_.push_back(id != ir::kNone ? &graph.value(id).desc : nullptr);
  }
}

}  // namespace tim::compiler
