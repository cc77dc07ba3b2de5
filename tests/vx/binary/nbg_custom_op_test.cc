// Custom operations in binary graphs: they run without their class.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/child_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/several_kernels.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<float>;
constexpr char kFile[] = "TIM_TEST_BINARY";

// y = factor * x + table[i % 2], with an option.
OpPlan WithTable() {
  OpPlan plan;
  plan.name = "WithTable";
  plan.scalars = Scalars(3.0f);
  plan.construct = [](OpPlan::Op& op) {
    op.AddTable(std::vector<float>{100, 200});
  };
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global const float* table, float factor) {\n"
      "  const int i = get_global_id(0);\n"
      "  y[i] = factor * x[i] + table[i % 2] + BIAS;\n"
      "}\n";
  plan.options = "-DBIAS=0.5f";
  return plan;
}

OpPlan Twice() {
  OpPlan plan;
  plan.name = "Twice";
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 2 * x[get_global_id(0)];\n"
      "}\n";
  return plan;
}

OpPlan TwiceOnHost() {
  OpPlan plan = Twice();
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    const auto* x = static_cast<const float*>(inputs[0].data);
    auto* y = static_cast<float*>(outputs[0].data);
    for (int i = 0; i < 4; ++i) y[i] = 2 * x[i];
  };
  return plan;
}

void ExpectTwice(LoadedBinary& loaded) {
  Write<float>(loaded.inputs[0], {1, 2, 3, 4});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{2, 4, 6, 8}));
}

class NbgCustomOps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ContextOn("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  }
};

TEST_F(NbgCustomOps, RunWithAndWithoutHostEval) {
  for (const OpPlan& plan : {Twice(), TwiceOnHost()}) {
    TestOpGraph source(plan);
    const std::vector<char> binary = ToBinary(*source.graph);
    EXPECT_EQ(source.Run({1, 2, 3, 4}), (Values{2, 4, 6, 8}));
    LoadedBinary loaded(binary, *source.graph, OpenClGraph());
    ExpectTwice(loaded);
  }
}

TEST_F(NbgCustomOps, AreFrozenOnTheHost) {
  TestOpGraph source(TwiceOnHost(), {4}, HostGraph());
  const std::vector<char> binary = ToBinary(*source.graph);
  LoadedBinary loaded(binary, *source.graph, OpenClGraph());
  ExpectTwice(loaded);
}

TEST_F(NbgCustomOps, KeepTablesScalarsAndOptions) {
  TestOpGraph source(WithTable());
  ASSERT_EQ(source.Run({1, 2, 3, 4}), (Values{103.5, 206.5, 109.5, 212.5}));
  const std::vector<char> binary = ToBinary(*source.graph);
  LoadedBinary loaded(binary, *source.graph, OpenClGraph());
  Write<float>(loaded.inputs[0], {4, 3, 2, 1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{112.5, 209.5, 106.5, 203.5}));
}

TEST_F(NbgCustomOps, KeepScratchLocalMemoryAndSeveralKernels) {
  SumGraph source(1000);
  const std::vector<char> binary = ToBinary(*source.graph);
  LoadedBinary loaded(binary, *source.graph, OpenClGraph());
  Write<float>(loaded.inputs[0], Values(1000, 2));
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{2000}));
}

// The class's own HostEval() is not in the file.
TEST_F(NbgCustomOps, NeedOpenClWhichTheErrorSays) {
  for (const OpPlan& plan : {Twice(), TwiceOnHost()}) {
    TestOpGraph source(plan);
    const std::vector<char> binary = ToBinary(*source.graph);
    LoadedBinary loaded(binary, *source.graph, HostGraph());
    EXPECT_TRUE(CompileFailsWith(*loaded.graph, "Twice#1"));
    EXPECT_THAT(vx::LastError(), HasSubstr("OpenCL"));
  }
}

TEST_F(NbgCustomOps, OfSeveralBinariesStandApart) {
  OpPlan thrice = Twice();
  thrice.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 3 * x[get_global_id(0)];\n"
      "}\n";
  TestOpGraph two(Twice()), three(thrice);
  const std::vector<char> first = ToBinary(*two.graph);
  const std::vector<char> second = ToBinary(*three.graph);
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto middle = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto end = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::NBG>(first.data(), 1, 1))
      .BindInput(x)
      .BindOutput(middle);
  (*graph->CreateOperation<vx::ops::NBG>(second.data(), 1, 1))
      .BindInput(middle)
      .BindOutput(end);
  (*graph->CreateOperation<TestOp>(Twice())).BindInput(end).BindOutput(y);
  Write<float>(x, {1, 2, 3, 4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), (Values{12, 24, 36, 48}));
  // And once more, as a binary of binaries.
  const std::vector<char> whole = ToBinary(*graph);
  LoadedBinary loaded(whole, *graph, OpenClGraph());
  Write<float>(loaded.inputs[0], {1, 2, 3, 4});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{12, 24, 36, 48}));
}

// The child makes no operation of the class.
TEST_F(NbgCustomOps, RunInAProcessThatDoesNotKnowThem) {
  if (IsChild()) {
    const std::vector<char> binary = BinaryFile::Read(std::getenv(kFile));
    Values x = {1, 2, 3, 4};
    Values y(4);
    const auto run = lite::Execution::Create(binary.data(), binary.size());
    ASSERT_NE(run, nullptr) << vx::LastError();
    run->BindInputs(
        {run->CreateInputHandle(0, reinterpret_cast<uint8_t*>(x.data()), 16)});
    run->BindOutputs(
        {run->CreateOutputHandle(0, reinterpret_cast<uint8_t*>(y.data()), 16)});
    ASSERT_TRUE(run->Trigger()) << vx::LastError();
    EXPECT_EQ(y, (Values{2, 4, 6, 8}));
    return;
  }
  TestOpGraph source(Twice());
  const BinaryFile file(ToBinary(*source.graph));
  const ChildResult child = RunAsChild({{kFile, file.path()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

// A part of a VARIABLE that the kernel does not write keeps its value.
TEST_F(NbgCustomOps, KeepWhatTheyDoNotWriteOfStates) {
  OpPlan plan;
  plan.name = "Every2nd";
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  const int i = 2 * get_global_id(0);\n"
      "  y[i] += x[i];\n"
      "}\n";
  plan.enqueue = Sizes(1, {2}, {0});
  const auto source = OpenClGraph();
  const auto x = source->CreateTensor(Floats({4}, vx::INPUT));
  const auto state = source->CreateTensor(Floats({4}, vx::VARIABLE));
  const auto y = source->CreateTensor(Floats({4}, vx::OUTPUT));
  (*source->CreateOperation<TestOp>(plan)).BindInput(x).BindOutput(state);
  (*source->CreateOperation<vx::ops::DataConvert>())
      .BindInput(state)
      .BindOutput(y);
  Write<float>(state, {1, 2, 3, 4});
  const std::vector<char> binary = ToBinary(*source);
  LoadedBinary loaded(binary, *source, OpenClGraph());
  Write<float>(loaded.inputs[0], {10, 10, 10, 10});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{1, 2, 3, 4}));
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{11, 2, 13, 4}));
}

}  // namespace
}  // namespace tim::testing
