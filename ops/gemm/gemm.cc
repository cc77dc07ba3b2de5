// Float32 matrix products on packed panels, by ops/gemm/gemm.cl, for CPUs.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "ops/elements/product_sum.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

// What one work-item computes: rows x 2 vectors.
struct Tile {
  int64_t rows = 12;
  int64_t width = 16;

  int64_t columns() const { return 2 * width; }
};

// As many sums as fit the registers beside two vectors of b: 32 registers of 16
// floats, 16 of 8 or 4.  A row that no tile fills is computed in vain.
Tile TileFor(const ir::KernelNode& node, const GemmProblem& problem,
             const ir::DeviceInfo& device) {
  Tile tile;
  tile.width = device.float_vector_width >= 16  ? 16
               : device.float_vector_width >= 8 ? 8
                                                : 4;
  const int64_t limit = tile.width == 16 ? 12 : 6;
  if (node.many_shapes) {
    tile.rows = limit;
    return tile;
  }
  const int64_t tiles = CeilDiv(problem.a.items, limit);
  tile.rows = CeilDiv(problem.a.items, tiles);
  return tile;
}

int64_t PanelFloats(const GemmFactor& factor, int64_t depth, int64_t size) {
  return CeilDiv(factor.items, size) * size * depth;
}

// C++ twin of gemm_pack: visit(index, place) of every element.
template <typename Visit>
void ForEachOfPanels(const GemmFactor& factor, int64_t depth, int64_t size,
                     const Visit& visit) {
  const int64_t floats = PanelFloats(factor, depth, size);
  for (int64_t batch = 0; batch < factor.batches; ++batch) {
    for (int64_t item = 0; item < factor.items; ++item) {
      const int64_t panel =
          batch * floats + item / size * size * depth + item % size;
      const int64_t from = batch * factor.batch_step + item * factor.item_step;
      for (int64_t k = 0; k < depth; ++k) {
        visit(from + k * factor.depth_step, panel + k * size);
      }
    }
  }
}

ir::PackedConstant ConstantPanels(const ir::KernelNode& node,
                                  const GemmFactor& factor, int64_t depth,
                                  int64_t size) {
  const int64_t floats = PanelFloats(factor, depth, size);
  return CopiedFloats(
      StrCat("gemm panels of ", size, ", items ", factor.items, " step ",
             factor.item_step, ", depth ", depth, " step ", factor.depth_step,
             ", batches ", factor.batches, " step ", factor.batch_step),
      node, factor.input, factor.items * depth * factor.batches,
      floats * factor.batches,
      [=](const auto& visit) { ForEachOfPanels(factor, depth, size, visit); });
}

constexpr int64_t kMostPositions = std::numeric_limits<int32_t>::max();

// How gemm reads the rows of a.
enum class RowsOfA {
  kPanels,   // packed
  kInPlace,  // where they are: as many streams as a tile has rows
  kCopied,   // the same, another distance apart
};

// Between rows that were copied.
int64_t CopiedStep(int64_t depth, const Tile& tile) {
  return depth + tile.width;
}
int64_t CopiedFloats(const GemmFactor& a, int64_t depth, const Tile& tile) {
  return a.items * a.batches * CopiedStep(depth, tile);
}

RowsOfA ChooseRows(const ir::KernelNode& node, const GemmProblem& problem,
                   const Tile& tile) {
  // Rows a multiple of 4 KiB apart share one set of a first-level cache.  The
  // product is then a tenth slower, more than a copy takes from 8 tiles on.
  constexpr int64_t kSetStep = 4096 / sizeof(float);
  constexpr int64_t kColumnTiles = 8;
  const GemmFactor& a = problem.a;
  // The distance of rows is an option of the program.
  if (node.constants[a.input] != nullptr || a.depth_step != 1 ||
      node.many_shapes) {
    return RowsOfA::kPanels;
  }
  const bool share_sets = a.item_step % kSetStep == 0;
  const bool fits = CopiedFloats(a, problem.depth, tile) <= kMostPositions;
  const bool many_tiles =
      a.items > tile.rows && problem.b.items >= kColumnTiles * tile.columns();
  return share_sets && many_tiles && fits ? RowsOfA::kCopied
                                          : RowsOfA::kInPlace;
}

// A factor as gemm reads it: a packed constant, scratch memory of an earlier
// step, or the input itself.
struct Source {
  std::optional<ir::PackedConstant> constant = std::nullopt;
  int scratch = -1;
  int input = -1;
  int64_t item_step = 0;  // 0: panels
  int64_t batch_step = 0;
};

// Adds the launch that packs a factor into scratch memory.
Result<Source> MakePanels(const ir::KernelNode& node, const GemmFactor& factor,
                          int64_t depth, int64_t size, int64_t width,
                          ir::Lowering* lowering) {
  const int64_t panel_floats = PanelFloats(factor, depth, size);
  Source source = {.batch_step = factor.batches > 1 ? panel_floats : 0};
  if (node.constants[factor.input] != nullptr) {
    source.constant = ConstantPanels(node, factor, depth, size);
    return source;
  }
  const int64_t panels = CeilDiv(factor.items, size);
  Launch launch("ops/gemm/gemm.cl", "gemm_pack");
  launch.Option(StrCat("-DSIZE=", size)).Option(StrCat("-DWIDTH=", width));
  if (factor.item_step == 1) launch.Option("-DNEIGHBOURS");
  launch.Input("x", node, factor.input)
      .Scratch("panels", panel_floats * factor.batches * int64_t{sizeof(float)},
               sizeof(float));
  launch.Struct("source", FactorFields(factor))
      .Int("depth", depth)
      .Int("panel_count", panels)
      .Global(CeilDiv(depth, 16), panels, factor.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  source.scratch = static_cast<int>(lowering->scratch.size()) - 1;
  return source;
}

// Adds the launch that copies rows into scratch memory.
Result<Source> CopyRows(const ir::KernelNode& node, const GemmFactor& factor,
                        int64_t depth, const Tile& tile,
                        ir::Lowering* lowering) {
  const int64_t row_step = CopiedStep(depth, tile);
  Launch launch("ops/gemm/gemm.cl", "gemm_rows");
  launch.Option(StrCat("-DWIDTH=", tile.width))
      .Input("x", node, factor.input)
      .Scratch("rows",
               CopiedFloats(factor, depth, tile) * int64_t{sizeof(float)},
               sizeof(float));
  launch.Struct("source", FactorFields(factor))
      .Int("depth", depth)
      .Int("row_step", row_step)
      .Global(factor.items, factor.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  return Source{.scratch = static_cast<int>(lowering->scratch.size()) - 1,
                .item_step = row_step,
                .batch_step = factor.batches > 1 ? factor.items * row_step : 0};
}

Result<Source> MakeRows(const ir::KernelNode& node, const GemmProblem& problem,
                        const Tile& tile, ir::Lowering* lowering) {
  const GemmFactor& a = problem.a;
  switch (ChooseRows(node, problem, tile)) {
    case RowsOfA::kPanels:
      return MakePanels(node, a, problem.depth, tile.rows, tile.width,
                        lowering);
    case RowsOfA::kCopied:
      return CopyRows(node, a, problem.depth, tile, lowering);
    case RowsOfA::kInPlace:
      break;
  }
  return Source{
      .input = a.input, .item_step = a.item_step, .batch_step = a.batch_step};
}

void AddSource(const std::string& name, const ir::KernelNode& node,
               Source source, Launch* launch) {
  if (source.constant) {
    launch->Packed(name, *std::move(source.constant), sizeof(float));
  } else if (source.input >= 0) {
    launch->Input(name, node, source.input);
  } else {
    launch->EarlierScratch(name, source.scratch, sizeof(float));
  }
}

Status Supports(const ir::KernelNode& node, const GemmProblem& problem,
                const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  const Tile tile = TileFor(node, problem, device);
  for (const auto& [factor, size] : {std::pair(problem.a, tile.rows),
                                     std::pair(problem.b, tile.columns())}) {
    const auto floats =
        CheckedMul(PanelFloats(factor, problem.depth, size), factor.batches);
    if (!floats || *floats > kMostPositions) {
      return Unimplemented("panels of more than 2^31 floats");
    }
  }
  return OkStatus();
}

double Cost(const ir::KernelNode& node, const GemmProblem& problem,
            const ir::DeviceInfo& device) {
  const Tile tile = TileFor(node, problem, device);
  ir::ComputeEstimate estimate;
  // Rows and columns beyond the matrix are computed, too.
  estimate.flops = 2.0 * AlignUp(problem.a.items, tile.rows) *
                   AlignUp(problem.b.items, tile.columns()) * problem.depth *
                   problem.batches;
  double cost = 0;
  const auto add = [&](const GemmFactor& factor, bool packed) {
    const double bytes = 4.0 * factor.items * problem.depth * factor.batches;
    estimate.bytes_read += bytes;
    if (!packed || node.constants[factor.input] != nullptr) return;
    cost += EstimateMicroseconds(
        {.flops = 0, .bytes_read = bytes, .bytes_written = bytes}, device,
        prices::kPacking);
  };
  add(problem.a, ChooseRows(node, problem, tile) != RowsOfA::kInPlace);
  add(problem.b, true);
  return cost + EstimateMicroseconds(estimate, device, prices::kGemm);
}

// Constant factors are packed at Compile, others by a launch of their own; rows
// of a that are contiguous are read where they are.
Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const GemmProblem& problem,
                           const ir::DeviceInfo& device) {
  const Tile tile = TileFor(node, problem, device);
  const int64_t depth = problem.depth;
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(Source a, MakeRows(node, problem, tile, &lowering));
  TIM_ASSIGN_OR_RETURN(
      Source b, MakePanels(node, problem.b, depth, tile.columns(), tile.width,
                           &lowering));
  GemmFactor a_source = problem.a;
  GemmFactor b_source = problem.b;
  a_source.batch_step = a.batch_step;
  b_source.batch_step = b.batch_step;
  Launch launch("ops/gemm/gemm.cl", "gemm");
  launch.Option(StrCat("-DROWS=", tile.rows))
      .Option(StrCat("-DWIDTH=", tile.width));
  if (a.item_step != 0) launch.Option(StrCat("-DA_STEP=", a.item_step));
  AddSource("a", node, std::move(a), &launch);
  AddSource("b", node, std::move(b), &launch);
  AddEpilogue(node, problem.bias, problem.epilogue, &launch);
  launch.Struct("a_source", FactorFields(a_source))
      .Struct("b_source", FactorFields(b_source))
      .Int("depth", depth)
      .Global(CeilDiv(problem.a.items, tile.rows),
              CeilDiv(problem.b.items, tile.columns()), problem.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

const GemmProvider kGemmPanels = {.name = "gemm",
                                  .device_kind = "opencl",
                                  .supports = Supports,
                                  .cost = Cost,
                                  .lower = Lower};

}  // namespace tim::ops
