// Nodes that are too large for one launch, as several.
#ifndef TIM_COMPILER_PIECES_H_
#define TIM_COMPILER_PIECES_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/kernel_def.h"

namespace tim::compiler {

/// A node on parts of its operands.
struct NodePiece {
  ir::KernelNode view;  ///< With the extents of the parts, dense.
  /// Where the parts begin in the operands, in bytes; -1 for an operand that
  /// the piece has as a whole.
  std::vector<int64_t> inputs;
  std::vector<int64_t> outputs;
};

/// `view`, which is dense, cut along its outermost axes (OpSchema::
/// sliced_inputs) so that no operand has more than `most` elements and parts
/// begin at multiples of `alignment` bytes.  Empty: it is not larger, or cannot
/// be cut so.
std::vector<NodePiece> CutToPieces(const ir::KernelNode& view, int64_t most,
                                   int64_t alignment);

/// Whether kernels that get no sub-buffers reach all parts from the beginning
/// of the operands (ir::IndicesFit).
bool AreInReach(const std::vector<NodePiece>& pieces);

/// What `kernel` does for all pieces, one after the other.
Result<ir::Lowering> LowerPieces(const ir::KernelDef& kernel,
                                 const std::vector<NodePiece>& pieces,
                                 const ir::DeviceInfo& device);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PIECES_H_
