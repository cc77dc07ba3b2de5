// Writes graphs as JSON.
#include "graph_api/json_graph.h"

#include <cmath>
#include <concepts>
#include <string_view>
#include <variant>

#include "base/json_text.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

template <size_t count>
const char* NameIn(const char* const (&names)[count], unsigned number) {
  return number < count ? names[number] : "undef";
}

const char* NameOfLayout(tim_graph_layout_type_t type) {
  static constexpr const char* kNames[] = {"undef", "any", "strided", "opaque"};
  return NameIn(kNames, type);
}

const char* NameOfProperty(tim_graph_tensor_property_t property) {
  static constexpr const char* kNames[] = {"undef", "variable", "constant",
                                           "host_scalar"};
  return NameIn(kNames, property);
}

std::string NumberOf(std::integral auto value) { return JsonNumber(value); }
// JSON has no infinities, which are legal bounds of Clamp.
std::string NumberOf(float value) {
  return std::isfinite(value) ? JsonNumber(value) : JsonString(StrCat(value));
}

template <typename T>
std::string JsonOf(const std::vector<T>& list) {
  JsonArray array;
  for (const T value : list) array.Add(NumberOf(value));
  return array.Text();
}

std::string JsonOf(const LogicalTensor& tensor) {
  Dims shape = {TIM_GRAPH_UNKNOWN_DIM}, strides = {TIM_GRAPH_UNKNOWN_DIM};
  if (tensor.ndims >= 0) {
    shape.assign(tensor.dims, tensor.dims + tensor.ndims);
    if (tensor.layout_type == tim_graph_layout_type_strided) {
      strides.assign(tensor.layout.strides,
                     tensor.layout.strides + tensor.ndims);
    }
  }
  return JsonObject()
      .Add("id", JsonNumber(tensor.id))
      .AddText("dtype", tim_graph_dt2str(tensor.data_type))
      .Add("shape", JsonOf(shape))
      .Add("stride", JsonOf(strides))
      .AddText("layout_type", NameOfLayout(tensor.layout_type))
      .AddText("property_type", NameOfProperty(tensor.property))
      .Text();
}

std::string JsonOf(const std::vector<LogicalTensor>& tensors) {
  JsonArray array;
  for (const LogicalTensor& tensor : tensors) array.Add(JsonOf(tensor));
  return array.Text();
}

std::string TypedValue(std::string_view type, std::string_view value) {
  return JsonObject().AddText("type", type).Add("value", value).Text();
}

struct AttributeJson {
  std::string operator()(int64_t value) const {
    return TypedValue("s64", JsonNumber(value));
  }
  std::string operator()(float value) const {
    return TypedValue("f32", NumberOf(value));
  }
  std::string operator()(bool value) const {
    return TypedValue("bool", value ? "1" : "0");
  }
  std::string operator()(const std::string& value) const {
    return TypedValue("string", JsonString(value));
  }
  std::string operator()(const Dims& value) const {
    return TypedValue("s64[]", JsonOf(value));
  }
  std::string operator()(const Floats& value) const {
    return TypedValue("f32[]", JsonOf(value));
  }
};

// With the attributes of a partitioning where `partition` is not null.
std::string JsonOf(const Op& op, const Partition* partition) {
  JsonObject attributes;
  for (const auto& [attribute, value] : op.attributes) {
    attributes.Add(NameOf(attribute), std::visit(AttributeJson(), value));
  }
  for (const auto& [name, value] : op.named) {
    attributes.Add(name, std::visit(AttributeJson(), value));
  }
  if (partition != nullptr) {
    attributes.Add("partition_id",
                   TypedValue("string", JsonString(StrCat(partition->id()))));
    attributes.Add("backend",
                   TypedValue("string", partition->supported()
                                            ? JsonString("tim-cl")
                                            : JsonString("unsupported")));
  }
  return JsonObject()
      .Add("id", JsonNumber(op.id))
      .AddText("name", op.name)
      .AddText("kind", op.def->name)
      .Add("attrs", attributes.Text())
      .Add("inputs", JsonOf(op.inputs))
      .Add("outputs", JsonOf(op.outputs))
      .Text();
}

std::string IdsOf(const std::vector<LogicalTensor>& tensors) {
  std::vector<size_t> ids;
  for (const LogicalTensor& tensor : tensors) ids.push_back(tensor.id);
  return JsonOf(ids);
}

std::string JsonOf(const JsonArray& ops, const Ports& ports,
                   const GraphTraits& traits) {
  return JsonObject()
             .AddText("version", "3.14.0")
             .AddText("engine_kind", tim_graph_engine_kind2str(traits.kind))
             .AddText("fpmath_mode",
                      tim_graph_fpmath_mode2str(traits.fpmath_mode))
             .AddText("fpmath_mode_apply_to_int",
                      traits.fpmath_applies_to_int ? "true" : "false")
             .Add("input_ports", IdsOf(ports.inputs))
             .Add("output_ports", IdsOf(ports.outputs))
             .Add("graph", ops.Lines())
             .Text() +
         "\n";
}

}  // namespace

std::string JsonOfGraph(const std::vector<Op>& ops, const Ports& ports,
                        const GraphTraits& traits) {
  JsonArray array;
  for (const Op& op : ops) array.Add(JsonOf(op, nullptr));
  return JsonOf(array, ports, traits);
}

std::string JsonOfPartitions(const Partitions& partitions, const Ports& ports,
                             const GraphTraits& traits) {
  JsonArray array;
  for (const auto& partition : partitions) {
    for (const Op& op : partition->ops()) {
      array.Add(JsonOf(op, partition.get()));
    }
  }
  return JsonOf(array, ports, traits);
}

}  // namespace tim::graph
