#include "ops/gemm/gemm_provider.h"

#include "ir/typed_kernel.h"

namespace tim::ops {
namespace {

constexpr const GemmProvider* kProviders[] = {
    &kGemmClblast, &kGemmI8, &kGemmI8Simt, &kGemmPanels, &kGemmSimt};

ir::KernelDef KernelOf(const GemmOperator& op, const GemmProvider& provider) {
  return ir::TypedKernel<GemmProblem>{
      .op = op.op,
      .name = StrCat(op.stem, "_", provider.name),
      .device_kind = provider.device_kind,
      .takes_epilogue = true,
      .analyze = [op, &provider](
                     const ir::KernelNode& node,
                     const ir::DeviceInfo& device) -> Result<GemmProblem> {
        TIM_ASSIGN_OR_RETURN(const GemmProblem problem, op.problem(node));
        TIM_RETURN_IF_ERROR(provider.supports(node, problem, device));
        return problem;
      },
      .cost =
          [&provider](const GemmProblem& problem, const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
            return provider.cost(node, problem, device);
          },
      .lower =
          [&provider](const GemmProblem& problem, const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
            return provider.lower(node, problem, device);
          }};
}

}  // namespace

std::span<const GemmProvider* const> GemmProviders() { return kProviders; }

void AddGemmKernels(const GemmOperator& op, ir::OpRegistry& registry) {
  for (const GemmProvider* provider : GemmProviders()) {
    registry.Add(KernelOf(op, *provider));
  }
}

}  // namespace tim::ops
