// Tapes: calls become a graph whose forward part is known already, so that only
// the gradients' own nodes are called.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "compiler/compiler.h"
#include "compiler/differentiate.h"
#include "ir/live_copy.h"
#include "ops/registered.h"
#include "tim/values/gradient.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/replay.h"
#include "values/tape_state.h"

namespace tim::values {
namespace internal {
namespace {

// Weak: a tape may end on another thread.
std::vector<std::weak_ptr<TapeState>>& Tapes() {
  thread_local std::vector<std::weak_ptr<TapeState>> tapes;
  return tapes;
}

}  // namespace

// The graph of what was computed from `wrt`; each value of a call in it.
class TapeGraph {
 public:
  Result<std::vector<Value>> Gradient(const std::vector<TapeState::Call>& calls,
                                      const Value& of,
                                      const std::vector<Value>& wrt) {
    for (const Value& value : wrt) {
      TIM_RETURN_IF_ERROR(StateOf(value)->status());
      if (dependent_.insert(StateOf(value).get()).second) continue;
      return InvalidArgument("a value is named twice to differentiate by");
    }
    for (const TapeState::Call& call : calls) AddCall(call);
    std::vector<ir::ValueId> by;
    for (const Value& value : wrt) {
      by.push_back(IdOf(value));
      const ir::TensorDesc& desc = graph_.value(by.back()).desc;
      if (ir::IsFloat(desc.type)) continue;
      return InvalidArgument("only values of float types have gradients, ",
                             desc.ToString(), " has none");
    }
    TIM_RETURN_IF_ERROR(StateOf(of)->status());
    const ir::ValueId objective = IdOf(of);
    graph_.AddOutput(objective);
    TIM_RETURN_IF_ERROR(compiler::InferGraph(&graph_, ops::KnownOperators()));
    TIM_RETURN_IF_ERROR(CheckObjective(objective));
    TIM_ASSIGN_OR_RETURN(
        const ir::ValueId one,
        compiler::AddFilled(&graph_, ops::KnownOperators(), 1, objective));
    TIM_ASSIGN_OR_RETURN(const std::vector<ir::ValueId> gradients,
                         compiler::AddCotangents(&graph_, ops::KnownOperators(),
                                                 {{objective, one}}, by));
    TakeKnown();
    ir::Graph backward = ir::LiveCopy(graph_, gradients);
    TIM_RETURN_IF_ERROR(compiler::Tidy(&backward, ops::KnownOperators()));
    return Replay(backward, inputs_, own_);
  }

 private:
  // A value from outside is an input, but a constant.
  ir::ValueId IdOf(const Value& value) {
    const auto state = StateOf(value);
    const auto found = ids_.find(state.get());
    if (found != ids_.end()) return found->second;
    const TensorSpec spec = state->spec();
    const ir::ValueId id =
        state->constant() != nullptr
            ? graph_.AddConstant(spec.desc, state->constant(), state->name())
            : graph_.AddValue(spec.desc, ir::Role::kInput, state->name());
    graph_.value(id).is_scalar = spec.is_scalar;
    if (state->constant() == nullptr) {
      graph_.AddInput(id);
      inputs_.push_back(value);
    }
    ids_[state.get()] = id;
    return id;
  }

  // Calls that do not depend on `wrt` have their results as inputs.
  void AddCall(const TapeState::Call& call) {
    const auto depends = [&](const Value& value) {
      return dependent_.count(StateOf(value).get()) != 0;
    };
    if (std::none_of(call.inputs.begin(), call.inputs.end(), depends)) return;
    ir::Node node;
    node.name = StrCat(call.node->short_name(), "#", graph_.node_id_limit());
    node.schema = call.node->schema;
    node.composite = call.node->composite;
    node.attributes = call.node->attributes;
    for (const Value& input : call.inputs) {
      node.inputs.push_back(IsAbsent(input) ? ir::kNone : IdOf(input));
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto state = StateOf(call.outputs[i]);
      const TensorSpec spec = state->spec();
      const ir::ValueId id = graph_.AddValue(spec.desc);
      graph_.value(id).is_scalar = spec.is_scalar;
      graph_.value(id).shape_declared = call.node->outputs[i].shape.ranked();
      ids_[state.get()] = id;
      dependent_.insert(state.get());
      node.outputs.push_back(id);
      known_.emplace_back(id, call.outputs[i]);
    }
    graph_.AddNode(std::move(node));
    own_.insert(own_.end(), call.node->own.begin(), call.node->own.end());
  }

  Status CheckObjective(ir::ValueId objective) const {
    const ir::TensorDesc& desc = graph_.value(objective).desc;
    if (ir::IsFloat(desc.type) && desc.shape.NumElements() == 1) {
      return OkStatus();
    }
    return InvalidArgument("the value is ", desc.ToString(),
                           ", expected one element of a float type to "
                           "differentiate; reduce it");
  }

  // Results of the recorded calls become inputs, so that the nodes which made
  // them are dead and do not run again.
  void TakeKnown() {
    for (const auto& [id, value] : known_) {
      const ir::TensorDesc desc = graph_.value(id).desc;
      const bool is_scalar = graph_.value(id).is_scalar;
      const ir::ValueId input = graph_.AddValue(desc, ir::Role::kInput);
      graph_.value(input).is_scalar = is_scalar;
      graph_.AddInput(input);
      inputs_.push_back(value);
      graph_.ReplaceUses(id, input);
    }
  }

  ir::Graph graph_{"tape"};
  std::vector<Value> inputs_;  // of graph_
  std::map<const ValueState*, ir::ValueId> ids_;
  std::set<const ValueState*> dependent_;  // on `wrt`, which are themselves
  std::vector<std::pair<ir::ValueId, Value>> known_;
  OwnSchemas own_;
};

void TapeState::Record(const std::shared_ptr<const NodeState>& node,
                       const std::vector<Value>& inputs,
                       const std::vector<Value>& outputs) {
  calls_.push_back({node, inputs, outputs});
}

Result<std::vector<Value>> TapeState::Gradient(
    const Value& of, const std::vector<Value>& wrt) const {
  return TapeGraph().Gradient(calls_, of, wrt);
}

void RecordOnTapes(const std::shared_ptr<const NodeState>& node,
                   const std::vector<Value>& inputs, const Outputs& outputs) {
  if (Tapes().empty() || !outputs.ok()) return;
  std::vector<Value> values;
  for (size_t i = 0; i < outputs.size(); ++i) values.push_back(outputs[i]);
  for (const auto& weak : Tapes()) {
    if (const auto tape = weak.lock()) tape->Record(node, inputs, values);
  }
}

}  // namespace internal

Tape::Tape() : state_(std::make_shared<internal::TapeState>()) {
  internal::Tapes().push_back(state_);
}

Tape::~Tape() {
  state_ = nullptr;
  std::erase_if(internal::Tapes(),
                [](const auto& tape) { return tape.expired(); });
}

std::vector<Value> Tape::Gradient(const Value& of,
                                  const std::vector<Value>& wrt) const {
  // Calls that are made now are recorded by this tape, too: not while it reads.
  const internal::TapeState recorded = *state_;
  auto found = GuardedCall([&] { return recorded.Gradient(of, wrt); });
  if (found.ok()) return *std::move(found);
  return std::vector<Value>(wrt.size(), internal::FailedValue(found.status()));
}

}  // namespace tim::values
