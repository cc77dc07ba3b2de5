// A plan with one of everything, which is data only: it cannot be run.
#ifndef TIM_TESTS_SUPPORT_PLANS_WHOLE_PLAN_H_
#define TIM_TESTS_SUPPORT_PLANS_WHOLE_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/plan.h"

namespace tim::testing {

/// Numbers of its steps.
enum WholeStep : int {
  kUpload,  ///< Copy of the input to device 1.
  kKernel,  ///< A built-in kernel; chained with the next.
  kGemm,
  kUser,      ///< A user's kernel: reads and writes the state.
  kDownload,  ///< Copy to the host.
  kHost,      ///< A host call, with an absent input and a constant.
  kResult,    ///< Copy to the output.
  kDevice,    ///< A device's own step.
  kPart,      ///< A part of a graph that the device compiles.
};

/// Sound.
ir::Plan WholePlan();

/// A number in a plan.
struct PlanNumber {
  std::string name;
  std::function<void(int64_t)> set;
};

/// Every number of the plan that Verify must look at, as long as its lists keep
/// their lengths.
std::vector<PlanNumber> NumbersOf(ir::Plan& plan);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_WHOLE_PLAN_H_
