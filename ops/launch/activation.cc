#include "ops/launch/activation.h"

#include "kernels/requantize.h"

namespace tim::ops {
namespace {

// A quantized number of more bits is not what float makes of it.
constexpr int kMostBits = 16;

// Whether limits of real values are limits of what is stored.
Status CheckStored(const std::string& name, const ir::Pointwise& formula,
                   const ir::TensorDesc& desc) {
  if (desc.quantized() && ir::Info(desc.type).bits > kMostBits) {
    return Unimplemented("a fused ", name, " of quantized ",
                         ir::ToString(desc.type));
  }
  if (!desc.quantized() && ir::IsInteger(desc.type) &&
      formula.unary_integer == nullptr) {
    return Unimplemented("a fused ", name, " of ", ir::ToString(desc.type));
  }
  return OkStatus();
}

}  // namespace

Result<Activation> ActivationOf(const ir::EpilogueStep& step,
                                const ir::TensorDesc& before) {
  const ir::OpSchema& schema = *step.node->schema;
  const std::optional<ir::Pointwise>& formula = schema.pointwise;
  if (!formula || formula->arity != 1 || formula->macro == nullptr) {
    return Unimplemented("a fused ", schema.name,
                         ", which has no formula of one input");
  }
  if (!ir::SameElements(step.result, before)) {
    return Unimplemented("a fused ", schema.name,
                         " must keep the type and quantization");
  }
  Activation out;
  out.pointwise = &*formula;
  out.parameters = formula->ParametersOf(step.node->attributes);
  if (formula->limits != nullptr) {
    out.limits = formula->limits(out.parameters);
    TIM_RETURN_IF_ERROR(CheckStored(schema.name, *formula, before));
  } else if (before.type != ir::DataType::kFloat32) {
    return Unimplemented("a fused ", schema.name, " of ",
                         ir::ToString(before.type));
  }
  return out;
}

int64_t CodeOf(float real, const ir::TensorDesc& desc) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const bool quantized = desc.quantized();
  const float scale = quantized ? desc.quantization.Scale() : 1.0f;
  const auto zero =
      static_cast<float>(quantized ? desc.quantization.ZeroPoint() : 0);
  return kernels::RoundToCode(real / scale + zero, info.min, info.max,
                              info.bits, {});
}

}  // namespace tim::ops
