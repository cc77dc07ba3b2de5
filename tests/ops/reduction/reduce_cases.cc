#include "tests/ops/reduction/reduced_node.h"
#include "tim/vx/ops/reduce.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kNumbers = {
    "f32>f32", "u8a>u8a",   "i32>i32",   "f16>f16",  "i8a>i8a",   "i16a>i16a",
    "i8d>i8d", "i16d>i16d", "u8a>f32",   "f32>u8a",  "f16>f32",   "i8a>u8a",
    "i64>i64", "u32>i64",   "i32a>i16a", "i32>u8a",  "bf16>bf16", "f64>f32",
    "u4a>u8a", "i8c>f32",   "i16>i32",   "u16a>f16",
};
const std::vector<std::string> kLogical = {
    "b8>b8",  "i8>i8",  "i8>b8",  "b8>i8",  "u8a>b8",
    "f32>b8", "i32>b8", "b8>f32", "f16>i8", "u4a>b8",
};

std::vector<IllegalCase> Illegal(const std::string& op, bool logical) {
  std::vector<IllegalCase> out = IllegalAxes(op, "axis", 1);
  const NodeCase legal = {
      .op = op,
      .attributes = {{"axis", std::vector<int64_t>{0}}, {"keep_dims", false}},
      .inputs = {Desc(ir::DataType::kFloat32, {4, 3})},
      .outputs = {Desc(ir::DataType::kFloat32, {3})}};
  const auto type = logical ? ir::DataType::kUint64 : ir::DataType::kBool8;
  const std::string found = StrCat(" 0 is ", ir::ToString(type));
  out.push_back({legal, "input" + found});
  out.back().node.inputs[0] = Desc(type, {4, 3});
  out.push_back({legal, "output" + found});
  out.back().node.outputs[0] = Desc(type, {3});
  return out;
}

template <typename Op>
OperatorCases Reduce(bool logical, PermuteRule rule, Tolerance tolerance = {}) {
  const std::string op = StrCat("tim.", Op::OpName());
  const auto& types = logical ? kLogical : kNumbers;
  using Axes = std::vector<int64_t>;
  return {.op = op,
          .legal =
              [op, &types](CaseRng& rng) {
                return ReducedNode(op, "axis", types, 1, rng);
              },
          .illegal = [op, logical] { return Illegal(op, logical); },
          .tolerance = tolerance,
          .flops = FlopsPerInput,
          .shells = {ShellOf<Op>({{"axis", Axes{0, -1}}, {"keep_dims", true}},
                                 std::vector<int32_t>{0, -1}, true),
                     ShellOf<Op>({{"axis", Axes{2}}, {"keep_dims", false}},
                                 std::vector<int32_t>{2}, false)},
          .permute_rule = rule};
}

}  // namespace

TIM_CASES(reduce) {
  // Kernels keep eval's order; permuted nodes have another one.
  cases.Add(Reduce<vx::ops::ReduceMin>(false, PermuteRule::kRequired));
  cases.Add(Reduce<vx::ops::ReduceMax>(false, PermuteRule::kRequired));
  cases.Add(Reduce<vx::ops::ReduceAny>(true, PermuteRule::kRequired));
  cases.Add(Reduce<vx::ops::ReduceAll>(true, PermuteRule::kRequired));
  cases.Add(Reduce<vx::ops::ReduceProd>(false, PermuteRule::kPartial));
  cases.Add(Reduce<vx::ops::ReduceMean>(false, PermuteRule::kPartial,
                                        {.absolute = 1e-6}));
  cases.Add(Reduce<vx::ops::ReduceSum>(false, PermuteRule::kPartial,
                                       {.absolute = 1e-3, .relative = 1e-6}));
}

}  // namespace tim::testing
