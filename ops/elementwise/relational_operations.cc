// Greater, GreaterOrEqual, Less, LessOrEqual, Equal, NotEqual.
#include <functional>

#include "ir/op_registry.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

Status CheckCompared(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumberOrBool(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumberOrBool(view, Operand::kInput, 1));
  return CheckTruth(view, Operand::kOutput, 0);
}

Doubts ComparedCodes(const ir::NodeView& view) {
  Doubts doubts;
  AddCodesDoubt(view, {0, 1}, {}, &doubts);
  return doubts;
}

// `Compare` on real values, exactly on integers without quantization.
template <typename Compare>
BinaryOp Row(const char* name, const char* macro) {
  return {.name = name,
          .pointwise = {
              .arity = 2,
              .macro = macro,
              .header = "kernels/formulas/predicates.clh",
              .binary = [](float a,
                           float b) { return Compare()(a, b) ? 1.0f : 0.0f; },
              .binary_integer = [](int64_t a, int64_t b,
                                   bool) { return int64_t{Compare()(a, b)}; }},
          .check = CheckCompared,
          .doubts = ComparedCodes,
          .result_type = ir::DataType::kBool8};
}

}  // namespace

TIM_OPERATOR(relational_operations) {
  for (const BinaryOp& op :
       {Row<std::greater<>>("Greater", "TIM_GREATER"),
        Row<std::greater_equal<>>("GreaterOrEqual", "TIM_GREATER_OR_EQUAL"),
        Row<std::less<>>("Less", "TIM_LESS"),
        Row<std::less_equal<>>("LessOrEqual", "TIM_LESS_OR_EQUAL"),
        Row<std::equal_to<>>("Equal", "TIM_EQUAL"),
        Row<std::not_equal_to<>>("NotEqual", "TIM_NOT_EQUAL")}) {
    AddBinary(op, registry);
  }
}

}  // namespace tim::ops
