// Lets plans read and write the memory of ports in other orders of axes than
// the client's, in the place of Transposes.
#include "graph_api/absorb_transposes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/transposes/infer_layouts.h"

namespace tim::graph {
namespace {

using ir::Layout;
using ir::Permutation;
using ir::ValueId;

// Larger graphs keep their Transposes where they are: the search of better
// places takes longer than linear.
constexpr size_t kMostNodes = 2000;
// Ports of more different strides are not told apart by the compiler.
constexpr size_t kMostStrides = 12;

// The order of a Transpose; empty for any other node.
Permutation OrderOf(const ir::Node& node) {
  const bool is_transpose = !node.composite && node.schema->domain == "tim" &&
                            node.schema->name == "Transpose";
  if (!is_transpose) return {};
  const auto& perm = node.attributes.Ints("perm");
  return {perm.begin(), perm.end()};
}

// Dense where it is, whatever the strides of extents of 1 are.
Layout StridedAs(const ir::Shape& shape, std::vector<int64_t> strides) {
  const std::vector<int64_t> dense = ir::DenseStrides(shape);
  for (int i = 0; i < shape.rank(); ++i) {
    const auto axis = static_cast<size_t>(i);
    if (shape[i] == 1) strides[axis] = dense[axis];
  }
  return strides == dense ? Layout::Dense()
                          : Layout::Strided(std::move(strides));
}

bool IsOpen(const compiler::Port& port) {
  return port.layout.kind == ir::LayoutKind::kAny;
}

// True where the port's memory can be seen in any order of axes.
bool HasAxes(const compiler::Port& port, const ir::TensorDesc& desc) {
  return port.device == 0 && !port.free && !port.layout.blocked() &&
         ir::Info(desc.type).bits >= 8 && desc.shape.IsStatic();
}

std::vector<int64_t> StridesOf(const compiler::Port& port,
                               const ir::Shape& shape) {
  return port.layout.strided() ? port.layout.strides : ir::DenseStrides(shape);
}

// The order that all readers of an input make of it; empty where they differ.
Permutation OrderOfReaders(const ir::Graph& graph, ValueId input) {
  Permutation order;
  if (graph.IsLiveOut(input)) return {};
  for (const ir::Use& use : graph.value(input).uses) {
    const ir::Node& node = graph.node(use.node);
    const Permutation next = OrderOf(node);
    // Other types are what the Transpose converts to.
    if (next.empty() || (!order.empty() && next != order) ||
        graph.IsLiveOut(node.outputs[0]) ||
        !ir::SameElements(ir::Permuted(graph.value(input).desc, next),
                          graph.value(node.outputs[0]).desc)) {
      return {};
    }
    order = next;
  }
  return order;
}

void AbsorbInput(ir::Graph& graph, int index, compiler::Port* port) {
  const ValueId input = graph.inputs()[static_cast<size_t>(index)];
  const ir::TensorDesc desc = graph.value(input).desc;
  if (!HasAxes(*port, desc)) return;
  const Permutation order = OrderOfReaders(graph, input);
  if (order.empty()) return;
  const ir::TensorDesc seen = ir::Permuted(desc, order);
  port->layout =
      StridedAs(seen.shape, ir::Permuted(StridesOf(*port, desc.shape), order));
  const ValueId made =
      graph.AddValue(seen, ir::Role::kInput, graph.value(input).name);
  graph.SetGraphInput(index, made);
  while (!graph.value(input).uses.empty()) {
    const ir::NodeId node = graph.value(input).uses[0].node;
    const ValueId transposed = graph.node(node).outputs[0];
    graph.ReplaceUses(transposed, made);
    graph.RemoveNode(node);
    graph.RemoveValue(transposed);
  }
  graph.RemoveValue(input);
}

// True where a node makes the value, and no other output is it.
bool MayLeave(const ir::Graph& graph, ValueId id) {
  return graph.value(id).role == ir::Role::kTransient &&
         graph.value(id).producer != ir::kNone && !graph.IsOutput(id);
}

Permutation AbsorbOutput(ir::Graph& graph, int index, compiler::Port* port) {
  const ValueId output = graph.outputs()[static_cast<size_t>(index)];
  const ir::Value& value = graph.value(output);
  if (value.producer == ir::kNone || !value.uses.empty() ||
      !HasAxes(*port, value.desc) ||
      std::ranges::count(graph.outputs(), output) != 1) {
    return {};
  }
  const ir::Node& node = graph.node(value.producer);
  const Permutation order = OrderOf(node);
  if (order.empty() || !MayLeave(graph, node.inputs[0])) return {};
  const ValueId made = node.inputs[0];
  if (graph.value(made).desc.type != value.desc.type) return {};
  const ir::Shape& shape = graph.value(made).desc.shape;
  const std::vector<int64_t> strides =
      ir::Permuted(StridesOf(*port, value.desc.shape), ir::Inverse(order));
  port->layout = IsOpen(*port) ? Layout::Dense() : StridedAs(shape, strides);
  if (graph.value(made).name.empty()) graph.value(made).name = value.name;
  graph.SetGraphOutput(index, made);
  graph.RemoveNode(node.id);
  graph.RemoveValue(output);
  return order;
}

bool HasRoomForStrides(const compiler::CompileOptions& options) {
  std::vector<Layout> strided;
  for (const auto* ports : {&options.inputs, &options.outputs}) {
    for (const compiler::Port& port : *ports) {
      if (port.layout.strided() &&
          std::ranges::count(strided, port.layout) == 0)
        strided.push_back(port.layout);
    }
  }
  return strided.size() < kMostStrides;
}

// The same of all ports.
bool HaveAxes(const ir::Graph& graph, const std::vector<ValueId>& values,
              const std::vector<compiler::Port>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!HasAxes(ports[i], graph.value(values[i]).desc)) return false;
  }
  return true;
}

}  // namespace

std::vector<Permutation> AbsorbTransposes(const ir::OpRegistry& registry,
                                          ir::Graph* graph,
                                          compiler::CompileOptions* options) {
  if (graph->NodeIds().size() <= kMostNodes) {
    ir::Graph moved = *graph;
    const bool free = HaveAxes(moved, moved.inputs(), options->inputs) &&
                      HaveAxes(moved, moved.outputs(), options->outputs);
    if (compiler::InferLayouts(&moved, registry, {.free_ports = free}).ok()) {
      *graph = std::move(moved);
    }
  }
  std::vector<Permutation> orders(options->outputs.size());
  for (size_t i = 0; i < orders.size() && HasRoomForStrides(*options); ++i) {
    orders[i] = AbsorbOutput(*graph, static_cast<int>(i), &options->outputs[i]);
  }
  for (size_t i = 0; i < options->inputs.size() && HasRoomForStrides(*options);
       ++i) {
    AbsorbInput(*graph, static_cast<int>(i), &options->inputs[i]);
  }
  return orders;
}

ir::TensorDesc InAxesOfClient(const ir::TensorDesc& made,
                              const ir::Permutation& perm) {
  if (perm.empty()) return made;
  ir::TensorDesc desc = ir::Permuted(made, perm);
  const std::vector<int64_t> strides = made.layout.strided()
                                           ? made.layout.strides
                                           : ir::DenseStrides(made.shape);
  desc.layout = StridedAs(desc.shape, ir::Permuted(strides, perm));
  return desc;
}

}  // namespace tim::graph
