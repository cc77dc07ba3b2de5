#include "ops/normalization/norm_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "kernels/exact_exp.h"
#include "kernels/exact_log2.h"
#include "kernels/lane_sum.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

constexpr float kLn2 = 0x1.62e430p-1f;

// The formulas' c, s (or the logarithm) and the factor of x - c.
struct RowNumbers {
  float center = 0;
  float rest = 0;
  float factor = 1;
};

// The real values of a row, x(0) to x(count - 1).
struct Row {
  const kernels::ElementReader& input;
  int64_t first;
  int64_t step;
  int64_t count;

  int64_t Index(int64_t k) const { return first + k * step; }
  float operator()(int64_t k) const { return input.Real(Index(k)); }

  template <typename Term>
  float Sum(const Term& term) const {
    kernels::LaneSum sum;
    for (int64_t k = 0; k < count; ++k) sum.Add(k, term((*this)(k)));
    return sum.Total();
  }
};

RowNumbers MomentsOf(const Row& x, float value) {
  const float inverse = 1.0f / static_cast<float>(x.count);
  const float first = x(0);
  const float total = x.Sum([&](float v) { return v - first; });
  const float center = first + total * inverse;
  const float rest = x.Sum([&](float v) { return v - center; }) * inverse;
  const float squares = x.Sum([&](float v) {
    const float d = v - center;
    return d * d;
  });
  const float difference = squares * inverse - rest * rest;
  const float variance = difference < 0.0f ? 0.0f : difference;
  return {center, rest, 1.0f / std::sqrt(variance + value)};
}

RowNumbers L2Of(const Row& x, float value) {
  const float squares = x.Sum([](float v) { return v * v; });
  return {.factor = 1.0f / std::sqrt(squares < value ? value : squares)};
}

RowNumbers RmsOf(const Row& x, float value) {
  const float inverse = 1.0f / static_cast<float>(x.count);
  const float squares = x.Sum([](float v) { return v * v; });
  return {.factor = 1.0f / std::sqrt(squares * inverse + value)};
}

RowNumbers LogSoftmaxOf(const Row& x, float value) {
  const float sign = value < 0.0f ? -1.0f : 1.0f;
  float largest = x(0) * sign;
  for (int64_t k = 1; k < x.count; ++k) {
    const float v = x(k) * sign;
    if (v > largest) largest = v;
  }
  const float center = largest * sign;
  const float sum =
      x.Sum([&](float v) { return kernels::Exp((v - center) * value); });
  return {center, kernels::Log2(sum) * kLn2, value};
}

RowNumbers NumbersOf(RowNorm kind, const Row& x, float value) {
  switch (kind) {
    case RowNorm::kMoments:
      return MomentsOf(x, value);
    case RowNorm::kL2:
      return L2Of(x, value);
    case RowNorm::kLogSoftmax:
      return LogSoftmaxOf(x, value);
    case RowNorm::kRms:
      return RmsOf(x, value);
  }
  return {};
}

float Normalized(RowNorm kind, const RowNumbers& numbers, float x) {
  if (kind == RowNorm::kL2 || kind == RowNorm::kRms) return x * numbers.factor;
  const float d = x - numbers.center;
  return kind == RowNorm::kMoments ? (d - numbers.rest) * numbers.factor
                                   : d * numbers.factor - numbers.rest;
}

// gamma * y + beta of a row's elements, without a beta where there is none; y
// where there is neither.
class Affine {
 public:
  Affine(const NormRows& rows, const ir::EvalContext& context) : rows_(rows) {
    if (rows.steps.empty()) return;
    for (size_t input = 1; input < context.inputs.size(); ++input) {
      parameters_.emplace_back(context.inputs[input]);
    }
  }
  void SetRow(int64_t row) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      first_[i] = ParameterIndex(rows_, row, static_cast<int>(i));
    }
  }
  float operator()(float y, int64_t k) const {
    if (parameters_.empty()) return y;
    if (parameters_.size() == 1) {
      return y * parameters_[0].Real(first_[0] + k * rows_.steps[0]);
    }
    const float beta = parameters_[0].Real(first_[0] + k * rows_.steps[0]);
    const float gamma = parameters_[1].Real(first_[1] + k * rows_.steps[1]);
    return y * gamma + beta;
  }

 private:
  const NormRows& rows_;
  std::vector<kernels::ElementReader> parameters_;
  int64_t first_[2] = {0, 0};
};

Status EvalRowNorm(const RowNormOp& op, const ir::EvalContext& context) {
  std::vector<const ir::TensorDesc*> inputs;
  for (const ir::ConstTensor& input : context.inputs) {
    inputs.push_back(input.desc);
  }
  TIM_ASSIGN_OR_RETURN(const NormRows rows,
                       op.rows({context.node, inputs, {}}));
  const kernels::ElementReader input(context.inputs[0]);
  kernels::ElementWriter output(context.outputs[0]);
  Affine affine(rows, context);
  if (rows.count == 0) return OkStatus();
  for (int64_t r = 0; r < rows.rows(); ++r) {
    const int64_t first =
        r / rows.inner * rows.inner * rows.count + r % rows.inner;
    const Row row{input, first, rows.inner, rows.count};
    const RowNumbers numbers = NumbersOf(op.kind, row, rows.value);
    affine.SetRow(r);
    for (int64_t k = 0; k < rows.count; ++k) {
      output.StoreReal(row.Index(k),
                       affine(Normalized(op.kind, numbers, row(k)), k));
    }
  }
  return OkStatus();
}

Status CheckRowNormTypes(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  if (view.inputs.size() == 2 && view.inputs[1] != nullptr) {
    TIM_RETURN_IF_ERROR(CheckFloatInput(view, 1, "gamma"));
  } else if (view.inputs.size() > 2) {
    TIM_RETURN_IF_ERROR(CheckFloatInput(view, 1, "beta"));
    TIM_RETURN_IF_ERROR(CheckFloatInput(view, 2, "gamma"));
  }
  return CheckNumber(view, Operand::kOutput, 0);
}

}  // namespace

NormRows RowsOf(const std::vector<int64_t>& dims, int first, int last,
                float value, const std::vector<std::vector<int64_t>>& strides) {
  NormRows out{.value = value};
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> of_rows(strides.size());
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    const bool inside = axis >= first && axis < last;
    (inside ? out.count : axis < first ? out.inner : out.outer) *= dims[axis];
    if (inside) continue;
    extents.push_back(dims[axis]);
    for (size_t i = 0; i < strides.size(); ++i) {
      of_rows[i].push_back(strides[i][axis]);
    }
  }
  for (const auto& parameter : strides) out.steps.push_back(parameter[first]);
  out.axes = JoinAxes(extents, of_rows);
  return out;
}

int64_t ParameterIndex(const NormRows& rows, int64_t row, int parameter) {
  int64_t index = 0;
  for (const Axis& axis : rows.axes) {
    index += row % axis.extent * axis.strides[parameter];
    row /= axis.extent;
  }
  return index;
}

ir::ComputeEstimate RowNormEstimate(RowNorm kind, const ir::NodeView& view) {
  constexpr double kFlops[] = {7, 3, 55, 4};  // e^x: about 50
  return ElementwiseEstimate(view, kFlops[static_cast<int>(kind)]);
}

void AddRowNorm(const RowNormOp& op, ir::OpSchema schema,
                ir::OpRegistry& registry) {
  schema.check = CheckRowNormTypes;
  schema.doubts = FirstCodes;
  schema.eval = [op](const ir::EvalContext& context) {
    return EvalRowNorm(op, context);
  };
  schema.memory_estimate = NoScratch;
  schema.compute_estimate = [kind = op.kind](const ir::NodeView& view) {
    return RowNormEstimate(kind, view);
  };
  registry.Add(std::move(schema));
  registry.Add(RowNormKernel(op));
  registry.Add(RowNormSimtKernel(op));
  if (op.sums) registry.Add(RowNormSumKernel(op));
}

}  // namespace tim::ops
