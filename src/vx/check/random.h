// Numbers at random that are the same on every machine.
#ifndef TIM_VX_CHECK_RANDOM_H_
#define TIM_VX_CHECK_RANDOM_H_

#include <cstdint>

namespace tim::vx::check {

/// Steele, Lea and Flood's SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From 0 to `count` - 1.
  uint64_t Below(uint64_t count) { return count == 0 ? 0 : Next() % count; }
  /// From 0 on, below 1.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

/// A seed for the part `number` of what `seed` makes.
inline uint64_t SeedOf(uint64_t seed, uint64_t number) {
  return Random(seed ^ Random(number).Next()).Next();
}

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_RANDOM_H_
