// Which steps of a plan a device enqueues as one.
#ifndef TIM_COMPILER_CHAINS_H_
#define TIM_COMPILER_CHAINS_H_

#include <vector>

#include "ir/plan.h"

namespace tim::compiler {

/// The chains of the plan's steps, as long as they can be: neighbours on a
/// device that chains (DeviceInfo::chains), of launches that can
/// (kernels::CheckChainable); a step alone is a chain where the plan has no
/// other and its device says that it gains.
std::vector<ir::Chain> FindChains(const ir::Plan& plan);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_CHAINS_H_
