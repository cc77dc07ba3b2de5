// Whether a description is sound by itself.
#ifndef TIM_IR_VERIFY_DESC_CHECK_H_
#define TIM_IR_VERIFY_DESC_CHECK_H_

#include "base/status.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

/// Rank and extents, those that are known; kInvalidArgument.
Status CheckShape(const Shape& shape);

/// Scales and zero points of an integer type: their values, and that they are
/// as many as the axis has indices; kInvalidArgument.
Status CheckQuantization(const TensorDesc& desc);

/// A description that a plan may have: every field is one of its values, type
/// and extents are known, the layout fits.  Returns its bytes.
Result<int64_t> CheckDesc(const TensorDesc& desc);

}  // namespace tim::ir

#endif  // TIM_IR_VERIFY_DESC_CHECK_H_
