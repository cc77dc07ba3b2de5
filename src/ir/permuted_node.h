// A node on operands whose axes are permuted, which computes the same.
#ifndef TIM_IR_PERMUTED_NODE_H_
#define TIM_IR_PERMUTED_NODE_H_

#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/permutation.h"

namespace tim::ir {

struct NodeView;

/// With these attributes, and with the axes of every input permuted by
/// inputs[i], the node gives outputs whose axes are permuted by outputs[i].
/// An input whose permutation is longer than its rank gets extents of 1 behind
/// its own first.  Where axes stay (and for absent operands) a permutation may
/// be empty.
struct PermutedNode {
  AttributeMap attributes;
  std::vector<Permutation> inputs;   ///< As many as the node has.
  std::vector<Permutation> outputs;  ///< Of the outputs' ranks, or empty.
};

/// Input `operand` is there with its axes permuted by a permutation of its
/// rank: how the node computes the same from it.  Its own permutation is
/// repeated in the answer.
using PermuteRule = std::function<Result<PermutedNode>(
    const NodeView&, int operand, std::span<const int> perm)>;
/// Operands are in the layouts that attributes of the node name: the node in
/// the default layouts, and its operands against those of the user.
using LayoutRule = std::function<Result<PermutedNode>(const NodeView&)>;

/// The node as it is.
PermutedNode UnpermutedNode(const NodeView& view);

/// What the schema's permute_rule answers, checked.  A failure is a barrier:
/// the input must be brought back to its own order.  A permutation in which
/// no axis moves has no barriers.
Result<PermutedNode> PermuteNode(const NodeView& view, int operand,
                                 std::span<const int> perm);
/// What the schema's layout_rule answers, checked; without a rule the node as
/// it is.  A failure: the attributes do not fit the operands.
Result<PermutedNode> NodeInDefaultLayout(const NodeView& view);

}  // namespace tim::ir

#endif  // TIM_IR_PERMUTED_NODE_H_
