// A program in the form of Paddle-Lite's driver: every result of a factory is
// checked, and what runs is always the binary.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops.h"
#include "tim/vx/ops/nbg.h"
#include "tim/vx/tensor.h"

namespace {

const std::vector<float> kConstant = {0.5f, -1.0f, 2.0f, 4.0f};

tim::vx::TensorSpec SpecOf(tim::vx::TensorAttribute attribute) {
  return tim::vx::TensorSpec(tim::vx::DataType::FLOAT32,
                             tim::vx::ShapeType({4}), attribute);
}

// The binary of y = relu(x + constant); empty on failure.
std::vector<uint8_t> BuildBinary() {
  std::shared_ptr<tim::vx::Context> context = tim::vx::Context::Create();
  if (!context) return {};
  std::shared_ptr<tim::vx::Graph> graph = context->CreateGraph();
  if (!graph) return {};
  auto x = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::INPUT));
  auto c = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::CONSTANT),
                               kConstant.data());
  auto sum = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::TRANSIENT));
  auto y = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::OUTPUT));
  auto add = graph->CreateOperation<tim::vx::ops::Add>();
  auto relu = graph->CreateOperation<tim::vx::ops::Relu>();
  if (!x || !c || !sum || !y || !add || !relu) return {};
  add->BindInputs({x, c});
  add->BindOutputs({sum});
  relu->BindInputs({sum});
  relu->BindOutputs({y});
  size_t size = 0;
  if (!graph->CompileToBinary(nullptr, &size) || size == 0) return {};
  std::vector<uint8_t> binary(size);
  if (!graph->CompileToBinary(binary.data(), &size)) return {};
  return binary;
}

}  // namespace

int main() {
  const std::vector<uint8_t> binary = BuildBinary();
  std::shared_ptr<tim::vx::Context> context = tim::vx::Context::Create();
  if (binary.empty() || !context) {
    std::printf("FAILED: %s\n", tim::vx::LastError().c_str());
    return 1;
  }
  auto graph = context->CreateGraph();
  auto x = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::INPUT));
  auto y = graph->CreateTensor(SpecOf(tim::vx::TensorAttribute::OUTPUT));
  auto nbg = graph->CreateOperation<tim::vx::ops::NBG>(
      reinterpret_cast<const char*>(binary.data()), 1, 1);
  if (!nbg) return 1;
  nbg->BindInputs({x});
  nbg->BindOutputs({y});
  const std::vector<float> data = {1.0f, -2.0f, -3.0f, 8.0f};
  std::vector<float> result(4);
  if (!graph->Compile() ||
      !x->CopyDataToTensor(data.data(), 4 * sizeof(float)) || !graph->Run() ||
      !y->CopyDataFromTensor(result.data())) {
    std::printf("FAILED: %s\n", tim::vx::LastError().c_str());
    return 1;
  }
  const bool good = result == std::vector<float>({1.5f, 0.0f, 0.0f, 12.0f});
  std::printf("binary: %s\n", good ? "ok" : "FAILED");
  return good ? 0 : 1;
}
