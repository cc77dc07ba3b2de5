// C++ twin of lane_sum.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_LANE_SUM_H_
#define TIM_KERNELS_LANE_SUM_H_

#include <array>
#include <cstdint>

namespace tim::kernels {

/// A sum of floats in the one order that every kernel keeps: term k is added to
/// lane k % 64; in the end lane l takes lane l + 32, then l + 16, ..., l + 1.
class LaneSum {
 public:
  static constexpr int kLanes = 64;

  void Add(int64_t k, float term) { lanes_[k % kLanes] += term; }
  float Total() const {
    std::array<float, kLanes> sums = lanes_;
    for (int step = kLanes / 2; step > 0; step /= 2) {
      for (int l = 0; l < step; ++l) sums[l] += sums[l + step];
    }
    return sums[0];
  }

 private:
  std::array<float, kLanes> lanes_ = {};
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_LANE_SUM_H_
