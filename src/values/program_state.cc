// Runs programs: finds or makes the plan for the inputs, and hands it to the
// devices.
#include "values/program_state.h"

#include <chrono>
#include <utility>

#include "base/fork/per_process.h"
#include "ops/registered.h"
#include "values/event_state.h"
#include "values/holder_node.h"

namespace tim::values::internal {
namespace {

using Clock = std::chrono::steady_clock;

// Order of runs that write variables.
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

 private:
  const std::shared_ptr<runtime::RunEvent> run_;
};

std::string KeyOf(const std::vector<PortSpec>& inputs, OutputPlace place) {
  std::string key = place == OutputPlace::kHost ? "host" : "";
  for (const PortSpec& input : inputs) {
    key += StrCat("|", input.spec.desc.ToString(), input.spec.is_scalar,
                  input.layout.ToString());
  }
  return key;
}

}  // namespace

namespace {

// A holder that has no function, and no kernel.
Status CheckHolders(const ir::Graph& graph) {
  for (const ir::NodeId id : graph.NodeIds()) {
    const ir::Node& node = graph.node(id);
    if (node.composite != nullptr) {
      TIM_RETURN_IF_ERROR(CheckHolders(node.composite->body));
      continue;
    }
    const ir::OpSchema& schema = *node.schema;
    if (schema.eval || schema.decompose || schema.user_kernel) continue;
    const std::string name = StrCat(schema.domain, ".", schema.name);
    if (!ops::KnownOperators().Kernels(name, "opencl").empty()) continue;
    return Unimplemented("graph '", graph.name(), "': holder ", node.name,
                         " has no function, and nothing takes its place");
  }
  return OkStatus();
}

}  // namespace

/// Inputs of a run on the program's device.
struct ProgramState::Operands {
  std::vector<std::shared_ptr<ValueState>> values;
  std::vector<Place> places;
  std::vector<PortSpec> ports;
};

struct ProgramState::Started {
  std::shared_ptr<ProgramPlan> plan;
  Operands operands;
  std::shared_ptr<runtime::RunEvent> run;  ///< Null: there was none.
  /// Of the plan's outputs; of those in the caller's memory null.
  std::vector<std::shared_ptr<runtime::SharedMemory>> outputs;
};

Result<std::shared_ptr<ProgramState>> ProgramState::Create(
    ir::Graph graph, std::vector<TensorSpec> inputs,
    const ProgramOptions& options) {
  if (options.max_plans < 1) {
    return InvalidArgument("max_plans is ", options.max_plans,
                           "; a program keeps 1 or more");
  }
  auto made = std::make_shared<ProgramState>();
  made->options_ = options;
  made->device_ = options.devices.empty() ? DeviceState::Default()
                                          : DeviceState::Find(options.devices);
  TIM_RETURN_IF_ERROR(made->device_->status());
  made->outputs_ = graph.outputs().size();
  if (made->outputs_ == 0) {
    return InvalidArgument("graph '", graph.name(), "' has no output");
  }
  made->graph_ = std::move(graph);
  made->inputs_ = std::move(inputs);
  return made;
}

Result<std::shared_ptr<ProgramState>> ProgramState::Create(
    const GraphState& graph, const ProgramOptions& options) {
  TIM_RETURN_IF_ERROR(graph.status());
  TIM_ASSIGN_OR_RETURN(auto made,
                       Create(*graph.Snapshot(), graph.InputSpecs(), options));
  made->closed_ = graph.ClosedOver();
  made->states_ = graph.states();
  made->outputs_ = graph.output_count();
  made->own_ = graph.own();
  made->operators_ = RegistryWith(made->own_);
  made->ordered_ = graph.ordered();
  TIM_RETURN_IF_ERROR(CheckHolders(made->graph_));
  for (const Value& value : made->closed_) {
    if (value.symbolic()) {
      return InvalidArgument("graph '", graph.name(),
                             "' uses a value of another graph that is being "
                             "made; call it there, or pass the value to it");
    }
  }
  return made;
}

std::shared_ptr<ProgramState> ProgramState::Failed(const Status& status) {
  auto made = std::make_shared<ProgramState>();
  made->status_ = status;
  return made;
}

Status ProgramState::CheckInputs(const std::vector<TensorSpec>& inputs) const {
  if (inputs.size() != inputs_.size()) {
    return InvalidArgument("graph '", graph_.name(), "' takes ", inputs_.size(),
                           " inputs, not ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto merged = Merge(inputs_[i], inputs[i]);
    if (!merged.ok()) {
      return merged.status().WithContext(
          StrCat("graph '", graph_.name(),
                 "': ", graph_.value(graph_.inputs()[i]).name));
    }
  }
  return OkStatus();
}

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
    TIM_RETURN_IF_ERROR(value->Force());
    TIM_ASSIGN_OR_RETURN(const Place place, value->On(*device_));
    operands.ports.push_back({value->spec(), place.layout});
    operands.places.push_back(place);
  }
  return operands;
}

Result<std::shared_ptr<ProgramPlan>> ProgramState::PlanFor(
    const std::vector<PortSpec>& inputs, OutputPlace place) {
  const std::string key = KeyOf(inputs, place);
  std::shared_ptr<ProgramPlan> dropped;
  const std::lock_guard lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (it->first != key) continue;
    ++stats_.hits;
    plans_.splice(plans_.begin(), plans_, it);
    return plans_.front().second;
  }
  const auto begin = Clock::now();
  ++stats_.misses;
  TIM_ASSIGN_OR_RETURN(
      auto made, ProgramPlan::Create(graph_, inputs, place, options_, *device_,
                                     operators_));
  const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;
  stats_.compile_ms += spent.count();
  plans_.emplace_front(key, made);
  if (plans_.size() > static_cast<size_t>(options_.max_plans)) {
    dropped = std::move(plans_.back().second);
    plans_.pop_back();
    ++stats_.evictions;
  }
  return made;
}

Result<std::vector<std::shared_ptr<runtime::SharedMemory>>>
ProgramState::AllocateOutputs(const ir::Plan& plan) const {
  std::vector<std::shared_ptr<runtime::SharedMemory>> outputs;
  const auto& streams = device_->runner().streams();
  for (const ir::PlanTensor& output : plan.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    TIM_ASSIGN_OR_RETURN(
        outputs.emplace_back(),
        streams[static_cast<size_t>(output.device)]->AllocateForOthers(bytes));
  }
  return outputs;
}

namespace {

// The host's memory by its address, that of devices as a range.
runtime::PortMemory PortOf(const runtime::SharedMemory& memory) {
  if (!memory.stream()->is_host()) return memory.range();
  return {memory.host_address(), memory.range().bytes};
}

}  // namespace

Result<ProgramState::Started> ProgramState::Start(
    const std::vector<Value>& inputs, OutputPlace place,
    const std::vector<void*>& host) {
  Started started;
  TIM_ASSIGN_OR_RETURN(started.operands, OperandsOf(inputs));
  TIM_ASSIGN_OR_RETURN(started.plan, PlanFor(started.operands.ports, place));
  runtime::CompiledGraph* const compiled = started.plan->compiled();
  if (compiled == nullptr) return started;
  std::vector<runtime::PortMemory> in;
  std::vector<runtime::PortMemory> out;
  std::vector<std::shared_ptr<runtime::RunEvent>> waits;
  // What the run works on, until it has ended.
  struct Kept {
    std::shared_ptr<ProgramPlan> plan;
    std::vector<std::shared_ptr<runtime::SharedMemory>> memory;
  };
  auto kept = std::make_shared<Kept>();
  kept->plan = started.plan;
  for (const size_t i : started.plan->inputs()) {
    const auto& memory = started.operands.places[i].memory;
    in.push_back(PortOf(*memory));
    kept->memory.push_back(memory);
    const runtime::Completion& completion = memory->completion();
    if (completion.run != nullptr) {
      waits.push_back(completion.run);
    } else if (completion.stream != nullptr) {
      waits.push_back(std::make_shared<WorkEvent>(completion));
    }
  }
  if (place == OutputPlace::kDevice) {
    TIM_ASSIGN_OR_RETURN(started.outputs, AllocateOutputs(compiled->plan()));
    for (const auto& memory : started.outputs) {
      out.push_back(PortOf(*memory));
      kept->memory.push_back(memory);
    }
  } else {
    out.resize(compiled->plan().outputs.size());
    const auto& sources = started.plan->sources();
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].kind == ProgramPlan::Source::Kind::kComputed) {
        out[sources[i].index] = runtime::PortMemory(host[i]);
      }
    }
  }
  const auto end = [kept](Status status) { return status; };
  std::unique_lock<std::mutex> order;
  if (ordered_) {
    order = std::unique_lock(mutex_);
    if (last_run_ != nullptr)
      waits.push_back(std::make_shared<EndOf>(last_run_));
  }
  TIM_ASSIGN_OR_RETURN(started.run,
                       compiled->Enqueue(in, out, std::move(waits), end));
  if (ordered_) last_run_ = started.run;
  for (const auto& memory : started.outputs) {
    memory->set_completion({.run = started.run});
  }
  return started;
}

Result<std::vector<Value>> ProgramState::Run(const std::vector<Value>& inputs) {
  bool writes = false;
  for (const GraphState::State& state : states_) {
    writes = writes || state.written();
  }
  std::unique_lock<std::mutex> order;
  if (writes) order = std::unique_lock(g_writers.Get());
  TIM_ASSIGN_OR_RETURN(const Started started,
                       Start(inputs, OutputPlace::kDevice, {}));
  using Kind = ProgramPlan::Source::Kind;
  std::vector<std::shared_ptr<ValueState>> results;
  for (const ProgramPlan::Source& source : started.plan->sources()) {
    if (source.kind == Kind::kInput) {
      results.push_back(started.operands.values[source.index]);
    } else if (source.kind == Kind::kConstant) {
      results.push_back(ValueState::Constant(source.spec, source.constant));
    } else {
      const ir::PlanTensor& output =
          started.plan->compiled()->plan().outputs[source.index];
      results.push_back(ValueState::Placed(
          source.spec, {started.outputs[source.index], output.desc.layout}));
    }
  }
  size_t next = outputs_;
  for (const GraphState::State& state : states_) {
    if (!state.written()) continue;
    const auto before = state.variable->Get();
    const auto after = results[next++];
    state.variable->Set(after);
    if (started.run == nullptr) continue;
    started.run->Then(
        [variable = state.variable, before, after](const Status& status) {
          if (!status.ok()) variable->Restore(after, before);
        });
  }
  std::vector<Value> values;
  for (size_t i = 0; i < outputs_; ++i) values.push_back(MakeValue(results[i]));
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

Status ProgramState::Prepare(const std::vector<Spec>& inputs) {
  TIM_RETURN_IF_ERROR(status_);
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto spec = ToTensorSpec(inputs[i]);
    Status status = spec.status();
    if (status.ok()) status = BytesOf(spec->desc).status();
    if (!status.ok()) return status.WithContext(StrCat("input ", i));
    specs.push_back(*std::move(spec));
  }
  TIM_RETURN_IF_ERROR(CheckInputs(specs));
  std::vector<PortSpec> ports;
  for (TensorSpec& spec : specs) ports.push_back({std::move(spec), {}});
  std::vector<std::shared_ptr<ValueState>> bound;
  for (const Value& value : closed_) bound.push_back(StateOf(value));
  for (const auto& state : states_) bound.push_back(state.variable->Get());
  for (const auto& value : bound) {
    TIM_RETURN_IF_ERROR(value->Force());
    TIM_ASSIGN_OR_RETURN(const Place place, value->On(*device_));
    ports.push_back({value->spec(), place.layout});
  }
  return PlanFor(ports, OutputPlace::kDevice).status();
}

Result<ir::Graph> ProgramState::GraphToSave() const {
  TIM_RETURN_IF_ERROR(status_);
  if (!states_.empty()) {
    return Unimplemented("graph '", graph_.name(),
                         "' has variables, which files do not hold");
  }
  ir::Graph graph = graph_;
  for (size_t i = 0; i < closed_.size(); ++i) {
    const auto value = StateOf(closed_[i]);
    TIM_RETURN_IF_ERROR(value->Force());
    TIM_ASSIGN_OR_RETURN(auto content, value->Content());
    const ir::ValueId id = graph.inputs()[inputs_.size() + i];
    const TensorSpec spec = value->spec();
    const ir::ValueId constant =
        graph.AddConstant(spec.desc, std::move(content), graph.value(id).name);
    graph.value(constant).is_scalar = spec.is_scalar;
    graph.ReplaceUses(id, constant);
  }
  return graph;
}

CacheStats ProgramState::stats() const {
  const std::lock_guard lock(mutex_);
  CacheStats stats = stats_;
  stats.plans = static_cast<int64_t>(plans_.size());
  stats.program_builds = ProgramBuilds();
  return stats;
}

std::string ProgramState::Explain() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [key, plan] : plans_) text += plan->Explain();
  return text;
}

}  // namespace tim::values::internal
