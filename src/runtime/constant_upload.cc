#include "runtime/constant_upload.h"

#include "base/aligned_memory.h"
#include "base/trace.h"
#include "device/device_pools.h"
#include "device/memory_use.h"
#include "runtime/transfer.h"

namespace tim::runtime {
namespace {

using device::Buffer;

// The host has no demands: its constants are where the graph has them.
bool IsReadInPlace(const ir::ConstantBlock& block,
                   const ir::DeviceInfo& device) {
  return block.device == 0 || (device.unified_memory && block.bytes > 0 &&
                               IsAligned(block.data.get(), device.alignment));
}

Result<std::unique_ptr<Buffer>> Import(const ir::ConstantBlock& block,
                                       device::Device& device) {
  // Nobody writes to a constant's slot: ir::Verify sees to it.
  return device.Import(const_cast<std::byte*>(block.data.get()), block.bytes);
}

Result<std::unique_ptr<Buffer>> Copy(const ir::ConstantBlock& block,
                                     device::Device& device) {
  TIM_ASSIGN_OR_RETURN(
      std::unique_ptr<Buffer> buffer,
      device.pools().AllocateOutside(block.bytes, ir::MemoryKind::kDevice));
  TIM_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  TIM_RETURN_IF_ERROR(Upload(*stream, block.data.get(), block.bytes, *buffer));
  return buffer;
}

Result<std::unique_ptr<Buffer>> Place(ir::ConstantBlock& block,
                                      device::Device& device) {
  const bool in_place = IsReadInPlace(block, device.info());
  TraceSpan span("upload", in_place ? "constants in place" : "constants");
  span.Add("bytes", block.bytes);
  span.Add("device", device.info().name);
  if (in_place) {
    auto imported = Import(block, device);
    // A device that gets its memory from somebody else copies.
    if (imported.status().code() != StatusCode::kUnimplemented) return imported;
  }
  TIM_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> buffer, Copy(block, device));
  block.data = nullptr;
  return buffer;
}

}  // namespace

Result<std::vector<std::unique_ptr<Buffer>>> UploadConstants(
    ir::Plan* plan, std::span<const std::shared_ptr<device::Device>> devices) {
  const device::MemoryUseScope use(device::MemoryUse::kConstants);
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (ir::ConstantBlock& block : plan->constants) {
    auto buffer = Place(block, *devices[block.device]);
    if (!buffer.ok()) {
      return buffer.status().WithContext(StrCat("constant ", buffers.size()));
    }
    buffers.push_back(*std::move(buffer));
  }
  return buffers;
}

}  // namespace tim::runtime
