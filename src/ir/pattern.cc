// Patterns as data, and the search for them: goals one after the other, with
// every choice taken back where it leads nowhere.
#include "ir/pattern.h"

#include <algorithm>
#include <utility>

#include "ir/op_schema.h"

namespace tim::ir {
namespace {

const AttributeSpec* SpecOf(const Node& node, const std::string& name) {
  if (node.schema == nullptr) return nullptr;
  for (const AttributeSpec& spec : node.schema->attributes) {
    if (spec.name == name) return &spec;
  }
  for (const AttributeSpec& spec : ReservedAttributes()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

// `wanted` as the attribute has it.
Attribute Converted(const AttributeSpec& spec, const Attribute& wanted) {
  const auto* integer = std::get_if<int64_t>(&wanted);
  if (integer != nullptr && spec.type == AttributeType::kFloat) {
    return static_cast<double>(*integer);
  }
  const auto* text = std::get_if<std::string>(&wanted);
  if (text != nullptr && spec.type == AttributeType::kInt) {
    for (const auto& [name, value] : spec.values) {
      if (name == *text) return value;
    }
  }
  return wanted;
}

bool HasAttribute(const Node& node, const std::string& name,
                  const Attribute& wanted) {
  const AttributeSpec* spec = SpecOf(node, name);
  const Attribute* found = node.attributes.Find(name);
  if (found == nullptr && spec != nullptr && spec->default_value) {
    found = &*spec->default_value;
  }
  if (found == nullptr) return false;
  return *found == (spec != nullptr ? Converted(*spec, wanted) : wanted);
}

// `op` with or without a version, or a composite's name.
bool IsOperator(const Node& node, const std::string& op) {
  if (op.empty()) return true;
  if (node.composite && node.composite->name == op) return true;
  const OpSchema* schema = node.schema;
  if (schema == nullptr) return false;
  const size_t domain = schema->domain.size();
  const bool same_domain = op.size() > domain && op[domain] == '.' &&
                           op.compare(0, domain, schema->domain) == 0;
  if (!same_domain) return false;
  const size_t name = schema->name.size();
  if (op.compare(domain + 1, name, schema->name) != 0) return false;
  return op.size() == domain + 1 + name || op == schema->Key();
}

class Search {
 public:
  Search(const Graph& graph, const std::vector<ValueId>& live)
      : graph_(graph), lives_out_(graph.value_id_limit(), false) {
    for (const ValueId id : live) lives_out_[id] = true;
    for (const ValueId id : graph.outputs()) lives_out_[id] = true;
    for (const auto& update : graph.state_updates()) {
      lives_out_[update.value] = true;
    }
  }

  bool Find(const Pattern& pattern, NodeId root, PatternMatch* match) {
    ValueId value = kNone;
    for (const ValueId output : graph_.node(root).outputs) {
      if (value == kNone) value = output;
    }
    if (value == kNone) return false;
    root_ = root;
    taken_.clear();
    asked_.clear();
    match_ = {.graph = &graph_, .root = root, .nodes = {}};
    const Goal goal = {.pattern = &pattern, .value = value};
    if (!Solve(&goal)) return false;
    *match = match_;
    return true;
  }

  /// Nodes of the last match that other matches may have, too.
  std::vector<NodeId> SharedNodes() const {
    std::vector<NodeId> out;
    for (const Taken& taken : taken_) {
      if (taken.shared) out.push_back(taken.node);
    }
    return out;
  }

 private:
  // What is left to match: a list whose ends several choices have in common.
  struct Goal {
    const Pattern* pattern = nullptr;
    ValueId value = kNone;
    int times = 0;  // Nodes of a kRepeat that were matched before.
    const Goal* next = nullptr;
  };
  struct Taken {
    NodeId node = kNone;
    bool shared = false;
  };

  bool Solve(const Goal* goal) {
    if (goal == nullptr) return IsComplete();
    const Pattern& pattern = *goal->pattern;
    switch (pattern.kind) {
      case Pattern::Kind::kAny:
        return Bind(pattern, goal->value, kNone, goal->next);
      case Pattern::Kind::kConstant:
        return graph_.value(goal->value).role == Role::kConstant &&
               Bind(pattern, goal->value, kNone, goal->next);
      case Pattern::Kind::kOp:
        return SolveOp(pattern, *goal);
      case Pattern::Kind::kOneOf:
        return SolveOneOf(pattern, *goal);
      case Pattern::Kind::kOptional:
        return SolveOptional(pattern, *goal);
      case Pattern::Kind::kRepeat:
        return SolveRepeat(pattern, *goal);
    }
    return false;
  }

  bool SolveOneOf(const Pattern& pattern, const Goal& goal) {
    for (const Pattern& alternative : pattern.inputs) {
      const Goal one = {
          .pattern = &alternative, .value = goal.value, .next = goal.next};
      if (Ask(pattern, &one)) return true;
    }
    return false;
  }

  bool SolveOptional(const Pattern& pattern, const Goal& goal) {
    const NodeId id = Producer(goal.value, pattern);
    if (id != kNone) {
      const Goal inside = {.pattern = &pattern.inputs[0],
                           .value = FirstInput(id),
                           .next = goal.next};
      if (inside.value != kNone && Bind(pattern, goal.value, id, &inside)) {
        return true;
      }
    }
    const Goal without = {
        .pattern = &pattern.inputs[0], .value = goal.value, .next = goal.next};
    return Solve(&without);
  }

  // The longest chain first; the name is that of the node next to the root.
  bool SolveRepeat(const Pattern& pattern, const Goal& goal) {
    const NodeId id =
        goal.times < pattern.most ? Producer(goal.value, pattern) : kNone;
    if (id != kNone && FirstInput(id) != kNone) {
      const Goal more = {.pattern = &pattern,
                         .value = FirstInput(id),
                         .times = goal.times + 1,
                         .next = goal.next};
      const bool first = goal.times == 0;
      if (first ? Bind(pattern, goal.value, id, &more)
                : Take(pattern, id, &more)) {
        return true;
      }
    }
    if (goal.times < pattern.least) return false;
    const Goal inside = {
        .pattern = &pattern.inputs[0], .value = goal.value, .next = goal.next};
    return Solve(&inside);
  }

  bool SolveOp(const Pattern& pattern, const Goal& goal) {
    const NodeId id = Producer(goal.value, pattern);
    if (id == kNone) return false;
    const Node& node = graph_.node(id);
    if (pattern.inputs.size() > node.inputs.size()) return false;
    for (const bool exchanged : {false, true}) {
      if (exchanged && (!pattern.any_order || node.inputs.size() < 2)) break;
      if (SolveInputs(pattern, goal, node, exchanged)) return true;
    }
    return false;
  }

  bool SolveInputs(const Pattern& pattern, const Goal& goal, const Node& node,
                   bool exchanged) {
    std::vector<Goal> goals(pattern.inputs.size());
    const Goal* next = goal.next;
    for (size_t i = goals.size(); i-- > 0;) {
      const size_t from = exchanged && i < 2 ? 1 - i : i;
      if (node.inputs[from] == kNone) return false;
      goals[i] = {.pattern = &pattern.inputs[i],
                  .value = node.inputs[from],
                  .next = next};
      next = &goals[i];
    }
    return Bind(pattern, goal.value, node.id, next);
  }

  // The node that makes the value, where it is what the pattern says.
  NodeId Producer(ValueId value, const Pattern& pattern) const {
    const NodeId id = graph_.value(value).producer;
    if (id == kNone || !IsOperator(graph_.node(id), pattern.op)) return kNone;
    for (const auto& [name, wanted] : pattern.attributes) {
      if (!HasAttribute(graph_.node(id), name, wanted)) return kNone;
    }
    return id;
  }

  ValueId FirstInput(NodeId id) const {
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    return inputs.empty() ? kNone : inputs[0];
  }

  // Gives the name to the value and to the node, which is kNone for others than
  // nodes, and goes on; takes both back where that fails.
  bool Bind(const Pattern& pattern, ValueId value, NodeId node,
            const Goal* next) {
    bool is_new = false;
    if (!pattern.name.empty()) {
      const auto [it, added] = match_.values.emplace(pattern.name, value);
      if (it->second != value) return false;
      is_new = added;
      if (added && node != kNone) match_.named_nodes[pattern.name] = node;
    }
    if (Take(pattern, node, next)) return true;
    if (is_new) {
      match_.values.erase(pattern.name);
      match_.named_nodes.erase(pattern.name);
    }
    return false;
  }

  bool Take(const Pattern& pattern, NodeId node, const Goal* next) {
    if (node == kNone) return Ask(pattern, next);
    taken_.push_back({node, pattern.may_be_shared});
    if (Ask(pattern, next)) return true;
    taken_.pop_back();
    return false;
  }

  bool Ask(const Pattern& pattern, const Goal* next) {
    if (!pattern.where) return Solve(next);
    asked_.push_back(&pattern);
    if (Solve(next)) return true;
    asked_.pop_back();
    return false;
  }

  bool IsTaken(NodeId id) const {
    return std::any_of(taken_.begin(), taken_.end(),
                       [&](const Taken& taken) { return taken.node == id; });
  }

  bool HasOtherReaders(const Node& node) const {
    for (const ValueId id : node.outputs) {
      if (id == kNone) continue;
      if (lives_out_[id]) return true;
      for (const Use& use : graph_.value(id).uses) {
        if (!IsTaken(use.node)) return true;
      }
    }
    return false;
  }

  bool IsComplete() {
    if (!IsTaken(root_)) return false;
    match_.nodes = {root_};
    for (const Taken& taken : taken_) {
      const auto& nodes = match_.nodes;
      if (std::find(nodes.begin(), nodes.end(), taken.node) != nodes.end()) {
        continue;
      }
      if (!taken.shared && HasOtherReaders(graph_.node(taken.node))) {
        return false;
      }
      match_.nodes.push_back(taken.node);
    }
    return std::all_of(
        asked_.begin(), asked_.end(),
        [&](const Pattern* pattern) { return pattern->where(match_); });
  }

  const Graph& graph_;
  std::vector<bool> lives_out_;
  NodeId root_ = kNone;
  PatternMatch match_;
  std::vector<Taken> taken_;
  std::vector<const Pattern*> asked_;
};

}  // namespace

Pattern Pattern::Any(std::string name) {
  return {.kind = Kind::kAny, .name = std::move(name)};
}

Pattern Pattern::Constant(std::string name) {
  return {.kind = Kind::kConstant, .name = std::move(name)};
}

Pattern Pattern::Op(std::string op, std::vector<Pattern> inputs,
                    std::string name) {
  return {.kind = Kind::kOp,
          .op = std::move(op),
          .name = std::move(name),
          .inputs = std::move(inputs)};
}

Pattern Pattern::OneOf(std::vector<Pattern> alternatives) {
  return {.kind = Kind::kOneOf, .inputs = std::move(alternatives)};
}

Pattern Pattern::Optional(std::string op, Pattern inside, std::string name) {
  Pattern out = Op(std::move(op), {std::move(inside)}, std::move(name));
  out.kind = Kind::kOptional;
  return out;
}

Pattern Pattern::Repeat(std::string op, int least, int most, Pattern inside,
                        std::string name) {
  Pattern out = Op(std::move(op), {std::move(inside)}, std::move(name));
  out.kind = Kind::kRepeat;
  out.least = least;
  out.most = most;
  return out;
}

Result<std::vector<PatternMatch>> FindMatches(
    const Graph& graph, const Pattern& pattern,
    const std::vector<ValueId>& live) {
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       graph.TopologicalOrder());
  std::vector<PatternMatch> out;
  std::vector<bool> used(graph.node_id_limit(), false);
  Search search(graph, live);
  for (const NodeId id : order) {
    PatternMatch match;
    if (used[id] || !search.Find(pattern, id, &match)) continue;
    const auto is_used = [&](NodeId node) { return used[node]; };
    if (std::any_of(match.nodes.begin(), match.nodes.end(), is_used)) continue;
    const std::vector<NodeId> shared = search.SharedNodes();
    for (const NodeId node : match.nodes) {
      used[node] =
          std::find(shared.begin(), shared.end(), node) == shared.end();
    }
    out.push_back(std::move(match));
  }
  return out;
}

}  // namespace tim::ir
