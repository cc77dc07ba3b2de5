// Decompositions of registered operations as graphs.
#include <algorithm>
#include <utility>
#include <vector>

#include "graph_api/extended_operator.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_context.h"

namespace tim::graph {
namespace {

Status CheckOutputs(const tim_graph_op_context& context,
                    const LoweredOps& lowered) {
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const auto made = lowered.tensors.find(context.outputs[i].id);
    if (made == lowered.tensors.end()) {
      return InvalidArgument(context.op.Key(),
                             ": decompose: no op makes output ", i);
    }
    if (!made->second) {
      return Unimplemented(context.op.Key(), ": decompose: output ", i,
                           " has no elements");
    }
  }
  return OkStatus();
}

// An input that nothing reads is none of the body.
ir::ValueId InputOf(const LoweredOps& lowered, size_t id, ir::Graph& body) {
  const ir::ValueId value = lowered.inputs.at(id);
  if (!body.value(value).uses.empty()) return value;
  for (const auto& [other, tensor] : lowered.tensors) {
    if (other != id && tensor.id == value) return value;  // handed through
  }
  body.RemoveValue(value);
  return ir::kNone;
}

// `inputs`: how many the node has.
Result<ir::Graph> BodyOf(const tim_graph_op_context& context, size_t inputs,
                         LoweredOps lowered) {
  TIM_RETURN_IF_ERROR(CheckOutputs(context, lowered));
  ir::Graph& body = lowered.graph;
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const LogicalTensor& output = context.outputs[i];
    body.AddOutput(lowered.tensors.at(output.id).id);
  }
  for (size_t i = 0; i < inputs; ++i) {
    const LogicalTensor& input = context.inputs[i];
    const bool present = input.data_type != tim_graph_data_type_undef;
    body.AddInput(present ? InputOf(lowered, input.id, body) : ir::kNone);
  }
  return std::move(body);
}

}  // namespace

Result<ir::Graph> Decomposed(const ExtendedOp& op, const ir::NodeView& view) {
  tim_graph_op_context context(op, CallbackRole::kDecompose,
                               view.node.attributes);
  std::vector<LogicalTensor> present;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    context.AddInput(view.inputs[i]);
    if (view.inputs[i] == nullptr) continue;
    if (!HasKnownDims(context.inputs.back())) {
      return Unimplemented(op.Key(), ": dims of input ", i,
                           " are not known, which its decomposition needs");
    }
    present.push_back(context.inputs.back());
  }
  Types types;
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    ir::TensorDesc desc;
    if (view.outputs[i] != nullptr) desc.type = view.outputs[i]->type;
    context.AddOutput(&desc);
    types.push_back(context.outputs.back().data_type);
  }
  TIM_RETURN_IF_ERROR(CompleteTypes(op, TypesOf(context.inputs), &types));
  for (size_t i = 0; i < types.size(); ++i) {
    context.outputs[i].data_type = types[i];
  }
  Decomposition& made = context.decomposition;
  made.next_id = context.inputs.size() + context.outputs.size();
  TIM_RETURN_IF_ERROR(context.Call(op.decompose));
  present.insert(present.end(), made.constants.begin(), made.constants.end());
  auto lowered = LowerOps(op.Key(), made.ops, present, {}, made.contents);
  if (!lowered.ok()) {
    return lowered.status().WithContext(StrCat(op.Key(), ": decompose"));
  }
  return BodyOf(context, view.inputs.size(), *std::move(lowered));
}

}  // namespace tim::graph
