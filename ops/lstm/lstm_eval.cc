// The reference of UnidirectionalSequenceLstm; formulas in lstm_node.h.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/elements.h"
#include "kernels/exact_exp.h"
#include "kernels/lane_sum.h"
#include "ops/elements/product_sum.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {
namespace {

using In = LstmInput;
using Floats = std::vector<float>;
using Inputs = std::span<const ir::ConstTensor>;

float Within(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}

float Clip(float x, float limit) {
  return limit > 0.0f ? Within(x, -limit, limit) : x;
}

bool Has(Inputs inputs, int i) {
  return i < static_cast<int>(inputs.size()) && inputs[i].data != nullptr;
}

// Empty where absent.
Floats Reals(Inputs inputs, int i) {
  return Has(inputs, i) ? RealValues(inputs[i]) : Floats();
}

struct GateNumbers {
  Floats weights, aux, recurrent, norm, peephole, bias;
};

GateNumbers NumbersOf(const LstmNode& node, Inputs inputs, int gate) {
  GateNumbers out;
  out.weights = Reals(inputs, In::kWeights + gate);
  out.aux = Reals(inputs, In::kAuxWeights + gate);
  out.recurrent = Reals(inputs, In::kRecurrent + gate);
  out.norm = Reals(inputs, In::kNorm + gate);
  if (gate != kCellGate) {
    out.peephole =
        Reals(inputs, In::kPeephole + (gate == kOutputGate ? 2 : gate));
  }
  out.bias.resize(static_cast<size_t>(node.units), 0.0f);
  for (const int first : {In::kBias, In::kRecurrentBias}) {
    const Floats part = Reals(inputs, first + gate);
    for (size_t u = 0; u < part.size(); ++u) out.bias[u] += part[u];
  }
  if (gate == kForgetGate) {
    for (float& b : out.bias) b += node.forget_bias;
  }
  return out;
}

// sum + the products of x[0 .. depth) and a row of weights.
float AddProducts(float sum, const float* x, const float* weights,
                  int64_t depth) {
  for (int64_t k = 0; k < depth; ++k) sum = AddProduct(sum, x[k], weights[k]);
  return sum;
}

void Normalize(const Floats& weights, Floats* v) {
  const float inverse = 1.0f / static_cast<float>(v->size());
  kernels::LaneSum sum;
  kernels::LaneSum squares;
  const float first = (*v)[0];
  const auto units = static_cast<int64_t>(v->size());
  for (int64_t u = 0; u < units; ++u) sum.Add(u, (*v)[u] - first);
  const float mean = first + sum.Total() * inverse;
  for (int64_t u = 0; u < units; ++u) {
    const float d = (*v)[u] - mean;
    squares.Add(u, d * d);
  }
  const float factor = 1.0f / std::sqrt(squares.Total() * inverse + 1e-8f);
  for (int64_t u = 0; u < units; ++u) {
    (*v)[u] = ((*v)[u] - mean) * factor * weights[u];
  }
}

class Layer {
 public:
  Layer(const LstmNode& node, Inputs inputs) : node_(node) {
    input_ = Reals(inputs, In::kInput);
    aux_ = Reals(inputs, In::kAux);
    projection_ = Reals(inputs, In::kProjection);
    projection_bias_ = Reals(inputs, In::kProjectionBias);
    state_ = Reals(inputs, In::kState);
    cell_ = Reals(inputs, In::kCell);
    state_.resize(static_cast<size_t>(node.batch * node.outputs), 0.0f);
    cell_.resize(static_cast<size_t>(node.batch * node.units), 0.0f);
    for (int gate = 0; gate < kLstmGates; ++gate) {
      gates_.push_back(NumbersOf(node, inputs, gate));
    }
  }

  // One step of batch item n; `row`: where it stands in sequences.
  void Step(int64_t n, int64_t row) {
    float* cell = cell_.data() + n * node_.units;
    Floats in = Gate(kInputGate, n, row, cell);
    const Floats forget = Gate(kForgetGate, n, row, cell);
    const Floats update = Gate(kCellGate, n, row, cell);
    for (int64_t u = 0; u < node_.units; ++u) {
      if (!node_.input_gate) in[u] = 1.0f - forget[u];
      const float kept = forget[u] * cell[u];
      const float added = in[u] * update[u];
      cell[u] = Clip(kept + added, node_.cell_clip);
    }
    Floats hidden = Gate(kOutputGate, n, row, cell);
    for (int64_t u = 0; u < node_.units; ++u) {
      hidden[u] *= Activate(node_.activation, cell[u]);
    }
    float* state = state_.data() + n * node_.outputs;
    for (int64_t p = 0; p < node_.outputs; ++p) {
      state[p] = node_.projection ? Projected(hidden, p) : hidden[p];
    }
  }

  const Floats& state() const { return state_; }
  const Floats& cell() const { return cell_; }

 private:
  Floats Gate(int gate, int64_t n, int64_t row, const float* cell) const {
    const GateNumbers& of = gates_[gate];
    Floats v(static_cast<size_t>(node_.units));
    if (of.weights.empty()) return v;
    for (int64_t u = 0; u < node_.units; ++u) {
      v[u] = AddProducts(0.0f, &input_[row * node_.width],
                         &of.weights[u * node_.width], node_.width);
      if (node_.aux_width > 0) {
        v[u] = AddProducts(v[u], &aux_[row * node_.aux_width],
                           &of.aux[u * node_.aux_width], node_.aux_width);
      }
      v[u] = AddProducts(v[u], &state_[n * node_.outputs],
                         &of.recurrent[u * node_.outputs], node_.outputs);
      if (!of.peephole.empty()) {
        v[u] = AddProduct(v[u], of.peephole[u], cell[u]);
      }
    }
    if (node_.norm) Normalize(of.norm, &v);
    for (int64_t u = 0; u < node_.units; ++u) {
      v[u] =
          Activate(gate == kCellGate ? node_.activation : node_.gate_activation,
                   v[u] + of.bias[u]);
    }
    return v;
  }

  float Projected(const Floats& hidden, int64_t p) const {
    float sum = AddProducts(0.0f, hidden.data(), &projection_[p * node_.units],
                            node_.units);
    if (!projection_bias_.empty()) sum += projection_bias_[p];
    return Clip(sum, node_.proj_clip);
  }

  const LstmNode& node_;
  Floats input_, aux_, projection_, projection_bias_, state_, cell_;
  std::vector<GateNumbers> gates_;
};

// Writes what is bound.
class Results {
 public:
  Results(std::span<const ir::MutableTensor> outputs,
          kernels::RequantizePolicy policy) {
    for (const ir::MutableTensor& output : outputs) {
      writers_.emplace_back();
      if (output.data != nullptr) writers_.back().emplace(output, policy);
    }
  }
  void Store(size_t output, int64_t first, const float* from, int64_t count) {
    if (output >= writers_.size() || !writers_[output]) return;
    for (int64_t i = 0; i < count; ++i) {
      writers_[output]->StoreReal(first + i, from[i]);
    }
  }

 private:
  std::vector<std::optional<kernels::ElementWriter>> writers_;
};

}  // namespace

float Activate(LstmActivation activation, float x) {
  switch (activation) {
    case LstmActivation::kNone:
      return x;
    case LstmActivation::kRelu:
      return x < 0.0f ? 0.0f : x;
    case LstmActivation::kRelu1:
      return Within(x, -1.0f, 1.0f);
    case LstmActivation::kRelu6:
      return Within(x, 0.0f, 6.0f);
    case LstmActivation::kTanh:
      return kernels::Tanh(x);
    case LstmActivation::kSigmoid:
      return kernels::Sigmoid(x);
    case LstmActivation::kHardSigmoid:
      return Within(std::fma(0.2f, x, 0.5f), 0.0f, 1.0f);
  }
  return x;
}

void EvalLstm(const LstmNode& node, LstmDirection direction, Inputs inputs,
              std::span<const ir::MutableTensor> outputs,
              kernels::RequantizePolicy policy) {
  Layer layer(node, inputs);
  Results results(outputs, policy);
  for (int64_t i = 0; i < node.steps; ++i) {
    const bool forward = direction == LstmDirection::kForward;
    const int64_t t = forward ? i : node.steps - 1 - i;
    for (int64_t n = 0; n < node.batch; ++n) {
      const int64_t row = t * node.step_stride() + n * node.batch_stride();
      layer.Step(n, row);
      if (!node.sequences) continue;
      results.Store(0, row * node.outputs,
                    layer.state().data() + n * node.outputs, node.outputs);
    }
  }
  const auto states = static_cast<int64_t>(layer.state().size());
  if (!node.sequences) results.Store(0, 0, layer.state().data(), states);
  results.Store(1, 0, layer.state().data(), states);
  results.Store(2, 0, layer.cell().data(),
                static_cast<int64_t>(layer.cell().size()));
}

int64_t LstmEvalBytes(const LstmNode& node) {
  const int64_t terms = node.width + node.aux_width + node.outputs;
  const int64_t gates = node.input_gate ? kLstmGates : kLstmGates - 1;
  // Biases of all gates, and what the gates give in a step.
  int64_t vectors = 2 * kLstmGates;
  if (node.norm) vectors += gates;
  if (node.peephole) vectors += gates - 1;
  const int64_t floats = node.rows() * (node.width + node.aux_width) +
                         node.units * (gates * terms + vectors) +
                         node.batch * (node.outputs + node.units) +
                         (node.projection ? node.units * node.outputs : 0);
  return static_cast<int64_t>(sizeof(float)) * floats;
}

}  // namespace tim::ops
