#include <string>
#include <utility>

#include "binary/desc_tables.h"
#include "binary/graph_tables.h"
#include "binary/user_operator_tables.h"
#include "ir/op_schema.h"

namespace tim::binary {
namespace {

using flatbuffers::Offset;
using flatbuffers::Vector;

static_assert(static_cast<int>(fbs::AttributeType::MAX) + 1 ==
              std::variant_size_v<ir::Attribute>);
static_assert(static_cast<int>(fbs::AttributeType::Graph) ==
              static_cast<int>(ir::AttributeType::kGraph));
static_assert(static_cast<int>(fbs::Role::MAX) ==
              static_cast<int>(ir::Role::kState));

// Ids of values that exist, by id, counted without gaps.
std::vector<int32_t> CountValues(const ir::Graph& graph) {
  std::vector<int32_t> index(graph.value_id_limit(), ir::kNone);
  int32_t count = 0;
  for (const ir::ValueId id : graph.ValueIds()) index[id] = count++;
  return index;
}

std::vector<int32_t> Map(const std::vector<ir::ValueId>& ids,
                         std::span<const int32_t> value_index) {
  std::vector<int32_t> mapped;
  for (const ir::ValueId id : ids) {
    mapped.push_back(id == ir::kNone ? ir::kNone : value_index[id]);
  }
  return mapped;
}

int32_t CountNode(const ir::Graph& graph, ir::NodeId wanted) {
  int32_t count = 0;
  for (const ir::NodeId id : graph.NodeIds()) {
    if (id == wanted) return count;
    ++count;
  }
  return ir::kNone;
}

}  // namespace

Result<Offset<fbs::Graph>> GraphWriter::Write(const ir::Graph& graph) {
  if (depth_ >= kMaxGraphDepth) {
    return Unimplemented("graph '", graph.name(), "' is nested deeper than ",
                         kMaxGraphDepth,
                         " graphs, which binary graphs are not");
  }
  ++depth_;
  const std::vector<int32_t> index = CountValues(graph);
  std::vector<Offset<fbs::Value>> values;
  for (const ir::ValueId id : graph.ValueIds()) {
    values.push_back(Write(graph.value(id)));
  }
  std::vector<Offset<fbs::Node>> nodes;
  for (const ir::NodeId id : graph.NodeIds()) {
    TIM_ASSIGN_OR_RETURN(const auto node, Write(graph, graph.node(id), index));
    nodes.push_back(node);
  }
  std::vector<fbs::StateUpdate> updates;
  for (const auto& update : graph.state_updates()) {
    updates.emplace_back(index[update.state], index[update.value]);
  }
  const std::vector<int32_t> inputs = Map(graph.inputs(), index);
  const std::vector<int32_t> outputs = Map(graph.outputs(), index);
  --depth_;
  return fbs::CreateGraphDirect(builder_, graph.name().c_str(), &values, &nodes,
                                &inputs, &outputs, &updates);
}

Offset<fbs::Value> GraphWriter::Write(const ir::Value& value) {
  const auto name = builder_.CreateString(value.name);
  const auto desc = WriteDesc(builder_, value.desc);
  int data = -1;
  if (value.constant && value.role == ir::Role::kConstant) {
    data = data_.Share(value.constant);
  } else if (value.constant && value.role == ir::Role::kState) {
    // Never shared: the size of a file does not depend on states' content.
    data =
        data_.Add({value.constant->bytes.data(), value.constant->bytes.size()},
                  value.constant);
  }
  return fbs::CreateValue(builder_, name, desc,
                          static_cast<fbs::Role>(value.role), value.is_scalar,
                          value.shape_declared, data);
}

Result<Offset<fbs::Node>> GraphWriter::Write(
    const ir::Graph& graph, const ir::Node& node,
    std::span<const int32_t> value_index) {
  TIM_ASSIGN_OR_RETURN(const auto attributes, Write(node.attributes));
  Offset<fbs::Composite> composite;
  if (node.composite) {
    TIM_ASSIGN_OR_RETURN(composite, Write(*node.composite));
  }
  const auto name = builder_.CreateString(node.name);
  Offset<flatbuffers::String> key;
  if (node.schema != nullptr) {
    key = builder_.CreateSharedString(node.schema->Key());
  }
  if (registry_ != nullptr && node.schema != nullptr &&
      ir::HasUserKernel(node) && !frozen_.contains(node.schema->Key())) {
    TIM_ASSIGN_OR_RETURN(const UserOperator frozen,
                         Freeze(graph, node, *registry_));
    frozen_.emplace(frozen.key, WriteUserOperator(builder_, data_, frozen));
  }
  const auto inputs = builder_.CreateVector(Map(node.inputs, value_index));
  const auto outputs = builder_.CreateVector(Map(node.outputs, value_index));
  return fbs::CreateNode(builder_, name, key, attributes, inputs, outputs,
                         composite);
}

Result<Offset<fbs::Composite>> GraphWriter::Write(
    const ir::Composite& composite) {
  TIM_ASSIGN_OR_RETURN(const auto body, Write(composite.body));
  const auto name = builder_.CreateString(composite.name);
  return fbs::CreateComposite(builder_, name, body,
                              CountNode(composite.body, composite.anchor));
}

Result<Offset<Vector<Offset<fbs::Attribute>>>> GraphWriter::Write(
    const ir::AttributeMap& attributes) {
  std::vector<Offset<fbs::Attribute>> list;
  for (const auto& [name, value] : attributes.entries()) {
    TIM_ASSIGN_OR_RETURN(const auto attribute, Write(name, value));
    list.push_back(attribute);
  }
  return builder_.CreateVector(list);
}

Result<Offset<fbs::Attribute>> GraphWriter::Write(
    const std::string& name, const ir::Attribute& attribute) {
  using Data = std::shared_ptr<const ir::ConstantData>;
  using Body = std::shared_ptr<const ir::Graph>;
  Offset<flatbuffers::String> text;
  Offset<Vector<int64_t>> numbers;
  Offset<Vector<double>> reals;
  Offset<Vector<Offset<fbs::Text>>> texts;
  Offset<fbs::Graph> graph;
  int64_t number = 0;
  if (const auto* flag = std::get_if<bool>(&attribute)) number = *flag;
  if (const auto* given = std::get_if<int64_t>(&attribute)) number = *given;
  const auto* real = std::get_if<double>(&attribute);
  if (const auto* given = std::get_if<std::string>(&attribute)) {
    text = builder_.CreateString(*given);
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
    numbers = builder_.CreateVector(*list);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&attribute)) {
    reals = builder_.CreateVector(*list);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&attribute)) {
    std::vector<Offset<fbs::Text>> made;
    for (const std::string& one : *list) {
      made.push_back(fbs::CreateText(builder_, builder_.CreateString(one)));
    }
    texts = builder_.CreateVector(made);
  }
  const auto* data = std::get_if<Data>(&attribute);
  const auto* body = std::get_if<Body>(&attribute);
  if (body != nullptr && *body != nullptr) {
    TIM_ASSIGN_OR_RETURN(graph, Write(**body));
  }
  return fbs::CreateAttribute(
      builder_, builder_.CreateSharedString(name),
      static_cast<fbs::AttributeType>(ir::TypeOf(attribute)), number,
      real != nullptr ? *real : 0, text, numbers, reals, texts,
      data != nullptr && *data != nullptr ? data_.Share(*data) : -1, graph);
}

Offset<Vector<Offset<fbs::UserOperator>>> GraphWriter::WriteUserOperators() {
  if (frozen_.empty()) return {};
  std::vector<Offset<fbs::UserOperator>> list;
  for (const auto& [key, frozen] : frozen_) list.push_back(frozen);
  return builder_.CreateVector(list);
}

Offset<Vector<const fbs::Extent*>> GraphWriter::WriteExtents() {
  std::vector<fbs::Extent> extents;
  for (const DataPieces::Piece& piece : data_.pieces()) {
    extents.emplace_back(static_cast<uint64_t>(piece.offset),
                         piece.bytes.size());
  }
  return builder_.CreateVectorOfStructs(extents);
}

}  // namespace tim::binary
