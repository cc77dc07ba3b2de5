#include "vx/binary/graph_binary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/stored_plan.h"
#include "vx/binary/nbg_lowering.h"

namespace tim::vx {
namespace {

using Tensors = std::vector<std::shared_ptr<Tensor>>;
using Ids = std::map<const Tensor*, ir::ValueId>;

bool Contains(const std::vector<ir::ValueId>& ids, ir::ValueId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The value of each tensor, absent where it is not bound.  A binary graph knows
// INPUT and OUTPUT, the graph what is read and what is written.
Result<std::vector<ir::ValueId>> ValuesOf(
    const Tensors& tensors, const Ids& ids,
    const std::vector<ir::ValueId>& ends) {
  std::vector<ir::ValueId> values;
  for (const auto& tensor : tensors) {
    const auto known = ids.find(tensor.get());
    const ir::ValueId id = known != ids.end() ? known->second : ir::kNone;
    values.push_back(id);
    if (id == ir::kNone || Contains(ends, id)) continue;
    const bool input = tensor->GetSpec().attr_ == INPUT;
    return Unimplemented(
        "tensor ", NameOf(*tensor), " is an ", input ? "INPUT" : "OUTPUT",
        " that operations ", input ? "write" : "only read",
        ", which a binary graph cannot have; make it another tensor");
  }
  return values;
}

Result<std::vector<binary::Port>> PortsOf(const Tensors& tensors,
                                          const std::vector<ir::ValueId>& ids,
                                          const ir::Graph& graph) {
  std::vector<binary::Port> ports;
  for (size_t i = 0; i < tensors.size(); ++i) {
    binary::Port& port = ports.emplace_back();
    port.name = NameOf(*tensors[i]);
    port.unused = ids[i] == ir::kNone;
    if (!port.unused) {
      port.desc = graph.value(ids[i]).desc;
      continue;
    }
    TIM_ASSIGN_OR_RETURN(port.desc,
                         static_cast<TensorImpl&>(*tensors[i]).DeclaredDesc());
    if (port.desc.shape.IsStatic()) continue;
    return InvalidArgument("OUTPUT tensor ", port.name,
                           " has no shape, and no operation gives it one");
  }
  return ports;
}

// Values that are there take the first places.
void SetInputs(const std::vector<ir::ValueId>& ids, ir::Graph* graph) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i < graph->inputs().size()) {
      graph->SetGraphInput(static_cast<int>(i), ids[i]);
    } else {
      graph->AddInput(ids[i]);
    }
  }
}

void SetOutputs(const std::vector<ir::ValueId>& ids, ir::Graph* graph) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i < graph->outputs().size()) {
      graph->SetGraphOutput(static_cast<int>(i), ids[i]);
    } else {
      graph->AddOutput(ids[i]);
    }
  }
}

// Operands that Compile() dropped, and others that no operation reads.
void RemoveUnusedConstants(ir::Graph* graph) {
  for (const ir::ValueId id : graph->ValueIds()) {
    const ir::Value& value = graph->value(id);
    if (value.role == ir::Role::kConstant && value.uses.empty() &&
        !graph->IsLiveOut(id)) {
      graph->RemoveValue(id);
    }
  }
}

Status StoreStates(const BinarySource& source, States states,
                   ir::Graph* graph) {
  for (const auto& [tensor, id] : source.tensors) {
    if (tensor->state() == nullptr) continue;
    ir::Value& value = graph->value(id);
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(value.desc));
    std::vector<std::byte> content(static_cast<size_t>(bytes));
    if (states == States::kAsTheyAre) {
      TIM_RETURN_IF_ERROR(tensor->state()->Read(content.data()));
    }
    value.constant = ir::MakeConstant(content);
  }
  return OkStatus();
}

// Weights in another form take as much again; a plan that takes more is left
// out, and the graph compiled anew.
bool IsWorthIt(const binary::Encoding& plan, const binary::Encoding& graph) {
  constexpr double kMaxGrowth = 1.15;
  constexpr double kSmall = 1 << 20;
  return static_cast<double>(plan.bytes()) <=
         kMaxGrowth * static_cast<double>(graph.bytes()) + kSmall;
}

}  // namespace

Result<WrittenGraph> WrittenOf(const BinarySource& source,
                               const Tensors& inputs, const Tensors& outputs) {
  WrittenGraph written{.graph = WithoutChecks(source.graph),
                       .input_ids = {},
                       .output_ids = {},
                       .inputs = {},
                       .outputs = {}};
  ir::Graph& graph = written.graph;
  Ids ids;
  for (const auto& [tensor, id] : source.tensors) ids[tensor.get()] = id;
  TIM_ASSIGN_OR_RETURN(written.input_ids,
                       ValuesOf(inputs, ids, graph.inputs()));
  TIM_ASSIGN_OR_RETURN(written.output_ids,
                       ValuesOf(outputs, ids, graph.outputs()));
  RemoveUnusedConstants(&graph);
  TIM_ASSIGN_OR_RETURN(written.inputs,
                       PortsOf(inputs, written.input_ids, graph));
  TIM_ASSIGN_OR_RETURN(written.outputs,
                       PortsOf(outputs, written.output_ids, graph));
  return written;
}

Status Complete(const BinarySource& source, const WrittenGraph& written,
                ir::Graph* graph, States states) {
  SetInputs(written.input_ids, graph);
  SetOutputs(written.output_ids, graph);
  return StoreStates(source, states, graph);
}

Result<GraphBinary> BinaryOf(const BinarySource& source, const Tensors& inputs,
                             const Tensors& outputs, States states) {
  TIM_ASSIGN_OR_RETURN(WrittenGraph written,
                       WrittenOf(source, inputs, outputs));
  ir::Graph& graph = written.graph;
  TIM_RETURN_IF_ERROR(Complete(source, written, &graph, states));
  TIM_ASSIGN_OR_RETURN(binary::Encoding encoding,
                       binary::EncodeGraph(graph, source.registry.get()));
  GraphBinary made{.content = {.library = TIM_CL_VERSION,
                               .graph_name = graph.name(),
                               .inputs = std::move(written.inputs),
                               .outputs = std::move(written.outputs),
                               .graph = std::move(encoding),
                               .plan = std::nullopt,
                               .programs = std::nullopt,
                               .record = std::nullopt,
                               .kernels = {}},
                   .programs = nullptr};
  return made;
}

void AddStored(const ir::Plan& plan,
               const std::shared_ptr<const binary::Programs>& programs,
               GraphBinary* made) {
  binary::BlobContent& content = made->content;
  content.kernels = runtime::KernelsIdentity();
  auto stored = runtime::EncodeStored(plan);
  if (stored && IsWorthIt(*stored, content.graph)) {
    content.plan = *std::move(stored);
  }
  if (programs->empty()) return;
  content.programs = binary::EncodePrograms(*programs);
  made->programs = programs;
}

}  // namespace tim::vx
