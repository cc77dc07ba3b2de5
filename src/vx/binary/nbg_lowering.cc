// The node of an NBG: a composite, and a schema that checks its operands.
#include "vx/binary/nbg_lowering.h"

#include <utility>

#include "binary/graph_body.h"
#include "ir/op_schema.h"

namespace tim::vx {
namespace {

constexpr char kCompositeName[] = "tim.NBG";

std::string ListOf(const std::vector<binary::Port>& ports) {
  std::string list;
  for (const binary::Port& port : ports) {
    list += StrCat(list.empty() ? "" : ", ", port.desc.ToString());
  }
  return list;
}

Status CheckCount(const char* what, size_t bound,
                  const std::vector<binary::Port>& ports) {
  if (bound == ports.size()) return OkStatus();
  return InvalidArgument(bound, " ", what, "s are bound, its binary graph has ",
                         ports.size(), ": ", ListOf(ports));
}

Status Mismatch(const char* what, size_t index, const std::string& found,
                const binary::Port& port) {
  return InvalidArgument(what, " ", index, " is ", found,
                         "; the binary graph's is ", port.desc.ToString(), " (",
                         port.name, ")");
}

Status CheckInputs(const std::vector<binary::Port>& ports,
                   const ir::InferContext& context) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].unused) continue;
    if (!context.has_input(static_cast<int>(i))) {
      return Mismatch("input", i, "absent", ports[i]);
    }
    const ir::TensorDesc& desc = *context.inputs[i].desc;
    if (desc.shape == ports[i].desc.shape &&
        ir::SameElements(desc, ports[i].desc)) {
      continue;
    }
    return Mismatch("input", i, desc.ToString(), ports[i]);
  }
  return OkStatus();
}

// What the graph leaves open is as in the binary graph.
Status InferOutputs(const std::vector<binary::Port>& ports,
                    ir::InferContext& context) {
  for (size_t i = 0; i < ports.size(); ++i) {
    ir::InferContext::Output& output = context.outputs[i];
    if (ports[i].unused) continue;
    ir::TensorDesc declared = output.desc;
    declared.shape =
        output.declared != nullptr ? *output.declared : ports[i].desc.shape;
    if (declared.type == ir::DataType::kUnknown) {
      declared.type = ports[i].desc.type;
      declared.quantization = ports[i].desc.quantization;
    }
    const bool absent = context.node.outputs[i] == ir::kNone;
    if (!absent && (declared.shape != ports[i].desc.shape ||
                    !ir::SameElements(declared, ports[i].desc))) {
      return Mismatch("output", i, declared.ToString(), ports[i]);
    }
    output.desc = ports[i].desc;
  }
  return OkStatus();
}

// Of one operation: nothing but a check of its operands.
ir::OpSchema Checker(const std::string& name, const binary::Blob& blob,
                     const binary::GraphBody& body) {
  const int inputs = static_cast<int>(body.graph.inputs().size());
  const int outputs = static_cast<int>(body.graph.outputs().size());
  return {.domain = "nbg",
          .name = name,
          .inputs = {0, inputs},
          .outputs = {0, outputs},
          .infer_shapes =
              [in = blob.inputs, out = blob.outputs,
               states = body.states](ir::InferContext& context) -> Status {
            TIM_RETURN_IF_ERROR(CheckInputs(in, context));
            TIM_RETURN_IF_ERROR(InferOutputs(out, context));
            size_t next = out.size();
            for (const binary::BodyState& state : states) {
              if (state.written) context.outputs[next++].desc = state.desc;
            }
            return OkStatus();
          },
          .eval = [](const ir::EvalContext& context) -> Status {
            return TIM_INTERNAL(context.node.name, " was not expanded");
          },
          .memory_estimate = [](const ir::NodeView&) -> int64_t { return 0; },
          .compute_estimate =
              [](const ir::NodeView&) { return ir::ComputeEstimate(); }};
}

Status CheckBound(const OpImpl& operation, const binary::Blob& blob) {
  TIM_RETURN_IF_ERROR(
      CheckCount("input", operation.inputs.size(), blob.inputs));
  for (size_t i = 0; i < blob.inputs.size(); ++i) {
    if (blob.inputs[i].unused || !operation.inputs[i]->IsPlaceHolder()) {
      continue;
    }
    return Mismatch("input", i, "absent", blob.inputs[i]);
  }
  return CheckCount("output", operation.outputs.size(), blob.outputs);
}

}  // namespace

Result<ir::Node> MakeNbgNode(const OpImpl& operation, NbgContent& content,
                             const ir::OpRegistry& operators,
                             ir::OpRegistry* registry) {
  const binary::Blob& blob = content.blob();
  TIM_RETURN_IF_ERROR(CheckBound(operation, blob));
  const std::string name = StrCat("NBG#", operation.uid);
  TIM_ASSIGN_OR_RETURN(
      const ir::Graph graph,
      binary::ReadBlobGraph(blob, operators, registry, StrCat(name, ".")));
  binary::GraphBody body = binary::AsBody(graph);
  TIM_RETURN_IF_ERROR(content.MakeStates(
      operation.core, operation.InstanceName(), body.states));
  registry->Add(Checker(name, blob, body));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = kCompositeName;
  composite->body = std::move(body.graph);
  composite->was_compiled = true;
  ir::Node node;
  node.name = operation.InstanceName();
  node.schema = registry->Find(StrCat("nbg.", name));
  node.composite = std::move(composite);
  return node;
}

ir::Graph WithoutChecks(const ir::Graph& graph) {
  ir::Graph out = graph;
  for (const ir::NodeId id : out.NodeIds()) {
    ir::Node& node = out.node(id);
    if (!node.composite) continue;
    if (node.composite->name == kCompositeName) {
      node.schema = nullptr;
      node.attributes = {};
    }
    auto copy = std::make_shared<ir::Composite>(*node.composite);
    copy->body = WithoutChecks(copy->body);
    node.composite = std::move(copy);
  }
  return out;
}

}  // namespace tim::vx
