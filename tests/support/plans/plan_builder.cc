#include "tests/support/plans/plan_builder.h"

#include <cstring>
#include <utility>

#include "base/aligned_memory.h"
#include "base/checked_math.h"
#include "ir/op_schema.h"

namespace tim::testing {

ir::HostCall EvalCall(ir::OpRegistry& operators, const std::string& name,
                      int64_t floats, FloatFunction function) {
  ir::OpSchema schema{
      .domain = "test",
      .name = StrCat("Function", operators.Schemas().size()),
      .inputs = {1, 2},
      .infer_shapes =
          [](ir::InferContext& context) {
            context.outputs[0].desc.shape = context.shape(0);
            return OkStatus();
          },
      .eval = [function = std::move(function)](
                  const ir::EvalContext& context) -> Status {
        const auto count =
            static_cast<size_t>(*PhysicalElements(*context.inputs[0].desc));
        return function(
            {static_cast<const float*>(context.inputs[0].data), count},
            {static_cast<float*>(context.outputs[0].data), count});
      }};
  const ir::CallOperand operand{.desc = FloatDesc(floats)};
  ir::HostCall call{.op = schema.Key(),
                    .name = name,
                    .attributes = {},
                    .body = {},
                    .inputs = {operand},
                    .outputs = {operand}};
  operators.Add(std::move(schema));
  return call;
}

ir::KernelLaunch FloatLaunch(const std::string& text,
                             const std::string& function, int64_t floats,
                             int operands) {
  ir::KernelLaunch launch;
  launch.text = text;
  launch.function = function;
  for (int i = 0; i < operands; ++i) {
    launch.arguments.emplace_back(ir::TensorArg{.operand = i});
  }
  launch.arguments.emplace_back(static_cast<int32_t>(floats));
  launch.range.global = {floats, 1, 1};
  return launch;
}

ir::TensorDesc FloatDesc(int64_t floats) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape(std::vector<int64_t>{floats});
  return desc;
}

PlanBuilder::PlanBuilder(std::vector<std::shared_ptr<device::Device>> devices,
                         int64_t floats)
    : devices_(std::move(devices)), floats_(floats) {
  plan_.graph = "test graph";
  for (const auto& device : devices_) plan_.devices.push_back(device->info());
}

ir::PlanTensor PlanBuilder::Tensor(const std::string& name,
                                   size_t index) const {
  return {StrCat(name, index), FloatDesc(floats_)};
}

int PlanBuilder::AddSlot(ir::SlotKind kind, int device, int index,
                         int64_t offset) {
  plan_.slots.push_back({.kind = kind,
                         .device = device,
                         .index = index,
                         .offset = offset,
                         .bytes = floats_ * 4});
  return static_cast<int>(plan_.slots.size()) - 1;
}

int PlanBuilder::Input() {
  plan_.inputs.push_back(Tensor("input", plan_.inputs.size()));
  return AddSlot(ir::SlotKind::kInput, 0,
                 static_cast<int>(plan_.inputs.size()) - 1);
}

int PlanBuilder::Output() {
  plan_.outputs.push_back(Tensor("output", plan_.outputs.size()));
  return AddSlot(ir::SlotKind::kOutput, 0,
                 static_cast<int>(plan_.outputs.size()) - 1);
}

int PlanBuilder::Temporary(int device) {
  const auto [it, added] = arena_of_device_.try_emplace(
      device, static_cast<int>(plan_.arenas.size()));
  if (added) plan_.arenas.push_back({.device = device});
  ir::Arena& arena = plan_.arenas[it->second];
  const int64_t offset = AlignUp(arena.bytes, plan_.devices[device].alignment);
  arena.bytes = offset + floats_ * 4;
  return AddSlot(ir::SlotKind::kArena, device, it->second, offset);
}

int PlanBuilder::Constant(int device, const std::vector<float>& values) {
  const auto bytes = static_cast<int64_t>(4 * values.size());
  AlignedMemory memory =
      AllocateAligned(bytes, devices_[device]->info().alignment);
  std::memcpy(memory.get(), values.data(), 4 * values.size());
  plan_.constants.push_back({.device = device,
                             .bytes = bytes,
                             .data = std::move(memory),
                             .constants = {}});
  return AddSlot(ir::SlotKind::kConstant, device,
                 static_cast<int>(plan_.constants.size()) - 1);
}

int PlanBuilder::State(int device) {
  ir::PlanState state;
  state.name = StrCat("state", plan_.states.size());
  state.desc = FloatDesc(floats_);
  state.device = device;
  plan_.states.push_back(std::move(state));
  return static_cast<int>(plan_.states.size()) - 1;
}

int PlanBuilder::ReadState(int state) {
  return AddSlot(ir::SlotKind::kStateRead, plan_.states[state].device, state);
}

int PlanBuilder::WriteState(int state) {
  plan_.states[state].written = true;
  return AddSlot(ir::SlotKind::kStateWrite, plan_.states[state].device, state);
}

int PlanBuilder::AddStep(int device, ir::Action action,
                         std::vector<int> operands, int written,
                         std::vector<int> waits) {
  ir::Step step;
  step.label = StrCat("step", plan_.steps.size());
  step.device = device;
  step.action = std::move(action);
  step.written.resize(operands.size(), false);
  step.written[written] = true;
  step.operands = std::move(operands);
  step.waits = std::move(waits);
  plan_.steps.push_back(std::move(step));
  return static_cast<int>(plan_.steps.size()) - 1;
}

int PlanBuilder::Copy(int device, int from, int to, std::vector<int> waits) {
  return AddStep(device, ir::Copy{floats_ * 4}, {from, to}, 1,
                 std::move(waits));
}

int PlanBuilder::Launch(int device, ir::Action launch,
                        std::vector<int> operands, std::vector<int> waits) {
  const int written = static_cast<int>(operands.size()) - 1;
  return AddStep(device, std::move(launch), std::move(operands), written,
                 std::move(waits));
}

int PlanBuilder::Eval(int device, FloatFunction function, int from, int to,
                      std::vector<int> waits) {
  return AddStep(device,
                 EvalCall(*operators_, "eval", floats_, std::move(function)),
                 {from, to}, 1, std::move(waits));
}

}  // namespace tim::testing
