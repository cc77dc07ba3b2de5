// Order of one run against a client's commands, as streams of OpenCL keep it.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_ORDER_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_ORDER_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_queue.h"
#include "device/run_order.h"

namespace tim::device {

/// Order of a run in one stream; those of other streams fail.
class OpenClOrder final : public RunOrder {
 public:
  struct Copy {
    cl::Buffer from;
    cl::Buffer to;
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    int64_t bytes = 0;
  };

  // Set before the run is handed over.
  std::vector<cl::Event> before;  ///< What it starts after.
  std::vector<Copy> copies_in;    ///< Then, and before it.
  std::vector<Copy> copies_out;   ///< After it.

  /// Before the stream's first command of the run; again does nothing.
  Status Begin(uint64_t stream, OpenClQueue& queue);
  /// Before a fence of the stream: the last of the run is the one that counts.
  Status End(OpenClQueue& queue) const { return Enqueue(copies_out, queue); }
  void SetDone(const cl::Event& done) { done_ = done; }

  /// When the run is done; null before its last fence is set.
  const cl::Event& done() const { return done_; }

 private:
  static Status Enqueue(const std::vector<Copy>& copies, OpenClQueue& queue);

  uint64_t stream_ = 0;  // 0: none was given work
  cl::Event done_;
};

/// The thread's order, or null.
OpenClOrder* CurrentOpenClOrder();

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_ORDER_H_
