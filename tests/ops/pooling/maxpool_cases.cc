#include "tests/properties/families/max_window_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/max_pool3d.h"
#include "tim/vx/ops/maxpoolwithargmax.h"
#include "tim/vx/ops/maxpoolwithargmax2.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Family {
  std::string op;
  int axes = 2;
  std::vector<std::string> indices = {};  ///< Types that they may have.
};

const std::vector<std::string> kTypes = {
    "f32>f32",   "f16>f16", "u8a>u8a", "i8a>i8a",  "i16a>i16a", "i8d>i8d",
    "i16d>i16d", "f16>u8a", "i8a>f16", "u8a>i16a", "i16d>f32",  "i32>i32",
    "bf16>bf16", "f64>f32", "u4a>u8a", "i8c>f32",  "i64>i64",   "u32>u32",
    "u16a>u16a", "u8>u8",   "i32>f32", "f32>i8a",
};

NodeCase Legal(const Family& family, CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const MaxWindowCase windows = RandomMaxWindows(family.axes, rng);
  NodeCase node = {.op = family.op, .attributes = windows.attributes};
  node.inputs = {rng.Desc(types.inputs[0], windows.input)};
  node.outputs = {rng.Desc(types.outputs[0], windows.output)};
  // Equal cells, so that the first must be found.
  if (rng.OneIn(4)) {
    node.data[0] = rng.Data(*node.inputs[0]);
    std::fill(node.data[0].bytes.begin(), node.data[0].bytes.end(),
              std::byte{0});
  }
  if (family.indices.empty()) return node;
  node.outputs.push_back(rng.Desc(rng.Pick(family.indices), windows.output));
  // The declared extents say how many windows there are.
  if (rng.OneIn(4)) {
    const bool second = rng.OneIn(2);
    node.declared = {!second, second};
    for (ir::TensorDesc& output : node.outputs) {
      output.shape.set_dim(0, windows.output[0] + 2);
      output.shape.set_dim(1, windows.output[1] + 1);
    }
  }
  return node;
}

double Flops(const NodeCase& node) {
  return CellsOfWindow(node) *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal(const Family& family) {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const bool volume = family.axes == 3;
  NodeCase legal = {
      .op = family.op,
      .attributes = {{"ksize", Ints(family.axes, 2)},
                     {"stride", Ints(family.axes, 1)}},
      .inputs = {f32(volume ? Ints{4, 4, 4, 2} : Ints{4, 4, 2})},
      .outputs = {f32(volume ? Ints{3, 3, 3, 2} : Ints{3, 3, 2})}};
  const bool local = family.op == "tim.MaxpoolWithArgmax";
  if (!volume) {
    legal.outputs.push_back(
        Desc(local ? ir::DataType::kUint8 : ir::DataType::kInt32, {3, 3, 2}));
  }
  std::vector<IllegalCase> out = IllegalOperands(legal);
  const auto with = [&](const char* name, ir::Attribute value) {
    NodeCase node = legal;
    node.attributes.Set(name, std::move(value));
    return node;
  };
  out.push_back(
      {with("ksize", Ints(family.axes, 5)), "does not fit the input"});
  out.push_back({with("ksize", Ints{2}), "attribute 'ksize' has 1 elements"});
  out.push_back({with("stride", Ints(family.axes, 0)), "stride is 0"});
  out.push_back({with("pad", Ints{1}), "attribute 'pad' has 1 elements"});
  out.push_back({with("padding", int64_t{7}), "padding"});
  out.push_back({legal, "has rank 2"});
  out.back().node.inputs[0] = f32({4, 4});
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  if (volume) return out;
  out.push_back({legal, "output 1 is not bound"});
  out.back().node.outputs.pop_back();
  out.push_back({legal, "output 1, the indices, is float32"});
  out.back().node.outputs[1].type = ir::DataType::kFloat32;
  NodeCase wide = legal;
  wide.inputs[0] = f32({40, 40, 2});
  wide.outputs[0] = f32({20, 20, 2});
  wide.outputs[1] = Desc(ir::DataType::kInt8, {20, 20, 2});
  wide.attributes.Set("ksize", Ints{21, 21});
  out.push_back({wide, local ? "indices in a window go up to 440"
                             : "indices in the input go up to 3199"});
  return out;
}

OperatorCases MaxCases(const Family& family, std::vector<Shell> shells) {
  return {.op = family.op,
          .legal = [family](CaseRng& rng) { return Legal(family, rng); },
          .illegal = [family] { return Illegal(family); },
          .flops = Flops,
          .shells = std::move(shells),
          .permute_rule = family.op == "tim.MaxpoolWithArgmax2"
                              ? PermuteRule::kBarrier
                              : PermuteRule::kPartial};
}

template <typename Op>
std::vector<Shell> ArgmaxShells() {
  const std::array<uint32_t, 2> ksize = {3, 2}, stride = {2, 1};
  return {ShellOf<Op>({{"padding", int64_t{2}},
                       {"ksize", Ints{3, 2}},
                       {"stride", Ints{2, 1}}},
                      vx::PadType::SAME, ksize, stride),
          ShellOf<Op>({{"padding", int64_t{1}},
                       {"ksize", Ints{3, 2}},
                       {"stride", Ints{2, 1}},
                       {"round_type", int64_t{0}},
                       {"layout", int64_t{2}}},
                      vx::PadType::VALID, ksize, stride, vx::RoundType::CEILING,
                      vx::DataLayout::CWHN)};
}

}  // namespace

TIM_CASES(maxpool) {
  using vx::ops::MaxPool3d;
  const std::array<uint32_t, 3> ksize = {3, 2, 1}, stride = {1, 2, 3};
  const std::array<uint32_t, 6> pad = {1, 2, 3, 4, 5, 6};
  cases.Add(
      MaxCases({"tim.MaxPool3d", 3},
               {ShellOf<MaxPool3d>({{"round_type", int64_t{0}},
                                    {"ksize", Ints{3, 2, 1}},
                                    {"stride", Ints{1, 2, 3}},
                                    {"pad", Ints{1, 2, 3, 4, 5, 6}}},
                                   vx::RoundType::CEILING, ksize, stride, pad,
                                   vx::PadType::AUTO),
                ShellOf<MaxPool3d>({{"padding", int64_t{2}},
                                    {"ksize", Ints{3, 2, 1}},
                                    {"stride", Ints{1, 2, 3}},
                                    {"pad", Ints{1, 2, 3, 4, 5, 6}},
                                    {"layout", int64_t{11}}},
                                   vx::RoundType::FLOOR, ksize, stride, pad,
                                   vx::PadType::SAME, vx::DataLayout::CWHDN)}));
  cases.Add(
      MaxCases({"tim.MaxpoolWithArgmax", 2, {"u8", "i16", "i32", "u8a", "i8"}},
               ArgmaxShells<vx::ops::MaxpoolWithArgmax>()));
  cases.Add(MaxCases({"tim.MaxpoolWithArgmax2", 2, {"i32", "i64"}},
                     ArgmaxShells<vx::ops::MaxpoolWithArgmax2>()));
}

}  // namespace tim::testing
