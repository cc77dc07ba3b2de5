#include "ops/lstm/lstm_node.h"

#include <algorithm>
#include <array>
#include <string>

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

using In = LstmInput;
using Descs = std::span<const ir::TensorDesc* const>;

bool Has(Descs inputs, int i) {
  return i < static_cast<int>(inputs.size()) && inputs[i] != nullptr;
}

// Unknown where the operand, its rank or the extent is.
int64_t Dim(Descs inputs, int i, int axis) {
  if (!Has(inputs, i)) return ir::kUnknownDim;
  const ir::Shape& shape = inputs[i]->shape;
  if (!shape.ranked() || shape.rank() <= axis) return ir::kUnknownDim;
  return shape[axis];
}

int64_t FirstKnown(std::initializer_list<int64_t> dims) {
  for (const int64_t dim : dims) {
    if (dim != ir::kUnknownDim) return dim;
  }
  return ir::kUnknownDim;
}

std::vector<std::pair<std::string, int64_t>> Activations() {
  const auto named = [](const char* name, LstmActivation activation) {
    return std::pair<std::string, int64_t>(name,
                                           static_cast<int64_t>(activation));
  };
  return {named("none", LstmActivation::kNone),
          named("relu", LstmActivation::kRelu),
          named("relu6", LstmActivation::kRelu6),
          named("tanh", LstmActivation::kTanh),
          named("sigmoid", LstmActivation::kSigmoid),
          named("hard_sigmoid", LstmActivation::kHardSigmoid),
          named("relu1", LstmActivation::kRelu1)};
}

constexpr const char* kGateNames[] = {"input", "forget", "cell", "output"};

Status CheckPresence(Descs inputs) {
  for (int gate = kForgetGate; gate < kLstmGates; ++gate) {
    for (const int first : {In::kWeights, In::kRecurrent}) {
      if (Has(inputs, first + gate)) continue;
      return InvalidArgument("input ", first + gate, ", weights of the ",
                             kGateNames[gate], " gate, is required");
    }
  }
  if (Has(inputs, In::kWeights) && !Has(inputs, In::kRecurrent)) {
    return InvalidArgument("input 7, recurrent weights of the input gate, is ",
                           "required beside input 3");
  }
  if (Has(inputs, In::kProjectionBias) && !Has(inputs, In::kProjection)) {
    return InvalidArgument("input 19, the projection's bias, is bound, but ",
                           "input 18, its weights, is not");
  }
  if (Has(inputs, In::kWeights)) return OkStatus();
  for (const int first : {In::kRecurrent, In::kPeephole, In::kBias, In::kNorm,
                          In::kAuxWeights, In::kRecurrentBias}) {
    if (!Has(inputs, first)) continue;
    return InvalidArgument("input ", first,
                           " belongs to the input gate, which there is not "
                           "without input 3");
  }
  return OkStatus();
}

// Weights at `first` for the gates that there are: of all or of none.
Status CheckAllOrNone(Descs inputs, const char* what, int first, bool wanted) {
  for (int gate = 0; gate < kLstmGates; ++gate) {
    if (gate == kInputGate && !Has(inputs, In::kWeights)) continue;
    if (Has(inputs, first + gate) == wanted) continue;
    return InvalidArgument(what, ": input ", first + gate, " of the ",
                           kGateNames[gate], " gate is ",
                           wanted ? "required" : "bound alone");
  }
  return OkStatus();
}

class ShapeCheck {
 public:
  explicit ShapeCheck(Descs inputs) : inputs_(inputs) {}

  // The operand, if bound, has these extents as far as they are known.
  void Expect(int i, std::initializer_list<int64_t> dims) {
    if (!status_.ok() || !Has(inputs_, i)) return;
    const ir::Shape& shape = inputs_[i]->shape;
    if (!shape.ranked()) return;
    bool fits = shape.rank() == static_cast<int>(dims.size());
    int axis = 0;
    for (const int64_t dim : dims) {
      if (!fits) break;
      const int64_t found = shape[axis++];
      fits = dim == ir::kUnknownDim || found == ir::kUnknownDim || found == dim;
    }
    if (fits) return;
    status_ = InvalidArgument("input ", i, " is ", shape.ToString(),
                              ", expected ", ir::Shape(dims).ToString());
  }
  void ExpectOfGates(int first, std::initializer_list<int64_t> dims) {
    for (int gate = 0; gate < kLstmGates; ++gate) Expect(first + gate, dims);
  }
  Status status() const { return status_; }

 private:
  Descs inputs_;
  Status status_;
};

struct Extents {
  int64_t width, aux_width, units, outputs, batch, steps;
};

Extents ExtentsOf(Descs inputs, bool time_major) {
  Extents out = {};
  out.batch =
      FirstKnown({Dim(inputs, In::kInput, time_major ? 1 : 2),
                  Dim(inputs, In::kState, 1), Dim(inputs, In::kCell, 1)});
  out.steps = Dim(inputs, In::kInput, time_major ? 2 : 1);
  out.width = FirstKnown(
      {Dim(inputs, In::kInput, 0), Dim(inputs, In::kWeights + kForgetGate, 0)});
  out.aux_width = Dim(inputs, In::kAux, 0);
  out.units = FirstKnown({Dim(inputs, In::kWeights + kForgetGate, 1),
                          Dim(inputs, In::kRecurrent + kForgetGate, 1),
                          Dim(inputs, In::kWeights + kCellGate, 1),
                          Dim(inputs, In::kWeights + kOutputGate, 1)});
  out.outputs = Has(inputs, In::kProjection)
                    ? FirstKnown({Dim(inputs, In::kProjection, 1),
                                  Dim(inputs, In::kRecurrent + kForgetGate, 0)})
                    : out.units;
  return out;
}

}  // namespace

Status CheckLstmOperands(Descs inputs, bool time_major) {
  TIM_RETURN_IF_ERROR(CheckPresence(inputs));
  TIM_RETURN_IF_ERROR(CheckAllOrNone(inputs, "layer normalisation", In::kNorm,
                                     Has(inputs, In::kNorm + kForgetGate)));
  TIM_RETURN_IF_ERROR(CheckAllOrNone(inputs, "the aux input", In::kAuxWeights,
                                     Has(inputs, In::kAux)));
  const Extents of = ExtentsOf(inputs, time_major);
  ShapeCheck check(inputs);
  const int64_t slow = time_major ? of.steps : of.batch;
  const int64_t fast = time_major ? of.batch : of.steps;
  check.Expect(In::kInput, {of.width, fast, slow});
  check.Expect(In::kAux, {of.aux_width, fast, slow});
  check.Expect(In::kState, {of.outputs, of.batch});
  check.Expect(In::kCell, {of.units, of.batch});
  check.ExpectOfGates(In::kWeights, {of.width, of.units});
  check.ExpectOfGates(In::kAuxWeights, {of.aux_width, of.units});
  check.ExpectOfGates(In::kRecurrent, {of.outputs, of.units});
  for (int i = 0; i < 3; ++i) check.Expect(In::kPeephole + i, {of.units});
  for (const int first : {In::kBias, In::kNorm, In::kRecurrentBias}) {
    check.ExpectOfGates(first, {of.units});
  }
  check.Expect(In::kProjection, {of.units, of.outputs});
  check.Expect(In::kProjectionBias, {of.outputs});
  return check.status();
}

std::vector<ir::Shape> LstmOutputShapes(Descs inputs, bool time_major,
                                        bool sequences) {
  const Extents of = ExtentsOf(inputs, time_major);
  ir::Shape output({of.outputs, of.batch});
  if (sequences && time_major) {
    output = ir::Shape({of.outputs, of.batch, of.steps});
  } else if (sequences) {
    output = ir::Shape({of.outputs, of.steps, of.batch});
  }
  return {output, ir::Shape({of.outputs, of.batch}),
          ir::Shape({of.units, of.batch})};
}

LstmNode LstmNodeOf(const ir::AttributeMap& attributes, Descs inputs) {
  LstmNode out;
  out.time_major = attributes.Bool("time_major");
  out.sequences = attributes.Bool("return_sequences");
  const Extents of = ExtentsOf(inputs, out.time_major);
  out.width = of.width;
  out.aux_width = Has(inputs, In::kAux) ? of.aux_width : 0;
  out.units = of.units;
  out.outputs = of.outputs;
  out.batch = of.batch;
  out.steps = of.steps;
  out.input_gate = Has(inputs, In::kWeights);
  for (int i = 0; i < 3; ++i) out.peephole |= Has(inputs, In::kPeephole + i);
  out.norm = Has(inputs, In::kNorm + kForgetGate);
  out.projection = Has(inputs, In::kProjection);
  out.cell_clip = attributes.Float("cell_clip");
  out.proj_clip = attributes.Float("proj_clip");
  out.forget_bias = attributes.Float("forget_bias");
  out.activation = static_cast<LstmActivation>(attributes.Int("activation"));
  out.gate_activation =
      static_cast<LstmActivation>(attributes.Int("recurrent_activation"));
  if (out.gate_activation == LstmActivation::kNone) {
    out.gate_activation = LstmActivation::kSigmoid;
  }
  return out;
}

double LstmFlops(const LstmNode& node) {
  const auto rows = static_cast<double>(node.rows());
  const auto units = static_cast<double>(node.units);
  const auto outputs = static_cast<double>(node.outputs);
  const double terms =
      static_cast<double>(node.width + node.aux_width) + outputs;
  const double gates = node.input_gate ? 4 : 3;
  return rows * units *
         (gates * 2 * terms + (node.projection ? 2 * outputs : 0) + 150);
}

ir::ComputeEstimate EstimateLstm(const ir::NodeView& view) {
  return {.flops = LstmFlops(LstmNodeOf(view.node.attributes, view.inputs)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

std::vector<ir::AttributeSpec> LstmAttributes() {
  using ir::AttributeType;
  return {{"cell_clip", AttributeType::kFloat},
          {"proj_clip", AttributeType::kFloat},
          {"activation", AttributeType::kInt, std::nullopt, Activations()},
          {"forget_bias", AttributeType::kFloat},
          {"time_major", AttributeType::kBool, false},
          {"recurrent_activation", AttributeType::kInt,
           static_cast<int64_t>(LstmActivation::kSigmoid), Activations()},
          {"return_sequences", AttributeType::kBool, false}};
}

}  // namespace tim::ops
