// Where RoiAlign samples along one axis, in float32, each operation rounded.
// Compiled without contraction; kernels: ops/region/roi_samples.clh.
#ifndef TIM_OPS_REGION_ROI_SAMPLES_H_
#define TIM_OPS_REGION_ROI_SAMPLES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tim::ops {

/// A bin holds at most so many samples along an axis, whose numbers are exact
/// in float32.
inline constexpr int kMostRoiSamples = 1 << 22;

/// Two neighbours and the weight of the upper one.
struct RoiSample {
  int lower = 0;
  int upper = 0;
  float weight = 0;
};

/// The samples of a bin: number i lies at start + (i + 0.5) * bin / count.
struct RoiSamples {
  float start = 0;
  float bin = 1;
  int count = 1;
  int extent = 1;  ///< Of the features.

  float At(int i) const {
    const float steps = (static_cast<float>(i) + 0.5f) * bin;
    return start + steps / static_cast<float>(count);
  }
  /// Whether a sample there counts: trunc is in [-1, extent].
  bool IsInside(float at) const {
    return at > -2.0f && at < static_cast<float>(extent) + 1.0f;
  }
  /// The first sample at or beyond the features' end, or, of `end` false, the
  /// first one that is not before them.  Positions ascend.
  int FirstBeyond(bool end) const {
    int low = 0;
    int high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      const float at = At(middle);
      const bool beyond =
          end ? at >= static_cast<float>(extent) + 1.0f : at > -2.0f;
      if (beyond) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  /// Of a position inside.
  RoiSample SampleOf(float at) const {
    const int lower = static_cast<int>(at);
    RoiSample out;
    out.lower = std::clamp(lower, 0, extent - 1);
    out.upper = std::clamp(lower + 1, 0, extent - 1);
    out.weight = lower >= extent - 1 ? 0.0f : at - std::floor(at);
    return out;
  }
};

/// Bin `index` of `bins` of the region from `low` to `high`, which `ratio`
/// divides; `samples` below 1: as many as the bin is long.
inline RoiSamples RoiSamplesOf(float low, float high, float ratio, int index,
                               int bins, int samples, int extent) {
  RoiSamples out;
  const float first = low / ratio;
  const float length = high / ratio - first;
  out.bin = (length > 1.0f ? length : 1.0f) / static_cast<float>(bins);
  out.start = first + static_cast<float>(index) * out.bin;
  out.extent = extent;
  out.count = std::min(samples, kMostRoiSamples);
  if (samples < 1) {
    const float fitting = std::ceil(out.bin - 1e-5f);
    out.count = fitting < static_cast<float>(kMostRoiSamples)
                    ? std::max(1, static_cast<int>(fitting))
                    : kMostRoiSamples;
  }
  return out;
}

}  // namespace tim::ops

#endif  // TIM_OPS_REGION_ROI_SAMPLES_H_
