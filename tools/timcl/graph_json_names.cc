// Finds enumerators of tim::graph by their names in files.
#include "tools/timcl/graph_json_names.h"

#include <algorithm>
#include <iterator>

#include "graph_api/extended_ops.h"

namespace tim::tool {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void Replace(std::string_view from, std::string_view to, std::string* text) {
  const size_t at = text->find(from);
  if (at != std::string::npos) text->replace(at, from.size(), to);
}

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

template <typename Value, size_t count>
std::optional<Value> FindIn(const Named<Value> (&rows)[count],
                            std::string_view name) {
  const std::string lower = Lower(name);
  const auto* row =
      std::find_if(std::begin(rows), std::end(rows),
                   [&](const Named<Value>& one) { return one.name == lower; });
  if (row == std::end(rows)) return std::nullopt;
  return row->value;
}

// The enumerator up to `last` whose name `to_string` gives.
template <typename Value>
std::optional<Value> FindBy(const char* (*to_string)(Value), int last,
                            std::string_view name) {
  const std::string lower = Lower(name);
  for (int number = 0; number <= last; ++number) {
    const auto value = static_cast<Value>(number);
    if (lower == to_string(value)) return value;
  }
  return std::nullopt;
}

const graph::OpDef* DefNamed(const std::string& lower) {
  for (const graph::OpDef* def : graph::BuiltinOps().All()) {
    if (Lower(def->name) == lower) return def;
  }
  return nullptr;
}

}  // namespace

std::optional<tim_graph_op_kind_t> KindNamed(std::string_view name) {
  const graph::OpDef* def = graph::BuiltinOps().Find(name);
  if (def != nullptr) return def->kind;
  std::string lower = Lower(name);
  Replace("backprop", "backward", &lower);
  Replace("filters", "weights", &lower);
  Replace("hardtanh", "clamp", &lower);
  def = DefNamed(lower);
  if (def == nullptr) def = graph::FindOpNamed(name);
  if (def == nullptr) return std::nullopt;
  return def->kind;
}

std::optional<tim_graph_op_attr_t> AttributeNamed(std::string_view name) {
  static constexpr Named<tim_graph_op_attr_t> kOlder[] = {
      {"filter_format", tim_graph_op_attr_weights_format},
      {"filter_shape", tim_graph_op_attr_weights_shape},
      {"input_shape", tim_graph_op_attr_src_shape},
      {"output_shape", tim_graph_op_attr_dst_shape},
  };
  for (int number = 1; number < tim_graph_op_attr_end; ++number) {
    const auto attribute = static_cast<tim_graph_op_attr_t>(number);
    if (!graph::IsAttribute(attribute)) continue;
    if (graph::NameOf(attribute) == name) return attribute;
  }
  return FindIn(kOlder, name);
}

bool IsNoteOfDump(std::string_view attribute) {
  constexpr std::string_view kNotes[] = {"backend", "matched", "op_depth",
                                         "partition_id"};
  return std::find(std::begin(kNotes), std::end(kNotes), attribute) !=
         std::end(kNotes);
}

std::optional<tim_graph_data_type_t> DataTypeNamed(std::string_view name) {
  static constexpr Named<tim_graph_data_type_t> kOthers[] = {
      {"bool", tim_graph_boolean},
      {"unknown", tim_graph_data_type_undef},
      {"data_type_undef", tim_graph_data_type_undef}};
  const auto type = FindBy(&tim_graph_dt2str, tim_graph_s64, name);
  return type ? type : FindIn(kOthers, name);
}

std::optional<tim_graph_layout_type_t> LayoutNamed(std::string_view name) {
  static constexpr Named<tim_graph_layout_type_t> kRows[] = {
      {"undef", tim_graph_layout_type_undef},
      {"any", tim_graph_layout_type_any},
      {"strided", tim_graph_layout_type_strided},
      {"opaque", tim_graph_layout_type_opaque}};
  return FindIn(kRows, name);
}

std::optional<tim_graph_tensor_property_t> PropertyNamed(
    std::string_view name) {
  static constexpr Named<tim_graph_tensor_property_t> kRows[] = {
      {"undef", tim_graph_tensor_property_undef},
      {"variable", tim_graph_tensor_property_variable},
      {"constant", tim_graph_tensor_property_constant},
      {"host_scalar", tim_graph_tensor_property_host_scalar}};
  return FindIn(kRows, name);
}

std::optional<tim_graph_engine_kind_t> EngineKindNamed(std::string_view name) {
  return FindBy(&tim_graph_engine_kind2str, tim_graph_gpu, name);
}

std::optional<tim_graph_fpmath_mode_t> FpmathModeNamed(std::string_view name) {
  return FindBy(&tim_graph_fpmath_mode2str, tim_graph_fpmath_mode_tf32, name);
}

}  // namespace tim::tool
