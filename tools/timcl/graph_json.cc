// Reads graphs from JSON.
#include "tools/timcl/graph_json.h"

#include <algorithm>
#include <utility>

#include "graph_api/extended_ops.h"
#include "graph_api/op_def.h"
#include "tools/timcl/graph_json_names.h"
#include "tools/timcl/graph_json_tensor.h"
#include "tools/timcl/json_place.h"

namespace tim::tool {
namespace {

using graph::AttributeType;
using graph::AttributeValue;
using graph::Dims;
using graph::Floats;
using graph::LogicalTensor;
using graph::Op;

// `read` of each element of an array; a value that is no array is a list of
// one, and "" is the empty list.
template <typename T>
Result<std::vector<T>> ReadList(const JsonPlace& place,
                                Result<T> (JsonPlace::*read)() const) {
  std::vector<T> list;
  if (place.value() == "") return list;
  if (!place.value().is_array()) {
    TIM_ASSIGN_OR_RETURN(T one, (place.*read)());
    list.push_back(one);
    return list;
  }
  for (size_t i = 0; i < place.value().size(); ++i) {
    TIM_ASSIGN_OR_RETURN(T one, (place.At(i).*read)());
    list.push_back(one);
  }
  return list;
}

template <typename T>
Result<AttributeValue> AsValue(Result<T> value) {
  if (!value.ok()) return value.status();
  return AttributeValue(*std::move(value));
}

// A scalar may be a list of one.
JsonPlace Single(const JsonPlace& place) {
  return place.value().is_array() && place.value().size() == 1 ? place.At(0)
                                                               : place;
}

// The value in the type that the attribute has: "type" of older files may be
// another.
Result<AttributeValue> ReadValue(const JsonPlace& place, AttributeType type) {
  switch (type) {
    case AttributeType::kFloat:
      return AsValue(Single(place).Float());
    case AttributeType::kFloats:
      return AsValue(ReadList(place, &JsonPlace::Float));
    case AttributeType::kInt:
      return AsValue(Single(place).Integer());
    case AttributeType::kInts:
      return AsValue(ReadList(place, &JsonPlace::Integer));
    case AttributeType::kBool:
      return AsValue(Single(place).Bool());
    case AttributeType::kString:
      return AsValue(Single(place).Text());
  }
  return TIM_INTERNAL("attributes have no type ", static_cast<int>(type));
}

// The same, as {"type": "s64[]", "value": [1, 1]} or the value alone.
Result<AttributeValue> ReadTyped(const JsonPlace& place, AttributeType type) {
  if (!place.value().is_object()) return ReadValue(place, type);
  TIM_ASSIGN_OR_RETURN(const JsonPlace value, place.Member("value"));
  return ReadValue(value, type);
}

// Null where the op's kind is none that was registered with such an attribute.
const graph::NamedAttributeDef* NamedAttributeOf(const Op& op,
                                                 std::string_view name) {
  const graph::OpDef* const def = graph::FindExtendedOp(op.kind);
  if (def == nullptr) return nullptr;
  const auto found = std::find_if(
      def->named_attributes.begin(), def->named_attributes.end(),
      [&](const auto& attribute) { return attribute.name == name; });
  return found == def->named_attributes.end() ? nullptr : &*found;
}

class Reader {
 public:
  Result<GraphJson> Read(const JsonPlace& file) {
    TIM_RETURN_IF_ERROR(ReadHead(file));
    TIM_ASSIGN_OR_RETURN(graph_.input_ports, ReadPorts(file, "input_ports"));
    TIM_ASSIGN_OR_RETURN(graph_.output_ports, ReadPorts(file, "output_ports"));
    TIM_ASSIGN_OR_RETURN(const JsonPlace ops, file.Member("graph"));
    TIM_RETURN_IF_ERROR(ops.RequireArray());
    for (size_t i = 0; i < ops.value().size(); ++i) {
      Op op;
      const Status status = ReadOp(ops.At(i), &op);
      if (!status.ok())
        return knows_op_ ? status.WithContext(NameOf(op)) : status;
      graph_.ops.push_back(std::move(op));
    }
    AgreeOnTensors(&graph_.ops);
    return std::move(graph_);
  }

 private:
  Status ReadHead(const JsonPlace& file) {
    TIM_RETURN_IF_ERROR(file.RequireObject());
    const auto version = file.Find("version");
    if (version && version->value().is_string()) {
      TIM_ASSIGN_OR_RETURN(graph_.version, version->Text());
    }
    if (const auto kind = file.Find("engine_kind")) {
      TIM_ASSIGN_OR_RETURN(const std::string text, kind->Text());
      const auto found = EngineKindNamed(text);
      if (!found) return kind->Refuse("an engine kind: cpu, gpu or any");
      // Graphs of any engine are a cpu engine's here.
      if (*found == tim_graph_gpu) graph_.traits.kind = *found;
    }
    if (const auto mode = file.Find("fpmath_mode")) {
      TIM_ASSIGN_OR_RETURN(const std::string text, mode->Text());
      const auto found = FpmathModeNamed(text);
      if (!found) {
        return mode->Refuse("an fpmath mode: strict, bf16, f16, tf32 or any");
      }
      graph_.traits.fpmath_mode = *found;
    }
    if (const auto applies = file.Find("fpmath_mode_apply_to_int")) {
      TIM_ASSIGN_OR_RETURN(graph_.traits.fpmath_applies_to_int,
                           applies->Bool());
    }
    return OkStatus();
  }

  static Result<std::vector<size_t>> ReadPorts(const JsonPlace& file,
                                               const char* member) {
    const auto ports = file.Find(member);
    if (!ports) return std::vector<size_t>();
    return ReadList(*ports, &JsonPlace::Id);
  }

  // Fills `op` as far as it comes, for its name in messages.
  Status ReadOp(const JsonPlace& place, Op* op) {
    knows_op_ = false;
    TIM_ASSIGN_OR_RETURN(const JsonPlace id, place.Member("id"));
    TIM_ASSIGN_OR_RETURN(op->id, id.Id());
    knows_op_ = true;
    if (const auto name = place.Find("name")) {
      TIM_ASSIGN_OR_RETURN(op->name, name->Text());
    }
    TIM_ASSIGN_OR_RETURN(const JsonPlace kind, place.Member("kind"));
    TIM_RETURN_IF_ERROR(ReadKind(kind, op));
    if (const auto attributes = place.Find("attrs")) {
      TIM_RETURN_IF_ERROR(ReadAttributes(*attributes, op));
    }
    TIM_RETURN_IF_ERROR(ReadTensors(place, "inputs", &op->inputs));
    return ReadTensors(place, "outputs", &op->outputs);
  }

  static Status ReadKind(const JsonPlace& place, Op* op) {
    TIM_ASSIGN_OR_RETURN(const std::string name, place.Text());
    const auto kind = KindNamed(name);
    if (!kind) {
      return place.Refuse(
          "a kind of operation (docs/graph_operations.md has them), or "
          "\"domain.name@version\" of one that is registered");
    }
    op->kind = *kind;
    return OkStatus();
  }

  Status ReadAttributes(const JsonPlace& place, Op* op) {
    TIM_RETURN_IF_ERROR(place.RequireObject());
    for (const auto& item : place.value().items()) {
      const std::string& name = item.key();
      const JsonPlace value = place.At(name);
      if (const auto* own = NamedAttributeOf(*op, name)) {
        TIM_ASSIGN_OR_RETURN(op->named[name], ReadTyped(value, own->type));
        continue;
      }
      if (IsNoteOfDump(name)) continue;
      const auto attribute = AttributeNamed(name);
      if (!attribute) {
        Ignore(StrCat("attribute '", name, "'"));
        continue;
      }
      TIM_ASSIGN_OR_RETURN(AttributeValue read,
                           ReadTyped(value, graph::TypeOf(*attribute)));
      op->attributes.insert_or_assign(*attribute, std::move(read));
    }
    return OkStatus();
  }

  static Status ReadTensors(const JsonPlace& op, const char* member,
                            std::vector<LogicalTensor>* tensors) {
    const auto list = op.Find(member);
    if (!list || list->value() == "") return OkStatus();
    TIM_RETURN_IF_ERROR(list->RequireArray());
    for (size_t i = 0; i < list->value().size(); ++i) {
      TIM_ASSIGN_OR_RETURN(tensors->emplace_back(),
                           ReadLogicalTensor(list->At(i)));
    }
    return OkStatus();
  }

  static std::string NameOf(const Op& op) {
    return op.name.empty() ? StrCat("op ", op.id)
                           : StrCat("op ", op.id, " '", op.name, "'");
  }

  void Ignore(std::string what) {
    auto& all = graph_.ignored;
    if (std::find(all.begin(), all.end(), what) == all.end()) {
      all.push_back(std::move(what));
    }
  }

  GraphJson graph_;
  bool knows_op_ = false;  ///< The id of the op that is read.
};

}  // namespace

Result<GraphJson> ReadGraphJson(std::string_view text) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text));
  return Reader().Read(JsonPlace(json, ""));
}

}  // namespace tim::tool
