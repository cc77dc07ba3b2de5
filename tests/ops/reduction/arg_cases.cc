#include "tests/ops/reduction/reduced_node.h"
#include "tim/vx/ops/arg.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32>i32",  "u8a>i32", "f16>i32", "i8a>i16", "i32>i32",
    "i16a>i32", "i8d>i32", "f32>u8",  "i16d>i8", "u32>u32",
    "i64>i64",  "i8c>i32", "f32>u8a", "f64>i32", "u4a>i32",
};

NodeCase Legal(const std::string& op, CaseRng& rng) {
  const TypeNames names = rng.Types(kTypes);
  const auto shape = rng.Shape(1, 5);
  const int64_t axis = rng.Axis(static_cast<int>(shape.size()));
  return {.op = op,
          .attributes = {{"axis", axis}},
          .inputs = {rng.Desc(names.inputs[0], shape)},
          .outputs = {
              rng.Desc(names.outputs[0], WithoutAxes(shape, {axis}, false))}};
}

std::vector<IllegalCase> Illegal(const std::string& op) {
  using ir::DataType;
  const NodeCase legal = {.op = op,
                          .attributes = {{"axis", int64_t{0}}},
                          .inputs = {Desc(DataType::kFloat32, {4, 3})},
                          .outputs = {Desc(DataType::kInt32, {3})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set("axis", axis);
  }
  out.push_back({legal, "axis"});
  out.back().node.attributes = {};
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0] = Desc(DataType::kBool8, {4, 3});
  out.push_back({legal, "output 0 is float32, expected an integer type"});
  out.back().node.outputs[0] = Desc(DataType::kFloat32, {3});
  return out;
}

template <typename Op>
OperatorCases Arg() {
  const std::string op = StrCat("tim.", Op::OpName());
  return {.op = op,
          .legal = [op](CaseRng& rng) { return Legal(op, rng); },
          .illegal = [op] { return Illegal(op); },
          .flops = FlopsPerInput,
          .shells = {ShellOf<Op>({{"axis", int64_t{-2}}}, -2)},
          .permute_rule = PermuteRule::kRequired};
}

}  // namespace

TIM_CASES(arg) {
  cases.Add(Arg<vx::ops::ArgMax>());
  cases.Add(Arg<vx::ops::ArgMin>());
}

}  // namespace tim::testing
