// Launches of norm_rows.cl and norm_rows_simt.cl.
#include "ops/normalization/norm_rows_launch.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

constexpr int64_t kLanes = 16;
// Work-items of a group of norm_rows_simt.cl.
constexpr int64_t kGroup = 64;
// Elements that take a work-item about as long as a launch.
constexpr int64_t kLongItem = 4096;

const char* KindName(RowNorm kind) {
  constexpr const char* kNames[] = {"MOMENTS", "L2", "LOG_SOFTMAX", "RMS"};
  return kNames[static_cast<int>(kind)];
}

// PARAMETERS of norm_rows.cl.
enum class Parameters { kNone, kAlongRows, kOfRows, kBoth };

Parameters ParametersOf(const NormRows& rows) {
  if (rows.steps.empty()) return Parameters::kNone;
  const auto is_zero = [](int64_t stride) { return stride == 0; };
  bool same_for_all = true;
  for (const Axis& axis : rows.axes) {
    same_for_all &=
        std::all_of(axis.strides.begin(), axis.strides.end(), is_zero);
  }
  if (same_for_all) return Parameters::kAlongRows;
  return std::all_of(rows.steps.begin(), rows.steps.end(), is_zero)
             ? Parameters::kOfRows
             : Parameters::kBoth;
}

// The dense layout's [W * H, C, N] in blocks: 16 rows beside each other.
NormRows InBlocks(const NormRows& rows, const ir::TensorDesc& input) {
  const int64_t channels = AlignUp(input.shape[2], kChannelBlock);
  NormRows out = rows;
  out.inner = kChannelBlock;
  out.outer = channels / kChannelBlock * input.shape[3];
  out.axes = {{.extent = channels, .strides = {1, 1}},
              {.extent = input.shape[3], .strides = {0, 0}}};
  return out;
}

// Rows that lie one after the other are made one by one, in vectors along them,
// but where they are many and short.
bool AreMadeByLanes(const NormRows& rows) {
  return rows.inner != 1 ||
         (rows.count < kShortRow && rows.outer >= rows.count);
}

void AddOperands(const RowNormOp& op, const ir::KernelNode& node,
                 const RowNormProblem& problem, const NormRows& rows,
                 Parameters parameters, Launch* launch) {
  launch->Option(StrCat("-DKIND=", KindName(op.kind)))
      .Option(StrCat("-DPARAMETERS=", static_cast<int>(parameters)))
      .Type("IN", node.inputs[problem.in])
      .Type("OUT", node.outputs[0])
      .Input("in", node, problem.in)
      .Output("out", node, 0);
  if (problem.summand >= 0) {
    launch->Option("-DSUMMAND")
        .Input("summand", node, problem.summand)
        .Int("summand_rows", problem.summand_rows);
  }
  if (parameters == Parameters::kNone) return;
  const int beta = problem.parameters[0];
  const int gamma = problem.parameters[1];
  launch->Type("BETA", node.inputs[beta]).Type("GAMMA", node.inputs[gamma]);
  launch->Input("beta", node, beta).Input("gamma", node, gamma);
  launch->Packed("axes", PackAxes(rows.axes, 2), 4)
      .Int("axes_count", static_cast<int64_t>(rows.axes.size()))
      .Int("beta_step", rows.steps[0])
      .Int("gamma_step", rows.steps[1]);
}

void AddNumbers(const ir::KernelNode& node, const RowNormProblem& problem,
                Launch* launch) {
  const NormRows& rows = problem.rows;
  launch->Float("inverse_count", 1.0f / static_cast<float>(rows.count))
      .Float("value", rows.value);
  if (problem.activation.operators > 0) {
    launch->Option("-DACTIVATED");
    AddActivation(problem.activation, node.outputs[0], launch);
  }
  launch->Applies(problem.operators - problem.activation.operators)
      .InputQuantization("in", node.inputs[problem.in])
      .OutputQuantization("out", node.outputs[0]);
}

}  // namespace

Result<Epilogue> RowActivation(const NormRows& rows, const ir::KernelNode& node,
                               std::span<const ir::EpilogueStep> steps,
                               const ir::TensorDesc& begin,
                               const ir::DeviceInfo& device) {
  if (steps.empty()) return Epilogue();
  if (begin.type != ir::DataType::kFloat32) {
    return Unimplemented("operators are fused with float32 results, not ",
                         ir::ToString(begin.type));
  }
  const std::string& name = steps[0].node->schema->name;
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, steps, begin, /*channel_axis=*/0));
  if (epilogue.add >= 0) return Unimplemented("a fused ", name);
  if (epilogue.formula.pointwise != nullptr) {
    TIM_RETURN_IF_ERROR(CheckSpread(rows, name, device));
  }
  return epilogue;
}

Status CheckSpread(const NormRows& rows, const std::string& name,
                   const ir::DeviceInfo& device) {
  int64_t items = rows.rows();
  if (AreMadeByLanes(rows)) {
    items = rows.inner == 1 ? CeilDiv(rows.outer, kLanes)
                            : CeilDiv(rows.inner, kLanes) * rows.outer;
  }
  const int64_t elements = rows.count * rows.rows();
  if (items >= device.compute_units || elements <= items * kLongItem) {
    return OkStatus();
  }
  return Unimplemented("a fused ", name, " of few rows of ", rows.count,
                       " elements");
}

Status CheckRowGroups(const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  return CheckWorkGroup(device, {kGroup});
}

const Price& RowNormPrice(RowNorm kind) {
  return kind == RowNorm::kRms ? prices::kRowNormRms : prices::kRowNorm;
}

const Price& SharedRowNormPrice(RowNorm kind) {
  return kind == RowNorm::kRms ? prices::kRowNormSimtRms : prices::kRowNormSimt;
}

Result<ir::Lowering> LowerRows(const RowNormOp& op,
                               const RowNormProblem& problem,
                               const ir::KernelNode& node,
                               const ir::DeviceInfo& device) {
  const ir::TensorDesc& input = node.inputs[problem.in];
  const bool blocked = input.layout.blocked();
  const NormRows rows = blocked ? InBlocks(problem.rows, input) : problem.rows;
  const bool neighbours = rows.inner == 1;  // Elements of a row are.
  const bool by_lanes = AreMadeByLanes(rows);
  Launch launch("ops/normalization/norm_rows.cl",
                by_lanes ? "norm_lanes" : "norm_row");
  if (blocked) launch.Option("-DBLOCKED");
  AddOperands(op, node, problem, rows, ParametersOf(rows), &launch);
  launch.InPlace(node, problem.in);
  if (problem.summand >= 0) launch.InPlace(node, problem.summand);
  launch.Int("count", rows.count);
  const int64_t lanes = neighbours ? rows.outer : rows.inner;
  launch.Int("rows", lanes);
  if (by_lanes) {
    launch.Int("stride", rows.inner)
        .Int("row_step", neighbours ? rows.count : 1)
        .Int("slice_step", rows.count * rows.inner);
    if (blocked) launch.Int("channels", input.shape[2]);
  }
  AddNumbers(node, problem, &launch);
  if (!by_lanes) return launch.Tiles(device, lanes).Build();
  const int64_t vectors = CeilDiv(lanes, kLanes);
  const int64_t slices = neighbours ? 1 : rows.outer;
  if (device.device_class == ir::DeviceClass::kCpu) {
    return launch.Tiles(device, vectors, slices).Build();
  }
  // A work-item has 8 KiB of sums: no group of a size that the device chooses.
  return launch.Global(AlignUp(vectors, kLanes), slices).Local(kLanes).Build();
}

Result<ir::Lowering> LowerSharedRows(const RowNormOp& op,
                                     const RowNormProblem& problem,
                                     const ir::KernelNode& node) {
  const NormRows& rows = problem.rows;
  const bool group = rows.inner == 1 && rows.count >= kShortRow;
  Launch launch("ops/normalization/norm_rows_simt.cl",
                group ? "norm_group" : "norm_items");
  AddOperands(op, node, problem, rows,
              rows.steps.empty() ? Parameters::kNone : Parameters::kBoth,
              &launch);
  launch.Int("count", rows.count);
  if (!group) launch.Int("inner", rows.inner).Int("rows", rows.rows());
  AddNumbers(node, problem, &launch);
  if (!group) return launch.Items(rows.rows()).Build();
  return launch.Global(rows.rows() * kGroup).Local(kGroup).Build();
}

}  // namespace tim::ops
