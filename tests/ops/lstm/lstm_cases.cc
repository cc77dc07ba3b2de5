#include <random>

#include "base/half.h"
#include "ops/lstm/lstm_node.h"
#include "tests/properties/families/sequence_operands.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/unidirectional_sequence_lstm.h"

namespace tim::testing {
namespace {

using In = ops::LstmInput;
using Ints = std::vector<int64_t>;
using vx::ops::UnidirectionalSequenceLstm;

constexpr char kOp[] = "tim.UnidirectionalSequenceLstm";

// input, weights, bias, state, cell > output, state, cell
const std::vector<std::string>& TypeLists() {
  static const std::vector<std::string> kLists = {
      "f32,f32,f32,f32,f32>f32,f32,f32",
      "f16,f16,f16,f16,f16>f16,f16,f16",
      "u8a,u8a,i32a,u8a,f32>u8a,u8a,f32",
      "f32,i8a,f32,f32,f32>f32,f32,f32",
      "f32,u8a,f32,f32,f32>f32,f32,f32",
      "f16,u8a,f32,f16,f16>f16,f16,f16",
      "i8a,i8a,f32,i8a,i16a>i8a,i8a,i16a",
      "i16d,i8d,f32,i16d,i16d>i16d,i16d,i16d",
      "u8a,i8c,f32,f16,f32>f16,u8a,f32",
      "u4a,i4a,f32,u4a,f32>u4a,u4a,f32"};
  return kLists;
}

struct Sizes {
  int64_t width = 3;
  int64_t units = 4;
  int64_t outputs = 4;
  int64_t batch = 2;
  int64_t steps = 2;
  int64_t aux = 5;
};

struct Options {
  bool time_major = false;
  bool sequences = true;
  bool input_gate = true;
  bool state = true;
  bool peephole = false;
  bool bias = true;
  bool recurrent_bias = false;
  bool norm = false;
  bool projection = false;
  bool projection_bias = false;
  bool aux = false;
};

// Where the description of an operand is; within +-`most`, so that the sums
// neither saturate everything nor grow from step to step.
class Operands {
 public:
  Operands(CaseRng& rng, NodeCase* node) : rng_(rng), node_(node) {
    node_->inputs.resize(In::kCount);
  }

  void Set(int i, const std::string& type, Ints shape, float most) {
    ir::TensorDesc desc = rng_.Desc(type, std::move(shape), 1);
    if (desc.quantized()) {
      const auto codes = static_cast<float>(ir::Info(desc.type).max);
      for (float& scale : desc.quantization.scales) scale = most / codes;
    } else {
      node_->data[i] = Values(desc, most);
    }
    node_->inputs[i] = std::move(desc);
  }
  void SetGates(int first, const std::string& type, const Ints& shape,
                float most) {
    const bool input_gate = options.input_gate;
    for (int gate = input_gate ? 0 : 1; gate < ops::kLstmGates; ++gate) {
      Set(first + gate, type, shape, most);
    }
  }

  Options options;

 private:
  TensorData Values(const ir::TensorDesc& desc, float most) {
    std::uniform_real_distribution<float> uniform(-most, most);
    const auto count = static_cast<size_t>(*desc.shape.NumElements());
    if (desc.type == ir::DataType::kFloat32) {
      std::vector<float> floats(count);
      for (float& value : floats) value = uniform(rng_.engine());
      return MakeTensor(desc, floats);
    }
    std::vector<uint16_t> halves(count);
    for (uint16_t& half : halves) half = FloatToHalf(uniform(rng_.engine()));
    return MakeTensor(desc, halves);
  }

  CaseRng& rng_;
  NodeCase* node_;
};

Ints Sequence(int64_t width, const Sizes& of, bool time_major) {
  return time_major ? Ints{width, of.batch, of.steps}
                    : Ints{width, of.steps, of.batch};
}

NodeCase Layer(const Sizes& of, const Options& options, const TypeNames& types,
               CaseRng& rng) {
  NodeCase node = {.op = kOp,
                   .attributes = {{"cell_clip", 0.0},
                                  {"proj_clip", 0.0},
                                  {"activation", int64_t{3}},
                                  {"forget_bias", 0.0},
                                  {"time_major", options.time_major},
                                  {"return_sequences", options.sequences}}};
  Operands add(rng, &node);
  add.options = options;
  const std::string& weights = types.inputs[1];
  const std::string& bias = types.inputs[2];
  const float most = 2.0f / static_cast<float>(1 + of.width / 8);
  add.Set(In::kInput, types.inputs[0],
          Sequence(of.width, of, options.time_major), 1.5f);
  if (options.state) {
    add.Set(In::kState, types.inputs[3], {of.outputs, of.batch}, 1.0f);
    add.Set(In::kCell, types.inputs[4], {of.units, of.batch}, 1.0f);
  }
  add.SetGates(In::kWeights, weights, {of.width, of.units}, most);
  add.SetGates(In::kRecurrent, weights, {of.outputs, of.units}, 0.4f);
  if (options.peephole) {
    for (int i = options.input_gate ? 0 : 1; i < 3; ++i) {
      add.Set(In::kPeephole + i, bias, {of.units}, 0.5f);
    }
  }
  if (options.bias) add.SetGates(In::kBias, bias, {of.units}, 1.0f);
  if (options.recurrent_bias) {
    add.SetGates(In::kRecurrentBias, bias, {of.units}, 1.0f);
  }
  if (options.norm) add.SetGates(In::kNorm, bias, {of.units}, 1.0f);
  if (options.projection) {
    add.Set(In::kProjection, weights, {of.units, of.outputs}, 0.5f);
    if (options.projection_bias) {
      add.Set(In::kProjectionBias, bias, {of.outputs}, 0.5f);
    }
  }
  if (options.aux) {
    add.Set(In::kAux, types.inputs[0], Sequence(of.aux, of, options.time_major),
            1.0f);
    add.SetGates(In::kAuxWeights, weights, {of.aux, of.units}, 0.5f);
  }
  const Ints output = options.sequences
                          ? Sequence(of.outputs, of, options.time_major)
                          : Ints{of.outputs, of.batch};
  node.outputs = {rng.Desc(types.outputs[0], output),
                  rng.Desc(types.outputs[1], {of.outputs, of.batch}),
                  rng.Desc(types.outputs[2], {of.units, of.batch})};
  return node;
}

// Weights and parameters, not the states.
void MakeConstant(NodeCase* node, CaseRng& rng) {
  for (int i = In::kWeights; i < In::kCount; ++i) {
    if (!node->inputs[i] || i == In::kAux) continue;
    const auto given = node->data.find(i);
    if (given == node->data.end()) {
      node->constants[i] = rng.Data(*node->inputs[i]);
    } else {
      node->constants[i] = std::move(given->second);
      node->data.erase(given);
    }
  }
}

NodeCase Legal(CaseRng& rng) {
  Sizes of;
  of.width = rng.Extent();
  of.units = rng.Extent();
  of.batch = SequenceBatch(rng);
  of.steps = rng.Int(1, 5);
  if (rng.OneIn(4)) WidenSequence(rng, 3, &of.units, &of.batch);
  Options options;
  options.time_major = rng.OneIn(2);
  options.sequences = !rng.OneIn(3);
  options.input_gate = !rng.OneIn(3);
  options.state = !rng.OneIn(3);
  options.peephole = rng.OneIn(2);
  options.bias = !rng.OneIn(4);
  options.recurrent_bias = rng.OneIn(3);
  // A variance of few units may be next to nothing.
  options.norm = rng.OneIn(3) && of.units > 4;
  options.projection = rng.OneIn(3);
  options.projection_bias = rng.OneIn(2);
  options.aux = rng.OneIn(4);
  of.outputs = options.projection ? rng.Extent(20) : of.units;
  const TypeNames types = rng.Types(TypeLists());
  NodeCase node = Layer(of, options, types, rng);
  const bool per_channel = types.inputs[1].back() == 'c';
  if (per_channel || !rng.OneIn(3)) {
    MakeConstant(&node, rng);
  } else if (rng.OneIn(2)) {
    // Constants beside others.
    node.constants[In::kRecurrent + 1] = rng.Data(*node.inputs[8]);
    node.data.erase(In::kRecurrent + 1);
  }
  if (rng.OneIn(3)) node.attributes.Set("cell_clip", 0.4);
  if (rng.OneIn(3)) node.attributes.Set("proj_clip", 0.3);
  if (rng.OneIn(3)) node.attributes.Set("forget_bias", 0.75);
  if (rng.OneIn(2)) {
    node.attributes.Set("activation", rng.Pick<int64_t>({3, 0, 1, 2, 4, 5, 7}));
    node.attributes.Set("recurrent_activation",
                        rng.Pick<int64_t>({4, 5, 0, 1, 2, 3}));
  }
  if (rng.OneIn(4)) node.outputs.resize(static_cast<size_t>(rng.Int(1, 2)));
  while (!node.inputs.back()) node.inputs.pop_back();
  return node;
}

// From the formula: products, and 150 for each unit and step.
double Flops(const NodeCase& node) {
  const auto at = [&](int i, int axis) {
    const bool bound =
        i < static_cast<int>(node.inputs.size()) && node.inputs[i];
    return bound ? static_cast<double>(node.inputs[i]->shape[axis]) : 0.0;
  };
  const double gates = node.inputs[In::kWeights] ? 4 : 3;
  const double units = at(In::kWeights + 1, 1);
  const double terms =
      at(In::kWeights + 1, 0) + at(In::kAux, 0) + at(In::kRecurrent + 1, 0);
  const double rows = at(In::kInput, 1) * at(In::kInput, 2);
  return rows * units * (2 * gates * terms + 2 * at(In::kProjection, 1) + 150);
}

std::vector<IllegalCase> Illegal() {
  CaseRng rng(1);
  const TypeNames types = ParseTypes(TypeLists()[0]);
  Options options;
  options.input_gate = false;
  const NodeCase coupled = Layer({}, options, types, rng);
  const NodeCase plain = Layer({}, {}, types, rng);
  const auto f32 = [](Ints shape) {
    return Desc(ir::DataType::kFloat32, std::move(shape));
  };
  const auto with = [](NodeCase node, int i,
                       std::optional<ir::TensorDesc> desc) {
    node.inputs[i] = std::move(desc);
    return node;
  };
  NodeCase unknown = plain;
  unknown.attributes.Set("activation", int64_t{6});
  return {
      {with(plain, 5, std::nullopt), "input 5, weights of the cell gate"},
      {with(plain, 8, std::nullopt), "input 8, weights of the forget gate"},
      {with(plain, 7, std::nullopt), "required beside input 3"},
      {with(coupled, 14, f32({4})), "input 14 belongs to the input gate"},
      {with(plain, 19, f32({4})), "input 18, its weights, is not"},
      {with(plain, 21, f32({4})), "layer normalisation: input 20"},
      {with(plain, 24, f32({5, 2, 2})), "the aux input: input 25"},
      {with(plain, 26, f32({5, 4})), "the aux input: input 26"},
      {with(plain, 0, f32({3, 4})), "input 0 is [3, 4]"},
      {with(plain, 1, f32({4, 3})), "input 1 is [4, 3], expected [4, 2]"},
      {with(plain, 4, f32({7, 4})), "input 4 is [7, 4], expected [3, 4]"},
      {with(plain, 9, f32({4, 5})), "input 9 is [4, 5], expected [4, 4]"},
      {with(plain, 16, f32({5})), "input 16 is [5], expected [4]"},
      {with(plain, 18, f32({5, 4})), "input 18 is [5, 4], expected [4, 4]"},
      {with(plain, 4, Desc(ir::DataType::kBool8, {3, 4})), "input 4 is bool8"},
      {unknown, "activation"}};
}

std::vector<Shell> Shells() {
  using Lstm = UnidirectionalSequenceLstm;
  return {ShellOf<Lstm>({{"cell_clip", 0.0},
                         {"proj_clip", 1.0},
                         {"activation", int64_t{3}},
                         {"forget_bias", 0.5}},
                        0.0f, 1.0f, Lstm::kTANH, 0.5f),
          ShellOf<Lstm>({{"cell_clip", 2.0},
                         {"proj_clip", 0.0},
                         {"activation", int64_t{1}},
                         {"forget_bias", 0.0},
                         {"time_major", true},
                         {"recurrent_activation", int64_t{5}},
                         {"return_sequences", true}},
                        2.0f, 0.0f, Lstm::kRELU, 0.0f, true, Lstm::kHARDSIGMOID,
                        true)};
}

}  // namespace

TIM_CASES(lstm) {
  cases.Add({.op = kOp,
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = {.absolute = 1e-5, .relative = 1e-5},
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
