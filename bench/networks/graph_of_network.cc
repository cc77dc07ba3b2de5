#include "bench/networks/graph_of_network.h"

#include <algorithm>
#include <vector>

#include "bench/networks/layer_operations.h"
#include "bench/networks/values.h"

namespace tim::bench {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;
// `buffer` is used again and again, so that the heap keeps no holes that would
// count as memory of the library.
TensorPtr MakeConstant(vx::Graph& graph, const Parameter& parameter,
                       std::vector<float>& buffer) {
  if (parameter.shape.empty()) return graph.CreateTensorPlaceHolder();
  buffer.resize(static_cast<size_t>(Elements(parameter.shape)));
  FillValues(parameter.stream, parameter.bound, buffer);
  for (float& value : buffer) value += parameter.center;
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

TensorPtr MakeTensor(vx::Graph& graph, const Network& network,
                     const Layer& layer, std::vector<float>& buffer) {
  if (layer.kind == LayerKind::kConstant) {
    return MakeConstant(graph, layer.parameters[0], buffer);
  }
  return MakeResult(graph, layer, &layer == &network.layers.back());
}

}  // namespace

NetworkGraph GraphOfNetwork(vx::Context& context, const Network& network) {
  NetworkGraph made;
  std::vector<float> buffer = ParameterBuffer(network);
  made.graph = context.CreateGraph();
  std::vector<std::shared_ptr<vx::Operation>> operations;  // By layer.
  for (const Layer& layer : network.layers) {
    made.results.push_back(MakeTensor(*made.graph, network, layer, buffer));
    if (layer.kind == LayerKind::kPart) {
      operations.push_back(operations[layer.inputs[0]]);
      operations.back()->BindOutput(made.results.back());
      continue;
    }
    operations.push_back(MakeOperation(*made.graph, network, layer));
    if (operations.back() == nullptr) continue;
    for (const int input : layer.inputs) {
      operations.back()->BindInput(made.results[input]);
    }
    for (const Parameter& parameter : layer.parameters) {
      operations.back()->BindInput(
          MakeConstant(*made.graph, parameter, buffer));
    }
    operations.back()->BindOutput(made.results.back());
  }
  return made;
}

}  // namespace tim::bench
