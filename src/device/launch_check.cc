// Launches against what devices and kernels allow.
#include "device/launch_check.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

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

// What runs, for messages, and its work-items.
struct Work {
  const std::string& function;
  const ir::NdRange& range;
};

// "kernel 'f' (global [16], local [3]): <reason>"
template <typename... Args>
Status Refuse(const Work& work, const Args&... reason) {
  const int dimensions = std::clamp(work.range.dimensions, 1, 3);
  return InvalidArgument("kernel '", work.function, "' (global [",
                         Sizes(work.range.global, dimensions), "], local [",
                         Sizes(work.range.local, dimensions),
                         "]): ", reason...);
}

bool AllZero(const std::array<int64_t, 3>& sizes) {
  return sizes == std::array<int64_t, 3>{0, 0, 0};
}

Status CheckLocalSize(const Work& work, const ir::DeviceInfo& device,
                      int64_t local, int i) {
  const int64_t global = work.range.global[i];
  if (local < 0) {
    return Refuse(work, "local size ", local, " of dimension ", i,
                  " must be at least 0");
  }
  if (i < static_cast<int>(device.max_work_item_sizes.size()) &&
      local > device.max_work_item_sizes[i]) {
    return Refuse(work, "local size ", local, " of dimension ", i,
                  " exceeds the limit ", device.max_work_item_sizes[i], " of ",
                  device.name);
  }
  if (global % local != 0) {
    return Refuse(work, "local size ", local, " does not divide global size ",
                  global, " of dimension ", i,
                  "; round the global size up, and test the index in the ",
                  "kernel");
  }
  return OkStatus();
}

Status CheckLocalSizes(const Work& work, const ir::DeviceInfo& device,
                       const std::array<int64_t, 3>& local,
                       const KernelLimits& limits) {
  int64_t items = 1;
  for (int i = 0; i < work.range.dimensions; ++i) {
    TIM_RETURN_IF_ERROR(CheckLocalSize(work, device, local[i], i));
    const auto product = CheckedMul(items, local[i]);
    if (!product) return Refuse(work, "the work-group size overflows");
    items = *product;
  }
  const int64_t limit = limits.work_group_size > 0 ? limits.work_group_size
                                                   : device.max_work_group_size;
  if (items > limit) {
    return Refuse(work, "a work-group of ", items, " items exceeds the limit ",
                  limit, " of ", device.name);
  }
  return OkStatus();
}

Status CheckRequiredLocal(const Work& work, const std::array<int64_t, 3>& local,
                          const KernelLimits& limits) {
  for (int i = 0; i < 3; ++i) {
    const int64_t size = i < work.range.dimensions ? local[i] : 1;
    if (size != limits.required_local[i]) {
      return Refuse(work, "the kernel's reqd_work_group_size is [",
                    Sizes(limits.required_local, 3), "]");
    }
  }
  return OkStatus();
}

Status CheckGlobalSizes(const Work& work, const ir::DeviceInfo& device) {
  int64_t items = 1;
  for (int i = 0; i < work.range.dimensions; ++i) {
    const int64_t global = work.range.global[i];
    if (global <= 0) {
      return Refuse(work, "global size ", global, " of dimension ", i,
                    " must be at least 1");
    }
    if (device.address_bits <= 32 && global > UINT32_MAX) {
      return Refuse(work, "global size ", global, " of dimension ", i,
                    " exceeds the ", device.address_bits, " bits of ",
                    device.name);
    }
    const auto product = CheckedMul(items, global);
    if (!product) return Refuse(work, "the number of work-items overflows");
    items = *product;
  }
  return OkStatus();
}

Status CheckWorkSizes(const Work& work, const ir::DeviceInfo& device,
                      const KernelLimits& limits) {
  const int dimensions = work.range.dimensions;
  if (dimensions < 1 || dimensions > 3) {
    return Refuse(work, "expected 1 to 3 dimensions, found ", dimensions);
  }
  TIM_RETURN_IF_ERROR(CheckGlobalSizes(work, device));
  const std::array<int64_t, 3> local = LocalSizes(work.range, limits);
  if (!AllZero(local)) {
    TIM_RETURN_IF_ERROR(CheckLocalSizes(work, device, local, limits));
  }
  if (AllZero(limits.required_local)) return OkStatus();
  return CheckRequiredLocal(work, local, limits);
}

template <typename Arg>
Status CheckLocalMemory(const Work& work, const std::vector<Arg>& arguments,
                        const ir::DeviceInfo& device,
                        const KernelLimits& limits) {
  int64_t total = limits.local_memory_bytes;
  for (const Arg& argument : arguments) {
    const auto* local = std::get_if<ir::LocalArg>(&argument);
    if (local == nullptr) continue;
    const auto sum = CheckedAdd(total, local->bytes);
    if (local->bytes <= 0 || !sum) {
      return Refuse(work, "a local argument of ", local->bytes, " bytes");
    }
    total = *sum;
  }
  if (total > device.local_memory_bytes) {
    return Refuse(work, total, " bytes of local memory exceed the ",
                  device.local_memory_bytes, " of ", device.name);
  }
  return OkStatus();
}

template <typename Launch>
Status CheckAll(const Launch& launch, const ir::DeviceInfo& device,
                const KernelLimits& limits) {
  const Work work{launch.function, launch.range};
  TIM_RETURN_IF_ERROR(CheckWorkSizes(work, device, limits));
  return CheckLocalMemory(work, launch.arguments, device, limits);
}

}  // namespace

std::array<int64_t, 3> LocalSizes(const ir::NdRange& range,
                                  const KernelLimits& limits) {
  std::array<int64_t, 3> sizes = {0, 0, 0};
  const auto take = [&](const std::array<int64_t, 3>& from) {
    std::copy_n(from.begin(), range.dimensions, sizes.begin());
  };
  take(range.local);
  if (AllZero(sizes)) take(limits.required_local);
  if (AllZero(sizes)) return sizes;
  std::replace(sizes.begin(), sizes.begin() + range.dimensions, int64_t{0},
               int64_t{1});
  return sizes;
}

Status CheckLimits(const ir::KernelLaunch& launch, const ir::DeviceInfo& device,
                   const KernelLimits& limits) {
  return CheckAll(launch, device, limits);
}

Status CheckLimits(const ir::UserLaunch& launch, const ir::DeviceInfo& device,
                   const KernelLimits& limits) {
  return CheckAll(launch, device, limits);
}

}  // namespace tim::device
