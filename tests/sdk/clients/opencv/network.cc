// A program in the form of OpenCV's backend: every operation is created first
// and bound later, specs are filled in, data is copied by its element count,
// and many contexts live at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

namespace {

using tim::vx::Tensor;
using Codes = std::vector<int8_t>;

constexpr int kSize = 5, kChannels = 2, kKernels = 3;
constexpr float kInScale = 0.5f, kWeightScale = 0.25f, kOutScale = 1.0f;
constexpr int kInZero = 3, kOutZero = -10;

// What OpenCV keeps of a tensor: the spec is a default one that is filled in.
tim::vx::TensorSpec SpecOf(tim::vx::DataType type,
                           const tim::vx::ShapeType& shape,
                           tim::vx::TensorAttribute attribute,
                           tim::vx::Quantization quantization) {
  tim::vx::TensorSpec spec;
  spec = tim::vx::TensorSpec(type, shape, attribute, quantization);
  return spec;
}

tim::vx::Quantization PerTensor(float scale, int zero_point) {
  return tim::vx::Quantization(tim::vx::QuantType::ASYMMETRIC, scale,
                               zero_point);
}

Codes Ramp(size_t count, int step, int modulus) {
  Codes codes(count);
  for (size_t i = 0; i < count; ++i) {
    codes[i] =
        static_cast<int8_t>(static_cast<int>(i) * step % modulus - modulus / 2);
  }
  return codes;
}

struct Network {
  bool Build() {
    context = tim::vx::Context::Create();
    if (context == nullptr) return false;
    graph = context->CreateGraph();
    // All operations, then all tensors, then what binds them.
    auto conv = graph->CreateOperation<tim::vx::ops::Conv2d>(
        kKernels, tim::vx::PadType::VALID, std::array<uint32_t, 2>{3, 3},
        std::array<uint32_t, 2>{1, 1}, std::array<uint32_t, 2>{1, 1});
    auto relu = graph->CreateOperation<tim::vx::ops::Relu>();
    weights = Ramp(9 * kChannels * kKernels, 7, 11);
    const std::vector<int32_t> bias_data = {10, -20, 30};
    input = graph->CreateTensor(
        SpecOf(tim::vx::DataType::INT8, {kSize, kSize, kChannels, 1},
               tim::vx::INPUT, PerTensor(kInScale, kInZero)));
    auto kernel = graph->CreateTensor(
        SpecOf(tim::vx::DataType::INT8, {3, 3, kChannels, kKernels},
               tim::vx::CONSTANT, PerTensor(kWeightScale, 0)));
    // In elements, which is what the size of a cv::Mat is.
    kernel->CopyDataToTensor(weights.data(),
                             static_cast<uint32_t>(weights.size()));
    auto bias = graph->CreateTensor(
        SpecOf(tim::vx::DataType::INT32, {kKernels}, tim::vx::CONSTANT,
               PerTensor(kInScale * kWeightScale, 0)));
    bias->CopyDataToTensor(bias_data.data(), 3);
    biases = bias_data;
    auto between = graph->CreateTensor(
        SpecOf(tim::vx::DataType::INT8, {3, 3, kKernels, 1}, tim::vx::TRANSIENT,
               PerTensor(kOutScale, kOutZero)));
    output = graph->CreateTensor(SpecOf(tim::vx::DataType::INT8,
                                        {3, 3, kKernels, 1}, tim::vx::OUTPUT,
                                        PerTensor(kOutScale, kOutZero)));
    (*relu).BindInput(between).BindOutput(output);
    (*conv).BindInput(input).BindInput(kernel).BindInput(bias);
    (*conv).BindOutput(between);
    return graph->Compile();
  }

  // In integers and one rounding, as the specification has it.
  Codes Expected(const Codes& x) const {
    Codes y;
    for (int k = 0; k < kKernels; ++k)
      for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
          int sum = biases[static_cast<size_t>(k)];
          for (int c = 0; c < kChannels; ++c)
            for (int i = 0; i < 9; ++i) {
              const int sy = row + i / 3, sx = column + i % 3;
              sum += (x[static_cast<size_t>((c * kSize + sy) * kSize + sx)] -
                      kInZero) *
                     weights[static_cast<size_t>((k * kChannels + c) * 9 + i)];
            }
          const float scale = kInScale * kWeightScale / kOutScale;
          const float code =
              std::nearbyint(static_cast<float>(sum) * scale + kOutZero);
          y.push_back(static_cast<int8_t>(
              std::max<float>(kOutZero, std::min(127.0f, code))));
        }
    return y;
  }

  bool Run(int number) {
    const Codes x = Ramp(kSize * kSize * kChannels, 5 + 2 * number, 41);
    Codes y(9 * kKernels);
    if (!input->CopyDataToTensor(x.data(), static_cast<uint32_t>(x.size())) ||
        !graph->Run() || !output->CopyDataFromTensor(y.data()))
      return false;
    return y == Expected(x);
  }

  std::shared_ptr<tim::vx::Context> context;
  std::shared_ptr<tim::vx::Graph> graph;
  std::shared_ptr<Tensor> input, output;
  Codes weights;
  std::vector<int32_t> biases;
};

}  // namespace

int main() {
  std::vector<Network> networks(4);
  for (Network& network : networks) {
    if (!network.Build()) return std::puts("build FAILED"), 1;
  }
  int number = 0;
  for (int round = 0; round < 2; ++round) {
    for (Network& network : networks) {
      if (!network.Run(number++)) {
        return std::printf("run FAILED: %s\n", tim::vx::LastError().c_str()), 1;
      }
    }
  }
  std::puts("four contexts: ok");
  return 0;
}
