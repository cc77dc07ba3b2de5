// Bilinear blends of four elements, and how they become elements of an output.
// Compiled without contraction; kernels: ops/resize/blend.clh.
#ifndef TIM_OPS_RESIZE_BLEND_H_
#define TIM_OPS_RESIZE_BLEND_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "kernels/elements.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Four neighbours: x10 is the upper one along H of x00, x01 that along W.
struct BlendCells {
  float x00 = 0;
  float x01 = 0;
  float x10 = 0;
  float x11 = 0;
};

/// A product in which a weight of 0 does not count.
inline float BlendTerm(float value, float weight) {
  return weight == 0.0f ? 0.0f : value * weight;
}

/// With the weights u, v of the upper neighbours along W and H
///   (x00 * ((1 - v)(1 - u)) + x11 * (v * u))
/// + (x01 * ((1 - v) * u) + x10 * (v * (1 - u))),
/// the same bits when W and H change places.
inline float Blend(const BlendCells& x, float u, float v) {
  const float outer =
      BlendTerm(x.x00, (1.0f - v) * (1.0f - u)) + BlendTerm(x.x11, v * u);
  const float inner =
      BlendTerm(x.x01, (1.0f - v) * u) + BlendTerm(x.x10, v * (1.0f - u));
  return outer + inner;
}

/// How results of blends become elements: v * multiplier, which an integer
/// output divides by `scale` before it adds `zero`.
struct BlendScale {
  bool codes = false;  ///< Blends are of code - in_zero, not of real values.
  int64_t in_zero = 0;
  float multiplier = 1;
  float scale = 1;
  int64_t zero = 0;
};
BlendScale BlendScaleOf(const ir::TensorDesc& input,
                        const ir::TensorDesc& output);

/// What blends read and write, in `eval`.
class BlendReader {
 public:
  BlendReader(const ir::ConstTensor& input, const BlendScale& scale)
      : reader_(input), scale_(scale) {}
  float operator()(int64_t i) const {
    return scale_.codes ? static_cast<float>(reader_.Code(i) - scale_.in_zero)
                        : reader_.Real(i);
  }

 private:
  kernels::ElementReader reader_;
  BlendScale scale_;
};
class BlendWriter {
 public:
  BlendWriter(const ir::MutableTensor& output, const BlendScale& scale)
      : writer_(output),
        scale_(scale),
        units_(scale.codes && ir::IsInteger(output.desc->type)) {}
  void Store(int64_t i, float blend) {
    const float y = blend * scale_.multiplier;
    if (units_) {
      writer_.StoreUnits(i, y + static_cast<float>(scale_.zero));
    } else {
      writer_.StoreReal(i, y);
    }
  }

 private:
  kernels::ElementWriter writer_;
  BlendScale scale_;
  bool units_;
};

/// `float x_scale, int x_zero, float y_scale, float y_inverse, int y_zero`.
void AddBlendArguments(const BlendScale& scale, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_RESIZE_BLEND_H_
