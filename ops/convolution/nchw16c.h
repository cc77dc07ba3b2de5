// What the kernels of Conv2d in blocks of 16 channels share.
#ifndef TIM_OPS_CONVOLUTION_NCHW16C_H_
#define TIM_OPS_CONVOLUTION_NCHW16C_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/device_info.h"
#include "ir/kernel_def.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/convolution.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/packed.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {

class Launch;

/// What follows a convolution in a fused node, or why float32 kernels on
/// ChannelBlocks() with packed weights do not take the node (types, epilogue,
/// elements).  `by`: whether they apply formulas of two operands.
Result<Epilogue> BlockedEpilogueOf(const ir::KernelNode& node,
                                   ByChannel by = ByChannel::kRefused);
/// Ok for one group and for several whose input and output channels fill
/// blocks, else how many each has.
Status CheckGroupsOfBlocks(const Conv2dShape& shape);
/// The convolution of one group that a Conv2d node does, or why these kernels
/// do not take it (all this, and positions).
Result<ConvProblem> BlockedConv2dOf(const ir::KernelNode& node);
/// The same of CheckGroupsOfBlocks(), by kernels that apply formulas of two
/// operands.
Result<ConvProblem> BlockedGroupsOf(const ir::KernelNode& node);
/// Input 0, output 0 and input `residual`, if not -1, in blocks, the rest
/// dense.
ir::LayoutTuple BlockedConv2dLayouts(const ir::KernelNode& node, int residual);
/// `layouts` of kernels that take these alone, for the residual of a problem.
template <typename Problem>
std::vector<ir::LayoutTuple> LayoutsInBlocks(const Problem& problem,
                                             const ir::KernelNode& node,
                                             const ir::DeviceInfo&) {
  return {BlockedConv2dLayouts(node, problem.epilogue.residual)};
}

/// What `tile_of` gives for at most so many blocks of output channels: as many
/// as divide those of a group, where there are several.
RegisterTile TileOfGroup(
    const Conv2dShape& shape,
    const std::function<RegisterTile(int64_t blocks)>& tile_of);

/// Whether output pixel (x, y) reads input pixel (x, y) and no other.
bool IsPointwise(const Conv2dShape& shape);

/// The same convolution with as long rows as it can have: the image of a 1x1
/// one is one row, as it has no neighbours, and so is an image of one column
/// where a tile of neighbours spans few pixels.
Conv2dShape Flatten(Conv2dShape shape);
/// One column of a kernel without padding reads no pixel outside.
bool ReadsInsideOnly(const ConvAxis& axis);

/// An item costs a fraction of a microsecond however little it does, so that of
/// the `tiles` of each plane some share one, while every core has some dozens.
int64_t TilesPerItem(int64_t tiles, int64_t planes,
                     const ir::DeviceInfo& device);

int64_t InputElements(const Conv2dShape& shape);
int64_t OutputElements(const Conv2dShape& shape);

/// How the weights of a convolution are packed: [lanes oc, ic_block ic, Kw, Kh,
/// blocks of ic of a group, tiles of oc].  The taps of a row stand in the order
/// 0, phases, 2 * phases, ..., 1, 1 + phases, ...  A tile lies in one group.
struct PackedTile {
  int64_t lanes = 16;
  int64_t ic_block = 16;
  int64_t phases = 1;

  int64_t in_blocks(const Conv2dShape& shape) const;
  int64_t tiles(const Conv2dShape& shape) const;
  /// All floats, those of channels that do not exist included.
  int64_t elements(const Conv2dShape& shape) const;
};

/// Input `input` of the node in this form; packed in every run where it is no
/// constant, by a launch that is added to `lowering`.
Result<PackedOperand> PackWeights(const ir::KernelNode& node, int input,
                                  const Conv2dShape& shape,
                                  const PackedTile& tile,
                                  ir::Lowering* lowering);
/// Microseconds of that launch.
double WeightsPackingCost(const ir::KernelNode& node, int input,
                          const Conv2dShape& shape, const PackedTile& tile,
                          const ir::DeviceInfo& device);

/// The same for a depthwise convolution: one input and one output channel in
/// every group.
Result<ConvProblem> BlockedDepthwiseOf(const ir::KernelNode& node);
/// The same, or groups of 2, 4 or 8 input and as many output channels, several
/// of which a block of output channels reads from the block of input channels
/// at its place.
Result<ConvProblem> BlockedNarrowGroupsOf(const ir::KernelNode& node);

/// Input `input` of the node, the weights of such a convolution, as [16, Kw,
/// Ic, Kh, blocks of channels]; packed as PackWeights() does it.
Result<PackedOperand> PackTaps(const ir::KernelNode& node, int input,
                               const Conv2dShape& shape,
                               ir::Lowering* lowering);
/// Microseconds of the launch that it adds.
double TapsPackingCost(const ir::KernelNode& node, int input,
                       const Conv2dShape& shape, const ir::DeviceInfo& device);

/// Input pixels along an axis that `width` output pixels span.
int64_t SpanOf(const ConvAxis& axis, int64_t width);

/// Makes the sides of a kernel that most networks have part of the program,
/// which then counts less: -DKERNEL=1 without padding, or -DKERNEL=3.
void AddCommonKernel(const Conv2dShape& shape, Launch* launch);

/// The widest tile of a depthwise convolution whose sums and input pixels fit
/// the registers; of equal ones that which repeats the fewest pixels.  One of
/// few for many shapes.
int64_t DepthwiseTileWidth(const ConvAxis& axis, bool many_shapes,
                           const ir::DeviceInfo& device);

/// Weights of a convolution that cost a core no more than one pixel that
/// another core wrote: they are fetched ahead.
inline constexpr int64_t kWeightsPerPixel = 8;

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_NCHW16C_H_
