// Gather: slices chosen by index.
#ifndef TIM_VX_OPS_GATHER_H_
#define TIM_VX_OPS_GATHER_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Slices along one axis, in the order that the indices say.
///
/// out(i < axis, j, i > axis, b) = input(i < axis, indices(j, b), i > axis, b),
/// where b counts the batch, the slowest dimensions of both inputs.
/// Input 0: any type without per-channel quantization, rank >= 1.
/// Input 1, the indices: integers (of float and quantized tensors the real
///        value towards zero counts), any rank; a scalar (TensorSpec's
///        SetScalar) takes the axis away.  A negative index adds the extent of
///        the axis; what is outside even so becomes the nearest one.
/// Output 0: extents input[0 .. axis) + indices without its batch +
///        input(axis .. end); an input of another quantization is requantized
///        to the output's.
/// - axis: 0 = fastest-varying dimension; negative ones count from the end.
/// - batch_dims: how many of the slowest dimensions are the batch.
/// Errors: Compile() fails where axis is outside of the rank or in the batch,
/// or where the batches differ.
/// Source: ONNX Gather-13, TFLite GATHER.
class Gather : public BuiltinOpOf<Gather> {
 public:
  static const char* OpName() { return "Gather"; }
  Gather(Graph* graph, int axis, int batch_dims = 0)
      : BuiltinOpOf(graph, {{"axis", axis}, {"batch_dims", batch_dims}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_GATHER_H_
