#include "tests/properties/families/sequence_operands.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/bidirectional_sequence_rnn.h"
#include "tim/vx/ops/unidirectional_sequence_rnn.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Types of x, weights, biases, state and auxiliary input, and of outputs.
const std::vector<std::string>& TypeList() {
  static const auto* const kList = new std::vector<std::string>{
      "f32,f32,f32,f32,f32>f32",      "f16,f16,f16,f16,f16>f16",
      "u8a,u8a,i32a,u8a,u8a>u8a",     "f32,u8a,f32,f32,f32>f32",
      "i8a,i8a,f32,i8a,i8a>i8a",      "f32,i8a,f32,f32,f32>f32",
      "i16a,i8a,i32a,i16a,i16a>i16a", "f16,u8a,f32,f16,f16>f16",
      "f32,f32,f32,u8a,f16>u8a",      "i8d,i8d,f16,i8d,i8d>i8d",
      "f32,i8c,f32,f32,f32>f32",      "u4a,i4a,f32,f32,u4a>f32",
      "i16d,i16d,i64,i16d,f32>i16d"};
  return *kList;
}

struct Sizes {
  int64_t width = 3;
  int64_t units = 2;
  int64_t batch = 4;
  int64_t steps = 2;
  bool time_major = false;

  Ints Of(int64_t row) const {
    return time_major ? Ints{row, batch, steps} : Ints{row, steps, batch};
  }
};

// W, R, b, c and the state from input `first` on; those from b on may be
// absent.
void AddDirection(const TypeNames& types, const Sizes& sizes, size_t first,
                  CaseRng& rng, NodeCase* node) {
  const Known known = rng.OneIn(2) || types.inputs[1] == "i8c"
                          ? Known::kAtCompile
                          : Known::kAtRun;
  AddStepWeights(node, first, types.inputs[1], sizes.width, sizes.units, known,
                 rng);
  AddStepWeights(node, first + 1, types.inputs[1], sizes.units, sizes.units,
                 known, rng);
  for (const size_t bias : {first + 2, first + 3}) {
    if (rng.OneIn(4)) continue;
    AddStepInput(node, bias, types.inputs[2], {sizes.units}, 0.5,
                 rng.OneIn(4) ? Known::kAtRun : known, rng);
  }
  if (rng.OneIn(3)) return;
  AddStepInput(node, first + 4, types.inputs[3], {sizes.units, sizes.batch}, 1,
               Known::kAtRun, rng);
}

Sizes RandomSizes(CaseRng& rng) {
  Sizes of = {.width = rng.Extent(),
              .units = rng.Extent(),
              .batch = SequenceBatch(rng),
              .steps = rng.Int(1, 4),
              .time_major = rng.OneIn(2)};
  if (rng.OneIn(4)) WidenSequence(rng, 1, &of.units, &of.batch);
  return of;
}

int64_t Activation(CaseRng& rng) {
  return rng.Pick(Ints{4, 6, 1, 31, 2, 3, 0});
}

NodeCase LegalUnidirectional(CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  const Sizes sizes = RandomSizes(rng);
  NodeCase node{.op = "tim.UnidirectionalSequenceRnn",
                .attributes = {{"activation", Activation(rng)},
                               {"time_major", sizes.time_major}}};
  AddStepInput(&node, 0, types.inputs[0], sizes.Of(sizes.width), 1,
               Known::kAtRun, rng);
  AddDirection(types, sizes, 1, rng, &node);
  node.outputs = {
      StepDesc(types.outputs[0], {sizes.units, sizes.batch}, 1, rng),
      StepDesc(types.outputs[0], sizes.Of(sizes.units), 2, rng)};
  return node;
}

NodeCase LegalBidirectional(CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  const Sizes forward = RandomSizes(rng);
  Sizes backward = forward;
  if (rng.OneIn(3)) backward.units = rng.Extent();
  const bool merge = rng.OneIn(2);
  NodeCase node{.op = "tim.BidirectionalSequenceRnn",
                .attributes = {{"activation", Activation(rng)},
                               {"time_major", forward.time_major},
                               {"merge_outputs", merge}}};
  AddStepInput(&node, 0, types.inputs[0], forward.Of(forward.width), 1,
               Known::kAtRun, rng);
  AddDirection(types, forward, 1, rng, &node);
  AddDirection(types, backward, 6, rng, &node);
  if (rng.OneIn(3)) {
    const int64_t width = rng.Extent();
    AddStepInput(&node, 11, types.inputs[4], forward.Of(width), 1,
                 Known::kAtRun, rng);
    const Known known =
        types.inputs[1] == "i8c" ? Known::kAtCompile : Known::kAtRun;
    AddStepWeights(&node, 12, types.inputs[1], width, forward.units, known,
                   rng);
    AddStepWeights(&node, 13, types.inputs[1], width, backward.units, known,
                   rng);
  }
  for (const Sizes& sizes : {forward, backward}) {
    node.outputs.push_back(
        StepDesc(types.outputs[0], {sizes.units, sizes.batch}, 1, rng));
  }
  if (merge) {
    node.outputs.push_back(StepDesc(
        types.outputs[0], forward.Of(forward.units + backward.units), 2, rng));
    return node;
  }
  for (const Sizes& sizes : {forward, backward}) {
    node.outputs.push_back(
        StepDesc(types.outputs[0], sizes.Of(sizes.units), 2, rng));
  }
  return node;
}

// Each weight is multiplied once for each step and sequence.
double Flops(const NodeCase& node) {
  double weights = 0;
  for (const size_t i : {1, 2, 6, 7, 12, 13}) {
    if (i < node.inputs.size() && node.inputs[i] &&
        node.inputs[i]->shape.rank() == 2 &&
        (i < 6 || node.op == "tim.BidirectionalSequenceRnn")) {
      weights += static_cast<double>(*node.inputs[i]->shape.NumElements());
    }
  }
  const ir::Shape& x = node.inputs[0]->shape;
  return 2 * weights * static_cast<double>(x[1] * x[2]);
}

ir::TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

NodeCase Plain(const std::string& op) {
  NodeCase node{.op = op,
                .attributes = {{"activation", int64_t{4}}},
                .inputs = {F32({3, 2, 4}), F32({3, 5}), F32({5, 5}), F32({5}),
                           F32({5}), F32({5, 4})},
                .outputs = {F32({5, 4}), F32({5, 2, 4})}};
  if (op == "tim.UnidirectionalSequenceRnn") return node;
  for (int i = 1; i < 6; ++i) node.inputs.push_back(node.inputs[i]);
  node.outputs = {F32({5, 4}), F32({5, 4}), F32({5, 2, 4}), F32({5, 2, 4})};
  return node;
}

NodeCase With(NodeCase node, size_t input, Ints shape) {
  node.inputs[input] = F32(std::move(shape));
  return node;
}

std::vector<IllegalCase> IllegalOf(const std::string& op) {
  const NodeCase plain = Plain(op);
  NodeCase activation = plain;
  activation.attributes.Set("activation", int64_t{5});
  NodeCase boolean = plain;
  boolean.inputs[3] = Desc(ir::DataType::kBool8, {5});
  NodeCase absent = plain;
  absent.inputs[2].reset();
  return {{With(plain, 0, {3, 4}), "input 0 [3, 4] has rank 2"},
          {With(plain, 1, {4, 5}), "input 1 is [4, 5], expected [3, 5]"},
          {With(plain, 2, {5, 4}), "input 2 is [5, 4], expected [5, 5]"},
          {With(plain, 3, {4}), "input 3 is [4], expected [5]"},
          {With(plain, 4, {6}), "input 4 is [6], expected [5]"},
          {With(plain, 5, {5, 3}), "input 5 is [5, 3], expected [5, 4]"},
          {activation, "activation"},
          {boolean, "input 3 is bool8"},
          {absent, "input 2 is not bound"}};
}

std::vector<IllegalCase> IllegalBidirectional() {
  const std::string op = "tim.BidirectionalSequenceRnn";
  std::vector<IllegalCase> out = IllegalOf(op);
  const NodeCase plain = Plain(op);
  NodeCase absent = plain;
  absent.inputs[7].reset();
  NodeCase merged = plain;
  merged.attributes.Set("merge_outputs", true);
  NodeCase missing = plain;
  missing.outputs.pop_back();
  NodeCase aux = plain;
  aux.inputs.push_back(F32({6, 2, 4}));
  NodeCase wrong_aux = aux;
  wrong_aux.inputs.push_back(F32({6, 5}));
  wrong_aux.inputs.push_back(F32({7, 5}));
  out.push_back({absent, "input 7 is not bound"});
  out.push_back({With(plain, 8, {4}), "input 8 is [4], expected [5]"});
  out.push_back({merged, "output 3 is bound"});
  out.push_back({missing, "output 3 is not bound"});
  out.push_back({aux, "must be bound together"});
  out.push_back({wrong_aux, "input 13 is [7, 5], expected [6, 5]"});
  return out;
}

}  // namespace

TIM_CASES(rnn) {
  using Bidirectional = vx::ops::BidirectionalSequenceRnn;
  using Unidirectional = vx::ops::UnidirectionalSequenceRnn;
  cases.Add(
      {.op = "tim.UnidirectionalSequenceRnn",
       .legal = LegalUnidirectional,
       .illegal = [] { return IllegalOf("tim.UnidirectionalSequenceRnn"); },
       .tolerance = kStepTolerance,
       .flops = Flops,
       .shells = {ShellOf<Unidirectional>({{"activation", int64_t{4}}},
                                          Unidirectional::kTANH),
                  ShellOf<Unidirectional>(
                      {{"activation", int64_t{31}}, {"time_major", true}},
                      Unidirectional::kHARDSIGMOID, true)}});
  cases.Add(
      {.op = "tim.BidirectionalSequenceRnn",
       .legal = LegalBidirectional,
       .illegal = IllegalBidirectional,
       .tolerance = kStepTolerance,
       .flops = Flops,
       .shells = {ShellOf<Bidirectional>({{"activation", int64_t{6}}},
                                         Bidirectional::kSIGMOID),
                  ShellOf<Bidirectional>({{"activation", int64_t{2}},
                                          {"time_major", true},
                                          {"merge_outputs", true}},
                                         Bidirectional::kRELU1, true, true)}});
}

}  // namespace tim::testing
