// Recurrent layers step by step: gates with other activations than the
// operators of sequences have, with a clip or coupled, with weights of codes,
// and sequences of several lengths.
#include <cstdint>
#include <limits>
#include <vector>

#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/recurrent/recurrent.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/split.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;

/// States and sums are float32 from step to step.
constexpr vx::DataType kFloat = vx::DataType::FLOAT32;

/// The steps of a layer, and the state between them.
class Steps {
 public:
  Steps(Node& node, const RecurrentLayer& layer) : node_(node), layer_(layer) {}

  Result<LayerResult> Run() {
    TIM_RETURN_IF_ERROR(Begin());
    std::vector<Value> sequence;
    for (const Value& input : inputs_) {
      const Value h = h_;
      const Value c = c_;
      TIM_RETURN_IF_ERROR(Step(input));
      if (!layer_.lengths.IsAbsent()) {
        const auto step = static_cast<int64_t>(sequence.size());
        TIM_ASSIGN_OR_RETURN(h_, Rested(step, h, h_, &sequence));
        if (!c.IsAbsent()) {
          TIM_ASSIGN_OR_RETURN(c_, Rested(step, c, c_, nullptr));
        }
      } else {
        sequence.push_back(h_);
      }
    }
    const vx::DataType type = layer_.x.type;
    LayerResult result;
    TIM_ASSIGN_OR_RETURN(result.h, node_.builder->Cast(h_, type));
    if (!c_.IsAbsent()) {
      TIM_ASSIGN_OR_RETURN(result.c, node_.builder->Cast(c_, type));
    }
    if (!layer_.wants_sequence) return result;
    TIM_ASSIGN_OR_RETURN(result.y, Joined(sequence));
    TIM_ASSIGN_OR_RETURN(result.y, node_.builder->Cast(result.y, type));
    return result;
  }

 private:
  Dims StateDims() const { return {layer_.batch, layer_.units}; }
  bool IsCoded() const { return !layer_.coded_w.codes.IsAbsent(); }

  /// x w + b for all steps at once, and the states before the first one.
  Status Begin() {
    Value x = layer_.x;
    if (!layer_.time_major) {
      TIM_ASSIGN_OR_RETURN(x, node_.builder->Transpose(x, {1, 0, 2}));
    }
    const int64_t rows = layer_.steps * layer_.batch;
    const int64_t columns = layer_.gates * layer_.units;
    TIM_ASSIGN_OR_RETURN(x, node_.builder->Reshape(x, {rows, x.dims[2]}));
    Value bias;
    if (!layer_.b.IsAbsent()) {
      TIM_ASSIGN_OR_RETURN(const std::vector<Value> biases,
                           Parts(node_, layer_.b, 2, {columns}));
      bias = biases[0];
      r_bias_ = biases[1];
    }
    TIM_ASSIGN_OR_RETURN(
        Value products,
        IsCoded() ? DynamicProduct(node_.builder, x, layer_.coded_w, bias)
                  : Product(x, layer_.w, bias));
    TIM_ASSIGN_OR_RETURN(
        inputs_, Parts(node_, products, layer_.steps, {layer_.batch, columns}));
    TIM_ASSIGN_OR_RETURN(h_, StateOrZeros(layer_.h));
    if (layer_.gates == 4) {
      TIM_ASSIGN_OR_RETURN(c_, StateOrZeros(layer_.c));
      if (!layer_.p.IsAbsent()) {
        TIM_ASSIGN_OR_RETURN(peepholes_,
                             Parts(node_, layer_.p, 3, {layer_.units}));
      }
    }
    if (layer_.gates != 3) return OkStatus();
    TIM_ASSIGN_OR_RETURN(
        gate_r_, Parts(node_, layer_.r, 3, {layer_.units, layer_.units}));
    gate_bias_.resize(3);
    if (r_bias_.IsAbsent()) return OkStatus();
    TIM_ASSIGN_OR_RETURN(gate_bias_, Parts(node_, r_bias_, 3, {layer_.units}));
    return OkStatus();
  }

  Result<Value> StateOrZeros(const Value& state) {
    if (!state.IsAbsent()) return state;
    const float zero = 0;
    TIM_ASSIGN_OR_RETURN(HostArray zeros,
                         FilledArray(kFloat, StateDims(), &zero));
    return node_.builder->Constant(std::move(zeros));
  }

  /// The product of the rows of `x` with those of `matrix`, plus `bias`.
  Result<Value> Product(const Value& x, const Value& matrix,
                        const Value& bias) {
    std::vector<Value> operands = {x, matrix};
    if (!bias.IsAbsent()) operands.push_back(bias);
    return node_.builder->Add<ops::FullyConnected>(
        operands, Wanted::Of(kFloat, {x.dims[0], matrix.dims[0]}), 0u);
  }

  Result<Value> Sum(const Value& a, const Value& b) {
    return Broadcasting<ops::Add>(node_, a, b, kFloat);
  }
  Result<Value> Multiplied(const Value& a, const Value& b) {
    return Broadcasting<ops::Multiply>(node_, a, b, kFloat);
  }

  /// 1 for the sequences that step `step` belongs to, else 0: {B, 1}.
  Result<Value> Reached(int64_t step) {
    const int64_t place = layer_.is_reverse ? layer_.steps - 1 - step : step;
    const Dims dims = {layer_.batch, 1};
    if (layer_.lengths.constant != nullptr) {
      TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths,
                           Integers(*layer_.lengths.constant));
      std::vector<float> factors;
      for (const int64_t length : lengths) {
        factors.push_back(place < length ? 1.0f : 0.0f);
      }
      return node_.builder->ConstantOf(factors, dims);
    }
    TIM_ASSIGN_OR_RETURN(const Value lengths,
                         node_.builder->Reshape(layer_.lengths, dims));
    TIM_ASSIGN_OR_RETURN(
        const Value reached,
        Broadcasting<ops::Less>(node_,
                                IntScalar(node_, static_cast<int32_t>(place)),
                                lengths, vx::DataType::BOOL8));
    return node_.builder->Cast(reached, kFloat);
  }

  /// The state `fresh` of sequences that step `step` belongs to, `before` of
  /// others, whose part of `sequence`, where it is not null, is 0.
  Result<Value> Rested(int64_t step, const Value& before, const Value& fresh,
                       std::vector<Value>* sequence) {
    TIM_ASSIGN_OR_RETURN(const Value reached, Reached(step));
    TIM_ASSIGN_OR_RETURN(
        const Value rests,
        Broadcasting<ops::Sub>(node_, Scalar(node_, 1), reached, kFloat));
    TIM_ASSIGN_OR_RETURN(const Value moved, Multiplied(fresh, reached));
    TIM_ASSIGN_OR_RETURN(const Value kept, Multiplied(before, rests));
    if (sequence != nullptr) sequence->push_back(moved);
    return Sum(moved, kept);
  }

  /// Activation `index` of the limited `x`.
  Result<Value> Gate(size_t index, const Value& x) {
    Value limited = x;
    if (layer_.clip > 0) {
      TIM_ASSIGN_OR_RETURN(
          limited,
          Pointwise<ops::Clip>(node_, x, kFloat, -layer_.clip, layer_.clip));
    }
    return Activated(node_, layer_.activations[index], limited);
  }

  /// The columns of `x`, a Value per gate.
  Result<std::vector<Value>> Columns(const Value& x) {
    const std::vector<uint32_t> extents(layer_.gates,
                                        static_cast<uint32_t>(layer_.units));
    const std::vector<Wanted> wanted(layer_.gates,
                                     Wanted::Of(kFloat, StateDims()));
    return node_.builder->AddAll<ops::Split>({x}, wanted, 0u, extents);
  }

  Status Step(const Value& input) {
    if (layer_.gates == 4) return LstmStep(input);
    if (layer_.gates == 3) return GruStep(input);
    TIM_ASSIGN_OR_RETURN(Value product, Product(h_, layer_.r, r_bias_));
    TIM_ASSIGN_OR_RETURN(Value sum, Sum(input, product));
    TIM_ASSIGN_OR_RETURN(h_, Gate(0, sum));
    return OkStatus();
  }

  /// `gate` plus peephole `index` times `cell`.
  Result<Value> WithPeephole(const Value& gate, size_t index,
                             const Value& cell) {
    if (peepholes_.empty()) return gate;
    TIM_ASSIGN_OR_RETURN(Value seen, Multiplied(cell, peepholes_[index]));
    return Sum(gate, seen);
  }

  Result<Value> ForgetGate(const Value& gate, const Value& input) {
    if (!layer_.couples) return Gate(0, gate);
    return Broadcasting<ops::Sub>(node_, Scalar(node_, 1), input, kFloat);
  }

  /// Gates in the order i, o, f, c; peepholes i, o, f.
  Status LstmStep(const Value& input) {
    TIM_ASSIGN_OR_RETURN(
        Value product,
        IsCoded() ? DynamicProduct(node_.builder, h_, layer_.coded_r, r_bias_)
                  : Product(h_, layer_.r, r_bias_));
    TIM_ASSIGN_OR_RETURN(Value sum, Sum(input, product));
    TIM_ASSIGN_OR_RETURN(std::vector<Value> gates, Columns(sum));
    TIM_ASSIGN_OR_RETURN(gates[0], WithPeephole(gates[0], 0, c_));
    TIM_ASSIGN_OR_RETURN(gates[2], WithPeephole(gates[2], 2, c_));
    TIM_ASSIGN_OR_RETURN(Value i, Gate(0, gates[0]));
    TIM_ASSIGN_OR_RETURN(Value f, ForgetGate(gates[2], i));
    TIM_ASSIGN_OR_RETURN(Value g, Gate(1, gates[3]));
    TIM_ASSIGN_OR_RETURN(Value kept, Multiplied(f, c_));
    TIM_ASSIGN_OR_RETURN(Value added, Multiplied(i, g));
    TIM_ASSIGN_OR_RETURN(c_, Sum(kept, added));
    TIM_ASSIGN_OR_RETURN(gates[1], WithPeephole(gates[1], 1, c_));
    TIM_ASSIGN_OR_RETURN(Value o, Gate(0, gates[1]));
    TIM_ASSIGN_OR_RETURN(Value shown, Gate(2, c_));
    TIM_ASSIGN_OR_RETURN(h_, Multiplied(o, shown));
    return OkStatus();
  }

  /// Gates in the order z, r, h.
  Status GruStep(const Value& input) {
    TIM_ASSIGN_OR_RETURN(std::vector<Value> gates, Columns(input));
    for (size_t gate = 0; gate < 2; ++gate) {
      TIM_ASSIGN_OR_RETURN(Value product,
                           Product(h_, gate_r_[gate], gate_bias_[gate]));
      TIM_ASSIGN_OR_RETURN(gates[gate], Sum(gates[gate], product));
      TIM_ASSIGN_OR_RETURN(gates[gate], Gate(0, gates[gate]));
    }
    Value product;
    if (layer_.resets_after) {
      TIM_ASSIGN_OR_RETURN(product, Product(h_, gate_r_[2], gate_bias_[2]));
      TIM_ASSIGN_OR_RETURN(product, Multiplied(gates[1], product));
    } else {
      TIM_ASSIGN_OR_RETURN(Value reset, Multiplied(gates[1], h_));
      TIM_ASSIGN_OR_RETURN(product, Product(reset, gate_r_[2], gate_bias_[2]));
    }
    TIM_ASSIGN_OR_RETURN(Value sum, Sum(gates[2], product));
    TIM_ASSIGN_OR_RETURN(Value fresh, Gate(1, sum));
    TIM_ASSIGN_OR_RETURN(
        Value share,
        Broadcasting<ops::Sub>(node_, Scalar(node_, 1), gates[0], kFloat));
    TIM_ASSIGN_OR_RETURN(fresh, Multiplied(share, fresh));
    TIM_ASSIGN_OR_RETURN(Value kept, Multiplied(gates[0], h_));
    TIM_ASSIGN_OR_RETURN(h_, Sum(fresh, kept));
    return OkStatus();
  }

  /// The states of all steps, {T, B, H} or {B, T, H}.
  Result<Value> Joined(const std::vector<Value>& states) {
    const int64_t steps = layer_.steps;
    const int64_t batch = layer_.batch;
    // Rows of steps lie one after the other, or side by side.
    const Dims rows = layer_.time_major ? Dims{steps * batch, layer_.units}
                                        : Dims{batch, steps * layer_.units};
    const uint32_t axis = layer_.time_major ? 1 : 0;
    TIM_ASSIGN_OR_RETURN(
        Value joined,
        node_.builder->Add<ops::Concat>(states, Wanted::Of(kFloat, rows), axis,
                                        static_cast<int>(states.size())));
    return node_.builder->Reshape(
        joined, layer_.time_major ? Dims{steps, batch, layer_.units}
                                  : Dims{batch, steps, layer_.units});
  }

  Node& node_;
  const RecurrentLayer& layer_;
  std::vector<Value> inputs_;  ///< {B, G * H}, a Value per step.
  Value r_bias_;
  std::vector<Value> gate_r_;     ///< GRU's r, by gate.
  std::vector<Value> gate_bias_;  ///< GRU's r_bias_, by gate.
  std::vector<Value> peepholes_;  ///< Empty: none.
  Value h_;
  Value c_;
};

}  // namespace

Result<LayerResult> UnrolledLayer(Node& node, const RecurrentLayer& layer) {
  if (layer.steps > kMostUnrolledSteps) {
    return Unimplemented(
        "a clip, coupled gates, lengths, activations other than the usual "
        "ones, or "
        "codes, in ",
        layer.steps, " steps; up to ", kMostUnrolledSteps, " are unrolled");
  }
  return Steps(node, layer).Run();
}

}  // namespace tim::models::onnx
