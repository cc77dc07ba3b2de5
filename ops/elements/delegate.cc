#include "ops/elements/delegate.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_registry.h"

namespace tim::ops {
namespace {

constexpr int kHeight = 1;
constexpr int kRowRank = 3;

// The extents of `shape` on the axes `from`; -1 is an axis of 1.
ir::Shape OnAxes(const ir::Shape& shape, const std::vector<int>& from) {
  ir::Shape out = ir::Shape(std::vector<int64_t>(from.size(), 1));
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] < 0) continue;
    const int axis = static_cast<int>(i);
    out.set_dim(axis, shape[from[i]]);
    const int64_t bound = shape.Bound(from[i]);
    if (shape[from[i]] == ir::kUnknownDim && bound != ir::kUnknownDim) {
      out.SetBound(axis, bound);
    }
  }
  return out;
}

Result<ir::Node> TargetNode(const Delegate& delegate, const ir::Node& node) {
  ir::Node out;
  out.name = delegate.target.name;
  out.schema = &delegate.target;
  TIM_ASSIGN_OR_RETURN(out.attributes, delegate.attributes(node.attributes));
  for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
    const ir::Attribute* value = node.attributes.Find(spec.name);
    if (value != nullptr) out.attributes.Set(spec.name, *value);
  }
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(delegate.target, &out.attributes));
  return out;
}

// Descs as the target sees them, behind the pointers that a view holds.
class TargetDescs {
 public:
  using Pointers = std::vector<const ir::TensorDesc*>;

  TargetDescs(const Delegate& delegate,
              std::span<const ir::TensorDesc* const> inputs,
              std::span<const ir::TensorDesc* const> outputs)
      : inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {
    rows_.reserve(inputs_.size() + outputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (static_cast<int>(i) < delegate.rows) Raise(&inputs_[i]);
    }
    if (delegate.rows == 0) return;
    for (const ir::TensorDesc*& output : outputs_) Raise(&output);
  }
  TargetDescs(const TargetDescs&) = delete;
  TargetDescs& operator=(const TargetDescs&) = delete;

  const Pointers& inputs() const { return inputs_; }
  const Pointers& outputs() const { return outputs_; }

 private:
  void Raise(const ir::TensorDesc** desc) {
    if (*desc == nullptr) return;
    rows_.push_back(WithHeight(**desc));
    *desc = &rows_.back();
  }

  std::vector<ir::TensorDesc> rows_;
  Pointers inputs_;
  Pointers outputs_;
};

Status CheckRanks(const Delegate& delegate, const ir::InferContext& context) {
  for (int i = 0; i < delegate.rows; ++i) {
    if (!context.has_input(i)) continue;
    const ir::Shape& shape = context.shape(i);
    if (!shape.ranked() || shape.rank() == kRowRank) continue;
    return InvalidArgument("input ", i, " ", shape.ToString(), " has rank ",
                           shape.rank(), ", expected ", kRowRank);
  }
  return OkStatus();
}

Status Infer(const Delegate& delegate, ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckRanks(delegate, context));
  if (delegate.check) TIM_RETURN_IF_ERROR(delegate.check(context));
  TIM_ASSIGN_OR_RETURN(const ir::Node node, TargetNode(delegate, context.node));
  std::vector<const ir::TensorDesc*> inputs;
  for (const auto& input : context.inputs) inputs.push_back(input.desc);
  const TargetDescs descs(delegate, inputs, {});
  ir::InferContext target{
      .node = node, .inputs = context.inputs, .outputs = context.outputs};
  for (size_t i = 0; i < inputs.size(); ++i) {
    target.inputs[i].desc = descs.inputs()[i];
  }
  ir::InferContext::Output& output = target.outputs[0];
  ir::Shape declared;
  if (delegate.rows > 0) {
    output.desc = WithHeight(output.desc);
    const bool same_rank =
        output.declared != nullptr && output.declared->rank() == kRowRank;
    if (same_rank) declared = WithHeight(*output.declared);
    output.declared = same_rank ? &declared : nullptr;
  }
  TIM_RETURN_IF_ERROR(delegate.target.infer_shapes(target));
  context.outputs[0].desc =
      delegate.rows > 0 ? WithoutHeight(output.desc) : output.desc;
  context.outputs[0].is_scalar = output.is_scalar;
  return OkStatus();
}

Status Eval(const Delegate& delegate, const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(const ir::Node node, TargetNode(delegate, context.node));
  std::vector<const ir::TensorDesc*> in, out;
  for (const ir::ConstTensor& input : context.inputs) in.push_back(input.desc);
  for (const ir::MutableTensor& each : context.outputs) {
    out.push_back(each.desc);
  }
  const TargetDescs descs(delegate, in, out);
  std::vector<ir::ConstTensor> inputs(context.inputs.begin(),
                                      context.inputs.end());
  std::vector<ir::MutableTensor> outputs(context.outputs.begin(),
                                         context.outputs.end());
  for (size_t i = 0; i < in.size(); ++i) inputs[i].desc = descs.inputs()[i];
  for (size_t i = 0; i < out.size(); ++i) outputs[i].desc = descs.outputs()[i];
  return delegate.target.eval(ir::EvalContext{node, inputs, outputs});
}

// ask(view of the target), or an empty answer for attributes that are wrong.
template <typename Ask>
auto AskTarget(const Delegate& delegate, const ir::NodeView& view, Ask ask)
    -> decltype(ask(view)) {
  const Result<ir::Node> node = TargetNode(delegate, view.node);
  if (!node.ok()) return {};
  const TargetDescs descs(delegate, view.inputs, view.outputs);
  return ask(ir::NodeView{*node, descs.inputs(), descs.outputs()});
}

ir::TensorDesc Undeclared(ir::TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

class Body {
 public:
  Body(const std::string& name, const ir::OpRegistry& registry)
      : graph_(name), registry_(registry) {}

  ir::ValueId Input(const ir::TensorDesc* desc) {
    const ir::ValueId id =
        desc == nullptr ? ir::kNone : graph_.AddValue(*desc, ir::Role::kInput);
    graph_.AddInput(id);
    return id;
  }

  // `result` with a shape is one that rules.
  Result<ir::ValueId> Add(const std::string& name, ir::AttributeMap attributes,
                          std::vector<ir::ValueId> inputs,
                          ir::TensorDesc result) {
    ir::Node node;
    node.name = name;
    node.schema = registry_.Find(StrCat("tim.", name));
    if (node.schema == nullptr) {
      return TIM_INTERNAL("tim.", name, " is not registered");
    }
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    const bool declared = result.shape.ranked();
    const ir::ValueId output = graph_.AddValue(std::move(result));
    graph_.value(output).shape_declared = declared;
    node.outputs = {output};
    graph_.AddNode(std::move(node));
    return output;
  }

  Result<ir::ValueId> Reshape(ir::ValueId input, std::vector<int64_t> shape,
                              ir::TensorDesc result) {
    return Add("Reshape", {{"shape", std::move(shape)}}, {input},
               Undeclared(std::move(result)));
  }

  ir::Graph Take(ir::ValueId output) {
    graph_.AddOutput(output);
    return std::move(graph_);
  }

 private:
  ir::Graph graph_;
  const ir::OpRegistry& registry_;
};

// Of Reshape's `shape`, where an unknown extent is what remains and 0 copies.
int64_t Extent(const ir::Shape& shape, int axis) {
  return shape.ranked() ? shape[axis] : ir::kUnknownDim;
}

Result<ir::Graph> Decompose(const std::string& name, const Delegate& delegate,
                            const ir::NodeView& view,
                            const ir::OpRegistry& registry) {
  TIM_ASSIGN_OR_RETURN(const ir::Node node, TargetNode(delegate, view.node));
  Body body(name, registry);
  std::vector<ir::ValueId> inputs;
  for (const ir::TensorDesc* desc : view.inputs) {
    inputs.push_back(body.Input(desc));
  }
  for (int i = 0; i < delegate.rows; ++i) {
    const ir::TensorDesc& desc = *view.inputs[i];
    TIM_ASSIGN_OR_RETURN(inputs[i], body.Reshape(inputs[i],
                                                 {0, 1, Extent(desc.shape, 1),
                                                  Extent(desc.shape, 2)},
                                                 WithHeight(desc)));
  }
  const ir::TensorDesc& output = *view.outputs[0];
  if (delegate.rows == 0) {
    TIM_ASSIGN_OR_RETURN(
        const ir::ValueId result,
        body.Add(delegate.target.name, node.attributes, inputs, output));
    return body.Take(result);
  }
  ir::TensorDesc raised = WithHeight(Undeclared(output));
  if (output.shape.rank() == kRowRank) raised.shape = WithHeight(output.shape);
  TIM_ASSIGN_OR_RETURN(
      const ir::ValueId result,
      body.Add(delegate.target.name, node.attributes, inputs, raised));
  const int64_t last = Extent(view.inputs[0]->shape, 2);
  TIM_ASSIGN_OR_RETURN(
      const ir::ValueId lowered,
      body.Reshape(result, {0, ir::kUnknownDim, last}, output));
  return body.Take(lowered);
}

}  // namespace

ir::Shape WithHeight(const ir::Shape& shape) {
  return shape.ranked() ? OnAxes(shape, {0, -1, 1, 2}) : shape;
}

ir::TensorDesc WithHeight(ir::TensorDesc desc) {
  desc.shape = WithHeight(desc.shape);
  int& axis = desc.quantization.axis;
  if (desc.quantization.per_channel() && axis >= kHeight) ++axis;
  return desc;
}

ir::Shape WithoutHeight(const ir::Shape& shape) {
  return shape.ranked() ? OnAxes(shape, {0, 2, 3}) : shape;
}

ir::TensorDesc WithoutHeight(ir::TensorDesc desc) {
  desc.shape = WithoutHeight(desc.shape);
  int& axis = desc.quantization.axis;
  if (desc.quantization.per_channel() && axis > kHeight) --axis;
  return desc;
}

ir::OpSchema DelegatingSchema(ir::OpSchema schema, Delegate delegate) {
  const auto shared = std::make_shared<const Delegate>(std::move(delegate));
  schema.infer_shapes = [shared](ir::InferContext& context) {
    return Infer(*shared, context);
  };
  schema.doubts = [shared, own = schema.doubts](const ir::NodeView& view) {
    std::vector<std::string> all;
    if (own) all = own(view);
    if (!shared->target.doubts) return all;
    const std::vector<std::string> more =
        AskTarget(*shared, view, shared->target.doubts);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  schema.eval = [shared](const ir::EvalContext& context) {
    return Eval(*shared, context);
  };
  schema.memory_estimate = [shared](const ir::NodeView& view) {
    return AskTarget(*shared, view, shared->target.memory_estimate);
  };
  schema.compute_estimate = [shared](const ir::NodeView& view) {
    return AskTarget(*shared, view, shared->target.compute_estimate);
  };
  schema.decompose = [shared, name = schema.name](
                         const ir::NodeView& view,
                         const ir::OpRegistry& registry) {
    return Decompose(name, *shared, view, registry);
  };
  return schema;
}

}  // namespace tim::ops
