// Writes values, nodes and bodies as JSON.
#include "ir/dump/graph_json.h"

#include <type_traits>
#include <variant>

#include "base/json_text.h"
#include "ir/op_schema.h"

namespace tim::ir {
namespace {

const char* NameOf(Role role) {
  static constexpr const char* kNames[] = {"transient", "input", "constant",
                                           "state"};
  return kNames[static_cast<int>(role)];
}

std::string NameJson(const Graph& graph, ValueId id) {
  return id == kNone ? "null" : JsonString(graph.value(id).name);
}

std::string NamesJson(const Graph& graph, const std::vector<ValueId>& ids) {
  JsonArray names;
  for (const ValueId id : ids) names.Add(NameJson(graph, id));
  return names.Text();
}

std::string ShapeJson(const Shape& shape) {
  if (!shape.ranked()) return "null";
  JsonArray extents;
  for (const int64_t extent : shape.dims()) {
    extents.Add(extent == kUnknownDim ? "null" : JsonNumber(extent));
  }
  return extents.Text();
}

template <typename Numbers>
std::string NumbersJson(const Numbers& numbers) {
  JsonArray array;
  for (const auto number : numbers) array.Add(JsonNumber(number));
  return array.Text();
}

std::string QuantizationJson(const Quantization& quantization) {
  JsonObject object;
  if (quantization.kind == QuantizationKind::kFixedPoint) {
    return object.Add("fl", JsonNumber(quantization.fl)).Text();
  }
  if (quantization.per_channel()) {
    object.Add("axis", JsonNumber(quantization.axis));
  }
  return object.Add("scales", NumbersJson(quantization.scales))
      .Add("zero_points", NumbersJson(quantization.zero_points))
      .Text();
}

std::string ValueJson(const Graph& graph, const Value& value) {
  JsonObject object;
  object.AddText("name", value.name)
      .AddText("role", NameOf(value.role))
      .AddText("type", ToString(value.desc.type))
      .Add("shape", ShapeJson(value.desc.shape))
      .AddText("layout", value.desc.layout.ToString());
  if (value.desc.quantized()) {
    object.Add("quantization", QuantizationJson(value.desc.quantization));
  }
  const Result<int64_t> bytes = ByteSize(value.desc);
  object.Add("bytes", bytes.ok() ? JsonNumber(*bytes) : "null");
  if (value.producer != kNone) {
    object.AddText("producer", graph.node(value.producer).name);
  }
  if (value.constant != nullptr) {
    object.AddText("hash", value.constant->hash.ToString());
  }
  return object.Text();
}

// One per alternative of Attribute.
struct AttributeJson {
  std::string operator()(bool value) const { return JsonBool(value); }
  std::string operator()(int64_t value) const { return JsonNumber(value); }
  std::string operator()(double value) const { return JsonNumber(value); }
  std::string operator()(const std::string& value) const {
    return JsonString(value);
  }
  std::string operator()(const std::vector<int64_t>& values) const {
    return NumbersJson(values);
  }
  std::string operator()(const std::vector<double>& values) const {
    return NumbersJson(values);
  }
  std::string operator()(const std::vector<std::string>& values) const {
    JsonArray array;
    for (const std::string& value : values) array.Add(JsonString(value));
    return array.Text();
  }
  std::string operator()(
      const std::shared_ptr<const ConstantData>& value) const {
    if (value == nullptr) return "null";
    return JsonObject().AddText("hash", value->hash.ToString()).Text();
  }
  std::string operator()(const std::shared_ptr<const Graph>& value) const {
    return value == nullptr ? "null" : JsonOf(*value);
  }
};

std::string AttributesJson(const AttributeMap& attributes) {
  JsonObject object;
  for (const auto& [name, value] : attributes.entries()) {
    object.Add(name, std::visit(AttributeJson(), value));
  }
  return object.Text();
}

std::string NodeJson(const Graph& graph, const Node& node) {
  JsonObject object;
  object.AddText("name", node.name);
  if (node.composite != nullptr) {
    object.AddText("operator", node.composite->name);
  } else {
    object.AddText("operator",
                   node.schema != nullptr ? node.schema->Key() : "?");
  }
  object.Add("attributes", AttributesJson(node.attributes))
      .Add("inputs", NamesJson(graph, node.inputs))
      .Add("outputs", NamesJson(graph, node.outputs));
  if (node.composite != nullptr) {
    object.Add("body", JsonOf(node.composite->body));
  }
  return object.Text();
}

}  // namespace

std::string JsonOf(const Graph& graph) {
  JsonArray states;
  for (const auto& update : graph.state_updates()) {
    states.Add(JsonObject()
                   .Add("state", NameJson(graph, update.state))
                   .Add("next", NameJson(graph, update.value))
                   .Text());
  }
  JsonArray values;
  for (const ValueId id : graph.ValueIds()) {
    values.Add(ValueJson(graph, graph.value(id)));
  }
  JsonArray nodes;
  for (const NodeId id : graph.NodeIds()) {
    nodes.Add(NodeJson(graph, graph.node(id)));
  }
  return JsonObject()
             .AddText("graph", graph.name())
             .Add("inputs", NamesJson(graph, graph.inputs()))
             .Add("outputs", NamesJson(graph, graph.outputs()))
             .Add("states", states.Text())
             .Add("values", values.Lines())
             .Add("nodes", nodes.Lines())
             .Text() +
         "\n";
}

}  // namespace tim::ir
