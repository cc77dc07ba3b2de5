// Values in memory objects of OpenCL.  Handles of OpenCL are void* as in
// device/opencl/opencl_interop.h.
#ifndef TIM_VALUES_OPENCL_MEMORY_H_
#define TIM_VALUES_OPENCL_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/status.h"
#include "values/device_state.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// Memory of a client, which it gets back when nobody holds this any more.
class Lent {
 public:
  explicit Lent(std::function<void()> give_back)
      : give_back_(std::move(give_back)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent();

  /// The loan counts from now on: what it was for has succeeded.
  void Take() { taken_ = true; }

 private:
  const std::function<void()> give_back_;
  bool taken_ = false;
};

/// Part of a cl_mem.
struct MemoryPart {
  void* memory = nullptr;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// A value of a part of a client's cl_mem, of as many bytes as `spec` says.
/// \param after cl_events that work waits for.
Result<std::shared_ptr<ValueState>> ValueOn(const DeviceState& device,
                                            const TensorSpec& spec,
                                            void* memory, int64_t offset,
                                            std::span<void* const> after,
                                            std::shared_ptr<Lent> lent);

/// The bytes of a place on an OpenCL device; kInvalidArgument for others.
Result<MemoryPart> PartOf(const Place& place, int64_t bytes);

/// Whether values there are in memory objects.
bool IsOpenCl(const DeviceState& device);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_OPENCL_MEMORY_H_
