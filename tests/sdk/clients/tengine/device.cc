// A program in the form of Tengine's device: results are declared before what
// they are made of, floats have quantization parameters that mean nothing,
// weights have scales per channel, every layer may be an output, and a graph
// runs behind CompileToBinary() without Compile().
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/ops/nbg.h"

namespace {

using tim::vx::DataType;
using tim::vx::Quantization;
using tim::vx::QuantType;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;
using TensorPtr = std::shared_ptr<tim::vx::Tensor>;

constexpr uint32_t kIn = 3, kOut = 2;
const std::vector<float> kScales = {0.5f, 0.25f};
const std::vector<int8_t> kWeights = {1, -2, 3, 4, 5, -6};
const std::vector<int32_t> kBias = {2, -4};

// Asymmetric parameters for every tensor, of floats, too, where the scale may
// even be 0.
TensorSpec SpecOf(DataType type, const tim::vx::ShapeType& shape,
                  TensorAttribute attribute, float scale, int zero_point) {
  Quantization quantization(QuantType::ASYMMETRIC, scale, zero_point);
  return TensorSpec(type, shape, attribute, quantization);
}

struct Layers {
  std::shared_ptr<tim::vx::Graph> graph;
  TensorPtr input, dense, output;
};

// relu(weights * x + bias); `dense` is an output that Relu reads.
Layers Build(const std::shared_ptr<tim::vx::Context>& context) {
  Layers net;
  net.graph = context->CreateGraph();
  net.output = net.graph->CreateTensor(
      SpecOf(DataType::INT8, {kOut, 1}, TensorAttribute::OUTPUT, 1.0f, 0));
  net.dense = net.graph->CreateTensor(
      SpecOf(DataType::INT8, {kOut, 1}, TensorAttribute::OUTPUT, 1.0f, 0));
  net.input = net.graph->CreateTensor(
      SpecOf(DataType::INT8, {kIn, 1}, TensorAttribute::INPUT, 1.0f, 0));
  const Quantization per_channel(QuantType::SYMMETRIC_PER_CHANNEL, 1, kScales,
                                 {0, 0});
  auto weights = net.graph->CreateTensor(
      TensorSpec(DataType::INT8, {kIn, kOut}, TensorAttribute::CONSTANT,
                 per_channel),
      kWeights.data());
  const Quantization of_bias(QuantType::SYMMETRIC_PER_CHANNEL, 0, kScales,
                             {0, 0});
  auto bias = net.graph->CreateTensor(
      TensorSpec(DataType::INT32, {kOut}, TensorAttribute::CONSTANT, of_bias),
      kBias.data());
  auto fc = net.graph->CreateOperation<tim::vx::ops::FullyConnected>(0, kOut);
  (*fc).BindInputs({net.input, weights, bias}).BindOutputs({net.dense});
  auto relu = net.graph->CreateOperation<tim::vx::ops::Relu>();
  (*relu).BindInputs({net.dense}).BindOutputs({net.output});
  return net;
}

std::vector<int8_t> Expected(const std::vector<int8_t>& x) {
  std::vector<int8_t> y;
  for (uint32_t o = 0; o < kOut; ++o) {
    int sum = kBias[o];
    for (uint32_t i = 0; i < kIn; ++i) sum += x[i] * kWeights[o * kIn + i];
    const float code = std::nearbyint(static_cast<float>(sum) * kScales[o]);
    y.push_back(static_cast<int8_t>(std::min(127.0f, std::max(-128.0f, code))));
  }
  return y;
}

bool Check(const char* what, const TensorPtr& tensor,
           const std::vector<int8_t>& expected) {
  std::vector<int8_t> found(kOut);
  const bool good =
      tensor->CopyDataFromTensor(found.data()) && found == expected;
  std::printf("%s: %s\n", what, good ? "ok" : "FAILED");
  return good;
}

bool RunsLayers(const std::shared_ptr<tim::vx::Context>& context,
                std::vector<char>* binary) {
  const Layers net = Build(context);
  const std::vector<int8_t> x = {3, 1, -2};
  std::vector<int8_t> dense = Expected(x), relu = dense;
  for (int8_t& code : relu) code = std::max<int8_t>(0, code);
  size_t size = 0;
  if (!net.graph->CompileToBinary(nullptr, &size)) return false;
  binary->resize(size);
  if (!net.graph->CompileToBinary(binary->data(), &size)) return false;
  return net.input->CopyDataToTensor(x.data(), kIn) && net.graph->Run() &&
         Check("layer behind its binary", net.dense, dense) &&
         Check("result", net.output, relu);
}

// Outputs in the order in which they were created.
bool Reloads(const std::shared_ptr<tim::vx::Context>& context,
             const std::vector<char>& binary) {
  const Layers net = Build(context);
  const std::vector<int8_t> x = {-5, 7, 2};
  std::vector<int8_t> dense = Expected(x), relu = dense;
  for (int8_t& code : relu) code = std::max<int8_t>(0, code);
  auto graph = context->CreateGraph();
  auto output = graph->CreateTensor(net.output->GetSpec());
  auto layer = graph->CreateTensor(net.dense->GetSpec());
  auto input = graph->CreateTensor(net.input->GetSpec());
  auto nbg = graph->CreateOperation<tim::vx::ops::NBG>(binary.data(), 1, 2);
  (*nbg).BindInputs({input}).BindOutputs({output, layer});
  return graph->Compile() && input->CopyDataToTensor(x.data(), kIn) &&
         graph->Run() && Check("layer of the binary", layer, dense) &&
         Check("result of the binary", output, relu);
}

// Of the precision FLOAT16, with parameters that have to be ignored.
bool RunsFloats(const std::shared_ptr<tim::vx::Context>& context) {
  auto graph = context->CreateGraph();
  auto y = graph->CreateTensor(
      SpecOf(DataType::FLOAT16, {4}, TensorAttribute::OUTPUT, 0.0f, 3));
  auto x = graph->CreateTensor(
      SpecOf(DataType::FLOAT16, {4}, TensorAttribute::INPUT, 0.0f, 3));
  auto relu = graph->CreateOperation<tim::vx::ops::Relu>();
  (*relu).BindInputs({x}).BindOutputs({y});
  // 1, -2, 0.5 and -0.25 as half.
  const std::vector<uint16_t> codes = {0x3C00, 0xC000, 0x3800, 0xB400};
  std::vector<uint16_t> result(4);
  const bool good = graph->Compile() && x->CopyDataToTensor(codes.data(), 8) &&
                    graph->Run() && y->CopyDataFromTensor(result.data()) &&
                    result == std::vector<uint16_t>({0x3C00, 0, 0x3800, 0});
  std::printf("half: %s\n", good ? "ok" : "FAILED");
  return good;
}

}  // namespace

int main() {
  auto context = tim::vx::Context::Create();
  std::vector<char> binary;
  const bool good = RunsFloats(context) && RunsLayers(context, &binary) &&
                    Reloads(context, binary);
  if (!good) std::printf("FAILED: %s\n", tim::vx::LastError().c_str());
  return good ? 0 : 1;
}
