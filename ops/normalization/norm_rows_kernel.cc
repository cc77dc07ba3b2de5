// Kernels of norm_rows.h.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/normalization/norm_rows.h"

namespace tim::ops {
namespace {

constexpr int64_t kLanes = 16;
// Of norm_rows_simt.cl.
constexpr int64_t kGroup = 64;
// Shorter rows leave too many lanes, or items of a group, idle.
constexpr int64_t kShortRow = 32;

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

void AddOperands(const RowNormOp& op, const ir::KernelNode& node,
                 const NormRows& rows, Parameters parameters, Launch* launch) {
  launch->Option(StrCat("-DKIND=", KindName(op.kind)))
      .Option(StrCat("-DPARAMETERS=", static_cast<int>(parameters)))
      .Type("IN", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Input("in", node, 0)
      .Output("out", node, 0);
  if (parameters == Parameters::kNone) return;
  const int gamma = op.kind == RowNorm::kRms ? 1 : 2;
  launch->Type("BETA", node.inputs[1]).Type("GAMMA", node.inputs[gamma]);
  launch->Input("beta", node, 1).Input("gamma", node, gamma);
  launch->Packed("axes", PackAxes(rows.axes, 2), 4)
      .Int("axes_count", static_cast<int64_t>(rows.axes.size()))
      .Int("beta_step", rows.steps[0])
      .Int("gamma_step", rows.steps[1]);
}

void AddNumbers(const ir::KernelNode& node, const NormRows& rows,
                Launch* launch) {
  launch->Float("inverse_count", 1.0f / static_cast<float>(rows.count))
      .Float("value", rows.value)
      .InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0]);
}

Result<ir::Lowering> Lower(const RowNormOp& op, const NormRows& dense,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const bool blocked = node.inputs[0].layout.blocked();
  const NormRows rows = blocked ? InBlocks(dense, node.inputs[0]) : dense;
  const bool neighbours = rows.inner == 1;  // Elements of a row are.
  const bool short_rows = rows.count < kShortRow && rows.outer >= rows.count;
  const bool by_lanes = !neighbours || short_rows;
  Launch launch("ops/normalization/norm_rows.cl",
                by_lanes ? "norm_lanes" : "norm_row");
  if (blocked) launch.Option("-DBLOCKED");
  AddOperands(op, node, rows, ParametersOf(rows), &launch);
  launch.InPlace(node, 0).Int("count", rows.count);
  const int64_t lanes = neighbours ? rows.outer : rows.inner;
  launch.Int("rows", lanes);
  if (by_lanes) {
    launch.Int("stride", rows.inner)
        .Int("row_step", neighbours ? rows.count : 1)
        .Int("slice_step", rows.count * rows.inner);
    if (blocked) launch.Int("channels", node.inputs[0].shape[2]);
  }
  AddNumbers(node, rows, &launch);
  if (!by_lanes) return launch.Tiles(device, lanes).Build();
  const int64_t vectors = CeilDiv(lanes, kLanes);
  const int64_t slices = neighbours ? 1 : rows.outer;
  if (device.device_class == ir::DeviceClass::kCpu) {
    return launch.Tiles(device, vectors, slices).Build();
  }
  // A work-item has 8 KiB of sums: no group of a size that the device chooses.
  return launch.Global(AlignUp(vectors, kLanes), slices).Local(kLanes).Build();
}

Result<ir::Lowering> LowerSimt(const RowNormOp& op, const NormRows& rows,
                               const ir::KernelNode& node) {
  const bool group = rows.inner == 1 && rows.count >= kShortRow;
  Launch launch("ops/normalization/norm_rows_simt.cl",
                group ? "norm_group" : "norm_items");
  AddOperands(op, node, rows,
              rows.steps.empty() ? Parameters::kNone : Parameters::kBoth,
              &launch);
  launch.Int("count", rows.count);
  if (!group) launch.Int("inner", rows.inner).Int("rows", rows.rows());
  AddNumbers(node, rows, &launch);
  if (!group) return launch.Items(rows.rows()).Build();
  return launch.Global(rows.rows() * kGroup).Local(kGroup).Build();
}

Result<NormRows> Analyze(const RowNormOp& op, const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return op.rows(AnchorView(node).view());
}

Status CheckGroups(const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  if (device.max_work_group_size < kGroup ||
      device.max_work_item_sizes[0] < kGroup) {
    return Unimplemented("needs work-groups of ", kGroup,
                         " items, the device has ", device.max_work_group_size);
  }
  return OkStatus();
}

// Rows that are the channels' planes may lie in blocks.
std::vector<ir::LayoutTuple> LayoutsOfPlanes(const NormRows&,
                                             const ir::KernelNode& node,
                                             const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& output = node.outputs[0];
  if (!FitsChannelBlocks(node.inputs[0]) || !FitsChannelBlocks(output) ||
      !ConversionKeepsZero(output, output, kernels::ConvertRule::kBits)) {
    return out;
  }
  ir::LayoutTuple blocks = out[0];
  blocks.inputs[0] = blocks.outputs[0] = ChannelBlocks();
  out.push_back(std::move(blocks));
  return out;
}

}  // namespace

ir::KernelDef RowNormKernel(const RowNormOp& op) {
  ir::TypedKernel<NormRows> def{
      .op = "tim." + op.name,
      .name = LowerCase(op.name),
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo&) { return Analyze(op, node); },
      .cost = CostAt(op.kind == RowNorm::kRms ? prices::kRowNormRms
                                              : prices::kRowNorm),
      .lower =
          [op](const NormRows& rows, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return Lower(op, rows, node, device);
          }};
  if (op.planes) def.layouts = LayoutsOfPlanes;
  return def;
}

ir::KernelDef RowNormSimtKernel(const RowNormOp& op) {
  return ir::TypedKernel<NormRows>{
      .op = "tim." + op.name,
      .name = LowerCase(op.name) + "_simt",
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo& device) -> Result<NormRows> {
        TIM_RETURN_IF_ERROR(CheckGroups(device));
        return Analyze(op, node);
      },
      .cost = CostAt(op.kind == RowNorm::kRms ? prices::kRowNormSimtRms
                                              : prices::kRowNormSimt),
      .lower =
          [op](const NormRows& rows, const ir::KernelNode& node,
               const ir::DeviceInfo&) { return LowerSimt(op, rows, node); }};
}

}  // namespace tim::ops
