#include "runtime/executable.h"

#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "base/fork/fork.h"
#include "base/fork/keep_one.h"
#include "base/log.h"
#include "base/trace.h"
#include "ops/builtin.h"
#include "runtime/constant_upload.h"
#include "runtime/step_estimates.h"

namespace tim::runtime {
namespace {

using Devices = std::span<const std::shared_ptr<device::Device>>;

Status CheckDevices(const ir::Plan& plan, Devices devices) {
  if (devices.size() != plan.devices.size()) {
    return InvalidArgument("the plan is for ", plan.devices.size(),
                           " devices, found ", devices.size());
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string found =
        devices[i] == nullptr ? "none" : devices[i]->info().kind;
    if (found == plan.devices[i].kind) continue;
    return InvalidArgument("device ", i, " of the plan is of kind '",
                           plan.devices[i].kind, "', found '", found, "'");
  }
  return OkStatus();
}

// Only devices of one domain copy to each other.
Status CheckCopies(const ir::Plan& plan, Devices devices) {
  for (const ir::Step& step : plan.steps) {
    if (!std::holds_alternative<ir::Copy>(step.action)) continue;
    const int from = plan.slots[step.operands[0]].device;
    const int to = plan.slots[step.operands[1]].device;
    if (from == 0 || to == 0 ||
        devices[from]->domain() == devices[to]->domain()) {
      continue;
    }
    return InvalidArgument("step '", step.label, "' copies from device ", from,
                           " to device ", to,
                           ", which do not share memory here");
  }
  return OkStatus();
}

// To be enqueued one by one.
void AppendSingles(const StepGroup& group,
                   std::vector<PreparedGroup>* prepared) {
  for (size_t i = 0; i < group.count; ++i) {
    prepared->push_back({.group = {.first = group.first + i}, .step = nullptr});
  }
}

}  // namespace

Result<std::shared_ptr<const Executable>> Executable::Create(
    ir::Plan plan, std::vector<std::shared_ptr<device::Device>> devices,
    std::shared_ptr<device::BinaryStore> store,
    std::shared_ptr<const ir::OpRegistry> operators,
    std::vector<compiler::RefusedKernel>* refused) {
  const TraceSpan span("build", "make ready", plan.graph);
  std::shared_ptr<Executable> executable(new Executable());
  executable->plan_ = std::move(plan);
  executable->devices_ = std::move(devices);
  executable->store_ = std::move(store);
  executable->operators_ = std::move(operators);
  TIM_RETURN_IF_ERROR(ir::Verify(executable->plan_));
  TIM_RETURN_IF_ERROR(CheckDevices(executable->plan_, executable->devices_));
  TIM_RETURN_IF_ERROR(CheckCopies(executable->plan_, executable->devices_));
  executable->order_ = OrderSteps(executable->plan_, executable->devices_);
  executable->groups_ = GroupSteps(executable->plan_);
  for (const StepGroup& group : executable->groups_) {
    TIM_LOG(kDebug, group.count, " steps in one launch, the first is '",
            executable->plan_.steps[group.first].label, "'");
  }
  StepFailures failures;
  UsedPrograms programs(*executable->store_);
  auto prepared = executable->Prepare(programs, &failures);
  if (refused != nullptr) *refused = failures.Refused(executable->plan_);
  TIM_RETURN_IF_ERROR(prepared.status());
  executable->groups_.clear();
  for (const PreparedGroup& group : *prepared) {
    executable->groups_.push_back(group.group);
  }
  executable->first_ = *std::move(prepared);
  executable->programs_ = programs.Take();
  TIM_RETURN_IF_ERROR(executable->CreateControls(refused));
  TIM_ASSIGN_OR_RETURN(
      executable->constants_,
      UploadConstants(&executable->plan_, executable->devices_));
  return std::shared_ptr<const Executable>(std::move(executable));
}

// The plans become those of their executables, which forget what is uploaded.
Status Executable::CreateControls(
    std::vector<compiler::RefusedKernel>* refused) {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    auto* call = std::get_if<ir::ControlCall>(&plan_.steps[i].action);
    if (call == nullptr) continue;
    for (auto& inner : call->plans) {
      auto executable = Create(*inner, devices_, store_, operators_, refused);
      if (!executable.ok()) {
        return executable.status().WithContext(plan_.steps[i].label);
      }
      inner =
          std::shared_ptr<const ir::Plan>(*executable, &(*executable)->plan());
      const auto& programs = (*executable)->programs();
      programs_.insert(programs.begin(), programs.end());
      controls_[i].push_back(*std::move(executable));
    }
  }
  return OkStatus();
}

std::span<const std::shared_ptr<const Executable>> Executable::control(
    size_t step) const {
  const auto found = controls_.find(step);
  if (found == controls_.end()) return {};
  return found->second;
}

Executable::~Executable() { delete trace_text_.load(); }

const RunText& Executable::trace_text() const {
  return KeepOne(trace_text_, [this] { return RunText(plan_, groups_); });
}

Status Executable::PrepareChains(device::BinaryStore& store,
                                 std::vector<PreparedGroup>* prepared) const {
  const auto work = plan_.chains.empty() ? std::vector<std::optional<double>>()
                                         : EstimateWork(plan_);
  for (const StepGroup& group : groups_) {
    if (!group.chain) {
      AppendSingles(group, prepared);
      continue;
    }
    const ir::Step& first = plan_.steps[group.first];
    device::Device& device = *devices_[first.device];
    auto chain = device.PrepareChain(LinksOf(plan_, group, work), store);
    if (chain.ok()) {
      prepared->push_back({.group = group, .step = *std::move(chain)});
      continue;
    }
    const Status& status = chain.status();
    if (status.code() == StatusCode::kDeviceLost) return status;
    TIM_LOG(kWarning, "graph '", plan_.graph, "': ", device.info().name,
            " cannot run ", group.count, " steps from '", first.label,
            "' as one launch, and runs them one by one: ", status.ToString());
    AppendSingles(group, prepared);
  }
  return OkStatus();
}

Status Executable::PrepareSingles(int device, device::BinaryStore& store,
                                  std::vector<PreparedGroup>* prepared,
                                  StepFailures* failures) const {
  std::vector<const ir::Action*> actions;
  std::vector<PreparedGroup*> singles;
  for (PreparedGroup& single : *prepared) {
    const ir::Step& step = plan_.steps[single.group.first];
    if (step.device != device || single.group.chain) continue;
    // The runtime runs its plans.
    if (std::holds_alternative<ir::ControlCall>(step.action)) continue;
    actions.push_back(&step.action);
    singles.push_back(&single);
  }
  if (actions.empty()) return OkStatus();
  const ir::OpRegistry& operators =
      operators_ != nullptr ? *operators_ : ops::BuiltinOperators();
  auto steps = devices_[device]->PrepareEach(actions, operators, store);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].ok()) {
      singles[i]->step = *std::move(steps[i]);
    } else if (!failures->Keep(plan_, singles[i]->group.first,
                               steps[i].status())) {
      return steps[i].status();
    }
  }
  return OkStatus();
}

Result<std::vector<PreparedGroup>> Executable::Prepare(
    device::BinaryStore& store, StepFailures* failures) const {
  std::vector<PreparedGroup> prepared;
  TIM_RETURN_IF_ERROR(PrepareChains(store, &prepared));
  TIM_RETURN_IF_ERROR(PrepareAllSingles(store, &prepared, failures));
  return prepared;
}

Status Executable::PrepareAllSingles(device::BinaryStore& store,
                                     std::vector<PreparedGroup>* prepared,
                                     StepFailures* failures) const {
  Status status;
  for (size_t d = 0; d < devices_.size() && status.ok(); ++d) {
    status = PrepareSingles(static_cast<int>(d), store, prepared, failures);
  }
  // What no other kernel mends is the reason.
  if (!status.ok()) *failures = {};
  if (status.ok() && !failures->empty()) status = failures->first();
  return status;
}

Result<std::vector<PreparedGroup>> Executable::PrepareGroups() const {
  std::optional<std::vector<PreparedGroup>> first;
  {
    const std::lock_guard lock(ForkMutex());
    first.swap(first_);
  }
  if (first) return *std::move(first);
  StepFailures failures;
  return Prepare(*store_, &failures);
}

Result<std::vector<PreparedGroup>> Executable::PrepareSteps() const {
  std::vector<PreparedGroup> prepared;
  AppendSingles({.first = 0, .count = plan_.steps.size()}, &prepared);
  StepFailures failures;
  TIM_RETURN_IF_ERROR(PrepareAllSingles(*store_, &prepared, &failures));
  return prepared;
}

}  // namespace tim::runtime
