// Names that users give to tensors and operations.
#ifndef TIM_VX_CORE_GIVEN_NAME_H_
#define TIM_VX_CORE_GIVEN_NAME_H_

#include <string>

namespace tim::vx {

/// "t3" and "mask": "t3 'mask'"; only `id` where `given` is empty.  In one
/// line, whatever the user gives.
std::string Named(const std::string& id, const std::string& given);

/// The `given` of which Named() has made `name`; `name` itself where there was
/// none.
std::string GivenIn(const std::string& name);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_GIVEN_NAME_H_
