// Values, indices and sizes of a statement.
#ifndef TIM_EXPR_VALUE_PARSER_H_
#define TIM_EXPR_VALUE_PARSER_H_

#include <string_view>

#include "base/status.h"
#include "expr/cursor.h"
#include "expr/syntax.h"

namespace tim::expr {

/// Adds nodes to a statement; results are their numbers.
class ValueParser {
 public:
  ValueParser(Cursor* cursor, Statement* statement)
      : cursor_(*cursor), statement_(*statement) {}

  Result<int> Value();
  /// An index or a size.
  Result<int> Sum();

 private:
  Result<int> Binary(int level);
  Result<int> Unary();
  Result<int> Primary();
  Result<int> Named();
  Status Operands(std::string_view end, bool values, std::vector<int>* out);
  Status Enter(size_t offset);
  int Add(Expr node);

  Cursor& cursor_;
  Statement& statement_;
  int depth_ = 0;
};

}  // namespace tim::expr

#endif  // TIM_EXPR_VALUE_PARSER_H_
