#include "ops/internal/gemm.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ops/internal/device_class.h"
#include "ops/internal/launch.h"
#include "ops/internal/product_sum.h"

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
Tile TileFor(const GemmProblem& problem, const ir::DeviceInfo& device) {
  Tile tile;
  tile.width = device.float_vector_width >= 16  ? 16
               : device.float_vector_width >= 8 ? 8
                                                : 4;
  const int64_t limit = tile.width == 16 ? 12 : 6;
  const int64_t tiles = CeilDiv(problem.a.items, limit);
  tile.rows = CeilDiv(problem.a.items, tiles);
  return tile;
}

int64_t PanelFloats(const GemmFactor& factor, int64_t depth, int64_t size) {
  return CeilDiv(factor.items, size) * size * depth;
}

// C++ twin of gemm_pack for one batch.
void PackPanels(const GemmFactor& factor, int64_t depth, int64_t size,
                const float* x, float* out) {
  for (int64_t item = 0; item < factor.items; ++item) {
    float* panel = out + item / size * size * depth + item % size;
    const float* from = x + item * factor.item_step;
    for (int64_t k = 0; k < depth; ++k) {
      panel[k * size] = from[k * factor.depth_step];
    }
  }
}

ir::PackedConstant ConstantPanels(
    const GemmFactor& factor, int64_t depth, int64_t size,
    std::shared_ptr<const ir::ConstantData> constant) {
  const int64_t floats = PanelFloats(factor, depth, size);
  return {.id = StrCat("gemm panels of ", size, ", items ", factor.items,
                       " step ", factor.item_step, ", depth ", depth, " step ",
                       factor.depth_step, ", batches ", factor.batches,
                       " step ", factor.batch_step),
          .sources = {factor.input},
          .bytes = floats * factor.batches * int64_t{sizeof(float)},
          .pack = [=](std::span<std::byte> bytes) {
            std::memset(bytes.data(), 0, bytes.size());
            const auto* x =
                reinterpret_cast<const float*>(constant->bytes.data());
            auto* out = reinterpret_cast<float*>(bytes.data());
            for (int64_t batch = 0; batch < factor.batches; ++batch) {
              PackPanels(factor, depth, size, x + batch * factor.batch_step,
                         out + batch * floats);
            }
            return OkStatus();
          }};
}

// Adds the launch that packs a factor into scratch memory, whose index it
// returns.
Result<int> AppendPacking(const ir::KernelNode& node, const GemmFactor& factor,
                          int64_t depth, int64_t size, ir::Lowering* lowering) {
  const int64_t panels = CeilDiv(factor.items, size);
  Launch launch("ops/gemm.cl", "gemm_pack");
  launch.Option(StrCat("-DSIZE=", size));
  if (factor.item_step == 1) launch.Option("-DNEIGHBOURS");
  launch.Input(node, factor.input)
      .Scratch(PanelFloats(factor, depth, size) * factor.batches *
                   int64_t{sizeof(float)},
               sizeof(float));
  launch.Int(factor.items)
      .Int(depth)
      .Int(factor.item_step)
      .Int(factor.depth_step)
      .Int(factor.batch_step)
      .Int(panels)
      .Int(factor.batches)
      .Global(CeilDiv(depth, 16), panels, factor.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  return static_cast<int>(lowering->scratch.size()) - 1;
}

// A factor's panels: a packed constant, scratch memory of an earlier step, or
// the input itself.
struct Panels {
  std::optional<ir::PackedConstant> constant;
  int scratch = -1;
  int input = -1;
};

// The rows of one tile need no panel where each is contiguous.
bool IsOnePanel(const ir::KernelNode& node, const GemmFactor& a, int64_t rows) {
  return a.items == rows && a.depth_step == 1 &&
         node.constants[a.input] == nullptr;
}

Result<Panels> MakePanels(const ir::KernelNode& node, const GemmFactor& factor,
                          int64_t depth, int64_t size, ir::Lowering* lowering) {
  Panels panels;
  if (node.constants[factor.input] != nullptr) {
    panels.constant =
        ConstantPanels(factor, depth, size, node.constants[factor.input]);
    return panels;
  }
  TIM_ASSIGN_OR_RETURN(panels.scratch,
                       AppendPacking(node, factor, depth, size, lowering));
  return panels;
}

void AddPanels(const ir::KernelNode& node, Panels panels, Launch* launch) {
  if (panels.constant) {
    launch->Packed(*std::move(panels.constant), sizeof(float));
  } else if (panels.input >= 0) {
    launch->Input(node, panels.input);
  } else {
    launch->EarlierScratch(panels.scratch, sizeof(float));
  }
}

}  // namespace

Status CheckGemm(const ir::KernelNode& node, const GemmProblem& problem,
                 const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  const Tile tile = TileFor(problem, device);
  for (const auto& [factor, size] : {std::pair(problem.a, tile.rows),
                                     std::pair(problem.b, tile.columns())}) {
    const auto floats =
        CheckedMul(PanelFloats(factor, problem.depth, size), factor.batches);
    if (!floats || *floats > std::numeric_limits<int32_t>::max()) {
      return Unimplemented("panels of more than 2^31 floats");
    }
  }
  return OkStatus();
}

double GemmCost(const GemmProblem& problem, const ir::KernelNode& node,
                const ir::DeviceInfo& device) {
  constexpr double kEfficiency = 0.8;
  constexpr double kMemoryEfficiency = 0.9;
  const Tile tile = TileFor(problem, device);
  ir::ComputeEstimate estimate;
  // Rows and columns beyond the matrix are computed, too.
  estimate.flops = 2.0 * AlignUp(problem.a.items, tile.rows) *
                   AlignUp(problem.b.items, tile.columns()) * problem.depth *
                   problem.batches;
  double cost = 0;
  for (const GemmFactor& factor : {problem.a, problem.b}) {
    const double bytes = 4.0 * factor.items * problem.depth * factor.batches;
    estimate.bytes_read += bytes;
    if (node.constants[factor.input] != nullptr ||
        (factor.input == problem.a.input &&
         IsOnePanel(node, factor, tile.rows))) {
      continue;
    }
    cost += ir::EstimateMicroseconds(
        {.flops = 0, .bytes_read = bytes, .bytes_written = bytes}, device, 1.0);
  }
  return cost + ir::EstimateMicroseconds(estimate, device, kEfficiency,
                                         kMemoryEfficiency);
}

Result<ir::Lowering> LowerGemm(const ir::KernelNode& node,
                               const GemmProblem& problem,
                               const Epilogue& epilogue,
                               const ir::DeviceInfo& device) {
  const Tile tile = TileFor(problem, device);
  const int64_t depth = problem.depth;
  ir::Lowering lowering;
  const bool one_panel = IsOnePanel(node, problem.a, tile.rows);
  Panels a;
  if (one_panel) {
    a.input = problem.a.input;
  } else {
    TIM_ASSIGN_OR_RETURN(
        a, MakePanels(node, problem.a, depth, tile.rows, &lowering));
  }
  TIM_ASSIGN_OR_RETURN(
      Panels b, MakePanels(node, problem.b, depth, tile.columns(), &lowering));
  const auto batch_step = [&](const GemmFactor& factor, int64_t size) {
    return factor.batches > 1 ? PanelFloats(factor, depth, size) : 0;
  };
  Launch launch("ops/gemm.cl", "gemm");
  launch.Option(StrCat("-DROWS=", tile.rows))
      .Option(StrCat("-DWIDTH=", tile.width));
  if (one_panel) launch.Option("-DONE_PANEL");
  AddPanels(node, std::move(a), &launch);
  AddPanels(node, std::move(b), &launch);
  if (problem.bias >= 0) launch.Option("-DBIAS").Input(node, problem.bias);
  if (epilogue.add >= 0) launch.Option("-DADD").Input(node, epilogue.add);
  launch.Output(node, 0);
  AddLimits(epilogue, node.outputs[0], &launch);
  launch.Int(problem.b.items)
      .Int(problem.a.items)
      .Int(depth)
      .Int(one_panel ? problem.a.batch_step : batch_step(problem.a, tile.rows))
      .Int(batch_step(problem.b, tile.columns()))
      .Int(problem.a.item_step)
      .Global(CeilDiv(problem.a.items, tile.rows),
              CeilDiv(problem.b.items, tile.columns()), problem.batches)
      .Local(1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace tim::ops
