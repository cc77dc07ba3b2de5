#include "device/launch_check.h"

#include <algorithm>
#include <string>
#include <variant>

#include "base/checked_math.h"

namespace tim::device {
namespace {

std::string Sizes(const std::array<int64_t, 3>& sizes, int dimensions) {
  std::string text;
  for (int i = 0; i < dimensions; ++i) {
    text += StrCat(i > 0 ? ", " : "", sizes[i]);
  }
  return text;
}

// "kernel 'f' (global [16], local [3]): <reason>"
template <typename... Args>
Status Refuse(const ir::KernelLaunch& launch, const Args&... reason) {
  const int dimensions = std::clamp(launch.dimensions, 1, 3);
  return InvalidArgument("kernel '", launch.function, "' (global [",
                         Sizes(launch.global, dimensions), "], local [",
                         Sizes(launch.local, dimensions), "]): ", reason...);
}

bool AllZero(const std::array<int64_t, 3>& sizes) {
  return sizes == std::array<int64_t, 3>{0, 0, 0};
}

Status CheckLocalSize(const ir::KernelLaunch& launch,
                      const ir::DeviceInfo& device, int64_t local, int i) {
  const int64_t global = launch.global[i];
  if (local < 0) {
    return Refuse(launch, "local size ", local, " of dimension ", i,
                  " must be at least 0");
  }
  if (i < static_cast<int>(device.max_work_item_sizes.size()) &&
      local > device.max_work_item_sizes[i]) {
    return Refuse(launch, "local size ", local, " of dimension ", i,
                  " exceeds the limit ", device.max_work_item_sizes[i], " of ",
                  device.name);
  }
  if (global % local != 0) {
    return Refuse(launch, "local size ", local, " does not divide global size ",
                  global, " of dimension ", i,
                  "; round the global size up, and test the index in the ",
                  "kernel");
  }
  return OkStatus();
}

Status CheckLocalSizes(const ir::KernelLaunch& launch,
                       const ir::DeviceInfo& device,
                       const std::array<int64_t, 3>& local,
                       const KernelLimits& limits) {
  int64_t items = 1;
  for (int i = 0; i < launch.dimensions; ++i) {
    TIM_RETURN_IF_ERROR(CheckLocalSize(launch, device, local[i], i));
    const auto product = CheckedMul(items, local[i]);
    if (!product) return Refuse(launch, "the work-group size overflows");
    items = *product;
  }
  const int64_t limit = limits.work_group_size > 0 ? limits.work_group_size
                                                   : device.max_work_group_size;
  if (items > limit) {
    return Refuse(launch, "a work-group of ", items,
                  " items exceeds the limit ", limit, " of ", device.name);
  }
  return OkStatus();
}

Status CheckRequiredLocal(const ir::KernelLaunch& launch,
                          const std::array<int64_t, 3>& local,
                          const KernelLimits& limits) {
  for (int i = 0; i < 3; ++i) {
    const int64_t size = i < launch.dimensions ? local[i] : 1;
    if (size != limits.required_local[i]) {
      return Refuse(launch, "the kernel's reqd_work_group_size is [",
                    Sizes(limits.required_local, 3), "]");
    }
  }
  return OkStatus();
}

Status CheckGlobalSizes(const ir::KernelLaunch& launch,
                        const ir::DeviceInfo& device) {
  int64_t items = 1;
  for (int i = 0; i < launch.dimensions; ++i) {
    const int64_t global = launch.global[i];
    if (global <= 0) {
      return Refuse(launch, "global size ", global, " of dimension ", i,
                    " must be at least 1");
    }
    if (device.address_bits <= 32 && global > UINT32_MAX) {
      return Refuse(launch, "global size ", global, " of dimension ", i,
                    " exceeds the ", device.address_bits, " bits of ",
                    device.name);
    }
    const auto product = CheckedMul(items, global);
    if (!product) return Refuse(launch, "the number of work-items overflows");
    items = *product;
  }
  return OkStatus();
}

}  // namespace

std::array<int64_t, 3> LocalSizes(const ir::KernelLaunch& launch,
                                  const KernelLimits& limits) {
  std::array<int64_t, 3> sizes = {0, 0, 0};
  const auto take = [&](const std::array<int64_t, 3>& from) {
    std::copy_n(from.begin(), launch.dimensions, sizes.begin());
  };
  take(launch.local);
  if (AllZero(sizes)) take(limits.required_local);
  if (AllZero(sizes)) return sizes;
  std::replace(sizes.begin(), sizes.begin() + launch.dimensions, int64_t{0},
               int64_t{1});
  return sizes;
}

Status CheckWorkSizes(const ir::KernelLaunch& launch,
                      const ir::DeviceInfo& device,
                      const KernelLimits& limits) {
  if (launch.dimensions < 1 || launch.dimensions > 3) {
    return Refuse(launch, "expected 1 to 3 dimensions, found ",
                  launch.dimensions);
  }
  TIM_RETURN_IF_ERROR(CheckGlobalSizes(launch, device));
  const std::array<int64_t, 3> local = LocalSizes(launch, limits);
  if (!AllZero(local)) {
    TIM_RETURN_IF_ERROR(CheckLocalSizes(launch, device, local, limits));
  }
  if (AllZero(limits.required_local)) return OkStatus();
  return CheckRequiredLocal(launch, local, limits);
}

Status CheckLocalMemory(const ir::KernelLaunch& launch,
                        const ir::DeviceInfo& device,
                        const KernelLimits& limits) {
  int64_t total = limits.local_memory_bytes;
  for (const ir::KernelArg& argument : launch.arguments) {
    const auto* local = std::get_if<ir::LocalArg>(&argument);
    if (local == nullptr) continue;
    const auto sum = CheckedAdd(total, local->bytes);
    if (local->bytes <= 0 || !sum) {
      return Refuse(launch, "a local argument of ", local->bytes, " bytes");
    }
    total = *sum;
  }
  if (total > device.local_memory_bytes) {
    return Refuse(launch, total, " bytes of local memory exceed the ",
                  device.local_memory_bytes, " of ", device.name);
  }
  return OkStatus();
}

}  // namespace tim::device
