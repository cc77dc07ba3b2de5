// Finds which values are floats, integers and booleans.
#include "expr/types.h"

#include <algorithm>

#include "expr/token.h"

namespace tim::expr {
namespace {

using ir::DataType;

bool IsNumber(ValueKind kind) { return kind != ValueKind::kBool; }

ValueKind Mixed(ValueKind a, ValueKind b) {
  return a == ValueKind::kFloat || b == ValueKind::kFloat ? ValueKind::kFloat
                                                          : ValueKind::kInteger;
}

class Checker {
 public:
  Checker(const Program& program, Types* types)
      : program_(program), types_(*types) {}

  Status Run(size_t statement);

 private:
  Status Misfit(const Expr& node, std::string_view expected, ValueKind found) {
    return TextError(program_.text, node.offset, expected, ToString(found));
  }
  Result<ValueKind> Node(const Expr& node);
  Result<ValueKind> Named(const Expr& node);
  Result<ValueKind> Unary(const Expr& node);
  Result<ValueKind> Binary(const Expr& node);
  Result<ValueKind> Call(const Expr& node);
  Result<ValueKind> Choice(const Expr& node);
  Status Store(const Statement& statement, const StatementInfo& info);

  ValueKind Operand(const Expr& node, size_t k) const {
    return (*kinds_)[node.operands[k]];
  }

  const Program& program_;
  Types& types_;
  std::vector<ValueKind>* kinds_ = nullptr;
};

Result<ValueKind> Checker::Named(const Expr& node) {
  if (node.refers == NameKind::kTensor) {
    return KindOf(types_.tensors[node.index]);
  }
  if (node.refers != NameKind::kAttribute) return ValueKind::kInteger;
  switch (program_.syntax.attributes[node.index].type) {
    case ir::AttributeType::kBool:
      return ValueKind::kBool;
    case ir::AttributeType::kFloat:
    case ir::AttributeType::kFloats:
      return ValueKind::kFloat;
    default:
      return ValueKind::kInteger;
  }
}

Result<ValueKind> Checker::Unary(const Expr& node) {
  const ValueKind kind = Operand(node, 0);
  if (node.op == Operator::kNot) {
    if (kind == ValueKind::kBool) return kind;
    return Misfit(node, "a boolean behind '!'", kind);
  }
  if (IsNumber(kind)) return kind;
  return Misfit(node, "a number behind '-'", kind);
}

Result<ValueKind> Checker::Binary(const Expr& node) {
  const ValueKind a = Operand(node, 0);
  const ValueKind b = Operand(node, 1);
  const std::string name = StrCat("'", TextOf(node.op), "'");
  const bool both_bool = a == ValueKind::kBool && b == ValueKind::kBool;
  const bool numbers = IsNumber(a) && IsNumber(b);
  const ValueKind odd = IsNumber(a) ? b : a;
  switch (node.op) {
    case Operator::kAnd:
    case Operator::kOr:
      if (both_bool) return ValueKind::kBool;
      return Misfit(node, StrCat("booleans beside ", name),
                    a == ValueKind::kBool ? b : a);
    case Operator::kEqual:
    case Operator::kNotEqual:
      if (both_bool || numbers) return ValueKind::kBool;
      return Misfit(node, StrCat("two numbers or two booleans beside ", name),
                    odd);
    case Operator::kModulo:
      if (a == ValueKind::kInteger && b == a) return a;
      return Misfit(node, StrCat("integers beside ", name),
                    a == ValueKind::kInteger ? b : a);
    default:
      break;
  }
  if (!numbers) return Misfit(node, StrCat("numbers beside ", name), odd);
  const ValueKind mixed = Mixed(a, b);
  if (node.op == Operator::kDivide && mixed == ValueKind::kInteger) {
    return Misfit(node, "a float beside '/' (integers have div)", mixed);
  }
  const bool compares =
      node.op >= Operator::kLess && node.op <= Operator::kGreaterEqual;
  return compares ? ValueKind::kBool : mixed;
}

Result<ValueKind> Checker::Choice(const Expr& node) {
  if (Operand(node, 0) != ValueKind::kBool) {
    return Misfit(node, "a boolean as the condition", Operand(node, 0));
  }
  const ValueKind a = Operand(node, 1);
  const ValueKind b = Operand(node, 2);
  if (IsNumber(a) && IsNumber(b)) return Mixed(a, b);
  if (a == b) return a;
  return Misfit(node, "two numbers or two booleans to choose from",
                IsNumber(a) ? b : a);
}

Result<ValueKind> Checker::Call(const Expr& node) {
  const FunctionDef& function = FunctionAt(node.index);
  if (function.rule == FunctionRule::kSelect) return Choice(node);
  if (function.rule == FunctionRule::kToReal) return ValueKind::kFloat;
  if (function.rule == FunctionRule::kToInteger) return ValueKind::kInteger;
  ValueKind kind = ValueKind::kInteger;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const ValueKind argument = Operand(node, k);
    const bool integers = function.rule == FunctionRule::kInteger;
    if (!IsNumber(argument) || (integers && argument == ValueKind::kFloat)) {
      return Misfit(
          node,
          StrCat(integers ? "integers in " : "numbers in ", function.name),
          argument);
    }
    kind = Mixed(kind, argument);
  }
  return function.rule == FunctionRule::kReal ? ValueKind::kFloat : kind;
}

Result<ValueKind> Checker::Node(const Expr& node) {
  switch (node.kind) {
    case Expr::Kind::kInteger:
      return ValueKind::kInteger;
    case Expr::Kind::kFloat:
      return ValueKind::kFloat;
    case Expr::Kind::kBool:
      return ValueKind::kBool;
    case Expr::Kind::kName:
    case Expr::Kind::kAccess:
      return Named(node);
    case Expr::Kind::kCall:
      return Call(node);
    case Expr::Kind::kUnary:
      return Unary(node);
    case Expr::Kind::kBinary:
      return Binary(node);
    case Expr::Kind::kChoice:
      return Choice(node);
  }
  return TIM_INTERNAL("no such node");
}

Status Checker::Store(const Statement& statement, const StatementInfo& info) {
  const ValueKind kind = (*kinds_)[statement.value];
  const Expr& value = statement.nodes[statement.value];
  if (kind == ValueKind::kBool && statement.aggregate != Aggregate::kNone &&
      statement.aggregate != Aggregate::kAssign) {
    return TextError(
        program_.text, statement.aggregate_offset,
        "'=' where a boolean is aggregated",
        StrCat("'", program_.text[statement.aggregate_offset], "'"));
  }
  DataType& type = types_.tensors[info.tensor];
  if (type == DataType::kUnknown) type = TypeOf(kind);
  if ((KindOf(type) == ValueKind::kBool) == (kind == ValueKind::kBool)) {
    return OkStatus();
  }
  return Misfit(value,
                StrCat("a value for '", statement.name.text, "', which is ",
                       ir::ToString(type)),
                kind);
}

Status Checker::Run(size_t i) {
  const Statement& statement = program_.statement(i);
  const StatementInfo& info = program_.statements[i];
  kinds_ = &types_.nodes[i];
  kinds_->resize(statement.nodes.size(), ValueKind::kInteger);
  for (int n = info.first_node; n <= statement.value; ++n) {
    if (info.in_index[n]) continue;
    TIM_ASSIGN_OR_RETURN((*kinds_)[n], Node(statement.nodes[n]));
  }
  return Store(statement, info);
}

std::vector<DataType> TypesOfInput(const TensorDef& def) {
  if (!def.same_float) return def.types;
  return {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16};
}

}  // namespace

ValueKind KindOf(DataType type) {
  if (ir::IsFloat(type)) return ValueKind::kFloat;
  return type == DataType::kBool8 ? ValueKind::kBool : ValueKind::kInteger;
}

DataType TypeOf(ValueKind kind) {
  constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kInt64,
                                 DataType::kBool8};
  return kTypes[static_cast<int>(kind)];
}

Result<Types> TypesOf(const Program& program,
                      std::span<const DataType> inputs) {
  Types types;
  types.tensors.resize(program.tensors.size(), DataType::kUnknown);
  types.nodes.resize(program.statements.size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    types.tensors[program.inputs[i]] = inputs[i];
  }
  for (const int output : program.outputs) {
    const TensorDef& def = program.tensors[output];
    if (def.natural) continue;
    types.tensors[output] = !def.types.empty() ? def.types[0]
                            : inputs.empty()   ? DataType::kFloat32
                                               : inputs[0];
  }
  Checker checker(program, &types);
  for (size_t i = 0; i < program.statements.size(); ++i) {
    TIM_RETURN_IF_ERROR(checker.Run(i));
  }
  return types;
}

Status CheckInputTypes(const Program& program,
                       std::span<const DataType> inputs) {
  DataType same = DataType::kUnknown;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorDef& def = program.tensors[program.inputs[i]];
    const std::vector<DataType> legal = TypesOfInput(def);
    if (std::find(legal.begin(), legal.end(), inputs[i]) == legal.end()) {
      std::string names;
      for (const DataType type : legal) {
        names += StrCat(names.empty() ? "" : ", ", ir::ToString(type));
      }
      return InvalidArgument("input ", i, " ('", def.name.text, "') is ",
                             ir::ToString(inputs[i]), ", expected ", names);
    }
    if (!def.same_float) continue;
    if (same == DataType::kUnknown) same = inputs[i];
    if (same == inputs[i]) continue;
    return InvalidArgument("input ", i, " ('", def.name.text, "') is ",
                           ir::ToString(inputs[i]), ", others without a type ",
                           ir::ToString(same), "; make them equal");
  }
  return OkStatus();
}

Status CheckAllKinds(const Program& program) {
  constexpr size_t kMostCombinations = 81;
  std::vector<std::vector<DataType>> combinations = {{}};
  for (const int input : program.inputs) {
    std::vector<DataType> kinds;
    for (const DataType type : TypesOfInput(program.tensors[input])) {
      const bool known = std::any_of(
          kinds.begin(), kinds.end(),
          [type](DataType other) { return KindOf(type) == KindOf(other); });
      if (!known) kinds.push_back(type);
    }
    if (combinations.size() * kinds.size() > kMostCombinations) kinds.resize(1);
    std::vector<std::vector<DataType>> longer;
    for (const std::vector<DataType>& types : combinations) {
      for (const DataType type : kinds) {
        longer.push_back(types);
        longer.back().push_back(type);
      }
    }
    combinations = std::move(longer);
  }
  for (const std::vector<DataType>& types : combinations) {
    TIM_RETURN_IF_ERROR(TypesOf(program, types).status());
  }
  return OkStatus();
}

}  // namespace tim::expr
