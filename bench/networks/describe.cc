#include "bench/networks/describe.h"

namespace tim::bench {
namespace {

using nlohmann::json;

// By LayerKind.
constexpr const char* kKindNames[] = {"Input",
                                      "Constant",
                                      "Conv2d",
                                      "DepthwiseConv2d",
                                      "DeConv2d",
                                      "FullyConnected",
                                      "Matmul",
                                      "Lstm",
                                      "Gru",
                                      "BatchNorm",
                                      "LayerNormalization",
                                      "LocalResponseNormalization",
                                      "Softmax",
                                      "Relu",
                                      "Relu6",
                                      "Sigmoid",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Gelu",
                                      "Linear",
                                      "Add",
                                      "Multiply",
                                      "MaxPool",
                                      "AveragePool",
                                      "GlobalAveragePool",
                                      "ResizeNearest",
                                      "ResizeBilinear",
                                      "Concat",
                                      "Split",
                                      "Part",
                                      "ShuffleChannel",
                                      "StridedSlice",
                                      "Reshape",
                                      "Transpose",
                                      "Gather",
                                      "DataConvert"};
static_assert(std::size(kKindNames) ==
              static_cast<size_t>(LayerKind::kDataConvert) + 1);

// Of values that are listed by axis.
template <typename T>
json SlowestFirst(const std::vector<T>& values) {
  return std::vector<T>(values.rbegin(), values.rend());
}

json DescribeWindow(const Window& window) {
  return {{"size", window.size},
          {"stride", window.stride},
          {"pad", window.pad},
          {"ceil", window.rounding == Rounding::kCeil}};
}

json DescribePermutation(const std::vector<uint32_t>& permutation) {
  std::vector<uint32_t> axes;
  for (const uint32_t axis : permutation) {
    axes.push_back(static_cast<uint32_t>(permutation.size()) - 1 - axis);
  }
  return SlowestFirst(axes);
}

json DescribeCodes(const Codes& codes, const Shape& shape) {
  return {{"type", NameOf(codes.type)},
          {"scales", codes.scales},
          {"zero_point", codes.zero_point},
          {"axis", static_cast<int>(shape.size()) - 1 - codes.channel_axis}};
}

// Of those that there are.
json DescribeParameters(const std::vector<Parameter>& parameters) {
  json out = json::array();
  for (const Parameter& parameter : parameters) {
    if (parameter.shape.empty()) continue;
    out.push_back({{"stream", parameter.stream},
                   {"shape", SlowestFirst(parameter.shape)},
                   {"bound", parameter.bound},
                   {"center", parameter.center},
                   {"codes", DescribeCodes(parameter.codes, parameter.shape)}});
  }
  return out;
}

json DescribeLayer(const Layer& layer) {
  return {{"kind", kKindNames[static_cast<size_t>(layer.kind)]},
          {"inputs", layer.inputs},
          {"shape", SlowestFirst(layer.shape)},
          {"window", DescribeWindow(layer.window)},
          {"axis", static_cast<int>(layer.shape.size()) - 1 - layer.axis},
          {"groups", layer.groups},
          {"extents", layer.extents},
          {"permutation", DescribePermutation(layer.permutation)},
          {"begin", SlowestFirst(layer.stride.begin)},
          {"stride", SlowestFirst(layer.stride.stride)},
          {"coefficients", layer.coefficients},
          {"parameters", DescribeParameters(layer.parameters)},
          {"codes", DescribeCodes(layer.codes, layer.shape)}};
}

}  // namespace

json Describe(const Network& network) {
  json layers = json::array();
  for (const Layer& layer : network.layers) {
    layers.push_back(DescribeLayer(layer));
  }
  return {{"name", network.name},
          {"type", NameOf(network.type)},
          {"layers", std::move(layers)}};
}

}  // namespace tim::bench
