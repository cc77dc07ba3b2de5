// Mod: the remainder of a division, which is rounded downwards or, of float
// types and where `fmod` asks for it, towards zero.
#include <cmath>

#include "ir/op_registry.h"
#include "kernels/integers.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

float Modulo(float a, float b) {
  const float rest = std::fmod(a, b);
  const bool other = (rest < 0 && b > 0) || (rest > 0 && b < 0);
  return other ? rest + b : rest;
}

ir::Pointwise Formula(const BinaryOperands& operands) {
  const bool truncated = ir::IsFloat(operands.a.type) ||
                         ir::IsFloat(operands.b.type) ||
                         operands.attributes.Int("fmod") != 0;
  ir::Pointwise out = {.arity = 2,
                       .macro = "TIM_MODULO",
                       .header = "kernels/formulas/exact_remainder.clh",
                       .binary = Modulo,
                       .binary_integer = kernels::ModuloOfIntegers};
  if (!truncated) return out;
  out.macro = "TIM_REMAINDER";
  out.binary = [](float a, float b) { return std::fmod(a, b); };
  out.binary_integer = kernels::RemainderOfIntegers;
  return out;
}

}  // namespace

TIM_OPERATOR(mod) {
  AddBinary({.name = "Mod",
             .flops = 60,
             .attributes = {{.name = "fmod",
                             .type = ir::AttributeType::kInt,
                             .default_value = int64_t{0}}},
             .degree = 1,
             .formula = Formula},
            registry);
}

}  // namespace tim::ops
