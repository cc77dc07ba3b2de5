// Runs recorded calls: node by node, or as one plan where their structure has
// been seen before.
#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/fork/per_process.h"
#include "values/explanations.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/lazy.h"
#include "values/lazy_options.h"
#include "values/lazy_plans.h"

namespace tim::values {
namespace internal {
namespace {

using States = std::vector<std::shared_ptr<ValueState>>;
using Nodes = std::vector<std::shared_ptr<LazyNode>>;

// Flushes of the process, one after the other: a node runs once, and who asks
// for it meanwhile finds it done.
struct Flushes {
  std::mutex mutex;
  std::mutex options_mutex;
  LazyOptions options;
  LazyPlans plans;
};

constinit GlobalPerProcess<Flushes> g_flushes;

// An output of a node of the subgraph.
struct Source {
  size_t node = 0;
  size_t output = 0;
  bool operator<(const Source& other) const {
    return std::pair(node, output) < std::pair(other.node, other.output);
  }
};

// Recorded nodes in the order of recording, and the operands from outside.
struct Subgraph {
  Nodes nodes;
  std::unordered_map<const LazyNode*, size_t> numbers;
  States outer;  ///< Operands with bytes.
  std::unordered_map<const ValueState*, size_t> outer_numbers;
  std::vector<Source> outputs;  ///< Outputs with handles of users.

  // Null: the state is an outer one.
  const LazyNode* InnerOf(const ValueState& state) const {
    const LazyNode* const node = state.lazy().get();
    return node != nullptr && numbers.contains(node) ? node : nullptr;
  }
};

// Ancestors that have not run.
Subgraph Collect(const Nodes& targets) {
  Subgraph made;
  Nodes open = targets;
  std::map<uint64_t, std::shared_ptr<LazyNode>> found;
  while (!open.empty()) {
    const auto node = std::move(open.back());
    open.pop_back();
    if (node->done() || !found.emplace(node->number(), node).second) continue;
    for (const auto& input : node->inputs()) {
      if (input != nullptr && input->lazy() != nullptr && !input->resolved()) {
        open.push_back(input->lazy());
      }
    }
  }
  for (auto& [number, node] : found) {
    made.numbers[node.get()] = made.nodes.size();
    made.nodes.push_back(std::move(node));
  }
  for (const auto& node : made.nodes) {
    for (const auto& input : node->inputs()) {
      if (input == nullptr || made.InnerOf(*input) != nullptr) continue;
      if (made.outer_numbers.emplace(input.get(), made.outer.size()).second) {
        made.outer.push_back(input);
      }
    }
  }
  return made;
}

// Outputs that somebody refers to beside the nodes of the subgraph.
void FindOutputs(Subgraph* subgraph) {
  std::unordered_map<const ValueState*, long> inside;
  for (const auto& node : subgraph->nodes) {
    for (const auto& input : node->inputs()) {
      if (input != nullptr) ++inside[input.get()];
    }
  }
  for (size_t n = 0; n < subgraph->nodes.size(); ++n) {
    const size_t count = subgraph->nodes[n]->node()->outputs.size();
    for (size_t i = 0; i < count; ++i) {
      for (const auto& state : subgraph->nodes[n]->Handles(i)) {
        const auto known = inside.find(state.get());
        const long own = known != inside.end() ? known->second : 0;
        // One reference is `state` itself.
        if (state.use_count() <= own + 1) continue;
        subgraph->outputs.push_back({n, i});
        break;
      }
    }
  }
}

std::string TextOfOuter(const ValueState& state) {
  const TensorSpec spec = state.spec();
  std::string text = TextOf(spec.desc, spec.is_scalar);
  if (state.constant() != nullptr) {
    return StrCat(text, " constant ", state.constant()->hash.ToString());
  }
  const Place place = state.home();
  if (!place.layout.dense()) text += StrCat(" ", place.layout.ToString());
  const auto device = state.device();
  if (device != nullptr && !device->is_host()) {
    text += StrCat(" on ", device->spec());
  }
  return text;
}

// Tensors and graphs by address: plans keep them.
std::string TextOfAttribute(const ir::Attribute& value) {
  const void* address = nullptr;
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.get(); }) address = held.get();
      },
      value);
  if (address == nullptr) return ir::ToString(value);
  return StrCat("at ", reinterpret_cast<uintptr_t>(address));
}

Structure StructureOf(const Subgraph& subgraph) {
  Structure structure;
  auto& parts = structure.parts;
  for (size_t i = 0; i < subgraph.outer.size(); ++i) {
    parts.emplace_back(StrCat("input ", i, ": "),
                       TextOfOuter(*subgraph.outer[i]));
  }
  for (size_t n = 0; n < subgraph.nodes.size(); ++n) {
    const LazyNode& node = *subgraph.nodes[n];
    std::string operands = node.node()->op;
    if (const auto* graph = node.node()->composite.get()) {
      operands += StrCat(" at ", reinterpret_cast<uintptr_t>(graph));
    }
    for (const auto& input : node.inputs()) {
      if (input == nullptr) {
        operands += " -";
      } else if (const LazyNode* inner = subgraph.InnerOf(*input)) {
        operands += StrCat(" node ", subgraph.numbers.at(inner), ".",
                           input->lazy_index());
      } else {
        operands += StrCat(" input ", subgraph.outer_numbers.at(input.get()));
      }
    }
    parts.emplace_back(StrCat("node ", n, ": "), std::move(operands));
    for (const auto& [name, value] : node.node()->attributes.entries()) {
      parts.emplace_back(StrCat("node ", n, ": ", name, " "),
                         TextOfAttribute(value));
    }
    for (const ir::TensorDesc& output : node.node()->outputs) {
      parts.emplace_back(StrCat("node ", n, ": output "), output.ToString());
    }
  }
  for (const Source& output : subgraph.outputs) {
    parts.emplace_back("output: ",
                       StrCat("node ", output.node, ".", output.output));
  }
  return structure;
}

// All nodes as one.
std::shared_ptr<const NodeState> PlanOf(const Subgraph& subgraph) {
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "lazy";
  ir::Graph& graph = composite->body = ir::Graph("lazy");
  std::vector<ir::ValueId> outer;
  for (const auto& state : subgraph.outer) {
    const TensorSpec spec = state->spec();
    outer.push_back(graph.AddValue(spec.desc, ir::Role::kInput,
                                   StrCat("input ", outer.size())));
    graph.value(outer.back()).is_scalar = spec.is_scalar;
    graph.AddInput(outer.back());
  }
  std::vector<std::vector<ir::ValueId>> made;
  for (const auto& lazy : subgraph.nodes) {
    ir::Node node;
    node.name = StrCat(lazy->node()->short_name(), "#", made.size());
    node.schema = lazy->node()->schema;
    node.composite = lazy->node()->composite;
    node.attributes = lazy->node()->attributes;
    for (const auto& input : lazy->inputs()) {
      if (input == nullptr) {
        node.inputs.push_back(ir::kNone);
      } else if (const LazyNode* inner = subgraph.InnerOf(*input)) {
        node.inputs.push_back(
            made[subgraph.numbers.at(inner)][input->lazy_index()]);
      } else {
        node.inputs.push_back(outer[subgraph.outer_numbers.at(input.get())]);
      }
    }
    for (const ir::TensorDesc& output : lazy->node()->outputs) {
      node.outputs.push_back(graph.AddValue(output));
      ir::Value& value = graph.value(node.outputs.back());
      value.shape_declared = output.shape.ranked();
      value.name = node.name;
    }
    made.push_back(node.outputs);
    graph.AddNode(std::move(node));
  }
  for (const Source& output : subgraph.outputs) {
    graph.AddOutput(made[output.node][output.output]);
  }
  return MakeNode(std::shared_ptr<const ir::Composite>(composite));
}

void Resolve(const Subgraph& subgraph, const Source& output,
             const Result<Place>& place) {
  for (const auto& state :
       subgraph.nodes[output.node]->Handles(output.output)) {
    state->Resolve(place);
  }
}

// The device of a node, where the scope in which it was recorded names none
// that of its operands.
Result<std::shared_ptr<DeviceState>> DeviceOf(const LazyNode& node,
                                              const States& inputs) {
  const auto& device = node.device();
  if (device == nullptr) return DeviceFor(inputs);
  if (!device->status().ok()) return device->status();
  return device;
}

void RunEach(const Subgraph& subgraph) {
  std::map<Source, std::shared_ptr<ValueState>> made;
  std::map<Source, int> uses;
  for (const auto& node : subgraph.nodes) {
    for (const auto& input : node->inputs()) {
      if (input == nullptr) continue;
      if (const LazyNode* inner = subgraph.InnerOf(*input)) {
        ++uses[{subgraph.numbers.at(inner), input->lazy_index()}];
      }
    }
  }
  for (size_t n = 0; n < subgraph.nodes.size(); ++n) {
    const LazyNode& node = *subgraph.nodes[n];
    States inputs;
    Status failed;
    for (const auto& input : node.inputs()) {
      std::shared_ptr<ValueState> state = input;
      const LazyNode* inner =
          input != nullptr ? subgraph.InnerOf(*input) : nullptr;
      if (inner != nullptr) {
        const Source source{subgraph.numbers.at(inner), input->lazy_index()};
        state = made.at(source);
        if (--uses[source] == 0) made.erase(source);
      }
      if (state != nullptr && failed.ok()) failed = state->status();
      inputs.push_back(std::move(state));
    }
    Result<States> results = failed.ok() ? Result<States>(States()) : failed;
    if (failed.ok()) {
      const auto device = DeviceOf(node, inputs);
      results = device.ok() ? RunNow(*node.node(), inputs, **device)
                            : Result<States>(device.status());
    }
    for (size_t i = 0; i < node.node()->outputs.size(); ++i) {
      auto state = results.ok()
                       ? (*results)[i]
                       : ValueState::Failed(results.status().message());
      const Status status = state->status();
      Resolve(subgraph, {n, i},
              status.ok() ? Result<Place>(state->home()) : status);
      if (uses.contains({n, i})) made[{n, i}] = std::move(state);
    }
  }
}

// False where there is no one device for it.
bool RunAsOne(const Subgraph& subgraph,
              const std::shared_ptr<const NodeState>& plan) {
  std::shared_ptr<DeviceState> device = subgraph.nodes[0]->device();
  for (const auto& node : subgraph.nodes) {
    if (node->device() != device) return false;
  }
  if (device == nullptr) {
    auto found = DeviceFor(subgraph.outer);
    if (!found.ok()) return false;
    device = *std::move(found);
  }
  if (!device->status().ok()) return false;
  auto results = RunNow(*plan, subgraph.outer, *device);
  // Node by node the failure is that of one call.
  if (!results.ok()) return false;
  for (size_t i = 0; i < subgraph.outputs.size(); ++i) {
    Resolve(subgraph, subgraph.outputs[i], (*results)[i]->home());
  }
  return true;
}

void Run(const Subgraph& subgraph, const std::string& cause) {
  Flushes& flushes = g_flushes.Get();
  LazyPlans& plans = flushes.plans;
  const LazyOptions options = CurrentLazyOptions();
  bool known = false;
  LazyPlans::Seen& seen =
      plans.See(StructureOf(subgraph), options.max_plans, &known);
  std::string text =
      StrCat("flush of ", subgraph.nodes.size(), " nodes, ", cause, ": ");
  const bool compile = options.compile_after >= 0 &&
                       seen.times > options.compile_after &&
                       subgraph.nodes.size() > 1;
  if (compile && seen.plan != nullptr) {
    ++plans.stats.hits;
    text += "hit";
  } else {
    ++plans.stats.misses;
    text += compile ? "miss, compiled" : "miss, node by node";
    const std::string difference = known ? "" : plans.DifferenceFrom(seen);
    if (!difference.empty()) text += StrCat("; ", difference);
    if (compile) {
      seen.plan = PlanOf(subgraph);
      ++plans.stats.plans;
    }
  }
  ExplainFlush(std::move(text));
  if (!compile || !RunAsOne(subgraph, seen.plan)) RunEach(subgraph);
}

}  // namespace

void FlushNodes(const Nodes& targets, const std::string& cause) {
  Subgraph subgraph;  // let go without the lock
  const std::lock_guard lock(g_flushes.Get().mutex);
  subgraph = Collect(targets);
  if (subgraph.nodes.empty()) return;
  FindOutputs(&subgraph);
  Run(subgraph, cause);
  for (const auto& node : subgraph.nodes) node->Finish();
}

LazyOptions CurrentLazyOptions() {
  Flushes& flushes = g_flushes.Get();
  const std::lock_guard lock(flushes.options_mutex);
  return flushes.options;
}

}  // namespace internal

bool SetLazyOptions(const LazyOptions& options) {
  if (options.max_pending_nodes < 0 || options.max_pending_bytes < 0 ||
      options.compile_after < -1 || options.max_plans < 1) {
    internal::Fail(
        "lazy options: budgets are not negative, compile_after is -1 or more, "
        "max_plans 1 or more");
    return false;
  }
  internal::Flushes& flushes = internal::g_flushes.Get();
  const std::lock_guard lock(flushes.options_mutex);
  flushes.options = options;
  return true;
}

CacheStats LazyStats() {
  internal::Flushes& flushes = internal::g_flushes.Get();
  const std::lock_guard lock(flushes.mutex);
  CacheStats stats = flushes.plans.stats;
  stats.program_builds = internal::ProgramBuilds();
  return stats;
}

}  // namespace tim::values
