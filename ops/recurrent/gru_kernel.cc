// Kernels of GRUCell and UnidirectionalSequenceGRU: products with the input of
// all steps, then a loop over time on the device.
#include <array>
#include <string>
#include <vector>

#include "ir/op_registry.h"
#include "ops/recurrent/gru.h"
#include "ops/recurrent/sequence_kernel.h"

namespace tim::ops {
namespace {

struct Problem {
  LoopForm form = LoopForm::kVectors;
  GruOptions options;
  SequenceShape sequence;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device, LoopForm form) {
  const GruOptions options =
      GruOptionsOf(*node.anchor->schema, node.attributes());
  const SequenceShape sequence =
      SequenceShapeOf(node.inputs[GruInput::kInput].shape, options.time_major);
  TIM_RETURN_IF_ERROR(CheckLoopKernel(
      node, device, form, {GruInput::kInput, GruInput::kState}, sequence.rows(),
      node.inputs[GruInput::kWeights].shape[1]));
  return Problem{form, options, sequence};
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [form, options, sequence] = problem;
  const LoopLowering lower(node, device, form);
  ir::Lowering lowering;
  std::array<int, kGruGates> products = {};
  std::array<LoopLowering::Matrix, kGruGates> recurrent;
  for (int gate = 0; gate < kGruGates; ++gate) {
    TIM_ASSIGN_OR_RETURN(const auto weights,
                         lower.Pack(GruInput::kWeights + gate,
                                    GruInput::kBias + gate, &lowering));
    TIM_ASSIGN_OR_RETURN(
        products[gate],
        lower.Products(GruInput::kInput, weights, sequence, &lowering));
    TIM_ASSIGN_OR_RETURN(
        recurrent[gate],
        lower.Pack(GruInput::kRecurrent + gate, GruInput::kRecurrentBias + gate,
                   &lowering));
  }
  Launch launch = lower.NewLoop("gru");
  LoopLowering::AddFunction("ACTIVATION", *options.activation, &launch);
  LoopLowering::AddFunction("RECURRENT", *options.recurrent_activation,
                            &launch);
  if (options.reset_after) launch.Option("-DRESET_AFTER");
  constexpr const char* kProducts[] = {"products_z", "products_r",
                                       "products_h"};
  constexpr const char* kWeights[] = {"update_weights", "reset_weights",
                                      "new_weights"};
  for (int gate = 0; gate < kGruGates; ++gate) {
    launch.EarlierScratch(kProducts[gate], products[gate], sizeof(float));
  }
  for (int gate = 0; gate < kGruGates; ++gate) {
    LoopLowering::AddMatrix(kWeights[gate], recurrent[gate], &launch);
  }
  const std::vector<std::string> parts =
      options.reset_after
          ? std::vector<std::string>{""}
          : std::vector<std::string>{"-DFIRST_HALF", "-DSECOND_HALF"};
  TIM_RETURN_IF_ERROR(lower.AppendLoop({.sequence = sequence,
                                        .units = recurrent[0].units,
                                        .state = GruInput::kState,
                                        .out = kGruOutput,
                                        .last = kGruState,
                                        .every_step = options.every_step,
                                        .out_width = recurrent[0].units,
                                        .vectors = 4,
                                        .gates = kGruGates,
                                        .parts = parts},
                                       &launch, &lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(gru_kernel) {
  AddLoopKernels<Problem>("GRUCell", "grucell", Analyze, Lower, &registry);
  AddLoopKernels<Problem>("UnidirectionalSequenceGRU",
                          "unidirectionalsequencegru", Analyze, Lower,
                          &registry);
}

}  // namespace tim::ops
