// Kernels of UnidirectionalSequenceRnn and BidirectionalSequenceRnn: products
// with the input of all steps, then a loop over time on the device, one after
// the other for each direction.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/op_registry.h"
#include "ops/recurrent/rnn.h"
#include "ops/recurrent/sequence_kernel.h"

namespace tim::ops {
namespace {

struct Problem {
  LoopForm form = LoopForm::kVectors;
  SequenceShape sequence;
  const StepFunction* function = nullptr;
  std::vector<RnnDirection> directions;
  std::vector<int64_t> units;  // Of each.
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device, LoopForm form) {
  Problem problem = {
      .form = form,
      .sequence = SequenceShapeOf(node.inputs[kRnnInput].shape,
                                  node.attributes().Bool("time_major")),
      .function = &RnnFunctionOf(node.attributes()),
      .directions = RnnDirectionsOf(*node.anchor->schema, node.attributes()),
      .units = {}};
  for (const RnnDirection& direction : problem.directions) {
    problem.units.push_back(node.inputs[direction.weights].shape[1]);
  }
  constexpr int kState = 5, kBackwardState = 10;
  TIM_RETURN_IF_ERROR(CheckLoopKernel(
      node, device, form, {kRnnInput, kState, kBackwardState, kRnnAux},
      problem.sequence.rows(),
      *std::max_element(problem.units.begin(), problem.units.end())));
  return problem;
}

Status LowerDirection(const Problem& problem, size_t index,
                      const ir::KernelNode& node, const LoopLowering& lower,
                      ir::Lowering* lowering) {
  const RnnDirection& direction = problem.directions[index];
  const SequenceShape& sequence = problem.sequence;
  const RnnColumns columns =
      RnnColumnsOf(problem.directions, problem.units, index);
  TIM_ASSIGN_OR_RETURN(const auto weights,
                       lower.Pack(direction.weights, direction.bias, lowering));
  TIM_ASSIGN_OR_RETURN(const int products,
                       lower.Products(kRnnInput, weights, sequence, lowering));
  const bool has_aux =
      direction.aux_weights >= 0 && node.has_input(direction.aux_weights);
  int aux_products = -1;
  if (has_aux) {
    TIM_ASSIGN_OR_RETURN(const auto aux,
                         lower.Pack(direction.aux_weights, -1, lowering));
    TIM_ASSIGN_OR_RETURN(aux_products,
                         lower.Products(kRnnAux, aux, sequence, lowering));
  }
  TIM_ASSIGN_OR_RETURN(
      const auto recurrent,
      lower.Pack(direction.recurrent, direction.recurrent_bias, lowering));
  Launch launch = lower.NewLoop("rnn");
  LoopLowering::AddFunction("ACTIVATION", *problem.function, &launch);
  launch.EarlierScratch("products", products, sizeof(float));
  if (has_aux) {
    launch.Option("-DAUX").EarlierScratch("aux", aux_products, sizeof(float));
  }
  LoopLowering::AddMatrix("recurrent", recurrent, &launch);
  return lower.AppendLoop({.sequence = sequence,
                           .units = weights.units,
                           .state = direction.state,
                           .out = direction.sequence,
                           .last = direction.last,
                           .reversed = direction.reversed,
                           .out_width = columns.width,
                           .out_column = columns.column},
                          &launch, lowering);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  const LoopLowering lower(node, device, problem.form);
  for (size_t i = 0; i < problem.directions.size(); ++i) {
    TIM_RETURN_IF_ERROR(LowerDirection(problem, i, node, lower, &lowering));
  }
  return lowering;
}

}  // namespace

TIM_OPERATOR(rnn_kernel) {
  AddLoopKernels<Problem>("UnidirectionalSequenceRnn",
                          "unidirectionalsequencernn", Analyze, Lower,
                          &registry);
  AddLoopKernels<Problem>("BidirectionalSequenceRnn",
                          "bidirectionalsequencernn", Analyze, Lower,
                          &registry);
}

}  // namespace tim::ops
