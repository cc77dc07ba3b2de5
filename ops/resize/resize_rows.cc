// Chooses the kernel that resizes dense planes row by row, and its options.
#include "ops/resize/resize_rows.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/checked_math.h"
#include "kernels/bytes/codes.h"
#include "ops/elements/convert.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/pieces.h"
#include "ops/resize/blend.h"
#include "ops/resize/resize_codes.h"

namespace tim::ops {
namespace {

constexpr int64_t kSixteen = 16;
// Words of the table for each sixteen, and where in them lower, upper and
// weights begin.
constexpr int64_t kWords = 64;
constexpr int64_t kLower = 16;
constexpr int64_t kUpper = 32;
constexpr int64_t kWeights = 48;

bool IsFloat32(const ir::TensorDesc& desc) {
  return desc.type == ir::DataType::kFloat32;
}

// Words of neighbours `first` to `first` + 15; what is beyond the row is its
// last one again.
void FillSixteen(const std::vector<ResizeSource>& sources, int64_t first,
                 int32_t* words) {
  const auto source = [&](int64_t i) {
    const auto last = static_cast<int64_t>(sources.size()) - 1;
    return sources[std::min(first + i, last)];
  };
  int32_t least = source(0).lower;
  int32_t greatest = least;
  for (int64_t i = 0; i < kSixteen; ++i) {
    least = std::min(least, source(i).lower);
    greatest = std::max(greatest, source(i).upper);
  }
  words[0] = least;
  words[1] = greatest - least;
  for (int64_t i = 0; i < kSixteen; ++i) {
    words[kLower + i] = source(i).lower - least;
    words[kUpper + i] = source(i).upper - least;
    words[kWeights + i] = std::bit_cast<int32_t>(source(i).weight);
  }
}

ir::PackedConstant PackSixteens(const ResizeMap& map) {
  const auto width = static_cast<int64_t>(map.w.size());
  const int64_t sixteens = CeilDiv(width, kSixteen);
  std::vector<int32_t> words(sixteens * kWords);
  for (int64_t i = 0; i < sixteens; ++i) {
    // The last one of several ends with the row.
    const int64_t last = std::max<int64_t>(width - kSixteen, 0);
    FillSixteen(map.w, std::min(i * kSixteen, last), &words[i * kWords]);
  }
  for (const ResizeSource& source : map.h) {
    words.push_back(source.lower);
    words.push_back(source.upper);
    words.push_back(std::bit_cast<int32_t>(source.weight));
  }
  return PackedTable("resize_rows", std::move(words));
}

// The options, and numbers of the last three parameters.
struct Numbers {
  float scale = 1;
  int64_t x_zero = 0;
  int64_t y_zero = 0;
};

Numbers AddRule(const ir::KernelNode& node, const ResizeMap& map,
                Launch* launch) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  constexpr auto kBits = kernels::ConvertRule::kBits;
  if (map.moves && kernels::ConvertRuleOf(from, to) == kBits) {
    AddConvertOptions(from, to, kBits, launch);
    return {};
  }
  launch->Option(map.moves ? "-DRULE=BOUNDED" : "-DRULE=BLEND");
  launch->Type("IN0", from).Type("OUT", to);
  const BlendScale scale = BlendScaleOf(from, to);
  const auto blends = map.moves ? std::nullopt : CodeBlendsOf(from, to, map);
  if (blends && blends->exact) launch->Option("-DEXACT");
  if (blends && blends->fused) launch->Option("-DFUSED");
  return {scale.multiplier, scale.in_zero, scale.zero};
}

}  // namespace

bool TakesResizeRows(const ir::KernelNode& node, const ResizeMap& map,
                     const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  if (!CheckCpu(device).ok()) return false;
  if (kernels::AreBoundedCodes(from, to)) return true;
  if (!map.moves) return IsFloat32(from) && IsFloat32(to);
  return kernels::ConvertRuleOf(from, to) == kernels::ConvertRule::kBits &&
         ir::Info(from.type).bits <= 32;
}

Result<ir::Lowering> LowerResizeRows(const ir::KernelNode& node,
                                     const ResizeMap& map,
                                     const ir::DeviceInfo& device) {
  const auto out_w = static_cast<int64_t>(map.w.size());
  const auto out_h = static_cast<int64_t>(map.h.size());
  const int64_t group =
      PiecesOf({.length = out_w, .rows = out_h, .planes = map.planes}, device)
          .group;
  Launch launch("ops/resize/resize_rows.cl", "resize_rows");
  const Numbers numbers = AddRule(node, map, &launch);
  return launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("sources", PackSixteens(map), 4)
      .Int("w", map.input_w)
      .Int("h", map.input_h)
      .Int("out_w", out_w)
      .Int("out_h", out_h)
      .Int("planes", map.planes)
      .Int("group", group)
      .Float("x_scale", numbers.scale)
      .Int("x_zero", numbers.x_zero)
      .Int("y_zero", numbers.y_zero)
      .Tiles(device, CeilDiv(out_h, group) * map.planes)
      .Build();
}

}  // namespace tim::ops
