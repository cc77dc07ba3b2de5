// What PoCL 3.1 makes of the number of work-groups, see early_build.h.
#include "device/opencl/first_use/early_build.h"

#include <bit>
#include <cstddef>
#include <string>

#include "device/opencl/driver/opencl_info.h"

namespace tim::device {
namespace {

constexpr int kBits = 64;  // of a number of work-groups

// Grids that are narrower in dimensions 0 and 1 have a build of their own.
constexpr uint64_t kWideGrid = 65535;

// "3.1" and "3.1+debian", not "3.10".
bool IsVersion31(const std::string& version) {
  return version.rfind("3.1", 0) == 0 &&
         (version.size() == 3 || version[3] < '0' || version[3] > '9');
}

uint64_t Width(int64_t local, int groups_log2) {
  return static_cast<uint64_t>(local) << groups_log2;
}

// Of the number of groups in dimension 0 or 1: no fewer than the launch has, as
// builds serve narrower launches, but of the same kind of grid.
int GroupsLog2(int64_t global, int64_t local) {
  int log2 = std::bit_width(static_cast<uint64_t>(global / local) - 1);
  const bool narrow = static_cast<uint64_t>(global) < kWideGrid;
  if (narrow && Width(local, log2) >= kWideGrid) --log2;
  return log2;
}

}  // namespace

bool BuildsEmptyLaunches(const cl::Device& device) {
  if (sizeof(size_t) * 8 != kBits) return false;
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  return IsPocl(platform) && IsVersion31(device.getInfo<CL_DRIVER_VERSION>()) &&
         device.getInfo<CL_DEVICE_VERSION>().find(" pthread-") !=
             std::string::npos;
}

std::optional<WorkSizes> EmptyLaunch(const std::array<int64_t, 3>& global,
                                     const std::array<int64_t, 3>& local) {
  std::array<int, 2> log2 = {GroupsLog2(global[0], local[0]),
                             GroupsLog2(global[1], local[1])};
  // Dimension 2 has the other groups, and its size less than 2^64 items.
  const int least = std::bit_width(static_cast<uint64_t>(local[2]));
  for (int i = 0; i < 2; ++i) {
    const bool narrow = Width(local[i], log2[i]) < kWideGrid;
    while (log2[0] + log2[1] < least &&
           narrow == (Width(local[i], log2[i] + 1) < kWideGrid)) {
      ++log2[i];
    }
  }
  const int rest = kBits - log2[0] - log2[1];
  if (log2[0] + log2[1] < least || rest < 1) return std::nullopt;
  return WorkSizes{
      .global = cl::NDRange(Width(local[0], log2[0]), Width(local[1], log2[1]),
                            Width(local[2], rest)),
      .local = cl::NDRange(local[0], local[1], local[2])};
}

}  // namespace tim::device
