// What operators share that go through a sequence step by step: where its
// vectors stand, activations, products with weights.
//
// Every operand as float32 real values; every operation rounds to float32:
//   product(x)(u) = (sum over k of x(k) * weights(k, u)) + bias(u)
// in the order of k, from 0; a missing bias is 0 (ops/elements/product_sum.h).
// States stay float32 from step to step.  Activations are those of
// kernels/formulas.
#ifndef TIM_OPS_RECURRENT_SEQUENCE_H_
#define TIM_OPS_RECURRENT_SEQUENCE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"

namespace tim::ops {

/// Numbers of the public enums `ActivationType` of GRU and RNN.
enum class StepActivation : uint8_t {
  kNone = 0,
  kRelu = 1,
  kRelu1 = 2,
  kRelu6 = 3,
  kTanh = 4,
  kSigmoid = 6,
  kHardSigmoid = 31
};

/// A formula of kernels/formulas: MACRO(T, x, a, b) and the same bits in C++.
struct StepFunction {
  StepActivation activation = StepActivation::kNone;
  const char* name = nullptr;  ///< "tanh"
  const char* macro = nullptr;
  const char* header = nullptr;
  float (*apply)(float x) = nullptr;
  const char* a = "0.0f";
  const char* b = "0.0f";
};
/// kNone: x; kHardSigmoid: 0.2 x + 0.5 within 0 and 1; Relu1 and Relu6 are x
/// within -1 and 1, 0 and 6.
const StepFunction& StepFunctionOf(StepActivation activation);

/// An attribute whose values are the activations of a public enum.
ir::AttributeSpec StepActivationSpec(
    std::string name, std::optional<StepActivation> default_value,
    std::initializer_list<StepActivation> without = {});

/// A tensor [width, batch, steps] (time-major), [width, steps, batch], or, of
/// one step, [width, batch].  Its rows are vectors of `width` elements.
struct SequenceShape {
  int64_t width = ir::kUnknownDim;
  int64_t batch = ir::kUnknownDim;
  int64_t steps = ir::kUnknownDim;
  bool time_major = false;

  int64_t rows() const { return batch * steps; }
  /// Rows between neighbours.
  int64_t batch_stride() const { return time_major ? 1 : steps; }
  int64_t step_stride() const { return time_major ? batch : 1; }
  int64_t Row(int64_t n, int64_t step) const {
    return n * batch_stride() + step * step_stride();
  }
};
/// Of a shape of rank 2 (one step), 3 or unknown.
SequenceShape SequenceShapeOf(const ir::Shape& shape, bool time_major);
/// The same with `width` elements in a row.
ir::Shape ShapeOf(const SequenceShape& sequence, int64_t width);

// ---- rules of operands, for infer_shapes; what is unknown passes ------------

/// Input `index` has this rank.
Status CheckRank(const ir::InferContext& context, int index, int rank);
/// Input `index`, where it is bound, is a matrix [depth, units].
Status CheckMatrix(const ir::InferContext& context, int index, int64_t depth,
                   int64_t units);
/// Input `index`, where it is bound, has as many elements as `shape`.
Status CheckElements(const ir::InferContext& context, int index,
                     const ir::Shape& shape);
/// Extent 1 of the first of these matrices of which it is known.
int64_t UnitsOf(const ir::InferContext& context,
                std::initializer_list<int> matrices);
/// Output `index` of `context`, where there is one, gets the shape and, where
/// it has none, the type of input 0.
void SetOutput(ir::InferContext& context, int index, const ir::Shape& shape);
/// Whether an output is bound.
bool HasOutput(const ir::Node& node, int index);

/// For `check`: all operands are numbers; outputs have one scale.
Status CheckSequenceTypes(const ir::NodeView& view);

// ---- eval -------------------------------------------------------------------

/// All real values of input `index`; none where it is absent.
std::vector<float> InputReals(const ir::EvalContext& context, int index);

/// Weights [depth, units] and bias of inputs; -1: none.
class StepMatrix {
 public:
  StepMatrix(const ir::EvalContext& context, int weights, int bias);
  int64_t depth() const { return depth_; }
  int64_t units() const { return units_; }
  /// See above.
  float Product(const float* x, int64_t unit) const;

 private:
  int64_t depth_ = 0;
  int64_t units_ = 0;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

/// Output `index`, or nothing where it is absent.
class StepWriter {
 public:
  StepWriter(const ir::EvalContext& context, int index);
  /// `values` from element `begin` on.
  void Store(int64_t begin, const std::vector<float>& values);

 private:
  std::optional<kernels::ElementWriter> writer_;
};

/// Bytes of the real values of all inputs.
int64_t InputRealBytes(const ir::NodeView& view);

/// All operands read or written once, and `flops` operations.
ir::ComputeEstimate SequenceEstimate(const ir::NodeView& view, double flops);

}  // namespace tim::ops

#endif  // TIM_OPS_RECURRENT_SEQUENCE_H_
