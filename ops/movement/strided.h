// Elements of strided memory, one run of equal steps after the other.
#ifndef TIM_OPS_MOVEMENT_STRIDED_H_
#define TIM_OPS_MOVEMENT_STRIDED_H_

#include <cstdint>
#include <span>
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

/// Calls visit(position) for each element of `dims`, fastest first, in the
/// order of the dense tensor.
template <typename Visit>
void VisitStrided(std::span<const StridedDim> dims, const Visit& visit,
                  int64_t position = 0) {
  if (dims.empty()) return visit(position);
  for (int64_t i = 0; i < dims.back().extent; ++i) {
    VisitStrided(dims.first(dims.size() - 1), visit,
                 position + i * dims.back().stride);
  }
}

/// Copies the elements of a tensor to or from a dense one; one of the two is
/// strided, and what lies between its elements stays.  No 4-bit types.
void CopyStrided(const ir::ConstTensor& input, const ir::MutableTensor& output);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_STRIDED_H_
