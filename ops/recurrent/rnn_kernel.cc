// Kernels of UnidirectionalSequenceRnn and BidirectionalSequenceRnn: products
// with the input of all steps, then a loop over time on the device, one after
// the other for each direction.
#include <algorithm>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/recurrent/rnn.h"
#include "ops/recurrent/sequence_kernel.h"

namespace tim::ops {
namespace {

Status LowerDirection(const ir::KernelNode& node, const LoopLowering& lower,
                      LoopForm form, const RnnDirection& direction,
                      RnnColumns columns, ir::Lowering* lowering) {
  const SequenceShape sequence = SequenceShapeOf(
      node.inputs[kRnnInput].shape, node.attributes().Bool("time_major"));
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
  const bool groups = form == LoopForm::kGroups;
  Launch launch(groups ? "ops/recurrent/rnn_simt.cl" : "ops/recurrent/rnn.cl",
                groups ? "rnn_simt" : "rnn");
  LoopLowering::AddFunction("ACTIVATION", RnnFunctionOf(node.attributes()),
                            &launch);
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

Result<ir::Lowering> LowerRnn(const ir::KernelNode& node,
                              const ir::DeviceInfo& device, LoopForm form) {
  const auto directions =
      RnnDirectionsOf(*node.anchor->schema, node.attributes());
  std::vector<int64_t> units;
  for (const RnnDirection& direction : directions) {
    units.push_back(node.inputs[direction.weights].shape[1]);
  }
  ir::Lowering lowering;
  const LoopLowering lower(node, device, form);
  for (size_t i = 0; i < directions.size(); ++i) {
    TIM_RETURN_IF_ERROR(LowerDirection(node, lower, form, directions[i],
                                       RnnColumnsOf(directions, units, i),
                                       &lowering));
  }
  return lowering;
}

Status SupportsRnn(const ir::KernelNode& node, const ir::DeviceInfo& device,
                   LoopForm form) {
  int64_t units = 1;
  for (const RnnDirection& direction :
       RnnDirectionsOf(*node.anchor->schema, node.attributes())) {
    units = std::max(units, node.inputs[direction.weights].shape[1]);
  }
  const ir::Shape& x = node.inputs[kRnnInput].shape;
  constexpr int kState = 5, kBackwardState = 10;
  return CheckLoopKernel(node, device, form,
                         {kRnnInput, kState, kBackwardState, kRnnAux},
                         x[1] * x[2], units);
}

ir::KernelDef RnnKernel(const std::string& op, const std::string& name,
                        LoopForm form) {
  ir::PlainKernel kernel;
  kernel.op = "tim." + op;
  kernel.name = name;
  kernel.analyze = [form](const ir::KernelNode& node,
                          const ir::DeviceInfo& device) {
    return SupportsRnn(node, device, form);
  };
  kernel.cost = [form](const ir::KernelNode& node,
                       const ir::DeviceInfo& device) {
    return LoopCost(node, device, form);
  };
  kernel.lower = [form](const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
    return LowerRnn(node, device, form);
  };
  return kernel;
}

}  // namespace

TIM_OPERATOR(rnn_kernel) {
  registry.Add(RnnKernel("UnidirectionalSequenceRnn",
                         "unidirectionalsequencernn", LoopForm::kVectors));
  registry.Add(RnnKernel("UnidirectionalSequenceRnn",
                         "unidirectionalsequencernn_simt", LoopForm::kGroups));
  registry.Add(RnnKernel("BidirectionalSequenceRnn", "bidirectionalsequencernn",
                         LoopForm::kVectors));
  registry.Add(RnnKernel("BidirectionalSequenceRnn",
                         "bidirectionalsequencernn_simt", LoopForm::kGroups));
}

}  // namespace tim::ops
