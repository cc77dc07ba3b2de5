#include "tests/properties/families/sequence_operands.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/grucell.h"
#include "tim/vx/ops/unidirectional_sequence_gru.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr char kCell[] = "tim.GRUCell";
constexpr char kSequence[] = "tim.UnidirectionalSequenceGRU";
constexpr size_t kGates = 3;
constexpr size_t kState = 1;
constexpr size_t kWeights = 2;
constexpr size_t kRecurrent = 5;
constexpr size_t kBias = 8;

// Types of x, state, kernels and biases, and of outputs.
const std::vector<std::string>& TypeList() {
  static const auto* const kList = new std::vector<std::string>{
      "f32,f32,f32,f32>f32",   "f16,f16,f16,f16>f16", "u8a,u8a,u8a,i32a>u8a",
      "f32,f32,u8a,f32>f32",   "i8a,i8a,i8a,f32>i8a", "f16,f16,i8a,f32>f16",
      "u8a,f32,f32,f32>u8a",   "f32,f32,f32,f16>i8a", "i16a,i16a,i8a,f32>i16a",
      "f32,f32,i8c,f32>f32",   "i8d,i8d,i8d,i8d>i8d", "u4a,f32,u4a,f32>f32",
      "i16d,i16d,i8a,i64>i16d"};
  return *kList;
}

// Kernels, recurrent kernels, and biases, any of which may be absent.
void AddGates(const TypeNames& types, int64_t width, int64_t units,
              CaseRng& rng, NodeCase* node) {
  const std::string& type = types.inputs[2];
  const Known known =
      rng.OneIn(2) || type == "i8c" ? Known::kAtCompile : Known::kAtRun;
  for (size_t gate = 0; gate < kGates; ++gate) {
    AddStepWeights(node, kWeights + gate, type, width, units, known, rng);
  }
  for (size_t gate = 0; gate < kGates; ++gate) {
    AddStepWeights(node, kRecurrent + gate, type, units, units, known, rng);
  }
  if (rng.OneIn(3)) return;
  for (size_t bias = kBias; bias < kBias + 2 * kGates; ++bias) {
    if (rng.OneIn(4)) continue;
    AddStepInput(node, bias, types.inputs[3], {units}, 0.5,
                 rng.OneIn(4) ? Known::kAtRun : known, rng);
  }
}

NodeCase GruNode(const std::string& op, int64_t units, CaseRng& rng) {
  return {.op = op,
          .attributes = {
              {"num_units", units},
              {"activation", rng.Pick(Ints{4, 6, 1, 31, 3, 0})},
              {"recurrent_activation", rng.Pick(Ints{6, 31, 4, 1, 3, 0})},
              {"reset_after", !rng.OneIn(2)}}};
}

NodeCase LegalCell(CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  const int64_t width = rng.Extent(), units = rng.Extent(),
                batch = rng.Int(1, 6);
  NodeCase node = GruNode(kCell, units, rng);
  AddStepInput(&node, 0, types.inputs[0], {width, batch}, 1, Known::kAtRun,
               rng);
  AddStepInput(&node, kState, types.inputs[1], {units, batch}, 1, Known::kAtRun,
               rng);
  AddGates(types, width, units, rng, &node);
  node.outputs = {StepDesc(types.outputs[0], {units, batch}, 1, rng)};
  if (!rng.OneIn(3)) {
    node.outputs.push_back(StepDesc(types.outputs[0], {units, batch}, 1, rng));
  }
  return node;
}

NodeCase LegalSequence(CaseRng& rng) {
  const TypeNames types = rng.Types(TypeList());
  int64_t units = rng.Extent(), batch = SequenceBatch(rng);
  if (rng.OneIn(4)) WidenSequence(rng, 3, &units, &batch);
  const int64_t width = rng.Extent(), steps = rng.Int(1, 4);
  const bool time_major = !rng.OneIn(2), every_step = rng.OneIn(2);
  NodeCase node = GruNode(kSequence, units, rng);
  node.attributes.Set("time_major", time_major);
  node.attributes.Set("return_sequences", every_step);
  const auto shape = [&](int64_t row) {
    return time_major ? Ints{row, batch, steps} : Ints{row, steps, batch};
  };
  AddStepInput(&node, 0, types.inputs[0], shape(width), 1, Known::kAtRun, rng);
  if (!rng.OneIn(3)) {
    AddStepInput(&node, kState, types.inputs[1], {units, batch}, 1,
                 Known::kAtRun, rng);
  }
  AddGates(types, width, units, rng, &node);
  node.outputs = {StepDesc(types.outputs[0],
                           every_step ? shape(units) : Ints{units, batch}, 1,
                           rng)};
  if (!rng.OneIn(3)) {
    node.outputs.push_back(StepDesc(types.outputs[0], {units, batch}, 1, rng));
  }
  return node;
}

// Products alone: activations are few beside them.
double Flops(const NodeCase& node) {
  const ir::Shape& x = node.inputs[0]->shape;
  const auto units = static_cast<double>(node.inputs[kWeights]->shape[1]);
  return 2.0 * kGates * units * (static_cast<double>(x[0]) + units) *
         static_cast<double>(x[1] * x.DimOr1(2));
}

ir::TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

NodeCase Plain(const std::string& op) {
  NodeCase node{.op = op,
                .attributes = {{"num_units", int64_t{5}}},
                .inputs = {F32({3, 4}), F32({5, 4})},
                .outputs = {F32({5, 4}), F32({5, 4})}};
  if (op == kSequence) node.inputs[0] = F32({3, 4, 2});
  for (size_t i = kWeights; i < kBias + 2 * kGates; ++i) {
    node.inputs.push_back(i < kRecurrent ? F32({3, 5})
                          : i < kBias    ? F32({5, 5})
                                         : F32({5}));
  }
  return node;
}

std::vector<IllegalCase> IllegalOf(const std::string& op) {
  const NodeCase plain = Plain(op);
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
  NodeCase absent = plain;
  absent.inputs[6].reset();
  NodeCase boolean = plain;
  boolean.inputs[9] = Desc(ir::DataType::kBool8, {5});
  return {{with(0, {3}), "input 0 [3] has rank 1"},
          {with(1, {5, 3}), "input 1 is [5, 3], expected [5, 4]"},
          {with(3, {5, 3}), "input 3 is [5, 3], expected [3, 5]"},
          {with(7, {5, 4}), "input 7 is [5, 4], expected [5, 5]"},
          {with(10, {3}), "input 10 is [3], expected [5]"},
          {with(13, {6}), "input 13 is [6], expected [5]"},
          {set("num_units", 4), "input 2 is [3, 5], expected [3, 4]"},
          {set("num_units", 0), "num_units is 0"},
          {set("activation", 2), "activation"},
          {set("recurrent_activation", 5), "recurrent_activation"},
          {absent, "input 6 is not bound"},
          {boolean, "input 9 is bool8"}};
}

OperatorCases GruCases(const std::string& op, std::vector<Shell> shells) {
  return {.op = op,
          .legal = op == kCell ? LegalCell : LegalSequence,
          .illegal = [op] { return IllegalOf(op); },
          .tolerance = kStepTolerance,
          .flops = Flops,
          .shells = std::move(shells)};
}

}  // namespace

TIM_CASES(gru) {
  using Cell = vx::ops::GRUCell;
  using Sequence = vx::ops::UnidirectionalSequenceGRU;
  cases.Add(GruCases(
      kCell, {ShellOf<Cell>({{"num_units", int64_t{2}}}, 2),
              ShellOf<Cell>({{"num_units", int64_t{7}},
                             {"activation", int64_t{1}},
                             {"recurrent_activation", int64_t{31}},
                             {"reset_after", false}},
                            7, Cell::kRELU, Cell::kHARDSIGMOID, false)}));
  OperatorCases sequence = GruCases(
      kSequence, {ShellOf<Sequence>({{"num_units", int64_t{2}}}, 2),
                  ShellOf<Sequence>({{"num_units", int64_t{7}},
                                     {"activation", int64_t{3}},
                                     {"recurrent_activation", int64_t{4}},
                                     {"reset_after", false},
                                     {"return_sequences", true},
                                     {"time_major", false}},
                                    7, Sequence::kRELU6, Sequence::kTANH, false,
                                    true, false)});
  sequence.permute_rule = PermuteRule::kPartial;
  cases.Add(std::move(sequence));
}

}  // namespace tim::testing
