// Makes the devices of a group, with a context per platform.
#include "device/opencl/opencl_group.h"

#include <map>
#include <utility>

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "device/opencl/opencl_in_context.h"

namespace tim::device {
namespace {

Result<std::vector<OpenClDeviceId>> PartsOf(int device,
                                            const OpenClDivision& division) {
  TIM_ASSIGN_OR_RETURN(const auto found, EnumerateOpenClDevices());
  if (device < 0 || device >= static_cast<int>(found.size())) {
    return InvalidArgument("OpenCL device ", device, ": this machine has ",
                           found.size(), ", numbered from 0");
  }
  const OpenClDeviceId& whole = found[static_cast<size_t>(device)];
  if (division.whole()) return std::vector{whole};
  return division.by_memory ? DivideByMemory(whole)
                            : DivideEqually(whole, division.parts);
}

Result<OpenClDeviceId> IdOf(const OpenClPart& part) {
  TIM_ASSIGN_OR_RETURN(const auto ids, PartsOf(part.device, part.division));
  if (part.part >= 0 && part.part < static_cast<int>(ids.size())) {
    return ids[static_cast<size_t>(part.part)];
  }
  return InvalidArgument("part ", part.part, " of OpenCL device ", part.device,
                         ", which has ", ids.size(), ", numbered from 0");
}

}  // namespace

Result<int> CountOpenClParts(int device, const OpenClDivision& division) {
  TIM_ASSIGN_OR_RETURN(const auto ids, PartsOf(device, division));
  return static_cast<int>(ids.size());
}

Result<std::vector<std::shared_ptr<Device>>> CreateOpenClGroup(
    std::span<const OpenClPart> parts, const DeviceOptions& options) {
  std::vector<OpenClDeviceId> ids;
  std::map<cl_platform_id, std::vector<cl::Device>> members;
  for (const OpenClPart& part : parts) {
    TIM_ASSIGN_OR_RETURN(ids.emplace_back(), IdOf(part));
    members[ids.back().platform()].push_back(ids.back().device);
  }
  std::map<cl_platform_id, cl::Context> contexts;
  for (const auto& [platform, list] : members) {
    int code = CL_SUCCESS;
    contexts[platform] = cl::Context(list, nullptr, nullptr, nullptr, &code);
    TIM_RETURN_IF_CL_ERROR(code, "an OpenCL context of ", list.size(),
                           " devices");
  }
  std::vector<std::shared_ptr<Device>> devices;
  for (const OpenClDeviceId& id : ids) {
    devices.push_back(
        MakeOpenClDevice(id, contexts.at(id.platform()), options));
  }
  return devices;
}

}  // namespace tim::device
