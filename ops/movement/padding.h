// Attributes of Pad and PadV2, and their constant as it is stored.
#ifndef TIM_OPS_MOVEMENT_PADDING_H_
#define TIM_OPS_MOVEMENT_PADDING_H_

#include <cstdint>
#include <string>

#include "ir/attribute.h"
#include "ir/kernel_def.h"
#include "ir/tensor_desc.h"
#include "kernels/elements.h"

namespace tim::ops {

inline constexpr char kFrontSize[] = "front_size";
inline constexpr char kBackSize[] = "back_size";
inline constexpr char kConstVal[] = "const_val";

enum class PadMode : int64_t {
  kConstant,
  kEdge,
  kSymmetric,
  kReflect,
};
PadMode PadModeOf(const ir::AttributeMap& attributes);

/// Element i of the writer's tensor, which is like `desc`, becomes `constant`.
void StoreConstant(const ir::Attribute& constant, const ir::TensorDesc& desc,
                   int64_t i, kernels::ElementWriter* writer);

/// A tensor of one element like those of `desc`.
ir::TensorDesc SingleElement(const ir::TensorDesc& desc);

/// The bits of an element like those of `desc` that has the value of
/// `constant`.
int64_t ElementBits(const ir::TensorDesc& desc, const ir::Attribute& constant);

/// The kernel of ops/movement/pad.cl for one of the two operators.
ir::KernelDef PadKernel(std::string op, std::string name);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_PADDING_H_
