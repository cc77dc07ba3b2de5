#include "tests/properties/families/roi_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/roi_pool.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Features, regions; result.
const std::vector<std::string> kTypes = {
    "f32,f32>f32",   "f16,f16>f16", "u8a,f32>u8a", "i8a,f16>i8a",
    "u8a,u16a>u8a",  "i8d,f32>i8d", "u8a,f32>i8a", "i16d,i16d>i16d",
    "i16a,f32>i16a", "f32,f32>u8a", "i32,f32>i32", "u4a,f32>u8a",
    "bf16,f32>bf16", "i8c,f32>f32", "i64,i32>i64",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints features = {rng.Extent(), rng.Extent(), rng.Int(1, 9),
                         rng.Int(1, 3)};
  const int64_t rois = rng.Int(1, 5);
  const Ints size = {rng.Int(1, 7), rng.Int(1, 7)};
  const float scale = rng.Pick<float>({1.0f, 0.5f, 0.7f, 0.0625f});
  NodeCase node = {.op = "tim.RoiPool",
                   .attributes = {{"scale", double{scale}}, {"size", size}}};
  node.inputs = {rng.Desc(types.inputs[0], features, 2),
                 rng.Desc(types.inputs[1], {5, rois})};
  node.outputs = {
      rng.Desc(types.outputs[0], {size[0], size[1], features[2], rois}, 2)};
  node.data.emplace(1, RandomRois(*node.inputs[1], features[0], features[1],
                                  features[3], 1.0f / scale, rng));
  return node;
}

double Flops(const NodeCase& node) {
  double cells = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const auto extent = static_cast<double>(node.inputs[0]->shape[axis]);
    const auto bins = static_cast<double>(node.outputs[0].shape[axis]);
    cells *= extent > bins ? extent / bins : 1.0;
  }
  return cells * static_cast<double>(*node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const NodeCase legal = {.op = "tim.RoiPool",
                          .attributes = {{"scale", 1.0}, {"size", Ints{3, 2}}},
                          .inputs = {f32({8, 8, 2, 1}), f32({5, 4})},
                          .outputs = {f32({3, 2, 2, 4})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  const auto with = [&](const char* name, ir::Attribute value) {
    NodeCase node = legal;
    node.attributes.Set(name, std::move(value));
    return node;
  };
  out.push_back({with("size", Ints{3}), "attribute 'size' is [3]"});
  out.push_back({with("size", Ints{3, 0}), "attribute 'size' is [3, 0]"});
  out.push_back({with("scale", 0.0), "'scale' is 0"});
  out.push_back({with("type", int64_t{1}), "attribute 'type' is 1"});
  out.push_back({legal, "the features [8, 8, 2] have rank 3"});
  out.back().node.inputs[0] = f32({8, 8, 2});
  out.push_back({legal, "the regions are [4, 4], expected [5, R]"});
  out.back().node.inputs[1] = f32({4, 4});
  out.push_back({legal, "input 1 is bool8"});
  out.back().node.inputs[1]->type = ir::DataType::kBool8;
  return out;
}

}  // namespace

TIM_CASES(roi_pool) {
  const std::array<uint32_t, 2> size = {3, 2};
  using vx::PoolType;
  using vx::ops::RoiPool;
  cases.Add({.op = "tim.RoiPool",
             .legal = Legal,
             .illegal = Illegal,
             .flops = Flops,
             .flops_factor = 1.001,
             .shells = {ShellOf<RoiPool>({{"type", int64_t{0}},
                                          {"scale", 0.5},
                                          {"size", Ints{3, 2}}},
                                         PoolType::MAX, 0.5f, size),
                        ShellOf<vx::ops::ROI_Pool>({{"type", int64_t{0}},
                                                    {"scale", 0.5},
                                                    {"size", Ints{3, 2}},
                                                    {"layout", int64_t{2}}},
                                                   PoolType::MAX, 0.5f, size,
                                                   vx::DataLayout::CWHN)}});
}

}  // namespace tim::testing
