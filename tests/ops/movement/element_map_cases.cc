#include <algorithm>
#include <limits>

#include "ir/element_map_attributes.h"
#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"

namespace tim::testing {
namespace {

using ir::ElementMap;
using Ints = std::vector<int64_t>;

// Without scales per channel.
const std::vector<std::string> kTypes = {
    "f32>f32",   "f16>f16",   "u8a>u8a",  "i8a>i8a", "i32>i32", "u8a>f32",
    "i16d>i16d", "f32>u8a",   "i64>i64",  "b8>b8",   "u8>u8",   "u4a>u4a",
    "i4a>f32",   "bf16>bf16", "i16a>i8a", "f64>f64", "f32>f16", "i16>i32",
};

NodeCase Node(const ElementMap& map, const Ints& input, const Ints& output,
              CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  return {.op = "tim.ElementMap",
          .attributes = ir::AttributesOf(map, ir::Shape(output)),
          .inputs = {rng.Desc(types.inputs[0], input)},
          .outputs = {rng.Desc(types.outputs[0], output)}};
}

// Channels of [W, H, C, N] in groups, some of them left out.
NodeCase Shuffled(CaseRng& rng) {
  Ints input = rng.Shape(4, 4, 3000);
  const int64_t groups = rng.Pick(Ints{2, 1, 3, 4});
  const int64_t size = input[2];
  input[2] *= groups;
  Ints output = input;
  const int64_t left = rng.Int(1, size);
  output[2] = groups * left;
  const int64_t plane = input[0] * input[1];
  const ElementMap map = {.start = plane * (size - left),
                          .extents = {plane, groups, left, input[3]},
                          .strides = {1, plane * size, plane, plane * input[2]},
                          .bounds = {}};
  return Node(map, input, output, rng);
}

// One axis of the input becomes loops of the map: a part of it, backwards, with
// zeros around, or again and again.
void AddAxis(int64_t extent, int64_t stride, CaseRng& rng, ElementMap* map,
             Ints* output) {
  const auto add = [&](int64_t steps, int64_t step) {
    map->extents.push_back(steps);
    map->strides.push_back(step);
    for (auto& bound : map->bounds) bound.strides.push_back(0);
    output->push_back(steps);
  };
  switch (rng.Int(0, 4)) {
    case 1: {
      const int64_t step = rng.Int(1, 3);
      const int64_t first = rng.Int(0, extent - 1);
      map->start += first * stride;
      return add((extent - first - 1) / step + 1, step * stride);
    }
    case 2:
      map->start += (extent - 1) * stride;
      return add(extent, -stride);
    case 3: {
      if (map->bounds.size() == 2) return add(extent, stride);
      const int64_t front = rng.Int(0, 3);
      map->start -= front * stride;
      add(front + extent + rng.Int(0, 3), stride);
      map->bounds.push_back({-front, extent, Ints(map->extents.size(), 0)});
      map->bounds.back().strides.back() = 1;
      return;
    }
    case 4:
      add(extent, stride);
      add(rng.Int(1, 3), 0);
      output->pop_back();
      output->back() *= map->extents.back();
      return;
    default:
      return add(extent, stride);
  }
}

NodeCase Legal(CaseRng& rng) {
  if (rng.OneIn(3)) return Shuffled(rng);
  const Ints input = rng.Shape(1, 4, 5000);
  const Ints dense = ir::DenseStrides(ir::Shape(input));
  ElementMap map;
  Ints output;
  for (const int axis : rng.Permutation(static_cast<int>(input.size()))) {
    AddAxis(input[axis], dense[axis], rng, &map, &output);
  }
  return Node(map, input, output, rng);
}

NodeCase Floats(const ElementMap& map, const Ints& input, const Ints& output) {
  return MovedFloats("tim.ElementMap", ir::AttributesOf(map, ir::Shape(output)),
                     input, output);
}

// Every other element of [4, 6], with a zero before each row.
NodeCase Legible() {
  return Floats({.start = -2,
                 .extents = {3, 6},
                 .strides = {2, 4},
                 .bounds = {{-1, 2, {1, 0}}}},
                {4, 6}, {3, 6});
}

// Numbers that would let kernels read outside of the input, or wrap.
std::vector<IllegalCase> Illegal() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  std::vector<IllegalCase> out = IllegalOperands(Legible());
  const auto add = [&](const char* name, ir::Attribute value,
                       const char* word) {
    out.push_back({Legible(), word});
    out.back().node.attributes.Set(name, std::move(value));
  };
  constexpr char kOutside[] = "reach outside of the input";
  constexpr char kNoMap[] = "are no map";
  add("start", int64_t{-3}, kOutside);
  add("start", int64_t{1}, kOutside);
  add("strides", Ints{2, 5}, kOutside);
  add("strides", Ints{3, 4}, kOutside);
  add("strides", Ints{2, -4}, kOutside);
  add("bounds", Ints{}, kOutside);
  add("bounds", Ints{0, 3, 1, 0}, kOutside);
  add("bounds", Ints{0, 2, 0, 1}, kOutside);
  add("start", kMost, kNoMap);
  add("start", kLeast, kNoMap);
  add("strides", Ints{2, kMost}, kNoMap);
  add("strides", Ints{kLeast, 4}, kNoMap);
  add("strides", Ints{2}, kNoMap);
  add("bounds", Ints{-1, kMost, 1, 0}, kNoMap);
  add("bounds", Ints{-1, -1, 1, 0}, kNoMap);
  add("bounds", Ints{kLeast, 2, 1, 0}, kNoMap);
  add("bounds", Ints{-1, 2, kLeast, 0}, kNoMap);
  add("bounds", Ints{-1, 2, 1}, "has 3 values, expected rows of 4");
  add("extents", Ints{0, 6}, kNoMap);
  add("extents", Ints{-3, -6}, kNoMap);
  add("extents", Ints{kMost, 6}, kNoMap);
  add("extents", Ints{3, 5}, "has other elements than 'shape'");
  add("shape", Ints{3, 7}, "has other elements than 'shape'");
  add("shape", Ints{}, "attribute 'shape' has 0 extents");
  add("shape", Ints{-3, -6}, "attribute 'shape' has an extent of -3");
  add("shape", Ints(9, 1), "attribute 'shape' has 9 extents");
  out.push_back({Legible(), "quantized per channel"});
  ir::TensorDesc& input = out.back().node.inputs[0].value();
  input.type = ir::DataType::kInt8;
  input.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                        .axis = 0,
                        .scales = {0.5f, 0.25f, 1.0f, 2.0f},
                        .zero_points = {0}};
  return out;
}

}  // namespace

// Users cannot make it: no public class.
TIM_CASES(element_map) {
  cases.Add({.op = "tim.ElementMap",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerMoved});
}

}  // namespace tim::testing
