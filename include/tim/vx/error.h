// The reason of the last failure.
#ifndef TIM_VX_ERROR_H_
#define TIM_VX_ERROR_H_

#include <string>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// The last failure of a call made by this thread: which object, the rule that
/// it broke and what to do.  Empty before the first; successful calls leave
/// it.  Graph::ErrorMessage() tells the last failure of one graph.
TIM_VX_API std::string LastError();

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_ERROR_H_
