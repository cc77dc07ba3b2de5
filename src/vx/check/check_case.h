// A case that the check of an operator tries: tensors and local sizes.
#ifndef TIM_VX_CHECK_CHECK_CASE_H_
#define TIM_VX_CHECK_CHECK_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tim/vx/custom_op_check.h"

namespace tim::vx::check {

struct Case {
  uint32_t number = 0;
  uint64_t seed = 0;  ///< Seed of the values.
  /// Small whole numbers in order, where the range has any.
  bool simple = false;
  Operands operands;
  /// Most items of a work-group, in place of the operator's local sizes; 0:
  /// those.
  size_t group = 0;

  bool HasInput(size_t i) const {
    return operands.inputs[i].datatype_ != DataType::UNKNOWN;
  }
};

/// Whether the ranges are possible; the reason says what to change.
Status CheckRanges(const CheckedOperator& checked, const CheckOptions& options);

/// The case of this number: 0 has the least extents.  Fails where
/// checked.fit() refuses whatever is drawn, or throws.
Result<Case> DrawCase(const CheckedOperator& checked,
                      const CheckOptions& options, uint32_t number);

/// `operands` made to fit; false where they do not.  What fit() throws is a
/// failure.
Result<bool> Fit(const CheckedOperator& checked, Operands* operands);

/// The content of every input, empty of absent ones.
Result<std::vector<std::vector<std::byte>>> ValuesOf(
    const CheckedOperator& checked, const Case& tried);

/// The content of every output before a run, empty of those that are no
/// VARIABLE.
Result<std::vector<std::vector<std::byte>>> StatesOf(
    const CheckedOperator& checked, const Case& tried,
    const std::vector<TensorSpec>& outputs);

/// The attribute of an output in a graph that is run.
TensorAttribute AttributeOf(const OutputRange& range);

/// The extents of dimension `i`.
ExtentRange ExtentsOf(const InputRange& range, size_t i);

/// Work-group sizes for `global`: in each dimension the largest divisor that
/// keeps the product within `group`.
std::vector<size_t> LocalSizesFor(const std::vector<size_t>& global,
                                  size_t group);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_CHECK_CASE_H_
