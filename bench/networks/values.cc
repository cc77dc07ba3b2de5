#include "bench/networks/values.h"

namespace tim::bench {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

// The output function of SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014).
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

void FillValues(uint64_t stream, float bound, std::span<float> values) {
  uint64_t state = Mix(stream + kGolden);
  for (float& value : values) {
    state += kGolden;
    const auto k = static_cast<float>(Mix(state) >> 40);
    value = (k * 0x1p-23f - 1.0f) * bound;
  }
}

}  // namespace tim::bench
