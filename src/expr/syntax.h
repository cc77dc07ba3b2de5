// A text that describes an operation, as it is written: what the parser makes
// and the analysis completes.
#ifndef TIM_EXPR_SYNTAX_H_
#define TIM_EXPR_SYNTAX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/data_type.h"

namespace tim::expr {

inline constexpr int kMostNesting = 64;
inline constexpr int kMostStatements = 64;
inline constexpr int kMostVariables = 12;  ///< Index variables of a statement.
inline constexpr int kMostAxes = 8;

/// A name and where it stands.
struct Name {
  std::string text;
  size_t offset = 0;
};

enum class Operator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kNegate,
  kNot,
};
const char* TextOf(Operator op);

/// Thing that a name stands for.
enum class NameKind : uint8_t {
  kUnknown,
  kVariable,   ///< Index variable of the statement.
  kDimension,  ///< Name of an extent.
  kAttribute,
  kTensor,
};

/// A node of a value, an index or a size.
struct Expr {
  enum class Kind : uint8_t {
    kInteger,
    kFloat,
    kBool,
    kName,
    kAccess,  ///< Operands are the indices.
    kCall,    ///< Operands are the arguments.
    kUnary,
    kBinary,
    kChoice,  ///< c ? a : b
  };
  Kind kind = Kind::kInteger;
  size_t offset = 0;  ///< Where its name, number or operator stands.
  std::string name = {};
  Operator op = Operator::kAdd;
  int64_t integer = 0;  ///< 0 or 1 of a kBool.
  double real = 0;
  std::vector<int> operands = {};  ///< Earlier nodes of the statement.

  /// Of a kName or kAccess, once names are known: number in the list of its
  /// kind.
  NameKind refers = NameKind::kUnknown;
  int index = -1;
};

enum class Aggregate : uint8_t {
  kNone,  ///< An element-wise statement.
  kSum,
  kProduct,
  kMaximum,
  kMinimum,
  kAssign,
};

/// 0 <= left < right, or left == right; nodes of the statement.
struct Constraint {
  bool equal = false;
  int left = -1;
  int right = -1;
};

struct Statement {
  Name name;
  bool indexed = false;
  std::vector<Name> left = {};
  Name like = {};               ///< Of an empty text: there is none.
  std::vector<int> sizes = {};  ///< One for each name on the left, or none.
  size_t sizes_end = 0;         ///< Where the list ends.
  Aggregate aggregate = Aggregate::kNone;
  size_t aggregate_offset = 0;
  int value = -1;
  std::vector<Constraint> constraints = {};
  /// Operands stand before the nodes that have them.
  std::vector<Expr> nodes = {};
};

struct Extent {
  size_t offset = 0;
  std::string name = {};  ///< "_": any.
  int64_t integer = -1;   ///< Where there is no name.
};

struct Param {
  Name name;
  bool ranked = false;
  std::vector<Extent> extents = {};
  std::vector<ir::DataType> types = {};  ///< Empty: f32, bf16, f16.
};

struct ResultDef {
  Name name;
  ir::DataType type = ir::DataType::kUnknown;  ///< The first parameter's.
};

struct AttributeDef {
  Name name;
  ir::AttributeType type = ir::AttributeType::kInt;
  std::optional<ir::Attribute> default_value = std::nullopt;
};

struct Syntax {
  bool bare = true;  ///< Statements without a definition.
  std::string name = {};
  std::vector<Param> params = {};
  std::vector<ResultDef> results = {};
  std::vector<AttributeDef> attributes = {};
  std::vector<Statement> statements = {};
};

}  // namespace tim::expr

#endif  // TIM_EXPR_SYNTAX_H_
