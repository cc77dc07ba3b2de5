#include <random>

#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/bidirectional_sequence_lstm.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr char kOp[] = "tim.BidirectionalSequenceLstm";
constexpr int kInputs = 64;

struct Sizes {
  int64_t width = 3;
  int64_t units = 4;
  int64_t outputs = 4;
  int64_t batch = 2;
  int64_t steps = 2;
};

struct Options {
  bool time_major = false;
  bool sequences = true;
  bool input_gate = true;
  bool states = true;
  bool peephole = false;
  bool norm = false;
  bool projection = false;
  bool recurrent_bias = false;
  /// Width of an aux input with weights, and without.
  int64_t linked = 0;
  int64_t parallel = 0;
};

class Operands {
 public:
  Operands(CaseRng& rng, NodeCase* node) : rng_(rng), node_(node) {
    node_->inputs.resize(kInputs);
  }

  void Set(int i, Ints shape, float most) {
    const ir::TensorDesc desc = Desc(ir::DataType::kFloat32, std::move(shape));
    std::uniform_real_distribution<float> uniform(-most, most);
    std::vector<float> values(static_cast<size_t>(*desc.shape.NumElements()));
    for (float& value : values) value = uniform(rng_.engine());
    const bool sequence = desc.shape.rank() == 3 || (i >= 35 && i < 39);
    (sequence ? node_->data : node_->constants)[i] = MakeTensor(desc, values);
    node_->inputs[i] = desc;
  }
  // Of the gates from `first_gate` on.
  void SetGates(int first, int first_gate, const Ints& shape, float most) {
    for (int gate = first_gate; gate < 4; ++gate) {
      Set(first + gate, shape, most);
    }
  }

 private:
  CaseRng& rng_;
  NodeCase* node_;
};

Ints Sequence(int64_t width, const Sizes& of, bool time_major) {
  return time_major ? Ints{width, of.batch, of.steps}
                    : Ints{width, of.steps, of.batch};
}

// Layer 0 or 1.
void SetLayer(int layer, const Sizes& of, const Options& options,
              Operands* add) {
  const int at = 17 * layer;
  const int gate = options.input_gate ? 0 : 1;
  const int64_t width =
      layer == 1 && options.parallel > 0 ? options.parallel : of.width;
  add->SetGates(1 + at, gate, {width, of.units},
                2.0f / static_cast<float>(1 + width / 8));
  add->SetGates(5 + at, gate, {of.outputs, of.units}, 0.4f);
  if (options.peephole) {
    for (int i = gate; i < 3; ++i) add->Set(9 + at + i, {of.units}, 0.5f);
  }
  add->SetGates(12 + at, gate, {of.units}, 1.0f);
  if (options.projection) {
    add->Set(16 + at, {of.units, of.outputs}, 0.5f);
    add->Set(17 + at, {of.outputs}, 0.5f);
  }
  if (options.states) {
    add->Set(35 + 2 * layer, {of.outputs, of.batch}, 1.0f);
    add->Set(36 + 2 * layer, {of.units, of.batch}, 1.0f);
  }
  if (options.linked > 0) {
    add->SetGates(40 + 4 * layer, gate, {options.linked, of.units}, 0.5f);
  }
  if (options.norm) add->SetGates(48 + 4 * layer, gate, {of.units}, 1.0f);
  if (options.recurrent_bias) {
    add->SetGates(56 + 4 * layer, gate, {of.units}, 1.0f);
  }
}

NodeCase Layers(const Sizes& of, const Options& options, CaseRng& rng) {
  NodeCase node = {.op = kOp,
                   .attributes = {{"cell_clip", 0.0},
                                  {"proj_clip", 0.0},
                                  {"activation", int64_t{3}},
                                  {"forget_bias", 0.0},
                                  {"time_major", options.time_major},
                                  {"return_sequences", options.sequences}}};
  Operands add(rng, &node);
  add.Set(0, Sequence(of.width, of, options.time_major), 1.5f);
  for (const int layer : {0, 1}) SetLayer(layer, of, options, &add);
  const int64_t aux = options.linked + options.parallel;
  if (aux > 0) add.Set(39, Sequence(aux, of, options.time_major), 1.0f);
  const Ints output = options.sequences
                          ? Sequence(of.outputs, of, options.time_major)
                          : Ints{of.outputs, of.batch};
  for (int layer = 0; layer < 2; ++layer) {
    for (const Ints& shape :
         {output, Ints{of.outputs, of.batch}, Ints{of.units, of.batch}}) {
      node.outputs.push_back(Desc(ir::DataType::kFloat32, shape));
    }
  }
  return node;
}

NodeCase Legal(CaseRng& rng) {
  Sizes of;
  of.width = rng.Extent();
  of.units = rng.Extent();
  of.batch = rng.Int(1, 5);
  of.steps = rng.Int(1, 4);
  Options options;
  options.time_major = rng.OneIn(2);
  options.sequences = !rng.OneIn(3);
  options.input_gate = !rng.OneIn(3);
  options.states = !rng.OneIn(3);
  options.peephole = rng.OneIn(3);
  options.norm = rng.OneIn(4) && of.units > 4;
  options.projection = rng.OneIn(4);
  options.recurrent_bias = rng.OneIn(4);
  if (rng.OneIn(3)) {
    (rng.OneIn(2) ? options.linked : options.parallel) = rng.Int(1, 5);
  }
  of.outputs = options.projection ? rng.Extent(20) : of.units;
  NodeCase node = Layers(of, options, rng);
  if (rng.OneIn(3)) node.attributes.Set("forget_bias", 0.75);
  if (rng.OneIn(4)) node.outputs.resize(static_cast<size_t>(rng.Int(1, 5)));
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
  double flops = 0;
  for (int layer = 0; layer < 2; ++layer) {
    const int first = 17 * layer;
    const double gates = node.inputs[1 + first] ? 4 : 3;
    const double terms =
        at(2 + first, 0) + at(6 + first, 0) + at(41 + 4 * layer, 0);
    flops +=
        at(2 + first, 1) * (2 * gates * terms + 2 * at(16 + first, 1) + 150);
  }
  return flops * at(0, 1) * at(0, 2);
}

std::vector<IllegalCase> Illegal() {
  CaseRng rng(1);
  NodeCase backward = Layers({}, {}, rng);
  backward.constants.erase(20);
  backward.inputs[20] = Desc(ir::DataType::kFloat32, {7, 4});
  NodeCase forward = Layers({}, {}, rng);
  forward.constants.erase(6);
  forward.inputs[6].reset();
  Options linked;
  linked.linked = 5;
  NodeCase part = Layers({}, linked, rng);
  part.constants.erase(45);
  part.inputs[45].reset();
  return {{backward, "the backward UnidirectionalSequenceLstm"},
          {forward, "the forward UnidirectionalSequenceLstm"},
          {part, "the aux input: input 26"}};
}

std::vector<Shell> Shells() {
  using Lstm = vx::ops::BidirectionalSequenceLstm;
  std::vector<Shell> out = {ShellOf<Lstm>({{"cell_clip", 2.0},
                                           {"proj_clip", 1.0},
                                           {"activation", int64_t{3}},
                                           {"forget_bias", 0.5}},
                                          2.0f, 1.0f, Lstm::kTANH, 0.5f)};
  const std::pair<Lstm::ActivationType, int64_t> kActivations[] = {
      {Lstm::kNONE, 0},       {Lstm::kRELU, 1}, {Lstm::kRELU1, 7},
      {Lstm::kRELU6, 2},      {Lstm::kTANH, 3}, {Lstm::kSIGMOID, 4},
      {Lstm::kHARDSIGMOID, 5}};
  for (const auto& [type, value] : kActivations) {
    out.push_back(ShellOf<Lstm>({{"cell_clip", 0.0},
                                 {"proj_clip", 0.0},
                                 {"activation", value},
                                 {"forget_bias", 0.0},
                                 {"time_major", true},
                                 {"recurrent_activation", value},
                                 {"return_sequences", true}},
                                0.0f, 0.0f, type, 0.0f, true, type, true));
  }
  return out;
}

}  // namespace

TIM_CASES(bidirectional_lstm) {
  cases.Add({.op = kOp,
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = {.absolute = 1e-5, .relative = 1e-5},
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
