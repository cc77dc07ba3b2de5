#include "tests/ops/convolution_i8/code_network.h"

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace tim::testing {
namespace {

using vx::DataType;
using vx::QuantType;
using vx::ShapeType;
using vx::TensorAttribute;
using vx::TensorSpec;
using Pair = std::array<uint32_t, 2>;

constexpr uint32_t kBatch = 2;
constexpr uint32_t kClasses = 1000;

}  // namespace

CodeNetwork::CodeNetwork(vx::Context& context, CodeWeights weights)
    : weights_(weights), graph_(context.CreateGraph()) {
  input_ = Values({33, 31, 3, kBatch}, TensorAttribute::INPUT);
  TensorPtr x = Conv(input_, {3, 3, 3, 32}, 2, 0);
  x = Conv(Limited(x), {1, 1, 32, 48}, 1, 0);
  x = Conv(Limited(x), {3, 3, 48, 1}, 1, 1);
  x = Conv(Limited(x), {1, 1, 48, 64}, 1, 0);
  x = Conv(x, {3, 3, 16, 64}, 1, 0);
  x = Conv(Limited(x), {17, 16, 64, 24}, 1, 0, vx::PadType::VALID);
  output_ = Values({kClasses, kBatch}, TensorAttribute::OUTPUT);
  graph_->CreateOperation<vx::ops::FullyConnected>(2, kClasses)
      ->BindInputs({x, Constant({24, kClasses}, 1)})
      .BindOutput(output_);
}

std::vector<uint8_t> CodeNetwork::Run() {
  std::mt19937 rng(3);
  std::vector<uint8_t> pixels(33 * 31 * 3 * kBatch);
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(rng());
  Write(input_, pixels);
  EXPECT_TRUE(graph_->Run()) << graph_->ErrorMessage();
  return Read<uint8_t>(output_);
}

DataType CodeNetwork::Type() const {
  return weights_ == CodeWeights::kAsymmetric ? DataType::UINT8
                                              : DataType::INT8;
}

CodeNetwork::TensorPtr CodeNetwork::Values(const ShapeType& shape,
                                           TensorAttribute attribute) {
  const int32_t zero = weights_ == CodeWeights::kAsymmetric ? 121 : -7;
  return graph_->CreateTensor(
      TensorSpec(Type(), shape, attribute,
                 vx::Quantization(QuantType::ASYMMETRIC, 0.05f, zero)));
}

CodeNetwork::TensorPtr CodeNetwork::Constant(const ShapeType& shape, int axis) {
  std::vector<uint8_t> bytes(std::accumulate(
      shape.begin(), shape.end(), size_t{1}, std::multiplies<size_t>()));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng_());
  const auto terms = static_cast<float>(bytes.size() / shape[axis]);
  // Results keep the deviation of the inputs.
  const float scale = 1.0f / (75.0f * std::sqrt(terms));
  vx::Quantization quantization(QuantType::ASYMMETRIC, scale, 118);
  if (weights_ == CodeWeights::kPerChannel) {
    quantization = vx::Quantization(QuantType::SYMMETRIC_PER_CHANNEL, axis,
                                    std::vector<float>(shape[axis], scale),
                                    std::vector<int32_t>(shape[axis], 0));
  }
  return graph_->CreateTensor(
      TensorSpec(Type(), shape, TensorAttribute::CONSTANT, quantization),
      bytes.data());
}

CodeNetwork::TensorPtr CodeNetwork::Conv(const TensorPtr& from,
                                         const ShapeType& shape,
                                         uint32_t stride, int32_t multiplier,
                                         vx::PadType pad) {
  const int axis = multiplier > 0 ? 2 : 3;
  const std::vector<int32_t> bias(shape[axis], 250);
  const TensorPtr to = Values({}, TensorAttribute::TRANSIENT);
  graph_
      ->CreateOperation<vx::ops::Conv2d>(pad, Pair{stride, stride}, Pair{1, 1},
                                         multiplier)
      ->BindInputs(
          {from, Constant(shape, axis),
           graph_->CreateTensor(TensorSpec(DataType::INT32, {shape[axis]},
                                           TensorAttribute::CONSTANT),
                                bias.data())})
      .BindOutput(to);
  return to;
}

CodeNetwork::TensorPtr CodeNetwork::Limited(const TensorPtr& from) {
  const TensorPtr to = Values({}, TensorAttribute::TRANSIENT);
  graph_->CreateOperation<vx::ops::Relu6>()->BindInput(from).BindOutput(to);
  return to;
}

}  // namespace tim::testing
