#include "bench/operators/byte_cases.h"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>

#include "bench/models/catalog.h"
#include "bench/networks/network.h"
#include "tim/vx/ops.h"

namespace tim::bench {
namespace {

using vx::DataType;
using vx::Graph;
using vx::Quantization;
using vx::QuantType;
using vx::ShapeType;
using vx::TensorSpec;
using TensorPtr = std::shared_ptr<vx::Tensor>;

enum class CodeType { kInt8, kUint8 };

const char* SuffixOf(CodeType codes) {
  return codes == CodeType::kInt8 ? "_int8" : "_uint8";
}

double Count(const ShapeType& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0,
                         std::multiplies<double>());
}

// Makes the operands of one operation.
class Maker {
 public:
  Maker(Graph& graph, CodeType codes) : graph_(graph), codes_(codes) {}

  TensorPtr Values(const ShapeType& shape, vx::TensorAttribute role,
                   float scale) {
    const int zero = codes_ == CodeType::kInt8 ? 3 : 120;
    return graph_.CreateTensor(TensorSpec(
        Type(), shape, role, Quantization(QuantType::ASYMMETRIC, scale, zero)));
  }

  // Channels along the last axis, or the one before it.
  TensorPtr Weights(const ShapeType& shape, int channel_axis) {
    std::vector<uint8_t> bytes(static_cast<size_t>(Count(shape)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return graph_.CreateTensor(
        TensorSpec(Type(), shape, vx::CONSTANT,
                   OfWeights(shape[channel_axis], channel_axis)),
        bytes.data());
  }

  TensorPtr Bias(uint32_t channels) {
    const std::vector<int32_t> values(channels, 1000);
    return graph_.CreateTensor(
        TensorSpec(DataType::INT32, {channels}, vx::CONSTANT), values.data());
  }

 private:
  DataType Type() const {
    return codes_ == CodeType::kInt8 ? DataType::INT8 : DataType::UINT8;
  }

  Quantization OfWeights(uint32_t channels, int axis) const {
    constexpr float kScale = 0.01f;
    if (codes_ == CodeType::kUint8) {
      return Quantization(QuantType::ASYMMETRIC, kScale, 125);
    }
    return Quantization(QuantType::SYMMETRIC_PER_CHANNEL, axis,
                        std::vector<float>(channels, kScale),
                        std::vector<int32_t>(channels, 0));
  }

  Graph& graph_;
  const CodeType codes_;
  std::mt19937 random_{1};
};

// A convolution of `input` (W, H, C, N) with a square window and a Relu.
struct Convolution {
  ShapeType input;
  uint32_t outputs = 1;
  Window window;
  bool depthwise = false;

  uint32_t Extent(int axis) const {
    return (input[axis] + 2 * window.pad - window.size) / window.stride + 1;
  }
  ShapeType output() const { return {Extent(0), Extent(1), outputs, input[3]}; }
  ShapeType weights() const {
    if (depthwise) return {window.size, window.size, outputs, 1};
    return {window.size, window.size, input[2], outputs};
  }
  double operations() const {
    const double terms = window.size * window.size *
                         (depthwise ? 1.0 : static_cast<double>(input[2]));
    return 2.0 * terms * Count(output());
  }
  double bytes() const {
    return Count(input) + Count(weights()) + Count(output());
  }
};

void Add(const Convolution& convolution, CodeType codes, Graph& graph) {
  Maker maker(graph, codes);
  const uint32_t pad = convolution.window.pad;
  const uint32_t stride = convolution.window.stride;
  // Relu reads codes of the same scale.
  const float scale = 0.5f;
  const TensorPtr sum =
      maker.Values(convolution.output(), vx::TRANSIENT, scale);
  graph
      .CreateOperation<vx::ops::Conv2d>(
          std::array<uint32_t, 4>{pad, pad, pad, pad},
          std::array<uint32_t, 2>{stride, stride},
          std::array<uint32_t, 2>{1, 1}, convolution.depthwise ? 1 : 0)
      ->BindInputs(
          {maker.Values(convolution.input, vx::INPUT, 0.02f),
           maker.Weights(convolution.weights(), convolution.depthwise ? 2 : 3),
           maker.Bias(convolution.outputs)})
      .BindOutput(sum);
  graph.CreateOperation<vx::ops::Relu>()->BindInput(sum).BindOutput(
      maker.Values(convolution.output(), vx::OUTPUT, scale));
}

ByteCase CaseOf(const std::string& name,
                const std::vector<Convolution>& convolutions, int repeats,
                CodeType codes) {
  ByteCase out = {.name = name + SuffixOf(codes),
                  .operation = "Conv2d",
                  .repeats = repeats,
                  .build = [=](Graph& graph) {
                    for (const Convolution& convolution : convolutions) {
                      Add(convolution, codes, graph);
                    }
                  }};
  for (const Convolution& convolution : convolutions) {
    out.operations += convolution.operations();
    out.bytes += convolution.bytes();
  }
  return out;
}

// 4x4, stride 2, 64 channels to as many, from 28x28 to 56x56.
ByteCase Deconvolution(CodeType codes) {
  constexpr uint32_t kChannels = 64;
  constexpr uint32_t kSize = 28;
  constexpr std::array<uint32_t, 2> kKernel = {4, 4};
  constexpr std::array<uint32_t, 2> kStride = {2, 2};
  const auto build = [=](Graph& graph) {
    Maker maker(graph, codes);
    graph
        .CreateOperation<vx::ops::DeConv2d>(
            int32_t{kChannels}, vx::PadType::AUTO, kKernel, kStride,
            std::array<uint32_t, 2>{0, 0}, std::array<uint32_t, 4>{1, 1, 1, 1})
        ->BindInputs(
            {maker.Values({kSize, kSize, kChannels, 1}, vx::INPUT, 0.02f),
             maker.Weights({4, 4, kChannels, kChannels}, 3),
             maker.Bias(kChannels)})
        .BindOutput(maker.Values({2 * kSize, 2 * kSize, kChannels, 1},
                                 vx::OUTPUT, 0.5f));
  };
  constexpr double kPixels = 1.0 * kSize * kSize * kChannels;
  return {.name = std::string("deconv2d_4x4_64_56") + SuffixOf(codes),
          .operation = "DeConv2d",
          .operations = 2.0 * 16 * kChannels * kPixels,
          .bytes = 5 * kPixels + 16 * kChannels * kChannels,
          .repeats = 16,
          .build = build};
}

std::vector<Convolution> Resnet50Convolutions() {
  const Network network = Resnet50(kImageSize);
  std::vector<Convolution> out;
  for (const Layer& layer : network.layers) {
    if (layer.kind != LayerKind::kConv2d) continue;
    out.push_back({.input = network.layers[layer.inputs[0]].shape,
                   .outputs = layer.shape[2],
                   .window = layer.window});
  }
  return out;
}

ByteCase FullyConnected(uint32_t rows, CodeType codes) {
  constexpr uint32_t kDepth = 1024;
  constexpr uint32_t kUnits = 1000;
  const auto build = [=](Graph& graph) {
    Maker maker(graph, codes);
    graph.CreateOperation<vx::ops::FullyConnected>(0, kUnits)
        ->BindInputs({maker.Values({kDepth, rows}, vx::INPUT, 0.02f),
                      maker.Weights({kDepth, kUnits}, 1), maker.Bias(kUnits)})
        .BindOutput(maker.Values({kUnits, rows}, vx::OUTPUT, 0.5f));
  };
  return {.name = "fully_connected_1024_1000_batch" + std::to_string(rows) +
                  SuffixOf(codes),
          .operation = "FullyConnected",
          .operations = 2.0 * kDepth * kUnits * rows,
          .bytes = 1.0 * kDepth * kUnits + (kDepth + kUnits) * rows,
          .repeats = 64,
          .build = build};
}

}  // namespace

std::vector<ByteCase> ByteCases() {
  constexpr Window k3x3 = {.size = 3, .pad = 1};
  const Convolution plain = {{56, 56, 64, 1}, 64, k3x3};
  const Convolution pointwise = {{56, 56, 256, 1}, 64, {}};
  const Convolution depthwise = {{112, 112, 32, 1}, 32, k3x3, true};
  std::vector<ByteCase> out;
  for (const CodeType codes : {CodeType::kInt8, CodeType::kUint8}) {
    out.push_back(CaseOf("conv2d_3x3_64_56", {plain}, 16, codes));
    out.push_back(CaseOf("conv2d_1x1_256_64_56", {pointwise}, 16, codes));
    out.push_back(
        CaseOf("conv2d_depthwise_3x3_32_112", {depthwise}, 64, codes));
    out.push_back(CaseOf("conv2d_resnet50", Resnet50Convolutions(), 1, codes));
    out.push_back(Deconvolution(codes));
    out.push_back(FullyConnected(1, codes));
    out.push_back(FullyConnected(64, codes));
  }
  return out;
}

}  // namespace tim::bench
