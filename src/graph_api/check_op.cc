// Checks one operation against the record of its kind.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/extended_ops.h"
#include "graph_api/named_attributes.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

std::string Quoted(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += StrCat(all.empty() ? "'" : ", '", text, "'");
  }
  return all;
}

std::string NamesOf(const Types& types) {
  std::string all;
  for (const tim_graph_data_type_t type : types) {
    all += StrCat(all.empty() ? "" : ", ", tim_graph_dt2str(type));
  }
  return all;
}

/// Inputs or outputs of an op, with what its record says of them.
struct Side {
  const char* what;
  const std::vector<OperandDef>& defs;
  const std::vector<LogicalTensor>& tensors;
  size_t most;
  const std::vector<size_t>& counts;

  size_t Required() const {
    return static_cast<size_t>(
        std::count_if(defs.begin(), defs.end(),
                      [](const OperandDef& def) { return !def.optional; }));
  }
  size_t Most() const { return std::max(most, defs.size()); }
  const OperandDef& DefOf(size_t index) const {
    return defs[std::min(index, defs.size() - 1)];
  }
};

Status CheckCount(const Side& side) {
  const size_t found = side.tensors.size();
  if (!side.counts.empty()) {
    if (std::find(side.counts.begin(), side.counts.end(), found) !=
        side.counts.end()) {
      return OkStatus();
    }
    return InvalidArgument("expected ", StrJoin(side.counts, " or "), " ",
                           side.what, "s, found ", found);
  }
  if (found >= side.Required() && found <= side.Most()) return OkStatus();
  if (side.Required() == side.Most()) {
    return InvalidArgument("expected ", side.Required(), " ", side.what,
                           "s, found ", found);
  }
  return InvalidArgument("expected ", side.Required(), " to ", side.Most(), " ",
                         side.what, "s, found ", found);
}

// `fixed`: the types that variables have by operands before.
Status CheckTypes(const OpDef& def, const Side& side,
                  std::map<std::string, tim_graph_data_type_t>* fixed) {
  for (size_t i = 0; i < side.tensors.size(); ++i) {
    const OperandDef& operand = side.DefOf(i);
    const auto variable = std::find_if(
        def.types.begin(), def.types.end(),
        [&](const TypeVariable& type) { return type.name == operand.type; });
    if (variable == def.types.end()) continue;  // any type
    const tim_graph_data_type_t type = side.tensors[i].data_type;
    const std::string name = StrCat(side.what, " ", i, " ('", operand.name,
                                    "') of type ", tim_graph_dt2str(type));
    if (std::find(variable->types.begin(), variable->types.end(), type) ==
        variable->types.end()) {
      return InvalidArgument(name, ", expected ", NamesOf(variable->types));
    }
    const auto [known, is_first] = fixed->emplace(variable->name, type);
    if (!is_first && known->second != type) {
      return InvalidArgument(
          name, ", expected ", tim_graph_dt2str(known->second),
          " as the operands before of type ", variable->name);
    }
  }
  return OkStatus();
}

Status CheckRequired(const OpDef& def, const Op& op) {
  for (const AttributeDef& attribute : def.attributes) {
    if (attribute.optional || attribute.default_value) continue;
    if (op.Has(attribute.attribute)) continue;
    return InvalidArgument("attribute '", NameOf(attribute.attribute),
                           "' is required and was not set");
  }
  return OkStatus();
}

Status CheckAttributeTypes(const Op& op) {
  for (const auto& [attribute, value] : op.attributes) {
    if (!IsAttribute(attribute)) continue;  // refused as not defined
    const AttributeType wanted = TypeOf(attribute);
    if (TypeOf(value) == wanted) continue;
    return InvalidArgument("attribute '", NameOf(attribute), "' is ",
                           ToString(TypeOf(value)), ", expected ",
                           ToString(wanted));
  }
  return OkStatus();
}

Status CheckChoices(const OpDef& def, const Op& op) {
  for (const AttributeDef& attribute : def.attributes) {
    if (attribute.choices.empty() || !op.Has(attribute.attribute)) continue;
    const std::string& text = op.String(attribute.attribute);
    if (std::find(attribute.choices.begin(), attribute.choices.end(), text) !=
        attribute.choices.end()) {
      continue;
    }
    return InvalidArgument("attribute '", NameOf(attribute.attribute), "' is '",
                           text, "', expected one of ",
                           Quoted(attribute.choices));
  }
  return OkStatus();
}

Status CheckDefined(const OpDef& def, const Op& op) {
  for (const auto& [attribute, value] : op.attributes) {
    if (def.Find(attribute) != nullptr) continue;
    if (!IsAttribute(attribute)) {
      return InvalidArgument("attribute number ", static_cast<int>(attribute),
                             " does not exist");
    }
    return InvalidArgument("attribute '", NameOf(attribute),
                           "' is not one that the kind has");
  }
  return OkStatus();
}

Status CheckAgainst(const OpDef& def, const Op& op) {
  const Side inputs = {"input", def.inputs, op.inputs, def.most_inputs,
                       def.input_counts};
  const Side outputs = {"output", def.outputs, op.outputs, def.most_outputs,
                        def.output_counts};
  std::map<std::string, tim_graph_data_type_t> fixed;
  TIM_RETURN_IF_ERROR(CheckCount(inputs));
  TIM_RETURN_IF_ERROR(CheckTypes(def, inputs, &fixed));
  TIM_RETURN_IF_ERROR(CheckCount(outputs));
  TIM_RETURN_IF_ERROR(CheckTypes(def, outputs, &fixed));
  TIM_RETURN_IF_ERROR(CheckRequired(def, op));
  TIM_RETURN_IF_ERROR(CheckAttributeTypes(op));
  TIM_RETURN_IF_ERROR(CheckChoices(def, op));
  TIM_RETURN_IF_ERROR(CheckDefined(def, op));
  TIM_RETURN_IF_ERROR(CheckNamedAttributes(def, op));
  return def.rule ? def.rule(op) : OkStatus();
}

}  // namespace

Status CheckOp(const OpTable& table, Op* op) {
  op->def = table.Find(op->kind);
  if (op->def == nullptr) op->def = FindExtendedOp(op->kind);
  if (op->def == nullptr) {
    return InvalidArgument("op ", op->id, " '", op->name, "': kind number ",
                           static_cast<int>(op->kind),
                           " is none of this library, and none was registered "
                           "with it");
  }
  if (op->name.empty()) op->name = StrCat(op->def->name, "_", op->id);
  ResolveNamedAttributes(*op->def, op);
  for (const AttributeDef& attribute : op->def->attributes) {
    if (attribute.default_value) {
      op->attributes.emplace(attribute.attribute, *attribute.default_value);
    }
  }
  return CheckAgainst(*op->def, *op)
      .WithContext(
          StrCat("op ", op->id, " '", op->name, "' of kind ", op->def->name));
}

}  // namespace tim::graph
