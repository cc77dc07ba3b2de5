// Declared extents against all that a reading of the operator's rule gives.
#include "ops/convolution/extent_doubts.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"

namespace tim::ops {
namespace {

bool Has(const std::vector<ExtentRange>& ranges, int64_t extent) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return range.low <= extent && extent <= range.high;
  });
}

std::string ToText(const std::vector<ExtentRange>& ranges) {
  std::vector<std::string> parts;
  for (const auto& [low, high] : ranges) {
    const std::string part =
        low == high ? StrCat(low) : StrCat(low, " to ", high);
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(part);
    }
  }
  return StrJoin(parts, " or ");
}

}  // namespace

void AddExtentsDoubt(const ir::NodeView& view,
                     const std::vector<std::vector<ExtentRange>>& readings,
                     Doubts* doubts) {
  const ir::Shape& output = view.outputs[0]->shape;
  if (output.rank() < std::ssize(readings)) return;
  std::string text;
  for (int axis = 0; axis < std::ssize(readings); ++axis) {
    const std::vector<ExtentRange>& ranges = readings[axis];
    const int64_t extent = output[axis];
    if (extent == ir::kUnknownDim || Has(ranges, extent)) continue;
    text += StrCat(text.empty() ? "" : ", ", "along ", SpatialAxisName(axis),
                   " ", extent);
    text += ranges.empty()
                ? StrCat(" where no window fits the input")
                : StrCat(" where the operation gives ", ToText(ranges));
  }
  if (text.empty()) return;
  doubts->push_back(StrCat(
      "output 0 is declared as ", output.ToString(), ": ", text,
      "; so many cells are made, those beyond the input of padding alone; "
      "declare what the operation gives, or {} to have it inferred"));
}

std::vector<ExtentRange> WindowCounts(int64_t room, int64_t stride) {
  if (room < 0) return {};
  const int64_t step = std::max<int64_t>(stride, 1);
  return {{room / step + 1, CeilDiv(room, step) + 1}};
}

std::vector<ExtentRange> ConvolvedExtents(const ConvWindow& window,
                                          int64_t input, int64_t kernel) {
  if (input == ir::kUnknownDim || kernel == ir::kUnknownDim) {
    return {{0, std::numeric_limits<int64_t>::max()}};
  }
  if (window.mode == PadMode::kSame) {
    const int64_t step = std::max<int64_t>(window.stride, 1);
    return {{input / step, CeilDiv(input, step)}};
  }
  const ConvPads pads = PadsOf(window, input, kernel);
  return WindowCounts(
      input + pads.front + pads.back - EffectiveKernel(window, kernel),
      window.stride);
}

}  // namespace tim::ops
