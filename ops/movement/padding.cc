#include "ops/movement/padding.h"

#include <variant>

namespace tim::ops {

PadMode PadModeOf(const ir::AttributeMap& attributes) {
  return static_cast<PadMode>(attributes.Int("pad_mode"));
}

// Integers go to plain integers as they are.
void StoreConstant(const ir::Attribute& constant, const ir::TensorDesc& desc,
                   int64_t i, kernels::ElementWriter* writer) {
  const auto* integer = std::get_if<int64_t>(&constant);
  if (integer != nullptr && kernels::IsPlainInteger(desc)) {
    return writer->StoreCode(i, *integer);
  }
  writer->StoreReal(i, integer != nullptr
                           ? static_cast<float>(*integer)
                           : static_cast<float>(std::get<double>(constant)));
}

ir::TensorDesc SingleElement(const ir::TensorDesc& desc) {
  ir::TensorDesc single = desc;
  single.shape = ir::Shape({1});
  return single;
}

int64_t ElementBits(const ir::TensorDesc& desc, const ir::Attribute& constant) {
  const ir::TensorDesc single = SingleElement(desc);
  int64_t bits = 0;
  kernels::ElementWriter writer({&single, &bits});
  StoreConstant(constant, single, 0, &writer);
  return bits;
}

}  // namespace tim::ops
