#include "ops/recurrent/rnn.h"

#include <algorithm>

#include "base/log.h"
#include "ir/op_registry.h"
#include "ops/doubts/sums.h"

namespace tim::ops {
namespace {

constexpr char kBidirectional[] = "BidirectionalSequenceRnn";

// Where `sequence` is another direction's too, they stand beside each other.
Status CheckOutputs(const ir::Node& node) {
  const auto directions = RnnDirectionsOf(*node.schema, node.attributes);
  for (const RnnDirection& direction : directions) {
    if (HasOutput(node, direction.sequence)) continue;
    return InvalidArgument("output ", direction.sequence, " is not bound");
  }
  const int merged = 3;
  if (directions.size() == 2 &&
      directions[0].sequence == directions[1].sequence &&
      HasOutput(node, merged)) {
    return InvalidArgument("output ", merged,
                           " is bound, but merge_outputs puts both directions "
                           "into output ",
                           directions[0].sequence);
  }
  return OkStatus();
}

Status CheckRnn(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckOutputs(view.node));
  return CheckSequenceTypes(view);
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts;
  std::vector<int> inputs = {kRnnInput}, outputs;
  for (const RnnDirection& direction :
       RnnDirectionsOf(*view.node.schema, view.node.attributes)) {
    inputs.insert(inputs.end(), {direction.weights, direction.recurrent});
    outputs.push_back(direction.sequence);
    if (doubts.empty()) {
      AddBareBiasDoubt(view, kRnnInput, direction.weights, direction.bias,
                       &doubts);
    }
  }
  AddCodesDoubt(view, inputs, outputs, &doubts);
  return doubts;
}

Status CheckAux(const ir::InferContext& context, const SequenceShape& sequence,
                const RnnDirection& direction, int64_t units) {
  if (direction.aux_weights < 0) return OkStatus();
  const bool has_aux = context.has_input(kRnnAux);
  if (has_aux != context.has_input(direction.aux_weights)) {
    return InvalidArgument("the auxiliary input ", kRnnAux,
                           " and its weights, input ", direction.aux_weights,
                           ", must be bound together");
  }
  if (!has_aux) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckRank(context, kRnnAux, 3));
  const SequenceShape aux =
      SequenceShapeOf(context.shape(kRnnAux), sequence.time_major);
  TIM_RETURN_IF_ERROR(
      CheckElements(context, kRnnAux, ShapeOf(sequence, aux.width)));
  return CheckMatrix(context, direction.aux_weights, aux.width, units);
}

Status CheckDirection(const ir::InferContext& context,
                      const SequenceShape& sequence,
                      const RnnDirection& direction, int64_t units) {
  for (const int matrix : {direction.weights, direction.recurrent}) {
    if (context.has_input(matrix)) continue;
    return InvalidArgument("input ", matrix, " is not bound");
  }
  TIM_RETURN_IF_ERROR(
      CheckMatrix(context, direction.weights, sequence.width, units));
  TIM_RETURN_IF_ERROR(CheckMatrix(context, direction.recurrent, units, units));
  for (const int bias : {direction.bias, direction.recurrent_bias}) {
    TIM_RETURN_IF_ERROR(CheckElements(context, bias, ir::Shape({units})));
  }
  TIM_RETURN_IF_ERROR(CheckElements(context, direction.state,
                                    ir::Shape({units, sequence.batch})));
  return CheckAux(context, sequence, direction, units);
}

void WarnOfNone(const ir::Node& node) {
  const auto activation =
      static_cast<StepActivation>(node.attributes.Int("activation"));
  if (activation != StepActivation::kNone) return;
  TIM_LOG(kWarning, node.name, ": activation kNONE computes tanh");
}

Status InferRnn(ir::InferContext& context) {
  const auto directions =
      RnnDirectionsOf(*context.node.schema, context.attributes());
  TIM_RETURN_IF_ERROR(CheckRank(context, kRnnInput, 3));
  WarnOfNone(context.node);
  const SequenceShape sequence = SequenceShapeOf(
      context.shape(kRnnInput), context.attributes().Bool("time_major"));
  std::vector<int64_t> units;
  for (const RnnDirection& direction : directions) {
    units.push_back(UnitsOf(context, {direction.weights, direction.recurrent}));
    TIM_RETURN_IF_ERROR(
        CheckDirection(context, sequence, direction, units.back()));
  }
  for (size_t i = 0; i < directions.size(); ++i) {
    SetOutput(context, directions[i].last,
              ir::Shape({units[i], sequence.batch}));
    SetOutput(context, directions[i].sequence,
              ShapeOf(sequence, RnnColumnsOf(directions, units, i).width));
  }
  return OkStatus();
}

// One direction of an `eval`.
class RnnEval {
 public:
  RnnEval(const ir::EvalContext& context, const RnnDirection& direction,
          const std::vector<float>& input, const std::vector<float>& aux)
      : direction_(direction),
        weights_(context, direction.weights, direction.bias),
        recurrent_(context, direction.recurrent, direction.recurrent_bias),
        aux_weights_(context, direction.aux_weights, -1),
        state_(InputReals(context, direction.state)),
        input_(input),
        aux_(aux),
        function_(RnnFunctionOf(context.attributes())),
        last_(context, direction.last),
        sequence_(context, direction.sequence) {}

  void Run(const SequenceShape& sequence, RnnColumns columns) {
    const int64_t units = weights_.units();
    std::vector<float> state(static_cast<size_t>(units));
    for (int64_t n = 0; n < sequence.batch; ++n) {
      for (int64_t u = 0; u < units; ++u) {
        state[u] = state_.empty() ? 0.0f : state_[n * units + u];
      }
      for (int64_t number = 0; number < sequence.steps; ++number) {
        const int64_t row = sequence.Row(
            n, direction_.reversed ? sequence.steps - 1 - number : number);
        state = Step(row, state);
        sequence_.Store(row * columns.width + columns.column, state);
      }
      last_.Store(n * units, state);
    }
  }

 private:
  std::vector<float> Step(int64_t row, const std::vector<float>& state) const {
    std::vector<float> next(state.size());
    for (int64_t u = 0; u < weights_.units(); ++u) {
      float v = weights_.Product(input_.data() + row * weights_.depth(), u) +
                recurrent_.Product(state.data(), u);
      if (aux_weights_.units() > 0) {
        v += aux_weights_.Product(aux_.data() + row * aux_weights_.depth(), u);
      }
      next[u] = function_.apply(v);
    }
    return next;
  }

  const RnnDirection& direction_;
  StepMatrix weights_;
  StepMatrix recurrent_;
  StepMatrix aux_weights_;
  std::vector<float> state_;
  const std::vector<float>& input_;
  const std::vector<float>& aux_;
  const StepFunction& function_;
  StepWriter last_;
  StepWriter sequence_;
};

Status EvalRnn(const ir::EvalContext& context) {
  const auto directions =
      RnnDirectionsOf(*context.node.schema, context.attributes());
  const SequenceShape sequence =
      SequenceShapeOf(context.inputs[kRnnInput].desc->shape,
                      context.attributes().Bool("time_major"));
  const std::vector<float> input = InputReals(context, kRnnInput);
  std::vector<float> aux;
  std::vector<int64_t> units;
  for (const RnnDirection& direction : directions) {
    if (direction.aux_weights >= 0) aux = InputReals(context, kRnnAux);
    units.push_back(context.inputs[direction.weights].desc->shape[1]);
  }
  for (size_t i = 0; i < directions.size(); ++i) {
    RnnEval(context, directions[i], input, aux)
        .Run(sequence, RnnColumnsOf(directions, units, i));
  }
  return OkStatus();
}

// Inputs are those of both directions, which run one after the other.
int64_t RnnBytes(const ir::NodeView& view) {
  const auto elements = [&](int input) -> int64_t {
    if (input < 0 || input >= static_cast<int>(view.inputs.size()) ||
        view.inputs[input] == nullptr) {
      return 0;
    }
    return view.inputs[input]->shape.NumElements().value_or(0);
  };
  int64_t most = 0;
  bool has_aux = false;
  for (const RnnDirection& direction :
       RnnDirectionsOf(*view.node.schema, view.node.attributes)) {
    has_aux = has_aux || direction.aux_weights >= 0;
    // The state before a step and behind it.
    int64_t own = 2 * view.inputs[direction.weights]->shape[1];
    for (const int input :
         {direction.weights, direction.bias, direction.recurrent,
          direction.recurrent_bias, direction.aux_weights, direction.state}) {
      own += elements(input);
    }
    most = std::max(most, own);
  }
  const int64_t shared =
      elements(kRnnInput) + (has_aux ? elements(kRnnAux) : 0);
  return static_cast<int64_t>(sizeof(float)) * (shared + most);
}

ir::ComputeEstimate EstimateRnn(const ir::NodeView& view) {
  double products = 0;
  for (const RnnDirection& direction :
       RnnDirectionsOf(*view.node.schema, view.node.attributes)) {
    for (const int matrix :
         {direction.weights, direction.recurrent, direction.aux_weights}) {
      if (matrix < 0 || matrix >= static_cast<int>(view.inputs.size()) ||
          view.inputs[matrix] == nullptr) {
        continue;
      }
      products += static_cast<double>(
          view.inputs[matrix]->shape.NumElements().value_or(0));
    }
  }
  const ir::Shape& input = view.inputs[kRnnInput]->shape;
  return SequenceEstimate(
      view, 2 * products * static_cast<double>(input[1] * input[2]));
}

}  // namespace

ir::OpSchema RnnSchema(std::string name) {
  ir::OpSchema schema;
  schema.name = std::move(name);
  schema.attributes = {StepActivationSpec("activation", std::nullopt),
                       {"time_major", ir::AttributeType::kBool, false}};
  schema.inputs = {3, 6};
  schema.outputs = {0, 2};
  if (schema.name == kBidirectional) {
    schema.inputs = {3, 14};
    schema.outputs = {0, 4};
    schema.attributes.push_back(
        {"merge_outputs", ir::AttributeType::kBool, false});
  }
  schema.check = CheckRnn;
  schema.doubts = FindDoubts;
  schema.infer_shapes = InferRnn;
  schema.eval = EvalRnn;
  schema.memory_estimate = RnnBytes;
  schema.compute_estimate = EstimateRnn;
  return schema;
}

std::vector<RnnDirection> RnnDirectionsOf(const ir::OpSchema& schema,
                                          const ir::AttributeMap& attributes) {
  if (schema.name != kBidirectional) return {RnnDirection()};
  const bool merge = attributes.Bool("merge_outputs");
  return {{.aux_weights = 12, .last = 0, .sequence = 2},
          {.weights = 6,
           .recurrent = 7,
           .bias = 8,
           .recurrent_bias = 9,
           .state = 10,
           .aux_weights = 13,
           .last = 1,
           .sequence = merge ? 2 : 3,
           .reversed = true}};
}

const StepFunction& RnnFunctionOf(const ir::AttributeMap& attributes) {
  const auto activation =
      static_cast<StepActivation>(attributes.Int("activation"));
  return StepFunctionOf(
      activation == StepActivation::kNone ? StepActivation::kTanh : activation);
}

RnnColumns RnnColumnsOf(const std::vector<RnnDirection>& directions,
                        const std::vector<int64_t>& units, size_t direction) {
  RnnColumns out;
  for (size_t i = 0; i < directions.size(); ++i) {
    if (directions[i].sequence != directions[direction].sequence) continue;
    if (units[i] == ir::kUnknownDim) return {.width = ir::kUnknownDim};
    if (i < direction) out.column += units[i];
    out.width += units[i];
  }
  return out;
}

TIM_OPERATOR(rnn) {
  registry.Add(RnnSchema("UnidirectionalSequenceRnn"));
  registry.Add(RnnSchema(kBidirectional));
}

}  // namespace tim::ops
