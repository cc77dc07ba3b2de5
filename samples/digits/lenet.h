// The network as a tim::vx graph, the same code for float32 and uint8.
#ifndef TIM_SAMPLES_DIGITS_LENET_H_
#define TIM_SAMPLES_DIGITS_LENET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor_file.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace digits {

constexpr std::uint32_t kImageSize = 8;  // width and height
constexpr std::uint32_t kPixels = kImageSize * kImageSize;
constexpr std::uint32_t kClasses = 10;

/// A graph that is built, but not yet compiled.
struct Lenet {
  std::shared_ptr<tim::vx::Graph> graph;
  std::shared_ptr<tim::vx::Tensor> input;   // [8, 8, 1, batch], model's type
  std::shared_ptr<tim::vx::Tensor> output;  // [10, batch], FLOAT32
  float input_scale = 1.0f;                 // a pixel stands for pixel * scale
};

/// The pixels as `net.input` takes them.
std::vector<std::uint8_t> InputBytes(const Lenet& net,
                                     const std::vector<std::uint8_t>& pixels);

/// The last layer: tim::custom_ops::SoftmaxCl, a custom operator, or the
/// built-in one where the device does not run OpenCL kernels.
enum class SoftmaxKind { kCustom, kBuiltIn };
SoftmaxKind SoftmaxFor(const tim::vx::Context& context);

/// Builds the network for `batch` digits at a time. The types come from
/// `model`: lenet_f32.bin gives a float32 graph, lenet_u8.bin a uint8 one.
/// Returns false, with the reason in `error`, where `model` lacks a tensor.
bool BuildLenet(tim::vx::Context* context, const TensorFile& model,
                std::uint32_t batch, Lenet* net, std::string* error);

}  // namespace digits

#endif  // TIM_SAMPLES_DIGITS_LENET_H_
