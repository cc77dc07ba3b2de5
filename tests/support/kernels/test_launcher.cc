#include "tests/support/kernels/test_launcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "base/options.h"
#include "device/host/host_buffer.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/empty_store.h"

namespace tim::testing {
namespace {

// Whole cache lines, so that operands are aligned and never at offset 0.
constexpr int64_t kGuard = 256;

// Never destroyed: the driver may be gone when static objects go.
const Result<std::shared_ptr<device::Device>>& TheDevice() {
  static const auto* const kDevice =
      new auto(device::CreateOpenClDevice(0, GetOptions().on_device));
  return *kDevice;
}

// Operands of a launch in device memory, each between guards.
class Operands {
 public:
  Operands(device::Device& device, device::Stream& stream,
           const std::vector<LaunchOperand>& operands, std::byte guard)
      : device_(device), stream_(stream), operands_(operands), guard_(guard) {}

  Status Upload() {
    for (const LaunchOperand& operand : operands_) {
      std::vector<std::byte>& image =
          images_.emplace_back(2 * kGuard + operand.bytes->size(), guard_);
      std::copy(operand.bytes->begin(), operand.bytes->end(),
                image.begin() + kGuard);
      const size_t first = FirstOfSameBytes(images_.size() - 1);
      if (first < ranges_.size()) {
        ranges_.push_back(ranges_[first]);
        continue;
      }
      const auto bytes = static_cast<int64_t>(image.size());
      TIM_ASSIGN_OR_RETURN(auto buffer,
                           device_.Allocate(bytes, ir::MemoryKind::kDevice));
      ranges_.push_back({buffer.get(), kGuard, bytes - 2 * kGuard});
      buffers_.push_back(std::move(buffer));
      TIM_RETURN_IF_ERROR(
          Transfer(image, *ranges_.back().buffer, Direction::kTo));
    }
    return OkStatus();
  }

  Status Download() {
    for (size_t i = 0; i < images_.size(); ++i) {
      TIM_RETURN_IF_ERROR(
          Transfer(images_[i], *ranges_[i].buffer, Direction::kFrom));
      TIM_RETURN_IF_ERROR(Take(images_[i], i));
    }
    return OkStatus();
  }

  const std::vector<device::BufferRange>& ranges() const { return ranges_; }

 private:
  enum class Direction { kTo, kFrom };

  Status Transfer(std::vector<std::byte>& image, device::Buffer& buffer,
                  Direction direction) {
    const auto bytes = static_cast<int64_t>(image.size());
    device::ExternalBuffer host(image.data(), bytes);
    const device::BufferRange here{&host, 0, bytes};
    const device::BufferRange there{&buffer, 0, bytes};
    TIM_RETURN_IF_ERROR(direction == Direction::kTo
                            ? stream_.Copy(here, there)
                            : stream_.Copy(there, here));
    TIM_ASSIGN_OR_RETURN(const auto event, stream_.Record());
    return event->Wait();
  }

  size_t FirstOfSameBytes(size_t i) const {
    size_t first = 0;
    while (operands_[first].bytes != operands_[i].bytes) ++first;
    return first;
  }

  // Operand i, or another one in its memory, is written.
  bool IsWritten(size_t i) const {
    return std::any_of(
        operands_.begin(), operands_.end(), [&](const LaunchOperand& operand) {
          return operand.bytes == operands_[i].bytes && operand.written;
        });
  }

  // Checks what the kernel did around and in operand i, then keeps it.
  Status Take(const std::vector<std::byte>& image, size_t i) {
    std::vector<std::byte>& bytes = *operands_[i].bytes;
    const auto is_guard = [&](std::byte byte) { return byte == guard_; };
    const auto first = image.begin() + kGuard;
    const auto last = image.end() - kGuard;
    if (!std::all_of(image.begin(), first, is_guard) ||
        !std::all_of(last, image.end(), is_guard)) {
      return InvalidArgument("the kernel writes outside of operand ", i);
    }
    if (!IsWritten(i) && !std::equal(first, last, bytes.begin())) {
      return InvalidArgument("the kernel changes operand ", i,
                             ", which it should only read");
    }
    std::copy(first, last, bytes.begin());
    return OkStatus();
  }

  device::Device& device_;
  device::Stream& stream_;
  const std::vector<LaunchOperand>& operands_;
  const std::byte guard_;
  std::vector<std::vector<std::byte>> images_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::vector<device::BufferRange> ranges_;
};

}  // namespace

const ir::DeviceInfo& TestDevice() {
  static const ir::DeviceInfo none;
  return TheDevice().ok() ? TheDevice().value()->info() : none;
}

bool TestDeviceKeepsSubnormals() {
  if (!TheDevice().ok()) return true;
  const cl::Device device(
      static_cast<cl_device_id>(
          TheDevice().value()->NativeHandle("cl_device_id")),
      true);
  return (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_DENORM) != 0;
}

ir::DeviceInfo TestDevice(ir::DeviceClass device_class) {
  ir::DeviceInfo info = TestDevice();
  info.device_class = device_class;
  return info;
}

ir::DeviceInfo TestDeviceOfLanes(int lanes) {
  ir::DeviceInfo info = TestDevice();
  info.float_vector_width = lanes;
  return info;
}

Status RunLaunch(const ir::KernelLaunch& launch,
                 const std::vector<LaunchOperand>& operands, std::byte guard) {
  ir::KernelLaunch strict = launch;
  strict.options += " -Werror";
  return RunAction(strict, operands, guard);
}

Status RunLaunch(const ir::UserLaunch& launch,
                 const std::vector<LaunchOperand>& operands, std::byte guard) {
  ir::UserLaunch strict = launch;
  strict.options += " -Werror";
  return RunAction(strict, operands, guard);
}

Status RunAction(const ir::Action& action,
                 const std::vector<LaunchOperand>& operands, std::byte guard) {
  TIM_RETURN_IF_ERROR(TheDevice().status());
  device::Device& device = *TheDevice().value();
  const ir::Action* const actions[] = {&action};
  EmptyStore store;
  TIM_ASSIGN_OR_RETURN(const auto steps,
                       device.Prepare(actions, ir::OpRegistry(), store));
  TIM_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  Operands memory(device, *stream, operands, guard);
  TIM_RETURN_IF_ERROR(memory.Upload());
  TIM_RETURN_IF_ERROR(stream->Enqueue(*steps[0], memory.ranges()));
  return memory.Download();
}

}  // namespace tim::testing
