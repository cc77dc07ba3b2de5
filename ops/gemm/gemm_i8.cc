// Matrix products of 8-bit codes on packed panels, by ops/gemm/gemm_i8.cl, for
// CPUs.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "ir/packed_form.h"
#include "ops/elements/byte_sum.h"
#include "ops/gemm/gemm_codes.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/matrix_tile.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kDotBytes = 4;  // that are summed in one lane
constexpr int64_t kTableWords = 3;
constexpr int64_t kMostPositions = std::numeric_limits<int32_t>::max();

// What one work-item computes.
struct Tile {
  int64_t rows = 12;
  int64_t blocks = 2;  // of 16 columns
  int64_t part = 0;    // rows of a tile of AMX, 0: not by these

  int64_t columns() const { return blocks * kLanes; }
};

// As many sums as fit the registers; a row alone has several sums that do not
// wait for each other.
Tile DotTileFor(const ir::KernelNode& node, const GemmProblem& problem,
                const ir::DeviceInfo& device) {
  Tile tile;
  const bool many = device.float_vector_width >= kLanes;
  const int64_t limit = many ? 12 : 4;
  const int64_t rows = problem.a.items;
  tile.rows = node.many_shapes ? FewTileSizes(rows, limit)
                               : CeilDiv(rows, CeilDiv(rows, limit));
  tile.blocks = many && tile.rows <= 4 ? 4 : many ? 2 : 1;
  tile.blocks = std::min(tile.blocks, CeilDiv(problem.b.items, kLanes));
  return tile;
}

// Two tiles of AMX, where there are rows for them, times two of columns.
Tile MatrixTileFor(const ir::KernelNode& node, const GemmProblem& problem) {
  constexpr int64_t kMost = 2 * kMatrixRows;
  Tile tile;
  const int64_t rows = problem.a.items;
  const int64_t even = CeilDiv(rows, CeilDiv(rows, kMost));
  tile.rows = node.many_shapes      ? FewTileSizes(rows, kMost)
              : even <= kMatrixRows ? even
                                    : AlignUp(even, int64_t{2});
  tile.part = tile.rows <= kMatrixRows ? tile.rows : tile.rows / 2;
  tile.blocks = std::min<int64_t>(2, CeilDiv(problem.b.items, kLanes));
  return tile;
}

int64_t Groups(const GemmProblem& problem, const Tile& tile) {
  const int64_t depth =
      tile.part > 0 ? AlignUp(problem.depth, kMatrixDepth) : problem.depth;
  return CeilDiv(depth, kDotBytes);
}

// Flops of all tiles, rows, columns and k beyond the matrix included.  To load
// columns into a tile of AMX takes as long as the products of all its rows.
double FlopsOf(const GemmProblem& problem, const Tile& tile) {
  const double beside = tile.part > 0 ? kMatrixSteps * kMatrixDepth : 0;
  const int64_t rows =
      tile.part > 0 ? std::max(tile.rows, kMatrixRows) : tile.rows;
  return 2.0 * CeilDiv(problem.a.items, tile.rows) * rows *
         AlignUp(problem.b.items, tile.columns()) *
         (Groups(problem, tile) * kDotBytes + beside) * problem.batches;
}

const Price& PriceOf(const Tile& tile, const ir::DeviceInfo& device) {
  if (tile.part > 0) return prices::kGemmI8Amx;
  return device.has_vnni ? prices::kGemmI8Vnni : prices::kGemmI8;
}

Tile TileFor(const ir::KernelNode& node, const GemmProblem& problem,
             const ir::DeviceInfo& device) {
  const Tile dots = DotTileFor(node, problem, device);
  if (!device.has_amx) return dots;
  const Tile matrices = MatrixTileFor(node, problem);
  const auto time = [&](const Tile& tile) {
    return FlopsOf(problem, tile) / PriceOf(tile, device).cpu.compute;
  };
  return time(matrices) < time(dots) ? matrices : dots;
}

int64_t RowPanels(const GemmProblem& problem, const Tile& tile) {
  return CeilDiv(problem.a.items, tile.rows);
}
int64_t ColumnPanels(const GemmProblem& problem, const Tile& tile) {
  return CeilDiv(problem.b.items, tile.columns());
}
// Ints of the panels of one batch; rows have a group more for their sums.
int64_t RowInts(const GemmProblem& problem, const Tile& tile) {
  return RowPanels(problem, tile) * tile.rows * (Groups(problem, tile) + 1);
}
int64_t ColumnInts(const GemmProblem& problem, const Tile& tile) {
  return ColumnPanels(problem, tile) * tile.columns() * Groups(problem, tile);
}
int64_t TableInts(const GemmProblem& problem, const Tile& tile) {
  return ColumnPanels(problem, tile) * tile.columns() * kTableWords;
}

Status CheckSizes(const GemmProblem& problem, const Tile& tile) {
  for (const auto& [ints, batches] :
       {std::pair(RowInts(problem, tile), problem.a.batches),
        std::pair(std::max(ColumnInts(problem, tile), TableInts(problem, tile)),
                  problem.b.batches)}) {
    const auto all = CheckedMul(ints, batches);
    if (!all || *all > kMostPositions) {
      return Unimplemented("panels of more than 2^31 numbers");
    }
  }
  return OkStatus();
}

Status Supports(const ir::KernelNode& node, const GemmProblem& problem,
                const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(IsTotal(node) ? CheckTotal(node) : CheckByteTypes(node));
  TIM_RETURN_IF_ERROR(CheckSizes(problem, TileFor(node, problem, device)));
  return CheckGemmCodes(node, problem);
}

double Cost(const ir::KernelNode& node, const GemmProblem& problem,
            const ir::DeviceInfo& device) {
  const Tile tile = TileFor(node, problem, device);
  const auto bytes = [&](const GemmFactor& factor) {
    return static_cast<double>(factor.items) * problem.depth * factor.batches;
  };
  ir::ComputeEstimate estimate;
  estimate.flops = FlopsOf(problem, tile);
  estimate.bytes_read = bytes(problem.a) + bytes(problem.b);
  double cost = EstimateMicroseconds(estimate, device, PriceOf(tile, device));
  for (const GemmFactor& factor : {problem.a, problem.b}) {
    if (IsConstantFactor(node, factor)) continue;
    cost += EstimateMicroseconds({.flops = 0,
                                  .bytes_read = bytes(factor),
                                  .bytes_written = bytes(factor)},
                                 device, prices::kPacking);
  }
  return cost;
}

// visit(index, place, channel) of every weight.
template <typename Visit>
void ForEachWeight(const ByteWeights& weights, int64_t columns, int64_t groups,
                   const Visit& visit) {
  for (int64_t c = 0; c < weights.channels; ++c) {
    const int64_t column =
        (c / columns * groups * columns + c % columns) * kDotBytes;
    for (int64_t k = 0; k < weights.terms; ++k) {
      visit(c * weights.channel_step + k * weights.term_step,
            column + k / kDotBytes * columns * kDotBytes + k % kDotBytes, c);
    }
  }
}

// C++ twin of gemm_i8_columns.
ir::PackedConstant ConstantColumns(const ir::KernelNode& node,
                                   const GemmProblem& problem, const Tile& tile,
                                   const ByteShifts& shifts) {
  const ByteWeights weights = GemmWeightsOf(problem);
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const int64_t groups = Groups(problem, tile);
  const auto pack = [=, columns = tile.columns()](const std::byte* from,
                                                  std::byte* to) {
    ForEachWeight(weights, columns, groups,
                  [&](int64_t i, int64_t at, int64_t channel) {
                    to[at] = Shifted(from[i], -shifts.shifts[channel]);
                  });
  };
  const auto unpack = [=, columns = tile.columns()](const std::byte* from,
                                                    std::byte* to) {
    ForEachWeight(weights, columns, groups,
                  [&](int64_t i, int64_t at, int64_t channel) {
                    to[i] = Shifted(from[at], shifts.shifts[channel]);
                  });
  };
  return {.id = StrCat(
              "gemm_i8 columns ", weights.channels, " step ",
              weights.channel_step, " depth ", weights.terms, " step ",
              weights.term_step, " panels of ", tile.columns(), " groups ",
              groups, is_signed ? " signed " : " unsigned ", shifts.ToString()),
          .sources = {1},
          .bytes = ColumnInts(problem, tile) * int64_t{sizeof(int32_t)},
          .pack = ir::ReversiblePacking{
              .constant = node.constants[1],
              .pack = pack,
              .unpack = unpack,
              .unpacked = weights.channels * weights.terms}};
}

void AddOptions(const ir::KernelNode& node, const Tile& tile, bool centered,
                const ir::DeviceInfo& device, Launch* launch) {
  if (IsTotal(node)) {
    AddTotalOptions(node, centered, device, launch);
  } else {
    AddByteOptions(node, centered, device, launch);
  }
  launch->Type("IN1", node.inputs[1])
      .Option(StrCat("-DROWS=", tile.rows))
      .Option(StrCat("-DBLOCKS=", tile.blocks));
  if (tile.part > 0) launch->Option(StrCat("-DPART=", tile.part));
}

Status PackRows(const ir::KernelNode& node, const GemmProblem& problem,
                const Tile& tile, bool centered, const ir::DeviceInfo& device,
                ir::Lowering* lowering) {
  const GemmFactor& a = problem.a;
  Launch launch("ops/gemm/gemm_i8.cl", "gemm_i8_rows");
  AddOptions(node, tile, centered, device, &launch);
  if (a.depth_step != 1) launch.Option("-DNEIGHBOURS");
  launch.Input("x", node, a.input)
      .Scratch("panels",
               RowInts(problem, tile) * a.batches * int64_t{sizeof(int32_t)},
               sizeof(int32_t));
  return launch.Struct("source", FactorFields(a))
      .Int("depth", problem.depth)
      .Int("panel_count", RowPanels(problem, tile))
      .Global(RowPanels(problem, tile), a.batches)
      .Local(1)
      .AppendTo(lowering);
}

// Panels and their table in scratch memory.
Status PackColumns(const ir::KernelNode& node, const GemmProblem& problem,
                   const Tile& tile, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  const GemmFactor& b = problem.b;
  const int32_t zero = VariableWeightZero(node.inputs[1]);
  const int64_t blocks = ColumnPanels(problem, tile) * tile.blocks;
  Launch launch("ops/gemm/gemm_i8.cl", "gemm_i8_columns");
  AddOptions(node, tile, zero == 0, device, &launch);
  if (b.depth_step != 1) launch.Option("-DNEIGHBOURS");
  launch.Input("x", node, b.input)
      .Scratch("panels",
               ColumnInts(problem, tile) * b.batches * int64_t{sizeof(int32_t)},
               sizeof(int32_t))
      .Scratch("channels",
               TableInts(problem, tile) * b.batches * int64_t{sizeof(int32_t)},
               sizeof(int32_t));
  return launch.Struct("source", FactorFields(b))
      .Int("depth", problem.depth)
      .Int("panel_count", ColumnPanels(problem, tile))
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("weight_zero", zero)
      .Float("factor", RuleOf(DescsOf(node), 0).factor)
      .Global(blocks, b.batches)
      .Local(1)
      .AppendTo(lowering);
}

// The rows are packed by a launch, as are columns that are not constant.
Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const GemmProblem& problem,
                           const ir::DeviceInfo& device) {
  const Tile tile = TileFor(node, problem, device);
  const ByteWeights weights = GemmWeightsOf(problem);
  const bool constant = IsConstantFactor(node, problem.b);
  ByteShifts shifts;
  if (constant) {
    shifts = ByteShiftsOf(node, weights);
  } else {
    shifts.centered = VariableWeightZero(node.inputs[1]) == 0;
  }
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(
      PackRows(node, problem, tile, shifts.centered, device, &lowering));
  if (!constant) {
    TIM_RETURN_IF_ERROR(PackColumns(node, problem, tile, device, &lowering));
  }
  Launch launch("ops/gemm/gemm_i8.cl", "gemm_i8");
  AddOptions(node, tile, shifts.centered, device, &launch);
  launch.EarlierScratch("a", 0, sizeof(int32_t));
  if (constant) {
    launch
        .Packed("b", ConstantColumns(node, problem, tile, shifts),
                sizeof(int32_t))
        .Packed("channels", ByteTable(node, weights, shifts), sizeof(int32_t));
  } else {
    launch.EarlierScratch("b", 1, sizeof(int32_t))
        .EarlierScratch("channels", 2, sizeof(int32_t));
  }
  const ir::TensorDesc& result = node.outputs[0];
  launch.Output("output", node, 0)
      .Int("output_zero",
           result.quantized() ? result.quantization.ZeroPoint() : 0);
  AddActivation(problem.epilogue, result, &launch);
  GemmFactor a = problem.a;
  GemmFactor b = problem.b;
  a.batch_step = a.batches > 1 ? RowInts(problem, tile) : 0;
  b.batch_step = b.batches > 1 ? ColumnInts(problem, tile) : 0;
  launch.Struct("a_source", FactorFields(a))
      .Struct("b_source", FactorFields(b))
      .Int("depth", problem.depth)
      .Int("channels_batch", b.batches > 1 ? TableInts(problem, tile) : 0)
      .Global(RowPanels(problem, tile), ColumnPanels(problem, tile),
              problem.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

const GemmProvider kGemmI8 = {.name = "gemm_i8",
                              .device_kind = "opencl",
                              .supports = Supports,
                              .cost = Cost,
                              .lower = Lower};

}  // namespace tim::ops
