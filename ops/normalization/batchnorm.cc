// BatchNorm: y = gamma * (x - mean) / sqrt(variance + eps) + beta, all four
// parameters given.  ONNX BatchNormalization (which has another order of
// inputs); TFLite folds it into the weights before.
//
// Every step is rounded to float32: f = gamma * (1 / sqrt(variance + eps)), the
// square root and 1 / x correctly rounded; y = (x - mean) * f + beta.
#include <cmath>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/doubts/codes.h"
#include "ops/elements/channel_affine.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/normalization/batchnorm_node.h"
#include "ops/normalization/normalization_rules.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

const std::vector<const char*> kNames = {"mean", "variance", "gamma", "beta"};

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  for (int i = 0; i < 4; ++i) {
    TIM_RETURN_IF_ERROR(CheckFloatInput(view, i + 1, kNames[i]));
  }
  return CheckNumber(view, Operand::kOutput, 0);
}

Status Infer(ir::InferContext& context) {
  return InferNorm(context, [](const ir::NodeView& view) {
    return BatchNormStrides(view).status();
  });
}

Status Eval(const ir::EvalContext& context) {
  std::vector<const ir::TensorDesc*> inputs;
  for (const ir::ConstTensor& input : context.inputs) {
    inputs.push_back(input.desc);
  }
  TIM_ASSIGN_OR_RETURN(const auto strides,
                       BatchNormStrides({context.node, inputs, {}}));
  const std::vector<int64_t>& dims = inputs[0]->shape.dims();
  const kernels::ElementReader input(context.inputs[0]);
  const kernels::ElementReader mean(context.inputs[1]);
  const kernels::ElementReader variance(context.inputs[2]);
  const kernels::ElementReader gamma(context.inputs[3]);
  const kernels::ElementReader beta(context.inputs[4]);
  kernels::ElementWriter output(context.outputs[0]);
  const float eps = context.attributes().Float("eps");
  const int64_t count = *inputs[0]->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const auto at = [&](int parameter) {
      return IndexOf(i, dims, strides[parameter]);
    };
    const float factor =
        BatchNormFactor(variance.Real(at(1)), gamma.Real(at(2)), eps);
    output.StoreReal(
        i, (input.Real(i) - mean.Real(at(0))) * factor + beta.Real(at(3)));
  }
  return OkStatus();
}

// A constant factor and summand for each channel.
std::optional<ir::ChannelAffine> AffineOfConstants(
    const ir::NodeView& view, std::span<const ir::ConstTensor> constants) {
  if (OnlyVariable(constants) != 0) return std::nullopt;
  const auto strides = BatchNormStrides(view);
  if (!strides.ok()) return std::nullopt;
  const ir::Shape& shape = view.inputs[0]->shape;
  const std::optional<int> axis = VaryingAxis(shape, *strides);
  if (!axis) return std::nullopt;
  const float eps = view.node.attributes.Float("eps");
  ir::ChannelAffine out{.input = 0, .axis = *axis};
  const int64_t count = *axis < 0 ? 1 : shape[*axis];
  for (int64_t i = 0; i < count; ++i) {
    const auto value = [&](int parameter) {
      const int64_t step = *axis < 0 ? 0 : (*strides)[parameter][*axis];
      return kernels::ElementReader(constants[parameter + 1]).Real(i * step);
    };
    const float scale = BatchNormFactor(value(1), value(2), eps);
    out.scales.push_back(scale);
    out.offsets.push_back(value(3) - value(0) * scale);
  }
  return out;
}

// Other axes than the channels' may change places.
Result<ir::PermutedNode> Permute(const ir::NodeView& view, int operand,
                                 std::span<const int> perm) {
  if (operand != 0) return Unimplemented("the parameters stay as they are");
  const int axis = ChannelAxis(view.inputs[0]->shape.rank());
  if (perm[axis] != axis) return Unimplemented("the channels stay in place");
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  TIM_RETURN_IF_ERROR(KeepParametersAlong(view, axis, &out));
  return out;
}

// Parameters of rank 1 are one for each channel; others move as the input does.
Result<ir::PermutedNode> InDefaultLayout(const ir::NodeView& view) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  TIM_ASSIGN_OR_RETURN(
      const ir::Permutation perm,
      TakeDataLayout(*view.inputs[0], "input_layout", &out.attributes));
  out.inputs[0] = out.outputs[0] = perm;
  for (int input = 1; input < 5; ++input) {
    const int rank = view.inputs[input]->shape.rank();
    if (rank < 2 || perm.empty()) continue;
    out.inputs[input] = ir::BroadcastPermutation(perm, rank);
  }
  return out;
}

ir::OpSchema Schema() {
  return {
      .name = "BatchNorm",
      .inputs = {5, 5},
      .attributes = {{"eps", AttributeType::kFloat},
                     DataLayoutSpec("input_layout", DataLayout::kWhcn)},
      .check = Check,
      .doubts = FirstCodes,
      .infer_shapes = Infer,
      .eval = Eval,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 3); },
      .channel_affine = AffineOfConstants,
      .permute_rule = Permute,
      .layout_rule = InDefaultLayout,
      .vjp = BatchNormVjp};
}

}  // namespace

int ChannelAxis(int rank) { return rank < 3 ? 0 : rank - 2; }

Result<std::vector<std::vector<int64_t>>> BatchNormStrides(
    const ir::NodeView& view) {
  return StridesOfInputs(view, 1, kNames,
                         ChannelAxis(view.inputs[0]->shape.rank()));
}

float BatchNormFactor(float variance, float gamma, float eps) {
  return gamma * (1.0f / std::sqrt(variance + eps));
}

TIM_OPERATOR(batchnorm) {
  registry.Add(Schema());
  AddBatchNormKernel(registry);
}

}  // namespace tim::ops
