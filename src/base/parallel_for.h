// Independent calls on a few threads of their own.
#ifndef TIM_BASE_PARALLEL_FOR_H_
#define TIM_BASE_PARALLEL_FOR_H_

#include <cstddef>
#include <functional>

#include "base/status.h"

namespace tim {

/// body(0) … body(count - 1), on at most UsableProcessors() threads, the
/// caller's among them; returns when all are done, those that come after a
/// failure too.  Ok, or the failure of the smallest index.  What `body` throws
/// is a failure like another; where no more threads can be started, those that
/// there are do all the work.
Status ParallelFor(size_t count, const std::function<Status(size_t)>& body);

}  // namespace tim

#endif  // TIM_BASE_PARALLEL_FOR_H_
