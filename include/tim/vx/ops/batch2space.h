// Blocks of batches to space.
#ifndef TIM_VX_OPS_BATCH2SPACE_H_
#define TIM_VX_OPS_BATCH2SPACE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Takes blocks of space from consecutive groups of the batch, and crops:
/// with bw, bh = block_size, No = N / (bw * bh), x = w + left, y = h + top
///   out(w, h, c, n) =
///       in(x / bw, y / bh, c, ((y % bh) * bw + x % bw) * No + n).
///
/// Input 0: [W, H, C, N], or [W, C, N] with bw alone; any type.  Output 0:
/// [W * bw - left - right, H * bh - top - bottom, C, No]; another type or
/// quantization converts.
/// - block_size: {bw, bh}, of width first; rank 3 reads bw alone.
/// - crop: {left, right, top, bottom}; rank 3 reads the first two.
/// - layout: tim::transform::LayoutInference alone reads it.
/// Errors: Compile() fails on other ranks, where N is no multiple of the
/// block, and where nothing is left.
/// Source: TFLite BATCH_TO_SPACE_ND (which names height first).
class Batch2Space : public BuiltinOpOf<Batch2Space> {
 public:
  static const char* OpName() { return "Batch2Space"; }
  Batch2Space(Graph* graph, const std::vector<int>& block_size,
              const std::vector<int>& crop,
              DataLayout layout = DataLayout::WHCN)
      : BuiltinOpOf(
            graph,
            {{"block_size", block_size}, {"crop", crop}, {"layout", layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BATCH2SPACE_H_
