#include <algorithm>
#include <limits>

#include "compiler/effects.h"
#include "compiler/passes/passes.h"
#include "ir/dead_nodes.h"
#include "ir/effect_order.h"
#include "ir/evaluate.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// A node of constants alone that gives the same whenever it is evaluated.  A
// user's kernel runs: its host reference may round otherwise.
bool IsConstant(const Graph& graph, const Node& node) {
  if (node.composite || node.inputs.empty()) return false;
  if (HasEffects(node) || ir::HasUserKernel(node)) return false;
  for (const ir::ValueId id : node.inputs) {
    if (id != ir::kNone && !graph.value(id).constant) return false;
  }
  for (const ir::ValueId id : node.outputs) {
    if (id != ir::kNone && !graph.value(id).desc.shape.IsStatic()) return false;
  }
  return true;
}

// Its output has the bytes of its input.
bool IsView(const Graph& graph, const Node& node) {
  return node.schema->is_view && node.inputs[0] != ir::kNone &&
         node.schema->is_view(ir::NodeDescs(graph, node).view());
}

double BytesOf(const Graph& graph, const std::vector<ir::ValueId>& values) {
  double bytes = 0;
  for (const ir::ValueId id : values) {
    if (id == ir::kNone) continue;
    const Result<int64_t> size = ir::ByteSize(graph.value(id).desc);
    if (!size.ok()) return std::numeric_limits<double>::infinity();
    bytes += static_cast<double>(*size);
  }
  return bytes;
}

double OperationsOf(const Graph& graph, const Node& node) {
  double elements = 0;
  for (const ir::ValueId id : node.outputs) {
    if (id == ir::kNone) continue;
    const auto count = graph.value(id).desc.shape.NumElements();
    elements += static_cast<double>(count.value_or(0));
  }
  const ir::NodeDescs descs(graph, node);
  return std::max(elements, node.schema->compute_estimate(descs.view()).flops);
}

bool IsWorthFolding(const Graph& graph, const Node& node,
                    const FoldLimits& limits) {
  if (!ir::CanEvaluate(node)) return false;
  const double allowed =
      std::max(limits.growth * BytesOf(graph, node.inputs), limits.small_bytes);
  return BytesOf(graph, node.outputs) <= allowed &&
         OperationsOf(graph, node) <= limits.operations;
}

void MakeConstant(Value& value, std::shared_ptr<const ir::ConstantData> data) {
  value.role = ir::Role::kConstant;
  value.constant = std::move(data);
}

// The output of a view shares its input's bytes.
void FoldView(Graph& graph, ir::NodeId id) {
  const ir::ValueId from = graph.node(id).inputs[0];
  const ir::ValueId to = graph.node(id).outputs[0];
  graph.RemoveNode(id);
  MakeConstant(graph.value(to), graph.value(from).constant);
}

// Evaluates a node of constants; its outputs become constants.
Status FoldNode(Graph& graph, ir::NodeId id) {
  const Node& node = graph.node(id);
  std::vector<ir::ConstTensor> inputs;
  for (const ir::ValueId input : node.inputs) {
    if (input == ir::kNone) {
      inputs.emplace_back();
      continue;
    }
    const Value& value = graph.value(input);
    inputs.push_back({&value.desc, value.constant->bytes.data()});
  }
  std::vector<std::vector<std::byte>> bytes(node.outputs.size());
  std::vector<ir::MutableTensor> outputs(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    const ir::TensorDesc& desc = graph.value(node.outputs[i]).desc;
    TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(desc));
    bytes[i].resize(size);
    outputs[i] = {&desc, bytes[i].data()};
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(node, inputs, outputs));
  const std::vector<ir::ValueId> results = node.outputs;
  graph.RemoveNode(id);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == ir::kNone) continue;
    MakeConstant(graph.value(results[i]), ir::MakeConstant(bytes[i]));
  }
  return OkStatus();
}

// Readers infer other shapes from a scalar than from [1].
bool IsIdentity(const Graph& graph, const Node& node) {
  if (node.composite || !node.schema->is_identity || node.inputs.empty() ||
      node.inputs[0] == ir::kNone || !HasRankedOperands(graph, node) ||
      ir::HasOrderedEffects(node) ||
      graph.value(node.inputs[0]).is_scalar !=
          graph.value(node.outputs[0]).is_scalar) {
    return false;
  }
  return node.schema->is_identity(ir::NodeDescs(graph, node).view());
}

}  // namespace

Status Simplify(Module& module) {
  Graph& graph = module.graph;
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const Node& node = graph.node(id);
    if (IsIdentity(graph, node)) {
      const ir::ValueId from = node.outputs[0];
      const ir::ValueId to = node.inputs[0];
      graph.RemoveNode(id);
      graph.ReplaceUses(from, to);
    } else if (!IsConstant(graph, node)) {
      continue;
    } else if (IsView(graph, node)) {
      FoldView(graph, id);
    } else if (IsWorthFolding(graph, node, module.options.fold)) {
      const std::string what = Describe(graph, node);
      TIM_RETURN_IF_ERROR(FoldNode(graph, id).WithContext(what));
    }
  }
  return ir::RemoveDeadNodes(&graph);
}

}  // namespace tim::compiler
