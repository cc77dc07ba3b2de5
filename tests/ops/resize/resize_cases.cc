#include <cmath>

#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/resize.h"
#include "tim/vx/ops/resize1d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

enum Type : int64_t { kNearest, kBilinear, kArea };

const std::vector<std::string> kNumbers = {
    "f32>f32",   "f16>f16",   "u8a>u8a", "i8a>i8a", "i16a>i16a", "i8d>i8d",
    "i16d>i16d", "f32>u8a",   "u8a>f16", "f16>i8a", "u8a>i16a",  "u8>u8",
    "i32>i32",   "bf16>bf16", "u4a>u8a", "f64>f32", "i8c>f32",
};
const std::vector<std::string> kAny = {
    "f32>f32", "u8a>u8a", "f16>f16", "i8a>u8a",  "i32>i32",
    "u8a>f32", "i64>i64", "b8>b8",   "f32>i8d",  "i16d>i8d",
    "u8>i32",  "u4a>u4a", "f64>f64", "bf16>f32",
};

// Sets the attributes that say how long the resized axes become, and gives
// their extents.
Ints Resized(const Ints& inputs, const std::vector<std::string>& targets,
             CaseRng& rng, ir::AttributeMap* attributes) {
  const float factor = rng.Pick<float>({0.0f, 2.0f, 1.8f, 0.6f, 1.0f, 0.5f});
  Ints out;
  bool fits = factor != 0.0f;
  for (const int64_t input : inputs) {
    const auto scaled =
        static_cast<int64_t>(std::trunc(static_cast<float>(input) * factor));
    fits = fits && scaled >= 1;
    out.push_back(scaled);
  }
  if (fits) attributes->Set("factor", double{factor});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t target = rng.OneIn(5) ? inputs[i] : rng.Int(1, 40);
    attributes->Set(targets[i], target);
    if (!fits) out[i] = target;
  }
  return out;
}

struct Family {
  std::string op;
  std::vector<std::string> targets;
};

NodeCase Legal(const Family& family, CaseRng& rng) {
  NodeCase node = {.op = family.op};
  const int64_t type = rng.Int(kNearest, kBilinear);
  const TypeNames types = rng.Types(type == kBilinear ? kNumbers : kAny);
  node.attributes.Set("type", type);
  node.attributes.Set("align_corners", rng.OneIn(2));
  node.attributes.Set("half_pixel_centers", rng.OneIn(2));
  Ints input;
  for (size_t i = 0; i < family.targets.size(); ++i) {
    input.push_back(rng.Extent());
  }
  Ints output = Resized(input, family.targets, rng, &node.attributes);
  // Mostly [W, H, C, N].
  const auto rank = static_cast<size_t>(rng.Pick<int64_t>({4, 4, 3, 2, 5}));
  while (input.size() < rank) {
    input.push_back(input.size() == 2 ? rng.Extent() : rng.Int(1, 3));
    output.push_back(input.back());
  }
  const bool declared = rng.OneIn(4);
  if (declared) output[0] = rng.Int(1, 20);
  node.inputs = {rng.Desc(types.inputs[0], input, static_cast<int>(rank) - 1)};
  node.outputs = {
      rng.Desc(types.outputs[0], output, static_cast<int>(rank) - 1)};
  node.declared = {declared};
  return node;
}

double Flops(const NodeCase& node) {
  const ir::Shape& output = node.outputs[0].shape;
  const bool moves = node.attributes.Int("type") == kNearest ||
                     output == node.inputs[0]->shape;
  return (moves ? 1.0 : 7.0) * static_cast<double>(*output.NumElements());
}

std::vector<IllegalCase> Illegal(const Family& family) {
  const auto node = [&](const ir::AttributeMap& more,
                        ir::DataType from = ir::DataType::kFloat32,
                        ir::DataType to = ir::DataType::kFloat32) {
    NodeCase out = {.op = family.op,
                    .attributes = {{"type", int64_t{kBilinear}}}};
    for (const std::string& target : family.targets) {
      out.attributes.Set(target, int64_t{3});
    }
    for (const auto& [name, value] : more.entries()) {
      out.attributes.Set(name, value);
    }
    out.inputs = {Desc(from, {4, 4, 2, 1})};
    out.outputs = {Desc(to, {3, 3, 2, 1})};
    return out;
  };
  std::vector<IllegalCase> out = IllegalOperands(node({}));
  NodeCase scalar = node({});
  scalar.inputs = {Desc(ir::DataType::kFloat32, {})};
  scalar.inputs[0]->shape =
      ir::Shape(Ints(family.targets.size() - 1, int64_t{4}));
  out.push_back({scalar, "expected at least"});
  out.push_back({node({{"type", int64_t{kArea}}}), "is area"});
  out.push_back({node({{"type", int64_t{9}}}), "type"});
  for (const std::string& target : family.targets) {
    out.push_back({node({{target, int64_t{0}}}), "'" + target + "' is 0"});
    out.push_back({node({{target, int64_t{-2}}}), "'" + target + "' is -2"});
  }
  out.push_back({node({{"factor", 0.1}}), "a factor of 0.1"});
  out.push_back({node({{"factor", -2.0}}), "a factor of -2"});
  out.push_back({node({{"factor", 1e30}}), "a factor of 1e+30"});
  out.push_back({node({{"factor", std::nan("")}}), "a factor of nan"});
  out.push_back({node({}, ir::DataType::kBool8), "the input is bool8"});
  out.push_back({node({}, ir::DataType::kFloat32, ir::DataType::kInt64),
                 "the output is int64"});
  return out;
}

OperatorCases ResizeCases(const Family& family, std::vector<Shell> shells) {
  return {.op = family.op,
          .legal = [family](CaseRng& rng) { return Legal(family, rng); },
          .illegal = [family] { return Illegal(family); },
          .flops = Flops,
          .shells = std::move(shells),
          .permute_rule = PermuteRule::kPartial};
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(resize) {
  using vx::DataLayout;
  using vx::ResizeType;
  using vx::ops::Resize;
  using vx::ops::Resize1d;
  cases.Add(ResizeCases(
      {"tim.Resize", {"target_width", "target_height"}},
      {ShellOf<Resize>({{"type", int64_t{1}},
                        {"align_corners", true},
                        {"target_height", int64_t{3}},
                        {"target_width", int64_t{4}}},
                       ResizeType::BILINEAR, 0.0f, true, false, 3, 4),
       ShellOf<Resize>({{"type", int64_t{0}},
                        {"factor", 1.5},
                        {"half_pixel_centers", true},
                        {"target_height", int64_t{3}},
                        {"target_width", int64_t{3}},
                        {"layout", int64_t{2}}},
                       ResizeType::NEAREST_NEIGHBOR, 1.5, false, true, 3, 3,
                       DataLayout::CWHN)}));
  cases.Add(ResizeCases(
      {"tim.Resize1d", {"target_size"}},
      {ShellOf<Resize1d>({{"type", int64_t{1}},
                          {"align_corners", true},
                          {"target_size", int64_t{7}}},
                         ResizeType::BILINEAR, 0.0f, true, false, 7),
       ShellOf<Resize1d>({{"type", int64_t{0}},
                          {"factor", 0.5},
                          {"half_pixel_centers", true},
                          {"layout", int64_t{7}}},
                         ResizeType::NEAREST_NEIGHBOR, 0.5f, false, true, 0,
                         DataLayout::WCN)}));
}

}  // namespace tim::testing
