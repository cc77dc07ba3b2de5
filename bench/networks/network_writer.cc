#include "bench/networks/network_writer.h"

#include <cmath>
#include <utility>

namespace tim::bench {
namespace {

constexpr float kBiasBound = 0.05f;

// The variance of a sum of n products is n times that of a weight, which is
// bound^2 / 3, times the mean square of the inputs.
float Bound(int64_t products, Gain gain) {
  const double square = gain == Gain::kRelu       ? 2
                        : gain == Gain::kResidual ? 0.25
                                                  : 1;
  return static_cast<float>(std::sqrt(3 * square / products));
}

std::vector<Parameter> WeightsAndBias(const Shape& weights, uint32_t outputs,
                                      Gain gain) {
  const float bound = Bound(Elements(weights) / outputs, gain);
  return {{.shape = weights, .bound = bound},
          {.shape = {outputs}, .bound = kBiasBound}};
}

uint32_t WindowExtent(uint32_t extent, const Window& window) {
  return (extent + 2 * window.pad - window.size) / window.stride + 1;
}

}  // namespace

int NetworkWriter::Push(Layer layer) {
  for (Parameter& parameter : layer.parameters) {
    parameter.stream = next_stream_++;
  }
  network_.layers.push_back(std::move(layer));
  return static_cast<int>(network_.layers.size()) - 1;
}

int NetworkWriter::SameShape(LayerKind kind, const std::vector<int>& inputs) {
  return Push({.kind = kind, .inputs = inputs, .shape = ShapeOf(inputs[0])});
}

int NetworkWriter::Input(const Shape& shape) {
  return Push({.kind = LayerKind::kInput, .shape = shape});
}

int NetworkWriter::Conv2d(int x, uint32_t channels, const Window& window,
                          Gain gain) {
  const Shape& in = ShapeOf(x);
  const Shape weights = {window.size, window.size, in[2], channels};
  return Push({.kind = LayerKind::kConv2d,
               .inputs = {x},
               .shape = {WindowExtent(in[0], window),
                         WindowExtent(in[1], window), channels, in[3]},
               .window = window,
               .parameters = WeightsAndBias(weights, channels, gain)});
}

int NetworkWriter::DepthwiseConv2d(int x, const Window& window, Gain gain) {
  const Shape& in = ShapeOf(x);
  const Shape weights = {window.size, window.size, in[2], 1};
  return Push({.kind = LayerKind::kDepthwiseConv2d,
               .inputs = {x},
               .shape = {WindowExtent(in[0], window),
                         WindowExtent(in[1], window), in[2], in[3]},
               .window = window,
               .parameters = WeightsAndBias(weights, in[2], gain)});
}

int NetworkWriter::FullyConnected(int x, uint32_t units, Gain gain) {
  const uint32_t batch = ShapeOf(x).back();
  const auto inputs = static_cast<uint32_t>(Elements(ShapeOf(x)) / batch);
  return Push({.kind = LayerKind::kFullyConnected,
               .inputs = {x},
               .shape = {units, batch},
               .parameters = WeightsAndBias({inputs, units}, units, gain)});
}

int NetworkWriter::Matmul(int a, int b) {
  return Push({.kind = LayerKind::kMatmul,
               .inputs = {a, b},
               .shape = {ShapeOf(b)[0], ShapeOf(a)[1]}});
}

int NetworkWriter::Transpose(int x) {
  const Shape& in = ShapeOf(x);
  return Push(
      {.kind = LayerKind::kTranspose, .inputs = {x}, .shape = {in[1], in[0]}});
}

int NetworkWriter::Concat(const std::vector<int>& parts) {
  Shape shape = ShapeOf(parts[0]);
  shape[2] = 0;
  for (const int part : parts) shape[2] += ShapeOf(part)[2];
  return Push({.kind = LayerKind::kConcat, .inputs = parts, .shape = shape});
}

int NetworkWriter::MaxPool(int x, const Window& window) {
  const Shape& in = ShapeOf(x);
  return Push({.kind = LayerKind::kMaxPool,
               .inputs = {x},
               .shape = {WindowExtent(in[0], window),
                         WindowExtent(in[1], window), in[2], in[3]},
               .window = window});
}

int NetworkWriter::GlobalAveragePool(int x) {
  const Shape& in = ShapeOf(x);
  return Push({.kind = LayerKind::kGlobalAveragePool,
               .inputs = {x},
               .shape = {1, 1, in[2], in[3]}});
}

}  // namespace tim::bench
