// Writes a network layer by layer; shapes and weights follow from what is said.
#ifndef TIM_BENCH_NETWORKS_NETWORK_WRITER_H_
#define TIM_BENCH_NETWORKS_NETWORK_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/networks/network.h"

namespace tim::bench {

/// How large values are after a layer, compared with those before it.  With
/// seeded weights they must neither vanish nor explode.
enum class Gain : uint8_t {
  kLinear,    ///< As large.
  kRelu,      ///< As large once the Relu behind the layer has cut half of them.
  kHalved,    ///< As large once a HardSwish or a gate near 1/2 has halved them.
  kResidual,  ///< Half as large: the sum with what it is added to stays small.
};

enum class Bias : uint8_t { kAdded, kNone };

/// Functions add a layer and return its number.  Axes are counted from the
/// fastest-varying one; that of the channels of an image is kChannels.
class NetworkWriter {
 public:
  static constexpr int kChannels = 2;

  explicit NetworkWriter(std::string name) { network_.name = std::move(name); }

  int Input(const Shape& shape);
  int Constant(const Shape& shape, float bound, float center = 0);

  int Conv2d(int x, uint32_t channels, const Window& window, Gain gain,
             Bias bias = Bias::kAdded);
  /// A Conv2d and its Relu.
  int Conv2dRelu(int x, uint32_t channels, const Window& window) {
    return Relu(Conv2d(x, channels, window, Gain::kRelu));
  }
  int DepthwiseConv2d(int x, const Window& window, Gain gain);
  /// Transposed: `window` goes over the result.
  int DeConv2d(int x, uint32_t channels, const Window& window, Gain gain);
  int FullyConnected(int x, uint32_t units, Gain gain);
  /// [K, M, ...] times [N, K, ...].
  int Matmul(int a, int b);
  /// The states after every step of x [width, batch, steps], from zeros on.
  int Lstm(int x, uint32_t units);
  int Gru(int x, uint32_t units);

  /// Near the identity.
  int BatchNorm(int x);
  int LayerNormalization(int x);
  /// x / (1 + alpha * sum of x^2 over `size` channels)^beta.
  int LocalResponseNormalization(int x, uint32_t size, float alpha, float beta);
  int Softmax(int x) { return SameShape(LayerKind::kSoftmax, {x}); }

  int Relu(int x) { return SameShape(LayerKind::kRelu, {x}); }
  int Relu6(int x) { return SameShape(LayerKind::kRelu6, {x}); }
  int Sigmoid(int x) { return SameShape(LayerKind::kSigmoid, {x}); }
  /// Relu6(x + 3) / 6.
  int HardSigmoid(int x) {
    return SameShape(LayerKind::kHardSigmoid, {x}, {1.0f / 6, 0.5f});
  }
  int HardSwish(int x) { return SameShape(LayerKind::kHardSwish, {x}); }
  int Gelu(int x) { return SameShape(LayerKind::kGelu, {x}); }
  int Linear(int x, float slope, float offset) {
    return SameShape(LayerKind::kLinear, {x}, {slope, offset});
  }
  /// Where shapes differ, `b` is broadcast to that of `a`.
  int Add(int a, int b) { return SameShape(LayerKind::kAdd, {a, b}); }
  int Multiply(int a, int b) { return SameShape(LayerKind::kMultiply, {a, b}); }

  int MaxPool(int x, const Window& window) {
    return Pool(LayerKind::kMaxPool, x, window);
  }
  int AveragePool(int x, const Window& window) {
    return Pool(LayerKind::kAveragePool, x, window);
  }
  int GlobalAveragePool(int x);
  /// To the width and height of `like`.
  int ResizeNearest(int x, const Shape& like) {
    return Resize(LayerKind::kResizeNearest, x, like);
  }
  int ResizeBilinear(int x, const Shape& like) {
    return Resize(LayerKind::kResizeBilinear, x, like);
  }

  int Concat(const std::vector<int>& parts, int axis = kChannels);
  /// Consecutive parts of the extents given.
  std::vector<int> Split(int x, const std::vector<uint32_t>& extents,
                         int axis = kChannels);
  int ShuffleChannel(int x, uint32_t groups);
  int StridedSlice(int x, const Stride& stride);
  int Reshape(int x, const Shape& shape);
  /// Axis i of the result is axis permutation[i] of x.
  int Transpose(int x, const std::vector<uint32_t>& permutation);
  /// Rows of the matrix `table` in the order that the numbers `rows` say, each
  /// rounded towards 0.
  int Gather(int table, int rows);

  /// {W, H, C, N} of the result of layer `x`, if it is an image.
  const Shape& ShapeOf(int x) const { return network_.layers[x].shape; }

  Network Finish() { return std::move(network_); }

 private:
  int Push(Layer layer);
  int SameShape(LayerKind kind, const std::vector<int>& inputs,
                const std::vector<float>& coefficients = {});
  int Pool(LayerKind kind, int x, const Window& window);
  int Recurrent(LayerKind kind, int x, uint32_t units,
                const std::vector<Parameter>& parameters);
  int Resize(LayerKind kind, int x, const Shape& like);

  Network network_;
  uint64_t next_stream_ = 0;
};

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_NETWORK_WRITER_H_
