// The table of functions, with their host forms.
#include "expr/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/exact_exp.h"
#include "kernels/formulas/exact_erf.h"
#include "kernels/formulas/exact_log.h"
#include "kernels/formulas/exact_pow.h"
#include "kernels/integers.h"
#include "kernels/requantize.h"

namespace tim::expr {
namespace {

constexpr char kExp[] = "kernels/exact_exp.clh";
constexpr char kErf[] = "kernels/formulas/exact_erf.clh";
constexpr char kLog[] = "kernels/formulas/exact_log.clh";
constexpr char kPow[] = "kernels/formulas/exact_pow.clh";
constexpr char kQuotient[] = "kernels/exact_quotient.clh";

using Rule = FunctionRule;

constexpr std::array<FunctionDef, 19> kFunctions = {{
    {"exp", 1, Rule::kReal, "tim_exp_float", kExp,
     [](float x, float) { return kernels::Exp(x); }, nullptr},
    {"log", 1, Rule::kReal, "tim_log_float", kLog,
     [](float x, float) { return kernels::Log(x); }, nullptr},
    {"sqrt", 1, Rule::kReal, "tim_sqrt", nullptr,
     [](float x, float) { return std::sqrt(x); }, nullptr},
    {"rsqrt", 1, Rule::kReal, "x_rsqrt", kQuotient,
     [](float x, float) { return 1.0f / std::sqrt(x); }, nullptr},
    {"tanh", 1, Rule::kReal, "tim_tanh_float", kExp,
     [](float x, float) { return kernels::Tanh(x); }, nullptr},
    {"sigmoid", 1, Rule::kReal, "tim_sigmoid_float", kExp,
     [](float x, float) { return kernels::Sigmoid(x); }, nullptr},
    {"erf", 1, Rule::kReal, "tim_erf_float", kErf,
     [](float x, float) { return kernels::Erf(x); }, nullptr},
    {"abs", 1, Rule::kNumber, "x_abs", nullptr,
     [](float x, float) { return std::fabs(x); },
     [](int64_t x, int64_t) { return x < 0 ? WrapSubtract(0, x) : x; }},
    {"floor", 1, Rule::kReal, "floor", nullptr,
     [](float x, float) { return std::floor(x); }, nullptr},
    {"ceil", 1, Rule::kReal, "ceil", nullptr,
     [](float x, float) { return std::ceil(x); }, nullptr},
    {"round", 1, Rule::kReal, "rint", nullptr,
     [](float x, float) { return std::nearbyintf(x); }, nullptr},
    {"min", 2, Rule::kNumber, "x_min", nullptr, Minimum,
     [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"max", 2, Rule::kNumber, "x_max", nullptr, Maximum,
     [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"pow", 2, Rule::kReal, "tim_pow_float", kPow, kernels::Pow, nullptr},
    {"select", 3, Rule::kSelect, "", nullptr, nullptr, nullptr},
    {"div", 2, Rule::kInteger, "x_div", nullptr, nullptr, FloorDivide},
    {"mod", 2, Rule::kInteger, "x_mod", nullptr, nullptr, FloorModulo},
    {"f32", 1, Rule::kToReal, "", nullptr, nullptr, nullptr},
    {"s32", 1, Rule::kToInteger, "x_s32", nullptr, nullptr, nullptr},
}};

}  // namespace

const char* ToString(ValueKind kind) {
  constexpr const char* kNames[] = {"a float", "an integer", "a boolean"};
  return kNames[static_cast<int>(kind)];
}

int FunctionCount() { return static_cast<int>(kFunctions.size()); }

const FunctionDef& FunctionAt(int index) { return kFunctions[index]; }

int FindFunction(std::string_view name) {
  for (int i = 0; i < FunctionCount(); ++i) {
    if (name == kFunctions[i].name) return i;
  }
  return -1;
}

int64_t WrapAdd(int64_t a, int64_t b) {
  return kernels::AddIntegers(a, b, true);
}
int64_t WrapSubtract(int64_t a, int64_t b) {
  return kernels::SubtractIntegers(a, b, true);
}
int64_t WrapMultiply(int64_t a, int64_t b) {
  return kernels::MultiplyIntegers(a, b, true);
}
int64_t FloorDivide(int64_t a, int64_t b) {
  return kernels::FloorDivideIntegers(a, b, true);
}
int64_t FloorModulo(int64_t a, int64_t b) {
  return kernels::ModuloOfIntegers(a, b, true);
}

int64_t ToInt32(int64_t value) {
  return std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max());
}
int64_t ToInt32(float value) {
  return ToInt32(kernels::FloatToInt64(std::trunc(value)));
}

float Maximum(float a, float b) { return a > b || std::isnan(a) ? a : b; }
float Minimum(float a, float b) { return a < b || std::isnan(a) ? a : b; }

}  // namespace tim::expr
