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
  kResidual,  ///< Half as large: the sum with what it is added to stays small.
};

/// Functions add a layer and return its number.
class NetworkWriter {
 public:
  explicit NetworkWriter(std::string name) { network_.name = std::move(name); }

  int Input(const Shape& shape);
  int Conv2d(int x, uint32_t channels, const Window& window, Gain gain);
  /// A Conv2d and its Relu.
  int Conv2dRelu(int x, uint32_t channels, const Window& window) {
    return Relu(Conv2d(x, channels, window, Gain::kRelu));
  }
  int DepthwiseConv2d(int x, const Window& window, Gain gain);
  int FullyConnected(int x, uint32_t units, Gain gain);
  /// [K, M] times [N, K].
  int Matmul(int a, int b);
  int Relu(int x) { return SameShape(LayerKind::kRelu, {x}); }
  int Relu6(int x) { return SameShape(LayerKind::kRelu6, {x}); }
  int Add(int a, int b) { return SameShape(LayerKind::kAdd, {a, b}); }
  int Softmax(int x) { return SameShape(LayerKind::kSoftmax, {x}); }
  int Transpose(int x);
  int Concat(const std::vector<int>& parts);
  int MaxPool(int x, const Window& window);
  int GlobalAveragePool(int x);

  /// {W, H, C, N} of the result of layer `x`.
  const Shape& ShapeOf(int x) const { return network_.layers[x].shape; }

  Network Finish() { return std::move(network_); }

 private:
  int Push(Layer layer);
  int SameShape(LayerKind kind, const std::vector<int>& inputs);

  Network network_;
  uint64_t next_stream_ = 0;
};

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_NETWORK_WRITER_H_
