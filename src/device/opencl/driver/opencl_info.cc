#include "device/opencl/driver/opencl_info.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "device/opencl/driver/remote_device.h"

namespace tim::device {
namespace {

constexpr int64_t kMinAlignment = 64;

// `name` as a whole word of a space-separated list.
bool HasWord(const std::string& list, const std::string& name) {
  return (" " + list + " ").find(" " + name + " ") != std::string::npos;
}

// Of "OpenCL 3.0 ...".
int MajorVersion(const cl::Device& device) {
  const std::string version = device.getInfo<CL_DEVICE_VERSION>();
  const size_t start = std::min(version.find(' '), version.size() - 1) + 1;
  int major = 0;
  std::from_chars(version.data() + start, version.data() + version.size(),
                  major);
  return major;
}

ir::DeviceClass ClassOf(const cl::Device& device) {
  const cl_device_type type = device.getInfo<CL_DEVICE_TYPE>();
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return ir::DeviceClass::kGpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return ir::DeviceClass::kCpu;
  return ir::DeviceClass::kAccelerator;
}

// CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE of OpenCL 3.0; 1 before.
size_t ItemsInStep(const cl::Device& device) {
  constexpr cl_device_info kMultiple = 0x1067;
  size_t items = 1;
  if (MajorVersion(device) < 3 ||
      device.getInfo(kMultiple, &items) != CL_SUCCESS) {
    return 1;
  }
  return items;
}

// Whether the lanes of a CPU's vectors are work-items, as those of a GPU are:
// then explicit vectors are taken apart.  llvmpipe of Mesa is such a device.
bool HasItemsInLanes(const cl::Device& device) {
  return device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>() == 1 &&
         ItemsInStep(device) > 1;
}

// Whose kernels fit.
ir::DeviceClass KernelClassOf(const cl::Device& device, KernelSet kernels) {
  if (kernels == KernelSet::kCpu) return ir::DeviceClass::kCpu;
  if (kernels == KernelSet::kGpu) return ir::DeviceClass::kGpu;
  const ir::DeviceClass own = ClassOf(device);
  if (own == ir::DeviceClass::kCpu && HasItemsInLanes(device)) {
    return ir::DeviceClass::kGpu;
  }
  return own;
}

// The shared last level of a CPU feeds about two units, as measured; a GPU's
// unit does 128 multiply-adds per cycle.
void GuessSpeed(const cl::Device& device, ir::DeviceInfo* info) {
  info->launch_us = 5.0;
  if (info->device_class == ir::DeviceClass::kCpu) {
    info->gflops = 100.0 * info->compute_units;
    info->gbytes_per_second = std::min(27.0, 12.0 * info->compute_units);
    return;
  }
  const double ghz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>() / 1000.0;
  info->gflops = std::max(1.0, info->compute_units * ghz * 128 * 2);
  info->gbytes_per_second = 200.0;
}

void ReadLimits(const cl::Device& device, ir::DeviceInfo* info) {
  info->compute_units = std::max(
      1, static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>()));
  info->address_bits =
      static_cast<int>(device.getInfo<CL_DEVICE_ADDRESS_BITS>());
  info->max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  info->max_work_item_sizes.assign(sizes.begin(), sizes.end());
  info->local_memory_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info->global_memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info->max_allocation_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info->alignment = std::max<int64_t>(
      kMinAlignment, device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8);
  info->float_vector_width = std::max(
      1,
      static_cast<int>(device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>()));
}

void ReadFeatures(const cl::Device& device, ir::DeviceInfo* info) {
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  info->unified_memory =
      device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() == CL_TRUE;
  info->has_fp16 = HasWord(extensions, "cl_khr_fp16");
  info->has_fp64 = HasWord(extensions, "cl_khr_fp64");
  info->has_subgroups = HasWord(extensions, "cl_khr_subgroups");
  // Its functions are called in OpenCL C 3.0.
  info->has_integer_dot = MajorVersion(device) >= 3 &&
                          HasWord(extensions, "cl_khr_integer_dot_product");
  info->has_images = device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() == CL_TRUE;
}

}  // namespace

bool IsCpu(const cl::Device& device) {
  return ClassOf(device) == ir::DeviceClass::kCpu;
}

bool IsPocl(const cl::Platform& platform) {
  return platform.getInfo<CL_PLATFORM_NAME>() == "Portable Computing Language";
}

int LlvmOf(const std::string& platform_version) {
  constexpr std::string_view kName = "LLVM ";
  const size_t at = platform_version.find(kName);
  if (at == std::string::npos) return 0;
  int major = 0;
  std::from_chars(platform_version.data() + at + kName.size(),
                  platform_version.data() + platform_version.size(), major);
  return major;
}

bool KeepsPrograms(const cl::Device& device) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  return IsPocl(platform) && !IsRemote(device);
}

ir::DeviceInfo QueryDeviceInfo(const OpenClDeviceId& id,
                               const DeviceOptions& options) {
  ir::DeviceInfo info;
  info.kind = "opencl";
  info.name = id.device.getInfo<CL_DEVICE_NAME>();
  info.vendor = id.device.getInfo<CL_DEVICE_VENDOR>();
  info.driver = id.device.getInfo<CL_DRIVER_VERSION>();
  info.device_class = ClassOf(id.device);
  ReadLimits(id.device, &info);
  ReadFeatures(id.device, &info);
  GuessSpeed(id.device, &info);
  info.device_class = KernelClassOf(id.device, options.kernels);
  info.winograd = options.winograd;
  if (IsRemote(id.device)) AdaptToNetwork(&info);
  return info;
}

}  // namespace tim::device
