#include "tests/properties/families/sequence_operands.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/svdf.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Types of input, state, feature and time weights, bias, and of both outputs.
const std::vector<std::string>& TypeList() {
  static const auto* const kList = new std::vector<std::string>{
      "f32,f32,f32,f32,f32>f32,f32",     "f16,f16,f16,f16,f16>f16,f16",
      "u8a,u8a,u8a,u8a,i32a>u8a,u8a",    "f32,f32,u8a,u8a,f32>f32,f32",
      "i8a,i16a,i8a,i16a,i32a>i8a,i16a", "f16,f32,f16,f32,f32>f16,f32",
      "f32,u8a,f32,f16,f16>u8a,u8a",     "i8d,i8d,i8d,i8d,i32>i8d,i8d",
      "f32,f32,i8c,f32,f32>f32,f32",     "u4a,f32,i4a,f32,f32>f32,f16"};
  return *kList;
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  const int64_t width = rng.Extent(), batch = rng.Int(1, 5),
                units = rng.Extent(), rank = rng.Int(1, 3),
                memory = rng.Extent(17);
  const int64_t filters = rank * units;
  NodeCase node{.op = "tim.Svdf",
                .attributes = {{"rank", rank}, {"num_units", units}}};
  if (rng.OneIn(2)) node.attributes.Set("spectrogram_length", int64_t{7});
  const Known known = rng.OneIn(2) ? Known::kAtCompile : Known::kAtRun;
  AddStepInput(&node, 0, types.inputs[0], {width, batch}, 1, Known::kAtRun,
               rng);
  AddStepInput(&node, 1, types.inputs[1], {memory * filters, batch}, 1,
               Known::kAtRun, rng);
  AddStepWeights(&node, 2, types.inputs[2], width, filters, known, rng);
  AddStepWeights(&node, 3, types.inputs[3], memory, filters, known, rng);
  if (!rng.OneIn(3)) {
    AddStepInput(&node, 4, types.inputs[4], {units}, 0.5, known, rng);
  }
  node.outputs = {StepDesc(types.outputs[0], {units, batch}, 2, rng)};
  if (!rng.OneIn(3)) {
    node.outputs.push_back(
        StepDesc(types.outputs[1], {memory * filters, batch}, 1, rng));
  }
  return node;
}

double Flops(const NodeCase& node) {
  const auto weights = *node.inputs[2]->shape.NumElements() +
                       *node.inputs[3]->shape.NumElements();
  return 2.0 * static_cast<double>(weights * node.inputs[0]->shape[1]);
}

ir::TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

std::vector<IllegalCase> Illegal() {
  const NodeCase plain{
      .op = "tim.Svdf",
      .attributes = {{"rank", int64_t{2}}, {"num_units", int64_t{3}}},
      .inputs = {F32({5, 4}), F32({24, 4}), F32({5, 6}), F32({4, 6}), F32({3})},
      .outputs = {F32({3, 4}), F32({24, 4})}};
  const auto with = [&](size_t input, Ints shape) {
    NodeCase node = plain;
    node.inputs[input] = F32(std::move(shape));
    return node;
  };
  const auto set = [&](const char* name, int64_t value) {
    NodeCase node = plain;
    node.attributes.Set(name, value);
    return node;
  };
  NodeCase unbound = plain;
  unbound.inputs.resize(3);
  NodeCase boolean = plain;
  boolean.inputs[1] = Desc(ir::DataType::kBool8, {24, 4});
  return {{with(0, {20}), "input 0 [20] has rank 1"},
          {with(1, {24, 3}), "input 1 is [24, 3], expected [24, 4]"},
          {with(2, {6, 6}), "input 2 is [6, 6], expected [5, 6]"},
          {with(3, {4, 5}), "input 3 is [4, 5], expected [4, 6]"},
          {with(4, {6}), "input 4 is [6], expected [3]"},
          {set("rank", 0), "rank is 0"},
          {set("num_units", -1), "num_units is -1"},
          {unbound, "input 3 is not bound"},
          {boolean, "input 1 is bool8"}};
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(svdf) {
  cases.Add(
      {.op = "tim.Svdf",
       .legal = Legal,
       .illegal = Illegal,
       .flops = Flops,
       .shells = {ShellOf<vx::ops::Svdf>({{"rank", int64_t{2}},
                                          {"num_units", int64_t{4}},
                                          {"spectrogram_length", int64_t{3}}},
                                         2, 4, 3)}});
}

}  // namespace tim::testing
