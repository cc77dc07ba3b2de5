// Arithmetic of integers without quantization: C++ twin of integers.clh.
// What exceeds 64 bits saturates, or wraps.
#ifndef TIM_KERNELS_INTEGERS_H_
#define TIM_KERNELS_INTEGERS_H_

#include <cstdint>
#include <limits>

namespace tim::kernels {

inline constexpr int64_t kLeastInteger = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kGreatestInteger = std::numeric_limits<int64_t>::max();

inline int64_t AddIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) || wrap) return sum;
  return a < 0 ? kLeastInteger : kGreatestInteger;
}

inline int64_t SubtractIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference) || wrap) return difference;
  return a < 0 ? kLeastInteger : kGreatestInteger;
}

inline int64_t MultiplyIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) || wrap) return product;
  return (a < 0) != (b < 0) ? kLeastInteger : kGreatestInteger;
}

/// Towards zero.  x / 0 is the limit on x's side, as infinity saturates; 0 / 0
/// is 0, as NaN is.
inline int64_t DivideIntegers(int64_t a, int64_t b, bool wrap) {
  if (b == 0) return a < 0 ? kLeastInteger : a > 0 ? kGreatestInteger : 0;
  if (b == -1) return SubtractIntegers(0, a, wrap);
  return a / b;
}

/// Of the division towards zero; 0 where b is 0.
inline int64_t RemainderOfIntegers(int64_t a, int64_t b, bool) {
  return b == 0 || b == -1 ? 0 : a % b;
}

/// Of the division downwards; 0 where b is 0.
inline int64_t ModuloOfIntegers(int64_t a, int64_t b, bool wrap) {
  const int64_t rest = RemainderOfIntegers(a, b, wrap);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Downwards; what is divided by 0 as above.
inline int64_t FloorDivideIntegers(int64_t a, int64_t b, bool wrap) {
  const int64_t quotient = DivideIntegers(a, b, wrap);
  const int64_t rest = RemainderOfIntegers(a, b, wrap);
  return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Rounded to nearest even: 2^-1 is 0.  0^-1 is the limit.
inline int64_t RaiseIntegers(int64_t a, int64_t b, bool wrap) {
  if (b < 0) {
    if (a == 0) return kGreatestInteger;
    return a == 1 || a == -1 ? (b % 2 == 0 ? 1 : a) : 0;
  }
  if (!wrap && b > 64) b = 64 + (b & 1);  // saturates, or is 0 or 1
  int64_t y = 1;
  for (; b > 0; b >>= 1) {
    if (b & 1) y = MultiplyIntegers(y, a, wrap);
    a = MultiplyIntegers(a, a, wrap);
  }
  return y;
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_INTEGERS_H_
