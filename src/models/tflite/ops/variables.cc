// Variables of a model as states of the graph.
#include <optional>

#include "models/tflite/node.h"

namespace tim::models::tflite {
namespace {

std::string VariableOf(const fbs::VarHandle& options) {
  const auto text = [](const flatbuffers::String* name) {
    return name == nullptr ? std::string() : name->str();
  };
  return StrCat("variable ", text(options.container()), "/",
                text(options.shared_name()));
}

Status VarHandle(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(0, 0));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::VarHandle>());
  node.handle = VariableOf(*options);
  return OkStatus();
}

// The variable that operand 0 is a handle of.
Result<Resource*> ResourceOf(Node& node) {
  if (node.resource_names.empty() || node.resource_names[0].empty()) {
    return node.Refuse("input 0", "it is no handle of a variable");
  }
  return &node.workspace->resources[node.resource_names[0]];
}

// The state, which begins as what a subgraph that runs once has set.
Status UseState(Node& node, Resource* resource, const Value& like) {
  if (!resource->state.IsAbsent()) return OkStatus();
  const HostArray* initial = nullptr;
  Value begin = like;
  if (!resource->initial.IsAbsent()) {
    begin = resource->initial;
    initial = begin.constant.get();
  }
  if (begin.type == vx::DataType::INT64) {
    return node.Refuse("input 0", "a variable of INT64; INT32 is taken");
  }
  TIM_ASSIGN_OR_RETURN(
      resource->state,
      node.builder().AddState(node.resource_names[0], begin.type, begin.dims,
                              begin.quantization, initial));
  resource->current = resource->state;
  return OkStatus();
}

Status ReadVariable(Node& node) {
  if (node.inputs.size() != 1 || node.declared.size() != 1) {
    return node.Refuse("inputs", "one input and one output are taken");
  }
  TIM_ASSIGN_OR_RETURN(Resource* const resource, ResourceOf(node));
  TIM_RETURN_IF_ERROR(UseState(node, resource, node.declared[0]));
  return node.SetOutput(0, resource->current);
}

Status AssignVariable(Node& node) {
  if (node.inputs.size() != 2 || !node.Has(1) || !node.declared.empty()) {
    return node.Refuse("inputs", "a handle and a value are taken");
  }
  if (node.workspace->is_conditional) {
    return node.Refuse("",
                       "a branch of an IF sets it, whose condition is "
                       "known when the model runs");
  }
  TIM_ASSIGN_OR_RETURN(Resource* const resource, ResourceOf(node));
  TIM_RETURN_IF_ERROR(UseState(node, resource, node.inputs[1]));
  if (node.inputs[1].dims != resource->state.dims ||
      node.inputs[1].type != resource->state.type) {
    return node.Refuse("input 1", Describe(node.inputs[1]),
                       " for a variable of ", Describe(resource->state));
  }
  resource->current = node.inputs[1];
  return OkStatus();
}

// A subgraph that sets variables to constants.
class Initialization {
 public:
  Initialization(Node& node, const fbs::Subgraph& subgraph)
      : node_(node), subgraph_(subgraph) {}

  Status Run() {
    if (subgraph_.operators() == nullptr) return OkStatus();
    for (const fbs::Operator* table : *subgraph_.operators()) {
      const std::string op = node_.workspace->file->NameOf(*table);
      if (op == "VAR_HANDLE") {
        TIM_RETURN_IF_ERROR(AddHandle(*table));
      } else if (op == "ASSIGN_VARIABLE") {
        TIM_RETURN_IF_ERROR(Assign(*table));
      } else {
        return Refuse(op);
      }
    }
    return OkStatus();
  }

 private:
  Status Refuse(const std::string& op) {
    return node_.Refuse("init_subgraph_index", "the subgraph has ", op,
                        "; VAR_HANDLE and ASSIGN_VARIABLE of constants are "
                        "taken");
  }

  Status AddHandle(const fbs::Operator& table) {
    const auto outputs = Items(table.outputs());
    Node handle;
    handle.table = &table;
    TIM_ASSIGN_OR_RETURN(const auto* options, handle.Options<fbs::VarHandle>());
    if (outputs.size() != 1 || outputs[0] < 0) return Refuse("VAR_HANDLE");
    handles_[outputs[0]] = VariableOf(*options);
    return OkStatus();
  }

  Status Assign(const fbs::Operator& table) {
    const auto inputs = Items(table.inputs());
    if (inputs.size() != 2 || inputs[1] < 0 || handles_.count(inputs[0]) == 0) {
      return Refuse("ASSIGN_VARIABLE without a handle");
    }
    const fbs::Tensor& tensor = *subgraph_.tensors()->Get(
        static_cast<flatbuffers::uoffset_t>(inputs[1]));
    if (node_.workspace->file->BufferOf(tensor).empty()) {
      return Refuse("ASSIGN_VARIABLE of what is computed");
    }
    TIM_ASSIGN_OR_RETURN(Value value, DeclaredOf(tensor));
    TIM_RETURN_IF_ERROR(ReadConstant(*node_.workspace->file, tensor, &value));
    Resource& resource = node_.workspace->resources[handles_[inputs[0]]];
    if (!resource.state.IsAbsent()) return Refuse("a variable in use");
    resource.initial = std::move(value);
    return OkStatus();
  }

  Node& node_;
  const fbs::Subgraph& subgraph_;
  std::map<int, std::string> handles_;
};

Status CallOnce(Node& node) {
  if (!node.inputs.empty() || !node.declared.empty()) {
    return node.Refuse("inputs", "it has operands");
  }
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::CallOnce>());
  const auto& subgraphs = *node.workspace->file->model().subgraphs();
  const int index = options->subgraph();
  if (index < 0 || index >= static_cast<int>(subgraphs.size())) {
    return node.Refuse("init_subgraph_index", "subgraph ", index, " of ",
                       subgraphs.size());
  }
  return Initialization(
             node, *subgraphs.Get(static_cast<flatbuffers::uoffset_t>(index)))
      .Run();
}

}  // namespace

void AddVariables(OperatorTable* table) {
  OperatorTable& to = *table;
  to["VAR_HANDLE"] = VarHandle;
  to["READ_VARIABLE"] = ReadVariable;
  to["ASSIGN_VARIABLE"] = AssignVariable;
  to["CALL_ONCE"] = CallOnce;
}

}  // namespace tim::models::tflite
