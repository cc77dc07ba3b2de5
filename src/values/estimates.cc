// Asks operators' schemas for their estimates, and the compiler for a plan.
#include "values/estimates.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/memory/eval_scratch.h"
#include "ir/node_descs.h"
#include "ops/registered.h"
#include "runtime/compile_options.h"
#include "runtime/step_estimates.h"
#include "values/failure.h"

namespace tim::values::internal {
namespace {

// Bounds in place of unknown extents; whether there were any.
Result<bool> PutBounds(std::vector<runtime::NodeOperand>* operands) {
  bool bound = false;
  for (size_t i = 0; i < operands->size(); ++i) {
    ir::Shape& shape = (*operands)[i].desc.shape;
    if (!(*operands)[i].present) continue;
    if (!shape.ranked()) {
      return InvalidArgument("input ", i, " has an unknown rank");
    }
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != ir::kUnknownDim) continue;
      const int64_t most = shape.Bound(axis);
      if (most == ir::kUnknownDim) {
        return InvalidArgument("input ", i, ": the extent of axis ", axis,
                               " is unknown, and it has no bound");
      }
      shape.set_dim(axis, most);
      bound = true;
    }
  }
  return bound;
}

struct Inferred {
  ir::Graph graph;
  bool bound = false;
};

Result<Inferred> InferAtBounds(const NodeState& node,
                               const std::vector<Spec>& inputs) {
  TIM_ASSIGN_OR_RETURN(auto operands, OperandsOf(node, inputs));
  Inferred inferred;
  TIM_ASSIGN_OR_RETURN(inferred.bound, PutBounds(&operands));
  TIM_ASSIGN_OR_RETURN(inferred.graph, InferredGraphOf(node, operands));
  for (const ir::ValueId id : inferred.graph.outputs()) {
    TIM_RETURN_IF_ERROR(BytesOf(inferred.graph.value(id).desc).status());
  }
  return inferred;
}

Result<int64_t> BytesOfAll(const ir::Graph& graph,
                           const std::vector<ir::ValueId>& ids) {
  int64_t sum = 0;
  for (const ir::ValueId id : ids) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(graph.value(id).desc));
    sum += bytes;
  }
  return sum;
}

}  // namespace

Result<std::vector<runtime::NodeOperand>> OperandsOf(
    const NodeState& node, const std::vector<Spec>& inputs) {
  TIM_RETURN_IF_ERROR(node.status);
  const ir::Arity arity = node.schema->InputArity(node.attributes);
  std::vector<runtime::NodeOperand> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto spec = ToTensorSpec(inputs[i]);
    if (!spec.ok()) return spec.status().WithContext(StrCat("input ", i));
    const bool absent = inputs[i].type == Type::kUnknown &&
                        std::cmp_greater_equal(i, arity.required);
    operands.push_back({.present = !absent,
                        .desc = std::move(spec->desc),
                        .is_scalar = spec->is_scalar});
  }
  if (std::cmp_less(inputs.size(), arity.required) ||
      std::cmp_greater(inputs.size(), arity.limit)) {
    return InvalidArgument("operator ", node.op, " takes ", arity.required,
                           " to ", arity.limit, " inputs, not ", inputs.size());
  }
  return operands;
}

ComputeEstimate ComputeOfGraph(const ir::Graph& graph) {
  const ir::ComputeEstimate sum = ir::EstimateOf(graph);
  ComputeEstimate made;
  made.flops = sum.flops;
  made.bytes_read = sum.bytes_read;
  made.bytes_written = sum.bytes_written;
  return made;
}

// The reference of an operator, and of what inference has put behind it.
Result<int64_t> ScratchOf(const ir::Graph& graph) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       graph.TopologicalOrder());
  int64_t held = 0;
  int64_t most = 0;
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    for (const ir::ValueId output : node.outputs) {
      if (output == ir::kNone || graph.IsOutput(output)) continue;
      TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                           BytesOf(graph.value(output).desc));
      held += bytes;
    }
    TIM_ASSIGN_OR_RETURN(const int64_t scratch,
                         compiler::EvalScratchOf(graph, node));
    most = std::max(most, held + scratch);
  }
  return most;
}

Result<MemoryEstimate> MemoryOf(const NodeState& node,
                                const std::vector<Spec>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Inferred inferred, InferAtBounds(node, inputs));
  const ir::Graph& graph = inferred.graph;
  MemoryEstimate estimate;
  estimate.bound = inferred.bound;
  TIM_ASSIGN_OR_RETURN(estimate.inputs, BytesOfAll(graph, graph.inputs()));
  TIM_ASSIGN_OR_RETURN(estimate.outputs, BytesOfAll(graph, graph.outputs()));
  TIM_ASSIGN_OR_RETURN(estimate.scratch, ScratchOf(graph));
  return estimate;
}

Result<ComputeEstimate> ComputeOf(const NodeState& node,
                                  const std::vector<Spec>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Inferred inferred, InferAtBounds(node, inputs));
  ComputeEstimate estimate = ComputeOfGraph(inferred.graph);
  estimate.bound = inferred.bound;
  return estimate;
}

Result<double> PredictNode(const NodeState& node,
                           const std::vector<Spec>& inputs,
                           const std::shared_ptr<DeviceState>& device) {
  TIM_RETURN_IF_ERROR(device->status());
  TIM_ASSIGN_OR_RETURN(Inferred inferred, InferAtBounds(node, inputs));
  const auto surroundings = device->surroundings();
  compiler::CompileOptions options =
      runtime::CompileOptionsFor(surroundings.devices);
  options.was_compiled = true;
  const int main = device->main_device();
  options.inputs.resize(inferred.graph.inputs().size(), {.device = main});
  options.outputs.resize(inferred.graph.outputs().size(), {.free = true});
  TIM_ASSIGN_OR_RETURN(const ir::Plan plan,
                       compiler::Compile(std::move(inferred.graph),
                                         *surroundings.operators, options));
  double sum = 0;
  for (const ir::Decision& decision : plan.decisions) {
    sum += runtime::CostOf(decision).value_or(0);
  }
  return sum;
}

}  // namespace tim::values::internal
