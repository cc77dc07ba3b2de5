// A 1x1 convolution fused with the depthwise one that reads it, float32 on
// tensors in blocks of 16 channels, for CPUs: the tensor between them, the
// largest of networks of inverted bottlenecks, is never stored.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// ROOM: pixels of 16 channels that a work-item keeps, 64 bytes each.
constexpr int64_t kRoom = 1024;
// Tiles of the 1x1 convolution are no wider than a row: of narrower ones, too
// few sums are made at a time.
constexpr int64_t kLeastRow = 4;
// Pixels of the 1x1 convolution that are made at once, at least, so that few
// tiles are narrow.
constexpr int64_t kStepPixels = 56;
// Work-items that share an image make a part of the rows of the 1x1 convolution
// twice: 1 / kMaxRepeated of all, at most.
constexpr int64_t kMaxRepeated = 5;
constexpr int64_t kItemsPerCore = 8;

// A convolution of the fused node, its weights and bias among the node's
// inputs, and what follows it.
struct Part {
  Conv2dShape shape;
  int weights = 1;
  int bias = -1;
  ir::Limits limits;
};

// Both convolutions: the 1x1 one and the depthwise one.
struct Pair {
  Part inner;
  Part outer;
};

// `node` up to step `end` of its epilogue.
ir::KernelNode FirstSteps(const ir::KernelNode& node, size_t end) {
  ir::KernelNode out = node;
  out.epilogue.resize(end);
  out.outputs[0] =
      end == 0 ? node.anchor_output : node.epilogue[end - 1].result;
  return out;
}

// Step `at`, which reads `input`, and what follows it.  Of each of its inputs
// `operands` gets the index in `node`; -1: none there.
ir::KernelNode LastSteps(const ir::KernelNode& node, size_t at,
                         const ir::TensorDesc& input,
                         std::vector<int>* operands) {
  const ir::EpilogueStep& anchor = node.epilogue[at];
  ir::KernelNode out;
  out.node = out.anchor = anchor.node;
  out.anchor_output = anchor.result;
  out.outputs = node.outputs;
  const auto add = [&](int operand) {
    operands->push_back(operand);
    out.present.push_back(operand >= 0);
    out.inputs.push_back(operand < 0 ? ir::TensorDesc() : node.inputs[operand]);
    out.constants.push_back(operand < 0 ? nullptr : node.constants[operand]);
    return static_cast<int>(operands->size()) - 1;
  };
  for (size_t i = 0; i < anchor.operands.size(); ++i) {
    add(anchor.node->inputs[i] == ir::kNone ? -1 : anchor.operands[i]);
  }
  out.present[0] = true;
  out.inputs[0] = input;
  for (size_t i = at + 1; i < node.epilogue.size(); ++i) {
    ir::EpilogueStep step = node.epilogue[i];
    for (int& operand : step.operands) {
      if (operand != ir::kRunning) operand = add(operand);
    }
    out.epilogue.push_back(std::move(step));
  }
  return out;
}

// What follows a convolution: limits, and only its bias is added to the
// channels.
Result<ir::Limits> LimitsOf(const Epilogue& epilogue) {
  if (epilogue.add >= 0 || epilogue.residual >= 0) {
    return Unimplemented("a fused Add beside two Conv2d");
  }
  if (epilogue.formula.pointwise != nullptr) {
    return Unimplemented("beside two Conv2d a fused operator must set limits");
  }
  return epilogue.limits;
}

Result<Pair> PairOf(const ir::KernelNode& node) {
  const auto second = std::find_if(
      node.epilogue.begin(), node.epilogue.end(),
      [](const ir::EpilogueStep& step) {
        return step.node->schema->name == "Conv2d" &&
               step.operands.size() > 1 && step.operands[0] == ir::kRunning;
      });
  if (second == node.epilogue.end()) {
    return Unimplemented("no depthwise convolution follows");
  }
  const size_t at = second - node.epilogue.begin();
  const ir::KernelNode inner = FirstSteps(node, at);
  std::vector<int> operands;
  const ir::KernelNode outer = LastSteps(node, at, inner.outputs[0], &operands);
  Pair pair;
  TIM_ASSIGN_OR_RETURN(const ConvProblem pointwise, BlockedConv2dOf(inner));
  TIM_ASSIGN_OR_RETURN(pair.inner.limits, LimitsOf(pointwise.epilogue));
  if (!IsPointwise(pointwise.shape)) {
    return Unimplemented("the first convolution must be 1x1 with stride 1");
  }
  TIM_ASSIGN_OR_RETURN(const ConvProblem depthwise, BlockedDepthwiseOf(outer));
  TIM_ASSIGN_OR_RETURN(pair.outer.limits, LimitsOf(depthwise.epilogue));
  pair.inner.shape = pointwise.shape;
  pair.inner.bias = BiasOf(inner);
  pair.outer.shape = depthwise.shape;
  pair.outer.weights = operands[1];
  if (const int bias = BiasOf(outer); bias >= 0) {
    pair.outer.bias = operands[bias];
  }
  return pair;
}

// The sizes of one launch; see conv2d_1x1_depthwise_nchw16c.cl.
struct Tiling {
  int64_t width = 1;      // INNER_TW
  int64_t blocks = 1;     // BLOCKS
  int64_t out_width = 1;  // TW
  int64_t in_blocks = 1;
  int64_t tiles = 1;  // of channels
  int64_t kept_rows = 1;
  int64_t step_rows = 1;
  int64_t band = 1;   // Rows of the output of a work-item.
  int64_t bands = 1;  // dimension 0
  int64_t repeated_rows = 0;
  bool spatial_partition = true;  // KernelLaunch::spatial_partition

  PackedTile packed() const { return {blocks * kChannelBlock, kChannelBlock}; }
};

// As cores share the pixels of other convolutions, they share bands of these:
// where that makes too many rows twice, they share channels.
void ShareRows(const Pair& pair, const ir::DeviceInfo& device, Tiling* tiling) {
  const Conv2dShape& inner = pair.inner.shape;
  const ConvAxis& rows = pair.outer.shape.h;
  const int64_t cores = device.compute_units;
  const int64_t overlap = std::max<int64_t>(SpanOf(rows, 1) - rows.stride, 0);
  const int64_t most =
      overlap == 0
          ? rows.output
          : std::min(rows.output, 1 + rows.input / (kMaxRepeated * overlap));
  const int64_t wanted =
      CeilDiv(kItemsPerCore * cores, tiling->tiles * inner.batch);
  tiling->spatial_partition =
      most >= cores && tiling->packed().elements(inner) <=
                           kWeightsPerPixel * InputElements(inner);
  const int64_t bands =
      tiling->spatial_partition
          ? std::min(AlignUp(wanted, cores), most / cores * cores)
          : std::min(wanted, most);
  tiling->band = CeilDiv(rows.output, bands);
  tiling->bands = CeilDiv(rows.output, tiling->band);
  tiling->repeated_rows = (tiling->bands - 1) * overlap;
}

Result<Tiling> TilingOf(const Pair& pair, const ir::DeviceInfo& device) {
  const Conv2dShape& inner = pair.inner.shape;
  const int64_t row = inner.w.input;
  const int64_t span = SpanOf(pair.outer.shape.h, 1);
  if (row < kLeastRow) {
    return Unimplemented("rows of ", row, " pixels, at least ", kLeastRow,
                         " make a tile");
  }
  Tiling out;
  out.step_rows = CeilDiv(kStepPixels, row);
  const RegisterTile limits =
      BestTile(out.step_rows * row,
               CeilDiv(inner.group.out_channels, kChannelBlock), device);
  out.blocks = std::min(limits.blocks, kRoom / (row * span));
  if (out.blocks < 1) {
    return Unimplemented("a row of the output needs ", span, " rows of ", row,
                         " pixels, at most ", kRoom, " pixels are kept");
  }
  out.kept_rows =
      std::min(out.step_rows + span - 1, kRoom / (row * out.blocks));
  out.step_rows = out.kept_rows - span + 1;
  out.width = TileSize(out.step_rows * row, std::min(limits.neighbours, row));
  out.out_width =
      DepthwiseTileWidth(pair.outer.shape.w, /*many_shapes=*/false, device);
  out.in_blocks = out.packed().in_blocks(inner);
  out.tiles = out.packed().tiles(inner);
  ShareRows(pair, device, &out);
  return out;
}

struct Problem {
  Pair pair;
  Tiling tiling;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  if (node.many_shapes) {
    return Unimplemented("tiles are options, and the node has many shapes");
  }
  TIM_ASSIGN_OR_RETURN(const Pair pair, PairOf(node));
  TIM_ASSIGN_OR_RETURN(const Tiling tiling, TilingOf(pair, device));
  return Problem{pair, tiling};
}

std::vector<ir::LayoutTuple> Layouts(const Problem&, const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  return {BlockedConv2dLayouts(node, /*residual=*/-1)};
}

// What both convolutions take alone, and what is made twice, without the tensor
// between them.
double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const auto& [pair, tiling] = problem;
  const Conv2dShape& inner = pair.inner.shape;
  const Conv2dShape& outer = pair.outer.shape;
  const double inner_flops =
      2.0 * tiling.packed().elements(inner) * inner.w.input *
      (inner.h.input + tiling.repeated_rows) * inner.batch;
  const double outer_flops = 2.0 * outer.terms() * OutputElements(outer);
  // Cores that have nothing to do while others finish.
  const int64_t items = tiling.bands * tiling.tiles * inner.batch;
  const double idle =
      static_cast<double>(AlignUp(items, int64_t{device.compute_units})) /
      items;
  ir::ComputeEstimate estimate;
  estimate.flops = idle * (inner_flops + 2 * outer_flops);
  estimate.bytes_read =
      sizeof(float) * (tiling.packed().elements(inner) + InputElements(inner));
  estimate.bytes_written = sizeof(float) * OutputElements(outer);
  return EstimateMicroseconds(estimate, device,
                              prices::kConv2d1x1DepthwiseNchw16c) +
         WeightsPackingCost(node, pair.inner.weights, inner, tiling.packed(),
                            device) +
         TapsPackingCost(node, pair.outer.weights, outer, device);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo&) {
  const auto& [pair, tiling] = problem;
  const Conv2dShape& inner = pair.inner.shape;
  const Conv2dShape& outer = pair.outer.shape;
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(
      PackedOperand weights,
      PackWeights(node, pair.inner.weights, inner, tiling.packed(), &lowering));
  TIM_ASSIGN_OR_RETURN(PackedOperand taps,
                       PackTaps(node, pair.outer.weights, outer, &lowering));
  Launch launch("ops/convolution/conv2d_1x1_depthwise_nchw16c.cl",
                "conv2d_1x1_depthwise_nchw16c");
  launch.Option(StrCat("-DINNER_TW=", tiling.width))
      .Option(StrCat("-DBLOCKS=", tiling.blocks))
      .Option(StrCat("-DROOM=", kRoom))
      .Option(StrCat("-DTW=", tiling.out_width))
      .Option(StrCat("-DKERNEL_W=", outer.w.kernel))
      .Option(StrCat("-DSTRIDE=", outer.w.stride))
      .Option(StrCat("-DDILATION=", outer.w.dilation))
      .Option(StrCat("-DSPAN=", SpanOf(outer.w, tiling.out_width)));
  if (const int64_t rest = inner.channels % kChannelBlock; rest != 0) {
    launch.Option(StrCat("-DREST=", rest));
  }
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(weights), sizeof(float), &launch);
  AddPacked("taps", std::move(taps), sizeof(float), &launch);
  if (pair.inner.bias >= 0) {
    launch.Option("-DINNER_BIAS").Input("inner_bias", node, pair.inner.bias);
  }
  if (pair.outer.bias >= 0) {
    launch.Option("-DBIAS").Input("bias", node, pair.outer.bias);
  }
  launch.Applies(static_cast<int>(node.epilogue.size()));
  launch.Output("output", node, 0)
      .Float("inner_low", pair.inner.limits.low)
      .Float("inner_high", pair.inner.limits.high)
      .Float("low", pair.outer.limits.low)
      .Float("high", pair.outer.limits.high)
      .Struct("sizes", ConvSizes(outer))
      .Int("in_blocks", tiling.in_blocks)
      .Int("tiles", tiling.tiles)
      .Int("band", tiling.band)
      .Int("kept_rows", tiling.kept_rows)
      .Int("step_rows", tiling.step_rows)
      .Global(tiling.bands, 1, tiling.tiles * inner.batch)
      .Local(1)
      .PartitionSpatially(tiling.spatial_partition);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_1x1_depthwise_nchw16c) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.Conv2d",
                                        .name = "conv2d_1x1_depthwise_nchw16c",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = Layouts,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
