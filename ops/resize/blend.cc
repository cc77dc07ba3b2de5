#include "ops/resize/blend.h"

namespace tim::ops {
namespace {

bool IsPerChannel(const ir::TensorDesc& desc) {
  return desc.quantized() && desc.quantization.per_channel();
}

}  // namespace

BlendScale BlendScaleOf(const ir::TensorDesc& input,
                        const ir::TensorDesc& output) {
  const float scale_in = input.quantized() ? input.quantization.Scale() : 1.0f;
  const float scale_out =
      output.quantized() ? output.quantization.Scale() : 1.0f;
  const bool integers = ir::IsInteger(output.type);
  BlendScale out;
  out.codes = ir::IsInteger(input.type) && !IsPerChannel(input) &&
              !IsPerChannel(output);
  if (output.quantized()) out.zero = output.quantization.ZeroPoint();
  if (out.codes) {
    out.in_zero = input.quantized() ? input.quantization.ZeroPoint() : 0;
    out.multiplier =
        integers ? kernels::Multiplier(scale_in, scale_out) : scale_in;
  } else if (integers) {
    out.scale = scale_out;
  }
  return out;
}

void AddBlendArguments(const BlendScale& scale, Launch* launch) {
  launch->Float("x_scale", scale.multiplier)
      .Int("x_zero", scale.in_zero)
      .Float("y_scale", scale.scale)
      .Float("y_inverse", 1.0f / scale.scale)
      .Int("y_zero", scale.zero);
}

}  // namespace tim::ops
