// Kernels of a plan that its devices can neither build nor launch.
#ifndef TIM_RUNTIME_STEP_FAILURES_H_
#define TIM_RUNTIME_STEP_FAILURES_H_

#include <cstddef>
#include <map>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "ir/plan.h"

namespace tim::runtime {

/// What came of making the steps of one plan ready, and of their first use.
class StepFailures {
 public:
  /// Keeps the failure of a step where another kernel may do better: the kernel
  /// is the library's, and neither memory nor the device is what it lacks.
  /// Else false.
  bool Keep(const ir::Plan& plan, size_t step, const Status& failure);

  bool empty() const { return failures_.empty(); }
  /// Of the first step that failed.
  const Status& first() const { return failures_.begin()->second; }

  /// A kernel all of whose steps failed is refused for all nodes, another for
  /// those of the steps; that of parts (see part_names.h) always for those of
  /// the steps.  Each is a warning, once per process.
  std::vector<compiler::RefusedKernel> Refused(const ir::Plan& plan) const;

 private:
  std::map<size_t, Status> failures_;  // by step
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_FAILURES_H_
