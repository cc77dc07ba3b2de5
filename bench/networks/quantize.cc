#include "bench/networks/quantize.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bench/networks/values.h"

namespace tim::bench {
namespace {

bool HasWeights(LayerKind kind) {
  return kind == LayerKind::kConv2d || kind == LayerKind::kDepthwiseConv2d ||
         kind == LayerKind::kFullyConnected;
}

bool IsRelu(LayerKind kind) {
  return kind == LayerKind::kRelu || kind == LayerKind::kRelu6;
}

bool HasCodes(LayerKind kind) {
  switch (kind) {
    case LayerKind::kHardSigmoid:
    case LayerKind::kHardSwish:
    case LayerKind::kAdd:
    case LayerKind::kMultiply:
    case LayerKind::kMaxPool:
    case LayerKind::kGlobalAveragePool:
      return true;
    default:
      return HasWeights(kind) || IsRelu(kind);
  }
}

Status CheckLayers(const Network& network, std::span<const Range> ranges) {
  if (ranges.size() != network.layers.size()) {
    return InvalidArgument(network.name, ": ranges of ", ranges.size(),
                           " layers, expected ", network.layers.size());
  }
  for (size_t i = 1; i < network.layers.size(); ++i) {  // Behind the input.
    if (HasCodes(network.layers[i].kind)) continue;
    return Unimplemented(network.name, ": layer ", i,
                         " is of a kind that has no codes here");
  }
  return OkStatus();
}

// Numbers of the layers that read each layer.
std::vector<std::vector<size_t>> ReadersOf(const Network& network) {
  std::vector<std::vector<size_t>> readers(network.layers.size());
  for (size_t i = 0; i < network.layers.size(); ++i) {
    for (const int input : network.layers[i].inputs) {
      readers[input].push_back(i);
    }
  }
  return readers;
}

// Of every layer's result.
std::vector<Codes> ResultCodes(const Network& network,
                               std::span<const Range> ranges,
                               ElementType type) {
  const std::vector<std::vector<size_t>> readers = ReadersOf(network);
  std::vector<Codes> codes;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (layer.kind == LayerKind::kMaxPool) {
      codes.push_back(codes[layer.inputs[0]]);
      continue;
    }
    const bool is_cut =
        readers[i].size() == 1 && IsRelu(network.layers[readers[i][0]].kind);
    codes.push_back(CodesOfRange(ranges[is_cut ? readers[i][0] : i], type));
  }
  return codes;
}

Codes WeightCodes(const Layer& layer, ElementType type) {
  const Parameter& weights = layer.parameters[0];
  std::vector<float> values(static_cast<size_t>(Elements(weights.shape)));
  FillValues(weights.stream, weights.bound, values);
  if (type == ElementType::kUint8) {
    const auto [least, greatest] =
        std::minmax_element(values.begin(), values.end());
    return CodesOfRange({*least, *greatest}, type);
  }
  const int last = static_cast<int>(weights.shape.size()) - 1;
  const int axis = layer.kind == LayerKind::kDepthwiseConv2d ? 2 : last;
  return CodesOfChannels(values, weights.shape, axis);
}

void AddParameterCodes(Layer& layer, const Codes& input, ElementType type) {
  const Codes weights = WeightCodes(layer, type);
  layer.parameters[0].codes = weights;
  if (layer.parameters.size() < 2) return;
  layer.parameters[1].codes = CodesOfBias(input, weights);
}

}  // namespace

Result<Network> Quantize(const Network& network, std::span<const Range> ranges,
                         ElementType type) {
  TIM_RETURN_IF_ERROR(CheckLayers(network, ranges));
  const std::vector<Codes> codes = ResultCodes(network, ranges, type);
  const Layer& input = network.layers[0];
  Network made = {.name = network.name, .layers = {input}, .type = type};
  made.layers.push_back({.kind = LayerKind::kDataConvert,
                         .inputs = {0},
                         .shape = input.shape,
                         .codes = codes[0]});
  for (size_t i = 1; i < network.layers.size(); ++i) {
    Layer layer = network.layers[i];
    if (HasWeights(layer.kind)) {
      AddParameterCodes(layer, codes[layer.inputs[0]], type);
    }
    for (int& number : layer.inputs) ++number;  // Behind the conversion.
    layer.codes = codes[i];
    made.layers.push_back(std::move(layer));
  }
  made.layers.push_back({.kind = LayerKind::kDataConvert,
                         .inputs = {static_cast<int>(made.layers.size()) - 1},
                         .shape = network.layers.back().shape});
  return made;
}

}  // namespace tim::bench
