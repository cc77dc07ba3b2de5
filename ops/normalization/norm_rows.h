// Operators that normalise rows of a tensor, each by numbers of its own: what
// their eval and kernels share.
//
// A row has x0 and further elements, `count` in all; sums are kernels::LaneSum,
// every other step is rounded to float32 in the order written here.
//   moments      c = x0 + sum(x - x0) * (1 / count)
//                s = sum(x - c) * (1 / count), the rest of the mean
//                v = max(sum((x - c)^2) * (1 / count) - s * s, 0)
//                y = ((x - c) - s) * (1 / sqrt(v + value)) * gamma + beta
//   L2           y = x * (1 / sqrt(max(sum(x * x), value)))
//   RMS          y = x * (1 / sqrt(sum(x * x) * (1 / count) + value)) * gamma
//   log-softmax  c = the element whose multiple by value is the greatest
//                y = (x - c) * value - log2(sum(e^((x - c) * value))) * ln(2)
// Square roots and reciprocals are correctly rounded.  In rows of equal
// elements x - c and s are exactly 0.
#ifndef TIM_OPS_NORMALIZATION_NORM_ROWS_H_
#define TIM_OPS_NORMALIZATION_NORM_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/elements/axes.h"

namespace tim::ops {

enum class RowNorm : uint8_t { kMoments, kL2, kLogSoftmax, kRms };

/// A dense tensor as rows [inner, count, outer] along `count`; beta and gamma,
/// where the operator has them, as inputs 1 and 2.  RMS has no beta: gamma is
/// input 1, and stands in the place of beta too.
struct NormRows {
  int64_t inner = 1;
  int64_t count = 1;
  int64_t outer = 1;
  float value = 0;  ///< Of the formula.
  /// Distances of neighbours of a row in beta and gamma; none: no such inputs.
  std::vector<int64_t> steps = {};
  /// The axes that are not of the row; strides of beta and gamma.
  std::vector<Axis> axes = {};

  int64_t rows() const { return inner * outer; }
};

/// The rows along axes [first, last) of `dims`.  `strides`: none, or for beta
/// and gamma along every axis, where those of the axes of a row continue each
/// other.
NormRows RowsOf(const std::vector<int64_t>& dims, int first, int last,
                float value,
                const std::vector<std::vector<int64_t>>& strides = {});

/// Elements of beta (0) or gamma (1) that belong to the first element of a row.
int64_t ParameterIndex(const NormRows& rows, int64_t row, int parameter);

/// An operator of this family.
struct RowNormOp {
  std::string name;  ///< Of the schema: "L2Normalization".
  RowNorm kind = RowNorm::kMoments;
  /// For a node whose inputs have static shapes.
  std::function<Result<NormRows>(const ir::NodeView&)> rows = nullptr;
  /// Where the input is [W, H, C, N], rows are its planes [W, H], and beta and
  /// gamma have an element for each channel.
  bool planes = false;
  /// A kernel of an Add takes the operator, too.
  bool sums = false;
};

/// `schema`, completed by check (numbers in and out, float types as beta and
/// gamma), eval and estimates, and its kernels.
void AddRowNorm(const RowNormOp& op, ir::OpSchema schema,
                ir::OpRegistry& registry);

/// Roughly; operands are read once.
ir::ComputeEstimate RowNormEstimate(RowNorm kind, const ir::NodeView& view);

/// A work-item makes rows alone, in vectors, for every device:
/// "l2normalization".
ir::KernelDef RowNormKernel(const RowNormOp& op);
/// Work-items of GPUs share a row: "l2normalization_simt".
ir::KernelDef RowNormSimtKernel(const RowNormOp& op);
/// An Add and the operator behind it, in float32: "l2normalization_sum".
ir::KernelDef RowNormSumKernel(const RowNormOp& op);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_NORM_ROWS_H_
