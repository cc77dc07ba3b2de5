// Layers of long short-term memory.
#include "models/tflite/node.h"
#include "models/tflite/ops/states.h"
#include "tim/vx/ops/bidirectional_sequence_lstm.h"
#include "tim/vx/ops/unidirectional_sequence_lstm.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;
using Lstm = ops::UnidirectionalSequenceLstm;
using BidirectionalLstm = ops::BidirectionalSequenceLstm;

// Places of a layer's operands, counted from its first weights.
constexpr size_t kOutputGateWeights = 3;
constexpr size_t kRecurrentOutputWeights = 7;
constexpr size_t kProjection = 15;

// Activations of the cell; the format's NONE is none.
template <typename Type>
Result<Type> CellActivation(Node& node, fbs::Activation activation) {
  switch (activation) {
    case fbs::Activation::NONE:
      return Type::kNONE;
    case fbs::Activation::RELU:
      return Type::kRELU;
    case fbs::Activation::RELU6:
      return Type::kRELU6;
    case fbs::Activation::TANH:
      return Type::kTANH;
    default:
      return node.Refuse("fused activation", "number ",
                         static_cast<int>(activation),
                         "; NONE, RELU, RELU6 and TANH are taken");
  }
}

struct Sizes {
  int64_t batch = 0;
  int64_t units = 0;
  int64_t outputs = 0;
};

// Sizes of a layer whose weights begin at operand `first`.
Result<Sizes> SizesOf(Node& node, size_t first, int64_t batch) {
  const size_t weights = first + kOutputGateWeights;
  const size_t recurrent = first + kRecurrentOutputWeights;
  for (const size_t operand : {weights, recurrent}) {
    if (!node.Has(operand)) {
      return node.Refuse(StrCat("input ", operand), "it is absent");
    }
    TIM_RETURN_IF_ERROR(node.ExpectRank(operand, 2));
  }
  Sizes sizes = {batch, node.inputs[weights].dims[0],
                 node.inputs[recurrent].dims[1]};
  if (node.Has(first + kProjection)) {
    TIM_RETURN_IF_ERROR(node.ExpectRank(first + kProjection, 2));
    sizes.outputs = node.inputs[first + kProjection].dims[0];
  }
  return sizes;
}

struct LayerOptions {
  fbs::Activation activation = fbs::Activation::NONE;
  float cell_clip = 0;
  float projection_clip = 0;
  bool time_major = false;
};

// Operands of the model: the sequence; weights, recurrent weights, peepholes,
// biases and projection; the states h and c at 18 and 19; layer norms.
Status AddLayer(Node& node, const Value& sequence, const LayerOptions& options,
                Dims dims) {
  TIM_ASSIGN_OR_RETURN(const auto type, CellActivation<Lstm::ActivationType>(
                                            node, options.activation));
  TIM_ASSIGN_OR_RETURN(
      const Sizes sizes,
      SizesOf(node, 1, sequence.dims[options.time_major ? 1 : 0]));
  const Dims hidden = {sizes.batch, sizes.outputs};
  const Dims cell = {sizes.batch, sizes.units};
  std::vector<Value> operands(24);
  operands[0] = sequence;
  TIM_ASSIGN_OR_RETURN(operands[1], ReadState(node, 18, hidden));
  TIM_ASSIGN_OR_RETURN(operands[2], ReadState(node, 19, cell));
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (i == 18 || i == 19 || !node.Has(i)) continue;
    TIM_ASSIGN_OR_RETURN(operands[i < 18 ? i + 2 : i],
                         node.WeightsFor(sequence, node.inputs[i]));
  }
  Dims made_dims = sequence.dims;
  made_dims.back() = sizes.outputs;
  dims.back() = sizes.outputs;
  TIM_ASSIGN_OR_RETURN(
      const auto made,
      node.builder().AddAll<Lstm>(
          operands,
          {node.WantedOf(0, made_dims), StateWanted(node, 18, hidden),
           StateWanted(node, 19, cell)},
          options.cell_clip, options.projection_clip, type, 0.0f,
          options.time_major, Lstm::kSIGMOID, true));
  WriteState(node, 18, made[1]);
  WriteState(node, 19, made[2]);
  return node.SetOutput(0, node.builder().Reshape(made[0], dims));
}

Status SequenceLstm(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 24));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::SequenceLstm>());
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 3));
  if (options->diagonal_recurrence()) {
    return node.Refuse("diagonal_recurrent_tensors",
                       "it is set; whole matrices are taken");
  }
  return AddLayer(node, node.inputs[0],
                  {options->activation(), options->cell_clip(),
                   options->projection_clip(), options->time_major()},
                  node.inputs[0].dims);
}

// One step of a sequence.
Status SingleLstm(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Lstm>());
  if (options->kernel() != fbs::LstmKernel::FULL) {
    return node.Refuse("kernel_type", "it is BASIC; FULL is taken");
  }
  TIM_RETURN_IF_ERROR(node.Expect(1, 24));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 2));
  const Dims dims = node.inputs[0].dims;
  TIM_ASSIGN_OR_RETURN(
      const Value sequence,
      node.builder().Reshape(node.inputs[0], {1, dims[0], dims[1]}));
  return AddLayer(node, sequence,
                  {options->activation(), options->cell_clip(),
                   options->projection_clip(), true},
                  dims);
}

// Operands of the model are those of the graph: the sequence; forward and
// backward layer; their states at 35 to 38; an auxiliary sequence with its
// weights.
Status BothLstm(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::BidirectionalLstm>());
  TIM_RETURN_IF_ERROR(node.Expect(1, 48, options->merges_outputs() ? 1 : 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 3));
  TIM_ASSIGN_OR_RETURN(const auto type,
                       CellActivation<BidirectionalLstm::ActivationType>(
                           node, options->activation()));
  const Value& sequence = node.inputs[0];
  const int64_t batch = sequence.dims[options->time_major() ? 1 : 0];
  TIM_ASSIGN_OR_RETURN(const Sizes forward, SizesOf(node, 1, batch));
  TIM_ASSIGN_OR_RETURN(const Sizes backward, SizesOf(node, 18, batch));
  const Dims states[] = {{batch, forward.outputs},
                         {batch, forward.units},
                         {batch, backward.outputs},
                         {batch, backward.units}};
  std::vector<Value> operands(node.inputs.size());
  operands[0] = sequence;
  for (size_t i = 1; i < operands.size(); ++i) {
    if (!node.Has(i)) continue;
    if (i >= 35 && i <= 38) {
      TIM_ASSIGN_OR_RETURN(operands[i], ReadState(node, i, states[i - 35]));
    } else {
      TIM_ASSIGN_OR_RETURN(operands[i],
                           node.WeightsFor(sequence, node.inputs[i]));
    }
  }
  const auto made_dims = [&sequence](int64_t outputs) {
    Dims dims = sequence.dims;
    dims.back() = outputs;
    return dims;
  };
  TIM_ASSIGN_OR_RETURN(
      const auto made,
      node.builder().AddAll<BidirectionalLstm>(
          operands,
          {node.WantedOf(0, made_dims(forward.outputs)),
           StateWanted(node, 35, states[0]), StateWanted(node, 36, states[1]),
           node.WantedOf(node.declared.size() - 1, made_dims(backward.outputs)),
           StateWanted(node, 37, states[2]), StateWanted(node, 38, states[3])},
          options->cell_clip(), options->projection_clip(), type, 0.0f,
          options->time_major(), BidirectionalLstm::kSIGMOID, true));
  WriteState(node, 35, made[1]);
  WriteState(node, 36, made[2]);
  WriteState(node, 37, made[4]);
  WriteState(node, 38, made[5]);
  return SetDirections(node, made[0], made[3], options->merges_outputs());
}

}  // namespace

void AddLstm(OperatorTable* table) {
  OperatorTable& to = *table;
  to["LSTM"] = SingleLstm;
  to["UNIDIRECTIONAL_SEQUENCE_LSTM"] = SequenceLstm;
  to["BIDIRECTIONAL_SEQUENCE_LSTM"] = BothLstm;
}

}  // namespace tim::models::tflite
