// Kernels as functions that name what they find out about a node: it is found
// once, by `analyze`, and given to all that follows.
#ifndef TIM_IR_TYPED_KERNEL_H_
#define TIM_IR_TYPED_KERNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/kernel_def.h"

namespace tim::ir {

/// A KernelDef whose problems are of one type: sizes, tilings, attributes as
/// they were read.  A Problem owns or copies what it holds, but for what the
/// node's constants share.
template <typename Problem>
struct TypedKernel {
  std::string op;
  std::string name;
  std::string device_kind = "opencl";
  bool takes_epilogue = false;
  std::function<Result<Problem>(const KernelNode&, const DeviceInfo&)> analyze;
  /// Null: everything dense.
  std::function<std::vector<LayoutTuple>(const Problem&, const KernelNode&,
                                         const DeviceInfo&)>
      layouts = nullptr;
  std::function<double(const Problem&, const KernelNode&, const DeviceInfo&)>
      cost;
  std::function<Result<Lowering>(const Problem&, const KernelNode&,
                                 const DeviceInfo&)>
      lower;

  operator KernelDef() const {
    return {.op = op,
            .name = name,
            .device_kind = device_kind,
            .takes_epilogue = takes_epilogue,
            .analyze = Analysis(),
            .layouts = OfProblem(layouts),
            .cost = OfProblem(cost),
            .lower = OfProblem(lower)};
  }

 private:
  std::function<Result<KernelProblem>(const KernelNode&, const DeviceInfo&)>
  Analysis() const {
    if (!analyze) return nullptr;
    return [analyze = analyze](
               const KernelNode& node,
               const DeviceInfo& device) -> Result<KernelProblem> {
      TIM_ASSIGN_OR_RETURN(Problem problem, analyze(node, device));
      return KernelProblem(std::make_shared<const Problem>(std::move(problem)));
    };
  }
  template <typename R>
  static std::function<R(const KernelProblem&, const KernelNode&,
                         const DeviceInfo&)>
  OfProblem(
      std::function<R(const Problem&, const KernelNode&, const DeviceInfo&)>
          function) {
    if (!function) return nullptr;
    return [function = std::move(function)](const KernelProblem& problem,
                                            const KernelNode& node,
                                            const DeviceInfo& device) -> R {
      return function(*static_cast<const Problem*>(problem.get()), node,
                      device);
    };
  }
};

/// A KernelDef that has nothing to find out but whether it takes a node.
struct PlainKernel {
  std::string op;
  std::string name;
  std::string device_kind = "opencl";
  bool takes_epilogue = false;
  std::function<Status(const KernelNode&, const DeviceInfo&)> analyze;
  /// Null: everything dense.
  std::function<std::vector<LayoutTuple>(const KernelNode&, const DeviceInfo&)>
      layouts = nullptr;
  std::function<double(const KernelNode&, const DeviceInfo&)> cost;
  std::function<Result<Lowering>(const KernelNode&, const DeviceInfo&)> lower;

  operator KernelDef() const;
};

}  // namespace tim::ir

#endif  // TIM_IR_TYPED_KERNEL_H_
