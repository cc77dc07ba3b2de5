#include "ops/gemm/gemm_provider.h"

#include "ir/typed_kernel.h"

namespace tim::ops {
namespace {

constexpr const GemmProvider* kProviders[] = {
    &kGemmClblast, &kGemmI8, &kGemmI8Simt, &kGemmPanels, &kGemmSimt};

// A product and what follows it, read from one node.
struct FusedProduct {
  GemmProblem product;
  Epilogue epilogue;
};

ir::KernelDef KernelOf(const GemmOperator& op, const GemmProvider& provider) {
  return ir::TypedKernel<FusedProduct>{
      .op = op.op,
      .name = StrCat(op.stem, "_", provider.name),
      .device_kind = provider.device_kind,
      .takes_epilogue = true,
      .analyze = [op, &provider](
                     const ir::KernelNode& node,
                     const ir::DeviceInfo& device) -> Result<FusedProduct> {
        TIM_RETURN_IF_ERROR(op.check(node));
        TIM_ASSIGN_OR_RETURN(const GemmProblem product, op.problem(node));
        TIM_RETURN_IF_ERROR(provider.supports(node, product, device));
        TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
        return FusedProduct{product, epilogue};
      },
      .cost =
          [&provider](const FusedProduct& problem, const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
            return provider.cost(node, problem.product, device);
          },
      .lower =
          [&provider](const FusedProduct& problem, const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
            return provider.lower(node, problem.product, problem.epilogue,
                                  device);
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
