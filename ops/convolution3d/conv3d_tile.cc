// Float32 convolution of dense tensors with any groups for CPUs: a tile of
// neighbouring cells times 16 to 48 channels stays in vector registers.  Of
// three dimensions, and of two with several groups, whose channels need not
// fill blocks.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// Cells of a row that are copied to the stack.
constexpr int64_t kMaxSpan = 1024;
// Storing the lanes of a cell, each in a plane of its own, takes as long as so
// many of its terms.
constexpr int64_t kStoreTerms = 12;

// The sizes of one launch; see conv3d_tile.cl.
struct Tiling {
  int64_t width = 1;   // TW
  int64_t blocks = 1;  // BLOCKS
  int64_t span = 1;    // SPAN

  int64_t lanes() const { return blocks * kChannelBlock; }
  // Of the output channels of one group.
  int64_t group_tiles(const ConvShape& shape) const {
    return CeilDiv(shape.group.outputs, lanes());
  }
  int64_t tiles(const ConvShape& shape) const {
    return group_tiles(shape) * shape.group.out_channels / shape.group.outputs;
  }
  int64_t all_lanes(const ConvShape& shape) const {
    return tiles(shape) * lanes();
  }
  int64_t weights(const ConvShape& shape) const {
    return all_lanes(shape) * shape.terms();
  }
};

Tiling TilingOf(const ConvShape& shape, bool many_shapes,
                const ir::DeviceInfo& device) {
  const int64_t blocks = CeilDiv(shape.group.outputs, kChannelBlock);
  const RegisterTile limits =
      TileFor(shape.w.output, blocks, many_shapes, device);
  Tiling out;
  out.width = limits.neighbours;
  out.blocks = limits.blocks;
  const auto span = [&](int64_t width) {
    return AlignUp((width - 1) * shape.w.stride +
                       (shape.w.kernel - 1) * shape.w.dilation + 1,
                   4);
  };
  if (many_shapes) out.width = FewTileSizesWithin(out.width, kMaxSpan, span);
  out.span = span(out.width);
  return out;
}

// The channels follow the spatial axes.
int ChannelAxisOf(const ir::KernelNode& node) {
  return node.inputs[0].shape.rank() - 2;
}

struct Problem {
  ConvShape shape;
  Epilogue epilogue;
  Tiling tiling;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(node));
  if (ChannelAxisOf(node) == kConvChannelAxis &&
      shape.group.channels == shape.channels) {
    return Unimplemented("there is one group, which has kernels of its own");
  }
  if (node.constants[1] == nullptr) {
    return Unimplemented("the weights are not constant");
  }
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, ChannelAxisOf(node), Residual::kTaken));
  const Tiling tiling = TilingOf(shape, node.many_shapes, device);
  if (tiling.span > kMaxSpan) {
    return Unimplemented("a tile spans ", tiling.span, " input cells, at most ",
                         kMaxSpan, " are kept");
  }
  if (tiling.weights(shape) > (int64_t{1} << 30)) {
    return Unimplemented(
        "the packed weights are too large for 32-bit "
        "positions");
  }
  return Problem{shape, epilogue, tiling};
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const auto& [shape, epilogue, tiling] = problem;
  ir::ComputeEstimate estimate = SumEstimate(AnchorView(node).view(), 0);
  // Lanes and cells beyond the tensor included.
  const int64_t terms = shape.terms() + kStoreTerms;
  estimate.flops = 2.0 * static_cast<double>(tiling.all_lanes(shape) * terms) *
                   AlignUp(shape.w.output, tiling.width) * shape.h.output *
                   shape.d.output * shape.batch;
  return EstimateMicroseconds(estimate, device, prices::kConv3dTile);
}

ir::PackedConstant Weights(const ir::KernelNode& node, const ConvShape& shape,
                           const Tiling& tiling) {
  return CopiedFloats(
      StrCat("conv3d_tile ", node.inputs[1].shape.ToString(), " oc ",
             tiling.lanes(), " groups of ", shape.group.outputs),
      node, 1, shape.group.out_channels * shape.terms(), tiling.weights(shape),
      [group = shape.group, terms = shape.terms(), lanes = tiling.lanes(),
       group_tiles = tiling.group_tiles(shape)](const auto& visit) {
        for (int64_t oc = 0; oc < group.out_channels; ++oc) {
          const int64_t own = oc % group.outputs;
          const int64_t tile = oc / group.outputs * group_tiles + own / lanes;
          for (int64_t term = 0; term < terms; ++term) {
            visit(oc * terms + term,
                  (tile * terms + term) * lanes + own % lanes);
          }
        }
      });
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo&) {
  const auto& [shape, epilogue, tiling] = problem;
  Launch launch("ops/convolution3d/conv3d_tile.cl", "conv3d_tile");
  launch.Option(StrCat("-DTW=", tiling.width))
      .Option(StrCat("-DBLOCKS=", tiling.blocks))
      .Option(StrCat("-DSTRIDE=", shape.w.stride))
      .Option(StrCat("-DSPAN=", tiling.span))
      .Input("input", node, 0)
      .Packed("weights", Weights(node, shape, tiling), sizeof(float));
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Struct("sizes", ConvSizes(shape))
      .Int("tiles", tiling.tiles(shape))
      .Global(CeilDiv(shape.w.output, tiling.width) * shape.h.output *
                  shape.d.output,
              tiling.tiles(shape), shape.batch)
      .Local(1, 1, 1)
      .Build();
}

}  // namespace

TIM_OPERATOR(conv3d_tile) {
  const auto add = [&](const char* op, const char* name) {
    registry.Add(ir::TypedKernel<Problem>{.op = op,
                                          .name = name,
                                          .takes_epilogue = true,
                                          .analyze = Analyze,
                                          .cost = Cost,
                                          .lower = Lower});
  };
  add("tim.Conv2d", "conv2d_tile");
  add("tim.Conv3d", "conv3d_tile");
}

}  // namespace tim::ops
