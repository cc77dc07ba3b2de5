// A program in the form of the NNAPI support library: tensors without data for
// inputs and outputs, which are told apart by their order alone, layout
// inference, a cache of binaries, and an executor of the first device.
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/transform/layout_inference.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/ops/nbg.h"
#include "tim/vx/platform/native.h"
#include "tim/vx/platform/platform.h"

namespace {

using tim::vx::DataLayout;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;
using Values = std::vector<float>;
using GraphPtr = std::shared_ptr<tim::vx::Graph>;

constexpr uint32_t kChannels = 2, kSide = 4;

TensorSpec SpecOf(const tim::vx::ShapeType& shape, TensorAttribute attribute) {
  return TensorSpec(tim::vx::DataType::FLOAT32, shape, attribute);
}

// mean = average pool 2x2 of a; difference = a - b; both CWHN.
GraphPtr Build(const std::shared_ptr<tim::vx::Context>& context) {
  const tim::vx::ShapeType image = {kChannels, kSide, kSide, 1};
  const tim::vx::ShapeType half = {kChannels, kSide / 2, kSide / 2, 1};
  GraphPtr graph = context->CreateGraph();
  auto a = graph->CreateIOTensor(SpecOf(image, TensorAttribute::INPUT));
  auto b = graph->CreateIOTensor(SpecOf(image, TensorAttribute::INPUT));
  auto mean = graph->CreateIOTensor(SpecOf(half, TensorAttribute::OUTPUT));
  auto difference =
      graph->CreateIOTensor(SpecOf(image, TensorAttribute::OUTPUT));
  auto sub = graph->CreateOperation<tim::vx::ops::Sub>();
  (*sub).BindInputs({a, b}).BindOutputs({difference});
  auto pool = graph->CreateOperation<tim::vx::ops::Pool2d>(
      tim::vx::PoolType::AVG, tim::vx::PadType::VALID,
      std::array<uint32_t, 2>({2, 2}), std::array<uint32_t, 2>({2, 2}),
      tim::vx::RoundType::FLOOR, DataLayout::CWHN);
  (*pool).BindInputs({a}).BindOutputs({mean});
  return graph;
}

Values Image(int step) {
  Values values(kChannels * kSide * kSide);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>(i) * step % 8);
  }
  return values;
}

// The two results, one behind the other.
Values Expected(const Values& a, const Values& b) {
  Values all;
  const auto at = [&](size_t y, size_t x, size_t c) {
    return a[(y * kSide + x) * kChannels + c];
  };
  for (size_t y = 0; y < kSide; y += 2)
    for (size_t x = 0; x < kSide; x += 2)
      for (size_t c = 0; c < kChannels; ++c)
        all.push_back((at(y, x, c) + at(y, x + 1, c) + at(y + 1, x, c) +
                       at(y + 1, x + 1, c)) /
                      4);
  for (size_t i = 0; i < a.size(); ++i) all.push_back(a[i] - b[i]);
  return all;
}

template <typename Tensors>
Values Read(const Tensors& outputs) {
  Values all;
  for (const auto& output : outputs) {
    Values part(static_cast<size_t>(output->GetSpec().GetElementNum()));
    if (!output->CopyDataFromTensor(part.data())) return {};
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

bool Report(const char* what, const Values& found, const Values& expected) {
  std::printf("%s: %s\n", what, found == expected ? "ok" : "FAILED");
  if (found != expected) std::printf("%s\n", tim::vx::LastError().c_str());
  return found == expected;
}

bool Run(const GraphPtr& graph, const Values& a, const Values& b) {
  const auto inputs = graph->InputsTensor();
  return inputs.size() == 2 && inputs[0]->CopyDataToTensor(a.data()) &&
         inputs[1]->CopyDataToTensor(b.data()) && graph->Run();
}

}  // namespace

int main() {
  const Values a = Image(3), b = Image(5), expected = Expected(a, b);
  auto context = tim::vx::Context::Create();
  auto inferred = tim::transform::LayoutInference(Build(context), context);
  GraphPtr graph = inferred.first;
  if (graph == nullptr || !graph->Compile() || !Run(graph, a, b)) {
    return std::printf("FAILED: %s\n", tim::vx::LastError().c_str()), 1;
  }
  bool good = Report("graph", Read(graph->OutputsTensor()), expected);

  // The cache, and what is made of it.
  size_t size = 0;
  if (!graph->CompileToBinary(nullptr, &size)) return 1;
  std::vector<char> cache(size);
  if (!graph->CompileToBinary(cache.data(), &size)) return 1;
  GraphPtr cached = context->CreateGraph();
  std::vector<std::shared_ptr<tim::vx::Tensor>> inputs, outputs;
  for (const auto& tensor : graph->InputsTensor()) {
    inputs.push_back(cached->CreateIOTensor(tensor->GetSpec()));
  }
  for (const auto& tensor : graph->OutputsTensor()) {
    outputs.push_back(cached->CreateIOTensor(tensor->GetSpec()));
  }
  auto nbg = cached->CreateOperation<tim::vx::ops::NBG>(
      cache.data(), inputs.size(), outputs.size());
  (*nbg).BindInputs(inputs).BindOutputs(outputs);
  good &= Run(cached, a, b) && Report("cache", Read(outputs), expected);

  auto device = tim::vx::platform::IDevice::Enumerate()[0];
  auto executor = device->CreateExecutor();
  auto executable = tim::vx::platform::Compile(graph, executor);
  if (executable == nullptr) return 1;
  for (const auto& tensor : graph->InputsTensor()) {
    executable->SetInput(executable->AllocateTensor(tensor->GetSpec()));
  }
  for (const auto& tensor : graph->OutputsTensor()) {
    executable->SetOutput(executable->AllocateTensor(tensor->GetSpec()));
  }
  executable->Getinputs()[0]->CopyDataToTensor(a.data(), 0);
  executable->Getinputs()[1]->CopyDataToTensor(b.data(), 0);
  good &= executable->Submit(executable) && executor->Trigger() &&
          Report("executor", Read(executable->GetOutputs()), expected);
  return good ? 0 : 1;
}
