// Product of matrices.
#ifndef TIM_VX_OPS_MATMUL_H_
#define TIM_VX_OPS_MATMUL_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out[n, m, batch] = sum over k of A[k, m, batch] * B[n, k, batch].
///
/// Input 0, A: [K, M, batch...].  Input 1, B: [N, K, batch...].  Batch extents
/// broadcast: missing or 1 stretches.  A of rank 1 is one row, B of rank 1 one
/// column; their dimension is dropped from the result.
/// Output 0: [N, M, batch...].
/// Types: FLOAT32, FLOAT16, INT32 or quantized.
///
/// - transpose_a: A is stored [M, K, batch...].
/// - transpose_b: B is stored [K, N, batch...].
/// - adjoint_a, adjoint_b: without effect.
/// Errors: Compile() fails where K or the batches do not fit, on transposed
/// operands of rank 1, and on other types.
/// Source: ONNX MatMul-13, TFLite BATCH_MATMUL.
class Matmul : public BuiltinOpOf<Matmul> {
 public:
  static const char* OpName() { return "Matmul"; }
  explicit Matmul(Graph* graph, bool transpose_a = false,
                  bool transpose_b = false, bool adjoint_a = false,
                  bool adjoint_b = false)
      : BuiltinOpOf(graph, {{"transpose_a", transpose_a},
                            {"transpose_b", transpose_b},
                            {"adjoint_a", adjoint_a},
                            {"adjoint_b", adjoint_b}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_MATMUL_H_
