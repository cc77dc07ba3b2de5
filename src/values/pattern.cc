// Patterns as the public header has them, and graphs that are searched and
// changed by them.
#include "tim/values/pattern.h"

#include <utility>

#include "base/guarded.h"
#include "tim/values/graph.h"
#include "values/access.h"
#include "values/conversion.h"
#include "values/failure.h"
#include "values/pattern_state.h"

namespace tim::values {

using internal::Access;
using internal::GraphState;
using internal::MatchState;
using internal::PatternState;
using Kind = ir::Pattern::Kind;

namespace internal {
namespace {

Status CheckPattern(const PatternState& state) {
  if (state.kind == Kind::kOneOf && state.inputs.empty()) {
    return InvalidArgument("a pattern OneOf has no alternatives");
  }
  if (state.kind == Kind::kRepeat &&
      (state.least < 0 || state.most < state.least)) {
    return InvalidArgument("a pattern repeats ", state.op, " ", state.least,
                           " to ", state.most,
                           " times; expected 0 or more, and no less at most");
  }
  const bool has_op =
      state.kind == Kind::kOptional || state.kind == Kind::kRepeat;
  if (has_op && state.op.empty()) {
    return InvalidArgument("a pattern Optional or Repeat names no operator");
  }
  return OkStatus();
}

}  // namespace

Match MakeMatch(const std::shared_ptr<GraphState>& graph,
                const ir::PatternMatch& found) {
  auto state = std::make_shared<MatchState>();
  state->graph = graph;
  state->match = found;
  for (const ir::NodeId id : found.nodes) {
    state->node_names.push_back(found.graph->node(id).name);
  }
  state->match.graph = nullptr;
  return Access::Make<Match>(std::shared_ptr<const MatchState>(state));
}

Result<ir::Pattern> PatternFor(const Pattern& pattern,
                               const std::shared_ptr<GraphState>& graph) {
  const PatternState& state = *Access::StateOf(pattern);
  TIM_RETURN_IF_ERROR(CheckPattern(state));
  ir::Pattern made{.kind = state.kind,
                   .op = state.op,
                   .name = state.name,
                   .least = state.least,
                   .most = state.most,
                   .any_order = state.any_order,
                   .may_be_shared = state.may_be_shared};
  for (const Pattern& input : state.inputs) {
    TIM_ASSIGN_OR_RETURN(made.inputs.emplace_back(), PatternFor(input, graph));
  }
  for (const auto& [name, value] : state.attributes) {
    made.attributes.emplace_back(name, Access::StateOf(value)->value);
  }
  if (state.where) {
    made.where = [where = state.where, graph](const ir::PatternMatch& match) {
      return where(MakeMatch(graph, match));
    };
  }
  return made;
}

}  // namespace internal

namespace {

Pattern MakePattern(PatternState state) {
  return Access::Make<Pattern>(
      std::make_shared<PatternState>(std::move(state)));
}

Status NoPart(const std::string& name) {
  return InvalidArgument("the match has no part named '", name, "'");
}

}  // namespace

bool Match::Has(const std::string& name) const {
  return state_ != nullptr && state_->match.values.count(name) != 0;
}

Value Match::operator[](const std::string& name) const {
  if (!Has(name)) return internal::FailedValue(NoPart(name));
  return state_->graph->ValueOf(state_->match.values.at(name));
}

Node Match::node(const std::string& name) const {
  if (state_ != nullptr) {
    const auto found = state_->match.named_nodes.find(name);
    if (found != state_->match.named_nodes.end()) {
      return state_->graph->NodeOf(found->second);
    }
  }
  auto failed = std::make_shared<internal::NodeState>();
  failed->status = NoPart(name);
  internal::Fail(failed->status);
  Node node("tim.Relu");
  Access::Set(node, std::shared_ptr<const internal::NodeState>(failed));
  return node;
}

std::vector<std::string> Match::nodes() const {
  return state_ != nullptr ? state_->node_names : std::vector<std::string>();
}

Pattern Pattern::Any(const std::string& name) {
  return MakePattern(
      {.kind = Kind::kAny, .op = "", .name = name, .inputs = {}});
}

Pattern Pattern::Constant(const std::string& name) {
  return MakePattern(
      {.kind = Kind::kConstant, .op = "", .name = name, .inputs = {}});
}

Pattern Pattern::Op(const std::string& op, std::vector<Pattern> inputs,
                    const std::string& name) {
  return MakePattern(
      {.kind = Kind::kOp, .op = op, .name = name, .inputs = std::move(inputs)});
}

Pattern Pattern::OneOf(std::vector<Pattern> alternatives) {
  return MakePattern({.kind = Kind::kOneOf,
                      .op = "",
                      .name = "",
                      .inputs = std::move(alternatives)});
}

Pattern Pattern::Optional(const std::string& op, const Pattern& inside,
                          const std::string& name) {
  return MakePattern(
      {.kind = Kind::kOptional, .op = op, .name = name, .inputs = {inside}});
}

Pattern Pattern::Repeat(const std::string& op, int least, int most,
                        const Pattern& inside, const std::string& name) {
  return MakePattern({.kind = Kind::kRepeat,
                      .op = op,
                      .name = name,
                      .inputs = {inside},
                      .least = least,
                      .most = most});
}

PatternState& Pattern::Edit() {
  if (state_.use_count() > 1) state_ = std::make_shared<PatternState>(*state_);
  return *state_;
}

Pattern& Pattern::Where(std::function<bool(const Match&)> condition) {
  Edit().where = std::move(condition);
  return *this;
}

Pattern& Pattern::With(const std::string& attribute, const Attribute& value) {
  Edit().attributes.emplace_back(attribute, value);
  return *this;
}

Pattern& Pattern::AnyOrder() {
  Edit().any_order = true;
  return *this;
}

Pattern& Pattern::MayBeShared() {
  Edit().may_be_shared = true;
  return *this;
}

int Graph::Replace(const Pattern& pattern, const Replacement& replacement,
                   int max_rounds) {
  const auto replaced = GuardedCall([&]() -> Result<ir::ReplaceReport> {
    TIM_ASSIGN_OR_RETURN(const ir::Pattern made,
                         internal::PatternFor(pattern, state_));
    return state_->Replace(
        made,
        [&](const ir::PatternMatch& match) {
          return replacement(internal::MakeMatch(state_, match));
        },
        max_rounds);
  });
  if (!replaced.ok()) {
    internal::Fail(replaced.status());
    return -1;
  }
  if (!replaced->skipped.empty()) {
    internal::Fail(StrCat("matches were left as they were: ",
                          StrJoin(replaced->skipped, "; ")));
  }
  return replaced->replaced;
}

std::vector<Match> Graph::FindAll(const Pattern& pattern) const {
  std::vector<Match> out;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const ir::Pattern made,
                         internal::PatternFor(pattern, state_));
    const ir::Graph known = state_->Known();
    TIM_ASSIGN_OR_RETURN(const std::vector<ir::PatternMatch> matches,
                         ir::FindMatches(known, made));
    for (const ir::PatternMatch& match : matches) {
      out.push_back(internal::MakeMatch(state_, match));
    }
    return OkStatus();
  });
  if (!status.ok()) internal::Fail(status);
  return out;
}

}  // namespace tim::values
