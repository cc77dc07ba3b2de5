// Cuts nodes out of a graph: what they read from outside becomes an input.
#include "tools/timcl/graph_part.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/aligned_memory.h"
#include "binary/encoding.h"
#include "binary/graph_file.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "tools/timcl/graph_file.h"

namespace tim::tool {
namespace {

using ir::kNone;

// The part in the making.
class Cut {
 public:
  Cut(const ir::Graph& whole, const Nodes& nodes)
      : whole_(whole), nodes_(nodes), graph_(whole.name()) {}

  void Add(ir::NodeId id) {
    ir::Node node = whole_.node(id);
    for (ir::ValueId& input : node.inputs) input = Read(input);
    for (ir::ValueId& output : node.outputs) output = Copy(output);
    node.device = -1;
    graph_.AddNode(std::move(node));
  }
  void AddOutputs(ir::NodeId last) {
    for (const ir::ValueId id : whole_.node(last).outputs) {
      if (id != kNone) graph_.AddOutput(ids_.at(id));
    }
  }

  const ir::Graph& graph() const { return graph_; }
  const std::vector<ir::ValueId>& inputs() const { return inputs_; }

 private:
  ir::ValueId Copy(ir::ValueId id) {
    if (id == kNone) return kNone;
    if (const auto known = ids_.find(id); known != ids_.end()) {
      return known->second;
    }
    const ir::Value& value = whole_.value(id);
    const bool constant = value.role == ir::Role::kConstant;
    const ir::ValueId made = graph_.AddValue(
        value.desc, constant ? value.role : ir::Role::kTransient, value.name);
    ir::Value& copy = graph_.value(made);
    copy.is_scalar = value.is_scalar;
    copy.shape_declared = value.shape_declared;
    if (constant) copy.constant = value.constant;
    ids_[id] = made;
    return made;
  }

  ir::ValueId Read(ir::ValueId id) {
    if (id == kNone) return kNone;
    const ir::Value& value = whole_.value(id);
    const bool is_new = !ids_.contains(id);
    const ir::ValueId copy = Copy(id);
    const bool inside =
        value.producer != kNone && nodes_.contains(value.producer);
    if (is_new && !inside && value.role != ir::Role::kConstant) {
      graph_.value(copy).role = ir::Role::kInput;
      graph_.AddInput(copy);
      inputs_.push_back(id);
    }
    return copy;
  }

  const ir::Graph& whole_;
  const Nodes& nodes_;
  ir::Graph graph_;
  std::map<ir::ValueId, ir::ValueId> ids_;
  std::vector<ir::ValueId> inputs_;
};

std::vector<binary::Port> PortsOf(const ir::Graph& graph,
                                  const std::vector<ir::ValueId>& ids) {
  std::vector<binary::Port> ports;
  for (const ir::ValueId id : ids) {
    const ir::Value& value = graph.value(id);
    ports.push_back({.name = value.name, .desc = value.desc, .unused = false});
  }
  return ports;
}

}  // namespace

Result<WholeGraph> WholeGraph::Of(const binary::Blob& blob) {
  WholeGraph whole;
  whole.registry = std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(whole.graph, GraphOf(blob, whole.registry.get()));
  TIM_RETURN_IF_ERROR(
      AsFailed(compiler::InferGraph(&whole.graph, *whole.registry)));
  return whole;
}

Nodes WholeGraph::Named(const std::string& name) const {
  Nodes found;
  for (std::string outer = name; found.empty();) {
    for (const ir::NodeId id : graph.NodeIds()) {
      if (graph.node(id).name == outer) found.insert(id);
    }
    const size_t slash = outer.rfind('/');
    if (slash == std::string::npos) break;
    outer.resize(slash);
  }
  return found;
}

Nodes WholeGraph::ProducersOf(const Nodes& nodes) const {
  Nodes producers;
  for (const ir::NodeId id : nodes) {
    for (const ir::ValueId input : graph.node(id).inputs) {
      if (input == kNone) continue;
      const ir::NodeId producer = graph.value(input).producer;
      if (producer != kNone && !nodes.contains(producer)) {
        producers.insert(producer);
      }
    }
  }
  return producers;
}

Nodes WholeGraph::NeededBy(ir::NodeId last, const Nodes& nodes) const {
  Nodes needed = {last};
  while (true) {
    const size_t before = needed.size();
    for (const ir::NodeId id : ProducersOf(needed)) {
      if (nodes.contains(id)) needed.insert(id);
    }
    if (needed.size() == before) return needed;
  }
}

Result<GraphPart> MakePart(const WholeGraph& whole, const std::string& name,
                           const Nodes& nodes, ir::NodeId last) {
  Cut cut(whole.graph, nodes);
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       whole.graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    if (nodes.contains(id)) cut.Add(id);
  }
  cut.AddOutputs(last);
  const ir::Graph& graph = cut.graph();
  TIM_ASSIGN_OR_RETURN(binary::Encoding encoding,
                       binary::EncodeGraph(graph, whole.registry.get()));
  const binary::BlobContent content = {
      .library = TIM_CL_VERSION,
      .graph_name = name,
      .inputs = PortsOf(graph, graph.inputs()),
      .outputs = PortsOf(graph, graph.outputs()),
      .graph = std::move(encoding),
      .plan = std::nullopt,
      .programs = std::nullopt,
      .record = std::nullopt,
      .kernels = {}};
  const binary::BlobWriter writer(content);
  const std::shared_ptr<std::byte[]> memory =
      AllocateAligned(writer.bytes(), binary::kBlobAlignment);
  if (memory == nullptr) {
    return OutOfMemory("no host memory for a part of ", writer.bytes(),
                       " bytes");
  }
  writer.WriteTo(memory.get());
  GraphPart part;
  part.bytes = {memory.get(), static_cast<size_t>(writer.bytes())};
  part.inputs = cut.inputs();
  TIM_ASSIGN_OR_RETURN(part.blob, binary::OpenBlob(part.bytes, memory));
  return part;
}

}  // namespace tim::tool
