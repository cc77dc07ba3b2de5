// Repetition along axes.
#ifndef TIM_VX_OPS_BROADCAST_H_
#define TIM_VX_OPS_BROADCAST_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

#define BROADCAST_OPVERSION 1

namespace tim {
namespace vx {
namespace ops {

/// Repeats the input to a shape.
///
/// Input 0: any type.  Output 0: without `dimensions` the broadcast of input
/// and shape, aligned at dimension 0: extents are equal or one of them is 1.
/// With `dimensions`, dimension k of the input is dimension dimensions[k] of
/// the output, and the others repeat:
///   out(i) = in(i[dimensions[0]], i[dimensions[1]], ...).
/// Another type or quantization converts.
/// - shape: extents >= 1; 1 keeps the input's.
/// - dimensions: one per dimension of the input, each once; negative ones count
///        from shape's end.
/// Errors: Compile() fails where extents do not broadcast and where dimensions
/// do not fit.
/// Source: ONNX Expand-13, TFLite BROADCAST_TO, StableHLO broadcast_in_dim.
class Broadcast : public BuiltinOpOf<Broadcast> {
 public:
  static const char* OpName() { return "Broadcast"; }
  Broadcast(Graph* graph, const std::vector<uint32_t>& shape,
            const std::vector<int32_t>& dimensions = {})
      : BuiltinOpOf(graph, {{"shape", shape}, {"dimensions", dimensions}}) {}
  Broadcast(Graph* graph, const std::vector<int>& shape,
            const std::vector<int32_t>& dimensions = {})
      : BuiltinOpOf(graph, {{"shape", shape}, {"dimensions", dimensions}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BROADCAST_H_
