// Reads definitions and statements.
#include "expr/parser.h"

#include <array>
#include <limits>
#include <utility>

#include "expr/cursor.h"
#include "expr/token.h"
#include "expr/value_parser.h"

namespace tim::expr {
namespace {

using ir::AttributeType;
using ir::DataType;

struct TypeName {
  const char* name;
  DataType type;
};
// Names of logical_tensor::data_type that have a counterpart.
constexpr std::array<TypeName, 10> kTypes = {{{"f16", DataType::kFloat16},
                                              {"bf16", DataType::kBFloat16},
                                              {"f32", DataType::kFloat32},
                                              {"s32", DataType::kInt32},
                                              {"s8", DataType::kInt8},
                                              {"u8", DataType::kUint8},
                                              {"boolean", DataType::kBool8},
                                              {"s4", DataType::kInt4},
                                              {"u4", DataType::kUint4},
                                              {"s64", DataType::kInt64}}};

struct AttributeName {
  const char* name;
  AttributeType type;
};
constexpr std::array<AttributeName, 5> kAttributeTypes = {
    {{"int", AttributeType::kInt},
     {"float", AttributeType::kFloat},
     {"bool", AttributeType::kBool},
     {"ints", AttributeType::kInts},
     {"floats", AttributeType::kFloats}}};

struct AggregateSymbol {
  const char* symbol;
  Aggregate aggregate;
};
constexpr std::array<AggregateSymbol, 5> kAggregates = {
    {{"+", Aggregate::kSum},
     {"*", Aggregate::kProduct},
     {">", Aggregate::kMaximum},
     {"<", Aggregate::kMinimum},
     {"=", Aggregate::kAssign}}};

class Parser {
 public:
  explicit Parser(Cursor cursor) : cursor_(std::move(cursor)) {}

  Result<Syntax> Run() {
    if (cursor_.Peek().IsWord("op")) {
      TIM_RETURN_IF_ERROR(Definition());
    } else {
      TIM_RETURN_IF_ERROR(Statements());
    }
    if (cursor_.Peek().kind == TokenKind::kEnd) return std::move(syntax_);
    return cursor_.Unexpected(syntax_.bare ? "';' or the end of the text"
                                           : "the end of the text");
  }

 private:
  Status Definition();
  Result<Param> ReadParam();
  Result<Extent> ReadExtent();
  Result<DataType> ReadType();
  Status ReadAttribute();
  Result<ir::Attribute> ReadDefault(AttributeType type);
  Result<double> ReadNumber(bool integer, int64_t* value);
  Status Statements();
  Status ReadStatement();
  Status ReadIndexed(Statement* statement);
  Status ReadSizes(Statement* statement);
  Status ReadConstraint(Statement* statement);

  Cursor cursor_;
  Syntax syntax_;
};

Status Parser::Definition() {
  cursor_.Take();
  syntax_.bare = false;
  TIM_ASSIGN_OR_RETURN(Name name, cursor_.TakeName("the operation's name"));
  syntax_.name = std::move(name.text);
  TIM_RETURN_IF_ERROR(cursor_.Expect("("));
  do {
    TIM_ASSIGN_OR_RETURN(Param param, ReadParam());
    syntax_.params.push_back(std::move(param));
  } while (cursor_.Accept(","));
  TIM_RETURN_IF_ERROR(cursor_.Expect(")"));
  TIM_RETURN_IF_ERROR(cursor_.Expect("->"));
  TIM_RETURN_IF_ERROR(cursor_.Expect("("));
  do {
    ResultDef result;
    TIM_ASSIGN_OR_RETURN(result.name, cursor_.TakeName("a result's name"));
    if (cursor_.Accept(":")) {
      TIM_ASSIGN_OR_RETURN(result.type, ReadType());
    }
    syntax_.results.push_back(std::move(result));
  } while (cursor_.Accept(","));
  TIM_RETURN_IF_ERROR(cursor_.Expect(")"));
  if (cursor_.AcceptWord("attr")) {
    TIM_RETURN_IF_ERROR(cursor_.Expect("("));
    do {
      TIM_RETURN_IF_ERROR(ReadAttribute());
    } while (cursor_.Accept(","));
    TIM_RETURN_IF_ERROR(cursor_.Expect(")"));
  }
  TIM_RETURN_IF_ERROR(cursor_.Expect("{"));
  TIM_RETURN_IF_ERROR(Statements());
  if (cursor_.Accept("}")) return OkStatus();
  return cursor_.Unexpected("';' or '}'");
}

Result<Param> Parser::ReadParam() {
  Param param;
  TIM_ASSIGN_OR_RETURN(param.name, cursor_.TakeName("a parameter's name"));
  if (cursor_.Accept("[")) {
    param.ranked = true;
    if (!cursor_.Accept("]")) {
      do {
        TIM_ASSIGN_OR_RETURN(Extent extent, ReadExtent());
        if (param.extents.size() == kMostAxes) {
          return cursor_.ErrorAt(extent.offset,
                                 StrCat("at most ", kMostAxes, " extents"),
                                 "one more");
        }
        param.extents.push_back(std::move(extent));
      } while (cursor_.Accept(","));
      TIM_RETURN_IF_ERROR(cursor_.Expect("]"));
    }
  }
  if (!cursor_.Accept(":")) return param;
  do {
    TIM_ASSIGN_OR_RETURN(const DataType type, ReadType());
    param.types.push_back(type);
  } while (cursor_.Accept("|"));
  return param;
}

Result<Extent> Parser::ReadExtent() {
  const Token token = cursor_.Peek();
  if (token.kind == TokenKind::kInteger) {
    cursor_.Take();
    return Extent{.offset = token.offset, .integer = token.integer};
  }
  TIM_ASSIGN_OR_RETURN(Name name,
                       cursor_.TakeName("a dimension's name, a number or '_'"));
  return Extent{.offset = name.offset, .name = std::move(name.text)};
}

Result<DataType> Parser::ReadType() {
  const Token& token = cursor_.Peek();
  const DataType type = token.kind == TokenKind::kName ? TypeOfName(token.text)
                                                       : DataType::kUnknown;
  if (type == DataType::kUnknown) {
    std::string names;
    for (const TypeName& entry : kTypes)
      names += StrCat(names.empty() ? "" : ", ", entry.name);
    return cursor_.Unexpected(StrCat("a type (", names, ")"));
  }
  cursor_.Take();
  return type;
}

Status Parser::ReadAttribute() {
  AttributeDef attribute;
  bool known = false;
  for (const AttributeName& entry : kAttributeTypes) {
    if (!cursor_.Peek().IsWord(entry.name)) continue;
    attribute.type = entry.type;
    known = true;
  }
  if (!known) {
    return cursor_.Unexpected(
        "an attribute's type (int, float, bool, ints or floats)");
  }
  cursor_.Take();
  TIM_ASSIGN_OR_RETURN(attribute.name, cursor_.TakeName("an attribute's name"));
  if (cursor_.Accept("=")) {
    TIM_ASSIGN_OR_RETURN(attribute.default_value, ReadDefault(attribute.type));
  }
  syntax_.attributes.push_back(std::move(attribute));
  return OkStatus();
}

Result<double> Parser::ReadNumber(bool integer, int64_t* value) {
  const bool negative = cursor_.Accept("-");
  const Token token = cursor_.Peek();
  if (token.kind == TokenKind::kInteger) {
    cursor_.Take();
    *value = negative ? -token.integer : token.integer;
    return static_cast<double>(*value);
  }
  const bool infinite = token.IsWord("inf");
  if (integer || (token.kind != TokenKind::kFloat && !infinite)) {
    return cursor_.Unexpected(integer ? "an integer" : "a number");
  }
  cursor_.Take();
  const double real =
      infinite ? std::numeric_limits<double>::infinity() : token.real;
  return negative ? -real : real;
}

// A list is written [1, 2]; a number alone is a list of one.
Result<ir::Attribute> Parser::ReadDefault(AttributeType type) {
  if (type == AttributeType::kBool) {
    const Token& token = cursor_.Peek();
    if (!token.IsWord("true") && !token.IsWord("false")) {
      return cursor_.Unexpected("true or false");
    }
    return ir::Attribute(cursor_.Take().IsWord("true"));
  }
  const bool integer =
      type == AttributeType::kInt || type == AttributeType::kInts;
  const bool list =
      type == AttributeType::kInts || type == AttributeType::kFloats;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  const bool bracket = list && cursor_.Accept("[");
  if (!bracket || !cursor_.Accept("]")) {
    do {
      int64_t value = 0;
      TIM_ASSIGN_OR_RETURN(const double real, ReadNumber(integer, &value));
      integers.push_back(value);
      reals.push_back(real);
    } while (bracket && cursor_.Accept(","));
    if (bracket) TIM_RETURN_IF_ERROR(cursor_.Expect("]"));
  }
  if (list) {
    return integer ? ir::Attribute(std::move(integers))
                   : ir::Attribute(std::move(reals));
  }
  return integer ? ir::Attribute(integers[0]) : ir::Attribute(reals[0]);
}

Status Parser::Statements() {
  do {
    const Token& token = cursor_.Peek();
    const bool end = token.kind == TokenKind::kEnd || token.Is("}");
    if (end && !syntax_.statements.empty()) return OkStatus();
    if (syntax_.statements.size() == kMostStatements) {
      return cursor_.ErrorAt(token.offset,
                             StrCat("at most ", kMostStatements, " statements"),
                             "one more");
    }
    TIM_RETURN_IF_ERROR(ReadStatement());
  } while (cursor_.Accept(";"));
  return OkStatus();
}

Status Parser::ReadStatement() {
  Statement statement;
  TIM_ASSIGN_OR_RETURN(statement.name,
                       cursor_.TakeName("the name that a statement defines"));
  if (cursor_.Peek().Is("[")) {
    TIM_RETURN_IF_ERROR(ReadIndexed(&statement));
  } else if (cursor_.Accept("=")) {
    TIM_ASSIGN_OR_RETURN(statement.value,
                         ValueParser(&cursor_, &statement).Value());
  } else {
    return cursor_.Unexpected("'[' or '='");
  }
  syntax_.statements.push_back(std::move(statement));
  return OkStatus();
}

Status Parser::ReadIndexed(Statement* statement) {
  statement->indexed = true;
  cursor_.Take();
  if (!cursor_.Peek().Is("]") && !cursor_.Peek().Is(":")) {
    do {
      TIM_ASSIGN_OR_RETURN(Name name, cursor_.TakeName("an index variable"));
      if (statement->left.size() == kMostAxes) {
        return cursor_.ErrorAt(
            name.offset, StrCat("at most ", kMostAxes, " indices"), "one more");
      }
      statement->left.push_back(std::move(name));
    } while (cursor_.Accept(","));
  }
  if (cursor_.Accept(":")) TIM_RETURN_IF_ERROR(ReadSizes(statement));
  TIM_RETURN_IF_ERROR(cursor_.Expect("]"));
  TIM_RETURN_IF_ERROR(cursor_.Expect("="));
  for (const AggregateSymbol& entry : kAggregates) {
    if (!cursor_.Peek().Is(entry.symbol)) continue;
    statement->aggregate = entry.aggregate;
    statement->aggregate_offset = cursor_.Peek().offset;
  }
  if (statement->aggregate == Aggregate::kNone) {
    return cursor_.Unexpected("an aggregation (+, *, >, < or =)");
  }
  cursor_.Take();
  TIM_RETURN_IF_ERROR(cursor_.Expect("("));
  TIM_ASSIGN_OR_RETURN(statement->value,
                       ValueParser(&cursor_, statement).Value());
  TIM_RETURN_IF_ERROR(cursor_.Expect(")"));
  while (cursor_.Accept(",")) TIM_RETURN_IF_ERROR(ReadConstraint(statement));
  return OkStatus();
}

Status Parser::ReadSizes(Statement* statement) {
  if (cursor_.AcceptWord("like")) {
    TIM_ASSIGN_OR_RETURN(statement->like, cursor_.TakeName("a tensor's name"));
    return OkStatus();
  }
  do {
    TIM_ASSIGN_OR_RETURN(const int size,
                         ValueParser(&cursor_, statement).Sum());
    statement->sizes.push_back(size);
  } while (cursor_.Accept(","));
  statement->sizes_end = cursor_.Peek().offset;
  return OkStatus();
}

Status Parser::ReadConstraint(Statement* statement) {
  Constraint constraint;
  TIM_ASSIGN_OR_RETURN(constraint.left, ValueParser(&cursor_, statement).Sum());
  if (cursor_.Peek().Is("==")) {
    constraint.equal = true;
  } else if (!cursor_.Peek().Is("<")) {
    return cursor_.Unexpected("'<' or '=='");
  }
  cursor_.Take();
  TIM_ASSIGN_OR_RETURN(constraint.right,
                       ValueParser(&cursor_, statement).Sum());
  statement->constraints.push_back(constraint);
  return OkStatus();
}

}  // namespace

DataType TypeOfName(std::string_view name) {
  for (const TypeName& entry : kTypes) {
    if (name == entry.name) return entry.type;
  }
  return DataType::kUnknown;
}

Result<Syntax> Parse(std::string_view text) {
  TIM_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Parser(Cursor(text, std::move(tokens))).Run();
}

}  // namespace tim::expr
