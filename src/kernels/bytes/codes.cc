#include "kernels/bytes/codes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/elements.h"

namespace tim::kernels {
namespace {

// Where numbers, quotients and remainders are normal.
bool IsModerate(float value) {
  const float magnitude = std::fabs(value);
  return value == 0.0f || (magnitude >= 0x1p-80f && magnitude <= 0x1p80f);
}

constexpr float kGreatestUnits = 0x1p21f;
// Codes saturate beyond, whatever the last bits are.
constexpr float kSaturated = 1024.0f;
// More than all roundings of smaller units together.
constexpr float kDoubt = 0x1p-10f;

constexpr float kLowBitsOfSum = 12582912.0f;
constexpr int kFarthestZero = 512;

bool IsBytes(const ir::TensorDesc& desc) {
  const bool bytes =
      desc.type == ir::DataType::kInt8 || desc.type == ir::DataType::kUint8;
  return bytes && !(desc.quantized() && desc.quantization.per_channel());
}

}  // namespace

BoundedCodes::BoundedCodes(const ir::TensorDesc& y) {
  const bool quantized = y.quantized();
  if (quantized && !y.quantization.per_channel()) {
    scale_ = y.quantization.Scale();
    zero_ = static_cast<float>(y.quantization.ZeroPoint());
  }
  const bool fits =
      IsBytes(y) && IsModerate(scale_) && std::fabs(zero_) <= kFarthestZero;
  if (!fits) equal_[0] = equal_[1] = false;
  inverse_ = 1.0f / scale_;
  low_ = static_cast<float>(ir::Info(y.type).min);
  high_ = static_cast<float>(ir::Info(y.type).max);
}

void BoundedCodes::Add(float real) {
  const float units = real * inverse_;
  if (!IsModerate(real) || !(std::fabs(units) < kGreatestUnits)) {
    equal_[0] = equal_[1] = false;
    return;
  }
  if (std::fabs(units) >= kSaturated) return;
  // Only next to the middle of two codes can they differ.
  const float sum = units + zero_;
  const float from_middle = sum - std::floor(sum) - 0.5f;
  if (std::fabs(from_middle) < kDoubt) Compare(real);
}

void BoundedCodes::Compare(float real) {
  const auto code = [&](float rounded) {
    return std::clamp(rounded, low_, high_);
  };
  const float expected = code(std::nearbyintf(real / scale_ + zero_));
  const float none = std::fma(real, inverse_, kLowBitsOfSum + zero_);
  equal_[0] = equal_[0] && code(none - kLowBitsOfSum) == expected;
  const float first = real * inverse_;
  const float second =
      std::fma(std::fma(-first, scale_, real), inverse_, first);
  equal_[1] = equal_[1] &&
              code(second + zero_ + kLowBitsOfSum - kLowBitsOfSum) == expected;
}

std::optional<int> BoundedCodes::corrections() const {
  if (equal_[0]) return 0;
  if (equal_[1]) return 1;
  return std::nullopt;
}

bool AreBoundedCodes(const ir::TensorDesc& from, const ir::TensorDesc& to) {
  if (!IsBytes(from) || !IsBytes(to)) return false;
  const ir::Quantization none;
  const auto& q_in = from.quantized() ? from.quantization : none;
  const auto& q_out = to.quantized() ? to.quantization : none;
  return Multiplier(q_in.Scale(), q_out.Scale()) <= 0x1p10f &&
         std::abs(q_in.ZeroPoint()) <= kFarthestZero &&
         std::abs(q_out.ZeroPoint()) <= kFarthestZero;
}

}  // namespace tim::kernels
