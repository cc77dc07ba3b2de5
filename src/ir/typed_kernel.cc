// Kernels that find out nothing about a node, as others do it.
#include "ir/typed_kernel.h"

namespace tim::ir {
namespace {

struct NoProblem {};

template <typename R>
std::function<R(const NoProblem&, const KernelNode&, const DeviceInfo&)>
WithProblem(std::function<R(const KernelNode&, const DeviceInfo&)> function) {
  if (!function) return nullptr;
  return [function = std::move(function)](
             const NoProblem&, const KernelNode& node,
             const DeviceInfo& device) -> R { return function(node, device); };
}

}  // namespace

PlainKernel::operator KernelDef() const {
  std::function<Result<NoProblem>(const KernelNode&, const DeviceInfo&)> ask;
  if (analyze) {
    ask = [analyze = analyze](const KernelNode& node,
                              const DeviceInfo& device) -> Result<NoProblem> {
      TIM_RETURN_IF_ERROR(analyze(node, device));
      return NoProblem();
    };
  }
  return TypedKernel<NoProblem>{.op = op,
                                .name = name,
                                .device_kind = device_kind,
                                .takes_epilogue = takes_epilogue,
                                .analyze = std::move(ask),
                                .layouts = WithProblem(layouts),
                                .cost = WithProblem(cost),
                                .lower = WithProblem(lower)};
}

}  // namespace tim::ir
