// A user's kernel that is watched (TIMCL_GUARD): what it accesses outside of
// its operands, and what it leaves unwritten, is an error.
#ifndef TIM_DEVICE_OPENCL_GUARD_GUARDED_STEP_H_
#define TIM_DEVICE_OPENCL_GUARD_GUARDED_STEP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_step.h"
#include "device/opencl/first_use/launch_sizes.h"
#include "device/opencl/guard/guarded_operand.h"
#include "ir/step.h"

namespace tim::device {

/// Launches the kernel twice with other bytes around its operands and in what
/// is not defined of them; both begin with the same inputs and states.  A guard
/// that has changed was written to.  Results that differ come from a read
/// outside: launches with only some bytes changed find which.  Enqueue()
/// blocks.
class GuardedStep final : public OpenClStep {
 public:
  /// `kernel` has a checked signature and all arguments but the tensors.
  static Result<std::unique_ptr<PreparedStep>> Create(
      cl::Kernel kernel, const LaunchSizes& sizes, const ir::DeviceInfo& device,
      const ir::UserLaunch& launch, GuardedContents* contents);

  /// kInvalidArgument names operation, kernel, operand and first element;
  /// nothing is then written to the operands.
  Status Enqueue(OpenClQueue& queue,
                 std::span<const BufferRange> operands) override;
  Status Build(OpenClQueue& queue,
               std::span<const BufferRange> operands) override;

 private:
  using Launched = std::vector<GuardedBytes>;  // per operand
  /// A byte of an operand, by its number.
  struct Place {
    size_t operand = 0;
    int64_t at = 0;
  };

  GuardedStep(cl::Kernel kernel, const LaunchSizes& sizes,
              const ir::UserLaunch& launch);

  Status Finish(OpenClQueue& queue, const Status& enqueued) const;
  Status Take(OpenClQueue& queue, std::span<const BufferRange> operands);
  Status Give(OpenClQueue& queue, std::span<const BufferRange> operands,
              const Launched& launched) const;
  // `flipped`: a range per operand.
  Result<Launched> Launch(OpenClQueue& queue,
                          std::span<const GuardRange> flipped) const;
  Status EnqueueLaunch(OpenClQueue& queue, std::span<const GuardRange> flipped,
                       Launched* launched) const;
  Result<Launched> LaunchFlipped(OpenClQueue& queue, size_t operand,
                                 const GuardRange& flipped) const;

  Status CheckWrites(const Launched& one, const Launched& other) const;
  Status CheckComplete(const Launched& one, const Launched& other) const;
  void SetDefined(const Launched& one, const Launched& other) const;
  Status CheckReads(OpenClQueue& queue, const Launched& one,
                    const Launched& other) const;
  Result<bool> Repeats(OpenClQueue& queue, const Launched& one,
                       const Launched& other) const;
  Status FindRead(OpenClQueue& queue, const Launched& one,
                  const Place& result) const;
  // The byte next to the content, of a range that changes the results.
  Result<int64_t> NearestRead(OpenClQueue& queue, const Launched& one,
                              size_t operand, const GuardRange& range) const;

  // The first byte of a result that is not the same.
  std::optional<Place> Difference(const Launched& one,
                                  const Launched& other) const;
  std::string Outside(const GuardedOperand& operand, int64_t at) const;
  template <typename... Args>
  Status Refuse(const Args&... reason) const;

  cl::Kernel kernel_;
  LaunchSizes sizes_;
  std::string operation_;
  std::string function_;
  std::vector<GuardedOperand> operands_;
  std::vector<cl::Buffer> empty_images_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_GUARD_GUARDED_STEP_H_
