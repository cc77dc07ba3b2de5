#include "bench/networks/describe.h"

namespace tim::bench {
namespace {

using nlohmann::json;

// By LayerKind.
constexpr const char* kKindNames[] = {"Input",
                                      "Conv2d",
                                      "DepthwiseConv2d",
                                      "FullyConnected",
                                      "Matmul",
                                      "Relu",
                                      "Relu6",
                                      "Add",
                                      "Concat",
                                      "MaxPool",
                                      "GlobalAveragePool",
                                      "Softmax",
                                      "Transpose"};
static_assert(std::size(kKindNames) ==
              static_cast<size_t>(LayerKind::kTranspose) + 1);

json SlowestFirst(const Shape& shape) {
  return Shape(shape.rbegin(), shape.rend());
}

json DescribeLayer(const Layer& layer) {
  json parameters = json::array();
  for (const Parameter& parameter : layer.parameters) {
    parameters.push_back({{"stream", parameter.stream},
                          {"shape", SlowestFirst(parameter.shape)},
                          {"bound", parameter.bound}});
  }
  return {{"kind", kKindNames[static_cast<size_t>(layer.kind)]},
          {"inputs", layer.inputs},
          {"shape", SlowestFirst(layer.shape)},
          {"window",
           {{"size", layer.window.size},
            {"stride", layer.window.stride},
            {"pad", layer.window.pad}}},
          {"parameters", std::move(parameters)}};
}

}  // namespace

json Describe(const Network& network) {
  json layers = json::array();
  for (const Layer& layer : network.layers) {
    layers.push_back(DescribeLayer(layer));
  }
  return {{"name", network.name}, {"layers", std::move(layers)}};
}

}  // namespace tim::bench
