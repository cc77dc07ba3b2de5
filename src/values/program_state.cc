// Finds or makes the plan for the inputs of a program.
#include "values/program_state.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "ir/effect_order.h"
#include "ops/registered.h"
#include "values/holder_node.h"

namespace tim::values::internal {
namespace {

using Clock = std::chrono::steady_clock;

std::string KeyOf(const std::vector<PortSpec>& inputs, OutputPlace place) {
  std::string key = place == OutputPlace::kHost ? "host" : "";
  for (const PortSpec& input : inputs) {
    key += StrCat("|", input.spec.desc.ToString(), input.spec.is_scalar,
                  input.layout.ToString(), input.on_host ? " on host" : "");
  }
  return key;
}

bool IsOpen(const TensorSpec& spec) { return !spec.desc.shape.IsStatic(); }

// A holder that has no function, and no kernel.
bool IsEmptyHolder(const ir::Node& node) {
  if (node.schema == nullptr) return false;
  const ir::OpSchema& schema = *node.schema;
  if (schema.eval || schema.decompose || schema.user_kernel) return false;
  const std::string name = StrCat(schema.domain, ".", schema.name);
  return ops::KnownOperators().Kernels(name, "opencl").empty();
}

Status CheckHolders(const ir::Graph& graph) {
  const ir::Node* const empty = FindNode(graph, IsEmptyHolder);
  if (empty == nullptr) return OkStatus();
  return Unimplemented("graph '", graph.name(), "': holder ", empty->name,
                       " has no function, and nothing takes its place");
}

// Whether the process alone has the node's schema.
bool IsOwn(const ir::Node& node) {
  return node.schema != nullptr &&
         ops::KnownOperators().Find(node.schema->Key()) != node.schema;
}

}  // namespace

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
  TIM_RETURN_IF_ERROR(compiler::ParsePolicy(options.policy).status());
  made->outputs_ = graph.outputs().size();
  made->ordered_ = !ir::EffectOrder(graph).empty();
  if (made->outputs_ == 0 && !made->ordered_) {
    return InvalidArgument("graph '", graph.name(), "' has no output");
  }
  made->graph_ = std::move(graph);
  made->inputs_ = std::move(inputs);
  if (std::any_of(made->inputs_.begin(), made->inputs_.end(), IsOpen)) {
    made->arenas_ = std::make_shared<runtime::SharedArenas>(
        made->device_->surroundings().devices);
  }
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

/// A plan that is made while another thread makes the same, and calls a
/// function.
class ProgramState::OneBeside {
 public:
  explicit OneBeside(ProgramState& program) : program_(program) {
    const std::lock_guard lock(program_.mutex_);
    number_ = ++program_.beside_;
  }
  ~OneBeside() {
    const std::lock_guard lock(program_.mutex_);
    --program_.beside_;
  }
  OneBeside(const OneBeside&) = delete;
  OneBeside& operator=(const OneBeside&) = delete;

  bool is_allowed() const { return number_ <= kMostBeside; }

 private:
  static constexpr int kMostBeside = 64;

  ProgramState& program_;
  int number_ = 0;
};

Status ProgramState::RefusePlan() const {
  return FailedPrecondition(
      "inside a holder that is called while graph '", graph_.name(),
      "' is compiled a run of it needs the same plan; give the holder an "
      "input that is no constant");
}

// Arenas of the first plan, which is for `inputs`, are as large as those at the
// bounds, so that no other one needs more.  Functions of applications are not
// called for that.
Status ProgramState::ReserveArenas(const std::vector<PortSpec>& inputs,
                                   OutputPlace place) const {
  if (!own_.empty()) return OkStatus();
  std::vector<PortSpec> ports;
  for (const TensorSpec& input : inputs_) {
    ports.push_back({input, {}});
    ir::Shape& shape = ports.back().spec.desc.shape;
    if (input.desc.type == ir::DataType::kUnknown || !shape.ranked()) {
      return OkStatus();
    }
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != ir::kUnknownDim) continue;
      if (shape.Bound(axis) == ir::kUnknownDim) return OkStatus();
      shape.set_dim(axis, shape.Bound(axis));
    }
  }
  for (const Value& value : closed_) {
    ports.push_back({StateOf(value)->spec(), {}});
  }
  for (const GraphState::State& state : states_) {
    ports.push_back({state.variable->spec(), {}});
  }
  if (KeyOf(ports, place) == KeyOf(inputs, place)) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const auto plan,
                       ProgramPlan::Compile(graph_, ports, place, options_,
                                            *device_, operators_));
  if (plan) arenas_->Reserve(*plan);
  return OkStatus();
}

// Holders of constants are called while a plan is made.
Result<std::shared_ptr<ProgramPlan>> ProgramState::PlanFor(
    const std::vector<PortSpec>& inputs, OutputPlace place) {
  const std::string key = KeyOf(inputs, place);
  std::shared_ptr<PlanMaking> known;
  auto made = std::make_shared<PlanMaking>();
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(plans_.begin(), plans_.end(),
                     [&](const auto& entry) { return entry.first == key; });
    if (found != plans_.end()) {
      ++stats_.hits;
      plans_.splice(plans_.begin(), plans_, found);
      known = plans_.front().second;
    } else {
      ++stats_.misses;
      plans_.emplace_front(key, made);
    }
  }
  const auto make = [&] {
    // A plan at the bounds that cannot be made is no failure of this one.
    std::call_once(reserved_, [&] {
      if (arenas_ != nullptr) static_cast<void>(ReserveArenas(inputs, place));
    });
    return ProgramPlan::Create(graph_, inputs, place, options_, *device_,
                               operators_, arenas_);
  };
  if (known != nullptr) {
    if (known->ready()) return known->plan();
    if (known->IsMadeHere()) return RefusePlan();
    if (known->Wait()) return known->plan();
    // The function that is called there may wait for this run.
    const OneBeside beside(*this);
    if (!beside.is_allowed()) return RefusePlan();
    made = std::make_shared<PlanMaking>(known);
    made->Make(make);
    return known->serves() ? known->plan() : made->plan();
  }
  const auto begin = Clock::now();
  made->Make(make);
  const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;
  std::shared_ptr<PlanMaking> dropped;
  const std::lock_guard lock(mutex_);
  if (made->serves()) {
    stats_.compile_ms += spent.count();
    dropped = TakeSurplus();
  } else {
    std::erase_if(plans_, [&](const auto& at) { return at.second == made; });
  }
  return made->plan();
}

int64_t ProgramState::PlanCount() const {
  return std::count_if(plans_.begin(), plans_.end(), [](const auto& entry) {
    return entry.second->serves();
  });
}

std::shared_ptr<PlanMaking> ProgramState::TakeSurplus() {
  if (PlanCount() <= options_.max_plans) return nullptr;
  const auto last =
      std::find_if(plans_.rbegin(), plans_.rend(),
                   [](const auto& entry) { return entry.second->serves(); });
  std::shared_ptr<PlanMaking> taken = std::move(last->second);
  plans_.erase(std::prev(last.base()));
  ++stats_.evictions;
  return taken;
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
  Operands operands;
  for (TensorSpec& spec : specs) {
    operands.ports.push_back({std::move(spec), {}});
  }
  for (const Value& value : closed_) {
    TIM_RETURN_IF_ERROR(Add(*StateOf(value), &operands));
  }
  for (const auto& state : states_) {
    TIM_RETURN_IF_ERROR(Add(*state.variable->Get(), &operands));
  }
  return PlanFor(operands.ports, OutputPlace::kDevice).status();
}

Result<ir::Graph> ProgramState::GraphToSave() const {
  TIM_RETURN_IF_ERROR(status_);
  if (!states_.empty()) {
    return Unimplemented("graph '", graph_.name(),
                         "' has variables, which files do not hold");
  }
  if (const ir::Node* const own = FindNode(graph_, IsOwn)) {
    return Unimplemented(
        "graph '", graph_.name(), "': node ", own->name, ", ",
        own->schema->domain, ".", own->schema->name,
        ", is of this process alone, as holders are, and gradients that wait "
        "for shapes, which files do not hold");
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
  stats.plans = PlanCount();
  stats.program_builds = ProgramBuilds();
  return stats;
}

std::string ProgramState::Explain() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [key, made] : plans_) {
    if (!made->ready()) continue;
    if (made->plan().ok()) text += (*made->plan())->Explain();
  }
  return text;
}

}  // namespace tim::values::internal
