// Compile() has the kernels of custom operators built, and runs none of them.
#include "tests/support/vx/first_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/aligned_memory.h"
#include "tests/support/child_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/several_kernels.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using vx::DataType;
using Values = std::vector<float>;

class FirstRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ContextOn("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
    if (!BuildsKernelsEarly()) {
      GTEST_SKIP() << "of this driver no file tells what it has built";
    }
  }
};

// y = 3 * x, which the compiler of the driver cannot have seen before.
OpPlan Thrice() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 3 * x[get_global_id(0)];\n"
      "}\n";
  return plan;
}

OpPlan Blur() {
  OpPlan plan;
  plan.source =
      "__constant sampler_t kEdge = CLK_NORMALIZED_COORDS_FALSE |\n"
      "    CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
      "__kernel void f(__read_only image2d_t x, __write_only image2d_t y) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  write_imagef(y, at, read_imagef(x, kEdge, at) +\n"
      "                      read_imagef(x, kEdge, at + (int2)(1, 0)));\n"
      "}\n";
  plan.enqueue = Sizes(2, {8, 4, 0}, {0, 0, 0});
  return plan;
}

OpPlan RequiredSize() {
  OpPlan plan;
  plan.source =
      "__kernel __attribute__((reqd_work_group_size(16, 1, 1)))\n"
      "void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 5 * x[get_global_id(0)];\n"
      "}\n";
  return plan;
}

OpPlan WithSizes(OpPlan plan, uint32_t dim, OpPlan::Sizes global,
                 OpPlan::Sizes local) {
  plan.enqueue = Sizes(dim, std::move(global), std::move(local));
  return plan;
}

TEST_F(FirstRun, KernelsOfOpenGivenAndRequiredSizesAreThere) {
  WithNothingBuilt([] {
    for (const OpPlan& plan :
         {Thrice(), WithSizes(Thrice(), 1, {32, 0, 0}, {8, 0, 0}),
          WithSizes(Thrice(), 3, {4, 4, 2}, {2, 2, 2}), Blur(),
          RequiredSize()}) {
      TestOpGraph test(plan, {8, 4});
      Write(test.x, Values(32, 1));
      ExpectBuiltByCompile(*test.graph);
    }
  });
}

TEST_F(FirstRun, AWideGridIsThere) {
  WithNothingBuilt([] {
    TestOpGraph test(Thrice(), {70000});
    Write(test.x, Values(70000, 1));
    ExpectBuiltByCompile(*test.graph);
    EXPECT_EQ(Read(test.y), Values(70000, 3));
  });
}

TEST_F(FirstRun, KernelsInSequenceWithLocalMemoryAreThere) {
  WithNothingBuilt([] {
    SumGraph sum(100);
    Write(sum.x, Values(100, 1));
    ExpectBuiltByCompile(*sum.graph);
    EXPECT_EQ(Read(sum.y), Values{100});
  });
}

TEST_F(FirstRun, KernelsOfCodesAreThere) {
  WithNothingBuilt([] {
    OpPlan plan;
    plan.source =
        "__kernel void f(__global const char* x, __global char* y) {\n"
        "  y[get_global_id(0)] = convert_char_sat_rte(\n"
        "      x[get_global_id(0)] * TIM_SCALE_INPUT0 / TIM_SCALE_OUTPUT0);\n"
        "}\n";
    const auto graph = OpenClGraph();
    const auto spec = [](float scale, vx::TensorAttribute attribute) {
      return vx::TensorSpec(
          DataType::INT8, {64}, attribute,
          vx::Quantization(vx::QuantType::ASYMMETRIC, scale, 0));
    };
    const auto x = graph->CreateTensor(spec(0.5f, vx::INPUT));
    const auto y = graph->CreateTensor(spec(0.25f, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
    Write(x, std::vector<int8_t>(64, 7));
    ExpectBuiltByCompile(*graph);
    EXPECT_EQ(Read<int8_t>(y), std::vector<int8_t>(64, 14));
  });
}

TEST_F(FirstRun, GuardedKernelsAreThere) {
  const auto test = [] {
    TestOpGraph test(Thrice(), {16});
    Write(test.x, Values(16, 1));
    ExpectBuiltByCompile(*test.graph);
    EXPECT_EQ(Read(test.y), Values(16, 3));
  };
  WithNothingBuilt(test, {{"TIMCL_GUARD", "1"}});
}

// Counts its runs in a VARIABLE, and its work-items.
TEST_F(FirstRun, CompileRunsNoKernel) {
  OpPlan plan;
  plan.inputs = 1;
  plan.outputs = 2;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global int* count) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)];\n"
      "  atomic_inc(count);\n"
      "}\n";
  plan.shapes = [](OpPlan::Op& op) {
    op.outputs_size_ = {op.inputs_size_[0], {1}};
  };
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({8}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({8}, vx::OUTPUT));
  const auto count =
      graph->CreateTensor(vx::TensorSpec(DataType::INT32, {1}, vx::VARIABLE));
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutputs({y, count});
  Write(x, Values(8, 1));
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(Read<int32_t>(count), ElementsAre(0));
  for (const int expected : {8, 16}) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read<int32_t>(count), ElementsAre(expected));
  }
}

// Reads far outside of x, as its content is no index before Run(), or for ever.
TEST_F(FirstRun, CompileIsNotHarmedByKernelsThatNeedTheirInputs) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  float step = 0;\n"
      "  while (step < 10) step += x[i];\n"
      "  y[i] = x[(long)(1e12f / x[i]) - 1000000000000];\n"
      "}\n";
  TestOpGraph test(plan, {4});
  ASSERT_TRUE(test.graph->Compile()) << vx::LastError();
}

constexpr char kFile[] = "TIM_TEST_BINARY";

// Calls `test` with the binary of a graph of Thrice() in a process that has not
// compiled that graph.
void WithBinary(const std::function<void(const std::vector<char>&)>& test) {
  if (IsChild()) return test(BinaryFile::Read(std::getenv(kFile)));
  TestOpGraph source(Thrice(), {24});
  const BinaryFile file(ToBinary(*source.graph));
  WithNothingBuilt([] {}, {{kFile, file.path()}});
}

TEST_F(FirstRun, KernelsOfABinaryGraphAreThere) {
  WithBinary([](const std::vector<char>& binary) {
    TestOpGraph source(Thrice(), {24});
    LoadedBinary loaded(binary, *source.graph, OpenClGraph());
    Write(loaded.inputs[0], Values(24, 2));
    ExpectBuiltByCompile(*loaded.graph);
    EXPECT_EQ(Read(loaded.outputs[0]), Values(24, 6));
  });
}

TEST_F(FirstRun, KernelsOfAnExecutionAreThere) {
  WithBinary([](const std::vector<char>& binary) {
    const auto before = BuiltKernels();
    const auto run = lite::Execution::Create(binary.data(), binary.size());
    ASSERT_NE(run, nullptr) << vx::LastError();
    const auto created = BuiltKernels();
    EXPECT_NE(created, before);
    const AlignedMemory x = AllocateAligned(4096, 4096);
    const AlignedMemory y = AllocateAligned(4096, 4096);
    const auto bytes = [](const AlignedMemory& memory) {
      return reinterpret_cast<uint8_t*>(memory.get());
    };
    std::memset(bytes(x), 0, 96);
    run->BindInputs({run->CreateInputHandle(0, bytes(x), 96)});
    run->BindOutputs({run->CreateOutputHandle(0, bytes(y), 96)});
    ASSERT_TRUE(run->Trigger()) << vx::LastError();
    EXPECT_EQ(BuiltKernels(), created);
  });
}

}  // namespace
}  // namespace tim::testing
