#include "bench/networks/network.h"

namespace tim::bench {
namespace {

// Products that are summed into one element of the result.
int64_t ProductsPerElement(const Network& network, const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::kConv2d:
    case LayerKind::kDepthwiseConv2d:
      return Elements(layer.parameters[0].shape) / layer.shape[2];
    case LayerKind::kDeConv2d:  // Of the windows that an element is in.
      return Elements(layer.parameters[0].shape) / layer.shape[2] /
             (layer.window.stride * layer.window.stride);
    case LayerKind::kLstm:
      return 4 * (network.layers[layer.inputs[0]].shape[0] + layer.shape[0]);
    case LayerKind::kGru:
      return 3 * (network.layers[layer.inputs[0]].shape[0] + layer.shape[0]);
    case LayerKind::kFullyConnected:
      return layer.parameters[0].shape[0];
    case LayerKind::kMatmul:
      return network.layers[layer.inputs[0]].shape[0];
    default:
      return 0;
  }
}

}  // namespace

int64_t Elements(const Shape& shape) {
  int64_t elements = 1;
  for (const uint32_t extent : shape) elements *= extent;
  return elements;
}

int64_t ParameterCount(const Layer& layer) {
  int64_t count = 0;
  for (const Parameter& parameter : layer.parameters) {
    if (!parameter.shape.empty()) count += Elements(parameter.shape);
  }
  return count;
}

int64_t ParameterCount(const Network& network) {
  int64_t count = 0;
  for (const Layer& layer : network.layers) count += ParameterCount(layer);
  return count;
}

int64_t ParameterBytes(const Network& network) {
  int64_t bytes = 0;
  for (const Layer& layer : network.layers) {
    for (const Parameter& parameter : layer.parameters) {
      if (parameter.shape.empty()) continue;
      bytes += Elements(parameter.shape) * BytesOf(parameter.codes.type);
    }
  }
  return bytes;
}

const char* NameOf(ElementType type) {
  constexpr const char* kNames[] = {"float32", "int8", "uint8", "int32"};
  return kNames[static_cast<size_t>(type)];
}

int64_t BytesOf(ElementType type) {
  constexpr int64_t kBytes[] = {4, 1, 1, 4};
  return kBytes[static_cast<size_t>(type)];
}

Work WorkOf(const Network& network, const Layer& layer) {
  const int64_t outputs = Elements(layer.shape);
  int64_t elements = outputs + ParameterCount(layer);
  for (const int input : layer.inputs) {
    elements += Elements(network.layers[input].shape);
  }
  const int64_t products = outputs * ProductsPerElement(network, layer);
  return {.flops = 2.0 * static_cast<double>(products),
          .bytes = 4.0 * static_cast<double>(elements)};
}

}  // namespace tim::bench
