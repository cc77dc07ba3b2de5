#include "device/opencl/driver/host_memory.h"

#include <array>
#include <utility>
#include <vector>

#include "device/opencl/driver/opencl_info.h"

namespace tim::device {
namespace {

// Arguments of a native kernel: the runtime replaces `memory` by the address
// that kernels get.
struct Question {
  const void* memory = nullptr;
  const void** answer = nullptr;
};

void CL_CALLBACK Answer(void* arguments) {
  const auto* question = static_cast<const Question*>(arguments);
  *question->answer = question->memory;
}

}  // namespace

const void* AddressOnDevice(const cl::Context& context,
                            const cl::Device& device,
                            const cl::Buffer& buffer) {
  int code = CL_SUCCESS;
  const cl::CommandQueue queue(context, device, 0, &code);
  if (code != CL_SUCCESS) return nullptr;
  const void* address = nullptr;
  Question question = {.answer = &address};
  const std::vector<cl::Memory> buffers = {buffer};
  const std::vector<const void*> places = {&question.memory};
  code = queue.enqueueNativeKernel(
      Answer, std::pair<void*, size_t>(&question, sizeof(question)), &buffers,
      &places);
  if (code != CL_SUCCESS || queue.finish() != CL_SUCCESS) return nullptr;
  return address;
}

bool WorksInHostMemory(const cl::Context& context, const cl::Device& device) {
  const auto abilities = device.getInfo<CL_DEVICE_EXECUTION_CAPABILITIES>();
  if (!IsCpu(device) || (abilities & CL_EXEC_NATIVE_KERNEL) == 0) return false;
  // Aligned for bytes only: no memory of a caller is aligned worse.
  alignas(64) std::array<char, 128> memory = {};
  char* const start = &memory[1];
  int code = CL_SUCCESS;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                          size_t{64}, start, &code);
  return code == CL_SUCCESS &&
         AddressOnDevice(context, device, buffer) == start;
}

Mapping MappingOf(const cl::Context& context, const cl::Device& device) {
  alignas(64) std::array<char, 64> memory = {};
  int code = CL_SUCCESS;
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                          memory.size(), memory.data(), &code);
  // Who imports nothing maps nothing.
  if (code != CL_SUCCESS) return Mapping::kQueued;
  const cl::CommandQueue queue(context, device, 0, &code);
  if (code != CL_SUCCESS) return Mapping::kQueued;
  void* const mapped = queue.enqueueMapBuffer(
      buffer, CL_FALSE, CL_MAP_READ, 0, memory.size(), nullptr, nullptr, &code);
  if (code == CL_SUCCESS) code = queue.enqueueUnmapMemObject(buffer, mapped);
  const int finished = queue.finish();
  return code == CL_SUCCESS && finished == CL_SUCCESS ? Mapping::kQueued
                                                      : Mapping::kBlocking;
}

}  // namespace tim::device
