// An operand of a user's kernel in memory of its own, between guard zones.
#ifndef TIM_DEVICE_OPENCL_GUARD_GUARDED_OPERAND_H_
#define TIM_DEVICE_OPENCL_GUARD_GUARDED_OPERAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_count.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_queue.h"
#include "device/opencl/guard/guarded_contents.h"
#include "device/opencl/kernel/kernel_parameter.h"
#include "device/opencl/user/image_header.h"
#include "ir/step.h"

namespace tim::device {

/// Bytes of a guarded memory, from `begin` on, before `end`.
struct GuardRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// All bytes of a guarded memory before a launch and after it.
struct GuardedBytes {
  std::vector<uint8_t> before;
  std::vector<uint8_t> after;
};

/// Memory: a guard, the header of an image, the content, a guard.  The guards,
/// and a content that is not defined, hold one byte everywhere, which no other
/// operand holds; a launch can have it flipped to another in a range.
/// Floats become those of other sign, a bool the other bool.
class GuardedOperand {
 public:
  static Result<GuardedOperand> Create(const cl::Context& context,
                                       const ir::DeviceInfo& device,
                                       const ir::UserTensorArg& tensor,
                                       const KernelParameter& parameter,
                                       GuardedContent content);

  /// What the kernel gets: the header and the content.
  const cl::Buffer& view() const { return view_; }
  const ir::UserTensorArg& tensor() const { return tensor_; }
  /// The kernel must not write it.
  bool read_only() const { return read_only_; }

  /// Where something lies in the memory.  Images have no guard that matters:
  /// what they access outside is clamped or dropped.
  GuardRange front() const { return {0, guard_}; }
  GuardRange content() const { return {content_, content_ + bytes_}; }
  GuardRange back() const { return {content_ + bytes_, size()}; }
  int64_t size() const { return content_ + bytes_ + guard_; }
  /// Of a byte of the content, from the begin of the memory: the kernel may
  /// read it.
  bool Defined(int64_t at) const {
    return !tensor_.written || (*defined_.defined)[at - content_] != 0;
  }
  void SetDefined(int64_t at) const { (*defined_.defined)[at - content_] = 1; }
  /// Of the byte `at`; before the first element it is negative.
  int64_t ElementAt(int64_t at) const;
  /// At least one.
  int64_t BytesOfElement() const;

  /// "output 0 '__global float* y' (float32 [4])"
  std::string ToString() const;
  /// "element 5 at [1, 1]"
  std::string ElementText(int64_t at) const;

  /// What follows is enqueued; the memories must stay until it is done.
  /// Keeps what is defined of the tensor's content.
  Status Take(OpenClQueue& queue, const BufferRange& tensor);
  /// Sets bytes->before and the memory, with the byte flipped in `flipped`.
  Status Prepare(OpenClQueue& queue, const GuardRange& flipped,
                 GuardedBytes* bytes) const;
  Status Read(OpenClQueue& queue, GuardedBytes* bytes) const;
  /// The content after a launch, to a tensor that is written.
  Status Give(OpenClQueue& queue, const GuardedBytes& bytes,
              const BufferRange& tensor) const;

 private:
  uint8_t Pattern() const;

  ir::UserTensorArg tensor_;
  std::string parameter_;
  bool read_only_ = false;
  std::optional<ImageHeader> header_;
  int64_t guard_ = 0;
  int64_t content_ = 0;
  int64_t bytes_ = 0;
  GuardedContent defined_;
  std::vector<uint8_t> given_;
  cl::Buffer memory_;
  cl::Buffer view_;
  CountedBytes counted_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_GUARD_GUARDED_OPERAND_H_
