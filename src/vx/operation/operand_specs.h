// Operands of an operation as their specs, for the functions of users.
#ifndef TIM_VX_OPERATION_OPERAND_SPECS_H_
#define TIM_VX_OPERATION_OPERAND_SPECS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/tensor_desc.h"
#include "tim/vx/tensor.h"

namespace tim::vx {

/// Which function of a custom operator runs.
enum class Hook : uint8_t { kTypes, kShapes, kParams, kEnqueue, kHostEval };

/// What a function of a custom operator sees while it runs.
struct OperandSpecs {
  Hook hook = Hook::kTypes;
  std::vector<TensorSpec> inputs;
  std::vector<bool> present;  ///< Per input.
  std::vector<TensorSpec> outputs;
  /// Null but in SetupTypes(): what it sets, UNKNOWN where it does not.
  std::vector<TensorSpec>* set_types = nullptr;
};

/// As the graph declares it; null and placeholders give an empty spec.
TensorSpec DeclaredSpec(const std::shared_ptr<Tensor>& tensor);

/// The tensor with the type, shape and quantization of `desc`.  A shape that is
/// not known whole is empty.
TensorSpec SpecOf(Tensor& tensor, const ir::TensorDesc& desc);

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_OPERAND_SPECS_H_
