// MaxpoolGrad: out[greatest cell of window o] += grad[o], with the windows and
// cells of MaxpoolWithArgmax2.  Gradients are added in float32, window by
// window in row-major order.
//
// The kernels: max_windows finds the cells, and each element of the output adds
// the gradients of the windows that cover it and chose it.
#include <vector>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "ops/doubts/codes.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/pooling/max_windows.h"

namespace tim::ops {
namespace {

enum Input { kPooled, kGradient };

Status CheckGradient(const ir::Shape& expected, const ir::Shape& gradient) {
  if (!gradient.ranked()) return OkStatus();
  bool fits = gradient.rank() == expected.rank();
  for (int axis = 0; fits && axis < expected.rank(); ++axis) {
    fits = expected[axis] == gradient[axis] ||
           expected[axis] == ir::kUnknownDim ||
           gradient[axis] == ir::kUnknownDim;
  }
  if (fits) return OkStatus();
  return InvalidArgument("the gradient ", gradient.ToString(),
                         " is not what is pooled, ", expected.ToString());
}

Status Infer(ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(const auto windows,
                       ExplicitWindows(context.attributes(), 2));
  TIM_RETURN_IF_ERROR(InferSameAsInput(context));
  const ir::Shape& input = context.shape(kPooled);
  if (!input.ranked()) return OkStatus();
  if (input.rank() != 3 && input.rank() != 4) {
    return InvalidArgument("the input ", input.ToString(), " has rank ",
                           input.rank(),
                           ", expected [W, H, C, N] or [W, H, C]");
  }
  TIM_ASSIGN_OR_RETURN(const ir::Shape pooled,
                       PooledShape(windows, input, nullptr));
  return CheckGradient(pooled, context.shape(kGradient));
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, kPooled));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, kGradient));
  return CheckNumber(view, Operand::kOutput, 0);
}

Status Eval(const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[kPooled];
  TIM_ASSIGN_OR_RETURN(const MaxWindows windows,
                       MaxWindowsOf(context.attributes(), 2, input.desc->shape,
                                    context.inputs[kGradient].desc->shape));
  const kernels::ElementReader gradient(context.inputs[kGradient]);
  std::vector<float> sums(*input.desc->shape.NumElements(), 0.0f);
  ForEachMaximum(windows, input, [&](int64_t o, GreatestCell greatest) {
    if (greatest.cell >= 0) sums[greatest.cell] += gradient.Real(o);
  });
  kernels::ElementWriter writer(context.outputs[0]);
  for (size_t i = 0; i < sums.size(); ++i) {
    writer.StoreReal(static_cast<int64_t>(i), sums[i]);
  }
  return OkStatus();
}

int64_t Scratch(const ir::NodeView& view) {
  const auto sums = view.inputs[kPooled]->shape.NumElements();
  return sums.value_or(0) * static_cast<int64_t>(sizeof(float));
}

// A comparison for each cell of a window, and a sum for each window.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 0);
  const auto windows = view.inputs[kGradient]->shape.NumElements();
  estimate.flops =
      static_cast<double>(windows.value_or(0)) * (CellsPerWindow(view, 2) + 1);
  return estimate;
}

// Of equal cells the first counts, and sums have an order.
Result<ir::PermutedNode> Permute(const ir::NodeView& view, int operand,
                                 std::span<const int> perm) {
  if (perm.size() < 2 || perm[0] != 0 || perm[1] != 1) {
    return Unimplemented("MaxpoolGrad needs W and H as its first axes");
  }
  return KeepAttributes(view, operand, perm);
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts = IdleLayouts(view);
  AddCodesDoubt(view, {kPooled, kGradient}, {0}, &doubts);
  return doubts;
}

ir::OpSchema MaxpoolGradSchema() {
  return {.name = "MaxpoolGrad",
          .inputs = {2, 2},
          .attributes = WindowAttributes(2, DataLayout::kWhcn),
          .check = Check,
          .doubts = FindDoubts,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = Scratch,
          .compute_estimate = Estimate,
          .permute_rule = Permute};
}

Result<MaxWindows> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(
      const MaxWindows windows,
      MaxWindowsOf(node.attributes(), 2, node.inputs[kPooled].shape,
                   node.inputs[kGradient].shape));
  TIM_RETURN_IF_ERROR(CheckWindowPositions(windows));
  return windows;
}

Result<ir::Lowering> Lower(const MaxWindows& windows,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& gradient = node.inputs[kGradient];
  ir::Lowering lowering;
  Launch find("ops/pooling/max_windows.cl", "max_windows");
  find.Type("CELL", node.inputs[kPooled]).Option("-DINDEX=I32");
  find.Input("x", node, kPooled)
      .Scratch("indices", windows.outputs() * int64_t{sizeof(int32_t)},
               sizeof(int32_t));
  AddWindowArguments(windows, &find);
  TIM_RETURN_IF_ERROR(
      find.Tiles(device, windows.outputs()).AppendTo(&lowering));

  const auto& [w, h, d] = windows.axes;
  const int64_t cells = w.input * h.input * windows.planes;
  Launch add("ops/pooling/maxpoolgrad.cl", "maxpoolgrad");
  add.Type("IN0", gradient).Type("OUT", node.outputs[0]);
  add.Input("x", node, kGradient)
      .EarlierScratch("indices", 0, sizeof(int32_t))
      .Output("y", node, 0)
      .InputQuantization("x", gradient)
      .OutputQuantization("y", node.outputs[0]);
  AddWindowArguments(windows, &add);
  TIM_RETURN_IF_ERROR(add.Tiles(device, cells).AppendTo(&lowering));
  return lowering;
}

ir::KernelDef MaxpoolGradKernel() {
  return ir::TypedKernel<MaxWindows>{.op = "tim.MaxpoolGrad",
                                     .name = "maxpoolgrad",
                                     .analyze = Analyze,
                                     .cost = CostAt(prices::kMaxpoolGrad),
                                     .lower = Lower};
}

}  // namespace

TIM_OPERATOR(maxpoolgrad) {
  registry.Add(MaxpoolGradSchema());
  registry.Add(MaxpoolGradKernel());
}

}  // namespace tim::ops
