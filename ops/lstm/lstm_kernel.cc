// Kernels of UnidirectionalSequenceLstm, for all types: one launch makes the
// products of the input of all steps, one goes through the steps.  Operands
// that stay the same are packed as real values, others are arranged by a launch
// each.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/register_tile.h"
#include "ops/lstm/lstm_blocks.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {
namespace {

using In = LstmInput;

using Plan = LstmPlan;

constexpr char kSource[] = "ops/lstm/lstm.cl";

bool HasOutput(const ir::KernelNode& node, size_t output) {
  return output < node.anchor->outputs.size() &&
         node.anchor->outputs[output] != ir::kNone;
}

const char* MacroOf(LstmActivation activation) {
  switch (activation) {
    case LstmActivation::kNone:
      return "LSTM_IDENTITY";
    case LstmActivation::kRelu:
      return "TIM_RELU";
    case LstmActivation::kRelu1:
      return "TIM_RELU1";
    case LstmActivation::kRelu6:
      return "TIM_RELU6";
    case LstmActivation::kTanh:
      return "TIM_TANH";
    case LstmActivation::kSigmoid:
      return "TIM_SIGMOID";
    case LstmActivation::kHardSigmoid:
      return "TIM_HARD_SIGMOID";
  }
  return "LSTM_IDENTITY";
}

// Only sums of which all results are float32 may be rounded otherwise.
void AddArithmetic(const Plan& plan, const ir::KernelNode& node, int64_t rows,
                   Launch* launch) {
  bool exact = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    exact |=
        HasOutput(node, i) && node.outputs[i].type != ir::DataType::kFloat32;
  }
  if (exact) launch->Option("-DTIM_NO_FMA");
  launch->Option(StrCat("-DGATES=", plan.gates()))
      .Option(StrCat("-DROWS=", rows));
}

int64_t RowTile(const Plan& plan, int64_t rows, const ir::DeviceInfo& device) {
  return plan.simt ? 1 : RowsInRegisters(rows, device);
}

Status AppendInput(const Plan& plan, const LstmBlocks& blocks,
                   const ir::KernelNode& node, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  TIM_ASSIGN_OR_RETURN(
      PlacedBlock weights,
      PlacedBlock::Create(plan, blocks.weights, node, lowering));
  std::optional<PlacedBlock> aux;
  if (blocks.aux) {
    TIM_ASSIGN_OR_RETURN(
        aux, PlacedBlock::Create(plan, *blocks.aux, node, lowering));
  }
  const int64_t rows = plan.node.rows();
  const int64_t tile = plan.simt ? 4 : RowTile(plan, rows, device);
  Launch launch = LstmLaunch(plan, kSource, "lstm_input");
  AddArithmetic(plan, node, tile, &launch);
  launch.Type("IN", node.inputs[In::kInput]).Input("input", node, In::kInput);
  std::move(weights).AddTo(&launch);
  if (aux) {
    launch.Type("AUX", node.inputs[In::kAux]).Input("aux", node, In::kAux);
    (*std::move(aux)).AddTo(&launch);
  }
  launch.Scratch(
      "gates",
      rows * plan.vectors * plan.lanes * plan.gates() * int64_t{sizeof(float)},
      sizeof(float));
  launch.InputQuantization("input", node.inputs[In::kInput]);
  if (aux) {
    launch.InputQuantization("aux", node.inputs[In::kAux])
        .Int("aux_width", plan.node.aux_width);
  }
  launch.Int("width", plan.node.width)
      .Int("vectors", plan.vectors)
      .Int("rows", rows);
  if (plan.simt) {
    constexpr int64_t kGroup = 64;
    launch.Global(AlignUp(plan.vectors, kGroup), CeilDiv(rows, tile))
        .Local(kGroup);
  } else {
    launch.Global(plan.vectors, CeilDiv(rows, tile)).Local(1);
  }
  return launch.AppendTo(lowering);
}

struct OptionalOperand {
  const char* option;
  const char* name;
  int index;
};
constexpr OptionalOperand kFirstStates[] = {
    {"STATE", "first_state", In::kState}, {"CELL", "first_cell", In::kCell}};
constexpr OptionalOperand kLastStates[] = {{"STATE_OUT", "last_state", 1},
                                           {"CELL_OUT", "last_cell", 2}};

void AddStates(const Plan& plan, const ir::KernelNode& node, Launch* launch) {
  for (const auto& [option, name, index] : kFirstStates) {
    if (!node.has_input(index)) continue;
    launch->Type(option, node.inputs[index]).Input(name, node, index);
  }
  const LstmNode& of = plan.node;
  const int64_t bytes = plan.lanes * of.batch * int64_t{sizeof(float)};
  launch->Scratch("state", plan.output_vectors * bytes, sizeof(float))
      .Scratch("cell", plan.vectors * bytes, sizeof(float))
      .Type("OUT", node.outputs[0])
      .Output("output", node, 0);
  for (const auto& [option, name, index] : kLastStates) {
    if (!HasOutput(node, index)) continue;
    launch->Type(option, node.outputs[index]).Output(name, node, index);
  }
  for (const auto& [option, name, index] : kFirstStates) {
    if (!node.has_input(index)) continue;
    launch->InputQuantization(name, node.inputs[index]);
  }
  launch->OutputQuantization("output", node.outputs[0]);
  for (const auto& [option, name, index] : kLastStates) {
    if (!HasOutput(node, index)) continue;
    launch->OutputQuantization(name, node.outputs[index]);
  }
}

void AddSizes(const Plan& plan, Launch* launch) {
  const LstmNode& of = plan.node;
  launch->Float("cell_clip", of.cell_clip)
      .Float("proj_clip", of.proj_clip)
      .Float("inverse_units", 1.0f / static_cast<float>(of.units))
      .Int("units", of.units)
      .Int("vectors", plan.vectors)
      .Int("outputs", of.outputs)
      .Int("output_vectors", plan.output_vectors)
      .Int("steps", of.steps)
      .Int("batch", of.batch)
      .Int("step_stride", of.step_stride())
      .Int("batch_stride", of.batch_stride());
}

Status AppendSteps(const Plan& plan, const LstmBlocks& blocks,
                   const ir::KernelNode& node, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  const int gates = static_cast<int>(lowering->scratch.size()) - 1;
  TIM_ASSIGN_OR_RETURN(
      PlacedBlock recurrent,
      PlacedBlock::Create(plan, blocks.recurrent, node, lowering));
  TIM_ASSIGN_OR_RETURN(
      PlacedBlock parameters,
      PlacedBlock::Create(plan, blocks.parameters, node, lowering));
  std::optional<PlacedBlock> projection;
  if (blocks.projection) {
    TIM_ASSIGN_OR_RETURN(
        projection,
        PlacedBlock::Create(plan, *blocks.projection, node, lowering));
  }
  const LstmNode& of = plan.node;
  const int64_t tile = RowTile(plan, of.batch, device);
  Launch launch = LstmLaunch(plan, kSource, "lstm_steps");
  AddArithmetic(plan, node, tile, &launch);
  launch.Option(StrCat("-DACT=", MacroOf(of.activation)))
      .Option(StrCat("-DRHO=", MacroOf(of.gate_activation)))
      .Policy(node.attributes());
  if (of.peephole) launch.Option("-DPEEPHOLE");
  if (of.norm) launch.Option("-DNORM");
  if (of.sequences) launch.Option("-DSEQUENCES");
  launch.EarlierScratch("gates", gates, sizeof(float));
  std::move(recurrent).AddTo(&launch);
  std::move(parameters).AddTo(&launch);
  if (of.projection) {
    launch.Option("-DPROJECTION");
    (*std::move(projection)).AddTo(&launch);
    launch.Scratch(
        "hidden", plan.vectors * plan.lanes * of.batch * int64_t{sizeof(float)},
        sizeof(float));
  }
  AddStates(plan, node, &launch);
  AddSizes(plan, &launch);
  const int64_t items =
      plan.simt ? std::min<int64_t>(64, device.max_work_group_size) : 1;
  TIM_RETURN_IF_ERROR(launch.Global(CeilDiv(of.batch, tile) * items)
                          .Local(items)
                          .AppendTo(lowering));
  MarkScratchWritten(lowering);
  return OkStatus();
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device, bool simt) {
  const Plan plan = LstmPlanOf(node, simt);
  const LstmBlocks blocks = LstmBlocksOf(plan, node);
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(AppendInput(plan, blocks, node, device, &lowering));
  TIM_RETURN_IF_ERROR(AppendSteps(plan, blocks, node, device, &lowering));
  return lowering;
}

// Sums and weights in vectors are as many floats as `int` counts.
Status CheckSizes(const Plan& plan) {
  const LstmNode& of = plan.node;
  const int64_t depth =
      std::max({of.rows(), of.width, of.aux_width, of.outputs});
  const auto floats =
      CheckedMul(plan.vectors * plan.lanes * plan.gates(), depth);
  if (floats.has_value() && *floats < (int64_t{1} << 31) - 64)
    return OkStatus();
  return Unimplemented("the sums or weights are too many for kernels");
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device,
                bool simt) {
  TIM_RETURN_IF_ERROR(simt ? CheckNoCpu(device) : CheckCpu(device));
  TIM_RETURN_IF_ERROR(RefuseEpilogue(node));
  ir::KernelNode bound = node;  // Absent outputs have no type.
  bound.outputs.clear();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (HasOutput(node, i)) bound.outputs.push_back(node.outputs[i]);
  }
  TIM_RETURN_IF_ERROR(CheckKernelOperands(
      bound, {3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
              18, 19, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31, 32}));
  const Plan plan = LstmPlanOf(node, simt);
  TIM_RETURN_IF_ERROR(CheckBlockQuantization(LstmBlocksOf(plan, node), node));
  return CheckSizes(plan);
}

ir::KernelDef Kernel(bool simt) {
  ir::KernelDef kernel;
  kernel.op = "tim.UnidirectionalSequenceLstm";
  kernel.name = simt ? "lstm_simt" : "lstm";
  kernel.supports = [simt](const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
    return Supports(node, device, simt);
  };
  kernel.cost = [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
    return ir::EstimateMicroseconds(EstimateLstm(AnchorView(node).view()),
                                    device, 0.3);
  };
  kernel.lower = [simt](const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
    return Lower(node, device, simt);
  };
  return kernel;
}

}  // namespace

TIM_OPERATOR(lstm_kernel) {
  registry.Add(Kernel(/*simt=*/false));
  registry.Add(Kernel(/*simt=*/true));
}

}  // namespace tim::ops
