// Records calls of lazy mode within the budget of each thread.
#include "values/lazy.h"

#include <algorithm>
#include <utility>

#include "values/access.h"
#include "values/event_state.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/lazy_options.h"
#include "values/mode_state.h"
#include "values/token_state.h"

namespace tim::values {
namespace internal {
namespace {

using States = std::vector<std::shared_ptr<ValueState>>;

uint64_t NextNumber() {
  static constinit std::atomic<uint64_t> last = 0;
  return ++last;
}

// Calls that this thread has recorded.
struct Recorded {
  std::shared_ptr<PendingCount> count = std::make_shared<PendingCount>();
  std::vector<std::weak_ptr<LazyNode>> nodes;

  // Forgets nodes that have run or that nobody can reach.
  void Prune() {
    std::erase_if(nodes, [](const std::weak_ptr<LazyNode>& weak) {
      const auto node = weak.lock();
      return node == nullptr || node->done();
    });
  }
};

Recorded& Own() {
  thread_local Recorded recorded;
  return recorded;
}

std::vector<std::shared_ptr<LazyNode>> Reachable() {
  Recorded& own = Own();
  own.Prune();
  std::vector<std::shared_ptr<LazyNode>> nodes;
  for (const auto& weak : own.nodes) {
    if (auto node = weak.lock()) nodes.push_back(std::move(node));
  }
  return nodes;
}

bool HasStaticShapes(const std::vector<TensorSpec>& specs) {
  return std::all_of(specs.begin(), specs.end(), [](const TensorSpec& spec) {
    return spec.desc.shape.IsStatic();
  });
}

std::vector<runtime::NodeOperand> OperandsFor(const States& inputs) {
  std::vector<runtime::NodeOperand> operands;
  for (const auto& input : inputs) {
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.present = input != nullptr;
    if (!operand.present) continue;
    const TensorSpec spec = input->spec();
    operand.desc = spec.desc;
    operand.is_scalar = spec.is_scalar;
    operand.constant = input->constant();
  }
  return operands;
}

void KeepWithinBudget() {
  const LazyOptions options = CurrentLazyOptions();
  const PendingCount& count = *Own().count;
  if (count.nodes > options.max_pending_nodes) {
    FlushNodes(Reachable(), StrCat("more than ", options.max_pending_nodes,
                                   " nodes were pending"));
  } else if (count.bytes > options.max_pending_bytes) {
    FlushNodes(Reachable(), StrCat("more than ", options.max_pending_bytes,
                                   " bytes were pending"));
  }
}

}  // namespace

LazyNode::LazyNode(std::shared_ptr<const NodeState> node, States inputs,
                   std::shared_ptr<DeviceState> device,
                   std::shared_ptr<PendingCount> count, int64_t bytes)
    : number_(NextNumber()),
      node_(std::move(node)),
      inputs_(std::move(inputs)),
      device_(std::move(device)),
      count_(std::move(count)),
      bytes_(bytes) {
  ++count_->nodes;
  count_->bytes += bytes_;
}

// Chains of nodes are let go one after the other, not one inside the other.
LazyNode::~LazyNode() {
  thread_local std::vector<States>* open = nullptr;
  if (!done_) {
    --count_->nodes;
    count_->bytes -= bytes_;
  }
  if (open != nullptr) {
    open->push_back(std::move(inputs_));
    return;
  }
  std::vector<States> own;
  own.push_back(std::move(inputs_));
  open = &own;
  while (!own.empty()) {
    const States last = std::move(own.back());
    own.pop_back();
  }
  open = nullptr;
}

void LazyNode::AddHandle(size_t index,
                         const std::shared_ptr<ValueState>& handle) {
  const std::lock_guard lock(mutex_);
  handles_.push_back({index, handle});
}

States LazyNode::Handles(size_t index) const {
  const std::lock_guard lock(mutex_);
  States states;
  for (const Handle& handle : handles_) {
    if (handle.index != index) continue;
    if (auto state = handle.state.lock()) states.push_back(std::move(state));
  }
  return states;
}

void LazyNode::Finish() {
  if (done_.exchange(true)) return;
  --count_->nodes;
  count_->bytes -= bytes_;
  inputs_.clear();
}

void AddHandle(LazyNode& node, size_t index,
               const std::shared_ptr<ValueState>& handle) {
  node.AddHandle(index, handle);
}

Outputs RecordLazy(const std::shared_ptr<const NodeState>& node,
                   const States& inputs, const std::vector<Token>& after) {
  const auto specs = InferOutputs(*node, OperandsFor(inputs));
  if (!specs.ok()) return FailedOutputs(specs.status());
  if (!HasStaticShapes(*specs) || !after.empty() || HasOrderedEffects(*node)) {
    return ForwardNow(*node, inputs, after);
  }
  int64_t bytes = 0;
  for (const TensorSpec& spec : *specs) {
    const auto size = BytesOf(spec.desc);
    if (!size.ok()) return FailedOutputs(size.status());
    bytes += *size;
  }
  Recorded& own = Own();
  auto made = std::make_shared<LazyNode>(node, inputs, CurrentDevice(),
                                         own.count, bytes);
  std::vector<Value> values;
  for (size_t i = 0; i < specs->size(); ++i) {
    auto state = ValueState::Pending((*specs)[i], made, i);
    made->AddHandle(i, state);
    values.push_back(MakeValue(std::move(state)));
  }
  if (own.nodes.size() >= 2 * static_cast<size_t>(own.count->nodes) + 64) {
    own.Prune();
  }
  own.nodes.push_back(made);
  KeepWithinBudget();
  return MakeOutputs(std::move(values));
}

Status FlushFor(const ValueState& value, const std::string& cause) {
  FlushNodes({value.lazy()}, cause);
  if (!value.resolved()) {
    return TIM_INTERNAL("a flush left a value that was asked for");
  }
  return value.status();
}

}  // namespace internal

Event Flush(const std::vector<Value>& values) {
  std::vector<std::shared_ptr<internal::LazyNode>> targets;
  std::vector<runtime::Completion> work;
  Status status;
  for (const Value& value : values) {
    const auto state = internal::StateOf(value);
    if (state->graph() != nullptr && status.ok()) status = state->Force();
    if (value.pending()) targets.push_back(state->lazy());
  }
  if (!targets.empty()) internal::FlushNodes(targets, "Flush()");
  for (const Value& value : values) {
    const auto state = internal::StateOf(value);
    if (status.ok()) status = state->status();
    work.push_back(state->completion());
  }
  return internal::MakeEvent(status, std::move(work));
}

Event FlushAll() {
  const auto nodes = internal::Reachable();
  std::vector<std::shared_ptr<internal::ValueState>> states;
  for (const auto& node : nodes) {
    for (size_t i = 0; i < node->node()->outputs.size(); ++i) {
      for (auto& state : node->Handles(i)) states.push_back(std::move(state));
    }
  }
  if (!nodes.empty()) internal::FlushNodes(nodes, "FlushAll()");
  Status status;
  std::vector<runtime::Completion> work;
  for (const auto& state : states) {
    if (status.ok()) status = state->status();
    work.push_back(state->completion());
  }
  return internal::MakeEvent(status, std::move(work));
}

}  // namespace tim::values
