#include "ir/graph.h"

#include <algorithm>
#include <queue>
#include <variant>

#include "ir/effect_order.h"
#include "ir/op_schema.h"

namespace tim::ir {

Graph::Graph() = default;
Graph::Graph(std::string name) : name_(std::move(name)) {}
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;
Graph::~Graph() = default;

Graph::Graph(const Graph& other) { *this = other; }

Graph& Graph::operator=(const Graph& other) {
  if (this == &other) return *this;
  name_ = other.name_;
  inputs_ = other.inputs_;
  outputs_ = other.outputs_;
  state_updates_ = other.state_updates_;
  nodes_.clear();
  values_.clear();
  for (const auto& node : other.nodes_) {
    nodes_.push_back(node ? std::make_unique<Node>(*node) : nullptr);
  }
  for (const auto& value : other.values_) {
    values_.push_back(value ? std::make_unique<Value>(*value) : nullptr);
  }
  return *this;
}

ValueId Graph::AddValue(TensorDesc desc, Role role, std::string name) {
  auto value = std::make_unique<Value>();
  value->id = value_id_limit();
  value->name = name.empty() ? StrCat("%", value->id) : std::move(name);
  value->desc = std::move(desc);
  value->role = role;
  values_.push_back(std::move(value));
  return values_.back()->id;
}

ValueId Graph::AddConstant(TensorDesc desc,
                           std::shared_ptr<const ConstantData> data,
                           std::string name) {
  const ValueId id =
      AddValue(std::move(desc), Role::kConstant, std::move(name));
  values_[id]->constant = std::move(data);
  values_[id]->shape_declared = true;
  return id;
}

NodeId Graph::AddNode(Node node) {
  node.id = node_id_limit();
  nodes_.push_back(std::make_unique<Node>(std::move(node)));
  Node& added = *nodes_.back();
  for (int i = 0; i < static_cast<int>(added.inputs.size()); ++i) {
    if (added.inputs[i] != kNone) {
      values_[added.inputs[i]]->uses.push_back({added.id, i});
    }
  }
  for (int i = 0; i < static_cast<int>(added.outputs.size()); ++i) {
    if (added.outputs[i] == kNone) continue;
    values_[added.outputs[i]]->producer = added.id;
    values_[added.outputs[i]]->producer_index = i;
  }
  return added.id;
}

void Graph::RemoveUse(ValueId value, Use use) {
  if (value == kNone) return;
  auto& uses = values_[value]->uses;
  const auto it = std::find(uses.begin(), uses.end(), use);
  if (it != uses.end()) uses.erase(it);
}

void Graph::RemoveNode(NodeId id) {
  Node& node = *nodes_[id];
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    RemoveUse(node.inputs[i], {id, i});
  }
  for (const ValueId output : node.outputs) {
    if (output != kNone && values_[output]->producer == id) {
      values_[output]->producer = kNone;
    }
  }
  nodes_[id].reset();
}

void Graph::RemoveValue(ValueId id) {
  TIM_DCHECK(values_[id]->uses.empty() && !IsLiveOut(id));
  values_[id].reset();
}

void Graph::SetInput(NodeId node, int index, ValueId value) {
  RemoveUse(nodes_[node]->inputs[index], {node, index});
  nodes_[node]->inputs[index] = value;
  if (value != kNone) values_[value]->uses.push_back({node, index});
}

void Graph::SetOutput(NodeId node, int index, ValueId value) {
  const ValueId old = nodes_[node]->outputs[index];
  if (old != kNone && values_[old]->producer == node) {
    values_[old]->producer = kNone;
  }
  nodes_[node]->outputs[index] = value;
  if (value == kNone) return;
  values_[value]->producer = node;
  values_[value]->producer_index = index;
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  if (from == to) return;
  const std::vector<Use> uses = values_[from]->uses;
  for (const Use& use : uses) SetInput(use.node, use.index, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  for (StateUpdate& update : state_updates_) {
    if (update.value == from) update.value = to;
  }
}

bool Graph::IsOutput(ValueId value) const {
  return std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

bool Graph::IsLiveOut(ValueId value) const {
  return IsOutput(value) ||
         std::any_of(state_updates_.begin(), state_updates_.end(),
                     [&](const auto& u) { return u.value == value; });
}

bool Graph::HasNode(NodeId id) const {
  return id >= 0 && id < node_id_limit() && nodes_[id] != nullptr;
}

bool Graph::HasValue(ValueId id) const {
  return id >= 0 && id < value_id_limit() && values_[id] != nullptr;
}

std::vector<NodeId> Graph::NodeIds() const {
  std::vector<NodeId> ids;
  for (const auto& node : nodes_) {
    if (node) ids.push_back(node->id);
  }
  return ids;
}

std::vector<ValueId> Graph::ValueIds() const {
  std::vector<ValueId> ids;
  for (const auto& value : values_) {
    if (value) ids.push_back(value->id);
  }
  return ids;
}

Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  const EffectChain effects(*this);
  std::vector<int> missing(nodes_.size(), 0);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (const NodeId id : NodeIds()) {
    if (effects.Before(id) != kNone) ++missing[id];
    for (const ValueId input : node(id).inputs) {
      if (input != kNone && value(input).producer != kNone) ++missing[id];
    }
    if (missing[id] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    const NodeId behind = effects.After(id);
    if (behind != kNone && --missing[behind] == 0) ready.push(behind);
    for (const ValueId output : node(id).outputs) {
      if (output == kNone) continue;
      for (const Use& use : value(output).uses) {
        if (--missing[use.node] == 0) ready.push(use.node);
      }
    }
  }
  if (order.size() == NodeIds().size()) return order;
  std::string names;
  for (const NodeId id : NodeIds()) {
    if (missing[id] > 0)
      names += StrCat(names.empty() ? "" : ", ", node(id).name);
  }
  return InvalidArgument(
      "the graph has a cycle through or before these operations: ", names);
}

Status Graph::CheckChains() const {
  std::vector<std::vector<int>> missing(nodes_.size());  // uses, per input
  for (const NodeId id : NodeIds()) {
    const Node& n = node(id);
    for (const ValueId input : n.inputs) {
      if (input != kNone && !HasValue(input)) {
        return TIM_INTERNAL(n.name, " reads a value that does not exist");
      }
      missing[id].push_back(input != kNone ? 1 : 0);
    }
    for (const ValueId output : n.outputs) {
      if (output == kNone) continue;
      if (!HasValue(output) || value(output).producer != id) {
        return TIM_INTERNAL(n.name, " is not the producer of its output");
      }
    }
  }
  for (const ValueId id : ValueIds()) {
    for (const Use& use : value(id).uses) {
      if (!HasNode(use.node) || node(use.node).inputs[use.index] != id) {
        return TIM_INTERNAL("value ", value(id).name, " has a stale use");
      }
      --missing[use.node][use.index];
    }
  }
  for (const NodeId id : NodeIds()) {
    for (size_t i = 0; i < missing[id].size(); ++i) {
      if (missing[id][i] == 0) continue;
      return TIM_INTERNAL(node(id).name, ": input ", i,
                          " is not in its use chain, or not once");
    }
  }
  return OkStatus();
}

namespace {

const char* RoleName(Role role) {
  static constexpr const char* kNames[] = {"transient", "input", "constant",
                                           "state"};
  return kNames[static_cast<int>(role)];
}

std::string Names(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string out = "(";
  for (const ValueId id : ids) {
    if (out.size() > 1) out += ", ";
    out += id == kNone ? "-" : graph.value(id).name;
  }
  return out + ")";
}

void DumpTo(const Graph& graph, const std::string& indent, std::string* out) {
  *out +=
      StrCat(indent, "graph ", graph.name(), " ", Names(graph, graph.inputs()),
             " -> ", Names(graph, graph.outputs()), "\n");
  for (const ValueId id : graph.ValueIds()) {
    const Value& value = graph.value(id);
    *out += StrCat(indent, "  ", value.name, ": ", value.desc.ToString(),
                   value.is_scalar ? " scalar" : "");
    if (value.role != Role::kTransient) {
      *out += StrCat(" ", RoleName(value.role));
    }
    *out += "\n";
  }
  for (const NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    const std::string key = node.composite ? node.composite->name
                            : node.schema  ? node.schema->Key()
                                           : "?";
    *out += StrCat(indent, "  ", Names(graph, node.outputs), " = ", key, " ",
                   node.schema != nullptr
                       ? AttributesText(*node.schema, node.attributes)
                       : node.attributes.ToString(),
                   " ", Names(graph, node.inputs), "  # ", node.name, "\n");
    if (node.composite) DumpTo(node.composite->body, indent + "    ", out);
  }
  for (const auto& update : graph.state_updates()) {
    *out += StrCat(indent, "  ", graph.value(update.state).name,
                   " := ", graph.value(update.value).name, "\n");
  }
}

}  // namespace

std::string Graph::Dump() const {
  std::string out;
  DumpTo(*this, "", &out);
  return out;
}

std::vector<const Graph*> NestedGraphs(const Node& node) {
  std::vector<const Graph*> graphs;
  if (node.composite != nullptr) graphs.push_back(&node.composite->body);
  for (const auto& [name, attribute] : node.attributes.entries()) {
    const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (graph != nullptr && *graph != nullptr) graphs.push_back(graph->get());
  }
  return graphs;
}

}  // namespace tim::ir
