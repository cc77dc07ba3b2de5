// OpSchema::channel_affine of operators whose constants are broadcast.
#ifndef TIM_OPS_ELEMENTS_CHANNEL_AFFINE_H_
#define TIM_OPS_ELEMENTS_CHANNEL_AFFINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/op_schema.h"

namespace tim::ops {

/// The one axis of `shape` along which operands of such strides vary; -1 where
/// none does, nothing where there are several.
std::optional<int> VaryingAxis(
    const ir::Shape& shape, const std::vector<std::vector<int64_t>>& strides);

/// The only input that is no constant; nothing where there are others.
std::optional<int> OnlyVariable(std::span<const ir::ConstTensor> constants);

/// Factor and summand that y = f(x, c) has for one element of the constant.
struct AffineTerm {
  float scale = 1;
  float offset = 0;
};
/// For operators of two inputs with broadcasting; `variable`: which input is x.
using AffineOf = AffineTerm (*)(const ir::AttributeMap& attributes,
                                int variable, float constant);
std::optional<ir::ChannelAffine> BinaryChannelAffine(
    const ir::NodeView& view, std::span<const ir::ConstTensor> constants,
    AffineOf affine_of);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_CHANNEL_AFFINE_H_
