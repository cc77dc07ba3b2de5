// A set of places where a value is.
#ifndef TIM_COMPILER_LOCATION_SET_H_
#define TIM_COMPILER_LOCATION_SET_H_

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

namespace tim::compiler {

/// Numbers of locations, 0 to kLimit - 1.
class LocationSet {
 public:
  static constexpr int kLimit = 256;

  LocationSet() = default;
  explicit LocationSet(int location) { Add(location); }

  void Add(int location) { words_[location / 64] |= Bit(location); }
  bool Has(int location) const {
    return (words_[location / 64] & Bit(location)) != 0;
  }
  /// The least one, kLimit where there is none.
  int First() const { return From(0); }
  /// The least one behind `location`, kLimit where there is none.
  int Next(int location) const { return From(location + 1); }

  auto operator<=>(const LocationSet&) const = default;

 private:
  static uint64_t Bit(int location) { return uint64_t{1} << location % 64; }

  int From(int location) const {
    for (; location < kLimit; location = (location / 64 + 1) * 64) {
      const uint64_t rest = words_[location / 64] >> location % 64;
      if (rest != 0) return location + std::countr_zero(rest);
    }
    return kLimit;
  }

  std::array<uint64_t, kLimit / 64> words_ = {};
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_LOCATION_SET_H_
