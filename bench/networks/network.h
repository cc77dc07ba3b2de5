// Networks as data: what the graphs of tim::vx, the ONNX models of compare.py
// and the amounts of work are all made from.
#ifndef TIM_BENCH_NETWORKS_NETWORK_H_
#define TIM_BENCH_NETWORKS_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tim::bench {

/// Extents, fastest-varying first as in tim::vx: {W, H, C, N}.
using Shape = std::vector<uint32_t>;

enum class LayerKind : uint8_t {
  kInput,
  kConv2d,
  kDepthwiseConv2d,
  kFullyConnected,  ///< Flattens all but the batch.
  kMatmul,
  kRelu,
  kRelu6,
  kAdd,
  kConcat,  ///< Along the channels.
  kMaxPool,
  kGlobalAveragePool,
  kSoftmax,    ///< Along the fastest axis.
  kTranspose,  ///< Of a matrix.
};

/// A square window.
struct Window {
  uint32_t size = 1;
  uint32_t stride = 1;
  uint32_t pad = 0;
};

/// Constants that FillValues() makes.
struct Parameter {
  uint64_t stream = 0;
  Shape shape;
  float bound = 0;  ///< They are in [-bound, bound).
};

struct Layer {
  LayerKind kind = LayerKind::kInput;
  std::vector<int> inputs = {};  ///< Earlier layers of the network.
  Shape shape = {};              ///< Of the result.
  Window window = {};
  std::vector<Parameter> parameters = {};  ///< Weights and bias, or none.
};

/// The last layer is the output.
struct Network {
  std::string name;
  std::vector<Layer> layers;
};

int64_t Elements(const Shape& shape);
int64_t ParameterCount(const Layer& layer);
int64_t ParameterCount(const Network& network);

/// What a layer has to do at least, whatever the algorithm.
struct Work {
  double flops = 0;  ///< Of the sums of products: 2 per product.
  double bytes = 0;  ///< Inputs and parameters read, the result written.
};
Work WorkOf(const Network& network, const Layer& layer);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_NETWORK_H_
