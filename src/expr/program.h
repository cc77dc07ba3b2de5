// A text that describes an operation, checked: names are looked up and types
// fit.  Dims are in the order of the text, the last one contiguous.
#ifndef TIM_EXPR_PROGRAM_H_
#define TIM_EXPR_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "expr/functions.h"
#include "expr/syntax.h"

namespace tim::expr {

/// A parameter, an intermediate tensor or a result.
struct TensorDef {
  Name name;
  int rank = -1;  ///< -1: any, or not known before shapes are.
  std::vector<Extent> extents = {};  ///< Of a parameter, where declared.
  /// Types that it may have; of a parameter without any the floats.  Of an
  /// intermediate tensor none.
  std::vector<ir::DataType> types = {};
  bool same_float = false;  ///< F, the same for all such parameters.
  bool natural = false;     ///< A result that has the type of its value.
  int input = -1;           ///< Number among the inputs.
  int output = -1;          ///< Number among the results.
  int statement = -1;       ///< That assigns it.
};

/// Source of the size of an index variable on the left.
struct SizeRule {
  int node = -1;    ///< An expression of the statement, or
  int tensor = -1;  ///< the extent of an axis.
  int axis = -1;
  int dimension = -1;  ///< The name that is bound to it.
};

struct StatementInfo {
  int tensor = -1;  ///< That it assigns.
  /// Index variables, those on the left first, by first appearance.
  std::vector<Name> variables = {};
  std::vector<SizeRule> sizes = {};  ///< Of those on the left.
  /// Nodes of kAccess, or of an element-wise statement kName, that are tensors.
  std::vector<int> accesses = {};
  /// First node of the value; the last one is Statement::value.  Nodes that are
  /// part of indices have no value.
  int first_node = 0;
  std::vector<bool> in_index = {};  ///< By node.
  int operations = 0;               ///< Operators and calls of the value.
};

struct Program {
  std::string text;
  Syntax syntax;  ///< Its nodes refer to the lists below.
  std::vector<TensorDef> tensors;
  std::vector<std::string> dimensions;
  std::vector<int> inputs;   ///< Tensors, in order.
  std::vector<int> outputs;  ///< Tensors, in order.
  std::vector<StatementInfo> statements;

  const Statement& statement(size_t i) const { return syntax.statements[i]; }
};

/// kInvalidArgument as TextError() writes it.
Result<std::shared_ptr<const Program>> ReadProgram(std::string_view text);

}  // namespace tim::expr

#endif  // TIM_EXPR_PROGRAM_H_
