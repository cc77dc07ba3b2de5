// Reads definitions of operations that applications register, and says what is
// wrong with them.
#include "graph_api/definition.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "graph_api/error.h"

namespace tim::graph {
namespace {

// "demo", or "com.example".
Status CheckDomain(std::string_view domain) {
  for (const std::string_view taken : {"tim", "user", "lite", "file"}) {
    if (domain != taken) continue;
    return InvalidArgument("the domain '", domain,
                           "' is the library's own; take another one");
  }
  for (size_t begin = 0; begin <= domain.size();) {
    const size_t end = std::min(domain.find('.', begin), domain.size());
    TIM_RETURN_IF_ERROR(CheckIdentifier("a part of the domain",
                                        domain.substr(begin, end - begin)));
    begin = end + 1;
  }
  return OkStatus();
}

Status CheckNames(const ExtendedOp& op) {
  TIM_RETURN_IF_ERROR(CheckDomain(op.domain));
  TIM_RETURN_IF_ERROR(CheckIdentifier("the name", op.name));
  if (op.version >= 1) return OkStatus();
  return InvalidArgument("the version is ", op.version, ", expected 1 or more");
}

std::string NamesOf(const Types& types) {
  std::vector<std::string> names;
  for (const tim_graph_data_type_t type : types) {
    names.emplace_back(tim_graph_dt2str(type));
  }
  return StrJoin(names, ", ");
}

Result<ExtendedParam> ReadParam(const char* what,
                                const tim_graph_op_param_t& from) {
  ExtendedParam param{.name = std::string(TextOf(from.name)),
                      .types = {},
                      .optional = from.optional != 0};
  TIM_RETURN_IF_ERROR(
      CheckIdentifier(StrCat("the name of an ", what), param.name));
  if (from.num_types == 0) param.types = ExtendedTypes();
  for (size_t i = 0; i < from.num_types; ++i) {
    TIM_RETURN_IF_ERROR(RequireNotNull(from.types, "list of types"));
    const tim_graph_data_type_t type = from.types[i];
    const Types& legal = ExtendedTypes();
    if (std::find(legal.begin(), legal.end(), type) == legal.end()) {
      return InvalidArgument(what, " '", param.name, "' has the type ",
                             tim_graph_dt2str(type), ", expected some of ",
                             NamesOf(legal));
    }
    param.types.push_back(type);
  }
  return param;
}

Result<ExtendedSide> ReadSide(const char* what, size_t count,
                              const tim_graph_op_param_t* from, int variadic) {
  ExtendedSide side;
  side.variadic = variadic != 0;
  if (count > kMostVariadic) {
    return InvalidArgument(count, " ", what, "s, expected at most ",
                           kMostVariadic);
  }
  if (count != 0) TIM_RETURN_IF_ERROR(RequireNotNull(from, what));
  for (size_t i = 0; i < count; ++i) {
    TIM_ASSIGN_OR_RETURN(ExtendedParam param, ReadParam(what, from[i]));
    if (!param.optional && !side.params.empty() &&
        side.params.back().optional) {
      return InvalidArgument(
          what, " '", param.name, "' is required and stands behind '",
          side.params.back().name, "', which is optional; put it in front");
    }
    side.params.push_back(std::move(param));
  }
  if (count == 0 && side.variadic) {
    return InvalidArgument("the last ", what, " repeats, and there is none");
  }
  return side;
}

Status CheckParamNames(const ExtendedOp& op) {
  std::set<std::string> names;
  for (const ExtendedSide* side : {&op.inputs, &op.outputs}) {
    for (const ExtendedParam& param : side->params) {
      if (names.insert(param.name).second) continue;
      return InvalidArgument("two operands are called '", param.name, "'");
    }
  }
  return OkStatus();
}

Status CheckOperands(const ExtendedOp& op) {
  if (op.inputs.params.empty()) {
    return InvalidArgument("there is no input; an operation has one or more");
  }
  if (op.outputs.params.empty() || op.outputs.params[0].optional) {
    return InvalidArgument("there is no required output; an operation has one");
  }
  return CheckParamNames(op);
}

ExtendedParam* FindParam(ExtendedOp* op, std::string_view name) {
  for (ExtendedSide* side : {&op->inputs, &op->outputs}) {
    for (ExtendedParam& param : side->params) {
      if (param.name == name) return &param;
    }
  }
  return nullptr;
}

Status ReadSameTypes(const tim_graph_name_list_t& list, int number,
                     ExtendedOp* op) {
  const ExtendedParam* first = nullptr;
  if (list.num_names != 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(list.names, "list of same_types"));
  }
  for (size_t i = 0; i < list.num_names; ++i) {
    const std::string_view name = TextOf(list.names[i]);
    ExtendedParam* const param = FindParam(op, name);
    if (param == nullptr) {
      return InvalidArgument("same_types names '", name,
                             "', which is no operand");
    }
    if (param->same >= 0) {
      return InvalidArgument("same_types names '", name, "' twice");
    }
    param->same = number;
    if (first == nullptr) first = param;
    if (param->types == first->types) continue;
    return InvalidArgument("same_types has '", first->name, "' of ",
                           NamesOf(first->types), " and '", param->name,
                           "' of ", NamesOf(param->types),
                           ", expected equal lists of types");
  }
  return OkStatus();
}

Status CheckBehaviour(const ExtendedOp& op) {
  if (op.decompose == nullptr && op.host == nullptr && !op.kernel.exists()) {
    return InvalidArgument(
        "there is nothing that computes it: give it one or more of expression, "
        "decompose, host and kernel");
  }
  if (op.infer_shapes == nullptr && op.decompose == nullptr) {
    return InvalidArgument(
        "infer_shapes is missing, which host and kernel need");
  }
  if (!op.kernel.exists() || IsIdentifier(op.kernel.function)) {
    return OkStatus();
  }
  return InvalidArgument("the kernel's function is '", op.kernel.function,
                         "', expected the name of one in its source");
}

Status ReadOwnBehaviour(const tim_graph_op_definition_t& definition,
                        ExtendedOp* op) {
  op->infer_shapes = definition.infer_shapes;
  op->decompose = definition.decompose;
  op->host = definition.host;
  op->kernel = {.source = std::string(TextOf(definition.kernel.source)),
                .function = std::string(TextOf(definition.kernel.function)),
                .options = std::string(TextOf(definition.kernel.options)),
                .launch = definition.kernel.launch};
  op->user = definition.user;
  const std::string_view text = TextOf(definition.expression);
  if (text.empty()) {
    TIM_RETURN_IF_ERROR(CheckOperands(*op));
    return CheckBehaviour(*op);
  }
  if (op->infer_shapes != nullptr || op->decompose != nullptr ||
      op->host != nullptr || op->kernel.exists()) {
    return InvalidArgument(
        "an expression says all that infer_shapes, decompose, host and kernel "
        "say; give it without them");
  }
  if (!op->attributes.empty() || definition.num_same_types != 0) {
    return InvalidArgument(
        "an expression declares its attributes and types itself; give it "
        "without attributes and same_types");
  }
  return ReadExpression(text, op);
}

Status Read(const tim_graph_op_definition_t& definition, ExtendedOp* op) {
  TIM_RETURN_IF_ERROR(CheckNames(*op));
  TIM_ASSIGN_OR_RETURN(
      op->inputs, ReadSide("input", definition.num_inputs, definition.inputs,
                           definition.variadic_inputs));
  TIM_ASSIGN_OR_RETURN(
      op->outputs, ReadSide("output", definition.num_outputs,
                            definition.outputs, definition.variadic_outputs));
  if (definition.num_same_types != 0) {
    TIM_RETURN_IF_ERROR(
        RequireNotNull(definition.same_types, "list of same_types"));
  }
  for (size_t i = 0; i < definition.num_same_types; ++i) {
    TIM_RETURN_IF_ERROR(
        ReadSameTypes(definition.same_types[i], static_cast<int>(i), op));
  }
  TIM_RETURN_IF_ERROR(ReadAttributes(definition, op));
  return ReadOwnBehaviour(definition, op);
}

}  // namespace

std::string_view TextOf(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

Status CheckIdentifier(std::string_view what, std::string_view text) {
  if (IsIdentifier(text)) return OkStatus();
  return InvalidArgument(what, " is '", text,
                         "', expected a letter or _, then letters, digits and "
                         "_");
}

Result<ExtendedOp> ReadDefinition(const tim_graph_op_definition_t& definition) {
  ExtendedOp op;
  op.domain = TextOf(definition.domain);
  op.name = TextOf(definition.name);
  op.version = definition.version;
  const Status status = Read(definition, &op);
  if (status.ok()) return op;
  return status.WithContext(StrCat("definition of ", op.Key()));
}

}  // namespace tim::graph
