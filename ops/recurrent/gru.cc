#include "ops/recurrent/gru.h"

#include "ir/op_registry.h"
#include "ops/doubts/sums.h"
#include "ops/elements/sequence_axes.h"

namespace tim::ops {
namespace {

constexpr char kCell[] = "GRUCell";

Status CheckGates(const ir::InferContext& context,
                  const SequenceShape& sequence, int64_t units) {
  for (int gate = 0; gate < kGruGates; ++gate) {
    TIM_RETURN_IF_ERROR(
        CheckMatrix(context, GruInput::kWeights + gate, sequence.width, units));
    TIM_RETURN_IF_ERROR(
        CheckMatrix(context, GruInput::kRecurrent + gate, units, units));
    for (const int biases : {GruInput::kBias, GruInput::kRecurrentBias}) {
      TIM_RETURN_IF_ERROR(
          CheckElements(context, biases + gate, ir::Shape({units})));
    }
  }
  return CheckElements(context, GruInput::kState,
                       ir::Shape({units, sequence.batch}));
}

// A placeholder among the first inputs would pass the arity of the sequence,
// whose state is optional.
Status CheckBound(const ir::InferContext& context) {
  for (int i = GruInput::kWeights; i < GruInput::kBias; ++i) {
    if (context.has_input(i)) continue;
    return InvalidArgument("input ", i, " is not bound");
  }
  return OkStatus();
}

Status InferGru(ir::InferContext& context) {
  const bool is_cell = context.node.schema->name == kCell;
  const GruOptions options =
      GruOptionsOf(*context.node.schema, context.attributes());
  TIM_RETURN_IF_ERROR(CheckBound(context));
  TIM_RETURN_IF_ERROR(CheckRank(context, GruInput::kInput, is_cell ? 2 : 3));
  const SequenceShape sequence =
      SequenceShapeOf(context.shape(GruInput::kInput), options.time_major);
  const int64_t units = context.attributes().Int("num_units");
  if (units < 1) {
    return InvalidArgument("num_units is ", units, ", expected at least 1");
  }
  TIM_RETURN_IF_ERROR(CheckGates(context, sequence, units));
  const ir::Shape state({units, sequence.batch});
  SetOutput(context, kGruOutput,
            options.every_step ? ShapeOf(sequence, units) : state);
  SetOutput(context, kGruState, state);
  return OkStatus();
}

// All sequences of an `eval`.
class GruEval {
 public:
  explicit GruEval(const ir::EvalContext& context)
      : options_(GruOptionsOf(*context.node.schema, context.attributes())),
        input_(InputReals(context, GruInput::kInput)),
        state_(InputReals(context, GruInput::kState)),
        output_(context, kGruOutput),
        last_(context, kGruState) {
    for (int gate = 0; gate < kGruGates; ++gate) {
      weights_.emplace_back(context, GruInput::kWeights + gate,
                            GruInput::kBias + gate);
      recurrent_.emplace_back(context, GruInput::kRecurrent + gate,
                              GruInput::kRecurrentBias + gate);
    }
  }

  void Run(const SequenceShape& sequence) {
    const int64_t units = weights_[0].units();
    std::vector<float> state(static_cast<size_t>(units));
    for (int64_t n = 0; n < sequence.batch; ++n) {
      for (int64_t u = 0; u < units; ++u) {
        state[u] = state_.empty() ? 0.0f : state_[n * units + u];
      }
      for (int64_t step = 0; step < sequence.steps; ++step) {
        const int64_t row = sequence.Row(n, step);
        state = Step(input_.data() + row * sequence.width, state);
        if (options_.every_step) output_.Store(row * units, state);
      }
      if (!options_.every_step) output_.Store(n * units, state);
      last_.Store(n * units, state);
    }
  }

 private:
  // f of the update or the reset gate.
  std::vector<float> Gate(int gate, const float* x,
                          const std::vector<float>& state) const {
    std::vector<float> out(state.size());
    for (int64_t u = 0; u < weights_[gate].units(); ++u) {
      out[u] = options_.recurrent_activation->apply(
          weights_[gate].Product(x, u) +
          recurrent_[gate].Product(state.data(), u));
    }
    return out;
  }

  std::vector<float> Step(const float* x,
                          const std::vector<float>& state) const {
    const std::vector<float> z = Gate(kUpdateGate, x, state);
    const std::vector<float> r = Gate(kResetGate, x, state);
    std::vector<float> before = state;
    for (size_t u = 0; u < before.size() && !options_.reset_after; ++u) {
      before[u] = r[u] * state[u];
    }
    std::vector<float> next(state.size());
    for (int64_t u = 0; u < weights_[kNewGate].units(); ++u) {
      float of_state = recurrent_[kNewGate].Product(before.data(), u);
      if (options_.reset_after) of_state = r[u] * of_state;
      const float n = options_.activation->apply(
          weights_[kNewGate].Product(x, u) + of_state);
      next[u] = (1.0f - z[u]) * n + z[u] * state[u];
    }
    return next;
  }

  GruOptions options_;
  std::vector<float> input_;
  std::vector<float> state_;
  std::vector<StepMatrix> weights_;
  std::vector<StepMatrix> recurrent_;
  StepWriter output_;
  StepWriter last_;
};

Status EvalGru(const ir::EvalContext& context) {
  const GruOptions options =
      GruOptionsOf(*context.node.schema, context.attributes());
  GruEval(context).Run(SequenceShapeOf(
      context.inputs[GruInput::kInput].desc->shape, options.time_major));
  return OkStatus();
}

ir::ComputeEstimate EstimateGru(const ir::NodeView& view) {
  const SequenceShape sequence = SequenceShapeOf(
      view.inputs[GruInput::kInput]->shape,
      GruOptionsOf(*view.node.schema, view.node.attributes).time_major);
  const auto units =
      static_cast<double>(view.inputs[GruInput::kWeights]->shape[1]);
  const auto depth = static_cast<double>(sequence.width) + units;
  return SequenceEstimate(
      view, 2 * kGruGates * units * depth *
                static_cast<double>(sequence.batch * sequence.steps));
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  using In = GruInput;
  Doubts doubts;
  for (int gate = 0; gate < kGruGates && doubts.empty(); ++gate) {
    AddBareBiasDoubt(view, In::kInput, In::kWeights + gate, In::kBias + gate,
                     &doubts);
  }
  std::vector<int> inputs = {In::kInput};
  for (int i = In::kWeights; i < In::kBias; ++i) inputs.push_back(i);
  AddCodesDoubt(view, inputs, {kGruOutput}, &doubts);
  return doubts;
}

ir::OpSchema GruSchema(std::string name) {
  ir::OpSchema schema;
  schema.name = std::move(name);
  schema.outputs = {1, 2};
  schema.attributes = {
      {"num_units", ir::AttributeType::kInt},
      StepActivationSpec("activation", StepActivation::kTanh,
                         {StepActivation::kRelu1}),
      StepActivationSpec("recurrent_activation", StepActivation::kSigmoid,
                         {StepActivation::kRelu1}),
      {"reset_after", ir::AttributeType::kBool, true}};
  schema.check = CheckSequenceTypes;
  schema.doubts = FindDoubts;
  schema.infer_shapes = InferGru;
  schema.eval = EvalGru;
  schema.memory_estimate = InputRealBytes;
  schema.compute_estimate = EstimateGru;
  return schema;
}

}  // namespace

GruOptions GruOptionsOf(const ir::OpSchema& schema,
                        const ir::AttributeMap& attributes) {
  const auto function = [&](const char* name) {
    return &StepFunctionOf(static_cast<StepActivation>(attributes.Int(name)));
  };
  GruOptions out{.activation = function("activation"),
                 .recurrent_activation = function("recurrent_activation"),
                 .reset_after = attributes.Bool("reset_after")};
  if (schema.name == kCell) return out;
  out.every_step = attributes.Bool("return_sequences");
  out.time_major = attributes.Bool("time_major");
  return out;
}

TIM_OPERATOR(gru) {
  ir::OpSchema cell = GruSchema(kCell);
  cell.inputs = {GruInput::kBias, GruInput::kCount};
  registry.Add(std::move(cell));
  ir::OpSchema sequence = GruSchema("UnidirectionalSequenceGRU");
  sequence.inputs = {1, GruInput::kCount};
  sequence.attributes.push_back(
      {"return_sequences", ir::AttributeType::kBool, false});
  sequence.attributes.push_back({"time_major", ir::AttributeType::kBool, true});
  sequence.permute_rule = SwapBatchAndSteps({GruInput::kInput}, {0});
  registry.Add(std::move(sequence));
}

}  // namespace tim::ops
