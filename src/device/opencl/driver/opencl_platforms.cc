#include "device/opencl/driver/opencl_platforms.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "base/processors.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::device {
namespace {

constexpr char kInstall[] =
    "install the driver of your device; for CPUs it is the package "
    "pocl-opencl-icd on Debian and Ubuntu";

void AddDevices(const cl::Platform& platform,
                std::vector<OpenClDeviceId>* found) {
  std::vector<cl::Device> devices;
  const int code = platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  if (code != CL_SUCCESS) {
    TIM_LOG(kDebug, "OpenCL platform '", platform.getInfo<CL_PLATFORM_NAME>(),
            "' has no devices: ", ClErrorName(code));
    return;
  }
  for (cl::Device& device : devices) {
    if (device.getInfo<CL_DEVICE_AVAILABLE>() == CL_TRUE &&
        device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() == CL_TRUE) {
      found->push_back({platform, std::move(device)});
    }
  }
}

// Sub-devices, kept until the process ends: PoCL's threads release the last
// events of a queue, and so read its device, after clFinish() has returned.
struct KeptParts {
  std::mutex mutex;
  // By device, first core and number of cores.
  std::map<std::tuple<cl_device_id, int, int>, cl::Device> parts;
  // Keys are a device and the number of its parts, 0: by memory.
  std::map<std::pair<cl_device_id, int>, std::vector<cl::Device>> divisions;
};

constinit GlobalPerProcess<KeptParts> g_parts;

// Runtimes give sub-devices the cores in the order of the list.
Result<cl::Device> Part(cl::Device whole, int first, int count) {
  const int cores = CountCores(whole);
  std::vector<cl_device_partition_property> list = {
      CL_DEVICE_PARTITION_BY_COUNTS};
  for (const int part : {first, count, cores - first - count}) {
    if (part > 0) list.push_back(part);
  }
  list.push_back(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
  list.push_back(0);
  std::vector<cl::Device> parts;
  const int code = whole.createSubDevices(list.data(), &parts);
  TIM_RETURN_IF_CL_ERROR(code, "parting the ", cores, " cores of ",
                         whole.getInfo<CL_DEVICE_NAME>());
  return parts[first > 0 ? 1 : 0];
}

constexpr int kByMemory = 0;

bool DividesBy(const cl::Device& whole, cl_device_partition_property way) {
  const auto ways = whole.getInfo<CL_DEVICE_PARTITION_PROPERTIES>();
  return std::find(ways.begin(), ways.end(), way) != ways.end();
}

bool DividesByMemory(const cl::Device& whole) {
  return DividesBy(whole, CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN) &&
         (whole.getInfo<CL_DEVICE_PARTITION_AFFINITY_DOMAIN>() &
          CL_DEVICE_AFFINITY_DOMAIN_NUMA) != 0;
}

// A device of one memory domain is its only part.
Result<std::vector<cl::Device>> PartsByMemory(cl::Device whole) {
  const std::string name = whole.getInfo<CL_DEVICE_NAME>();
  if (!DividesByMemory(whole)) {
    const bool is_cpu =
        (whole.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0;
    const int domains = is_cpu ? MemoryDomains() : 1;
    if (domains == 1) return std::vector{whole};
    return Unimplemented("the driver of ", name,
                         " makes no sub-devices by memory domain, of which "
                         "this machine has ",
                         domains, "; /", domains,
                         " in place of /numa makes them of equal size");
  }
  const cl_device_partition_property how[] = {
      CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA,
      0};
  std::vector<cl::Device> made;
  const int code = whole.createSubDevices(how, &made);
  // "Could not be further partitioned."
  if (code == CL_DEVICE_PARTITION_FAILED) return std::vector{whole};
  TIM_RETURN_IF_CL_ERROR(code, "dividing ", name, " by memory domain");
  return made;
}

Result<std::vector<cl::Device>> EqualParts(cl::Device whole, int parts) {
  const std::string name = whole.getInfo<CL_DEVICE_NAME>();
  const auto units =
      static_cast<int>(whole.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  if (!DividesBy(whole, CL_DEVICE_PARTITION_EQUALLY)) {
    return Unimplemented(name, " has no sub-devices of equal size");
  }
  if (parts > units) {
    return InvalidArgument(name, " has ", units,
                           " compute units, which makes no ", parts,
                           " sub-devices");
  }
  const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY,
                                              units / parts, 0};
  std::vector<cl::Device> made;
  const int code = whole.createSubDevices(how, &made);
  TIM_RETURN_IF_CL_ERROR(code, "dividing the ", units, " compute units of ",
                         name);
  // Units that are left over make further ones.
  made.resize(static_cast<size_t>(parts));
  return made;
}

Result<std::vector<OpenClDeviceId>> Divide(const OpenClDeviceId& id,
                                           int parts) {
  KeptParts& kept = g_parts.Get();
  const std::lock_guard lock(kept.mutex);
  std::vector<cl::Device>& division =
      kept.divisions[std::pair(id.device(), parts)];
  if (division.empty()) {
    TIM_ASSIGN_OR_RETURN(division, parts == kByMemory
                                       ? PartsByMemory(id.device)
                                       : EqualParts(id.device, parts));
  }
  std::vector<OpenClDeviceId> ids;
  for (const cl::Device& part : division) ids.push_back({id.platform, part});
  return ids;
}

}  // namespace

Result<std::vector<OpenClDeviceId>> EnumerateOpenClDevices() {
  TIM_RETURN_IF_ERROR(EnterOpenClProcess());
  std::vector<cl::Platform> platforms;
  const int code = cl::Platform::get(&platforms);
  if (platforms.empty()) {
    return NotFound("no OpenCL platform (",
                    code == CL_SUCCESS ? "none" : ClErrorName(code), "); ",
                    kInstall);
  }
  std::vector<OpenClDeviceId> found;
  for (const cl::Platform& platform : platforms) AddDevices(platform, &found);
  if (found.empty()) {
    return NotFound("none of ", platforms.size(),
                    " OpenCL platforms has a device; ", kInstall);
  }
  return found;
}

int CountCores(const cl::Device& device) {
  const auto ways = device.getInfo<CL_DEVICE_PARTITION_PROPERTIES>();
  const auto units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  const bool by_counts = std::find(ways.begin(), ways.end(),
                                   CL_DEVICE_PARTITION_BY_COUNTS) != ways.end();
  // The cores before, these, and the cores behind.
  const bool enough = device.getInfo<CL_DEVICE_PARTITION_MAX_SUB_DEVICES>() >=
                      std::min<cl_uint>(units, 3);
  return by_counts && enough ? std::max(1, static_cast<int>(units)) : 1;
}

Result<OpenClDeviceId> CoresOf(const OpenClDeviceId& id, int first, int count) {
  if (first == 0 && count == CountCores(id.device)) return id;
  KeptParts& kept = g_parts.Get();
  const std::lock_guard lock(kept.mutex);
  cl::Device& part = kept.parts[{id.device(), first, count}];
  if (part() == nullptr) {
    TIM_ASSIGN_OR_RETURN(part, Part(id.device, first, count));
  }
  return OpenClDeviceId{id.platform, part};
}

Result<std::vector<OpenClDeviceId>> DivideEqually(const OpenClDeviceId& id,
                                                  int parts) {
  return Divide(id, parts);
}

Result<std::vector<OpenClDeviceId>> DivideByMemory(const OpenClDeviceId& id) {
  return Divide(id, kByMemory);
}

}  // namespace tim::device
