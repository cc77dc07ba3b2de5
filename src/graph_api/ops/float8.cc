// Conversions between float32 and codes of 8-bit floats, made of operators
// that give the same bits on every device.
#include "graph_api/ops/float8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace tim::graph {
namespace {

struct Format {
  tim_graph_data_type_t type;
  int mantissa_bits;
  int least_exponent;     // Of normal numbers; subnormal ones have its step.
  int greatest_exponent;  // Of finite numbers.
  float greatest;
  float nan_code;  // The positive one that conversions make.
};

constexpr Format kE5m2 = {tim_graph_f8_e5m2, 2, -14, 15, 57344, 0x7e};
constexpr Format kE4m3 = {tim_graph_f8_e4m3, 3, -6, 8, 448, 0x7f};

constexpr float kSignBit = 128;

const Format& FormatOf(tim_graph_data_type_t type) {
  return type == tim_graph_f8_e5m2 ? kE5m2 : kE4m3;
}

// Real number of a code without its sign.
float Magnitude(const Format& format, int code) {
  const int ones = 1 << format.mantissa_bits;
  const int exponent = code / ones;
  const int mantissa = code % ones;
  const int step = format.least_exponent - format.mantissa_bits;
  const int greatest = exponent == 0 ? 0 : exponent - 1;
  const float value =
      std::ldexp(static_cast<float>(exponent == 0 ? mantissa : ones + mantissa),
                 greatest + step);
  if (value <= format.greatest) return value;
  const bool infinite = format.type == tim_graph_f8_e5m2 && mantissa == 0;
  return infinite ? std::numeric_limits<float>::infinity()
                  : std::numeric_limits<float>::quiet_NaN();
}

Floats ValuesOf(const Format& format) {
  Floats values;
  for (int code = 0; code < 256; ++code) {
    const float magnitude = Magnitude(format, code % 128);
    values.push_back(code < 128 ? magnitude : -magnitude);
  }
  return values;
}

// Elements of a list, by index.
Tensor Pick(Formula& f, const Floats& list, const Tensor& indices) {
  const auto count = static_cast<int64_t>(list.size());
  const Tensor table = f.Try(f.lowering().Constant(list, {count}));
  if (!f.status().ok()) return {};
  const Tensor made = f.Try(
      f.lowering().Add("Gather", {table, indices}, {{"axis", int64_t{0}}}));
  return f.Reshape(made, indices.dims);
}

// 1 where x has its sign bit set, that of -0 too; else 0.
Tensor IsNegative(Formula& f, const Tensor& x) {
  const Tensor zero = f.Number(0);
  const Tensor below =
      f.Binary("LogicalOr", f.Less(x, 0), f.Less(f.Unary("Rcp", x), 0));
  return f.Select(below, f.Number(1), zero);
}

}  // namespace

bool IsFloat8(tim_graph_data_type_t type) {
  return type == tim_graph_f8_e5m2 || type == tim_graph_f8_e4m3;
}

Tensor DecodeFloat8(Formula& f, const Tensor& codes,
                    tim_graph_data_type_t type) {
  return Pick(f, ValuesOf(FormatOf(type)), f.Cast(codes, ir::DataType::kInt32));
}

// A magnitude of the exponent e is a whole number of steps of
// 2^(e - mantissa_bits), and its code that number plus an offset for e.  Of a
// number next to a power of 2 the logarithm may give the exponent beside its
// own; both round it to that power.
Tensor EncodeFloat8(Formula& f, const Tensor& x, tim_graph_data_type_t type) {
  const Format& format = FormatOf(type);
  const Tensor is_number = f.Binary("Equal", x, x);
  const Tensor magnitude = f.Clip(
      f.Select(is_number, f.Unary("Abs", x), f.Number(0)), 0, format.greatest);
  const Tensor exponent = f.Unary(
      "Floor",
      f.Clip(f.Linear(f.Unary("Log", magnitude), std::numbers::log2e, 0),
             format.least_exponent, format.greatest_exponent));
  const Tensor above = f.Linear(exponent, 1, -format.least_exponent);
  Floats steps_per_one;
  for (int e = format.least_exponent; e <= format.greatest_exponent; ++e) {
    steps_per_one.push_back(std::ldexp(1.0f, format.mantissa_bits - e));
  }
  const Tensor scale =
      Pick(f, steps_per_one, f.Cast(above, ir::DataType::kInt32));
  const Tensor steps = f.Unary("Round", f.Multiply(magnitude, scale));
  const Tensor offset =
      f.Linear(above, static_cast<double>(1 << format.mantissa_bits), 0);
  const Tensor finite = f.Add(steps, offset);
  const Tensor code =
      f.Add(f.Select(is_number, finite, f.Number(format.nan_code)),
            f.Linear(IsNegative(f, x), kSignBit, 0));
  return f.Cast(code, ir::DataType::kUint8);
}

}  // namespace tim::graph
