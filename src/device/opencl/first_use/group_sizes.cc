// The local sizes that PoCL 3.1 would take: largest divisors, then smaller ones
// until the group is allowed and each core has one.
#include "device/opencl/first_use/group_sizes.h"

#include <algorithm>
#include <numeric>

namespace tim::device {
namespace {

using Sizes = std::array<int64_t, 3>;

// A core with fewer items than so many times what it prefers does too little.
constexpr int64_t kLeastMultiple = 4;

int64_t Product(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

int64_t LargestDivisor(int64_t number, int64_t limit) {
  int64_t divisor = std::min(number, limit);
  while (number % divisor != 0) --divisor;
  return divisor;
}

class GroupSizes {
 public:
  GroupSizes(const Sizes& global, const ir::DeviceInfo& device,
             int64_t preferred)
      : global_(global), device_(device), preferred_(preferred) {}

  Sizes Choose() {
    for (size_t i = 0; i < global_.size(); ++i) {
      const int64_t most = i < device_.max_work_item_sizes.size()
                               ? device_.max_work_item_sizes[i]
                               : device_.max_work_group_size;
      const int64_t limit = std::min(most, global_[i]);
      grain_[i] = std::gcd(preferred_, global_[i]);
      local_[i] =
          grain_[i] * LargestDivisor(global_[i] / grain_[i],
                                     std::max<int64_t>(limit / grain_[i], 1));
    }
    while (Product(local_) > device_.max_work_group_size) Shrink();
    while (SplitForCores()) {
    }
    return local_;
  }

 private:
  bool Divide(int64_t by) {
    for (const int i : {2, 1, 0}) {
      if (local_[i] % by != 0 || local_[i] / by % grain_[i] != 0) continue;
      local_[i] /= by;
      return true;
    }
    return false;
  }

  // Dimension 0, along which items become lanes of a vector, is the last.
  void Shrink() {
    if (Divide(2)) return;
    const int64_t least = *std::min_element(grain_.begin(), grain_.end());
    for (const int64_t grain : {least, preferred_}) {
      for (const int i : {2, 1, 0}) {
        if (local_[i] == 1 || grain_[i] > grain) continue;
        local_[i] = 1;
        return;
      }
    }
  }

  bool SplitForCores() {
    int64_t groups = 1;
    for (size_t i = 0; i < local_.size(); ++i) groups *= global_[i] / local_[i];
    const int64_t least =
        std::min(kLeastMultiple * preferred_, device_.max_work_group_size);
    const int64_t parts = device_.compute_units / groups;
    if (parts <= 1 || Product(local_) < parts * least) return false;
    for (int64_t by = parts; by > 1; --by) {
      if (Divide(by)) return true;
    }
    for (const int i : {2, 1, 0}) {
      const bool smallest =
          local_[i] == *std::min_element(local_.begin(), local_.end());
      if (local_[i] == 1 || !smallest || Product(local_) / local_[i] < least) {
        continue;
      }
      local_[i] = 1;
      return true;
    }
    return false;
  }

  const Sizes& global_;
  const ir::DeviceInfo& device_;
  const int64_t preferred_;
  Sizes grain_ = {1, 1, 1};
  Sizes local_ = {1, 1, 1};
};

}  // namespace

Sizes PoclLocalSizes(const Sizes& global, const ir::DeviceInfo& device,
                     int64_t preferred) {
  return GroupSizes(global, device, std::max<int64_t>(preferred, 1)).Choose();
}

}  // namespace tim::device
