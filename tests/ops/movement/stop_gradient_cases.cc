#include "tests/properties/pointwise_cases.h"

namespace tim::testing {
namespace {

const std::vector<std::string> kTypes = {
    "f32", "f16", "u8a", "i8a", "i32", "i64", "i16d", "b8", "u4a",
};

NodeCase Legal(CaseRng& rng) {
  const std::string type = kTypes[rng.Turn(kTypes.size())];
  const ir::TensorDesc desc = rng.Desc(type, rng.Shape(3, 4));
  return {.op = "tim.StopGradient", .inputs = {desc}, .outputs = {desc}};
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = Desc(ir::DataType::kFloat32, {4, 3, 2});
  const NodeCase legal = {
      .op = "tim.StopGradient", .inputs = {f32}, .outputs = {f32}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "expected the elements of the input"});
  out.back().node.outputs[0].type = ir::DataType::kFloat16;
  return out;
}

}  // namespace

// Graphs that are differentiated have it: no class of tim::vx.
TIM_CASES(stop_gradient) {
  cases.Add({.op = "tim.StopGradient",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(0),
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
