// A program in the form of a TFLite delegate: layout inference, a binary that
// is kept in a file, and several devices by the interface of earlier versions.
//   delegate FILE    where the binary is kept
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "model.h"
#include "tim/transform/layout_inference.h"
#include "tim/transform/mean_stddev_normalize_fusion.h"
#include "tim/vx/ops/nbg.h"
#include "tim/vx/platform/native.h"

namespace {

namespace platform = tim::vx::platform;
using Values = std::vector<float>;
using delegate::Model;
using GraphPtr = std::shared_ptr<tim::vx::Graph>;
using TensorPtr = std::shared_ptr<tim::vx::Tensor>;

Values Image(int number) {
  Values x(delegate::kWidth * delegate::kHeight * delegate::kIn);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((static_cast<int>(i) * 3 + number) % 7 - 3) / 4;
  }
  return x;
}

// Sums of the first `runs` images' results.
Values Expected(const Model& model, int runs) {
  Values sum(delegate::kUnits, 0.0f);
  for (int run = 0; run < runs; ++run) {
    const Values y = Compute(model, Image(run));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
  }
  return sum;
}

bool Equals(const char* what, const Values& found, const Values& expected) {
  bool equal = found.size() == expected.size();
  for (size_t i = 0; equal && i < found.size(); ++i) {
    const float difference = found[i] - expected[i];
    equal = difference < 1e-4f && difference > -1e-4f;
  }
  std::printf("%s: %s\n", what, equal ? "ok" : "FAILED");
  if (equal) return true;
  for (size_t i = 0; i < expected.size(); ++i) {
    std::printf("  %g, expected %g\n", i < found.size() ? found[i] : 0.0f,
                expected[i]);
  }
  std::printf("  last error: %s\n", tim::vx::LastError().c_str());
  return false;
}

// As the delegate prepares every graph.
struct Prepared {
  GraphPtr graph;
  TensorPtr input;
  TensorPtr output;
};
Prepared Prepare(std::shared_ptr<tim::vx::Context>& context,
                 const Model& model) {
  GraphPtr source = BuildGraph(context, model);
  tim::transform::MeanStdDevNormalization(source);
  auto inferred = tim::transform::LayoutInference(source, context);
  if (inferred.first == nullptr) return {};
  auto& mapped = inferred.second;
  return {inferred.first, mapped[source->InputsTensor()[0]],
          mapped[source->OutputsTensor()[0]]};
}

Values RunTwice(const Prepared& prepared) {
  Values y(delegate::kUnits);
  for (int run = 0; run < 2; ++run) {
    if (!prepared.input->CopyDataToTensor(Image(run).data()) ||
        !prepared.graph->Run() ||
        !prepared.output->CopyDataFromTensor(y.data()))
      return {};
  }
  return y;
}

bool RunsTheInferredGraph(const Model& model) {
  auto context = tim::vx::Context::Create();
  const Prepared prepared = Prepare(context, model);
  if (prepared.graph == nullptr || !prepared.graph->Compile()) {
    return Equals("layout inference", {}, Expected(model, 2));
  }
  return Equals("layout inference", RunTwice(prepared), Expected(model, 2));
}

bool WritesTheBinary(const Model& model, const char* file) {
  auto context = tim::vx::Context::Create();
  const Prepared prepared = Prepare(context, model);
  if (prepared.graph == nullptr) return false;
  size_t size = static_cast<size_t>(-1);
  if (!prepared.graph->CompileToBinary(nullptr, &size)) return false;
  std::vector<char> binary(size);
  if (!prepared.graph->CompileToBinary(binary.data(), &size)) return false;
  std::ofstream(file, std::ios::binary)
      .write(binary.data(), static_cast<std::streamsize>(size));
  // The graph stays usable without Compile().
  return Equals("graph behind its binary", RunTwice(prepared),
                Expected(model, 2));
}

bool RunsTheBinary(const Model& model, const char* file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> binary(std::istreambuf_iterator<char>(stream), {});
  auto context = tim::vx::Context::Create();
  // The specs are those of the model's own graph.
  const GraphPtr source = BuildGraph(context, model);
  const GraphPtr graph = context->CreateGraph();
  const Prepared loaded = {
      graph, graph->CreateTensor(source->InputsTensor()[0]->GetSpec()),
      graph->CreateTensor(source->OutputsTensor()[0]->GetSpec())};
  auto nbg = graph->CreateOperation<tim::vx::ops::NBG>(binary.data(), 1, 1);
  (*nbg).BindInputs({loaded.input}).BindOutputs({loaded.output});
  if (!graph->Compile()) return Equals("binary", {}, Expected(model, 2));
  return Equals("binary", RunTwice(loaded), Expected(model, 2));
}

bool RunsOnEveryDevice(const Model& model) {
  bool good = true;
  for (const auto& device : platform::IDevice::Enumerate()) {
    auto context = tim::vx::Context::Create();
    auto executor = std::make_shared<platform::NativeExecutor>(device, context);
    Prepared prepared = Prepare(context, model);
    if (prepared.graph == nullptr) return false;
    auto executable = platform::Compile(prepared.graph, executor);
    if (executable == nullptr) return Equals("executable", {}, {1});
    auto input = executable->AllocateTensor(prepared.input->GetSpec());
    auto output = executable->AllocateTensor(prepared.output->GetSpec());
    executable->SetInput(input);
    executable->SetOutput(output);
    prepared = {};
    auto set = platform::CreateExecutableSet({executable});
    Values y(delegate::kUnits);
    for (int run = 0; run < 2; ++run) {
      input->CopyDataToTensor(Image(run).data(), sizeof(float));
      set->Submit(set);
      executor->Trigger();
      set->GetOutput({output});
      output->CopyDataFromTensor(y.data());
    }
    device->WaitDeviceIdle();
    good &= Equals(device->Name().c_str(), y, Expected(model, 2));
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Model model = delegate::MakeModel();
  const bool good = RunsTheInferredGraph(model) &&
                    WritesTheBinary(model, argv[1]) &&
                    RunsTheBinary(model, argv[1]) && RunsOnEveryDevice(model);
  if (!good) std::printf("%s\n", tim::vx::LastError().c_str());
  return good ? 0 : 1;
}
