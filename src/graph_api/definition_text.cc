// Reads a definition that is a text.
#include <algorithm>
#include <vector>

#include "graph_api/definition.h"
#include "graph_api/lowering.h"

namespace tim::graph {
namespace {

Types TypesFrom(const std::vector<ir::DataType>& inner) {
  Types types;
  for (const tim_graph_data_type_t type : ExtendedTypes()) {
    if (std::find(inner.begin(), inner.end(), InnerType(type)) != inner.end()) {
      types.push_back(type);
    }
  }
  return types;
}

Status ReadTextSide(const char* what, const expr::Program& program,
                    const std::vector<int>& tensors, ExtendedSide* side) {
  const bool given = !side->params.empty();
  if (side->variadic || (given && side->params.size() != tensors.size())) {
    return InvalidArgument("the definition gives ", side->params.size(), " ",
                           what, "s, the expression has ", tensors.size());
  }
  side->params.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const expr::TensorDef& tensor = program.tensors[tensors[i]];
    ExtendedParam& param = side->params[i];
    if (!given) param.name = tensor.name.text;
    if (param.optional) {
      return InvalidArgument(what, " '", param.name,
                             "' is optional; an expression has all operands");
    }
    if (tensor.input < 0) continue;  // of a result the types follow
    if (!given) param.types = TypesFrom(tensor.types);
    if (tensor.same_float) param.same = 0;
  }
  return OkStatus();
}

AttributeValue ValueOf(const ir::Attribute& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return static_cast<float>(*real);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    return Floats(reals->begin(), reals->end());
  }
  if (const auto* ints = std::get_if<Dims>(&value)) return *ints;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const auto* number = std::get_if<int64_t>(&value);
  return number != nullptr ? *number : 0;
}

// An expression has no strings.
AttributeType TypeFrom(ir::AttributeType type) {
  switch (type) {
    case ir::AttributeType::kBool:
      return AttributeType::kBool;
    case ir::AttributeType::kFloat:
      return AttributeType::kFloat;
    case ir::AttributeType::kFloats:
      return AttributeType::kFloats;
    case ir::AttributeType::kInts:
      return AttributeType::kInts;
    default:
      return AttributeType::kInt;
  }
}

}  // namespace

Status ReadExpression(std::string_view text, ExtendedOp* op) {
  auto program = expr::ReadProgram(text);
  if (!program.ok()) return program.status().WithContext("expression");
  op->program = *std::move(program);
  TIM_RETURN_IF_ERROR(
      ReadTextSide("input", *op->program, op->program->inputs, &op->inputs));
  TIM_RETURN_IF_ERROR(
      ReadTextSide("output", *op->program, op->program->outputs, &op->outputs));
  for (const expr::AttributeDef& from : op->program->syntax.attributes) {
    NamedAttributeDef& attribute = op->attributes.emplace_back();
    attribute.name = from.name.text;
    attribute.type = TypeFrom(from.type);
    if (from.default_value) {
      attribute.default_value = ValueOf(*from.default_value);
    }
  }
  return OkStatus();
}

}  // namespace tim::graph
