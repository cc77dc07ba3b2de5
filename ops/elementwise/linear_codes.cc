#include "ops/elementwise/linear_codes.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/elements.h"
#include "ops/launch/activation.h"

namespace tim::ops {
namespace {

// Of |a| * 255 + |b| * 255 + |start|: both roundings of the sum, and those of
// the three numbers, are then below kDoubt / 4 together.
constexpr double kMostUnits = 2048;
constexpr double kDoubt = 0x1p-8;
// Codes saturate beyond, whatever the last bits are.
constexpr double kSaturated = 1024;
// Neighbours in float32 of the numbers that arithmetic without roundings gives,
// which are tried, too: eval's roundings may lie to either side.
constexpr int kStartSteps[] = {0, 1, -1, 2, -2};
constexpr int kFactorSteps[] = {0, 1, -1};

struct Slopes {
  double a = 0;
  double b = 0;
  double start = 0;
};

struct Pair {
  float a = 0;
  float b = 0;
  int64_t code = 0;  // What eval gives.
};

double ScaleOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.Scale() : 1.0f;
}

double ZeroOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? static_cast<double>(desc.quantization.ZeroPoint())
                          : 0.0;
}

int CodeOfByte(const ir::TensorDesc& desc, int byte) {
  return desc.type == ir::DataType::kInt8 ? static_cast<int8_t>(byte) : byte;
}

Slopes SlopesOf(const BinaryProblem& problem, const ir::TensorDesc& y) {
  const auto units = [&](double a, double b) {
    const float real =
        problem.formula.binary(static_cast<float>(a), static_cast<float>(b));
    return static_cast<double>(real) * problem.scale / ScaleOf(y);
  };
  const double zero = units(0, 0);
  Slopes out;
  out.a = units(ScaleOf(problem.a), 0) - zero;
  out.b = units(0, ScaleOf(problem.b)) - zero;
  out.start =
      zero + ZeroOf(y) - out.a * ZeroOf(problem.a) - out.b * ZeroOf(problem.b);
  return out;
}

// Pairs of which roundings decide, or none where others differ.
std::optional<std::vector<Pair>> DoubtfulPairs(const BinaryProblem& problem,
                                               const ir::TensorDesc& y,
                                               const Slopes& slopes) {
  const std::array<float, 256> as = RealsOfBytes(problem.a);
  const std::array<float, 256> bs = RealsOfBytes(problem.b);
  const auto scale = static_cast<float>(ScaleOf(y));
  const auto zero = static_cast<float>(ZeroOf(y));
  std::vector<Pair> out;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const int a = CodeOfByte(problem.a, i);
      const int b = CodeOfByte(problem.b, j);
      const double linear = slopes.a * a + slopes.b * b + slopes.start;
      const float real = problem.formula.binary(as[i], bs[j]) * problem.scale;
      const double units = real / scale + zero;
      if (std::fmin(linear, units) > kSaturated) continue;
      if (std::fmax(linear, units) < -kSaturated) continue;
      if (!(std::fabs(linear - units) < kDoubt / 4)) return std::nullopt;
      if (std::fabs(units - std::floor(units) - 0.5) > kDoubt) continue;
      out.push_back(
          {static_cast<float>(a), static_cast<float>(b), CodeOf(real, y)});
    }
  }
  return out;
}

bool Gives(const LinearCodes& linear, const std::vector<Pair>& pairs,
           const ir::TensorDesc& y) {
  const ir::DataTypeInfo& info = ir::Info(y.type);
  for (const Pair& pair : pairs) {
    const float units =
        std::fma(pair.a, linear.a, std::fma(pair.b, linear.b, linear.start));
    if (kernels::RoundToCode(units, info.min, info.max, info.bits, {}) !=
        pair.code) {
      return false;
    }
  }
  return true;
}

// `value` in float32, or a neighbour so many steps away.
float Near(double value, int steps) {
  auto out = static_cast<float>(value);
  for (int i = 0; i < std::abs(steps); ++i) {
    out = std::nextafter(out, static_cast<float>(steps) * HUGE_VALF);
  }
  return out;
}

}  // namespace

std::optional<LinearCodes> LinearCodesOf(const BinaryProblem& problem,
                                         const ir::TensorDesc& y) {
  const Slopes slopes = SlopesOf(problem, y);
  const double most = 255 * (std::fabs(slopes.a) + std::fabs(slopes.b)) +
                      std::fabs(slopes.start);
  if (!(most < kMostUnits)) return std::nullopt;
  const auto pairs = DoubtfulPairs(problem, y, slopes);
  if (!pairs) return std::nullopt;
  for (const int start : kStartSteps) {
    for (const int a : kFactorSteps) {
      for (const int b : kFactorSteps) {
        const LinearCodes linear = {.a = Near(slopes.a, a),
                                    .b = Near(slopes.b, b),
                                    .start = Near(slopes.start, start)};
        if (Gives(linear, *pairs, y)) return linear;
      }
    }
  }
  return std::nullopt;
}

std::array<float, 256> RealsOfBytes(ir::TensorDesc desc) {
  std::array<uint8_t, 256> codes;
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
  desc.shape = ir::Shape({256});
  desc.layout = ir::Layout::Dense();
  const kernels::ElementReader reader({&desc, codes.data()});
  std::array<float, 256> reals;
  for (int i = 0; i < 256; ++i) reals[i] = reader.Real(i);
  return reals;
}

}  // namespace tim::ops
