// Compares elements within a tolerance.
#include "vx/check/compare.h"

#include <algorithm>
#include <cmath>

#include "base/str_cat.h"
#include "kernels/elements.h"

namespace tim::vx::check {
namespace {

bool Agree(double actual, double expected, ir::DataType type,
           const Tolerance& tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  if (std::isinf(expected) || !std::isfinite(actual)) return false;
  const double distance = std::abs(actual - expected);
  return distance <=
             tolerance.absolute + tolerance.relative * std::abs(expected) ||
         distance <= tolerance.ulps * UlpOf(expected, type);
}

// Unsigned, so that no difference of 64-bit codes overflows.
bool Agree(int64_t actual, int64_t expected, const Tolerance& tolerance) {
  const auto [least, most] = std::minmax(actual, expected);
  const uint64_t distance =
      static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  return distance <=
         static_cast<uint64_t>(std::max<int64_t>(tolerance.codes, 0));
}

}  // namespace

double UlpOf(double value, ir::DataType type) {
  const bool half = type == ir::DataType::kFloat16;
  const int mantissa = half ? 10 : 23;
  const int least = half ? -14 : -126;
  const int exponent = value == 0 ? least : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, least) - mantissa);
}

std::optional<Difference> FindDifference(const ir::TensorDesc& desc,
                                         const void* actual,
                                         const void* expected,
                                         const Tolerance& tolerance) {
  const kernels::ElementReader results({&desc, actual});
  const kernels::ElementReader references({&desc, expected});
  std::optional<Difference> first;
  const auto add = [&](int64_t i, const auto& result, const auto& reference) {
    if (!first) first = Difference{i, StrCat(result), StrCat(reference), 0};
    ++first->count;
  };
  for (int64_t i = 0; i < desc.shape.NumElements().value_or(0); ++i) {
    if (ir::IsFloat(desc.type)) {
      const float result = results.Real(i);
      const float reference = references.Real(i);
      if (!Agree(result, reference, desc.type, tolerance)) {
        add(i, result, reference);
      }
    } else if (!Agree(results.Code(i), references.Code(i), tolerance)) {
      add(i, results.Code(i), references.Code(i));
    }
  }
  return first;
}

std::vector<uint32_t> PositionOf(int64_t element, const ShapeType& shape) {
  std::vector<uint32_t> position;
  for (const uint32_t extent : shape) {
    position.push_back(static_cast<uint32_t>(element % extent));
    element /= extent;
  }
  return position;
}

}  // namespace tim::vx::check
