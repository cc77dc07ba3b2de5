// Values that are parts of another one's memory, so that nothing is copied:
// inputs that a node concatenates, outputs that are parts of its input.
#ifndef TIM_COMPILER_MEMORY_IN_PLACE_PARTS_H_
#define TIM_COMPILER_MEMORY_IN_PLACE_PARTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/module.h"

namespace tim::compiler {

/// Parts of a node's whole, and the steps of its lowering that would only copy
/// them.
struct InPlaceParts {
  std::vector<int64_t> offsets;  ///< First byte, by operand; -1: no part.
  std::vector<int> left_out;     ///< Steps.
};

/// Offsets of parts are multiples of it: a cache line, as wide as vectors are.
inline constexpr int64_t kPartAlignment = 64;

/// Whether an operand may lie `offset` bytes behind the beginning of the whole.
using MayLie = std::function<bool(int operand, int64_t offset)>;

/// Inputs that lie in output 0 by OpSchema::in_place_offsets, where a
/// kernel runs the node, or it joins what devices make of a batch.
InPlaceParts ConcatenatedInputs(const Module& module, const ir::Node& node,
                                const MayLie& may_lie);
/// Outputs that lie in input 0 by OpSchema::in_place_offsets, where a kernel or
/// `eval` runs the node.
InPlaceParts ViewedOutputs(const Module& module, const ir::Node& node,
                           const MayLie& may_lie);

/// Whether all outputs of a node are likely to be such parts, with the layouts
/// of `view`.
bool IsViewOfParts(const Module& module, const ir::NodeView& view);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_IN_PLACE_PARTS_H_
