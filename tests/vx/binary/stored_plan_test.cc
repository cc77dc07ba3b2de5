// Binary graphs on the device that they were made for: no compilation, and no
// program built.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/options.h"
#include "runtime/cache/program_cache.h"
#include "runtime/device_pool.h"
#include "tests/support/child_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;
constexpr char kFile[] = "TIM_TEST_BINARY";

// y = softmax(relu(x * w)), with weights that kernels pack.
struct Layer {
  explicit Layer(std::shared_ptr<vx::Graph> on) : graph(std::move(on)) {
    const Values weights(8 * 4, 0.25f);
    x = graph->CreateTensor(Floats({8, 2}, vx::INPUT));
    y = graph->CreateTensor(Floats({4, 2}, vx::OUTPUT));
    const auto w =
        graph->CreateTensor(Floats({8, 4}, vx::CONSTANT), weights.data());
    const auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    const auto positive = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    (*graph->CreateOperation<vx::ops::FullyConnected>(0, 4))
        .BindInputs({x, w})
        .BindOutput(sum);
    (*graph->CreateOperation<vx::ops::Relu>())
        .BindInput(sum)
        .BindOutput(positive);
    (*graph->CreateOperation<vx::ops::Softmax>(1.0f, 0))
        .BindInput(positive)
        .BindOutput(y);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x, y;
};

void ExpectRuns(LoadedBinary& loaded) {
  for (int run = 0; run < 2; ++run) {
    Write(loaded.inputs[0], Values(16, static_cast<float>(run)));
    ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
    for (const float value : Read(loaded.outputs[0])) {
      EXPECT_FLOAT_EQ(value, 0.25f);
    }
  }
}

// What is compiled anew is named after the NBG, too.
bool IsCompiledAnew(const vx::Graph& graph) {
  const ir::Plan* plan = vx::CompiledPlan(graph);
  EXPECT_NE(plan, nullptr);
  if (plan == nullptr) return false;
  EXPECT_FALSE(plan->steps.empty());
  for (const ir::Step& step : plan->steps) {
    if (step.label.find("NBG#") != std::string::npos) return true;
  }
  return false;
}

std::shared_ptr<vx::Context> With(
    const std::shared_ptr<runtime::ProgramCache>& programs,
    const std::string& device, bool strict = false) {
  auto devices = runtime::SelectDevices(device, GetOptions().on_device);
  if (!devices.ok()) return nullptr;
  return vx::CreateContext(*std::move(devices),
                           {.strict = strict, .programs = programs});
}

std::shared_ptr<runtime::ProgramCache> InMemory() {
  return runtime::ProgramCache::Create({});
}

class StoredPlan : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (ContextOn(GetParam()) == nullptr) {
      GTEST_SKIP() << "no device " << GetParam();
    }
  }
};

TEST_P(StoredPlan, RunsWhereItWasMade) {
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const std::vector<char> binary = ToBinary(*layer.graph);
  LoadedBinary loaded(binary, *layer.graph,
                      With(InMemory(), GetParam())->CreateGraph());
  ExpectRuns(loaded);
  EXPECT_FALSE(IsCompiledAnew(*loaded.graph));
  // Written again, it is the same plan.
  const std::vector<char> again = ToBinary(*loaded.graph);
  LoadedBinary reloaded(again, *layer.graph,
                        With(InMemory(), GetParam())->CreateGraph());
  ExpectRuns(reloaded);
}

TEST_P(StoredPlan, BuildsNothingInANewProcess) {
  if (IsChild()) {
    const auto programs = InMemory();
    Layer layer(HostGraph());
    LoadedBinary loaded(BinaryFile::Read(std::getenv(kFile)), *layer.graph,
                        With(programs, GetParam())->CreateGraph());
    ExpectRuns(loaded);
    EXPECT_FALSE(IsCompiledAnew(*loaded.graph));
    EXPECT_EQ(programs->builds(), 0);
    return;
  }
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const BinaryFile file(ToBinary(*layer.graph));
  const ChildResult child = RunAsChild({{kFile, file.path()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

TEST_P(StoredPlan, IsNotForOtherOptions) {
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const std::vector<char> binary = ToBinary(*layer.graph);
  LoadedBinary loaded(binary, *layer.graph,
                      With(InMemory(), GetParam(), true)->CreateGraph());
  ExpectRuns(loaded);
  EXPECT_TRUE(IsCompiledAnew(*loaded.graph));
}

TEST_P(StoredPlan, IsNotForOtherDevices) {
  const std::string other =
      GetParam() == std::string("host") ? "opencl" : "host";
  const auto context = With(InMemory(), other);
  if (context == nullptr) GTEST_SKIP() << "no device " << other;
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const std::vector<char> binary = ToBinary(*layer.graph);
  LoadedBinary loaded(binary, *layer.graph, context->CreateGraph());
  ExpectRuns(loaded);
  EXPECT_TRUE(IsCompiledAnew(*loaded.graph));
}

// Beside another operation the graph of the binary is compiled with it.
TEST_P(StoredPlan, IsNotForPartsOfGraphs) {
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const std::vector<char> binary = ToBinary(*layer.graph);
  LoadedBinary loaded(binary, *layer.graph,
                      With(InMemory(), GetParam())->CreateGraph());
  const auto more = loaded.graph->CreateTensor(Floats({4, 2}, vx::OUTPUT));
  (*loaded.graph->CreateOperation<vx::ops::Relu>())
      .BindInput(loaded.outputs[0])
      .BindOutput(more);
  ExpectRuns(loaded);
  EXPECT_TRUE(IsCompiledAnew(*loaded.graph));
  EXPECT_FLOAT_EQ(Read(more)[0], 0.25f);
}

TEST_P(StoredPlan, ChecksOperandsAsEver) {
  Layer layer(With(InMemory(), GetParam())->CreateGraph());
  const std::vector<char> binary = ToBinary(*layer.graph);
  const auto graph = With(InMemory(), GetParam())->CreateGraph();
  const auto x = graph->CreateTensor(Floats({8, 3}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({4, 2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 1, 1))
      .BindInput(x)
      .BindOutput(y);
  EXPECT_TRUE(CompileFailsWith(
      *graph,
      "input 0 is float32 [8, 3]; the binary graph's is float32 [8, 2]"));
}

INSTANTIATE_TEST_SUITE_P(Devices, StoredPlan,
                         ::testing::Values("host", "opencl"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tim::testing
