// A tensor repeated.
#ifndef TIM_VX_OPS_TILE_H_
#define TIM_VX_OPS_TILE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Repeats the whole input along each dimension: out(o) = in(o % extents).
///
/// Input 0: any type.  Output 0: extents in[i] * multiples[i]; another type or
/// quantization converts.
/// - multiples: one per dimension, >= 1, 0 = fastest-varying dimension.
/// Errors: Compile() fails where there is not one per dimension.
/// Source: ONNX Tile-13, TFLite TILE.
class Tile : public BuiltinOpOf<Tile> {
 public:
  static const char* OpName() { return "Tile"; }
  Tile(Graph* graph, const std::vector<int32_t>& multiples)
      : BuiltinOpOf(graph, {{"multiples", multiples}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_TILE_H_
