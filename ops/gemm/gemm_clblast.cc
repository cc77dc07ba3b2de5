// Float32 matrix products by the device's library, CLBlast, for GPUs.
#include <algorithm>

#include "ops/elements/product_sum.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

// Rows of a factor as the library takes them: along the step that is not 1.
int64_t Leading(const GemmFactor& factor, int64_t depth) {
  return factor.depth_step == 1 ? std::max(factor.item_step, depth)
                                : std::max(factor.depth_step, factor.items);
}

ir::Gemm ActionOf(const GemmProblem& problem) {
  return {.transpose_a = problem.a.depth_step != 1,
          .transpose_b = problem.b.depth_step == 1,
          .m = problem.a.items,
          .n = problem.b.items,
          .k = problem.depth,
          .lda = Leading(problem.a, problem.depth),
          .ldb = Leading(problem.b, problem.depth),
          .ldc = problem.b.items,
          .batches = problem.batches,
          .a_step = problem.a.batch_step,
          .b_step = problem.b.batch_step,
          .c_step = problem.a.items * problem.b.items};
}

bool HasMore(const GemmProblem& problem) {
  return problem.bias >= 0 || problem.epilogue.add >= 0 ||
         problem.epilogue.activates();
}

Status AppendMore(const ir::KernelNode& node, const GemmProblem& problem,
                  ir::Lowering* lowering) {
  const int64_t count = problem.a.items * problem.b.items * problem.batches;
  Launch launch("ops/gemm/gemm_epilogue.cl", "gemm_epilogue");
  AddEpilogue(node, problem.bias, problem.epilogue, &launch);
  launch.Int("columns", problem.b.items).Int("count", count).Items(count);
  return launch.AppendTo(lowering);
}

Status Supports(const ir::KernelNode& node, const GemmProblem& problem,
                const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
  if (std::min({problem.a.items, problem.b.items, problem.depth,
                problem.batches}) < 1) {
    return Unimplemented("a matrix has no elements");
  }
  for (const GemmFactor& factor : {problem.a, problem.b}) {
    if (factor.batches != 1 && factor.batches != problem.batches) {
      return Unimplemented("a batch of a factor is read by several products");
    }
  }
  return OkStatus();
}

double Cost(const ir::KernelNode&, const GemmProblem& problem,
            const ir::DeviceInfo& device) {
  // Where sizes are no multiples of its tiles, it copies all matrices first.
  constexpr int kCopies = 3;
  const double flops = 2.0 * static_cast<double>(problem.a.items) *
                       problem.b.items * problem.depth * problem.batches;
  const double bytes = GemmBytes(problem);
  double cost = EstimateMicroseconds(
      {.flops = flops, .bytes_read = 2 * bytes, .bytes_written = bytes}, device,
      prices::kGemmClblast);
  cost += kCopies * device.launch_us;
  if (HasMore(problem)) {
    const double c = 4.0 * static_cast<double>(problem.a.items) *
                     problem.b.items * problem.batches;
    cost +=
        EstimateMicroseconds({.flops = 0, .bytes_read = c, .bytes_written = c},
                             device, prices::kGemmEpilogue);
  }
  return cost;
}

// The product, and a launch that adds and limits where something is to do.
Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const GemmProblem& problem, const ir::DeviceInfo&) {
  using Kind = ir::LoweredOperand::Kind;
  ir::Lowering lowering;
  lowering.applied = problem.epilogue.operators;
  lowering.steps.push_back({.action = ActionOf(problem),
                            .operands = {{Kind::kInput, problem.a.input},
                                         {Kind::kInput, problem.b.input},
                                         {Kind::kOutput, 0}},
                            .written = {false, false, true}});
  if (HasMore(problem)) {
    TIM_RETURN_IF_ERROR(AppendMore(node, problem, &lowering));
  }
  return lowering;
}

}  // namespace

const GemmProvider kGemmClblast = {.name = "clblast",
                                   .device_kind = "opencl",
                                   .supports = Supports,
                                   .cost = Cost,
                                   .lower = Lower};

}  // namespace tim::ops
