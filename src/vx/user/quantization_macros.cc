#include "vx/user/quantization_macros.h"

#include <cstdio>

#include "base/str_cat.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

// Hexadecimal: the very number.
std::string FloatLiteral(float value) {
  char text[64];
  std::snprintf(text, sizeof(text), "(%af)", static_cast<double>(value));
  return text;
}

// A name may be pasted of parts, and a file may be included.
bool MayUse(const std::string& text) {
  return text.find("TIM_SCALE_") != std::string::npos ||
         text.find("TIM_ZERO_POINT_") != std::string::npos ||
         text.find("include") != std::string::npos;
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
  if (!MayUse(text) && !MayUse(options)) return options;
  std::string all;
  Define("INPUT", operands.inputs, &all);
  Define("OUTPUT", operands.outputs, &all);
  return all + options;
}

}  // namespace tim::vx
