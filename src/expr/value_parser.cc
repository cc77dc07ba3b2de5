// Reads values, indices and sizes by precedence.
#include "expr/value_parser.h"

#include <array>
#include <limits>
#include <utility>

namespace tim::expr {
namespace {

struct OperatorText {
  Operator op;
  const char* text;
  int level;  // Binary operators of a higher level bind closer.
};

constexpr int kSumLevel = 4;
constexpr int kLevels = 6;
constexpr int kUnaryLevel = kLevels;

constexpr std::array<OperatorText, 15> kOperators = {{
    {Operator::kOr, "||", 0},
    {Operator::kAnd, "&&", 1},
    {Operator::kEqual, "==", 2},
    {Operator::kNotEqual, "!=", 2},
    {Operator::kLess, "<", 3},
    {Operator::kLessEqual, "<=", 3},
    {Operator::kGreater, ">", 3},
    {Operator::kGreaterEqual, ">=", 3},
    {Operator::kAdd, "+", kSumLevel},
    {Operator::kSubtract, "-", kSumLevel},
    {Operator::kMultiply, "*", 5},
    {Operator::kDivide, "/", 5},
    {Operator::kModulo, "%", 5},
    {Operator::kNegate, "-", kUnaryLevel},
    {Operator::kNot, "!", kUnaryLevel},
}};

const OperatorText* Find(const Token& token, int level) {
  for (const OperatorText& entry : kOperators) {
    if (entry.level == level && token.Is(entry.text)) return &entry;
  }
  return nullptr;
}

}  // namespace

const char* TextOf(Operator op) {
  for (const OperatorText& entry : kOperators) {
    if (entry.op == op) return entry.text;
  }
  return "?";
}

int ValueParser::Add(Expr node) {
  statement_.nodes.push_back(std::move(node));
  return static_cast<int>(statement_.nodes.size()) - 1;
}

Status ValueParser::Enter(size_t offset) {
  if (++depth_ <= kMostNesting) return OkStatus();
  return cursor_.ErrorAt(offset, StrCat("at most ", kMostNesting, " levels"),
                         "one more");
}

Result<int> ValueParser::Value() {
  TIM_RETURN_IF_ERROR(Enter(cursor_.Peek().offset));
  TIM_ASSIGN_OR_RETURN(int value, Binary(0));
  if (cursor_.Peek().Is("?")) {
    const size_t offset = cursor_.Take().offset;
    TIM_ASSIGN_OR_RETURN(const int yes, Value());
    TIM_RETURN_IF_ERROR(cursor_.Expect(":"));
    TIM_ASSIGN_OR_RETURN(const int no, Value());
    value = Add({.kind = Expr::Kind::kChoice,
                 .offset = offset,
                 .operands = {value, yes, no}});
  }
  --depth_;
  return value;
}

Result<int> ValueParser::Sum() {
  TIM_RETURN_IF_ERROR(Enter(cursor_.Peek().offset));
  TIM_ASSIGN_OR_RETURN(const int sum, Binary(kSumLevel));
  --depth_;
  return sum;
}

Result<int> ValueParser::Binary(int level) {
  if (level == kLevels) return Unary();
  TIM_ASSIGN_OR_RETURN(int left, Binary(level + 1));
  while (const OperatorText* entry = Find(cursor_.Peek(), level)) {
    const size_t offset = cursor_.Take().offset;
    TIM_ASSIGN_OR_RETURN(const int right, Binary(level + 1));
    left = Add({.kind = Expr::Kind::kBinary,
                .offset = offset,
                .op = entry->op,
                .operands = {left, right}});
  }
  return left;
}

Result<int> ValueParser::Unary() {
  std::vector<std::pair<Operator, size_t>> signs;
  while (const OperatorText* entry = Find(cursor_.Peek(), kUnaryLevel)) {
    signs.emplace_back(entry->op, cursor_.Take().offset);
  }
  TIM_ASSIGN_OR_RETURN(int value, Primary());
  for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) {
    value = Add({.kind = Expr::Kind::kUnary,
                 .offset = sign->second,
                 .op = sign->first,
                 .operands = {value}});
  }
  return value;
}

Result<int> ValueParser::Primary() {
  const Token token = cursor_.Peek();
  if (token.kind == TokenKind::kInteger) {
    cursor_.Take();
    return Add({.kind = Expr::Kind::kInteger,
                .offset = token.offset,
                .integer = token.integer});
  }
  if (token.kind == TokenKind::kFloat || token.IsWord("inf")) {
    cursor_.Take();
    const bool number = token.kind == TokenKind::kFloat;
    return Add({.kind = Expr::Kind::kFloat,
                .offset = token.offset,
                .real = number ? token.real
                               : std::numeric_limits<double>::infinity()});
  }
  if (token.IsWord("true") || token.IsWord("false")) {
    cursor_.Take();
    return Add({.kind = Expr::Kind::kBool,
                .offset = token.offset,
                .integer = token.text == "true"});
  }
  if (cursor_.Accept("(")) {
    TIM_ASSIGN_OR_RETURN(const int value, Value());
    TIM_RETURN_IF_ERROR(cursor_.Expect(")"));
    return value;
  }
  return Named();
}

Result<int> ValueParser::Named() {
  TIM_ASSIGN_OR_RETURN(Name name, cursor_.TakeName("a number, a name or '('"));
  Expr node{.kind = Expr::Kind::kName,
            .offset = name.offset,
            .name = std::move(name.text)};
  if (cursor_.Accept("(")) {
    node.kind = Expr::Kind::kCall;
    TIM_RETURN_IF_ERROR(Operands(")", true, &node.operands));
  } else if (cursor_.Accept("[")) {
    node.kind = Expr::Kind::kAccess;
    TIM_RETURN_IF_ERROR(Operands("]", false, &node.operands));
  }
  return Add(std::move(node));
}

Status ValueParser::Operands(std::string_view end, bool values,
                             std::vector<int>* out) {
  if (cursor_.Accept(end)) return OkStatus();
  do {
    TIM_ASSIGN_OR_RETURN(const int operand, values ? Value() : Sum());
    out->push_back(operand);
  } while (cursor_.Accept(","));
  return cursor_.Expect(end);
}

}  // namespace tim::expr
