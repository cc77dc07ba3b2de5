// Svdf: a layer of filters of rank 1 over features and time.
#ifndef TIM_VX_OPS_SVDF_H_
#define TIM_VX_OPS_SVDF_H_

#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// One step of a layer of F = rank * num_units filters, each with a memory of M
/// values, the oldest first:
///   next(m, f) = state(m + 1, f) for m < M - 1
///   next(M - 1, f) = sum over i of in(i) * feature(i, f)
///   out(u) = bias(u) + sum over r < rank of
///            sum over m of next(m, f) * time(m, f), f = u * rank + r
///
/// Input 0: [I, B].  Input 1, the state: [M * F, B], M being fastest.
/// Input 2, feature: [I, F].  Input 3, time: [M, F].
/// Input 4, the bias: [num_units], optional.
/// Output 0: [num_units, B].  Output 1, the next state (optional): [M * F, B].
/// Types: float types and integers, quantized or not, each tensor its own; what
/// is computed is FLOAT32.
///
/// - spectrogram_length: has no effect: M is that of input 3.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: TFLite and NNAPI SVDF without an activation.
class Svdf : public BuiltinOpOf<Svdf> {
 public:
  static const char* OpName() { return "Svdf"; }
  Svdf(Graph* graph, int32_t rank, int32_t num_units,
       int32_t spectrogram_length)
      : BuiltinOpOf(graph, {{"rank", rank},
                            {"num_units", num_units},
                            {"spectrogram_length", spectrogram_length}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SVDF_H_
