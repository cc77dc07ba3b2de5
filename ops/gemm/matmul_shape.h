// Extents and strides of Matmul.
#ifndef TIM_OPS_GEMM_MATMUL_SHAPE_H_
#define TIM_OPS_GEMM_MATMUL_SHAPE_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"

namespace tim::ops {

/// out(n, m) = sum over k of a(k, m) * b(n, k), for each batch; element (k, m)
/// of a is at batch.a + m * a_row + k * a_k.
struct MatmulShape {
  int64_t columns = 1;  ///< n
  int64_t rows = 1;     ///< m
  int64_t depth = 1;    ///< k
  int64_t a_row = 0;
  int64_t a_k = 0;
  int64_t b_column = 0;
  int64_t b_k = 0;
  struct Batch {
    int64_t a = 0;  ///< First elements.
    int64_t b = 0;
  };
  std::vector<Batch> batches;
};

/// From static shapes that inference has accepted.
MatmulShape MatmulShapeOf(const ir::AttributeMap& attributes,
                          const ir::Shape& a, const ir::Shape& b);

/// Shape of the result, of rank 0 for two 1-D operands.  Works with unknown
/// ranks and extents.
Result<ir::Shape> InferMatmulShape(const ir::AttributeMap& attributes,
                                   const ir::Shape& a, const ir::Shape& b);

ir::ComputeEstimate EstimateMatmul(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_MATMUL_SHAPE_H_
