#include <set>
#include <string>
#include <utility>

#include "binary/desc_tables.h"
#include "binary/graph_tables.h"
#include "binary/user_operator_tables.h"
#include "ir/op_schema.h"

namespace tim::binary {
namespace {

// What an entry takes besides texts and lists, generously.
constexpr int64_t kValueBytes = sizeof(ir::Value) + 64;
constexpr int64_t kNodeBytes = sizeof(ir::Node) + 64;
constexpr int64_t kAttributeBytes = 256;
constexpr int64_t kOperandBytes = 64;

Status CheckContent(const ir::Value& value) {
  const bool constant = value.role == ir::Role::kConstant;
  if (value.constant == nullptr) {
    return constant ? InvalidArgument("a constant without data") : OkStatus();
  }
  if (!constant && value.role != ir::Role::kState) {
    return InvalidArgument("data of what is neither constant nor state");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(value.desc));
  const auto given = static_cast<int64_t>(value.constant->bytes.size());
  if (given == bytes) return OkStatus();
  return InvalidArgument(given, " bytes of data, ", value.desc.ToString(),
                         " takes ", bytes);
}

Status CheckOutputs(const ir::Node& node, const ir::Graph& graph) {
  std::set<ir::ValueId> seen;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::ValueId output = node.outputs[i];
    if (output == ir::kNone) continue;
    const ir::Value& value = graph.value(output);
    if (value.role != ir::Role::kTransient || value.producer != ir::kNone ||
        !seen.insert(output).second) {
      return InvalidArgument("output ", i, " is tensor '", value.name,
                             "', which something else makes");
    }
  }
  return OkStatus();
}

Status CheckBodyCount(const char* what, size_t body, size_t node) {
  if (body == node) return OkStatus();
  return InvalidArgument("its body has ", body, " ", what, "s, the operation ",
                         node);
}

Status CheckBodyOutputs(const ir::Graph& body) {
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const ir::ValueId output = body.outputs()[i];
    if (output == ir::kNone ||
        body.value(output).role != ir::Role::kTransient ||
        body.value(output).producer != ir::kNone) {
      continue;
    }
    return InvalidArgument("its body does not make output ", i);
  }
  return OkStatus();
}

}  // namespace

Result<GraphReader> GraphReader::Create(
    const TableFile& file, const flatbuffers::Vector<const fbs::Extent*>* data,
    const ir::OpRegistry& registry, ReadBudget& budget) {
  GraphReader reader(registry, budget);
  TIM_ASSIGN_OR_RETURN(const auto pieces, file.Pieces(data));
  for (const auto& piece : pieces) reader.data_.push_back(file.Constant(piece));
  return reader;
}

Status GraphReader::ReadUserOperators(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::UserOperator>>* list,
    const std::string& prefix, ir::OpRegistry* registry) {
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    Result<UserOperator> frozen = ReadUserOperator(
        *list->Get(i), budget_, [this](int index) { return Data(index); });
    if (!frozen.ok()) {
      return frozen.status().WithContext(StrCat("custom operation ", i));
    }
    const std::string key = frozen->key;
    if (frozen_.contains(key)) {
      return InvalidArgument("custom operation '", key, "' is there twice");
    }
    frozen_[key] = Register(*std::move(frozen), prefix, registry);
  }
  return OkStatus();
}

Result<std::shared_ptr<const ir::ConstantData>> GraphReader::Data(
    int index) const {
  if (index == -1) return std::shared_ptr<const ir::ConstantData>();
  if (index < 0 || index >= static_cast<int>(data_.size())) {
    return InvalidArgument("data ", index, " of ", data_.size());
  }
  return data_[index];
}

Result<const ir::OpSchema*> GraphReader::FindOperator(
    const flatbuffers::String* key) const {
  const std::string_view wanted = key != nullptr ? key->string_view() : "";
  const auto frozen = frozen_.find(wanted);
  if (frozen != frozen_.end()) return frozen->second;
  const ir::OpSchema* schema = registry_.Find(wanted);
  // Find() also takes names without version.
  if (schema != nullptr && schema->Key() == wanted) return schema;
  return Unimplemented("this library has no operator '", wanted, "'");
}

Result<ir::Attribute> GraphReader::ReadList(const fbs::Attribute& table) {
  if (table.type() == fbs::AttributeType::Ints) {
    TIM_ASSIGN_OR_RETURN(auto list, budget_.Copy(table.numbers()));
    return ir::Attribute(std::move(list));
  }
  if (table.type() == fbs::AttributeType::Floats) {
    TIM_ASSIGN_OR_RETURN(auto list, budget_.Copy(table.reals()));
    return ir::Attribute(std::move(list));
  }
  std::vector<std::string> list;
  for (size_t i = 0; table.texts() != nullptr && i < table.texts()->size();
       ++i) {
    TIM_RETURN_IF_ERROR(budget_.Take(sizeof(std::string)));
    const fbs::Text* text = table.texts()->Get(static_cast<uint32_t>(i));
    TIM_ASSIGN_OR_RETURN(std::string copy, budget_.Copy(text->value()));
    list.push_back(std::move(copy));
  }
  return ir::Attribute(std::move(list));
}

Result<ir::Attribute> GraphReader::ReadAttribute(const fbs::Attribute& table) {
  using Type = fbs::AttributeType;
  switch (table.type()) {
    case Type::Bool:
      return ir::Attribute(table.number() != 0);
    case Type::Int:
      return ir::Attribute(table.number());
    case Type::Float:
      return ir::Attribute(table.real());
    case Type::String: {
      TIM_ASSIGN_OR_RETURN(std::string text, budget_.Copy(table.text()));
      return ir::Attribute(std::move(text));
    }
    case Type::Ints:
    case Type::Floats:
    case Type::Strings:
      return ReadList(table);
    case Type::Tensor: {
      TIM_ASSIGN_OR_RETURN(auto data, Data(table.data()));
      return ir::Attribute(std::move(data));
    }
    case Type::Graph: {
      if (table.graph() == nullptr) {
        return ir::Attribute(std::shared_ptr<const ir::Graph>());
      }
      TIM_ASSIGN_OR_RETURN(ir::Graph graph, Read(*table.graph()));
      return ir::Attribute(std::make_shared<const ir::Graph>(std::move(graph)));
    }
  }
  return InvalidArgument("unknown type ", static_cast<int>(table.type()));
}

Result<ir::AttributeMap> GraphReader::Read(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Attribute>>* list) {
  ir::AttributeMap attributes;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Attribute& table = *list->Get(static_cast<uint32_t>(i));
    TIM_RETURN_IF_ERROR(budget_.Take(kAttributeBytes));
    TIM_ASSIGN_OR_RETURN(std::string name, budget_.Copy(table.name()));
    Result<ir::Attribute> value = ReadAttribute(table);
    if (!value.ok()) {
      return value.status().WithContext(StrCat("attribute '", name, "'"));
    }
    attributes.Set(std::move(name), *std::move(value));
  }
  return attributes;
}

Result<std::vector<ir::ValueId>> GraphReader::ReadOperands(
    const flatbuffers::Vector<int32_t>* list, const ir::Graph& graph) {
  if (list == nullptr) return std::vector<ir::ValueId>();
  TIM_RETURN_IF_ERROR(budget_.Take(kOperandBytes * list->size()));
  std::vector<ir::ValueId> operands(list->begin(), list->end());
  for (const ir::ValueId id : operands) {
    if (id == ir::kNone || graph.HasValue(id)) continue;
    return InvalidArgument("it refers to tensor ", id, " of ",
                           graph.value_id_limit());
  }
  return operands;
}

Status GraphReader::ReadValue(const fbs::Value& table, ir::Graph* graph) {
  TIM_RETURN_IF_ERROR(budget_.Take(kValueBytes));
  TIM_ASSIGN_OR_RETURN(std::string name, budget_.Copy(table.name()));
  if (table.role() > fbs::Role::MAX) {
    return InvalidArgument("unknown role ", static_cast<int>(table.role()));
  }
  TIM_ASSIGN_OR_RETURN(ir::TensorDesc desc, ReadDesc(table.desc(), budget_));
  const ir::ValueId id = graph->AddValue(
      std::move(desc), static_cast<ir::Role>(table.role()), std::move(name));
  ir::Value& value = graph->value(id);
  value.is_scalar = table.scalar();
  value.shape_declared = table.declared();
  TIM_ASSIGN_OR_RETURN(value.constant, Data(table.data()));
  return CheckContent(value).WithContext(StrCat("'", value.name, "'"));
}

Result<std::shared_ptr<const ir::Composite>> GraphReader::Read(
    const fbs::Composite& table, size_t inputs, size_t outputs) {
  if (table.body() == nullptr) return InvalidArgument("it has no body");
  auto composite = std::make_shared<ir::Composite>();
  TIM_RETURN_IF_ERROR(budget_.Take(kNodeBytes));
  TIM_ASSIGN_OR_RETURN(composite->name, budget_.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(composite->body, Read(*table.body()));
  const ir::Graph& body = composite->body;
  TIM_RETURN_IF_ERROR(CheckBodyCount("input", body.inputs().size(), inputs));
  TIM_RETURN_IF_ERROR(CheckBodyCount("output", body.outputs().size(), outputs));
  TIM_RETURN_IF_ERROR(CheckBodyOutputs(body));
  composite->anchor = table.anchor();
  if (composite->anchor != ir::kNone && !body.HasNode(composite->anchor)) {
    return InvalidArgument("its body has no operation ", composite->anchor);
  }
  return std::shared_ptr<const ir::Composite>(std::move(composite));
}

Result<ir::Node> GraphReader::MakeNode(const fbs::Node& table,
                                       const ir::Graph& graph) {
  ir::Node node;
  TIM_ASSIGN_OR_RETURN(node.attributes, Read(table.attributes()));
  TIM_ASSIGN_OR_RETURN(node.inputs, ReadOperands(table.inputs(), graph));
  TIM_ASSIGN_OR_RETURN(node.outputs, ReadOperands(table.outputs(), graph));
  if (table.composite() != nullptr) {
    TIM_ASSIGN_OR_RETURN(
        node.composite,
        Read(*table.composite(), node.inputs.size(), node.outputs.size()));
  }
  if (table.operator_() != nullptr || !node.composite) {
    TIM_ASSIGN_OR_RETURN(node.schema, FindOperator(table.operator_()));
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
    TIM_RETURN_IF_ERROR(ir::CheckOperandCounts(node));
  }
  TIM_RETURN_IF_ERROR(CheckOutputs(node, graph));
  return node;
}

Status GraphReader::ReadNode(const fbs::Node& table, ir::Graph* graph) {
  TIM_RETURN_IF_ERROR(budget_.Take(kNodeBytes));
  TIM_ASSIGN_OR_RETURN(std::string name, budget_.Copy(table.name()));
  Result<ir::Node> node = MakeNode(table, *graph);
  if (!node.ok()) {
    return node.status().WithContext(StrCat("operation '", name, "'"));
  }
  node->name = std::move(name);
  graph->AddNode(*std::move(node));
  return OkStatus();
}

Status GraphReader::ReadEnds(const fbs::Graph& table, ir::Graph* graph) {
  TIM_ASSIGN_OR_RETURN(const auto inputs, ReadOperands(table.inputs(), *graph));
  std::vector<bool> seen(graph->value_id_limit(), false);
  for (const ir::ValueId id : inputs) {
    if (id != ir::kNone &&
        (graph->value(id).role != ir::Role::kInput || seen[id])) {
      return InvalidArgument("'", graph->value(id).name,
                             "' is no input, or twice an input");
    }
    if (id != ir::kNone) seen[id] = true;
    graph->AddInput(id);
  }
  TIM_ASSIGN_OR_RETURN(const auto outputs,
                       ReadOperands(table.outputs(), *graph));
  for (const ir::ValueId id : outputs) graph->AddOutput(id);
  for (size_t i = 0;
       table.state_updates() != nullptr && i < table.state_updates()->size();
       ++i) {
    const auto& update = *table.state_updates()->Get(static_cast<uint32_t>(i));
    TIM_RETURN_IF_ERROR(budget_.Take(kOperandBytes));
    if (!graph->HasValue(update.state()) || !graph->HasValue(update.value()) ||
        graph->value(update.state()).role != ir::Role::kState ||
        seen[update.state()]) {
      return InvalidArgument("state update ", i, " is of tensor ",
                             update.state(), " by tensor ", update.value());
    }
    seen[update.state()] = true;
    graph->AddStateUpdate(update.state(), update.value());
  }
  return OkStatus();
}

Result<ir::Graph> GraphReader::Read(const fbs::Graph& table) {
  if (depth_ >= kMaxGraphDepth) {
    return InvalidArgument("graphs are nested deeper than ", kMaxGraphDepth);
  }
  ++depth_;
  TIM_ASSIGN_OR_RETURN(std::string name, budget_.Copy(table.name()));
  TIM_RETURN_IF_ERROR(budget_.Take(sizeof(ir::Graph)));
  ir::Graph graph(std::move(name));
  for (size_t i = 0; table.values() != nullptr && i < table.values()->size();
       ++i) {
    const Status status =
        ReadValue(*table.values()->Get(static_cast<uint32_t>(i)), &graph);
    if (!status.ok()) return status.WithContext(StrCat("tensor ", i));
  }
  for (size_t i = 0; table.nodes() != nullptr && i < table.nodes()->size();
       ++i) {
    TIM_RETURN_IF_ERROR(
        ReadNode(*table.nodes()->Get(static_cast<uint32_t>(i)), &graph));
  }
  TIM_RETURN_IF_ERROR(ReadEnds(table, &graph));
  TIM_RETURN_IF_ERROR(graph.TopologicalOrder().status());
  --depth_;
  return graph;
}

}  // namespace tim::binary
