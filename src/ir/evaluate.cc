#include "ir/evaluate.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace tim::ir {
namespace {

// Bytes of the values of one graph while it is evaluated.
class Values {
 public:
  explicit Values(const Graph& graph) : graph_(graph) {}

  void Bind(ValueId id, const void* data) { bound_[id] = data; }

  Result<ConstTensor> Read(ValueId id) const {
    if (id == kNone) return ConstTensor();
    const Value& value = graph_.value(id);
    if (const auto it = bound_.find(id); it != bound_.end()) {
      return ConstTensor{&value.desc, it->second};
    }
    if (value.constant) {
      return ConstTensor{&value.desc, value.constant->bytes.data()};
    }
    const auto it = owned_.find(id);
    if (it == owned_.end()) {
      return FailedPrecondition("value ", value.name, " has no data");
    }
    return ConstTensor{&value.desc, it->second.data()};
  }

  Result<MutableTensor> Write(ValueId id) {
    if (id == kNone) return MutableTensor();
    const Value& value = graph_.value(id);
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(value.desc));
    owned_[id].resize(bytes);
    return MutableTensor{&value.desc, owned_[id].data()};
  }

 private:
  const Graph& graph_;
  std::map<ValueId, const void*> bound_;
  std::map<ValueId, std::vector<std::byte>> owned_;
};

Status EvaluateNode(const Graph& graph, NodeId id, Values* values) {
  const Node& node = graph.node(id);
  std::vector<ConstTensor> inputs;
  std::vector<MutableTensor> outputs;
  for (const ValueId input : node.inputs) {
    TIM_ASSIGN_OR_RETURN(inputs.emplace_back(), values->Read(input));
  }
  for (const ValueId output : node.outputs) {
    TIM_ASSIGN_OR_RETURN(outputs.emplace_back(), values->Write(output));
  }
  return Evaluate(node, inputs, outputs);
}

}  // namespace

bool CanEvaluate(const Node& node) {
  if (!node.composite) return node.schema->eval != nullptr;
  const Graph& body = node.composite->body;
  const std::vector<NodeId> ids = body.NodeIds();
  return std::all_of(ids.begin(), ids.end(),
                     [&](NodeId id) { return CanEvaluate(body.node(id)); });
}

Status Evaluate(const Node& node, std::span<const ConstTensor> inputs,
                std::span<const MutableTensor> outputs) {
  if (node.composite) return Evaluate(node.composite->body, inputs, outputs);
  return node.schema->eval(EvalContext{node, inputs, outputs});
}

Status Evaluate(const Graph& graph, std::span<const ConstTensor> inputs,
                std::span<const MutableTensor> outputs) {
  Values values(graph);
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (graph.inputs()[i] != kNone) {
      values.Bind(graph.inputs()[i], inputs[i].data);
    }
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       graph.TopologicalOrder());
  for (const NodeId id : order) {
    TIM_RETURN_IF_ERROR(EvaluateNode(graph, id, &values));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (outputs[i].data == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(const ConstTensor result,
                         values.Read(graph.outputs()[i]));
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(*result.desc));
    std::memcpy(outputs[i].data, result.data, bytes);
  }
  return OkStatus();
}

}  // namespace tim::ir
