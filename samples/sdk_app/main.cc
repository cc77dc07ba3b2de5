// An application outside of TIM-CL's tree: a graph of built-in operators, of a
// custom operator from a library of its own, of a composed operator, and with a
// built-in operator replaced.
//
//   y = relu(gate(threshold(x)))     where relu keeps a tenth of what is
//   negative
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "gate.h"
#include "threshold.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"

namespace {

namespace vx = tim::vx;

constexpr int kWidth = 5;
constexpr int kRows = 3;
constexpr float kLimit = -0.5f;
constexpr float kSlope = 0.1f;

std::vector<float> Numbers(int count, int seed) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 7 + seed * 3) % 11 - 5) / 4);
  }
  return values;
}

// The same in double on the host.
std::vector<double> Reference(const std::vector<float>& x,
                              const std::vector<float>& weights) {
  std::vector<double> kept;
  for (const float value : x) kept.push_back(value > kLimit ? value : 0.0);
  std::vector<double> out;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kWidth; ++i) {
      double sum = 0;
      for (int k = 0; k < kWidth; ++k) {
        sum += static_cast<double>(weights[i * kWidth + k]) *
               kept[row * kWidth + k];
      }
      const double gated = kept[row * kWidth + i] / (1 + std::exp(-sum));
      out.push_back(gated > 0 ? gated : kSlope * gated);
    }
  }
  return out;
}

vx::TensorSpec Floats(const vx::ShapeType& shape,
                      vx::TensorAttribute attribute) {
  return vx::TensorSpec(vx::DataType::FLOAT32, shape, attribute);
}

int Fail(const char* what) {
  std::printf("%s: %s\n", what, vx::LastError().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto context = vx::Context::Create();
  if (context == nullptr) return Fail("no context");
  std::printf("device: %s\n", context->DeviceName().c_str());
  const auto graph = context->CreateGraph();
  const std::vector<float> weights = Numbers(kWidth * kWidth, 1);

  const auto x = graph->CreateTensor(Floats({kWidth, kRows}, vx::INPUT));
  const auto w = graph->CreateTensor(Floats({kWidth, kWidth}, vx::CONSTANT),
                                     weights.data());
  const auto kept = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto gated = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({kWidth, kRows}, vx::OUTPUT));
  graph->CreateOperation<sdk_app::Threshold>(kLimit)->BindInput(x).BindOutput(
      kept);
  graph->CreateOperation<sdk_app::Gate>()->BindInputs({kept, w}).BindOutput(
      gated);
  graph->CreateOperation<vx::ops::Relu>()->BindInput(gated).BindOutput(y);
  graph->Override<vx::ops::Relu>([](vx::Graph* g, const vx::Operation&) {
    return g->CreateOperation<sdk_app::Threshold>(0.0f, kSlope);
  });
  if (!graph->Compile()) return Fail("Compile()");

  double worst = 0;
  for (int run = 0; run < 2; ++run) {
    const std::vector<float> input = Numbers(kWidth * kRows, run);
    std::vector<float> output(input.size());
    if (!x->CopyDataToTensor(input.data())) return Fail("input");
    if (!graph->Run()) return Fail("Run()");
    if (!y->CopyDataFromTensor(output.data())) return Fail("output");
    const std::vector<double> expected = Reference(input, weights);
    for (size_t i = 0; i < output.size(); ++i) {
      worst = std::max(worst, std::fabs(output[i] - expected[i]));
    }
  }
  std::printf("largest difference from the reference: %g\n", worst);
  return worst < 1e-6 ? 0 : 1;
}
