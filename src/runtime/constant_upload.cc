#include "runtime/constant_upload.h"

#include <map>
#include <string>
#include <utility>

#include "device/host/host_buffer.h"
#include "runtime/transfer.h"

namespace tim::runtime {
namespace {

using device::Buffer;

class Uploader {
 public:
  explicit Uploader(std::span<const std::shared_ptr<device::Device>> devices)
      : devices_(devices), streams_(devices.size()) {}

  Result<std::shared_ptr<Buffer>> Add(const ir::PlanConstant& constant) {
    if (constant.id.empty()) return Place(constant);
    const auto key = std::pair(constant.device, constant.id);
    if (const auto it = placed_.find(key); it != placed_.end()) {
      return it->second;
    }
    TIM_ASSIGN_OR_RETURN(placed_[key], Place(constant));
    return placed_[key];
  }

 private:
  Result<std::shared_ptr<Buffer>> Place(const ir::PlanConstant& constant) {
    // Nobody writes to a constant's slot: ir::Verify sees to it.
    void* data = const_cast<std::byte*>(constant.data->bytes.data());
    const int64_t bytes = static_cast<int64_t>(constant.data->bytes.size());
    device::Device& device = *devices_[constant.device];
    if (constant.device == 0) {
      TIM_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> view,
                           device.Import(data, bytes));
      return std::shared_ptr<Buffer>(std::move(view));
    }
    TIM_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> buffer,
                         device.Allocate(bytes, ir::MemoryKind::kDevice));
    auto& stream = streams_[constant.device];
    if (stream == nullptr) {
      TIM_ASSIGN_OR_RETURN(stream, device.CreateStream());
    }
    TIM_RETURN_IF_ERROR(Upload(*stream, data, bytes, *buffer));
    return std::shared_ptr<Buffer>(std::move(buffer));
  }

  std::span<const std::shared_ptr<device::Device>> devices_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::map<std::pair<int, std::string>, std::shared_ptr<Buffer>> placed_;
};

}  // namespace

Result<std::vector<std::shared_ptr<Buffer>>> UploadConstants(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices) {
  Uploader uploader(devices);
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const ir::PlanConstant& constant : plan.constants) {
    auto buffer = uploader.Add(constant);
    if (!buffer.ok()) {
      return buffer.status().WithContext(StrCat("constant ", buffers.size()));
    }
    buffers.push_back(*std::move(buffer));
  }
  return buffers;
}

}  // namespace tim::runtime
