#include "ops/gemm/gemm_provider.h"

namespace tim::ops {
namespace {

constexpr const GemmProvider* kProviders[] = {
    &kGemmClblast, &kGemmI8, &kGemmI8Simt, &kGemmPanels, &kGemmSimt};

ir::KernelDef KernelOf(const GemmOperator& op, const GemmProvider& provider) {
  return {.op = op.op,
          .name = StrCat(op.stem, "_", provider.name),
          .device_kind = provider.device_kind,
          .supports = [op, &provider](const ir::KernelNode& node,
                                      const ir::DeviceInfo& device) -> Status {
            TIM_RETURN_IF_ERROR(op.check(node));
            TIM_ASSIGN_OR_RETURN(const GemmProblem problem, op.problem(node));
            return provider.supports(node, problem, device);
          },
          .cost =
              [op, &provider](const ir::KernelNode& node,
                              const ir::DeviceInfo& device) {
                const Result<GemmProblem> problem = op.problem(node);
                return problem.ok() ? provider.cost(node, *problem, device) : 0;
              },
          .lower = [op, &provider](
                       const ir::KernelNode& node,
                       const ir::DeviceInfo& device) -> Result<ir::Lowering> {
            TIM_ASSIGN_OR_RETURN(const GemmProblem problem, op.problem(node));
            TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
            return provider.lower(node, problem, epilogue, device);
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
