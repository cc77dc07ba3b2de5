// Runs programs: memory of their inputs and outputs, the start of a run, and
// the variables that it assigns.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "runtime/inside_run.h"
#include "values/event_state.h"
#include "values/program_state.h"

namespace tim::values::internal {
namespace {

// Order of runs that write variables.  Whoever holds it waits for no run, and
// calls no function of applications but those that free memory.
constinit GlobalPerProcess<std::mutex> g_writers;

/// Eager work as what a run waits for.
class WorkEvent final : public runtime::RunEvent {
 public:
  explicit WorkEvent(runtime::Completion work) : work_(std::move(work)) {}
  Status Wait() override { return work_.Wait(); }
  bool Ready() override { return work_.Ready(); }
  void Then(Call call) override {
    CallLater([work = work_, call = std::move(call)] { call(work.Wait()); });
  }

 private:
  const runtime::Completion work_;
};

/// The end of a run, however it ends.
class EndOf final : public runtime::RunEvent {
 public:
  explicit EndOf(std::shared_ptr<runtime::RunEvent> run)
      : run_(std::move(run)) {}
  Status Wait() override {
    static_cast<void>(run_->Wait());
    return OkStatus();
  }
  bool Ready() override { return run_->Ready(); }
  void Then(Call call) override {
    run_->Then([call = std::move(call)](const Status&) { call(OkStatus()); });
  }
  std::vector<std::shared_ptr<runtime::RunEvent>> Awaited() override {
    return {run_};
  }

 private:
  const std::shared_ptr<runtime::RunEvent> run_;
};

// A run that awaits the one in which it is enqueued would start when that has
// ended, and whoever enqueued it may wait for it before.
Status CheckWait(runtime::RunEvent& run) {
  if (!runtime::IsInside(run)) return OkStatus();
  return FailedPrecondition(
      "inside a holder a run was started that follows the holder's own; start "
      "it after that");
}

}  // namespace

struct ProgramState::Started {
  std::shared_ptr<ProgramPlan> plan;
  Operands operands;
  std::shared_ptr<runtime::RunEvent> run;  ///< Null: nothing had to run.
  /// Memory of the plan's outputs; null for those in the caller's memory.
  std::vector<std::shared_ptr<runtime::SharedMemory>> outputs;
  std::vector<runtime::PortMemory> in;
  std::vector<runtime::PortMemory> out;
  std::vector<std::shared_ptr<runtime::RunEvent>> waits;
  std::function<Status(Status)> end;
  /// Results, the caller's and those of variables, where they stay on devices.
  std::vector<std::shared_ptr<ValueState>> results;
  /// Of variables by the run.
  std::shared_ptr<RunAssignments> assignments =
      std::make_shared<RunAssignments>();
};

Result<ProgramState::Operands> ProgramState::OperandsOf(
    const std::vector<Value>& inputs) const {
  TIM_RETURN_IF_ERROR(status_);
  Operands operands;
  std::vector<TensorSpec> specs;
  for (const Value& input : inputs) {
    const auto state = StateOf(input);
    TIM_RETURN_IF_ERROR(state->Force());
    specs.push_back(state->spec());
    operands.values.push_back(state);
  }
  TIM_RETURN_IF_ERROR(CheckInputs(specs));
  for (const Value& value : closed_) {
    operands.values.push_back(StateOf(value));
  }
  for (const GraphState::State& state : states_) {
    operands.values.push_back(state.variable->Get());
  }
  for (const auto& value : operands.values) {
    TIM_RETURN_IF_ERROR(Add(*value, &operands));
  }
  return operands;
}

Status ProgramState::Add(const ValueState& value, Operands* operands) const {
  TIM_RETURN_IF_ERROR(value.Force());
  // A run that is still to fill it is followed; copies would wait for it.
  Place place = value.TakeFromHost(*device_);
  const bool on_host = place.memory != nullptr;
  if (!on_host) {
    TIM_ASSIGN_OR_RETURN(place, value.On(*device_));
  }
  operands->ports.push_back({value.spec(), place.layout, on_host});
  operands->places.push_back(std::move(place));
  return OkStatus();
}

Result<std::vector<std::shared_ptr<runtime::SharedMemory>>>
ProgramState::AllocateOutputs(const ir::Plan& plan) const {
  std::vector<std::shared_ptr<runtime::SharedMemory>> outputs;
  const runtime::WorkStreams& streams = device_->streams();
  for (const ir::PlanTensor& output : plan.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    TIM_ASSIGN_OR_RETURN(
        outputs.emplace_back(),
        streams[static_cast<size_t>(output.device)]->AllocateForOthers(bytes));
  }
  return outputs;
}

namespace {

struct HostCopy {
  const void* from = nullptr;
  void* to = nullptr;
  size_t bytes = 0;
};

}  // namespace

runtime::PortMemory PortOf(const runtime::SharedMemory& memory) {
  if (!memory.stream()->is_host()) return memory.range();
  return {memory.host_address(), memory.range().bytes};
}

// Memory for outputs that the caller has not asked for.
Status ProgramState::AllocateRest(
    const runtime::CompiledGraph& compiled,
    std::vector<runtime::PortMemory>* outputs,
    std::vector<std::shared_ptr<runtime::SharedMemory>>* memory) const {
  for (size_t i = 0; i < outputs->size(); ++i) {
    if ((*outputs)[i].host != nullptr) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(compiled.plan().outputs[i].desc));
    TIM_ASSIGN_OR_RETURN(auto rest,
                         device_->streams()[0]->AllocateForOthers(bytes));
    (*outputs)[i] = PortOf(*rest);
    memory->push_back(std::move(rest));
  }
  return OkStatus();
}

// A run leaves variables with the specs that they have.
Status ProgramState::CheckAssigned(const ProgramPlan& plan) const {
  size_t next = outputs_;
  for (const GraphState::State& state : states_) {
    if (!state.written()) continue;
    const auto fits =
        Merge(state.variable->spec(), plan.sources()[next++].spec);
    if (fits.ok()) continue;
    return fits.status().WithContext(StrCat("graph '", graph_.name(),
                                            "': variable '",
                                            state.variable->name(), "'"));
  }
  return OkStatus();
}

Result<ProgramState::Started> ProgramState::MakeRun(
    const std::vector<Value>& inputs, OutputPlace place,
    const std::vector<void*>& host) {
  Started run;
  TIM_ASSIGN_OR_RETURN(run.operands, OperandsOf(inputs));
  TIM_ASSIGN_OR_RETURN(run.plan, PlanFor(run.operands.ports, place));
  TIM_RETURN_IF_ERROR(CheckAssigned(*run.plan));
  runtime::CompiledGraph* const compiled = run.plan->compiled();
  // Memory of the run, kept until it has ended.
  struct Kept {
    std::vector<std::shared_ptr<runtime::SharedMemory>> memory;
    std::vector<HostCopy> copies;  ///< Copies of outputs that occur twice.
  };
  auto kept = std::make_shared<Kept>();
  for (const size_t i : run.plan->inputs()) {
    const auto& memory = run.operands.places[i].memory;
    run.in.push_back(PortOf(*memory));
    kept->memory.push_back(memory);
    const runtime::Completion& completion = memory->completion();
    if (completion.run != nullptr) {
      TIM_RETURN_IF_ERROR(CheckWait(*completion.run));
      run.waits.push_back(completion.run);
    } else if (completion.stream != nullptr) {
      run.waits.push_back(std::make_shared<WorkEvent>(completion));
    }
  }
  if (place == OutputPlace::kDevice) {
    if (compiled != nullptr) {
      TIM_ASSIGN_OR_RETURN(run.outputs, AllocateOutputs(compiled->plan()));
    }
    for (const auto& memory : run.outputs) {
      run.out.push_back(PortOf(*memory));
      kept->memory.push_back(memory);
    }
    run.results = ResultsOf(run);
  } else if (compiled != nullptr) {
    run.out.resize(compiled->plan().outputs.size());
    const auto& sources = run.plan->sources();
    for (size_t i = 0; i < outputs_; ++i) {
      if (sources[i].kind != ProgramPlan::Source::Kind::kComputed) continue;
      TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                           ir::ByteSize(sources[i].spec.desc));
      runtime::PortMemory& port = run.out[sources[i].index];
      if (port.host == nullptr) {
        port = runtime::PortMemory(host[i], bytes);
      } else {
        kept->copies.push_back(
            {port.host, host[i], static_cast<size_t>(bytes)});
      }
    }
    TIM_RETURN_IF_ERROR(AllocateRest(*compiled, &run.out, &kept->memory));
  }
  run.end = [kept, assignments = run.assignments,
             device = device_](Status status) {
    if (status.code() == StatusCode::kDeviceLost) device->SetLost();
    for (const HostCopy& copy : kept->copies) {
      if (status.ok()) std::memcpy(copy.to, copy.from, copy.bytes);
    }
    assignments->End(status.ok());
    return status;
  };
  return run;
}

std::vector<std::shared_ptr<ValueState>> ProgramState::ResultsOf(
    const Started& run) {
  using Kind = ProgramPlan::Source::Kind;
  std::vector<std::shared_ptr<ValueState>> results;
  for (const ProgramPlan::Source& source : run.plan->sources()) {
    if (source.kind == Kind::kInput) {
      results.push_back(run.operands.values[source.index]);
    } else if (source.kind == Kind::kConstant) {
      results.push_back(ValueState::Constant(source.spec, source.constant));
    } else {
      const ir::PlanTensor& output =
          run.plan->compiled()->plan().outputs[source.index];
      results.push_back(ValueState::Placed(
          source.spec, {run.outputs[source.index], output.desc.layout}));
    }
  }
  return results;
}

Result<bool> ProgramState::TryStart(Started* run, Reservation reserved) {
  runtime::CompiledGraph* const compiled = run->plan->compiled();
  if (compiled == nullptr) return true;
  std::unique_lock<std::mutex> order;
  auto waits = run->waits;
  if (ordered_) {
    order = std::unique_lock(order_mutex_);
    if (last_run_ != nullptr) {
      TIM_RETURN_IF_ERROR(CheckWait(*last_run_));
      waits.push_back(std::make_shared<EndOf>(last_run_));
    }
  }
  TIM_ASSIGN_OR_RETURN(
      run->run, compiled->EnqueueIfFree(run->in, run->out, std::move(waits),
                                        run->end, std::move(reserved)));
  if (run->run == nullptr) return false;
  if (ordered_) last_run_ = run->run;
  for (const auto& memory : run->outputs) {
    memory->set_completion({.run = run->run});
  }
  return true;
}

bool ProgramState::writes() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const auto& state) { return state.written(); });
}

// Whether variables have the values that the operands were made of.
bool ProgramState::HasStatesOf(const Operands& operands) const {
  size_t next = operands.values.size() - states_.size();
  return std::all_of(states_.begin(), states_.end(), [&](const auto& state) {
    return state.variable->Get() == operands.values[next++];
  });
}

void ProgramState::Assign(const Started& run) const {
  size_t next = outputs_;
  for (const GraphState::State& state : states_) {
    if (!state.written()) continue;
    const auto& value = run.results[next++];
    if (run.run == nullptr) {
      state.variable->Set(value);
    } else {
      run.assignments->Add(state.variable, state.variable->SetBy(value));
    }
  }
}

// A run that writes variables is made anew where another one has written them
// meanwhile: without what is reserved, which a plan that is made may wait for.
Result<ProgramState::Started> ProgramState::Start(
    const std::vector<Value>& inputs, OutputPlace place,
    const std::vector<void*>& host) {
  const bool writes = this->writes();
  TIM_ASSIGN_OR_RETURN(Started run, MakeRun(inputs, place, host));
  Reservation reserved;
  while (true) {
    bool is_current = true;
    {
      std::unique_lock<std::mutex> order;
      if (writes) {
        order = std::unique_lock(g_writers.Get());
        is_current = HasStatesOf(run.operands);
      }
      if (is_current) {
        TIM_ASSIGN_OR_RETURN(const bool started,
                             TryStart(&run, std::move(reserved)));
        if (started && writes) Assign(run);
        if (started) return run;
      }
    }
    if (is_current) {
      TIM_ASSIGN_OR_RETURN(reserved, run.plan->compiled()->WaitForContext());
    } else {
      reserved.reset();
      TIM_ASSIGN_OR_RETURN(run, MakeRun(inputs, place, host));
    }
  }
}

Result<std::vector<Value>> ProgramState::Run(const std::vector<Value>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Started started,
                       Start(inputs, OutputPlace::kDevice, {}));
  std::vector<Value> values;
  for (size_t i = 0; i < outputs_; ++i) {
    values.push_back(MakeValue(started.results[i]));
  }
  return values;
}

Result<Event> ProgramState::RunInto(const std::vector<Value>& inputs,
                                    const std::vector<void*>& outputs) {
  TIM_RETURN_IF_ERROR(status_);
  if (outputs.size() != outputs_) {
    return InvalidArgument("graph '", graph_.name(), "' has ", outputs_,
                           " outputs, and memory was given for ",
                           outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) {
      return InvalidArgument("the memory of output ", i, " is null");
    }
  }
  for (const GraphState::State& state : states_) {
    if (!state.written()) continue;
    return Unimplemented("graph '", graph_.name(),
                         "' assigns variables; Run() does that, RunInto() not");
  }
  TIM_ASSIGN_OR_RETURN(const Started started,
                       Start(inputs, OutputPlace::kHost, outputs));
  const auto& sources = started.plan->sources();
  std::vector<const void*> computed;
  for (size_t i = 0; i < sources.size(); ++i) {
    const ProgramPlan::Source& source = sources[i];
    std::shared_ptr<ValueState> state;
    if (source.kind == ProgramPlan::Source::Kind::kInput) {
      state = started.operands.values[source.index];
    } else if (source.kind == ProgramPlan::Source::Kind::kConstant) {
      state = ValueState::Constant(source.spec, source.constant);
    } else {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const auto bytes, state->Bytes());
    TIM_ASSIGN_OR_RETURN(const int64_t size, BytesOf(state->spec().desc));
    std::copy_n(bytes.get(), size, static_cast<std::byte*>(outputs[i]));
  }
  runtime::Completion completion;
  completion.run = started.run;
  return MakeEvent(OkStatus(), {completion});
}

}  // namespace tim::values::internal
