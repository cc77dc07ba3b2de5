// RNNCell: one step of a recurrent layer, made of other operators.
#include <cmath>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

enum Input { kInput, kWeights, kBias, kState, kRecurrent };

ir::TensorDesc Sums() {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  return desc;
}

// The same as RNNCell::Wire() of the public header.
class Body {
 public:
  explicit Body(const ir::OpRegistry& registry) : registry_(registry) {}

  ir::ValueId Input(const ir::TensorDesc* desc) {
    const ir::ValueId id = graph_.AddValue(*desc, ir::Role::kInput);
    graph_.AddInput(id);
    return id;
  }

  Result<ir::ValueId> Add(const char* name, std::vector<ir::ValueId> inputs,
                          ir::TensorDesc result) {
    result.shape = ir::Shape();
    ir::Node node;
    node.name = name;
    node.schema = registry_.Find(StrCat("tim.", name));
    if (node.schema == nullptr) {
      return TIM_INTERNAL("tim.", name, " is not registered");
    }
    if (node.name == "FullyConnected") node.attributes.Set("axis", int64_t{0});
    node.inputs = std::move(inputs);
    node.outputs = {graph_.AddValue(std::move(result))};
    const ir::ValueId output = node.outputs[0];
    graph_.AddNode(std::move(node));
    return output;
  }

  void Output(ir::ValueId value) { graph_.AddOutput(value); }
  ir::Graph Take() { return std::move(graph_); }

 private:
  const ir::OpRegistry& registry_;
  ir::Graph graph_{"RNNCell"};
};

Result<ir::Graph> Decompose(const ir::NodeView& view,
                            const ir::OpRegistry& registry) {
  Body body(registry);
  std::vector<ir::ValueId> in;
  for (const ir::TensorDesc* desc : view.inputs) in.push_back(body.Input(desc));
  TIM_ASSIGN_OR_RETURN(const ir::ValueId from_input,
                       body.Add("FullyConnected",
                                {in[kInput], in[kWeights], in[kBias]}, Sums()));
  TIM_ASSIGN_OR_RETURN(
      const ir::ValueId from_state,
      body.Add("FullyConnected", {in[kState], in[kRecurrent]}, Sums()));
  TIM_ASSIGN_OR_RETURN(const ir::ValueId sum,
                       body.Add("Add", {from_input, from_state}, Sums()));
  TIM_ASSIGN_OR_RETURN(const ir::ValueId result,
                       body.Add("Tanh", {sum}, *view.outputs[0]));
  body.Output(result);
  if (view.outputs.size() == 1) return body.Take();
  if (view.outputs[1] == nullptr) {
    body.Output(ir::kNone);
    return body.Take();
  }
  TIM_ASSIGN_OR_RETURN(const ir::ValueId next,
                       body.Add("DataConvert", {result}, *view.outputs[1]));
  body.Output(next);
  return body.Take();
}

Status CheckRanks(const ir::InferContext& context) {
  for (const int i : {kInput, kWeights, kState, kRecurrent}) {
    const ir::Shape& shape = context.shape(i);
    if (!shape.ranked() || shape.rank() == 2) continue;
    return InvalidArgument("input ", i, " must have rank 2, found ",
                           shape.ToString());
  }
  return OkStatus();
}

// Without this the Add of the two sums would broadcast.
Status CheckExtents(const ir::InferContext& context) {
  const ir::Shape& weights = context.shape(kWeights);
  const ir::Shape& input = context.shape(kInput);
  if (!weights.IsStatic() || !input.IsStatic()) return OkStatus();
  const int64_t units = weights[1];
  const auto expect = [&](int i, std::vector<int64_t> dims) -> Status {
    const ir::Shape& shape = context.shape(i);
    const ir::Shape expected(std::move(dims));
    if (!shape.IsStatic() || shape == expected) return OkStatus();
    return InvalidArgument("input ", i, " is ", shape.ToString(),
                           ", but input ", input.ToString(), " and weights ",
                           weights.ToString(), " need ", expected.ToString());
  };
  TIM_RETURN_IF_ERROR(expect(kWeights, {input[0], units}));
  TIM_RETURN_IF_ERROR(expect(kState, {units, input[1]}));
  TIM_RETURN_IF_ERROR(expect(kRecurrent, {units, units}));
  if (context.shape(kBias).NumElements() == units) return OkStatus();
  return expect(kBias, {units});
}

Status InferRnnCell(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckRanks(context));
  TIM_RETURN_IF_ERROR(CheckExtents(context));
  const ir::Shape& input = context.shape(kInput);
  const ir::Shape& weights = context.shape(kWeights);
  for (auto& output : context.outputs) {
    if (output.desc.type == ir::DataType::kUnknown) {
      output.desc.type = ir::DataType::kFloat32;
    }
    if (input.ranked() && weights.ranked()) {
      output.desc.shape = ir::Shape({weights[1], input[1]});
    }
  }
  return OkStatus();
}

// The sums are float32, as the tensors between the inner operators are.
Status EvalRnnCell(const ir::EvalContext& context) {
  const kernels::ElementReader input(context.inputs[kInput]);
  const kernels::ElementReader weights(context.inputs[kWeights]);
  const kernels::ElementReader bias(context.inputs[kBias]);
  const kernels::ElementReader state(context.inputs[kState]);
  const kernels::ElementReader recurrent(context.inputs[kRecurrent]);
  const int64_t width = context.inputs[kInput].desc->shape[0];
  const int64_t units = context.inputs[kWeights].desc->shape[1];
  const int64_t batch = context.inputs[kInput].desc->shape[1];
  kernels::ElementWriter out(context.outputs[0],
                             kernels::PolicyOf(context.attributes()));
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t u = 0; u < units; ++u) {
      double from_input = bias.Real(u);
      for (int64_t i = 0; i < width; ++i) {
        from_input +=
            double{input.Real(n * width + i)} * weights.Real(u * width + i);
      }
      double from_state = 0;
      for (int64_t v = 0; v < units; ++v) {
        from_state +=
            double{state.Real(n * units + v)} * recurrent.Real(u * units + v);
      }
      out.StoreReal(n * units + u,
                    static_cast<float>(std::tanh(from_input + from_state)));
    }
  }
  if (context.outputs.size() < 2 || context.outputs[1].data == nullptr) {
    return OkStatus();
  }
  const ir::ConstTensor result{context.outputs[0].desc,
                               context.outputs[0].data};
  kernels::ElementConverter next(result, context.outputs[1]);
  for (int64_t i = 0; i < units * batch; ++i) next.Convert(i, i);
  return OkStatus();
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 1);
  const double width = static_cast<double>(view.inputs[kInput]->shape[0]);
  const double units = static_cast<double>(view.inputs[kWeights]->shape[1]);
  const double batch = static_cast<double>(view.inputs[kInput]->shape[1]);
  estimate.flops = 2 * batch * units * (width + units);
  return estimate;
}

}  // namespace

TIM_OPERATOR(rnn_cell) {
  registry.Add(ir::OpSchema{.name = "RNNCell",
                            .inputs = {5, 5},
                            .outputs = {1, 2},
                            .infer_shapes = InferRnnCell,
                            .eval = EvalRnnCell,
                            .memory_estimate = NoScratch,
                            .compute_estimate = Estimate,
                            .decompose = Decompose});
}

}  // namespace tim::ops
