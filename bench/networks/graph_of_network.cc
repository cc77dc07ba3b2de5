#include "bench/networks/graph_of_network.h"

#include <algorithm>
#include <array>
#include <vector>

#include "bench/networks/values.h"
#include "tim/vx/ops.h"

namespace tim::bench {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;
using Pair = std::array<uint32_t, 2>;

std::shared_ptr<vx::Operation> MakeConv2d(vx::Graph& graph,
                                          const Window& window,
                                          int32_t multiplier) {
  const uint32_t pad = window.pad;
  return graph.CreateOperation<vx::ops::Conv2d>(
      std::array<uint32_t, 4>{pad, pad, pad, pad},
      Pair{window.stride, window.stride}, Pair{1, 1}, multiplier);
}

std::shared_ptr<vx::Operation> MakeMaxPool(vx::Graph& graph,
                                           const Window& window) {
  const uint32_t pad = window.pad;
  return graph.CreateOperation<vx::ops::Pool2d>(
      vx::PoolType::MAX, std::array<uint32_t, 4>{pad, pad, pad, pad},
      Pair{window.size, window.size}, Pair{window.stride, window.stride});
}

// The operation of a layer that reads a tensor of the shape `in`.
std::shared_ptr<vx::Operation> MakeOperation(vx::Graph& graph,
                                             const Layer& layer,
                                             const Shape& in) {
  switch (layer.kind) {
    case LayerKind::kInput:
      return nullptr;
    case LayerKind::kConv2d:
      return MakeConv2d(graph, layer.window, 0);
    case LayerKind::kDepthwiseConv2d:
      return MakeConv2d(graph, layer.window, 1);
    case LayerKind::kFullyConnected:
      return graph.CreateOperation<vx::ops::FullyConnected>(
          static_cast<uint32_t>(in.size()) - 2);
    case LayerKind::kMatmul:
      return graph.CreateOperation<vx::ops::Matmul>();
    case LayerKind::kRelu:
      return graph.CreateOperation<vx::ops::Relu>();
    case LayerKind::kRelu6:
      return graph.CreateOperation<vx::ops::Relu6>();
    case LayerKind::kAdd:
      return graph.CreateOperation<vx::ops::Add>();
    case LayerKind::kConcat:
      return graph.CreateOperation<vx::ops::Concat>(
          2u, static_cast<int>(layer.inputs.size()));
    case LayerKind::kMaxPool:
      return MakeMaxPool(graph, layer.window);
    case LayerKind::kGlobalAveragePool:
      return graph.CreateOperation<vx::ops::Pool2d>(vx::PoolType::AVG,
                                                    Pair{in[0], in[1]});
    case LayerKind::kSoftmax:
      return graph.CreateOperation<vx::ops::Softmax>(1.0f, 0);
    case LayerKind::kTranspose:
      return graph.CreateOperation<vx::ops::Transpose>(
          std::vector<uint32_t>{1, 0});
  }
  return nullptr;
}

// `buffer` is used again and again, so that the heap keeps no holes that would
// count as memory of the library.
TensorPtr MakeConstant(vx::Graph& graph, const Parameter& parameter,
                       std::vector<float>& buffer) {
  buffer.resize(static_cast<size_t>(Elements(parameter.shape)));
  FillValues(parameter.stream, parameter.bound, buffer);
  return graph.CreateTensor(
      vx::TensorSpec(vx::DataType::FLOAT32, parameter.shape, vx::CONSTANT),
      buffer.data());
}

// Room for the largest parameter.
std::vector<float> ParameterBuffer(const Network& network) {
  int64_t elements = 0;
  for (const Layer& layer : network.layers) {
    for (const Parameter& parameter : layer.parameters) {
      elements = std::max<int64_t>(elements, Elements(parameter.shape));
    }
  }
  std::vector<float> buffer;
  buffer.reserve(static_cast<size_t>(elements));
  return buffer;
}

// Compile() finds the shapes of those in between.
TensorPtr MakeResult(vx::Graph& graph, const Layer& layer, bool is_last) {
  vx::TensorSpec spec(vx::DataType::FLOAT32, {}, vx::TRANSIENT);
  if (layer.kind == LayerKind::kInput) {
    spec.SetShape(layer.shape).SetAttribute(vx::INPUT);
  } else if (is_last) {
    spec.SetShape(layer.shape).SetAttribute(vx::OUTPUT);
  }
  return graph.CreateTensor(spec);
}

}  // namespace

NetworkGraph GraphOfNetwork(vx::Context& context, const Network& network) {
  NetworkGraph made;
  std::vector<float> buffer = ParameterBuffer(network);
  made.graph = context.CreateGraph();
  for (const Layer& layer : network.layers) {
    const bool is_last = &layer == &network.layers.back();
    made.results.push_back(MakeResult(*made.graph, layer, is_last));
    if (layer.kind == LayerKind::kInput) continue;
    const auto operation = MakeOperation(*made.graph, layer,
                                         network.layers[layer.inputs[0]].shape);
    for (const int input : layer.inputs) {
      operation->BindInput(made.results[input]);
    }
    for (const Parameter& parameter : layer.parameters) {
      operation->BindInput(MakeConstant(*made.graph, parameter, buffer));
    }
    operation->BindOutput(made.results.back());
  }
  return made;
}

}  // namespace tim::bench
