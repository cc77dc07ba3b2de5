// EmbeddingLookup: rows of a table.
#ifndef TIM_VX_OPS_EMBEDDING_LOOKUP_H_
#define TIM_VX_OPS_EMBEDDING_LOOKUP_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(..., n) = table(..., indices(n)).
///
/// Input 0, the indices [N]: integers (of float and quantized tensors the real
///        value towards zero counts); what is outside of the table becomes the
///        nearest index.
/// Input 1, the table [..., rows]: any type without per-channel quantization,
///        rank >= 1.
/// Output 0: [..., N]; a table of another type or quantization is converted to
///        the output's.
/// Errors: Compile() fails on indices of another rank than 1.
/// Source: TFLite EMBEDDING_LOOKUP; ONNX Gather-13 along the slowest axis.
class EmbeddingLookup : public BuiltinOpOf<EmbeddingLookup> {
 public:
  static const char* OpName() { return "EmbeddingLookup"; }
  explicit EmbeddingLookup(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_EMBEDDING_LOOKUP_H_
