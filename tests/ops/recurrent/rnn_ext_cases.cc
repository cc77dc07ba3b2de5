#include <cmath>

#include "tests/properties/families/sequence_operands.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/bidirectional_sequence_rnn_ext.h"
#include "tim/vx/ops/unidirectional_sequence_rnn_ext.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Types of x, weights, biases and states, and of outputs.
const std::vector<std::string>& TypeList() {
  static const auto* const kList = new std::vector<std::string>{
      "f32,f32,f32,f32>f32", "f16,f16,f16,f16>f16",  "u8a,u8a,i32a,u8a>u8a",
      "f32,i8a,f32,f32>f32", "i8a,i8a,f32,i16a>i8a", "f32,f32,f32,f32>u8a"};
  return *kList;
}

struct Sizes {
  int64_t width = 3;
  int64_t units = 5;
  int64_t batch = 4;
  int64_t steps = 2;
  int64_t directions = 1;

  Ints sequence() const {
    return directions == 2 ? Ints{units, batch, 2, steps}
                           : Ints{units, 1, batch, steps};
  }
};

NodeCase Legal(int64_t directions, CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  const Sizes s{.width = rng.Extent(17),
                .units = rng.Extent(17),
                .batch = rng.Int(1, 4),
                .steps = rng.Int(1, 3),
                .directions = directions};
  NodeCase node{
      .op = directions == 2 ? "tim.BidirectionalSequenceRnnExt"
                            : "tim.UnidirectionalSequenceRnnExt",
      .attributes = {{"activation", rng.Pick(Ints{4, 6, 1, 31, 3, 2})}}};
  const Known known = rng.OneIn(2) ? Known::kAtCompile : Known::kAtRun;
  const auto weights_limit = [](int64_t depth) {
    return 0.8 / std::sqrt(static_cast<double>(depth));
  };
  AddStepInput(&node, 0, types.inputs[0], {s.width, s.batch, s.steps}, 1,
               Known::kAtRun, rng);
  AddStepInput(&node, 1, types.inputs[1], {s.width, s.units, directions},
               weights_limit(s.width), known, rng);
  AddStepInput(&node, 2, types.inputs[1], {s.units, s.units, directions},
               weights_limit(s.units), known, rng);
  AddStepInput(&node, 3, types.inputs[2], {2 * s.units, directions}, 0.5, known,
               rng);
  AddStepInput(&node, 4, types.inputs[3], {s.units, s.batch, directions}, 1,
               Known::kAtRun, rng);
  node.outputs = {
      StepDesc(types.outputs[0], {s.units, s.batch, directions}, 1, rng),
      StepDesc(types.outputs[0], s.sequence(), 2, rng)};
  return node;
}

double Flops(const NodeCase& node) {
  const ir::Shape& x = node.inputs[0]->shape;
  const auto weights = *node.inputs[1]->shape.NumElements() +
                       *node.inputs[2]->shape.NumElements();
  return 2.0 * static_cast<double>(weights * x[1] * x[2]);
}

std::vector<IllegalCase> IllegalOf(int64_t directions) {
  const auto f32 = [](Ints shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const int64_t d = directions;
  const Sizes sizes{.directions = d};
  const NodeCase plain{.op = d == 2 ? "tim.BidirectionalSequenceRnnExt"
                                    : "tim.UnidirectionalSequenceRnnExt",
                       .attributes = {{"activation", int64_t{4}}},
                       .inputs = {f32({3, 4, 2}), f32({3, 5, d}),
                                  f32({5, 5, d}), f32({10, d}), f32({5, 4, d})},
                       .outputs = {f32({5, 4, d}), f32(sizes.sequence())}};
  const auto with = [&](size_t input, Ints shape) {
    NodeCase node = plain;
    node.inputs[input] = f32(std::move(shape));
    return node;
  };
  NodeCase unbound = plain;
  unbound.inputs.pop_back();
  NodeCase activation = plain;
  activation.attributes.Set("activation", int64_t{5});
  return {{with(0, {3, 8}), "input 0 [3, 8] has rank 2"},
          {with(1, {4, 5, d}), "input 1 is [4, 5, "},
          {with(2, {5, 4, d}), "input 2 is [5, 4, "},
          {with(2, {5, 5, 3}), "input 2 is [5, 5, 3]"},
          {with(3, {5, d}), "input 3 is [5, "},
          {with(4, {5, 3, d}), "input 4 is [5, 3, "},
          {unbound, "input 4 is not bound"},
          {activation, "activation"}};
}

OperatorCases ExtCases(const std::string& op, int64_t directions,
                       std::vector<Shell> shells) {
  return {
      .op = op,
      .legal = [directions](CaseRng& rng) { return Legal(directions, rng); },
      .illegal = [directions] { return IllegalOf(directions); },
      .tolerance = kStepTolerance,
      .flops = Flops,
      .shells = std::move(shells)};
}

}  // namespace

// What their public classes are made of: tests/vx/recurrent/rnn_ext_test.cc.
TIM_CASES(rnn_ext) {
  using vx::ops::BidirectionalSequenceRnn;
  using vx::ops::UnidirectionalSequenceRnn;
  cases.Add(ExtCases(
      "tim.UnidirectionalSequenceRnnExt", 1,
      {ShellOf<vx::ops::UnidirectionalSequenceRnnExt>(
          {{"activation", int64_t{6}}}, UnidirectionalSequenceRnn::kSIGMOID)}));
  cases.Add(ExtCases(
      "tim.BidirectionalSequenceRnnExt", 2,
      {ShellOf<vx::ops::BidirectionalSequenceRnnExt>(
          {{"activation", int64_t{1}}}, BidirectionalSequenceRnn::kRELU)}));
}

}  // namespace tim::testing
