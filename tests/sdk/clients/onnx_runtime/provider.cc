// A program in the form of ONNX Runtime's execution provider: quantization is
// set in a spec, scales per channel come with a single zero point, sizes are in
// bytes, and several threads run one graph, one at a time.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"

namespace {

using tim::vx::DataType;
using tim::vx::Quantization;
using tim::vx::QuantType;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;

constexpr int kPixels = 6, kIn = 4, kOut = 3;
constexpr float kInScale = 0.5f, kOutScale = 0.5f;
constexpr int kInZero = 128, kOutZero = 100;
const std::vector<float> kScales = {0.25f, 0.5f, 0.125f};

// The form in which a provider describes every tensor.
struct QuantParams {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int32_t channel = -1;
  bool symmetric = false;
};

TensorSpec SpecOf(DataType type, const tim::vx::ShapeType& shape,
                  TensorAttribute attribute, const QuantParams& params) {
  TensorSpec spec(type, shape, attribute);
  Quantization quantization;
  if (params.channel >= 0) {
    quantization.SetType(params.symmetric ? QuantType::SYMMETRIC_PER_CHANNEL
                                          : QuantType::ASYMMETRIC_PER_CHANNEL);
    quantization.SetChannelDim(params.channel);
  } else if (!params.scales.empty()) {
    quantization.SetType(QuantType::ASYMMETRIC);
  }
  quantization.SetScales(params.scales);
  quantization.SetZeroPoints(params.zero_points);
  spec.SetQuantization(quantization);
  return spec;
}

class Provider {
 public:
  // `zero`: of the weights, one for all channels.
  Provider(DataType weight_type, int zero, bool symmetric) : zero_(zero) {
    graph_ = tim::vx::Context::Create()->CreateGraph();
    input_ = graph_->CreateTensor(SpecOf(DataType::UINT8, {kPixels, 1, kIn, 1},
                                         TensorAttribute::INPUT,
                                         {{kInScale}, {kInZero}}));
    for (int i = 0; i < kIn * kOut; ++i) {
      codes_.push_back(static_cast<uint8_t>(i * 5 % 13 + (zero == 0 ? 0 : 4)));
    }
    auto weights = graph_->CreateTensor(
        SpecOf(weight_type, {1, 1, kIn, kOut}, TensorAttribute::CONSTANT,
               {kScales, {zero}, 3, symmetric}),
        codes_.data());
    std::vector<float> bias_scales;
    for (const float scale : kScales) bias_scales.push_back(scale * kInScale);
    auto bias = graph_->CreateTensor(
        SpecOf(DataType::INT32, {kOut}, TensorAttribute::CONSTANT,
               {bias_scales, {0}, 0, true}),
        bias_.data());
    output_ = graph_->CreateTensor(
        SpecOf(DataType::UINT8, {kPixels, 1, kOut, 1}, TensorAttribute::OUTPUT,
               {{kOutScale}, {kOutZero}}));
    auto conv = graph_->CreateOperation<tim::vx::ops::Conv2d>(
        std::array<uint32_t, 4>{0, 0, 0, 0}, std::array<uint32_t, 2>{1, 1},
        std::array<uint32_t, 2>{1, 1});
    (*conv).BindInputs({input_, weights, bias}).BindOutputs({output_});
  }

  bool Compile() { return graph_->Compile(); }

  // Called by any thread, as Compute() of a node is.
  bool Compute(const std::vector<uint8_t>& x, std::vector<uint8_t>* y) {
    const std::lock_guard<std::mutex> lock(mutex_);
    y->resize(kPixels * kOut);
    return input_->CopyDataToTensor(x.data(),
                                    static_cast<uint32_t>(x.size())) &&
           graph_->Run() && output_->CopyDataFromTensor(y->data());
  }

  std::vector<uint8_t> Expected(const std::vector<uint8_t>& x) const {
    std::vector<uint8_t> y;
    for (int o = 0; o < kOut; ++o)
      for (int p = 0; p < kPixels; ++p) {
        int sum = bias_[static_cast<size_t>(o)];
        for (int c = 0; c < kIn; ++c) {
          sum += (x[static_cast<size_t>(c * kPixels + p)] - kInZero) *
                 (codes_[static_cast<size_t>(o * kIn + c)] - zero_);
        }
        const float scale =
            kInScale * kScales[static_cast<size_t>(o)] / kOutScale;
        const float code =
            std::nearbyint(static_cast<float>(sum) * scale + kOutZero);
        y.push_back(static_cast<uint8_t>(std::clamp(code, 0.0f, 255.0f)));
      }
    return y;
  }

 private:
  const int zero_;
  std::vector<uint8_t> codes_;  // small enough to be int8 as well
  const std::vector<int32_t> bias_ = {16, -32, 8};
  std::mutex mutex_;
  std::shared_ptr<tim::vx::Graph> graph_;
  std::shared_ptr<tim::vx::Tensor> input_, output_;
};

bool RunsFromThreads(const char* name, DataType type, int zero,
                     bool symmetric) {
  Provider provider(type, zero, symmetric);
  std::atomic<bool> good = provider.Compile();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 10; ++run) {
        std::vector<uint8_t> x(kPixels * kIn), y;
        for (size_t i = 0; i < x.size(); ++i) {
          x[i] =
              static_cast<uint8_t>(i * 37 + static_cast<size_t>(t * 10 + run));
        }
        if (!provider.Compute(x, &y) || y != provider.Expected(x)) good = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%s: %s\n", name, good ? "ok" : "FAILED");
  return good;
}

}  // namespace

int main() {
  const bool good =
      RunsFromThreads("symmetric per channel", DataType::INT8, 0, true) &&
      RunsFromThreads("asymmetric per channel", DataType::UINT8, 7, false);
  return good ? 0 : 1;
}
