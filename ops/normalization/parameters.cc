#include "ops/normalization/parameters.h"

#include <algorithm>

#include "ops/elements/axes.h"
#include "ops/elements/shapes.h"

namespace tim::ops {

Result<std::vector<int64_t>> ParameterStrides(
    const std::vector<int64_t>& parameter, const std::vector<int64_t>& dims,
    int axis) {
  const size_t rank = dims.size();
  if (parameter.size() == 1 && parameter[0] == dims[axis]) {
    std::vector<int64_t> strides(rank, 0);
    strides[axis] = 1;
    return strides;
  }
  const auto fits = [&](size_t i) {
    return parameter[i] == 1 || (i < rank && parameter[i] == dims[i]);
  };
  for (size_t i = 0; i < parameter.size(); ++i) {
    if (fits(i)) continue;
    return InvalidArgument(
        "its shape [", StrJoin(parameter, ", "), "] is neither [", dims[axis],
        "] nor does it broadcast to the input [", StrJoin(dims, ", "), "]");
  }
  std::vector<int64_t> used = parameter;
  used.resize(std::min(used.size(), rank));
  return BroadcastStrides(used, dims);
}

Result<std::vector<std::vector<int64_t>>> StridesOfInputs(
    const ir::NodeView& view, int first, const std::vector<const char*>& names,
    int axis) {
  std::vector<std::vector<int64_t>> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const int input = first + static_cast<int>(i);
    auto strides = ParameterStrides(view.inputs[input]->shape.dims(),
                                    view.inputs[0]->shape.dims(), axis);
    TIM_RETURN_IF_ERROR(
        strides.status().WithContext(StrCat(names[i], " (input ", input, ")")));
    out.push_back(*std::move(strides));
  }
  return out;
}

Result<bool> LiesAlongAxis(const ir::NodeView& view, int input, int axis) {
  const ir::Shape& parameter = view.inputs[input]->shape;
  if (parameter.rank() != 1) return false;
  const int64_t extent = view.inputs[0]->shape[axis];
  if (parameter[0] == ir::kUnknownDim || extent == ir::kUnknownDim) {
    return Unimplemented("along which axis input ", input,
                         " lies is not known yet");
  }
  return parameter[0] == extent;
}

Status KeepParametersAlong(const ir::NodeView& view, int axis,
                           ir::PermutedNode* out) {
  for (int input = 1; input < static_cast<int>(view.inputs.size()); ++input) {
    if (view.inputs[input] == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(const bool along, LiesAlongAxis(view, input, axis));
    if (along) out->inputs[input].clear();
  }
  return OkStatus();
}

Result<ir::PermutedNode> PermuteAlongAxis(const ir::NodeView& view, int operand,
                                          std::span<const int> perm) {
  if (operand != 0) return Unimplemented("the parameters stay as they are");
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       MoveAxis("axis")(view, operand, perm));
  TIM_ASSIGN_OR_RETURN(
      const int axis,
      WrapAxis(view.node.attributes.Int("axis"), view.inputs[0]->shape.rank()));
  TIM_RETURN_IF_ERROR(KeepParametersAlong(view, axis, &out));
  return out;
}

Status CheckFloatInput(const ir::NodeView& view, int input, const char* name) {
  const ir::DataType type = view.inputs[input]->type;
  if (ir::IsFloat(type)) return OkStatus();
  return InvalidArgument(name, " (input ", input, ") is ", ir::ToString(type),
                         ", expected a float type");
}

Status CheckAxis(const ir::InferContext& context) {
  const ir::Shape& shape = context.shape(0);
  if (!shape.ranked()) return OkStatus();
  return WrapAxis(context.attributes().Int("axis"), shape.rank()).status();
}

Status InferAlongAxis(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckAxis(context));
  return InferSameAsInput(context);
}

Status InferNorm(ir::InferContext& context,
                 Status (*check)(const ir::NodeView& view)) {
  std::vector<const ir::TensorDesc*> inputs;
  bool is_static = true;
  for (const ir::InferContext::Input& input : context.inputs) {
    inputs.push_back(input.desc);
    is_static &= input.desc != nullptr && input.desc->shape.IsStatic();
  }
  TIM_RETURN_IF_ERROR(InferSameAsInput(context));
  return is_static ? check({context.node, inputs, {}}) : OkStatus();
}

}  // namespace tim::ops
