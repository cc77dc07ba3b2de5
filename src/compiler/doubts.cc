// Doubts that hold for every operator: declared shapes and layout arguments.
#include "compiler/doubts.h"

#include <vector>

#include "ir/node_descs.h"
#include "ir/permuted_node.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

std::vector<int64_t> WithoutOnes(const ir::Shape& shape) {
  std::vector<int64_t> extents;
  for (const int64_t extent : shape.dims()) {
    if (extent != 1) extents.push_back(extent);
  }
  return extents;
}

std::string NameOf(const ir::AttributeSpec& spec, int64_t value) {
  for (const auto& [name, number] : spec.values) {
    if (number == value) return name;
  }
  return StrCat(value);
}

// The attributes that the default layouts change: "attribute 'layout' says
// CWHN".
std::string NamedLayouts(const Node& node, const ir::AttributeMap& usual) {
  std::string text;
  for (const ir::AttributeSpec& spec : node.schema->attributes) {
    if (spec.type != ir::AttributeType::kInt || spec.values.empty()) continue;
    const int64_t given = node.attributes.Int(spec.name);
    const int64_t expected = usual.Int(spec.name);
    if (given == expected) continue;
    text += StrCat(text.empty() ? "" : ", ", "attribute '", spec.name,
                   "' says ", NameOf(spec, given), ", data is read as ",
                   NameOf(spec, expected));
  }
  return text;
}

// Layout rules want the outputs' shapes to be unknown.
class OpenOutputs {
 public:
  OpenOutputs(const Graph& graph, const Node& node)
      : descs_(graph, node), open_(node.outputs.size()) {
    for (const ir::TensorDesc& desc : open_) outputs_.push_back(&desc);
  }
  ir::NodeView view() const {
    const ir::NodeView all = descs_.view();
    return {all.node, all.inputs, outputs_};
  }

 private:
  const ir::NodeDescs descs_;
  const std::vector<ir::TensorDesc> open_;
  std::vector<const ir::TensorDesc*> outputs_;
};

bool HasRanks(const Graph& graph, const Node& node) {
  for (const ir::ValueId id : node.inputs) {
    if (id != ir::kNone && !graph.value(id).desc.shape.ranked()) return false;
  }
  return true;
}

}  // namespace

ir::Shape DeclaredShape(const ir::Value& value, const ir::Shape& inferred) {
  if (value.shape_declared) return value.desc.shape;
  const ir::Shape& preferred = value.preferred_shape;
  const auto count = inferred.NumElements();
  const bool fits = preferred.IsStatic() && inferred.IsStatic() && count &&
                    preferred.NumElements() == count;
  return fits ? preferred : ir::Shape();
}

std::string ShapeDoubt(const Graph& graph, const Node& node,
                       const ir::InferContext& inferred) {
  std::string text;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    const ir::Value& value = graph.value(node.outputs[i]);
    const ir::Shape& made = inferred.outputs[i].desc.shape;
    const ir::Shape declared = DeclaredShape(value, made);
    if (!declared.IsStatic() || !made.IsStatic() ||
        declared.NumElements() != made.NumElements() ||
        WithoutOnes(declared) == WithoutOnes(made)) {
      continue;
    }
    text += StrCat(text.empty() ? "" : "; ", "output ", i, ", ", value.name,
                   ", is declared as ", declared.ToString(),
                   ", but the operation gives ", made.ToString(),
                   ", whose elements it gets in their order");
  }
  if (text.empty()) return text;
  return text +
         "; declare the shape that the operation gives, or add a "
         "Reshape or Transpose that says what is meant";
}

std::string UnappliedLayouts(const Graph& graph, const Node& node) {
  if (!node.schema->layout_rule || !HasRanks(graph, node)) return "";
  const OpenOutputs descs(graph, node);
  const auto usual = node.schema->layout_rule(descs.view());
  if (!usual.ok()) return std::string(usual.status().message());
  return NamedLayouts(node, usual->attributes);
}

Status SayDoubts(const Module& module, const Graph& graph, const Node& node) {
  if (node.schema == nullptr || node.schema->user_kernel) return OkStatus();
  const std::string layouts = UnappliedLayouts(graph, node);
  if (!layouts.empty()) {
    TIM_RETURN_IF_ERROR(
        Doubt(module, graph, node,
              StrCat(layouts,
                     ": Compile() does not apply layout arguments; compile the "
                     "graph that tim::transform::LayoutInference() returns")));
  }
  if (!node.schema->doubts) return OkStatus();
  for (const std::string& doubt :
       node.schema->doubts(ir::NodeDescs(graph, node).view())) {
    TIM_RETURN_IF_ERROR(Doubt(module, graph, node, doubt));
  }
  return OkStatus();
}

}  // namespace tim::compiler
