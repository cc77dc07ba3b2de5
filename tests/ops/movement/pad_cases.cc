#include <algorithm>

#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/pad_v2.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

enum Mode : int64_t { kConstant, kEdge, kSymmetric, kReflect };

const std::vector<std::string> kTypes = {
    "f32>f32", "f16>f16",   "u8a>u8a",   "i8a>i8a",  "i32>i32",
    "u8a>f32", "i16d>i16d", "f32>u8a",   "i64>i64",  "b8>b8",
    "u8>u8",   "u4a>u4a",   "bf16>bf16", "i16a>i8a",
};

NodeCase Legal(const std::string& op, const ir::Attribute& constant,
               CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints shape = rng.Shape(1, 5, 4000);
  const int64_t mode =
      rng.Pick<int64_t>({kConstant, kEdge, kSymmetric, kReflect});
  Ints front;
  Ints back;
  Ints output;
  for (const int64_t extent : shape) {
    const int64_t largest = mode == kSymmetric ? extent
                            : mode == kReflect ? extent - 1
                                               : 3;
    front.push_back(rng.Int(0, std::min<int64_t>(largest, 3)));
    back.push_back(rng.Int(0, std::min<int64_t>(largest, 3)));
    output.push_back(front.back() + extent + back.back());
  }
  return {.op = op,
          .attributes = {{"front_size", front},
                         {"back_size", back},
                         {"const_val", constant},
                         {"pad_mode", mode}},
          .inputs = {rng.Desc(types.inputs[0], shape)},
          .outputs = {rng.Desc(types.outputs[0], output)}};
}

std::vector<IllegalCase> Illegal(const std::string& op) {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3});
  const auto node = [&](Ints front, Ints back, int64_t mode) {
    return NodeCase{.op = op,
                    .attributes = {{"front_size", std::move(front)},
                                   {"back_size", std::move(back)},
                                   {"pad_mode", mode}},
                    .inputs = {f32},
                    .outputs = {f32}};
  };
  std::vector<IllegalCase> out =
      IllegalOperands(node({0, 0}, {0, 0}, kConstant));
  out.push_back({node({-1, 0}, {0, 0}, kConstant), "has a negative count"});
  out.push_back({node({1}, {0, 0}, kConstant), "has 1 counts"});
  out.push_back({node({5, 0}, {0, 0}, kSymmetric), "allows at most 4"});
  out.push_back({node({0, 0}, {0, 3}, kReflect), "allows at most 2"});
  out.push_back({node({0, 0}, {0, 0}, 7), "pad_mode"});
  return out;
}

ir::AttributeMap Padded(ir::Attribute constant, int64_t mode) {
  return {{"front_size", Ints{1, 2}},
          {"back_size", Ints{3, 4}},
          {"const_val", std::move(constant)},
          {"pad_mode", mode}};
}

OperatorCases PadCases(const std::string& op,
                       std::vector<ir::Attribute> constants,
                       std::vector<Shell> shells) {
  return {.op = op,
          .legal =
              [op, constants](CaseRng& rng) {
                return Legal(op, rng.Pick(constants), rng);
              },
          .illegal = [op] { return Illegal(op); },
          .flops = FlopsPerElement(1),
          .shells = std::move(shells),
          .permute_rule = PermuteRule::kRequired};
}

}  // namespace

TIM_CASES(pad) {
  using vx::ops::Pad;
  using vx::ops::PadV2;
  const std::vector<uint32_t> front = {1, 2}, back = {3, 4};
  cases.Add(
      PadCases("tim.Pad", {int64_t{0}, int64_t{3}, int64_t{-7}},
               {ShellOf<Pad>(Padded(int64_t{-5}, kConstant), front, back, -5),
                ShellOf<Pad>(Padded(int64_t{-5}, kReflect), front, back, -5,
                             Pad::PAD_MODE_REFLECT)}));
  cases.Add(PadCases("tim.PadV2", {0.0, 0.5, -3.25},
                     {ShellOf<PadV2>(Padded(0.5, kConstant), front, back, 0.5f),
                      ShellOf<PadV2>(Padded(0.0, kEdge), front, back, 0.0f,
                                     PadV2::PAD_MODE_EDGE)}));
}

}  // namespace tim::testing
