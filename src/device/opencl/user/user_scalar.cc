#include "device/opencl/user/user_scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <variant>

#include "base/half.h"

namespace tim::device {
namespace {

// The low bytes of `value`; an integer's are the same in every width that
// holds it.
template <typename T>
std::vector<std::byte> LowBytes(T value, int bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::byte> out(bytes);
  std::memcpy(out.data(), &value, bytes);
  return out;
}

bool Fits(int64_t value, const kernels::CType& type) {
  return value >= type.min &&
         (value < 0 || static_cast<uint64_t>(value) <= type.max);
}
bool Fits(uint64_t value, const kernels::CType& type) {
  return value <= type.max;
}

// Rounded once, to nearest even; through float it would be twice.
uint16_t DoubleToHalf(double value) {
  if (!std::isfinite(value)) return FloatToHalf(static_cast<float>(value));
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return FloatToHalf(static_cast<float>(rounded));
}

Status AnotherType(const ir::UserScalarArg& scalar,
                   const kernels::CType& type) {
  return InvalidArgument("a scalar of another type: ", scalar.type,
                         " does not go to ", type.name);
}

struct Converter {
  const ir::UserScalarArg& scalar;
  const kernels::CType& type;

  using Bytes = Result<std::vector<std::byte>>;

  template <typename Integer>
  Bytes operator()(Integer value) const {
    if (type.floating) return AnotherType(scalar, type);
    if (Fits(value, type)) return LowBytes(value, type.bytes);
    return InvalidArgument("an integer that does not fit: ", value, " in ",
                           type.name, " [", type.min, ", ", type.max, "]");
  }

  Bytes operator()(double value) const {
    if (!type.floating) return AnotherType(scalar, type);
    if (type.bytes == 8) return LowBytes(value, 8);
    const uint16_t half = DoubleToHalf(value);
    const float single = static_cast<float>(value);
    const float kept = type.bytes == 2 ? HalfToFloat(half) : single;
    if (std::isinf(kept) && std::isfinite(value)) {
      return InvalidArgument("a number that overflows: ", value, " in ",
                             type.name);
    }
    return type.bytes == 2 ? LowBytes(half, 2) : LowBytes(single, 4);
  }
};

}  // namespace

Result<std::vector<std::byte>> ScalarBytes(const ir::UserScalarArg& scalar,
                                           const kernels::CType& type) {
  const Converter converter{scalar, type};
  TIM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                       std::visit(converter, scalar.value));
  for (const ir::UserScalarArg::Value& value : scalar.more) {
    TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> more,
                         std::visit(converter, value));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  if (scalar.more.size() == 2) bytes.resize(bytes.size() / 3 * 4);
  return bytes;
}

}  // namespace tim::device
