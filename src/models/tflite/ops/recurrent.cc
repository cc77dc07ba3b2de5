// Recurrent layers with states that stay from run to run.
#include "models/tflite/node.h"
#include "models/tflite/ops/states.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/bidirectional_sequence_rnn.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/svdf.h"
#include "tim/vx/ops/unidirectional_sequence_rnn.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// The activation of a layer; the graph's classes have no layer without one.
template <typename Type>
Result<Type> LayerActivation(Node& node, fbs::Activation activation) {
  switch (activation) {
    case fbs::Activation::RELU:
      return Type::kRELU;
    case fbs::Activation::RELU_N1_TO_1:
      return Type::kRELU1;
    case fbs::Activation::RELU6:
      return Type::kRELU6;
    case fbs::Activation::TANH:
      return Type::kTANH;
    default:
      return node.Refuse("fused activation", "number ",
                         static_cast<int>(activation),
                         "; RELU, RELU_N1_TO_1, RELU6 and TANH are taken");
  }
}

// Batch and steps of a sequence.
struct Steps {
  int64_t steps = 0;
  int64_t batch = 0;
};

// Inputs: the sequence, weights, recurrent weights, bias, and a state.
Status AddRnn(Node& node, const Value& sequence, const Steps& steps,
              bool is_time_major, fbs::Activation activation, Dims dims) {
  TIM_ASSIGN_OR_RETURN(
      const auto type,
      LayerActivation<ops::UnidirectionalSequenceRnn::ActivationType>(
          node, activation));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  const int64_t units = node.inputs[1].dims[0];
  std::vector<Value> operands(6);
  operands[0] = sequence;
  for (size_t i = 1; i < 4; ++i) {
    if (!node.Has(i)) continue;
    TIM_ASSIGN_OR_RETURN(operands[i],
                         node.WeightsFor(sequence, node.inputs[i]));
  }
  TIM_ASSIGN_OR_RETURN(operands[5], ReadState(node, 4, {steps.batch, units}));
  Dims made_dims = sequence.dims;
  made_dims.back() = units;
  TIM_ASSIGN_OR_RETURN(auto made,
                       node.builder().AddAll<ops::UnidirectionalSequenceRnn>(
                           operands,
                           {StateWanted(node, 4, {steps.batch, units}),
                            node.WantedOf(0, made_dims)},
                           type, is_time_major));
  WriteState(node, 4, made[0]);
  return node.SetOutput(0, node.builder().Reshape(made[1], dims));
}

Status SequenceRnn(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(5, 5));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::SequenceRnn>());
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 3));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  const Dims& dims = node.inputs[0].dims;
  const bool is_time_major = options->time_major();
  return AddRnn(node, node.inputs[0],
                {dims[is_time_major ? 0 : 1], dims[is_time_major ? 1 : 0]},
                is_time_major, options->activation(),
                {dims[0], dims[1], node.inputs[1].dims[0]});
}

// One step of a sequence.
Status Rnn(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(5, 5));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Rnn>());
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  const Dims dims = node.inputs[0].dims;
  TIM_ASSIGN_OR_RETURN(
      const Value sequence,
      node.builder().Reshape(node.inputs[0], {1, dims[0], dims[1]}));
  return AddRnn(node, sequence, {1, dims[0]}, true, options->activation(),
                {dims[0], node.inputs[1].dims[0]});
}

// Inputs: the sequence; weights, recurrent weights, bias and state of each
// direction; then an auxiliary sequence and its weights.
Status BidirectionalRnn(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::BidirectionalRnn>());
  TIM_RETURN_IF_ERROR(node.Expect(9, 12, options->merges_outputs() ? 1 : 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 3));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(5, 2));
  if (node.Has(9) != node.Has(10) || node.Has(9) != node.Has(11)) {
    return node.Refuse("input 9",
                       "an auxiliary sequence comes with weights of both "
                       "directions");
  }
  TIM_ASSIGN_OR_RETURN(
      const auto type,
      LayerActivation<ops::BidirectionalSequenceRnn::ActivationType>(
          node, options->activation()));
  const Value& input = node.inputs[0];
  const int64_t batch = input.dims[options->time_major() ? 1 : 0];
  const Dims forward = {batch, node.inputs[1].dims[0]};
  const Dims backward = {batch, node.inputs[5].dims[0]};
  std::vector<Value> operands(14);
  operands[0] = input;
  // Places of the graph's operands, by those of the model.
  constexpr size_t kPlaces[] = {0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (i == 4 || i == 8 || !node.Has(i)) continue;
    TIM_ASSIGN_OR_RETURN(operands[kPlaces[i]],
                         node.WeightsFor(input, node.inputs[i]));
  }
  TIM_ASSIGN_OR_RETURN(operands[5], ReadState(node, 4, forward));
  TIM_ASSIGN_OR_RETURN(operands[10], ReadState(node, 8, backward));
  Dims first = input.dims;
  first.back() = forward[1];
  Dims second = input.dims;
  second.back() = backward[1];
  const Wanted one = node.WantedOf(0, first);
  Wanted other = node.WantedOf(node.declared.size() - 1, second);
  TIM_ASSIGN_OR_RETURN(const auto made,
                       node.builder().AddAll<ops::BidirectionalSequenceRnn>(
                           operands,
                           {StateWanted(node, 4, forward),
                            StateWanted(node, 8, backward), one, other},
                           type, options->time_major(), false));
  WriteState(node, 4, made[0]);
  WriteState(node, 8, made[1]);
  return SetDirections(node, made[2], made[3], options->merges_outputs());
}

Status Svdf(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 5));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Svdf>());
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(2, 2));
  const Value& input = node.inputs[0];
  const int64_t filters = node.inputs[1].dims[0];
  const int64_t memory = node.inputs[2].dims[1];
  const int rank = options->rank();
  if (!node.Has(4)) return node.Refuse("input 4", "the state is absent");
  if (rank < 1 || filters % rank != 0) {
    return node.Refuse("rank", "it is ", rank, " with ", filters, " filters");
  }
  const Dims state = {input.dims[0], filters * memory};
  std::vector<Value> operands(5);
  operands[0] = input;
  TIM_ASSIGN_OR_RETURN(operands[1], ReadState(node, 4, state));
  TIM_ASSIGN_OR_RETURN(operands[2], node.WeightsFor(input, node.inputs[1]));
  TIM_ASSIGN_OR_RETURN(operands[3], node.WeightsFor(input, node.inputs[2]));
  if (node.Has(3)) {
    TIM_ASSIGN_OR_RETURN(operands[4], node.WeightsFor(input, node.inputs[3]));
  }
  const int64_t units = filters / rank;
  TIM_ASSIGN_OR_RETURN(
      const auto made,
      node.builder().AddAll<ops::Svdf>(
          operands,
          {node.WantedOf(0, {input.dims[0], units}),
           StateWanted(node, 4, state)},
          rank, static_cast<int32_t>(units), static_cast<int32_t>(memory)));
  WriteState(node, 4, made[1]);
  return node.SetActivated(0, made[0], options->activation());
}

}  // namespace

void AddRecurrent(OperatorTable* table) {
  OperatorTable& to = *table;
  to["RNN"] = Rnn;
  to["UNIDIRECTIONAL_SEQUENCE_RNN"] = SequenceRnn;
  to["BIDIRECTIONAL_SEQUENCE_RNN"] = BidirectionalRnn;
  to["SVDF"] = Svdf;
}

}  // namespace tim::models::tflite
