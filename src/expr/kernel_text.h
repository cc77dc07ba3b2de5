// OpenCL kernels of a program with numbers.
#ifndef TIM_EXPR_KERNEL_TEXT_H_
#define TIM_EXPR_KERNEL_TEXT_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "expr/binding.h"

namespace tim::expr {

/// Statements that one kernel computes, with a work-item per element: one, and
/// element-wise ones behind it that have its extents.
struct KernelGroup {
  std::vector<size_t> statements;
  std::vector<int> reads;   ///< Tensors, in the order of the parameters.
  std::vector<int> writes;  ///< Parameters behind those.
  int64_t items = 1;
};

std::vector<KernelGroup> GroupStatements(const Binding& binding);

/// Its function in the text.
inline constexpr char kKernelFunction[] = "expression";

/// kUnimplemented: a type or a size that kernels do not take.
Status CheckKernel(const Binding& binding, const KernelGroup& group);

/// Parameters are pairs of a pointer and an `int` offset in elements.
/// Fails as CheckKernel() does.
Result<std::string> KernelText(const Binding& binding,
                               const KernelGroup& group);

}  // namespace tim::expr

#endif  // TIM_EXPR_KERNEL_TEXT_H_
