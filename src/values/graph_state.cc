// Records calls of operators as nodes, and infers what can be known of them.
#include "values/graph_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/live_copy.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/token_state.h"

namespace tim::values::internal {
namespace {

std::vector<std::shared_ptr<GraphState>>& Capturing() {
  thread_local std::vector<std::shared_ptr<GraphState>> graphs;
  return graphs;
}

bool IsCapturing(const std::shared_ptr<GraphState>& graph) {
  const auto& graphs = Capturing();
  return std::find(graphs.begin(), graphs.end(), graph) != graphs.end();
}

// Calls that a captured function is meant to make in every run.
bool HasEffects(const NodeState& node) {
  return HasOrderedEffects(node) ||
         (node.schema != nullptr && node.schema->effects.random);
}

}  // namespace

CaptureScope::CaptureScope(std::shared_ptr<GraphState> graph) {
  Capturing().push_back(std::move(graph));
}

CaptureScope::~CaptureScope() { Capturing().pop_back(); }

std::shared_ptr<GraphState> CapturingGraph() {
  return Capturing().empty() ? nullptr : Capturing().back();
}

std::shared_ptr<GraphState> GraphFor(const NodeState& node,
                                     const std::vector<Value>& inputs) {
  std::shared_ptr<GraphState> found;
  for (const Value& input : inputs) {
    if (IsAbsent(input)) continue;
    const auto& graph = StateOf(input)->graph();
    if (graph == nullptr) continue;
    if (IsCapturing(graph)) return CapturingGraph();
    found = graph;
  }
  if (found != nullptr || Capturing().empty()) return found;
  return HasEffects(node) ? CapturingGraph() : nullptr;
}

Status ForceSymbolic(const ValueState& value) {
  const Status status = FailedPrecondition(
      value.graph()->NameOf(value.id()),
      " was asked for its content: a captured function must not look at data; "
      "use If, While or Select");
  value.graph()->Fail(status);
  return status;
}

void NameInGraph(const ValueState& value, const std::string& name) {
  value.graph()->SetName(value.id(), name);
}

void GraphState::Fail(const Status& status) {
  if (!status_.ok()) return;
  const std::string graph = name().empty() ? "" : StrCat(" '", name(), "'");
  status_ = status.WithContext(StrCat("graph", graph));
}

std::string GraphState::NameOf(ir::ValueId id) const {
  const ir::Value& value = graph_.value(id);
  if (value.producer != ir::kNone) {
    return StrCat("a result of ", graph_.node(value.producer).name);
  }
  return value.name;
}

void GraphState::SetName(ir::ValueId id, const std::string& name) {
  graph_.value(id).name = name;
}

ir::ValueId GraphState::AddValue(const TensorSpec& spec, ir::Role role,
                                 const std::string& name) {
  const ir::ValueId id = graph_.AddValue(spec.desc, role, name);
  graph_.value(id).is_scalar = spec.is_scalar;
  specs_.resize(static_cast<size_t>(id) + 1);
  specs_[static_cast<size_t>(id)] = spec;
  return id;
}

ir::ValueId GraphState::AddConstant(
    const TensorSpec& spec, std::shared_ptr<const ir::ConstantData> data,
    const std::string& name) {
  const ir::ValueId id = AddValue(spec, ir::Role::kConstant, name);
  graph_.value(id).constant = std::move(data);
  return id;
}

Value GraphState::MakeSymbolic(ir::ValueId id) {
  return MakeValue(ValueState::Symbolic(specs_[static_cast<size_t>(id)],
                                        shared_from_this(), id));
}

Value GraphState::AddInput(const Spec& spec, const std::string& name) {
  const std::string own =
      name.empty() ? StrCat("input ", inputs_.size()) : name;
  const auto known = ToTensorSpec(spec);
  if (!known.ok()) {
    Fail(known.status().WithContext(own));
    return FailedValue(status_);
  }
  inputs_.push_back(AddValue(*known, ir::Role::kInput, own));
  return MakeSymbolic(inputs_.back());
}

void GraphState::AddOutput(const Value& value) {
  auto id = IsAbsent(value) ? Result<ir::ValueId>(InvalidArgument("no value"))
                            : IdOf(value);
  if (!id.ok()) {
    Fail(id.status().WithContext(StrCat("output ", outputs_.size())));
    return;
  }
  outputs_.push_back(*id);
  as_node_ = nullptr;
}

Result<ir::ValueId> GraphState::IdOf(const Value& value) {
  const auto state = StateOf(value);
  TIM_RETURN_IF_ERROR(state->status());
  if (state->graph().get() == this) {
    if (graph_.HasValue(state->id())) return state->id();
    return InvalidArgument(
        "a replacement removed this value, which nothing needed; declare "
        "outputs before Replace, and take its value from what replaced it");
  }
  const auto known = outside_.find(state);
  if (known != outside_.end()) return known->second;
  if (state->graph() != nullptr && state->graph()->Needs(*this)) {
    return InvalidArgument(
        state->graph()->NameOf(state->id()),
        " is of a graph that has a value of this one; make one of them first, "
        "and call it in the other");
  }
  ir::ValueId id = ir::kNone;
  if (state->constant() != nullptr || state->literal()) {
    TIM_ASSIGN_OR_RETURN(auto content, state->Content());
    id = AddConstant(state->spec(), std::move(content),
                     state->name().empty()
                         ? StrCat("constant ", graph_.value_id_limit())
                         : state->name());
  } else {
    id = AddValue(state->spec(), ir::Role::kInput,
                  state->name().empty() ? StrCat("outer ", closed_.size())
                                        : state->name());
    closed_.push_back({id, value});
  }
  outside_[state] = id;
  return id;
}

bool GraphState::Needs(const GraphState& other) const {
  std::set<const GraphState*> seen = {this};
  std::vector<const GraphState*> left = {this};
  while (!left.empty()) {
    const GraphState* const at = left.back();
    left.pop_back();
    for (const Closed& closed : at->closed_) {
      const GraphState* const graph = StateOf(closed.value)->graph().get();
      if (graph == &other) return true;
      if (graph != nullptr && seen.insert(graph).second) left.push_back(graph);
    }
  }
  return false;
}

Result<std::vector<ir::ValueId>> GraphState::IdsOf(
    const std::vector<Value>& values) {
  std::vector<ir::ValueId> ids;
  for (const Value& value : values) {
    if (IsAbsent(value)) {
      ids.push_back(ir::kNone);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(ids.emplace_back(), IdOf(value));
  }
  return ids;
}

Result<std::vector<ir::ValueId>> GraphState::AddNode(
    const std::shared_ptr<const NodeState>& node,
    const std::vector<ir::ValueId>& inputs) {
  std::vector<runtime::NodeOperand> operands;
  for (const ir::ValueId id : inputs) {
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.present = id != ir::kNone;
    if (!operand.present) continue;
    const TensorSpec& spec = specs_[static_cast<size_t>(id)];
    operand.desc = spec.desc;
    operand.is_scalar = spec.is_scalar;
    operand.constant = graph_.value(id).constant;
  }
  const int number = graph_.node_id_limit();
  ir::Node made;
  made.name = StrCat(node->short_name(), "#", number);
  auto specs = InferOutputs(*node, operands);
  if (!specs.ok()) return specs.status().WithContext(made.name);
  made.schema = node->schema;
  made.composite = node->composite;
  made.attributes = node->attributes;
  made.inputs = inputs;
  for (size_t i = 0; i < specs->size(); ++i) {
    const std::string name =
        specs->size() == 1 ? made.name : StrCat(made.name, ":", i);
    const TensorSpec declared{.desc = node->outputs[i]};
    const ir::ValueId id = AddValue(declared, ir::Role::kTransient, name);
    graph_.value(id).shape_declared = declared.desc.shape.ranked();
    specs_[static_cast<size_t>(id)] = (*specs)[i];
    made.outputs.push_back(id);
  }
  const std::vector<ir::ValueId> outputs = made.outputs;
  graph_.AddNode(std::move(made));
  nodes_.push_back(node);
  own_.insert(own_.end(), node->own.begin(), node->own.end());
  as_node_ = nullptr;
  return outputs;
}

TensorSpec OrderSpec() {
  TensorSpec spec;
  spec.desc.type = ir::DataType::kBool8;
  spec.desc.shape = ir::Shape{1};
  return spec;
}

// The value that the next ordered node waits for: the order made by the last
// one, else a constant.
ir::ValueId GraphState::OrderBefore() {
  if (ordered()) return order_;
  const std::byte start{0};
  order_start_ = AddConstant(OrderSpec(), ir::MakeConstant(&start, 1), "order");
  return order_start_;
}

Outputs GraphState::Record(const std::shared_ptr<const NodeState>& node,
                           const std::vector<Value>& inputs,
                           const std::vector<Token>& after) {
  for (const Token& token : after) {
    const Status status = WaitOutside(token);
    if (!status.ok()) return FailedOutputs(status);
  }
  auto ids = IdsOf(inputs);
  if (!ids.ok()) return FailedOutputs(ids.status());
  if (node->ordered) ids->push_back(OrderBefore());
  auto outputs = AddNode(node, *ids);
  if (!outputs.ok()) return FailedOutputs(outputs.status());
  if (node->ordered) {
    order_ = outputs->back();
    outputs->pop_back();
  }
  std::vector<Value> values;
  for (const ir::ValueId id : *outputs) values.push_back(MakeSymbolic(id));
  return MakeOutputs(std::move(values));
}

GraphState::State& GraphState::StateFor(
    const std::shared_ptr<VariableState>& variable) {
  for (State& state : states_) {
    if (state.variable == variable) return state;
  }
  const TensorSpec spec = variable->spec();
  const ir::ValueId id = AddValue(spec, ir::Role::kInput, variable->name());
  return states_.emplace_back(State{variable, id, id});
}

Value GraphState::ReadVariable(const std::shared_ptr<VariableState>& variable) {
  return MakeSymbolic(StateFor(variable).current);
}

Status GraphState::AssignVariable(
    const std::shared_ptr<VariableState>& variable, const Value& value) {
  TIM_ASSIGN_OR_RETURN(const ir::ValueId id, IdOf(value));
  const auto fits = Merge(variable->spec(), specs_[static_cast<size_t>(id)]);
  if (!fits.ok()) return fits.status().WithContext("the variable");
  StateFor(variable).current = id;
  as_node_ = nullptr;
  return OkStatus();
}

std::vector<TensorSpec> GraphState::SpecsOf(
    const std::vector<ir::ValueId>& ids) const {
  std::vector<TensorSpec> specs;
  for (const ir::ValueId id : ids) {
    specs.push_back(specs_[static_cast<size_t>(id)]);
  }
  return specs;
}

int GraphState::Level() const {
  const auto is_open = [](const TensorSpec& spec) {
    return spec.desc.type == ir::DataType::kUnknown ||
           !spec.desc.shape.IsStatic();
  };
  const auto inputs = InputSpecs();
  if (std::any_of(inputs.begin(), inputs.end(), is_open)) return 0;
  return std::any_of(specs_.begin(), specs_.end(), is_open) ? 1 : 2;
}

std::vector<Value> GraphState::ClosedOver() const {
  std::vector<Value> values;
  for (const Closed& closed : closed_) values.push_back(closed.value);
  return values;
}

ir::Graph GraphState::WithPorts() const {
  ir::Graph graph = graph_;
  for (const ir::ValueId id : inputs_) graph.AddInput(id);
  for (const Closed& closed : closed_) graph.AddInput(closed.id);
  for (const State& state : states_) graph.AddInput(state.read);
  for (const ir::ValueId id : outputs_) graph.AddOutput(id);
  for (const State& state : states_) {
    if (state.written()) graph.AddOutput(state.current);
  }
  if (ordered()) graph.AddOutput(order_);
  return graph;
}

// Numbered without gaps, which replacements leave.
ir::Graph GraphState::WithoutGaps(ir::Graph graph) {
  const bool has_gaps =
      static_cast<int>(graph.ValueIds().size()) != graph.value_id_limit();
  return has_gaps ? ir::LiveCopy(graph, graph.outputs()) : std::move(graph);
}

std::shared_ptr<const ir::Graph> GraphState::Snapshot() const {
  return std::make_shared<ir::Graph>(WithoutGaps(WithPorts()));
}

ir::Graph GraphState::Part() const {
  ir::Graph graph = WithPorts();
  if (ordered()) {
    const ir::ValueId before =
        graph.AddValue(OrderSpec().desc, ir::Role::kInput, "order");
    // A replacement may have put another value in its place.
    if (graph.HasValue(order_start_)) {
      graph.ReplaceUses(order_start_, before);
      graph.RemoveValue(order_start_);
    }
    graph.AddInput(before);
  }
  return WithoutGaps(std::move(graph));
}

ir::Graph GraphState::Known() const {
  ir::Graph graph = WithPorts();
  for (const ir::ValueId id : graph.ValueIds()) {
    const TensorSpec& spec = specs_[static_cast<size_t>(id)];
    graph.value(id).desc = spec.desc;
    graph.value(id).is_scalar = spec.is_scalar;
  }
  return graph;
}

std::shared_ptr<const NodeState> GraphState::AsNode() const {
  const std::lock_guard lock(mutex_);
  if (as_node_ == nullptr) {
    auto composite = std::make_shared<ir::Composite>();
    composite->name = name().empty() ? "graph" : name();
    composite->body = Part();
    const auto node =
        MakeNode(std::shared_ptr<const ir::Composite>(composite), own_);
    as_node_ = ordered() ? WithOwn(node, own_, true) : node;
  }
  return as_node_;
}

Result<std::shared_ptr<GraphState>> GraphState::Specialize(
    const std::vector<Spec>& inputs) const {
  TIM_RETURN_IF_ERROR(status_);
  if (inputs.size() != inputs_.size()) {
    return InvalidArgument("graph '", name(), "' has ", inputs_.size(),
                           " inputs, and specs were given for ", inputs.size());
  }
  auto made = std::make_shared<GraphState>(name());
  std::map<ir::ValueId, size_t> input_numbers;
  for (size_t i = 0; i < inputs_.size(); ++i) input_numbers[inputs_[i]] = i;
  std::map<ir::ValueId, ir::ValueId> ids = {{ir::kNone, ir::kNone}};
  for (const ir::ValueId id : graph_.ValueIds()) {
    const ir::Value& value = graph_.value(id);
    if (value.producer != ir::kNone) continue;
    TensorSpec spec = specs_[static_cast<size_t>(id)];
    const auto number = input_numbers.find(id);
    if (number != input_numbers.end()) {
      TIM_ASSIGN_OR_RETURN(const TensorSpec given,
                           ToTensorSpec(inputs[number->second]));
      auto merged = Merge(spec, given);
      if (!merged.ok()) return merged.status().WithContext(value.name);
      spec = *std::move(merged);
    }
    ids[id] = made->AddValue(spec, value.role, value.name);
    made->graph_.value(ids[id]).constant = value.constant;
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph_.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph_.node(id);
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId input : node.inputs) operands.push_back(ids[input]);
    TIM_ASSIGN_OR_RETURN(
        const std::vector<ir::ValueId> outputs,
        made->AddNode(nodes_[static_cast<size_t>(id)], operands));
    for (size_t i = 0; i < outputs.size(); ++i) {
      ids[node.outputs[i]] = outputs[i];
    }
  }
  for (const ir::ValueId id : inputs_) made->inputs_.push_back(ids[id]);
  for (const ir::ValueId id : outputs_) made->outputs_.push_back(ids[id]);
  for (const Closed& closed : closed_) {
    made->closed_.push_back({ids[closed.id], closed.value});
  }
  for (const State& state : states_) {
    made->states_.push_back(
        {state.variable, ids[state.read], ids[state.current]});
  }
  made->order_start_ = ids[order_start_];
  made->order_ = ids[order_];
  return made;
}

}  // namespace tim::values::internal
