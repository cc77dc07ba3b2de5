// Winograd convolution of float32 3x3 kernels on tensors in blocks of 16
// channels, for CPUs: F(4x4, 3x3) and F(2x2, 3x3).
//
// A tile of m x m outputs is A ((G w Gt) * (Bt x B)) At, (m + 2)^2 products per
// channel instead of 9 m^2.  The polynomials behind F(4x4) are evaluated at 0,
// +-11/16, +-3/2 and infinity, those behind F(2x2) at 0, +-1 and infinity: all
// coefficients of A and B are exact in float32, and G w Gt is computed in
// double and rounded once.
//
// Error, with x and w rounded to float32 and no overflow:
//   max |error| <= c * 2^-24 * max sum |x w|,  c = 10 for F(4x4), 2.5 for
//   F(2x2)
// Every rounding error of a product is multiplied by the entries of A, and the
// products by those of B and G; for independent errors the square root of
//   max over i of sum over k of A_ik^2 |G_k|^2 |B_k|^2 / 3
// in either direction says how much larger they are than the result: 7.5 times
// for F(4x4) (31 for the usual points 0, +-1, +-2), 1.7 times for F(2x2).  The
// sums, over channels only, are 9 times shorter than those of the formula,
// whose own c is 2 to 4.  An input that is infinite or NaN makes outputs of its
// tile NaN.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

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
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

constexpr int64_t kSide = 3;  // of the kernel
constexpr int64_t kTaps = kSide * kSide;
constexpr int64_t kMaxEdge = 6;
// Transformed inputs that are kept at a time, so that they stay in the caches:
// as many as there are weights, which every round reads again.
constexpr int64_t kMinPatchFloats = int64_t{1} << 18;
constexpr int64_t kMaxPatchFloats = int64_t{1} << 21;

// The sizes of the launches; see conv2d_winograd_nchw16c.cl.
struct Tiling {
  int64_t tile = 4;    // TILE
  int64_t tiles = 1;   // TILES
  int64_t blocks = 1;  // BLOCKS
  int64_t tiles_w = 1;
  int64_t tiles_h = 1;
  int64_t count = 1;  // tiles of all images
  int64_t in_blocks = 1;
  int64_t parts = 1;  // of output channels

  int64_t edge() const { return tile + kSide - 1; }
  int64_t points() const { return edge() * edge(); }
  int64_t groups() const { return CeilDiv(count, tiles); }
  int64_t lanes() const { return blocks * kChannelBlock; }
  int64_t depth() const { return in_blocks * kChannelBlock; }
  int64_t weight_floats() const { return parts * points() * depth() * lanes(); }
  int64_t patch_floats(int64_t groups) const {
    return groups * points() * depth() * tiles;
  }
  // Groups that are done with one pair of launches, alike in all pairs.
  int64_t groups_at_a_time() const {
    const int64_t limit =
        std::clamp(weight_floats(), kMinPatchFloats, kMaxPatchFloats);
    const int64_t rounds = CeilDiv(patch_floats(groups()), limit);
    return CeilDiv(groups(), rounds);
  }
};

Tiling TilingOf(const Conv2dShape& shape, int64_t tile,
                const ir::DeviceInfo& device) {
  const RegisterTile limits = LargestTile(device);
  Tiling out;
  out.tile = tile;
  out.tiles_w = CeilDiv(shape.w.output, tile);
  out.tiles_h = CeilDiv(shape.h.output, tile);
  out.count = out.tiles_w * out.tiles_h * shape.batch;
  out.tiles = TileSize(out.count, limits.neighbours);
  out.blocks = shape.group.out_channels > kChannelBlock ? limits.blocks : 1;
  out.in_blocks = CeilDiv(shape.channels, kChannelBlock);
  out.parts = CeilDiv(shape.group.out_channels, out.lanes());
  return out;
}

// In the units of conv2d_nchw16c: its price of 0.6 and the 0.57 of this kernel
// stand for 0.95 and 0.9 of the peak.  Its cost leaves out that weights come
// from memory, so that only what is more than its 9 taps counts.  An item is
// done by one core.
double Microseconds(const Tiling& tiling, const ir::DeviceInfo& device) {
  // Weights stay as long as the graph: a megabyte more must save 0.1 ms a run,
  // 0.35 ms in the units of a device that is estimated with care.  A
  // quarter of one, which stays in a core's cache, is free.
  constexpr double kMicrosecondsPerByteKept = 3.5e-4;
  constexpr double kFreeBytes = 0x1p18;
  const int64_t turns =
      CeilDiv(tiling.groups() * tiling.parts, device.compute_units);
  const ir::ComputeEstimate products = {
      .flops = 2.0 * turns * device.compute_units * tiling.tiles *
               tiling.points() * tiling.depth() * tiling.lanes()};
  const double patch_bytes = 4.0 * tiling.patch_floats(tiling.groups());
  const double more_weights =
      4.0 * tiling.weight_floats() * (1 - 9.0 / tiling.points());
  const ir::ComputeEstimate traffic = {.bytes_read = patch_bytes + more_weights,
                                       .bytes_written = patch_bytes};
  return EstimateMicroseconds(products, device,
                              prices::kConv2dWinogradNchw16c) +
         EstimateMicroseconds(traffic, device, prices::kConv2dWinogradNchw16c) +
         kMicrosecondsPerByteKept * std::max(more_weights - kFreeBytes, 0.0);
}

Tiling BestTiling(const Conv2dShape& shape, const ir::DeviceInfo& device) {
  const Tiling small = TilingOf(shape, 2, device);
  const Tiling large = TilingOf(shape, 4, device);
  return Microseconds(small, device) < Microseconds(large, device) ? small
                                                                   : large;
}

Status Check3x3(const char* name, const ConvAxis& axis) {
  if (axis.kernel != kSide) {
    return Unimplemented("the kernel is ", axis.kernel, " along ", name,
                         ", expected 3");
  }
  if (axis.stride != 1) {
    return Unimplemented("the stride is ", axis.stride, " along ", name,
                         ", expected 1");
  }
  if (axis.dilation > 1) {
    return Unimplemented("the dilation is ", axis.dilation, " along ", name,
                         ", expected 1");
  }
  return OkStatus();
}

struct Problem {
  Conv2dShape shape;
  Epilogue epilogue;
  Tiling tiling;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  if (!device.winograd) return Unimplemented("TIMCL_WINOGRAD is 0");
  if (node.many_shapes) {
    return Unimplemented("tiles are options, and the node has many shapes");
  }
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const ConvProblem problem, BlockedConv2dOf(node));
  const auto& [shape, epilogue] = problem;
  if (node.constants[1] == nullptr) {
    return Unimplemented("the weights are not constant");
  }
  TIM_RETURN_IF_ERROR(Check3x3("W", shape.w));
  TIM_RETURN_IF_ERROR(Check3x3("H", shape.h));
  if (shape.channels < kChannelBlock) {
    return Unimplemented(shape.channels, " input channels, at least ",
                         kChannelBlock, " fill a block");
  }
  const Tiling tiling = BestTiling(shape, device);
  if (std::max(tiling.weight_floats(),
               tiling.patch_floats(tiling.groups_at_a_time())) >
      std::numeric_limits<int32_t>::max()) {
    return Unimplemented("what is transformed of ", shape.channels,
                         " input channels does not fit 32-bit positions");
  }
  return Problem{shape, epilogue, tiling};
}

double Cost(const Problem& problem, const ir::KernelNode&,
            const ir::DeviceInfo& device) {
  return Microseconds(problem.tiling, device);
}

using Filter = std::array<std::array<double, kSide>, kMaxEdge>;

// G: row i is (1, p, p^2) / product of the differences to the other points, and
// (0, 0, 1) for infinity.
Filter FilterOf(int64_t tile) {
  const std::vector<double> points =
      tile == 4 ? std::vector<double>{0, 0.6875, -0.6875, 1.5, -1.5}
                : std::vector<double>{0, 1, -1};
  Filter out = {};
  for (size_t i = 0; i < points.size(); ++i) {
    double scale = 1;
    for (const double other : points) {
      if (other != points[i]) scale /= points[i] - other;
    }
    out[i] = {scale, scale * points[i], scale * points[i] * points[i]};
  }
  out[points.size()][kSide - 1] = 1;
  return out;
}

constexpr int64_t kMaxLanes = 2 * kChannelBlock;
using Lanes = std::array<double, kMaxLanes>;

// G w Gt of one input channel for the lanes of a part of the output channels.
// `step` floats lie between the points.
void TransformWeights(const Filter& filter, int64_t edge, int64_t lanes,
                      const std::array<Lanes, kTaps>& weights, float* out,
                      int64_t step) {
  for (int64_t i = 0; i < edge; ++i) {
    std::array<Lanes, kSide> row;
    for (int64_t x = 0; x < kSide; ++x) {
      for (int64_t lane = 0; lane < kMaxLanes; ++lane) {
        row[x][lane] = filter[i][0] * weights[x][lane] +
                       filter[i][1] * weights[kSide + x][lane] +
                       filter[i][2] * weights[2 * kSide + x][lane];
      }
    }
    for (int64_t j = 0; j < edge; ++j, out += step) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        out[lane] = static_cast<float>(filter[j][0] * row[0][lane] +
                                       filter[j][1] * row[1][lane] +
                                       filter[j][2] * row[2][lane]);
      }
    }
  }
}

void PackWeights(const Conv2dShape& shape, const Tiling& tiling,
                 const float* weights, float* out) {
  const Filter filter = FilterOf(tiling.tile);
  const int64_t step = tiling.depth() * tiling.lanes();
  for (int64_t part = 0; part < tiling.parts; ++part) {
    for (int64_t ic = 0; ic < shape.channels; ++ic) {
      std::array<Lanes, kTaps> taps = {};
      for (int64_t lane = 0; lane < tiling.lanes(); ++lane) {
        const int64_t oc = part * tiling.lanes() + lane;
        if (oc >= shape.group.out_channels) break;
        for (int64_t tap = 0; tap < kTaps; ++tap) {
          taps[tap][lane] = weights[(oc * shape.channels + ic) * kTaps + tap];
        }
      }
      TransformWeights(
          filter, tiling.edge(), tiling.lanes(), taps,
          out + part * tiling.points() * step + ic * tiling.lanes(), step);
    }
  }
}

ir::PackedConstant PackedWeights(const ir::KernelNode& node,
                                 const Conv2dShape& shape,
                                 const Tiling& tiling) {
  return PackedFloats(
      StrCat("conv2d_winograd_nchw16c ", node.inputs[1].shape.ToString(),
             " tile ", tiling.tile, " oc ", tiling.lanes()),
      node, 1, tiling.weight_floats(),
      [shape, tiling](const float* from, float* to) {
        PackWeights(shape, tiling, from, to);
      });
}

Launch WinogradLaunch(const char* function, const Tiling& tiling) {
  Launch launch("ops/convolution/conv2d_winograd_nchw16c.cl", function);
  launch.Option(StrCat("-DTILE=", tiling.tile))
      .Option(StrCat("-DTILES=", tiling.tiles));
  return launch;
}

// The tiles that one pair of launches makes.
struct Round {
  int64_t first = 0;
  int64_t tiles = 0;
  int64_t groups = 0;
};

// An item costs a fraction of a microsecond however little it does, so that
// blocks share one while every core has some dozens.
int64_t BlocksPerItem(const Tiling& tiling, int64_t groups,
                      const ir::DeviceInfo& device) {
  const int64_t items = int64_t{64} * device.compute_units;
  return std::clamp<int64_t>(tiling.in_blocks * groups / items, 1,
                             tiling.in_blocks);
}

Status AppendInput(const ir::KernelNode& node, const Conv2dShape& shape,
                   const Tiling& tiling, const Round& round,
                   const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const int64_t run = BlocksPerItem(tiling, round.groups, device);
  return WinogradLaunch("conv2d_winograd_input", tiling)
      .Input("input", node, 0)
      .Scratch("patches",
               tiling.patch_floats(round.groups) * int64_t{sizeof(float)},
               sizeof(float))
      .Int("in_w", shape.w.input)
      .Int("in_h", shape.h.input)
      .Int("in_blocks", tiling.in_blocks)
      .Int("tiles_w", tiling.tiles_w)
      .Int("tiles_h", tiling.tiles_h)
      .Int("first_tile", round.first)
      .Int("tiles", round.tiles)
      .Int("pad_left", shape.w.pad)
      .Int("pad_top", shape.h.pad)
      .Int("run", run)
      .Global(CeilDiv(tiling.in_blocks, run), round.groups)
      .Local(1, 1, 1)
      .AppendTo(lowering);
}

Status AppendOutput(const ir::KernelNode& node, const Conv2dShape& shape,
                    const Tiling& tiling, const Round& round,
                    const Epilogue& epilogue, ir::Lowering* lowering) {
  Launch launch = WinogradLaunch("conv2d_winograd_output", tiling);
  launch.Option(StrCat("-DBLOCKS=", tiling.blocks))
      .EarlierScratch("patches", static_cast<int>(lowering->scratch.size()) - 1,
                      sizeof(float))
      .Packed("weights", PackedWeights(node, shape, tiling), sizeof(float));
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  // A core that does some groups reads all weights, one that does some parts of
  // the channels reads all patches: the less of the two is better read by all.
  const bool by_group =
      tiling.weight_floats() <= tiling.patch_floats(round.groups);
  return launch.Int("in_blocks", tiling.in_blocks)
      .Int("tiles_w", tiling.tiles_w)
      .Int("tiles_h", tiling.tiles_h)
      .Int("first_tile", round.first)
      .Int("tiles", round.tiles)
      .Struct("sizes", ConvSizes(shape))
      .Int("parts", tiling.parts)
      .Global(round.groups, 1, tiling.parts)
      .PartitionSpatially(by_group)
      .Local(1, 1, 1)
      .AppendTo(lowering);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue, tiling] = problem;
  const int64_t most = tiling.groups_at_a_time();
  ir::Lowering lowering;
  for (int64_t first = 0; first < tiling.groups(); first += most) {
    Round round;
    round.first = first * tiling.tiles;
    round.groups = std::min(most, tiling.groups() - first);
    round.tiles =
        std::min(round.groups * tiling.tiles, tiling.count - round.first);
    TIM_RETURN_IF_ERROR(
        AppendInput(node, shape, tiling, round, device, &lowering));
    TIM_RETURN_IF_ERROR(
        AppendOutput(node, shape, tiling, round, epilogue, &lowering));
  }
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_winograd_nchw16c) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.Conv2d",
                                        .name = "conv2d_winograd_nchw16c",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = LayoutsInBlocks<Problem>,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
