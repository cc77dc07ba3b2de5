// The grammar of texts that describe operations.
#ifndef TIM_EXPR_PARSER_H_
#define TIM_EXPR_PARSER_H_

#include <string_view>

#include "base/status.h"
#include "expr/syntax.h"

namespace tim::expr {

/// Program that `text` is by the grammar alone: names are not looked up.
/// kInvalidArgument as TextError() writes it.
Result<Syntax> Parse(std::string_view text);

/// "f32" and the like; kUnknown where a name is none or has no counterpart.
ir::DataType TypeOfName(std::string_view name);

}  // namespace tim::expr

#endif  // TIM_EXPR_PARSER_H_
