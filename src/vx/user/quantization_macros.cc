#include "vx/user/quantization_macros.h"

#include <charconv>
#include <cmath>

#include "base/str_cat.h"
#include "kernels/text/include_directive.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

// Hexadecimal: the very number.
std::string FloatLiteral(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits),
                                 std::abs(value), std::chars_format::hex);
  return StrCat("(", std::signbit(value) ? "-" : "", "0x",
                std::string_view(digits, end.ptr - digits), "f)");
}

// A name may be pasted of parts, and a file may be included.
bool MayUse(const std::string& text, const std::string& options) {
  for (const char* const prefix : {"TIM_SCALE_", "TIM_ZERO_POINT_"}) {
    if (text.find(prefix) != std::string::npos) return true;
    if (options.find(prefix) != std::string::npos) return true;
  }
  return kernels::IncludesFiles(text, options);
}

void Define(const char* what, const std::vector<TensorSpec>& specs,
            std::string* options) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const ir::Quantization quantization = ToIr(specs[i].quantization_);
    if (quantization.per_channel()) continue;
    *options += StrCat("-DTIM_SCALE_", what, i, "=",
                       FloatLiteral(quantization.Scale()), " -DTIM_ZERO_POINT_",
                       what, i, "=(", quantization.ZeroPoint(), ") ");
  }
}

}  // namespace

std::string WithQuantization(const OperandSpecs& operands,
                             const std::string& text,
                             const std::string& options) {
  if (!MayUse(text, options)) return options;
  std::string all;
  Define("INPUT", operands.inputs, &all);
  Define("OUTPUT", operands.outputs, &all);
  return all + options;
}

}  // namespace tim::vx
