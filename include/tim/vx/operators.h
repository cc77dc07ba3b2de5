// The operators that the library has, as data.
#ifndef TIM_VX_OPERATORS_H_
#define TIM_VX_OPERATORS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tim/vx/attribute.h"
#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// An attribute of an operator, as BuiltinOp takes it and
/// Operation::GetAttribute() reads it.
struct AttributeInfo {
  std::string name;
  NamedAttribute::Type type = NamedAttribute::Type::kInt;
  bool required = false;      ///< It has no default.
  std::string default_value;  ///< As messages write it; empty without one.
  /// Legal values of an enum, by name; empty: any.
  std::vector<std::pair<std::string, int64_t>> values;
};

struct OperatorInfo {
  std::string name;  ///< "Softmax", the OpName() of its class.
  /// Numbers of operands; the most may depend on attributes.
  uint32_t least_inputs = 0;
  uint32_t most_inputs = 0;
  uint32_t least_outputs = 0;
  uint32_t most_outputs = 0;
  /// In the operator's order, the four of SetRoundingPolicy() last.
  std::vector<AttributeInfo> attributes;
};

/// All built-in operators, sorted by name; an addition to TIM-VX, for bindings
/// to other languages.  NBG and composed operators of the headers alone are not
/// among them.
TIM_VX_API std::vector<OperatorInfo> Operators();

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPERATORS_H_
