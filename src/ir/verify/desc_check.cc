#include "ir/verify/desc_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tim::ir {
namespace {

// Sums of an extent and a block stay within 64 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 61;
constexpr int64_t kMaxBlock = int64_t{1} << 30;

template <typename Enum>
bool IsUpTo(Enum value, Enum last) {
  return static_cast<int>(value) >= 0 &&
         static_cast<int>(value) <= static_cast<int>(last);
}

Status CheckScales(const Quantization& quantization) {
  if (quantization.kind == QuantizationKind::kFixedPoint) return OkStatus();
  if (quantization.scales.empty()) {
    return InvalidArgument("the quantization has no scale");
  }
  for (const float scale : quantization.scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return InvalidArgument("scale ", scale, " is not a positive number");
    }
  }
  return OkStatus();
}

// Codes minus zero points must fit 32 bits.
Status CheckZeroPoints(const Quantization& quantization) {
  constexpr int64_t kLimit = int64_t{1} << 30;
  for (const int64_t zero : quantization.zero_points) {
    if (zero >= -kLimit && zero <= kLimit) continue;
    return InvalidArgument("zero point ", zero, " is outside of ", -kLimit,
                           " to ", kLimit);
  }
  return OkStatus();
}

Status CheckLayout(const TensorDesc& desc) {
  const Layout& layout = desc.layout;
  const bool known = IsUpTo(layout.kind, LayoutKind::kStrided) &&
                     layout.kind != LayoutKind::kAny;
  if (known && (!layout.blocked() || layout.block <= kMaxBlock)) {
    return OkStatus();
  }
  return InvalidArgument("layout ", layout.ToString(), " is none of a tensor");
}

}  // namespace

Status CheckShape(const Shape& shape) {
  if (shape.rank() > kMaxRank) {
    return InvalidArgument("rank ", shape.rank(), " exceeds ", kMaxRank);
  }
  for (const int64_t dim : shape.dims()) {
    if (dim == kUnknownDim || (dim > 0 && dim <= kMaxExtent)) continue;
    return InvalidArgument("shape ", shape.ToString(), " has an extent of ",
                           dim);
  }
  return OkStatus();
}

// "0, 1 or 5", each number once.
std::string CountText(std::vector<int64_t> counts) {
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const std::string last = StrCat(counts.back());
  counts.pop_back();
  if (counts.empty()) return last;
  return StrCat(StrJoin(counts, ", "), " or ", last);
}

Status CheckQuantization(const TensorDesc& desc) {
  if (!desc.quantized()) return OkStatus();
  const Quantization& quantization = desc.quantization;
  TIM_RETURN_IF_ERROR(CheckScales(quantization));
  TIM_RETURN_IF_ERROR(CheckZeroPoints(quantization));
  if (!quantization.per_channel() || !desc.shape.ranked()) return OkStatus();
  if (quantization.axis < 0 || quantization.axis >= desc.shape.rank()) {
    return InvalidArgument("channel dimension ", quantization.axis,
                           " is outside rank ", desc.shape.rank());
  }
  const int64_t channels = desc.shape[quantization.axis];
  const auto scales = static_cast<int64_t>(quantization.scales.size());
  const auto zeros = static_cast<int64_t>(quantization.zero_points.size());
  if (channels == kUnknownDim) return OkStatus();
  if (scales != 1 && scales != channels) {
    return InvalidArgument(scales, " scales along axis ", quantization.axis,
                           " with ", channels, " channels; expected ",
                           CountText({1, channels}));
  }
  if (zeros > 1 && zeros != channels) {
    return InvalidArgument(zeros, " zero points along axis ", quantization.axis,
                           " with ", channels, " channels; expected ",
                           CountText({0, 1, channels}));
  }
  return OkStatus();
}

Result<int64_t> CheckDesc(const TensorDesc& desc) {
  if (static_cast<int>(desc.type) >= kDataTypeCount) {
    return InvalidArgument("data type ", static_cast<int>(desc.type), " of ",
                           kDataTypeCount);
  }
  const QuantizationKind kind = desc.quantization.kind;
  if (!IsUpTo(kind, QuantizationKind::kFixedPoint)) {
    return InvalidArgument("a quantization of kind ", static_cast<int>(kind));
  }
  TIM_RETURN_IF_ERROR(CheckShape(desc.shape));
  TIM_RETURN_IF_ERROR(CheckLayout(desc));
  TIM_RETURN_IF_ERROR(CheckQuantization(desc));
  return ByteSize(desc);
}

}  // namespace tim::ir
