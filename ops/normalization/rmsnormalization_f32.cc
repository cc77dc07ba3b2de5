// RmsNormalization of float32 rows, with the sums and the activation that
// follow it, for CPUs.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"
#include "ops/normalization/norm_rows.h"

namespace tim::ops {
namespace {

constexpr int kRowAxis = 0;  // Neighbours in memory.
constexpr int64_t kVector = 16;
constexpr int64_t kShortRow = 32;

struct Problem {
  int64_t count = 0;  ///< Of a row.
  int64_t rows = 0;
  bool gamma = false;
  Epilogue epilogue;
};

// Input 1 may be the first one of a fused operator.
bool HasGamma(const ir::KernelNode& node) {
  return node.anchor->inputs.size() > 1 && node.has_input(1);
}

Status CheckFloats(const ir::KernelNode& node) {
  if (node.outputs[0].type != ir::DataType::kFloat32) {
    return Unimplemented("the output is ", ir::ToString(node.outputs[0].type),
                         ", takes float32 only");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.present[i] && node.inputs[i].type != ir::DataType::kFloat32) {
      return Unimplemented("input ", i, " is ",
                           ir::ToString(node.inputs[i].type),
                           ", takes float32 only");
    }
  }
  return OkStatus();
}

Status CheckGamma(const ir::KernelNode& node, int64_t count) {
  const ir::Shape& gamma = node.inputs[1].shape;
  if (gamma.DimOr1(kRowAxis) != count || gamma.NumElements() != count) {
    return Unimplemented("takes a gamma along the rows, not one of shape ",
                         gamma.ToString());
  }
  if (node.constants[1] != nullptr) return OkStatus();
  return Unimplemented("takes a constant gamma only");
}

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloats(node));
  const ir::Shape& shape = node.inputs[0].shape;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(node.attributes().Int("axis"), shape.rank()));
  if (axis != kRowAxis) return Unimplemented("takes axis 0, not ", axis);
  const int64_t count = shape[kRowAxis];
  if (count < kShortRow) {
    return Unimplemented("takes rows of ", kShortRow,
                         " elements or more, not of ", count);
  }
  const bool gamma = HasGamma(node);
  if (gamma) TIM_RETURN_IF_ERROR(CheckGamma(node, count));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kRowAxis, Residual::kTaken));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  const int64_t rows = shape.NumElements().value_or(0) / count;
  return Problem{count, rows, gamma, epilogue};
}

double Cost(const Problem&, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const AnchorView anchor(node);
  ir::ComputeEstimate estimate = RowNormEstimate(RowNorm::kRms, anchor.view());
  for (size_t i = node.anchor->inputs.size(); i < node.inputs.size(); ++i) {
    const Result<int64_t> bytes = ir::ByteSize(node.inputs[i]);
    if (bytes.ok()) estimate.bytes_read += static_cast<double>(*bytes);
  }
  return EstimateMicroseconds(estimate, device, prices::kRmsNormalizationF32);
}

ir::PackedConstant PackGamma(const ir::KernelNode& node, int64_t count) {
  return CopiedFloats("rmsnormalization_f32", node, 1, count,
                      AlignUp(count, kVector), [count](auto visit) {
                        for (int64_t i = 0; i < count; ++i) visit(i, i);
                      });
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [count, rows, gamma, epilogue] = problem;
  Launch launch("ops/normalization/rmsnormalization_f32.cl",
                "rmsnormalization_f32");
  launch.Input("in", node, 0).InPlace(node, 0);
  if (gamma) {
    launch.Option("-DGAMMA").Packed("gamma", PackGamma(node, count),
                                    sizeof(float));
  }
  AddEpilogue(node, /*bias=*/-1, epilogue, &launch);
  return launch.Int("count", count)
      .Int("rows", rows)
      .Float("inverse_count", 1.0f / static_cast<float>(count))
      .Float("eps", node.attributes().Float("eps"))
      .Tiles(device, rows)
      .Build();
}

}  // namespace

TIM_OPERATOR(rmsnormalization_f32) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.RmsNormalization",
                                        .name = "rmsnormalization_f32",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
