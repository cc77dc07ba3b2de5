// Elements of an input that become elements of an output at a place that is
// affine in the steps of some loops, or the real value 0.  An operator is the
// function NodeView -> FlatMoves; eval, kernel and views come from it.
#ifndef TIM_OPS_MOVEMENT_FLAT_MOVE_H_
#define TIM_OPS_MOVEMENT_FLAT_MOVE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/element_map/element_map.h"
#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"
#include "ops/movement/channel_blocks.h"

namespace tim::ops {

/// Loops over elements in memory, joined where they may be: strides are those
/// in input and output and the coordinates that need a look.
struct FlatMap {
  using Bound = ir::ElementMap::Bound;
  int64_t from_start = 0;
  int64_t to_start = 0;
  std::vector<int64_t> extents;  ///< Of the loops, fastest in the output first.
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  std::vector<Bound> from_bounds;  ///< Outside: the real value 0.
  std::vector<Bound> to_bounds;    ///< Outside: left out.
};
/// One whose results are all made, in order.
FlatMap Flatten(const ir::ElementMap& map);

/// The sum of strides[k] * at[k].
int64_t OffsetOf(const std::vector<int64_t>& strides,
                 const std::vector<int64_t>& at);

/// Where the map's results, `count` of them, lie in the input as they are: the
/// first one's index.  -1: they do not.
int64_t ContiguousStart(const FlatMap& flat, int64_t count);

/// What eval and kernels make of a map.
struct FlatMove {
  int input = 0;
  int output = 0;
  FlatMap flat;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
  /// Where nothing but channels move: ChannelSourcesOf.
  std::optional<ChannelSources> channels = std::nullopt;
};
/// Moves of a node with static shapes, or why there are none.
using FlatMoves =
    std::function<Result<std::vector<FlatMove>>(const ir::NodeView&)>;

bool HasStaticShapes(const ir::NodeView& view);
/// The only output is the whole input as it is.
bool IsView(const ir::NodeView& view, const FlatMoves& moves);
/// InPlaceOffsets::outputs.
std::vector<int64_t> PartOffsets(const ir::NodeView& view,
                                 const FlatMoves& moves);
/// OpSchema::element_map.
std::optional<ir::ElementMap> ElementMapOf(const ir::NodeView& view,
                                           const FlatMoves& moves);

/// eval, estimates, views, is_identity and element_map of an operator of one
/// input and output; whoever has others, or rules of its own, says so in what
/// this returns.
ir::OpSchema FlatMoveSchema(std::string name, FlatMoves moves);

/// The kernel of "tim.<name>", named like it in lower case: a launch per map.
ir::KernelDef FlatMoveKernel(const std::string& name, FlatMoves moves);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_FLAT_MOVE_H_
