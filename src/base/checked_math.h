// Size arithmetic that cannot wrap.
#ifndef TIM_BASE_CHECKED_MATH_H_
#define TIM_BASE_CHECKED_MATH_H_

#include <cstdint>
#include <optional>

namespace tim {

/// a * b, or nothing where it does not fit.
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nothing where it does not fit.
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a / b towards minus infinity; b > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace tim

#endif  // TIM_BASE_CHECKED_MATH_H_
