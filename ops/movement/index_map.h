// Operators each of whose output elements is an element of an input, or the
// real value 0, at a place that is affine in the coordinates of some loops.  An
// operator is the function NodeView -> IndexMaps; eval, kernel and views come
// from it.
//
// Slice by `start` is one loop per axis; Tile has two loops per axis, of which
// the second repeats; SpaceToDepth has a loop per factor of its extents; Stack
// is a map per input, Split a map per output.
#ifndef TIM_OPS_MOVEMENT_INDEX_MAP_H_
#define TIM_OPS_MOVEMENT_INDEX_MAP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/flat_move.h"

namespace tim::ops {

/// The loop stays where it is in this tensor.
inline constexpr int kNoAxis = -1;

/// `extent` steps, each along an axis of the input and an axis of the output.
struct MapLoop {
  int64_t extent = 1;
  int from = kNoAxis;  ///< Axis of the input.
  int64_t from_step = 0;
  int to = kNoAxis;  ///< Axis of the output.
  int64_t to_step = 0;
};

/// output[to_start + sum of i_k * to_step_k along each axis]
///     = input[from_start + sum of i_k * from_step_k along each axis]
/// for all i_k of all loops; the real value 0 where a coordinate of the input
/// is outside of its axis.  What is outside of the output is left out.
struct IndexMap {
  int input = 0;
  int output = 0;
  /// Extents as the map sees them, in the elements' order in memory, and where
  /// it begins.
  std::vector<int64_t> from;
  std::vector<int64_t> from_start;
  std::vector<int64_t> to;
  std::vector<int64_t> to_start;
  std::vector<MapLoop> loops;

  /// No loops yet, the operands' own extents, from their first elements.
  IndexMap(const ir::NodeView& view, int input_index, int output_index);
  IndexMap& Loop(int64_t extent, int from_axis, int64_t from_step, int to_axis,
                 int64_t to_step) {
    loops.push_back({extent, from_axis, from_step, to_axis, to_step});
    return *this;
  }
};

/// The maps of a node with static shapes, or why there are none.  Together they
/// make every element of every output.
using IndexMaps =
    std::function<Result<std::vector<IndexMap>>(const ir::NodeView&)>;

/// The quantization of the map's results: channels move along.  Fails where
/// they do not stand along one axis of the output.
Result<ir::Quantization> MovedQuantization(const IndexMap& map,
                                           const ir::TensorDesc& input);
/// The coordinate along axis `from_axis` of the input for each along `to_axis`
/// of the output, -1 where it is outside of its axis or nothing is moved.
std::vector<int64_t> SourcesAlong(const IndexMap& map, int from_axis,
                                  int to_axis);
/// Where the channels come from, of a map of [W, H, C, N] that moves channels
/// and nothing else.
std::optional<ChannelSources> ChannelSourcesOf(const IndexMap& map);
/// A copy, where nothing but channels move.
kernels::ConvertRule RuleOf(const IndexMap& map, const ir::TensorDesc& from,
                            const ir::TensorDesc& to);

/// The map as loops over elements in memory.
FlatMap Flatten(const IndexMap& map);
FlatMoves MovesOf(IndexMaps maps);

/// FlatMoveSchema with check and infer_shapes.  `shapes` gives the outputs'
/// shapes, this their types.
ir::OpSchema IndexMapSchema(std::string name,
                            std::vector<ir::AttributeSpec> attributes,
                            std::function<Status(ir::InferContext&)> shapes,
                            IndexMaps maps);

/// FlatMoveKernel of index maps.
ir::KernelDef IndexMapKernel(const std::string& name, IndexMaps maps);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_INDEX_MAP_H_
