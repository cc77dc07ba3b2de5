// Kernels of UnidirectionalSequenceLstm, for all types: one launch makes the
// products of the input of all steps, then one goes through the steps, or each
// step is a launch.  Operands that stay the same are packed as real values,
// others are arranged by a launch each.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/loop_launches.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"
#include "ops/lstm/lstm_blocks.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {
namespace {

using In = LstmInput;

using Plan = LstmPlan;

constexpr char kStatesSource[] = "ops/lstm/lstm_states.cl";

constexpr int64_t kFloatBytes = sizeof(float);

// Items of a work-group on GPUs.
int64_t GroupItems(const ir::DeviceInfo& device) {
  return std::min<int64_t>(64, device.max_work_group_size);
}

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

// The largest divisor of the gates whose sums fit registers.
int64_t GatesSideBySide(const Plan& plan, int64_t rows,
                        const ir::DeviceInfo& device) {
  int64_t gates = plan.gates();
  if (plan.simt) return gates;
  while (gates > 1 && (plan.gates() % gates != 0 ||
                       gates * rows > BlocksInRegisters(device))) {
    --gates;
  }
  return gates;
}

// Only sums of which all results are float32 may be rounded otherwise.
void AddArithmetic(const Plan& plan, const ir::KernelNode& node, int64_t rows,
                   const ir::DeviceInfo& device, Launch* launch) {
  bool exact = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    exact |=
        HasOutput(node, i) && node.outputs[i].type != ir::DataType::kFloat32;
  }
  if (exact) launch->Option("-DEXACT");
  launch->Option(StrCat("-DGATES=", plan.gates()))
      .Option(StrCat("-DROWS=", rows))
      .Option(StrCat("-DSIDE_BY_SIDE=", GatesSideBySide(plan, rows, device)));
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
  Launch launch = LstmLaunch(plan, "ops/lstm/lstm_input.cl", "lstm_input");
  AddArithmetic(plan, node, tile, device, &launch);
  launch.Type("IN", node.inputs[In::kInput]).Input("input", node, In::kInput);
  weights.AddTo(&launch);
  if (aux) {
    launch.Type("AUX", node.inputs[In::kAux]).Input("aux", node, In::kAux);
    aux->AddTo(&launch);
  }
  launch.Scratch("gates",
                 rows * plan.vectors * plan.lanes * plan.gates() * kFloatBytes,
                 kFloatBytes);
  launch.InputQuantization("input", node.inputs[In::kInput]);
  if (aux) {
    launch.InputQuantization("aux", node.inputs[In::kAux])
        .Int("aux_width", plan.node.aux_width);
  }
  launch.Int("width", plan.node.width)
      .Int("vectors", plan.vectors)
      .Int("rows", rows);
  if (plan.simt) {
    const int64_t items = GroupItems(device);
    launch.Global(AlignUp(plan.vectors, items), CeilDiv(rows, tile))
        .Local(items);
  } else {
    launch.Global(plan.vectors, CeilDiv(rows, tile)).Local(1);
  }
  return launch.AppendTo(lowering);
}

// Rows in the memory of ops/lstm/lstm_loop.clh, one per batch item.
struct Rows {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t padded = 0;
};

// Places of states and cells in it, in floats.
struct Memory {
  explicit Memory(const Plan& plan)
      : batch(plan.node.batch),
        state_row(plan.output_vectors * plan.lanes),
        cell_row(plan.vectors * plan.lanes),
        outputs(plan.node.outputs),
        units(plan.node.units) {}

  /// Before step t.
  Rows StatesOf(int64_t t) const {
    return {t % 2 * batch * state_row, outputs, state_row};
  }
  Rows Cells() const { return {2 * batch * state_row, units, cell_row}; }
  int64_t Bytes(bool projection) const {
    const int64_t rows = projection ? 2 : 1;
    return batch * (2 * state_row + rows * cell_row) * kFloatBytes;
  }

  int64_t batch;
  int64_t state_row;
  int64_t cell_row;
  int64_t outputs;
  int64_t units;
};

// From input `index`, or 0 where it is absent.
Status AppendLoad(const ir::KernelNode& node, int index, const Rows& rows,
                  int64_t batch, int memory, ir::Lowering* lowering) {
  const bool present = node.has_input(index);
  Launch launch(kStatesSource, "lstm_load");
  if (present) {
    launch.Type("IN", node.inputs[index]).Input("x", node, index);
  }
  launch.EarlierScratch("memory", memory, kFloatBytes);
  if (present) launch.InputQuantization("x", node.inputs[index]);
  TIM_RETURN_IF_ERROR(launch.Int("begin", rows.begin)
                          .Int("count", rows.count)
                          .Int("padded", rows.padded)
                          .Int("rows", batch)
                          .Items(rows.padded * batch)
                          .AppendTo(lowering));
  MarkScratchWritten(lowering);
  return OkStatus();
}

// To output `index`, where it is bound.
Status AppendStore(const ir::KernelNode& node, int index, const Rows& rows,
                   int64_t batch, int memory, ir::Lowering* lowering) {
  if (!HasOutput(node, index)) return OkStatus();
  return Launch(kStatesSource, "lstm_store")
      .Policy(node.attributes())
      .Type("OUT", node.outputs[index])
      .EarlierScratch("memory", memory, kFloatBytes)
      .Output("y", node, index)
      .OutputQuantization("y", node.outputs[index])
      .Int("begin", rows.begin)
      .Int("count", rows.count)
      .Int("padded", rows.padded)
      .Int("rows", batch)
      .Items(rows.count * batch)
      .AppendTo(lowering);
}

// The blocks that all steps read.
struct StepBlocks {
  PlacedBlock recurrent;
  PlacedBlock parameters;
  std::optional<PlacedBlock> projection;
};

Result<StepBlocks> PlaceStepBlocks(const Plan& plan, const LstmBlocks& blocks,
                                   const ir::KernelNode& node,
                                   ir::Lowering* lowering) {
  StepBlocks out;
  TIM_ASSIGN_OR_RETURN(
      out.recurrent,
      PlacedBlock::Create(plan, blocks.recurrent, node, lowering));
  TIM_ASSIGN_OR_RETURN(
      out.parameters,
      PlacedBlock::Create(plan, blocks.parameters, node, lowering));
  if (!blocks.projection) return out;
  TIM_ASSIGN_OR_RETURN(
      out.projection,
      PlacedBlock::Create(plan, *blocks.projection, node, lowering));
  return out;
}

// Steps 0 to `end` of a loop, and where in Lowering::scratch its memory is.
struct StepRange {
  int64_t end = 0;
  bool divided = false;  ///< Work-items share the units.
  int gates = -1;
  int memory = -1;
};

Launch StepLaunch(const Plan& plan, const StepBlocks& blocks,
                  const ir::KernelNode& node, const StepRange& range,
                  int64_t tile, const ir::DeviceInfo& device) {
  const LstmNode& of = plan.node;
  Launch launch = plan.simt
                      ? LstmLaunch(plan, "ops/lstm/lstm_simt.cl", "lstm_simt")
                      : LstmLaunch(plan, "ops/lstm/lstm.cl", "lstm");
  AddArithmetic(plan, node, tile, device, &launch);
  launch.Option(StrCat("-DACT=", MacroOf(of.activation)))
      .Option(StrCat("-DRHO=", MacroOf(of.gate_activation)))
      .Policy(node.attributes());
  if (of.peephole) launch.Option("-DPEEPHOLE");
  if (of.norm) launch.Option("-DNORM");
  if (range.divided) launch.Option("-DDIVIDED");
  launch.EarlierScratch("gates", range.gates, kFloatBytes);
  blocks.recurrent.AddTo(&launch);
  blocks.parameters.AddTo(&launch);
  if (of.projection) {
    launch.Option("-DPROJECTION");
    blocks.projection->AddTo(&launch);
  }
  if (of.sequences) {
    launch.Type("OUT", node.outputs[0]).Output("output", node, 0);
  }
  launch.EarlierScratch("memory", range.memory, kFloatBytes);
  if (of.sequences) launch.OutputQuantization("output", node.outputs[0]);
  launch.Float("cell_clip", of.cell_clip);
  if (of.projection) launch.Float("proj_clip", of.proj_clip);
  launch.Int("units", of.units)
      .Int("outputs", of.outputs)
      .Int("batch", of.batch)
      .Int("begin", 0)
      .Int("end", range.end)
      .Int("step_stride", of.step_stride())
      .Int("batch_stride", of.batch_stride());
  const int64_t groups = CeilDiv(of.batch, tile);
  if (range.divided) {
    launch.Global(groups, plan.vectors).Local(1);
  } else {
    const int64_t items = plan.simt ? GroupItems(device) : 1;
    launch.Global(groups * items).Local(items);
  }
  return launch;
}

// A unit of a projection, or of normalized gates, waits for all units within a
// step.
bool IsDivided(const Plan& plan, const ir::DeviceInfo& device) {
  const LstmNode& of = plan.node;
  if (plan.simt || of.norm || of.projection) return false;
  const double flops = 2.0 * static_cast<double>(plan.gates() * of.units) *
                       static_cast<double>(of.outputs * of.batch);
  return StepsAreLaunches(flops, of.steps, device);
}

Status AppendSteps(const Plan& plan, const LstmBlocks& blocks,
                   const ir::KernelNode& node, const ir::DeviceInfo& device,
                   ir::Lowering* lowering) {
  const LstmNode& of = plan.node;
  const Memory memory(plan);
  StepRange range = {.end = of.steps};
  range.divided = IsDivided(plan, device);
  range.gates = static_cast<int>(lowering->scratch.size()) - 1;
  TIM_ASSIGN_OR_RETURN(const StepBlocks of_steps,
                       PlaceStepBlocks(plan, blocks, node, lowering));
  range.memory = static_cast<int>(lowering->scratch.size());
  lowering->scratch.push_back(
      {.bytes = memory.Bytes(of.projection),
       .first = static_cast<int>(lowering->steps.size())});
  TIM_RETURN_IF_ERROR(AppendLoad(node, In::kState, memory.StatesOf(0), of.batch,
                                 range.memory, lowering));
  TIM_RETURN_IF_ERROR(AppendLoad(node, In::kCell, memory.Cells(), of.batch,
                                 range.memory, lowering));
  const int64_t tile = range.divided ? RowsOfStep(of.batch, device)
                                     : RowTile(plan, of.batch, device);
  if (range.divided) range.end = 1;
  const Launch launch = StepLaunch(plan, of_steps, node, range, tile, device);
  TIM_RETURN_IF_ERROR(
      AppendStepLaunches(launch, {""}, range.divided ? of.steps : 1, lowering));
  if (!of.sequences) {
    TIM_RETURN_IF_ERROR(AppendStore(node, 0, memory.StatesOf(of.steps),
                                    of.batch, range.memory, lowering));
  }
  TIM_RETURN_IF_ERROR(AppendStore(node, 1, memory.StatesOf(of.steps), of.batch,
                                  range.memory, lowering));
  return AppendStore(node, 2, memory.Cells(), of.batch, range.memory, lowering);
}

struct Problem {
  Plan plan;
  LstmBlocks blocks;
};

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const AnchorView anchor(node);
  return EstimateMicroseconds(
      {.flops = LstmFlops(problem.plan.node),
       .bytes_read = InputBytes(anchor.view()),
       .bytes_written = OutputBytes(anchor.view())},
      device, problem.plan.simt ? prices::kLstmSimt : prices::kLstm);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [plan, blocks] = problem;
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

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device, bool simt) {
  TIM_RETURN_IF_ERROR(simt ? CheckNoCpu(device) : CheckCpu(device));
  ir::KernelNode bound = node;  // Absent outputs have no type.
  bound.outputs.clear();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (HasOutput(node, i)) bound.outputs.push_back(node.outputs[i]);
  }
  TIM_RETURN_IF_ERROR(CheckKernelOperands(
      bound, {3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
              18, 19, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31, 32}));
  Problem problem;
  problem.plan = LstmPlanOf(node, simt);
  problem.blocks = LstmBlocksOf(problem.plan, node);
  TIM_RETURN_IF_ERROR(CheckBlockQuantization(problem.blocks, node));
  TIM_RETURN_IF_ERROR(CheckSizes(problem.plan));
  return problem;
}

ir::KernelDef Kernel(bool simt) {
  ir::TypedKernel<Problem> kernel;
  kernel.op = "tim.UnidirectionalSequenceLstm";
  kernel.name = simt ? "lstm_simt" : "lstm";
  kernel.analyze = [simt](const ir::KernelNode& node,
                          const ir::DeviceInfo& device) {
    return Analyze(node, device, simt);
  };
  kernel.cost = Cost;
  kernel.lower = Lower;
  return kernel;
}

}  // namespace

TIM_OPERATOR(lstm_kernel) {
  registry.Add(Kernel(/*simt=*/false));
  registry.Add(Kernel(/*simt=*/true));
}

}  // namespace tim::ops
