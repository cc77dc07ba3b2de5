// Graphs, functions and names of an ONNX model, run node by node.
#include "models/onnx/importer.h"

#include <algorithm>

#include "models/onnx/early_opsets.h"
#include "models/onnx/operator_families.h"

namespace tim::models::onnx {
namespace {

// Nodes that are run, those of functions and trips of loops one by one.
constexpr int64_t kMostNodes = 200'000;
// Functions and graphs that are in each other while they run.
constexpr int kMostDepth = 32;

Status CheckOpsets(const Opsets& opsets) {
  const auto found = opsets.find(std::string_view());
  if (found == opsets.end()) return OkStatus();
  if (found->second >= 1 && found->second <= kLastOpset) {
    return OkStatus();
  }
  return Unimplemented("opset ", found->second, " of ai.onnx is not taken; ",
                       "opsets ", kFirstOpset, " to ", kLastOpset,
                       " are: export the model for one of them, or convert it "
                       "with onnx.version_converter");
}

bool SharesName(const FunctionMessage& function, const NodeMessage& node) {
  return function.name == node.op && function.domain == node.domain &&
         function.overload == node.overload;
}

}  // namespace

Status Importer::Import() {
  if (!model_.has_graph) {
    return InvalidArgument("this is no ONNX model: it has no graph");
  }
  if (model_.opsets.empty()) {
    return InvalidArgument("this is no ONNX model: it has no opset_import");
  }
  TIM_RETURN_IF_ERROR(CheckOpsets(model_.opsets));
  Scope scope;
  scope.opsets = &model_.opsets;
  AddInitializers(model_.graph, &scope);
  for (const TensorMessage& tensor : model_.graph.initializers) {
    tensors_->AddFileOf(tensor);
  }
  TIM_RETURN_IF_ERROR(AddInputs(&scope));
  TIM_ASSIGN_OR_RETURN(const std::vector<size_t> order,
                       Order(model_.graph, scope));
  TIM_RETURN_IF_ERROR(RunNodes(model_.graph.nodes, order, &scope));
  return AddOutputs(&scope);
}

void Importer::AddInitializers(const GraphMessage& graph, Scope* scope) const {
  for (const TensorMessage& tensor : graph.initializers) {
    scope->tensors.emplace(tensor.name, &tensor);
  }
  for (const SparseMessage& sparse : graph.sparse_initializers) {
    scope->sparse_tensors.emplace(sparse.values.name, &sparse);
  }
}

Result<std::vector<size_t>> Importer::Order(const GraphMessage& graph,
                                            const Scope& scope) {
  const auto known = orders_.find(&graph);
  if (known != orders_.end()) return known->second;
  NodeList list;
  list.nodes = &graph.nodes;
  for (const ValueMessage& input : graph.inputs) list.given.insert(input.name);
  for (const TensorMessage& tensor : graph.initializers) {
    list.given.insert(tensor.name);
  }
  for (const SparseMessage& sparse : graph.sparse_initializers) {
    list.given.insert(sparse.values.name);
  }
  for (const ValueMessage& output : graph.outputs) {
    list.outputs.push_back(output.name);
  }
  list.is_known_outside = [&scope](std::string_view name) {
    return Has(scope.outer, name);
  };
  TIM_ASSIGN_OR_RETURN(const std::vector<size_t> order,
                       OrderNodes(list, &subgraphs_));
  orders_[&graph] = order;
  return order;
}

bool Importer::Has(const Scope* scope, std::string_view name) {
  for (; scope != nullptr; scope = scope->outer) {
    if (scope->names.count(name) + scope->tensors.count(name) +
            scope->sparse_tensors.count(name) !=
        0) {
      return true;
    }
  }
  return false;
}

Result<Known> Importer::ReadInitializer(std::string_view name, Scope* scope) {
  const auto dense = scope->tensors.find(name);
  auto array = dense != scope->tensors.end()
                   ? tensors_->Read(*dense->second)
                   : tensors_->Read(*scope->sparse_tensors.at(name));
  if (array.ok()) {
    return Known{builder_->Constant(*std::move(array), std::string(name))};
  }
  if (array.status().code() != StatusCode::kUnimplemented) {
    return array.status();
  }
  refusals_.push_back(
      {std::string(name), "initializer", "", array.status().message()});
  return Known::Refused();
}

Result<Known> Importer::Find(std::string_view name, Scope* scope) {
  for (; scope != nullptr; scope = scope->outer) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
    if (scope->tensors.count(name) + scope->sparse_tensors.count(name) != 0) {
      TIM_ASSIGN_OR_RETURN(const Known known, ReadInitializer(name, scope));
      scope->names.emplace(name, known);
      return known;
    }
  }
  return InvalidArgument("nothing defines the name '", std::string(name), "'");
}

Status Importer::RunNodes(const std::vector<NodeMessage>& nodes,
                          const std::vector<size_t>& order, Scope* scope) {
  for (const size_t number : order) {
    TIM_RETURN_IF_ERROR(RunNode(nodes[number], number, scope));
  }
  return OkStatus();
}

Status Importer::RunNode(const NodeMessage& node, size_t number, Scope* scope) {
  if (++node_count_ > kMostNodes) {
    return Unimplemented("the model takes more than ", kMostNodes,
                         " nodes, with functions and loops spelled out");
  }
  Call call = {
      node,
      StrCat(scope->prefix,
             node.name.empty() ? StrCat("#", number) : std::string(node.name)),
      scope,
      {}};
  bool is_refused = false;
  Status missing;
  for (const std::string_view name : node.inputs) {
    Known operand;
    if (!name.empty()) {
      TIM_ASSIGN_OR_RETURN(operand, Find(name, scope));
    }
    if (!operand.missing.empty() && missing.ok()) {
      missing = Unimplemented("operand ", call.operands.size(), " ('", name,
                              "'): ", operand.missing);
    }
    is_refused = is_refused || operand.is_refused;
    call.operands.push_back(std::move(operand));
  }
  Results results;
  if (!missing.ok()) {
    Refuse(call, missing);
  } else if (!is_refused) {
    auto made = Dispatch(call);
    if (made.ok()) {
      results = *std::move(made);
    } else {
      Refuse(call, made.status());
    }
  } else if (options_.supplier == nullptr && !IsKnown(node)) {
    Refuse(call, Unimplemented("there is no such operator here"));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty()) continue;
    Known known = i < results.size() ? results[i] : Known::Refused();
    if (!known.value.IsAbsent()) {
      builder_->SetName(&known.value, std::string(name));
    }
    scope->names.insert_or_assign(name, std::move(known));
  }
  return OkStatus();
}

const FunctionMessage* Importer::FindFunction(const NodeMessage& node) const {
  for (const FunctionMessage& function : model_.functions) {
    if (SharesName(function, node)) return &function;
  }
  return nullptr;
}

bool Importer::IsKnown(const NodeMessage& node) const {
  return FindFunction(node) != nullptr || FindSpecial(node) != nullptr ||
         Operators().Find(std::string(node.domain), std::string(node.op)) !=
             nullptr;
}

Result<Importer::Results> Importer::Dispatch(const Call& call) {
  if (const FunctionMessage* function = FindFunction(call.message)) {
    return RunFunction(*function, call);
  }
  if (const Special special = FindSpecial(call.message)) {
    return (this->*special)(call);
  }
  return RunOperator(call);
}

Result<Importer::Results> Importer::RunBody(const GraphMessage& graph,
                                            Results inputs, const Call& call,
                                            const std::string& prefix) {
  if (depth_ >= kMostDepth) {
    return Unimplemented("graphs and functions are nested more than ",
                         kMostDepth, " deep");
  }
  if (inputs.size() != graph.inputs.size()) {
    return InvalidArgument("its graph has ", graph.inputs.size(),
                           " inputs, expected ", inputs.size());
  }
  node_count_ +=
      static_cast<int64_t>(graph.inputs.size() + graph.initializers.size() +
                           graph.sparse_initializers.size());
  Scope scope;
  scope.outer = call.scope;
  scope.opsets = call.scope->opsets;
  scope.call = call.scope->call;
  scope.prefix = StrCat(call.label, "/", prefix);
  AddInitializers(graph, &scope);
  for (size_t i = 0; i < inputs.size(); ++i) {
    scope.names.insert_or_assign(graph.inputs[i].name, std::move(inputs[i]));
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<size_t> order, Order(graph, scope));
  ++depth_;
  Status status = RunNodes(graph.nodes, order, &scope);
  Results results;
  for (size_t i = 0; i < graph.outputs.size() && status.ok(); ++i) {
    auto found = Find(graph.outputs[i].name, &scope);
    status = found.status();
    if (found.ok()) results.push_back(*std::move(found));
  }
  --depth_;
  if (!status.ok()) return status;
  return results;
}

Result<Importer::Results> Importer::RunFunction(const FunctionMessage& function,
                                                const Call& call) {
  if (depth_ >= kMostDepth) {
    return Unimplemented("functions are nested more than ", kMostDepth,
                         " deep, or call themselves");
  }
  if (call.operands.size() > function.inputs.size()) {
    return InvalidArgument("it has ", call.operands.size(),
                           " operands, its function takes ",
                           function.inputs.size());
  }
  TIM_RETURN_IF_ERROR(CheckOpsets(function.opsets));
  CallAttributes attributes;
  for (const auto* list : {&function.defaults, &call.message.attributes}) {
    for (const AttributeMessage& attribute : *list) {
      AttributeMessage given = attribute;
      if (!given.reference.empty()) {
        if (call.scope->call == nullptr) continue;
        const auto outer = call.scope->call->find(given.reference);
        if (outer == call.scope->call->end()) continue;
        given = outer->second;
      }
      attributes.insert_or_assign(attribute.name, given);
    }
  }
  Scope scope;
  scope.opsets =
      function.opsets.empty() ? call.scope->opsets : &function.opsets;
  scope.call = &attributes;
  scope.prefix = StrCat(call.label, "/");
  NodeList list;
  list.nodes = &function.nodes;
  list.outputs = function.outputs;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    list.given.insert(function.inputs[i]);
    scope.names.insert_or_assign(function.inputs[i], i < call.operands.size()
                                                         ? call.operands[i]
                                                         : Known());
  }
  if (orders_.count(&function) == 0) {
    TIM_ASSIGN_OR_RETURN(orders_[&function], OrderNodes(list, &subgraphs_));
  }
  ++depth_;
  Status status = RunNodes(function.nodes, orders_[&function], &scope);
  Results results;
  for (size_t i = 0; i < function.outputs.size() && status.ok(); ++i) {
    auto found = Find(function.outputs[i], &scope);
    status = found.status();
    if (found.ok()) results.push_back(*std::move(found));
  }
  --depth_;
  if (!status.ok()) return status;
  return results;
}

}  // namespace tim::models::onnx
