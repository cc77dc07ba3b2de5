#include "ops/resize/resize_sources.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/elements.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

struct Coordinates {
  ResizeType type = ResizeType::kNearest;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// `position` of an axis of `extent` elements.
int32_t Clamped(float position, int64_t extent) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(static_cast<int64_t>(position), 0, extent - 1));
}

// Every operation rounds to float32: this file is compiled without contraction.
ResizeSource SourceOf(const Coordinates& rule, float scale, int64_t o,
                      int64_t extent) {
  const float half = rule.half_pixel_centers ? 0.5f : 0.0f;
  const float scaled = (static_cast<float>(o) + half) * scale;
  if (rule.type == ResizeType::kNearest) {
    const float rounding = rule.align_corners ? 0.5f : 0.0f;
    const int32_t nearest = Clamped(std::trunc(scaled + rounding), extent);
    return {.lower = nearest, .upper = nearest};
  }
  const float x = scaled - half;
  const float floor = std::floor(x);
  ResizeSource out = {.lower = Clamped(floor, extent),
                      .upper = Clamped(floor + 1.0f, extent),
                      .weight = x - floor};
  if (out.weight == 0) out.upper = out.lower;
  if (out.upper == out.lower) out.weight = 0;
  return out;
}

std::vector<ResizeSource> SourcesOf(const Coordinates& rule, int64_t input,
                                    int64_t output) {
  const bool align = rule.align_corners && output > 1;
  const float scale = static_cast<float>(align ? input - 1 : input) /
                      static_cast<float>(align ? output - 1 : output);
  std::vector<ResizeSource> out(output);
  for (int64_t o = 0; o < output; ++o) {
    out[o] = SourceOf(rule, scale, o, input);
  }
  return out;
}

// Of an axis that is not resized.
std::vector<ResizeSource> OwnSources(int64_t extent) {
  std::vector<ResizeSource> out(extent);
  for (int64_t o = 0; o < extent; ++o) {
    out[o].lower = out[o].upper = static_cast<int32_t>(o);
  }
  return out;
}

}  // namespace

bool ResizeMoves(const ir::AttributeMap& attributes, const ir::Shape& input,
                 const ir::Shape& output) {
  return static_cast<ResizeType>(attributes.Int("type")) ==
             ResizeType::kNearest ||
         input == output;
}

ResizeMap ResizeMapOf(const ir::AttributeMap& attributes, int axes,
                      const ir::Shape& input, const ir::Shape& output) {
  const Coordinates rule = {
      .type = static_cast<ResizeType>(attributes.Int("type")),
      .align_corners = attributes.Bool("align_corners"),
      .half_pixel_centers = attributes.Bool("half_pixel_centers")};
  const auto sources = [&](int axis) {
    return axis >= axes || input == output
               ? OwnSources(output.DimOr1(axis))
               : SourcesOf(rule, input.DimOr1(axis), output.DimOr1(axis));
  };
  return {.moves = ResizeMoves(attributes, input, output),
          .w = sources(0),
          .h = sources(1),
          .input_w = input.DimOr1(0),
          .input_h = input.DimOr1(1),
          .planes = input.rank() > 2 ? input.Product(2, input.rank()) : 1};
}

ir::PackedConstant PackSources(const ResizeMap& map) {
  std::vector<int32_t> words;
  words.reserve(3 * (map.w.size() + map.h.size()));
  for (const auto* sources : {&map.w, &map.h}) {
    for (const ResizeSource& source : *sources) {
      words.push_back(source.lower);
      words.push_back(source.upper);
      words.push_back(std::bit_cast<int32_t>(source.weight));
    }
  }
  return PackedTable("resize_sources", std::move(words));
}

}  // namespace tim::ops
