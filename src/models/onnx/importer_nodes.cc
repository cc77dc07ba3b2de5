// Nodes of ONNX models: their attributes and operands, who makes operations of
// them, and what is said where nobody does.
#include <algorithm>
#include <utility>

#include "models/onnx/early_opsets.h"
#include "models/onnx/exact.h"
#include "models/onnx/importer.h"
#include "models/onnx/operator_families.h"

namespace tim::models::onnx {
namespace {

std::string OpName(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : StrCat(domain, ".", op);
}

// "attribute 'x'" or "operand 2", where a reason begins with that.
std::string AboutOf(const std::string& reason) {
  if (reason.starts_with("attribute '")) {
    const size_t end = reason.find('\'', 11);
    if (end != std::string::npos) return reason.substr(0, end + 1);
  }
  if (reason.starts_with("operand ")) {
    const size_t end = reason.find_first_not_of("0123456789", 8);
    if (end != 8) return reason.substr(0, end);
  }
  return "";
}

// Nodes without elements that take as long as a folded one: files that are
// meant to harm fold large constants again and again.
int64_t FoldingCost(const Node& node) {
  int64_t elements = 0;
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (const Value& value : *values) {
      if (value.constant != nullptr) {
        elements += value.constant->ElementCount();
      }
    }
  }
  return elements / 4096;
}

// One line of any text.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Result<Attribute> Importer::Read(const AttributeMessage& message) {
  switch (static_cast<AttributeKind>(message.kind)) {
    case AttributeKind::kFloat:
      return Attribute(message.f);
    case AttributeKind::kInt:
      return Attribute(message.i);
    case AttributeKind::kString:
      return Attribute(std::string(message.s));
    case AttributeKind::kFloats:
      return Attribute(message.floats);
    case AttributeKind::kInts:
      return Attribute(message.ints);
    case AttributeKind::kStrings:
      return Attribute(std::vector<std::string>(message.strings.begin(),
                                                message.strings.end()));
    case AttributeKind::kTensor: {
      TIM_ASSIGN_OR_RETURN(const TensorMessage tensor,
                           ReadTensor(message.message));
      TIM_ASSIGN_OR_RETURN(HostArray array, tensors_->Read(tensor));
      return Attribute(std::move(array));
    }
    case AttributeKind::kSparse: {
      TIM_ASSIGN_OR_RETURN(const SparseMessage sparse,
                           ReadSparse(message.message));
      TIM_ASSIGN_OR_RETURN(HostArray array, tensors_->Read(sparse));
      return Attribute(std::move(array));
    }
    default:
      return Unimplemented("attributes of kind ", message.kind,
                           " are not taken");
  }
}

Result<Node> Importer::MakeNode(const Call& call) {
  Node node;
  node.name = call.label;
  node.op = call.message.op;
  node.domain = call.message.domain;
  const auto opset = call.scope->opsets->find(call.message.domain);
  if (opset == call.scope->opsets->end() && node.domain.empty()) {
    return InvalidArgument("the model does not say which opset of ai.onnx it ",
                           "uses");
  }
  node.opset = 1;
  if (opset != call.scope->opsets->end() && node.domain.empty()) {
    TIM_ASSIGN_OR_RETURN(node.opset, OpsetOf(node.op, opset->second));
  } else if (opset != call.scope->opsets->end()) {
    node.opset =
        static_cast<int>(std::clamp<int64_t>(opset->second, 0, 1'000'000));
  }
  for (const AttributeMessage& attribute : call.message.attributes) {
    const AttributeMessage* given = &attribute;
    if (!attribute.reference.empty()) {
      if (call.scope->call == nullptr) {
        return InvalidArgument("attribute '", attribute.name,
                               "' is one of a function, and the node is in ",
                               "none");
      }
      const auto found = call.scope->call->find(attribute.reference);
      if (found == call.scope->call->end()) continue;
      given = &found->second;
    }
    auto value = Read(*given);
    if (!value.ok()) {
      return value.status().WithContext(
          StrCat("attribute '", attribute.name, "'"));
    }
    node.attributes.insert_or_assign(std::string(attribute.name),
                                     *std::move(value));
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].sequence != nullptr) {
      return Unimplemented("operand ", i, " is a sequence");
    }
    Value value = call.operands[i].value;
    // A node before this one may have told what an INPUT's codes mean.
    if (value.tensor != nullptr) {
      value.quantization = value.tensor->GetQuantization();
    }
    node.inputs.push_back(std::move(value));
  }
  for (const std::string_view name : call.message.outputs) {
    node.wanted_outputs.push_back(!name.empty());
  }
  node.builder = builder_;
  node.warnings = &warnings_;
  return node;
}

Status Importer::SpendMade(const Node& node) {
  for (const Value& output : node.outputs) {
    if (output.constant == nullptr) continue;
    const bool is_shared = std::any_of(
        node.inputs.begin(), node.inputs.end(), [&output](const Value& input) {
          return input.constant != nullptr &&
                 input.constant->data == output.constant->data;
        });
    if (is_shared) continue;
    TIM_RETURN_IF_ERROR(
        budget_->Spend(static_cast<int64_t>(output.constant->bytes)));
  }
  return OkStatus();
}

Status Importer::Apply(Node* node) {
  builder_->SetNode(node->name);
  if (SetAliases(node)) {
    // Elements of Constant are the file's, unless zeros are left out there.
    const bool is_stored =
        node->op == "Constant" && !node->attributes.contains("sparse_value");
    return is_stored ? OkStatus() : SpendMade(*node);
  }
  const OperatorTable::Entry* entry = Operators().Find(node->domain, node->op);
  const bool is_taken = entry != nullptr && node->opset >= entry->first;
  if (folder_->Fold(node, is_taken ? entry->function : nullptr)) {
    node_count_ += FoldingCost(*node);
    return SpendMade(*node);
  }
  Status status =
      entry == nullptr
          ? Unimplemented("there is no such operator here")
          : Unimplemented("its form before opset ", entry->first,
                          " is not taken; the model has opset ", node->opset);
  if (is_taken) {
    status = entry->function(*node);
    for (size_t i = 0; i < node->wanted_outputs.size() && status.ok(); ++i) {
      if (!node->Wants(i)) continue;
      if (i >= node->outputs.size() || node->outputs[i].IsAbsent()) {
        status = Unimplemented("output ", i, " is not made");
      }
    }
  }
  if (status.ok()) return SpendMade(*node);
  if (options_.supplier == nullptr) return status;
  return Supply(node, status);
}

Result<Value> Importer::Make(const std::string& op, std::vector<Value> inputs,
                             std::map<std::string, Attribute> attributes) {
  Node node;
  node.name = op;
  node.op = op;
  node.opset = 13;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.wanted_outputs = {true};
  node.builder = builder_;
  node.warnings = &warnings_;
  const OperatorTable::Entry* entry = Operators().Find("", op);
  const NodeFunction function = entry == nullptr ? nullptr : entry->function;
  if (!folder_->Fold(&node, function)) {
    if (function == nullptr) return Unimplemented("there is no operator ", op);
    TIM_RETURN_IF_ERROR(function(node));
  }
  return node.outputs.at(0);
}

Result<Importer::Results> Importer::RunOperator(const Call& call) {
  if (call.message.op == "Identity" && call.message.domain.empty() &&
      call.operands.size() == 1) {
    return call.operands;
  }
  TIM_ASSIGN_OR_RETURN(Node node, MakeNode(call));
  TIM_RETURN_IF_ERROR(Apply(&node));
  Results results;
  for (Value& output : node.outputs) results.push_back({std::move(output)});
  return results;
}

void Importer::Refuse(const Call& call, const Status& status) {
  refusals_.push_back({call.label, OpName(call.message.domain, call.message.op),
                       AboutOf(status.message()), OneLine(status.message())});
}

}  // namespace tim::models::onnx
