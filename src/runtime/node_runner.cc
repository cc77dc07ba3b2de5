// Looks nodes up by what their steps depend on.
#include "runtime/node_runner.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "ops/registered.h"
#include "runtime/compile_options.h"

namespace tim::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of a key, so that equal keys mean equal steps.
class KeyText {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Add(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Add(std::string_view text) {
    Add(text.size());
    text_ += text;
  }
  template <typename T>
  void AddAll(const std::vector<T>& list) {
    Add(list.size());
    for (const T& element : list) Add(element);
  }
  void Add(const ir::TensorDesc& desc) {
    Add(desc.type);
    Add(desc.shape.ranked());
    AddAll(desc.shape.dims());
    const ir::Quantization& quantization = desc.quantization;
    Add(quantization.kind);
    if (!quantization.none()) {
      Add(quantization.axis);
      AddAll(quantization.scales);
      AddAll(quantization.zero_points);
      Add(quantization.fl);
    }
    Add(desc.layout.kind);
    if (!desc.layout.dense()) {
      Add(desc.layout.axis);
      Add(desc.layout.block);
      AddAll(desc.layout.strides);
    }
  }
  // Tensors and graphs by address: whoever has the key keeps them.
  void Add(const ir::Attribute& attribute) {
    Add(attribute.index());
    std::visit([this](const auto& value) { AddValue(value); }, attribute);
  }

  std::string Take() { return std::move(text_); }

 private:
  template <typename T>
  void AddValue(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      Add(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      Add(std::string_view(value));
    } else if constexpr (requires { value.begin(); }) {
      Add(value.size());
      for (const auto& element : value) AddValue(element);
    } else {
      Add(value.get());
    }
  }

  std::string text_;
};

std::string KeyOf(const NodeCall& call) {
  KeyText key;
  key.Add(call.schema);
  key.Add(call.composite.get());
  for (const auto& [name, value] : call.attributes->entries()) {
    key.Add(std::string_view(name));
    key.Add(value);
  }
  for (const NodeOperand& input : call.inputs) {
    key.Add(input.present);
    if (!input.present) continue;
    key.Add(input.desc);
    key.Add(input.is_scalar);
    key.Add(input.memory != nullptr && input.memory->stream()->is_host());
    key.Add(input.constant != nullptr);
    if (input.constant == nullptr) continue;
    key.Add(input.constant->hash);
  }
  for (const ir::TensorDesc& output : call.outputs) key.Add(output);
  key.Add(call.dense);
  return key.Take();
}

std::string HostSteps(const ir::Plan& plan) {
  std::string text;
  for (const ir::Decision& decision : plan.decisions) {
    if (decision.chosen.rfind("host:", 0) != 0) continue;
    text += StrCat(decision.node, " runs on the host");
    for (const std::string& reason : decision.refused) {
      text += StrCat("\n  ", reason);
    }
    text += '\n';
  }
  return text;
}

bool HasStaticOutputs(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.outputs()) {
    if (!graph.value(id).desc.shape.IsStatic()) return false;
  }
  return true;
}

}  // namespace

Result<ir::Graph> GraphOf(const NodeCall& call) {
  ir::Graph graph;
  ir::Node node;
  node.name = call.name;
  node.schema = call.schema;
  node.composite = call.composite;
  node.attributes = *call.attributes;
  for (const NodeOperand& input : call.inputs) {
    if (!input.present) {
      node.inputs.push_back(ir::kNone);
      continue;
    }
    ir::TensorDesc desc = input.desc;
    desc.layout = ir::Layout::Dense();
    const ir::ValueId id =
        input.constant != nullptr
            ? graph.AddConstant(std::move(desc), input.constant)
            : graph.AddValue(std::move(desc), ir::Role::kInput);
    graph.value(id).is_scalar = input.is_scalar;
    graph.value(id).name = StrCat("input ", node.inputs.size());
    if (input.constant == nullptr) graph.AddInput(id);
    node.inputs.push_back(id);
  }
  for (const ir::TensorDesc& output : call.outputs) {
    const ir::ValueId id = graph.AddValue(output);
    graph.value(id).shape_declared = output.shape.ranked();
    graph.value(id).name = StrCat("output ", node.outputs.size());
    node.outputs.push_back(id);
    graph.AddOutput(id);
  }
  graph.AddNode(std::move(node));
  return graph;
}

NodeRunner::NodeRunner(WorkStreams streams,
                       std::shared_ptr<device::BinaryStore> store,
                       const NodeRunnerOptions& options)
    : streams_(std::move(streams)),
      store_(std::move(store)),
      options_(options) {}

Result<std::shared_ptr<PreparedNode>> NodeRunner::Compile(
    const NodeCall& call) const {
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(call));
  Surroundings surroundings{.devices = {}, .store = store_};
  for (const auto& stream : streams_) {
    surroundings.devices.push_back(stream->shared_device());
  }
  // Operators that are known stay so for the process's life.
  const ir::OpRegistry& known = ops::KnownOperators();
  surroundings.operators = {&known, [](const ir::OpRegistry*) {}};
  if (call.operators != nullptr) surroundings.operators = call.operators;
  compiler::CompileOptions options = CompileOptionsFor(surroundings.devices);
  options.strict = options_.strict;
  options.many_shapes = true;
  options.was_compiled = true;  // a call that comes often says no doubts
  for (const NodeOperand& input : call.inputs) {
    if (input.memory == nullptr) continue;
    const bool on_host = input.memory->stream()->is_host();
    options.inputs.push_back(
        {.device = on_host ? 0 : static_cast<int>(streams_.size()) - 1,
         .layout = input.desc.layout});
  }
  options.outputs.resize(
      call.outputs.size(),
      {.device = static_cast<int>(streams_.size()) - 1, .free = !call.dense});
  TIM_ASSIGN_OR_RETURN(compiler::InferredGraph inferred,
                       compiler::Infer(std::move(graph), known, options));
  if (!HasStaticOutputs(inferred.graph)) {
    return FailedPrecondition("operation ", call.name,
                              ": the extents of its outputs depend on the "
                              "content of its operands");
  }
  std::vector<bool> scalars;
  for (const ir::ValueId id : inferred.graph.outputs()) {
    scalars.push_back(inferred.graph.value(id).is_scalar);
  }
  return PreparedNode::Create(inferred, std::move(options), surroundings,
                              std::move(scalars));
}

std::shared_ptr<PreparedNode> NodeRunner::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  ++stats_.hits;
  nodes_.splice(nodes_.begin(), nodes_, found->second);
  return found->second->node;
}

void NodeRunner::Insert(Entry entry) {
  Entry dropped;
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(entry.key)) return;
  nodes_.push_front(std::move(entry));
  by_key_[nodes_.front().key] = nodes_.begin();
  if (nodes_.size() <= options_.max_nodes) return;
  dropped = std::move(nodes_.back());
  by_key_.erase(dropped.key);
  nodes_.pop_back();
  ++stats_.evictions;
  // Work may be in flight: its stream keeps the steps.
  stream()->Keep(dropped.node);
}

Result<std::shared_ptr<PreparedNode>> NodeRunner::Prepare(
    const NodeCall& call) {
  const std::string key = KeyOf(call);
  if (auto found = Find(key)) return found;
  const auto begin = Clock::now();
  TIM_ASSIGN_OR_RETURN(auto made, Compile(call));
  const std::chrono::duration<double, std::milli> spent = Clock::now() - begin;
  {
    const std::lock_guard lock(mutex_);
    ++stats_.misses;
    stats_.compile_ms += spent.count();
  }
  Insert({key, made, *call.attributes, call.composite, call.operators});
  return made;
}

Result<NodeRunner::Run> NodeRunner::Call(const NodeCall& call) {
  TIM_ASSIGN_OR_RETURN(const auto node, Prepare(call));
  std::vector<std::shared_ptr<SharedMemory>> inputs;
  for (const NodeOperand& input : call.inputs) {
    if (input.memory == nullptr) continue;
    // Work of other streams is waited for here.
    const Completion& completion = input.memory->completion();
    if (completion.run != nullptr ||
        (completion.stream != nullptr && completion.stream != stream())) {
      TIM_RETURN_IF_ERROR(completion.Wait());
    }
    inputs.push_back(input.memory);
  }
  Run run;
  TIM_ASSIGN_OR_RETURN(run.results, node->Run(inputs, streams_));
  if (node->uses_host()) run.host_steps = HostSteps(node->plan());
  return run;
}

NodeRunnerStats NodeRunner::stats() const {
  const std::lock_guard lock(mutex_);
  NodeRunnerStats stats = stats_;
  stats.kept = static_cast<int64_t>(nodes_.size());
  return stats;
}

void NodeRunner::Clear() {
  std::list<Entry> dropped;
  for (const auto& stream : streams_) static_cast<void>(stream->Drain());
  const std::lock_guard lock(mutex_);
  by_key_.clear();
  dropped.swap(nodes_);
}

}  // namespace tim::runtime
