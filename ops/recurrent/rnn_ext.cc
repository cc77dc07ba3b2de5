// UnidirectionalSequenceRnnExt and BidirectionalSequenceRnnExt: the recurrent
// layers with the operands of ONNX, time-major; D is 1 or 2 directions.
// Inputs: x [I, B, T], W [I, U, D], R [U, U, D], biases [2 U, D], states
// [U, B, D].  Outputs: last states [U, B, D], sequence [U, D, B, T] of one
// direction, [U, B, D, T] of two.
#include <array>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/elements/product_sum.h"
#include "ops/recurrent/rnn.h"
#include "ops/recurrent/sequence.h"

namespace tim::ops {
namespace {

enum Input { kX, kWeights, kRecurrent, kBiases, kState, kInputs };
enum Output { kLast, kSequence };

int64_t DirectionsOf(const ir::OpSchema& schema) {
  return schema.name == "BidirectionalSequenceRnnExt" ? 2 : 1;
}

std::string LayerOf(int64_t directions) {
  return directions == 2 ? "BidirectionalSequenceRnn"
                         : "UnidirectionalSequenceRnn";
}

// The layer's attributes.
ir::AttributeMap LayerAttributes(const ir::AttributeMap& attributes) {
  return {{"activation", attributes.Int("activation")}, {"time_major", true}};
}

// ---- the body ---------------------------------------------------------------

// The same as Wire() of the public headers.
class Body {
 public:
  Body(const std::string& name, const ir::OpRegistry& registry)
      : graph_(name), registry_(registry) {}

  ir::ValueId Input(const ir::TensorDesc* desc) {
    const ir::ValueId id = graph_.AddValue(*desc, ir::Role::kInput);
    graph_.AddInput(id);
    return id;
  }

  // Results like `result`, of any shape; none where it is null.
  Result<std::vector<ir::ValueId>> Add(
      const std::string& name, ir::AttributeMap attributes,
      std::vector<ir::ValueId> inputs,
      const std::vector<const ir::TensorDesc*>& results) {
    ir::Node node;
    node.name = name;
    node.schema = registry_.Find(StrCat("tim.", name));
    if (node.schema == nullptr) {
      return TIM_INTERNAL("tim.", name, " is not registered");
    }
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    for (const ir::TensorDesc* result : results) {
      ir::ValueId id = ir::kNone;
      if (result != nullptr) {
        ir::TensorDesc desc = *result;
        desc.shape = ir::Shape();
        id = graph_.AddValue(std::move(desc));
      }
      node.outputs.push_back(id);
    }
    const std::vector<ir::ValueId> outputs = node.outputs;
    graph_.AddNode(std::move(node));
    return outputs;
  }

  Result<std::vector<ir::ValueId>> Unstack(ir::ValueId input, int64_t axis,
                                           int64_t count,
                                           const ir::TensorDesc* like) {
    return Add("Unstack", {{"axis", axis}, {"output_num", count}}, {input},
               std::vector(static_cast<size_t>(count), like));
  }

  Status Stack(std::vector<ir::ValueId> inputs, int64_t axis,
               const ir::TensorDesc* like) {
    const auto count = static_cast<int64_t>(inputs.size());
    TIM_ASSIGN_OR_RETURN(const auto stacked,
                         Add("Stack", {{"axis", axis}, {"input_cnt", count}},
                             std::move(inputs), {like}));
    graph_.AddOutput(stacked[0]);
    return OkStatus();
  }

  void NoOutput() { graph_.AddOutput(ir::kNone); }
  ir::Graph Take() { return std::move(graph_); }

 private:
  ir::Graph graph_;
  const ir::OpRegistry& registry_;
};

Result<ir::Graph> Decompose(const ir::NodeView& view,
                            const ir::OpRegistry& registry) {
  const int64_t directions = DirectionsOf(*view.node.schema);
  const ir::TensorDesc* const* in = view.inputs.data();
  Body body(view.node.schema->name, registry);
  std::array<ir::ValueId, kInputs> given;
  for (int i = 0; i < kInputs; ++i) given[i] = body.Input(in[i]);
  std::array<std::vector<ir::ValueId>, kInputs> parts;
  for (const int i : {kWeights, kRecurrent, kState}) {
    TIM_ASSIGN_OR_RETURN(parts[i],
                         body.Unstack(given[i], 2, directions, in[i]));
  }
  TIM_ASSIGN_OR_RETURN(
      const auto rows,
      body.Add("Reshape", {{"shape", std::vector<int64_t>{-1, 2 * directions}}},
               {given[kBiases]}, {in[kBiases]}));
  TIM_ASSIGN_OR_RETURN(parts[kBiases],
                       body.Unstack(rows[0], 1, 2 * directions, in[kBiases]));
  std::vector<ir::ValueId> inputs = {given[kX]};
  for (int64_t d = 0; d < directions; ++d) {
    inputs.insert(inputs.end(), {parts[kWeights][d], parts[kRecurrent][d],
                                 parts[kBiases][2 * d],
                                 parts[kBiases][2 * d + 1], parts[kState][d]});
  }
  const ir::TensorDesc* last = view.outputs[kLast];
  std::vector<const ir::TensorDesc*> results(static_cast<size_t>(directions),
                                             last);
  results.resize(2 * static_cast<size_t>(directions), view.outputs[kSequence]);
  TIM_ASSIGN_OR_RETURN(
      const auto made,
      body.Add(LayerOf(directions), LayerAttributes(view.node.attributes),
               std::move(inputs), results));
  const auto half = made.begin() + directions;
  if (last == nullptr) {
    body.NoOutput();
  } else {
    TIM_RETURN_IF_ERROR(body.Stack({made.begin(), half}, 2, last));
  }
  TIM_RETURN_IF_ERROR(
      body.Stack({half, made.end()}, directions, view.outputs[kSequence]));
  return body.Take();
}

// ---- shapes and eval --------------------------------------------------------

Status InferRnnExt(ir::InferContext& context) {
  const int64_t directions = DirectionsOf(*context.node.schema);
  for (const int i : {kX, kWeights, kRecurrent, kState}) {
    TIM_RETURN_IF_ERROR(CheckRank(context, i, 3));
  }
  const SequenceShape x = SequenceShapeOf(context.shape(kX), true);
  const auto extent = [&](int input, int axis) {
    const ir::Shape& shape = context.shape(input);
    return shape.ranked() ? shape[axis] : ir::kUnknownDim;
  };
  int64_t units = extent(kWeights, 1);
  if (units == ir::kUnknownDim) units = extent(kRecurrent, 1);
  const auto expect = [&](int input, const ir::Shape& expected) -> Status {
    for (int axis = 0; axis < expected.rank(); ++axis) {
      const int64_t found = extent(input, axis);
      if (found == ir::kUnknownDim || expected[axis] == ir::kUnknownDim ||
          found == expected[axis]) {
        continue;
      }
      return InvalidArgument("input ", input, " is ",
                             context.shape(input).ToString(), ", expected ",
                             expected.ToString());
    }
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(
      expect(kWeights, ir::Shape({x.width, units, directions})));
  TIM_RETURN_IF_ERROR(
      expect(kRecurrent, ir::Shape({units, units, directions})));
  TIM_RETURN_IF_ERROR(expect(kState, ir::Shape({units, x.batch, directions})));
  const int64_t biases =
      units == ir::kUnknownDim ? units : 2 * directions * units;
  TIM_RETURN_IF_ERROR(CheckElements(context, kBiases, ir::Shape({biases})));
  SetOutput(context, kLast, ir::Shape({units, x.batch, directions}));
  SetOutput(context, kSequence,
            directions == 2 ? ir::Shape({units, x.batch, 2, x.steps})
                            : ir::Shape({units, 1, x.batch, x.steps}));
  return OkStatus();
}

// A float32 operand of the layer.
struct Floats {
  Floats(std::vector<int64_t> dims, std::vector<float> data)
      : values(std::move(data)) {
    desc.type = ir::DataType::kFloat32;
    desc.shape = ir::Shape(std::move(dims));
    values.resize(static_cast<size_t>(*desc.shape.NumElements()));
  }
  ir::TensorDesc desc;
  std::vector<float> values;
};

// Part `index` of equal parts of as many elements as `dims` have.
Floats Part(const std::vector<float>& whole, std::vector<int64_t> dims,
            int64_t index) {
  const int64_t count = *ir::Shape(dims).NumElements();
  const auto begin = whole.begin() + index * count;
  return Floats(std::move(dims), {begin, begin + count});
}

std::vector<Floats> LayerInputs(const ir::EvalContext& context) {
  const ir::Shape& x = context.inputs[kX].desc->shape;
  const ir::Shape& weights = context.inputs[kWeights].desc->shape;
  const int64_t width = weights[0], units = weights[1];
  std::array<std::vector<float>, kInputs> reals;
  for (int i = 0; i < kInputs; ++i) reals[i] = RealValues(context.inputs[i]);
  std::vector<Floats> out;
  out.push_back(Floats(x.dims(), reals[kX]));
  for (int64_t d = 0; d < weights[2]; ++d) {
    out.push_back(Part(reals[kWeights], {width, units}, d));
    out.push_back(Part(reals[kRecurrent], {units, units}, d));
    out.push_back(Part(reals[kBiases], {units}, 2 * d));
    out.push_back(Part(reals[kBiases], {units}, 2 * d + 1));
    out.push_back(Part(reals[kState], {units, x[1]}, d));
  }
  return out;
}

// States stay float32 until they are stored, as in the layer itself.
Status EvalRnnExt(const ir::EvalContext& context) {
  const int64_t directions = DirectionsOf(*context.node.schema);
  const ir::Shape& x = context.inputs[kX].desc->shape;
  const int64_t batch = x[1], steps = x[2];
  const int64_t units = context.inputs[kWeights].desc->shape[1];
  const ir::OpSchema schema = RnnSchema(LayerOf(directions));
  ir::Node layer;
  layer.name = schema.name;
  layer.schema = &schema;
  layer.attributes = LayerAttributes(context.attributes());
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(schema, &layer.attributes));
  std::vector<Floats> in = LayerInputs(context), out;
  for (int64_t d = 0; d < directions; ++d) {
    out.push_back(Floats({units, batch}, {}));
  }
  for (int64_t d = 0; d < directions; ++d) {
    out.push_back(Floats({units, batch, steps}, {}));
  }
  std::vector<ir::ConstTensor> inputs;
  std::vector<ir::MutableTensor> outputs;
  for (Floats& each : in) inputs.push_back({&each.desc, each.values.data()});
  for (Floats& each : out) {
    layer.outputs.push_back(static_cast<ir::ValueId>(outputs.size()));
    outputs.push_back({&each.desc, each.values.data()});
  }
  TIM_RETURN_IF_ERROR(schema.eval(ir::EvalContext{layer, inputs, outputs}));
  StepWriter last(context, kLast), sequence(context, kSequence);
  for (int64_t d = 0; d < directions; ++d) {
    last.Store(d * units * batch, out[d].values);
    for (int64_t t = 0; t < steps; ++t) {
      sequence.Store(
          (t * directions + d) * units * batch,
          Part(out[directions + d].values, {units, batch}, t).values);
    }
  }
  return OkStatus();
}

ir::ComputeEstimate EstimateRnnExt(const ir::NodeView& view) {
  const auto weights = static_cast<double>(
      view.inputs[kWeights]->shape.NumElements().value_or(0) +
      view.inputs[kRecurrent]->shape.NumElements().value_or(0));
  const ir::Shape& x = view.inputs[kX]->shape;
  return SequenceEstimate(view, 2 * weights * static_cast<double>(x[1] * x[2]));
}

// Inputs and outputs, and inputs once more within the layer's.
int64_t ScratchBytes(const ir::NodeView& view) {
  const ir::Shape& sequence = view.outputs[kSequence]->shape;
  return 3 * InputRealBytes(view) + 2 * static_cast<int64_t>(sizeof(float)) *
                                        sequence.NumElements().value_or(0);
}

ir::OpSchema ExtSchema(std::string name) {
  ir::OpSchema schema;
  schema.name = std::move(name);
  schema.inputs = {kInputs, kInputs};
  schema.outputs = {0, 2};
  schema.attributes = {StepActivationSpec("activation", StepActivation::kTanh)};
  schema.infer_shapes = InferRnnExt;
  schema.eval = EvalRnnExt;
  schema.memory_estimate = ScratchBytes;
  schema.compute_estimate = EstimateRnnExt;
  schema.decompose = Decompose;
  return schema;
}

}  // namespace

TIM_OPERATOR(rnn_ext) {
  registry.Add(ExtSchema("UnidirectionalSequenceRnnExt"));
  registry.Add(ExtSchema("BidirectionalSequenceRnnExt"));
}

}  // namespace tim::ops
