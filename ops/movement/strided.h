// Elements of strided memory, one run of equal steps after the other.
#ifndef TIM_OPS_MOVEMENT_STRIDED_H_
#define TIM_OPS_MOVEMENT_STRIDED_H_

#include <cstdint>
#include <vector>

#include "ir/op_schema.h"
#include "ir/tensor_desc.h"

namespace tim::ops {

/// A dimension of a strided tensor; its elements lie `stride` apart.
struct StridedDim {
  int64_t extent = 1;
  int64_t stride = 0;
  bool operator==(const StridedDim&) const = default;
};

/// The fewest dimensions, fastest first, that step through a strided tensor in
/// the order of the dense one; none where it has one element.
std::vector<StridedDim> MergedDims(const ir::TensorDesc& strided);

/// Copies the elements of a tensor to or from a dense one; one of the two is
/// strided, and what lies between its elements stays.  No 4-bit types.
void CopyStrided(const ir::ConstTensor& input, const ir::MutableTensor& output);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_STRIDED_H_
