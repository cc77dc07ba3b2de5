#include "ops/elements/channel_affine.h"

#include "kernels/elements.h"
#include "ops/elements/axes.h"

namespace tim::ops {

std::optional<int> VaryingAxis(
    const ir::Shape& shape, const std::vector<std::vector<int64_t>>& strides) {
  int found = -1;
  for (const std::vector<int64_t>& operand : strides) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (operand[axis] == 0 || shape[axis] == 1 || axis == found) continue;
      if (found >= 0) return std::nullopt;
      found = axis;
    }
  }
  return found;
}

std::optional<int> OnlyVariable(std::span<const ir::ConstTensor> constants) {
  std::optional<int> found;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (constants[i].data != nullptr) continue;
    if (found) return std::nullopt;
    found = static_cast<int>(i);
  }
  return found;
}

std::optional<ir::ChannelAffine> BinaryChannelAffine(
    const ir::NodeView& view, std::span<const ir::ConstTensor> constants,
    AffineOf affine_of) {
  const std::optional<int> variable = OnlyVariable(constants);
  if (!variable || constants.size() != 2) return std::nullopt;
  const ir::Shape& shape = view.inputs[*variable]->shape;
  // The constant may have the larger shape.
  if (view.outputs[0]->shape != shape) return std::nullopt;
  const ir::ConstTensor& constant = constants[1 - *variable];
  std::vector<int64_t> dims = constant.desc->shape.dims();
  dims.resize(std::min<size_t>(dims.size(), shape.rank()));
  const auto strides = BroadcastStrides(dims, shape.dims());
  const std::optional<int> axis = VaryingAxis(shape, {strides});
  if (!axis) return std::nullopt;
  const kernels::ElementReader reader(constant);
  ir::ChannelAffine out{.input = *variable, .axis = *axis};
  const int64_t count = *axis < 0 ? 1 : shape[*axis];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = *axis < 0 ? 0 : i * strides[*axis];
    const AffineTerm term =
        affine_of(view.node.attributes, *variable, reader.Real(at));
    out.scales.push_back(term.scale);
    out.offsets.push_back(term.offset);
  }
  return out;
}

}  // namespace tim::ops
