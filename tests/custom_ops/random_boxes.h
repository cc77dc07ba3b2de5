// What random cases of detection are drawn with.
#ifndef TIM_TESTS_CUSTOM_OPS_RANDOM_BOXES_H_
#define TIM_TESTS_CUSTOM_OPS_RANDOM_BOXES_H_

#include <cmath>
#include <cstdint>
#include <random>

namespace tim::testing {

class RandomBoxes {
 protected:
  explicit RandomBoxes(uint32_t seed) : rng_(seed) {}

  /// Numbers of boxes in turn: one, some, those of real detectors.
  static uint32_t Count(int i) {
    static constexpr uint32_t kCounts[] = {1, 64, 1917, 8400, 25200};
    return kCounts[i % 5];
  }

  /// A score or an IoU for which float32 decides as it likes: the case is drawn
  /// again.  Those exactly at the threshold stay.
  static bool IsNearly(float value, float threshold) {
    return value != threshold && std::abs(double{value} - threshold) < 1e-5;
  }

  uint32_t Below(uint32_t count) { return rng_() % count; }
  bool OneOf(uint32_t count) { return Below(count) == 0; }
  float Uniform(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(rng_);
  }

 private:
  std::mt19937 rng_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_CUSTOM_OPS_RANDOM_BOXES_H_
