// A network of 8-bit codes for the tests of which kernels make it.
#ifndef TIM_TESTS_OPS_CONVOLUTION_I8_CODE_NETWORK_H_
#define TIM_TESTS_OPS_CONVOLUTION_I8_CODE_NETWORK_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {

/// Of uint8 with a zero point, or of int8 with a scale per channel.
enum class CodeWeights : uint8_t { kAsymmetric, kPerChannel };

/// Dense uint8 or int8 input, a stem, an inverted bottleneck, groups, classes:
/// five convolutions, a depthwise one and a FullyConnected.
class CodeNetwork {
 public:
  CodeNetwork(vx::Context& context, CodeWeights weights);

  /// The classes of random pixels.
  std::vector<uint8_t> Run();

  vx::Graph& graph() { return *graph_; }

 private:
  using TensorPtr = std::shared_ptr<vx::Tensor>;

  vx::DataType Type() const;
  TensorPtr Values(const vx::ShapeType& shape, vx::TensorAttribute attribute);
  TensorPtr Constant(const vx::ShapeType& shape, int axis);
  TensorPtr Conv(const TensorPtr& from, const vx::ShapeType& shape,
                 uint32_t stride, int32_t multiplier,
                 vx::PadType pad = vx::PadType::SAME);
  TensorPtr Limited(const TensorPtr& from);

  const CodeWeights weights_;
  std::mt19937 rng_{5};
  std::shared_ptr<vx::Graph> graph_;
  TensorPtr input_;
  TensorPtr output_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_CONVOLUTION_I8_CODE_NETWORK_H_
