#include "vx/binary/binary_operator.h"

#include <utility>

#include "ir/op_schema.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

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

std::vector<std::shared_ptr<Tensor>> UsedOf(
    const std::vector<std::shared_ptr<Tensor>>& bound,
    const std::vector<binary::Port>& ports) {
  std::vector<std::shared_ptr<Tensor>> used = bound;
  for (size_t i = 0; i < used.size(); ++i) {
    if (i < ports.size() && ports[i].unused) used[i] = nullptr;
  }
  return used;
}

}  // namespace

BinaryOperator::BinaryOperator(const BinaryOperator& original)
    : blob_(original.blob_), content_(original.content_) {
  if (original.states_.empty()) return;
  content_.clear();
  for (const State& state : original.states_) {
    auto& bytes = content_.emplace_back(static_cast<size_t>(state.bytes));
    // A device that is lost has lost the states, too: they begin anew.
    if (!state.tensor->state()->Read(bytes.data()).ok()) bytes.clear();
  }
}

Status BinaryOperator::CheckBound(const OpImpl& operation) const {
  TIM_RETURN_IF_ERROR(
      CheckCount("input", operation.inputs.size(), blob_.inputs));
  for (size_t i = 0; i < blob_.inputs.size(); ++i) {
    if (blob_.inputs[i].unused || !operation.inputs[i]->IsPlaceHolder()) {
      continue;
    }
    return Mismatch("input", i, "absent", blob_.inputs[i]);
  }
  return CheckCount("output", operation.outputs.size(), blob_.outputs);
}

Status BinaryOperator::MakeStates(
    const OpImpl& operation, const std::vector<binary::BodyState>& states) {
  if (!states_.empty()) return OkStatus();
  for (size_t i = 0; i < states.size(); ++i) {
    const binary::BodyState& state = states[i];
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(state.desc));
    const void* content = nullptr;
    if (state.content != nullptr) content = state.content->bytes.data();
    if (i < content_.size() &&
        content_[i].size() == static_cast<size_t>(bytes)) {
      content = content_[i].data();
    }
    const auto& dims = state.desc.shape.dims();
    TensorSpec spec(ToVx(state.desc.type), ShapeType(dims.begin(), dims.end()),
                    VARIABLE, ToVx(state.desc.quantization));
    spec.SetName(StrCat(operation.InstanceName(), "/", state.name));
    auto tensor = TensorImpl::Create(operation.core, spec, content);
    TIM_RETURN_IF_ERROR(tensor->problem());
    tensor->SetScalar(state.is_scalar);
    states_.push_back({std::move(tensor), bytes, state.written});
  }
  content_.clear();
  return OkStatus();
}

Result<ir::Node> BinaryOperator::MakeNode(const OpImpl& operation,
                                          const ir::OpRegistry& operators,
                                          ir::OpRegistry* registry) {
  TIM_RETURN_IF_ERROR(CheckBound(operation));
  const std::string name = StrCat("NBG#", operation.uid);
  TIM_ASSIGN_OR_RETURN(
      const ir::Graph graph,
      binary::ReadBlobGraph(blob_, operators, registry, StrCat(name, ".")));
  binary::GraphBody body = binary::AsBody(graph);
  TIM_RETURN_IF_ERROR(MakeStates(operation, body.states));
  registry->Add(Checker(name, blob_, body));
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

std::vector<std::shared_ptr<Tensor>> BinaryOperator::Inputs(
    const OpImpl& operation) const {
  auto tensors = UsedOf(operation.inputs, blob_.inputs);
  for (const State& state : states_) tensors.push_back(state.tensor);
  return tensors;
}

std::vector<std::shared_ptr<Tensor>> BinaryOperator::Outputs(
    const OpImpl& operation) const {
  auto tensors = UsedOf(operation.outputs, blob_.outputs);
  for (const State& state : states_) {
    if (state.written) tensors.push_back(state.tensor);
  }
  return tensors;
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
