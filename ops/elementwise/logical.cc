// LogicalAnd, LogicalOr.
#include "ir/op_registry.h"
#include "ops/elements/operands.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

Status CheckTruths(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckTruth(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckTruth(view, Operand::kInput, 1));
  return CheckTruth(view, Operand::kOutput, 0);
}

BinaryOp Row(const char* name, const char* macro, float (*real)(float, float),
             int64_t (*integer)(int64_t, int64_t, bool)) {
  return {.name = name,
          .pointwise = {.arity = 2,
                        .macro = macro,
                        .header = "kernels/formulas/predicates.clh",
                        .binary = real,
                        .binary_integer = integer},
          .check = CheckTruths,
          .doubts = nullptr};
}

}  // namespace

TIM_OPERATOR(logical) {
  AddBinary(
      Row(
          "LogicalAnd", "TIM_LOGICAL_AND",
          [](float a, float b) { return a != 0.0f && b != 0.0f ? 1.0f : 0.0f; },
          [](int64_t a, int64_t b, bool) { return int64_t{a != 0 && b != 0}; }),
      registry);
  AddBinary(
      Row(
          "LogicalOr", "TIM_LOGICAL_OR",
          [](float a, float b) { return a != 0.0f || b != 0.0f ? 1.0f : 0.0f; },
          [](int64_t a, int64_t b, bool) { return int64_t{a != 0 || b != 0}; }),
      registry);
}

}  // namespace tim::ops
