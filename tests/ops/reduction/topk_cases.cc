#include "tests/ops/reduction/reduced_node.h"
#include "tim/vx/ops/topk.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>f32,i32", "u8a>u8a,i32",   "f16>f16,i32",   "i32>i32,i32",
    "i8a>i8a,i32", "i16a>i16a,i32", "i8d>i8d,i32",   "i16d>i16d,i32",
    "u8a>f32,i16", "f32>u8a,u8",    "u32>u32,i64",   "i64>i64,i32",
    "i8a>u8a,u16", "f64>f32,i32",   "bf16>bf16,i32", "u4a>u4a,i32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames names = rng.Types(kTypes);
  auto shape = rng.Shape(1, 5);
  const auto rank = static_cast<int>(shape.size());
  const int64_t axis = rng.Axis(rank);
  NodeCase node = {.op = "tim.Topk",
                   .inputs = {rng.Desc(names.inputs[0], shape)}};
  int64_t& extent = shape[static_cast<size_t>((axis + rank) % rank)];
  extent = rng.OneIn(3) ? rng.Int(1, extent) : std::min<int64_t>(extent, 3);
  node.attributes = {{"k", extent}, {"axis", axis}};
  for (const std::string& type : names.outputs) {
    node.outputs.push_back(rng.Desc(type, shape));
  }
  return node;
}

std::vector<IllegalCase> Illegal() {
  using ir::DataType;
  const NodeCase legal = {.op = "tim.Topk",
                          .attributes = {{"k", int64_t{2}}},
                          .inputs = {Desc(DataType::kFloat32, {4, 3})},
                          .outputs = {Desc(DataType::kFloat32, {2, 3}),
                                      Desc(DataType::kInt32, {2, 3})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set("axis", axis);
  }
  out.push_back({legal, "'k' is 5, but input 0 [4, 3] has 4"});
  out.back().node.attributes.Set("k", int64_t{5});
  out.push_back({legal, "'k' is 0, expected at least 1"});
  out.back().node.attributes.Set("k", int64_t{0});
  out.push_back({legal, "k"});
  out.back().node.attributes = {};
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0] = Desc(DataType::kBool8, {4, 3});
  out.push_back({legal, "output 0 is bool8"});
  out.back().node.outputs[0] = Desc(DataType::kBool8, {2, 3});
  out.push_back({legal, "output 1 is float32, expected an integer type"});
  out.back().node.outputs[1] = Desc(DataType::kFloat32, {2, 3});
  return out;
}

}  // namespace

TIM_CASES(topk) {
  using vx::ops::Topk;
  cases.Add(
      {.op = "tim.Topk",
       .legal = Legal,
       .illegal = Illegal,
       .flops = FlopsPerInput,
       .shells = {ShellOf<Topk>({{"k", int64_t{3}}, {"axis", int64_t{0}}}, 3u),
                  ShellOf<Topk>({{"k", int64_t{3}}, {"axis", int64_t{-1}}}, 3u,
                                -1)},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
