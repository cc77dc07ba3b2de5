// Functions that values may call.
#ifndef TIM_EXPR_FUNCTIONS_H_
#define TIM_EXPR_FUNCTIONS_H_

#include <cstdint>
#include <string_view>

namespace tim::expr {

/// What a value, or an element, is computed as: a float of 32 bits, an integer
/// of 64 that wraps, a boolean.
enum class ValueKind : uint8_t { kFloat, kInteger, kBool };
const char* ToString(ValueKind kind);

/// Result and arguments of a function.
enum class FunctionRule : uint8_t {
  kReal,       ///< Floats to a float; integers become floats.
  kNumber,     ///< Numbers to the kind that holds all of them.
  kInteger,    ///< Integers to an integer.
  kToReal,     ///< Anything to a float.
  kToInteger,  ///< Anything to an integer.
  kSelect,     ///< As c ? a : b.
};

struct FunctionDef {
  const char* name;
  int arguments;
  FunctionRule rule;
  const char* text;             ///< What kernels call it.
  const char* header;           ///< That defines it; null: none is needed.
  float (*real)(float, float);  ///< Null where there is no such form.
  int64_t (*integer)(int64_t, int64_t);
};

int FunctionCount();
const FunctionDef& FunctionAt(int index);
/// Its number, -1 where it is none.
int FindFunction(std::string_view name);

// Conversions and operators that `eval` and kernels have in common.
int64_t WrapAdd(int64_t a, int64_t b);
int64_t WrapSubtract(int64_t a, int64_t b);
int64_t WrapMultiply(int64_t a, int64_t b);
/// Rounded down; x / 0 is the limit of x's sign.
int64_t FloorDivide(int64_t a, int64_t b);
/// Remainder with the sign of b; 0 for b = 0.
int64_t FloorModulo(int64_t a, int64_t b);
/// Towards zero, saturated to 32 bits.
int64_t ToInt32(float value);
int64_t ToInt32(int64_t value);
float Maximum(float a, float b);  ///< NaN where one is NaN.
float Minimum(float a, float b);

}  // namespace tim::expr

#endif  // TIM_EXPR_FUNCTIONS_H_
