// Independent calls on a few threads of their own.
#ifndef TIM_DEVICE_OPENCL_PARALLEL_FOR_H_
#define TIM_DEVICE_OPENCL_PARALLEL_FOR_H_

#include <cstddef>
#include <functional>

namespace tim::device {

/// body(0) … body(count - 1), on at most as many threads as there are
/// cores that the process may use, the caller's among them; returns when all
/// are done.  `body` must not throw.
void ParallelFor(size_t count, const std::function<void(size_t)>& body);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PARALLEL_FOR_H_
