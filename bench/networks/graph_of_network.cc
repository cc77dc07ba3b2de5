#include "bench/networks/graph_of_network.h"

#include <algorithm>
#include <vector>

#include "bench/networks/codes.h"
#include "bench/networks/layer_operations.h"
#include "bench/networks/values.h"

namespace tim::bench {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;

vx::DataType DataTypeOf(ElementType type) {
  constexpr vx::DataType kTypes[] = {vx::DataType::FLOAT32, vx::DataType::INT8,
                                     vx::DataType::UINT8, vx::DataType::INT32};
  return kTypes[static_cast<size_t>(type)];
}

vx::TensorSpec SpecOf(const Codes& codes, const Shape& shape,
                      vx::TensorAttribute attribute) {
  vx::TensorSpec spec(DataTypeOf(codes.type), shape, attribute);
  if (codes.scales.size() == 1) {
    spec.SetQuantization(vx::Quantization(vx::QuantType::ASYMMETRIC,
                                          codes.scales[0], codes.zero_point));
  } else if (codes.scales.size() > 1) {
    spec.SetQuantization(vx::Quantization(vx::QuantType::SYMMETRIC_PER_CHANNEL,
                                          codes.channel_axis, codes.scales,
                                          {0}));
  }
  return spec;
}

// Memory for the values of one parameter after the other, so that the heap
// keeps no holes that would count as memory of the library.
struct Buffers {
  explicit Buffers(const Network& network) {
    int64_t elements = 0;
    for (const Layer& layer : network.layers) {
      for (const Parameter& parameter : layer.parameters) {
        elements = std::max<int64_t>(elements, Elements(parameter.shape));
      }
    }
    values.reserve(static_cast<size_t>(elements));
    if (network.type == ElementType::kFloat32) return;
    codes.reserve(static_cast<size_t>(elements));
  }

  std::vector<float> values;
  std::vector<uint8_t> codes;
};

TensorPtr MakeConstant(vx::Graph& graph, const Parameter& parameter,
                       Buffers& buffers) {
  if (parameter.shape.empty()) return graph.CreateTensorPlaceHolder();
  buffers.values.resize(static_cast<size_t>(Elements(parameter.shape)));
  FillValues(parameter.stream, parameter.bound, buffers.values);
  for (float& value : buffers.values) value += parameter.center;
  const void* data = buffers.values.data();
  if (parameter.codes.type != ElementType::kFloat32) {
    Encode(buffers.values, parameter.shape, parameter.codes, &buffers.codes);
    data = buffers.codes.data();
  }
  return graph.CreateTensor(
      SpecOf(parameter.codes, parameter.shape, vx::CONSTANT), data);
}

// Compile() finds the shapes of those in between.
TensorPtr MakeResult(vx::Graph& graph, const Layer& layer, bool is_last) {
  vx::TensorSpec spec = SpecOf(layer.codes, {}, vx::TRANSIENT);
  if (layer.kind == LayerKind::kInput) {
    spec.SetShape(layer.shape).SetAttribute(vx::INPUT);
  } else if (is_last) {
    spec.SetShape(layer.shape).SetAttribute(vx::OUTPUT);
  }
  return graph.CreateTensor(spec);
}

TensorPtr MakeTensor(vx::Graph& graph, const Network& network,
                     const Layer& layer, Buffers& buffers) {
  if (layer.kind == LayerKind::kConstant) {
    return MakeConstant(graph, layer.parameters[0], buffers);
  }
  return MakeResult(graph, layer, &layer == &network.layers.back());
}

}  // namespace

NetworkGraph GraphOfNetwork(vx::Context& context, const Network& network) {
  NetworkGraph made;
  Buffers buffers(network);
  made.graph = context.CreateGraph();
  std::vector<std::shared_ptr<vx::Operation>> operations;  // By layer.
  for (const Layer& layer : network.layers) {
    made.results.push_back(MakeTensor(*made.graph, network, layer, buffers));
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
          MakeConstant(*made.graph, parameter, buffers));
    }
    operations.back()->BindOutput(made.results.back());
  }
  return made;
}

}  // namespace tim::bench
