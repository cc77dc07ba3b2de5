#include "bench/networks/layer_operations.h"

#include <array>
#include <vector>

#include "tim/vx/ops.h"

namespace tim::bench {
namespace {

using OperationPtr = std::shared_ptr<vx::Operation>;
using Pair = std::array<uint32_t, 2>;
namespace ops = vx::ops;

// What makes the operation of `layer`, which reads a tensor of the shape `in`.
using Maker = OperationPtr (*)(vx::Graph& graph, const Layer& layer,
                               const Shape& in);

template <typename Op>
OperationPtr Plain(vx::Graph& graph, const Layer&, const Shape&) {
  return graph.CreateOperation<Op>();
}

template <typename Op>
OperationPtr WithTwoCoefficients(vx::Graph& graph, const Layer& layer,
                                 const Shape&) {
  return graph.CreateOperation<Op>(layer.coefficients[0],
                                   layer.coefficients[1]);
}

std::array<uint32_t, 4> Pads(const Window& window) {
  return {window.pad, window.pad, window.pad, window.pad};
}

template <int32_t multiplier>
OperationPtr Conv2d(vx::Graph& graph, const Layer& layer, const Shape&) {
  const uint32_t stride = layer.window.stride;
  return graph.CreateOperation<ops::Conv2d>(
      Pads(layer.window), Pair{stride, stride}, Pair{1, 1}, multiplier);
}

OperationPtr DeConv2d(vx::Graph& graph, const Layer& layer, const Shape&) {
  const auto& [size, stride, pad, rounding] = layer.window;
  return graph.CreateOperation<ops::DeConv2d>(
      static_cast<int32_t>(layer.shape[2]), vx::PadType::AUTO, Pair{size, size},
      Pair{stride, stride}, Pair{0, 0}, Pads(layer.window));
}

OperationPtr Lstm(vx::Graph& graph, const Layer&, const Shape&) {
  using Op = ops::UnidirectionalSequenceLstm;
  return graph.CreateOperation<Op>(0.0f, 0.0f, Op::kTANH, 0.0f,
                                   /*time_major=*/true, Op::kSIGMOID,
                                   /*return_sequences=*/true);
}

OperationPtr Gru(vx::Graph& graph, const Layer& layer, const Shape&) {
  using Op = ops::UnidirectionalSequenceGRU;
  return graph.CreateOperation<Op>(layer.shape[0], Op::kTANH, Op::kSIGMOID,
                                   /*reset_after=*/true,
                                   /*return_sequences=*/true,
                                   /*time_major=*/true);
}

OperationPtr FullyConnected(vx::Graph& graph, const Layer&, const Shape& in) {
  return graph.CreateOperation<ops::FullyConnected>(
      static_cast<uint32_t>(in.size()) - 2);
}

OperationPtr BatchNorm(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::BatchNorm>(layer.coefficients[0]);
}

OperationPtr LayerNormalization(vx::Graph& graph, const Layer& layer,
                                const Shape&) {
  return graph.CreateOperation<ops::LayerNormalization>(0,
                                                        layer.coefficients[0]);
}

OperationPtr LocalResponseNormalization(vx::Graph& graph, const Layer& layer,
                                        const Shape&) {
  return graph.CreateOperation<ops::LocalResponseNormalization>(
      layer.window.size, layer.coefficients[0], layer.coefficients[1],
      layer.coefficients[2], 2);
}

OperationPtr Softmax(vx::Graph& graph, const Layer&, const Shape&) {
  return graph.CreateOperation<ops::Softmax>(1.0f, 0);
}

OperationPtr Gelu(vx::Graph& graph, const Layer&, const Shape&) {
  return graph.CreateOperation<ops::Gelu>(false);
}

template <vx::PoolType type>
OperationPtr Pool(vx::Graph& graph, const Layer& layer, const Shape&) {
  const Window& window = layer.window;
  return graph.CreateOperation<ops::Pool2d>(
      type, Pads(window), Pair{window.size, window.size},
      Pair{window.stride, window.stride},
      window.rounding == Rounding::kCeil ? vx::RoundType::CEILING
                                         : vx::RoundType::FLOOR);
}

OperationPtr GlobalAveragePool(vx::Graph& graph, const Layer&,
                               const Shape& in) {
  return graph.CreateOperation<ops::Pool2d>(vx::PoolType::AVG,
                                            Pair{in[0], in[1]});
}

OperationPtr ResizeNearest(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::Resize>(
      vx::ResizeType::NEAREST_NEIGHBOR, 0.0f, false, false,
      static_cast<int>(layer.shape[1]), static_cast<int>(layer.shape[0]));
}

OperationPtr ResizeBilinear(vx::Graph& graph, const Layer& layer,
                            const Shape&) {
  return graph.CreateOperation<ops::Resize>(
      vx::ResizeType::BILINEAR, 0.0f, false, true,
      static_cast<int>(layer.shape[1]), static_cast<int>(layer.shape[0]));
}

OperationPtr Concat(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::Concat>(
      static_cast<uint32_t>(layer.axis), static_cast<int>(layer.inputs.size()));
}

OperationPtr Split(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::Split>(static_cast<uint32_t>(layer.axis),
                                           layer.extents);
}

OperationPtr ShuffleChannel(vx::Graph& graph, const Layer& layer,
                            const Shape&) {
  return graph.CreateOperation<ops::ShuffleChannel>(
      static_cast<int32_t>(layer.groups), layer.axis);
}

OperationPtr StridedSlice(vx::Graph& graph, const Layer& layer,
                          const Shape& in) {
  return graph.CreateOperation<ops::StridedSlice>(
      layer.stride.begin, std::vector<int32_t>(in.begin(), in.end()),
      layer.stride.stride, 0, 0, 0);
}

OperationPtr Reshape(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::Reshape>(layer.shape);
}

OperationPtr Transpose(vx::Graph& graph, const Layer& layer, const Shape&) {
  return graph.CreateOperation<ops::Transpose>(layer.permutation);
}

OperationPtr Gather(vx::Graph& graph, const Layer&, const Shape&) {
  return graph.CreateOperation<ops::Gather>(1);
}

struct LayerType {
  LayerKind kind = LayerKind::kInput;
  Maker make = nullptr;
};

constexpr LayerType kLayerTypes[] = {
    {LayerKind::kInput, nullptr},
    {LayerKind::kConstant, nullptr},
    {LayerKind::kConv2d, Conv2d<0>},
    {LayerKind::kDepthwiseConv2d, Conv2d<1>},
    {LayerKind::kDeConv2d, DeConv2d},
    {LayerKind::kFullyConnected, FullyConnected},
    {LayerKind::kMatmul, Plain<ops::Matmul>},
    {LayerKind::kLstm, Lstm},
    {LayerKind::kGru, Gru},
    {LayerKind::kBatchNorm, BatchNorm},
    {LayerKind::kLayerNormalization, LayerNormalization},
    {LayerKind::kLocalResponseNormalization, LocalResponseNormalization},
    {LayerKind::kSoftmax, Softmax},
    {LayerKind::kRelu, Plain<ops::Relu>},
    {LayerKind::kRelu6, Plain<ops::Relu6>},
    {LayerKind::kSigmoid, Plain<ops::Sigmoid>},
    {LayerKind::kHardSigmoid, WithTwoCoefficients<ops::HardSigmoid>},
    {LayerKind::kHardSwish, Plain<ops::HardSwish>},
    {LayerKind::kGelu, Gelu},
    {LayerKind::kLinear, WithTwoCoefficients<ops::Linear>},
    {LayerKind::kAdd, Plain<ops::Add>},
    {LayerKind::kMultiply, Plain<ops::Multiply>},
    {LayerKind::kMaxPool, Pool<vx::PoolType::MAX>},
    {LayerKind::kAveragePool, Pool<vx::PoolType::AVG>},
    {LayerKind::kGlobalAveragePool, GlobalAveragePool},
    {LayerKind::kResizeNearest, ResizeNearest},
    {LayerKind::kResizeBilinear, ResizeBilinear},
    {LayerKind::kConcat, Concat},
    {LayerKind::kSplit, Split},
    {LayerKind::kPart, nullptr},
    {LayerKind::kShuffleChannel, ShuffleChannel},
    {LayerKind::kStridedSlice, StridedSlice},
    {LayerKind::kReshape, Reshape},
    {LayerKind::kTranspose, Transpose},
    {LayerKind::kGather, Gather},
    {LayerKind::kDataConvert, Plain<ops::DataConvert>},
};

constexpr bool AreInOrder() {
  size_t kind = 0;
  for (const LayerType& type : kLayerTypes) {
    if (type.kind != static_cast<LayerKind>(kind++)) return false;
  }
  return kind == static_cast<size_t>(LayerKind::kDataConvert) + 1;
}
static_assert(AreInOrder());

}  // namespace

OperationPtr MakeOperation(vx::Graph& graph, const Network& network,
                           const Layer& layer) {
  const Maker make = kLayerTypes[static_cast<size_t>(layer.kind)].make;
  if (make == nullptr) return nullptr;
  return make(graph, layer, network.layers[layer.inputs[0]].shape);
}

}  // namespace tim::bench
