// Blocks of space to batches.
#ifndef TIM_VX_OPS_SPACE2BATCH_H_
#define TIM_VX_OPS_SPACE2BATCH_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Pads with the real value 0 and moves blocks of space to the batch: with
/// bw, bh = block_size
///   out(x, y, c, (by * bw + bx) * N + n) =
///       padded(x * bw + bx, y * bh + by, c, n).
///
/// Input 0: [W, H, C, N], or [W, C, N] with bw alone; any type.  Output 0:
/// [(W + left + right) / bw, (H + top + bottom) / bh, C, N * bw * bh]; another
/// type or quantization converts.
/// - block_size: {bw, bh}, of width first; rank 3 reads bw alone.
/// - pad: {left, right, top, bottom}; rank 3 reads the first two.
/// - layout: tim::transform::LayoutInference alone reads it.
/// Errors: Compile() fails on other ranks and where a padded extent is no
/// multiple of the block.
/// Source: TFLite SPACE_TO_BATCH_ND (which names height first).
class Space2Batch : public BuiltinOpOf<Space2Batch> {
 public:
  static const char* OpName() { return "Space2Batch"; }
  Space2Batch(Graph* graph, const std::vector<int>& block_size,
              const std::vector<int>& pad, DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(
            graph,
            {{"block_size", block_size}, {"pad", pad}, {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SPACE2BATCH_H_
