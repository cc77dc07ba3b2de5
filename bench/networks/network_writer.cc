#include "bench/networks/network_writer.h"

#include <cmath>
#include <utility>

namespace tim::bench {
namespace {

constexpr float kBiasBound = 0.05f;
constexpr float kEpsilon = 1e-5f;

// The variance of a sum of n products is n times that of a weight, which is
// bound^2 / 3, times the mean square of the inputs.
float Bound(int64_t products, Gain gain) {
  const double square = gain == Gain::kRelu       ? 2
                        : gain == Gain::kHalved   ? 4
                        : gain == Gain::kResidual ? 0.25
                                                  : 1;
  return static_cast<float>(std::sqrt(3 * square / products));
}

std::vector<Parameter> WeightsAndBias(const Shape& weights, uint32_t outputs,
                                      Gain gain, Bias bias = Bias::kAdded) {
  const float bound = Bound(Elements(weights) / outputs, gain);
  std::vector<Parameter> parameters = {{.shape = weights, .bound = bound}};
  if (bias == Bias::kAdded) {
    parameters.push_back({.shape = {outputs}, .bound = kBiasBound});
  }
  return parameters;
}

// Weights [depth, units] of every gate.
void AddGates(uint32_t gates, uint32_t depth, uint32_t units,
              std::vector<Parameter>* parameters) {
  parameters->insert(
      parameters->end(), gates,
      {.shape = {depth, units}, .bound = Bound(depth, Gain::kLinear)});
}

void AddBiases(uint32_t gates, uint32_t units,
               std::vector<Parameter>* parameters) {
  parameters->insert(parameters->end(), gates,
                     {.shape = {units}, .bound = kBiasBound});
}

void AddAbsent(int count, std::vector<Parameter>* parameters) {
  parameters->insert(parameters->end(), count, Parameter{});
}

// Windows that begin in a pad behind the image are not left out: there is none
// where the pad is less than the stride.
uint32_t WindowExtent(uint32_t extent, const Window& window) {
  const int64_t stride = window.stride;
  const int64_t room =
      int64_t{extent} + 2 * int64_t{window.pad} - int64_t{window.size};
  const bool up = window.rounding == Rounding::kCeil;
  return static_cast<uint32_t>((room + (up ? stride - 1 : 0)) / stride + 1);
}

Shape WindowShape(const Shape& in, const Window& window, uint32_t channels) {
  return {WindowExtent(in[0], window), WindowExtent(in[1], window), channels,
          in[3]};
}

}  // namespace

int NetworkWriter::Push(Layer layer) {
  for (Parameter& parameter : layer.parameters) {
    if (!parameter.shape.empty()) parameter.stream = next_stream_++;
  }
  network_.layers.push_back(std::move(layer));
  return static_cast<int>(network_.layers.size()) - 1;
}

int NetworkWriter::SameShape(LayerKind kind, const std::vector<int>& inputs,
                             const std::vector<float>& coefficients) {
  return Push({.kind = kind,
               .inputs = inputs,
               .shape = ShapeOf(inputs[0]),
               .coefficients = coefficients});
}

int NetworkWriter::Input(const Shape& shape) {
  return Push({.kind = LayerKind::kInput, .shape = shape});
}

int NetworkWriter::Constant(const Shape& shape, float bound, float center) {
  return Push(
      {.kind = LayerKind::kConstant,
       .shape = shape,
       .parameters = {{.shape = shape, .bound = bound, .center = center}}});
}

int NetworkWriter::Conv2d(int x, uint32_t channels, const Window& window,
                          Gain gain, Bias bias) {
  const Shape& in = ShapeOf(x);
  const Shape weights = {window.size, window.size, in[2], channels};
  return Push({.kind = LayerKind::kConv2d,
               .inputs = {x},
               .shape = WindowShape(in, window, channels),
               .window = window,
               .parameters = WeightsAndBias(weights, channels, gain, bias)});
}

int NetworkWriter::DepthwiseConv2d(int x, const Window& window, Gain gain) {
  const Shape& in = ShapeOf(x);
  const Shape weights = {window.size, window.size, in[2], 1};
  return Push({.kind = LayerKind::kDepthwiseConv2d,
               .inputs = {x},
               .shape = WindowShape(in, window, in[2]),
               .window = window,
               .parameters = WeightsAndBias(weights, in[2], gain)});
}

int NetworkWriter::DeConv2d(int x, uint32_t channels, const Window& window,
                            Gain gain) {
  const Shape& in = ShapeOf(x);
  const auto extent = [&](uint32_t cells) {
    return (cells - 1) * window.stride + window.size - 2 * window.pad;
  };
  const Shape weights = {window.size, window.size, in[2], channels};
  const int64_t products =
      Elements(weights) / channels / (window.stride * window.stride);
  return Push(
      {.kind = LayerKind::kDeConv2d,
       .inputs = {x},
       .shape = {extent(in[0]), extent(in[1]), channels, in[3]},
       .window = window,
       .parameters = {{.shape = weights, .bound = Bound(products, gain)},
                      {.shape = {channels}, .bound = kBiasBound}}});
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
  Shape shape = ShapeOf(a);
  shape[0] = ShapeOf(b)[0];
  return Push({.kind = LayerKind::kMatmul, .inputs = {a, b}, .shape = shape});
}

int NetworkWriter::Recurrent(LayerKind kind, int x, uint32_t units,
                             const std::vector<Parameter>& parameters) {
  Shape shape = ShapeOf(x);
  shape[0] = units;
  return Push(
      {.kind = kind, .inputs = {x}, .shape = shape, .parameters = parameters});
}

int NetworkWriter::Lstm(int x, uint32_t units) {
  constexpr uint32_t kGates = 4;
  std::vector<Parameter> parameters;
  AddAbsent(2, &parameters);  // States.
  AddGates(kGates, ShapeOf(x)[0], units, &parameters);
  AddGates(kGates, units, units, &parameters);
  AddAbsent(3, &parameters);  // Peepholes.
  AddBiases(kGates, units, &parameters);
  return Recurrent(LayerKind::kLstm, x, units, parameters);
}

int NetworkWriter::Gru(int x, uint32_t units) {
  constexpr uint32_t kGates = 3;
  std::vector<Parameter> parameters;
  AddAbsent(1, &parameters);  // The state.
  AddGates(kGates, ShapeOf(x)[0], units, &parameters);
  AddGates(kGates, units, units, &parameters);
  AddBiases(2 * kGates, units, &parameters);
  return Recurrent(LayerKind::kGru, x, units, parameters);
}

int NetworkWriter::BatchNorm(int x) {
  const Shape channels = {ShapeOf(x)[2]};
  return Push({.kind = LayerKind::kBatchNorm,
               .inputs = {x},
               .shape = ShapeOf(x),
               .coefficients = {kEpsilon},
               .parameters = {{.shape = channels, .bound = 0.1f},
                              {.shape = channels, .bound = 0.5f, .center = 1},
                              {.shape = channels, .bound = 0.25f, .center = 1},
                              {.shape = channels, .bound = kBiasBound}}});
}

int NetworkWriter::LayerNormalization(int x) {
  const Shape row = {ShapeOf(x)[0]};
  return Push({.kind = LayerKind::kLayerNormalization,
               .inputs = {x},
               .shape = ShapeOf(x),
               .coefficients = {kEpsilon},
               .parameters = {{.shape = row, .bound = kBiasBound},
                              {.shape = row, .bound = 0.25f, .center = 1}}});
}

int NetworkWriter::LocalResponseNormalization(int x, uint32_t size, float alpha,
                                              float beta) {
  return Push({.kind = LayerKind::kLocalResponseNormalization,
               .inputs = {x},
               .shape = ShapeOf(x),
               .window = {.size = size},
               .coefficients = {alpha, beta, 1.0f}});
}

int NetworkWriter::Pool(LayerKind kind, int x, const Window& window) {
  const Shape& in = ShapeOf(x);
  return Push({.kind = kind,
               .inputs = {x},
               .shape = WindowShape(in, window, in[2]),
               .window = window});
}

int NetworkWriter::GlobalAveragePool(int x) {
  const Shape& in = ShapeOf(x);
  return Push({.kind = LayerKind::kGlobalAveragePool,
               .inputs = {x},
               .shape = {1, 1, in[2], in[3]}});
}

int NetworkWriter::Resize(LayerKind kind, int x, const Shape& like) {
  const Shape& in = ShapeOf(x);
  return Push(
      {.kind = kind, .inputs = {x}, .shape = {like[0], like[1], in[2], in[3]}});
}

int NetworkWriter::Concat(const std::vector<int>& parts, int axis) {
  Shape shape = ShapeOf(parts[0]);
  shape[axis] = 0;
  for (const int part : parts) shape[axis] += ShapeOf(part)[axis];
  return Push({.kind = LayerKind::kConcat,
               .inputs = parts,
               .shape = shape,
               .axis = axis});
}

std::vector<int> NetworkWriter::Split(int x,
                                      const std::vector<uint32_t>& extents,
                                      int axis) {
  std::vector<int> parts;
  Shape shape = ShapeOf(x);
  for (const uint32_t extent : extents) {
    shape[axis] = extent;
    if (parts.empty()) {
      parts.push_back(Push({.kind = LayerKind::kSplit,
                            .inputs = {x},
                            .shape = shape,
                            .axis = axis,
                            .extents = extents}));
    } else {
      parts.push_back(Push(
          {.kind = LayerKind::kPart, .inputs = {parts[0]}, .shape = shape}));
    }
  }
  return parts;
}

int NetworkWriter::ShuffleChannel(int x, uint32_t groups) {
  return Push({.kind = LayerKind::kShuffleChannel,
               .inputs = {x},
               .shape = ShapeOf(x),
               .axis = kChannels,
               .groups = groups});
}

int NetworkWriter::StridedSlice(int x, const Stride& stride) {
  Shape shape = ShapeOf(x);
  for (size_t i = 0; i < stride.stride.size(); ++i) {
    const int left = static_cast<int>(shape[i]) - stride.begin[i];
    shape[i] = static_cast<uint32_t>((left - 1) / stride.stride[i] + 1);
  }
  return Push({.kind = LayerKind::kStridedSlice,
               .inputs = {x},
               .shape = shape,
               .stride = stride});
}

int NetworkWriter::Reshape(int x, const Shape& shape) {
  return Push({.kind = LayerKind::kReshape, .inputs = {x}, .shape = shape});
}

int NetworkWriter::Transpose(int x, const std::vector<uint32_t>& permutation) {
  Shape shape;
  for (const uint32_t axis : permutation) shape.push_back(ShapeOf(x)[axis]);
  return Push({.kind = LayerKind::kTranspose,
               .inputs = {x},
               .shape = shape,
               .permutation = permutation});
}

int NetworkWriter::Gather(int table, int rows) {
  Shape shape = ShapeOf(rows);
  shape.insert(shape.begin(), ShapeOf(table)[0]);
  return Push(
      {.kind = LayerKind::kGather, .inputs = {table, rows}, .shape = shape});
}

}  // namespace tim::bench
