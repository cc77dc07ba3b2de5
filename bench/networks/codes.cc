#include "bench/networks/codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tim::bench {
namespace {

// Finds the channel of an element.
class Channels {
 public:
  Channels(const Shape& shape, int axis) : count_(shape[axis]) {
    for (int i = 0; i < axis; ++i) stride_ *= shape[i];
  }

  size_t count() const { return count_; }
  size_t Of(size_t element) const { return element / stride_ % count_; }

 private:
  size_t stride_ = 1;
  size_t count_ = 1;
};

template <typename Code>
Codes CodesOver(const Range& range, ElementType type) {
  constexpr double kLeast = std::numeric_limits<Code>::min();
  constexpr double kGreatest = std::numeric_limits<Code>::max();
  const double least = std::min(range.least, 0.0f);
  const double greatest = std::max(range.greatest, 0.0f);
  const double scale = (greatest - least) / (kGreatest - kLeast);
  if (scale == 0) return {.type = type, .scales = {1.0f}};
  const double zero = std::nearbyint(kLeast - least / scale);
  return {
      .type = type,
      .scales = {static_cast<float>(scale)},
      .zero_point = static_cast<int32_t>(std::clamp(zero, kLeast, kGreatest))};
}

template <typename Code>
void EncodeAs(std::span<const float> values, const Shape& shape,
              const Codes& codes, std::vector<uint8_t>* bytes) {
  constexpr double kLeast = std::numeric_limits<Code>::min();
  constexpr double kGreatest = std::numeric_limits<Code>::max();
  const Channels channels(shape, codes.channel_axis);
  const bool per_channel = codes.scales.size() > 1;
  bytes->resize(values.size() * sizeof(Code));
  for (size_t i = 0; i < values.size(); ++i) {
    const float scale = codes.scales[per_channel ? channels.Of(i) : 0];
    const double rounded = std::nearbyint(values[i] / scale);
    const auto code = static_cast<Code>(
        std::clamp(rounded + codes.zero_point, kLeast, kGreatest));
    std::memcpy(bytes->data() + i * sizeof(Code), &code, sizeof(Code));
  }
}

}  // namespace

Codes CodesOfRange(const Range& range, ElementType type) {
  return type == ElementType::kInt8 ? CodesOver<int8_t>(range, type)
                                    : CodesOver<uint8_t>(range, type);
}

Codes CodesOfChannels(std::span<const float> values, const Shape& shape,
                      int axis) {
  const Channels channels(shape, axis);
  std::vector<float> scales(channels.count(), 0.0f);
  for (size_t i = 0; i < values.size(); ++i) {
    float& greatest = scales[channels.Of(i)];
    greatest = std::max(greatest, std::fabs(values[i]));
  }
  for (float& scale : scales) scale = scale == 0 ? 1.0f : scale / 127;
  return {.type = ElementType::kInt8,
          .scales = std::move(scales),
          .channel_axis = axis};
}

Codes CodesOfBias(const Codes& input, const Codes& weights) {
  Codes bias = {.type = ElementType::kInt32, .scales = weights.scales};
  for (float& scale : bias.scales) scale *= input.scales[0];
  return bias;
}

void Encode(std::span<const float> values, const Shape& shape,
            const Codes& codes, std::vector<uint8_t>* bytes) {
  switch (codes.type) {
    case ElementType::kInt8:
      return EncodeAs<int8_t>(values, shape, codes, bytes);
    case ElementType::kUint8:
      return EncodeAs<uint8_t>(values, shape, codes, bytes);
    case ElementType::kInt32:
      return EncodeAs<int32_t>(values, shape, codes, bytes);
    case ElementType::kFloat32:
      bytes->resize(values.size_bytes());
      std::memcpy(bytes->data(), values.data(), values.size_bytes());
  }
}

}  // namespace tim::bench
