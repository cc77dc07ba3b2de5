// Why operands do not fit each other: layout arguments that nothing applied, or
// extents in the order of frameworks, slowest first.
#include <algorithm>
#include <vector>

#include "compiler/doubts.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::TensorDesc;

ir::Shape Reversed(const ir::Shape& shape) {
  if (!shape.ranked()) return shape;
  return ir::Shape(
      std::vector<int64_t>(shape.dims().rbegin(), shape.dims().rend()));
}

TensorDesc Reversed(TensorDesc desc) {
  desc.shape = Reversed(desc.shape);
  int& axis = desc.quantization.axis;
  if (desc.quantization.per_channel()) axis = desc.shape.rank() - 1 - axis;
  return desc;
}

// A node that was refused, and whose operands may be turned round.
class Trial {
 public:
  Trial(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
    for (const ir::ValueId id : node.inputs) {
      inputs_.push_back(id == ir::kNone ? TensorDesc() : graph.value(id).desc);
    }
    for (const ir::ValueId id : node.outputs) {
      const bool declared = id != ir::kNone && graph.value(id).shape_declared;
      declared_.push_back(declared ? graph.value(id).desc.shape : ir::Shape());
    }
  }

  // False where that changes nothing.
  bool ReverseInput(size_t index) {
    const ir::Shape before = inputs_[index].shape;
    inputs_[index] = Reversed(inputs_[index]);
    return inputs_[index].shape != before;
  }
  bool ReverseAll() {
    bool changed = false;
    for (size_t i = 0; i < inputs_.size(); ++i) changed |= ReverseInput(i);
    for (ir::Shape& shape : declared_) shape = Reversed(shape);
    return changed;
  }
  const TensorDesc& input(size_t index) const { return inputs_[index]; }

  bool Fits() const {
    ir::InferContext context{.node = node_, .inputs = {}, .outputs = {}};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      ir::InferContext::Input& input = context.inputs.emplace_back();
      if (node_.inputs[i] == ir::kNone) continue;
      const ir::Value& value = graph_.value(node_.inputs[i]);
      input = {&inputs_[i], value.constant.get(), value.is_scalar,
               value.role == ir::Role::kConstant};
    }
    for (size_t i = 0; i < declared_.size(); ++i) {
      ir::InferContext::Output& output = context.outputs.emplace_back();
      if (node_.outputs[i] == ir::kNone) continue;
      output.desc = graph_.value(node_.outputs[i]).desc;
      output.desc.shape = ir::Shape();
      if (declared_[i].ranked()) output.declared = &declared_[i];
    }
    return node_.schema->infer_shapes(context).ok() && GivesOutputs(context) &&
           PassesCheck(context);
  }

 private:
  // Whether they can be counted, and have as many elements as are declared.
  bool GivesOutputs(const ir::InferContext& context) const {
    for (size_t i = 0; i < declared_.size(); ++i) {
      const ir::Shape& made = context.outputs[i].desc.shape;
      if (!made.IsStatic()) continue;
      if (!made.NumElements()) return false;
      if (!declared_[i].IsStatic()) continue;
      if (declared_[i].NumElements() != made.NumElements()) return false;
    }
    return true;
  }

  bool PassesCheck(const ir::InferContext& context) const {
    if (!node_.schema->check) return true;
    std::vector<const TensorDesc*> in, out;
    for (const auto& input : context.inputs) in.push_back(input.desc);
    for (size_t i = 0; i < context.outputs.size(); ++i) {
      const bool absent = node_.outputs[i] == ir::kNone;
      out.push_back(absent ? nullptr : &context.outputs[i].desc);
      if (!absent && out[i]->type == ir::DataType::kUnknown) return false;
    }
    return node_.schema->check({node_, in, out}).ok();
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<TensorDesc> inputs_;
  std::vector<ir::Shape> declared_;
};

// "" where the operands do not fit in any of these orders.
std::string ReversedOperands(const Graph& graph, const Node& node) {
  constexpr const char* kRule =
      " (extents begin with that of the axis whose elements are neighbours in "
      "memory, so that a framework's shape is given in reverse)";
  Trial all(graph, node);
  if (all.ReverseAll() && all.Fits()) {
    return StrCat(
        "; the operands would fit with the dimensions of all of them "
        "in reverse order",
        kRule);
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Trial one(graph, node);
    if (node.inputs[i] == ir::kNone || !one.ReverseInput(i) || !one.Fits()) {
      continue;
    }
    return StrCat("; the operands would fit with the dimensions of input ", i,
                  " in reverse order, ", one.input(i).shape.ToString(), kRule);
  }
  return "";
}

}  // namespace

std::string LikelyCause(const Graph& graph, const Node& node) {
  if (node.schema == nullptr || node.schema->user_kernel) return "";
  const std::string layouts = UnappliedLayouts(graph, node);
  if (!layouts.empty()) {
    return StrCat("; ", layouts,
                  ": tim::transform::LayoutInference() applies layout "
                  "arguments, Compile() does not");
  }
  if (node.composite && !node.schema->decompose) return "";
  return ReversedOperands(graph, node);
}

}  // namespace tim::compiler
