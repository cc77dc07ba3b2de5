#include "tests/properties/families/roi_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/roi_align.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Features, regions, batches; result.
const std::vector<std::string> kTypes = {
    "f32,f32,i32>f32",   "f16,f16,i32>f16",   "u8a,u16a,i32>u8a",
    "i8a,u16a,i32>i8a",  "u8a,f32,i32>f32",   "f32,f16,u8>u8a",
    "i16a,f32,i32>i16a", "i8d,f32,i32>i8d",   "i16d,i16d,i32>i16d",
    "i32,f32,i64>i32",   "bf16,f32,f32>bf16", "i8c,f32,i32>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints features = {rng.Extent(), rng.Extent(), rng.Int(1, 9),
                         rng.Int(1, 3)};
  const int64_t rois = rng.Int(1, 5);
  const int64_t out_w = rng.Int(1, 7);
  const int64_t out_h = rng.Int(1, 7);
  const float ratio = rng.Pick<float>({1.0f, 2.0f, 0.7f, 16.0f});
  NodeCase node = {.op = "tim.RoiAlign"};
  node.attributes = {{"output_height", out_h},
                     {"output_width", out_w},
                     {"height_ratio", double{ratio * 1.5f}},
                     {"width_ratio", double{ratio}},
                     {"height_sample_num", rng.Int(0, 3)},
                     {"width_sample_num", rng.Int(0, 3)}};
  node.inputs = {rng.Desc(types.inputs[0], features, 2),
                 rng.Desc(types.inputs[1], {4, rois}),
                 rng.Desc(types.inputs[2], {rois})};
  node.outputs = {
      rng.Desc(types.outputs[0], {out_w, out_h, features[2], rois}, 2)};
  node.data.emplace(1, RandomRois(*node.inputs[1], features[0], features[1],
                                  features[3], ratio, rng));
  TensorData batches = rng.Data(*node.inputs[2]);
  kernels::ElementWriter writer({&*node.inputs[2], batches.bytes.data()});
  for (int64_t i = 0; i < rois; ++i) {
    writer.StoreReal(i, static_cast<float>(rng.Int(0, features[3])) -
                            (rng.OneIn(9) ? 1.0f : 0.0f));
  }
  node.data.emplace(2, std::move(batches));
  return node;
}

// Of samples where their number does not depend on the regions.
double Flops(const NodeCase& node) {
  const auto samples = [&](const char* name) {
    const int64_t count = node.attributes.Int(name);
    return count == 0 ? 2.0 : static_cast<double>(count);
  };
  return 8 * samples("width_sample_num") * samples("height_sample_num") *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const NodeCase legal = {.op = "tim.RoiAlign",
                          .attributes = {{"output_height", int64_t{2}},
                                         {"output_width", int64_t{3}},
                                         {"height_ratio", 1.0},
                                         {"width_ratio", 1.0}},
                          .inputs = {f32({8, 8, 2, 1}), f32({4, 5}),
                                     Desc(ir::DataType::kInt32, {5})},
                          .outputs = {f32({3, 2, 2, 5})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  const auto with = [&](const char* name, ir::Attribute value) {
    NodeCase node = legal;
    node.attributes.Set(name, std::move(value));
    return node;
  };
  out.push_back({with("output_width", int64_t{0}), "'output_width' is 0"});
  out.push_back({with("output_height", int64_t{-1}), "'output_height' is -1"});
  out.push_back({with("width_ratio", 0.0), "'width_ratio' is 0"});
  out.push_back({with("height_ratio", -1.0), "'height_ratio' is -1"});
  out.push_back({with("width_sample_num", int64_t{1} << 30),
                 "'width_sample_num' is 1073741824"});
  out.push_back({legal, "the features [8, 8, 2] have rank 3"});
  out.back().node.inputs[0] = f32({8, 8, 2});
  out.push_back({legal, "the regions are [5, 5], expected [4, R]"});
  out.back().node.inputs[1] = f32({5, 5});
  out.push_back({legal, "the batch indices [4] are not one for each"});
  out.back().node.inputs[2]->shape = ir::Shape({4});
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  return out;
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(roi_align) {
  using vx::ops::RoiAlign;
  cases.Add({.op = "tim.RoiAlign",
             .legal = Legal,
             .illegal = Illegal,
             .flops = Flops,
             .shells = {ShellOf<RoiAlign>({{"output_height", int64_t{2}},
                                           {"output_width", int64_t{3}},
                                           {"height_ratio", 1.5},
                                           {"width_ratio", 2.5},
                                           {"height_sample_num", int64_t{4}},
                                           {"width_sample_num", int64_t{5}}},
                                          2, 3, 1.5f, 2.5f, 4, 5),
                        ShellOf<vx::ops::ROI_Align>(
                            {{"output_height", int64_t{2}},
                             {"output_width", int64_t{3}},
                             {"height_ratio", 1.5},
                             {"width_ratio", 2.5},
                             {"layout", int64_t{2}}},
                            2, 3, 1.5f, 2.5f, 0, 0, vx::DataLayout::CWHN)}});
}

}  // namespace tim::testing
