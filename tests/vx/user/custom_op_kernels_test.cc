// Operators of several kernels, with scratch and local memory between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <thread>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ir/plan.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/several_kernels.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::TensorSpec;
using vx::ops::KernelArg;
using Values = std::vector<float>;

Values Counting(size_t count, float start) {
  Values values(count);
  std::iota(values.begin(), values.end(), start);
  return values;
}

float SumOf(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0f);
}

TEST(CustomOpKernels, SumInTwoPasses) {
  SumGraph g(1000);
  for (const float start : {0.0f, -7.0f, 3.0f}) {
    const Values values = Counting(1000, start);
    EXPECT_THAT(g.Run(values), ElementsAre(SumOf(values)));
  }
}

// relu -> sum -> relu: before and behind are steps of one launch.
TEST(CustomOpKernels, AmongOtherOperators) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({300}, vx::INPUT));
  const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto b = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto c = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
  graph->CreateOperation<vx::ops::Sqrt>()->BindInput(a).BindOutput(b);
  graph->CreateOperation<TestOp>(SumPlan())->BindInput(b).BindOutput(c);
  graph->CreateOperation<vx::ops::Neg>()->BindInput(c).BindOutput(y);
  for (const float value : {4.0f, 9.0f, -1.0f}) {
    Write(x, Values(300, value));
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    const float expected = -300 * std::sqrt(std::max(value, 0.0f));
    EXPECT_THAT(Read(y), ElementsAre(expected));
  }
}

// Two of them have scratch of their own, and one may take the other's memory.
TEST(CustomOpKernels, TwoInOneGraph) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({500}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  const auto z = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  const auto d = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  graph->CreateOperation<TestOp>(SumPlan())->BindInput(x).BindOutput(y);
  graph->CreateOperation<vx::ops::Neg>()->BindInput(x).BindOutput(d);
  graph->CreateOperation<TestOp>(SumPlan())->BindInput(d).BindOutput(z);
  for (int run = 0; run < 2; ++run) {
    const Values values = Counting(500, static_cast<float>(run));
    Write(x, values);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(y), ElementsAre(SumOf(values)));
    EXPECT_THAT(Read(z), ElementsAre(-SumOf(values)));
  }
}

TEST(CustomOpKernels, ScratchIsInTheDumpAndTheMemoryReport) {
  SumGraph g(1000);
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  const ir::Plan& plan = *vx::CompiledPlan(*g.graph);
  const std::string dump = ir::Dump(plan);
  EXPECT_THAT(dump, HasSubstr(":partial_sums ["));
  EXPECT_THAT(dump, HasSubstr("scratch 0 out float32 [16]"));
  EXPECT_THAT(dump, HasSubstr("local:256"));
  EXPECT_THAT(dump, HasSubstr(":total ["));
  EXPECT_THAT(dump, HasSubstr("scratch 0 kept out float32 [16]"));
  EXPECT_GE(plan.memory.peak, 64);
  EXPECT_OK(ir::Verify(plan));
}

// Contexts have their own arenas, and steps.
TEST(CustomOpKernels, RunSideBySide) {
  SumGraph g(4096);
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  const auto executable = runtime::Executable::Create(
      *vx::CompiledPlan(*g.graph),
      {device::CreateHostDevice(),
       *device::CreateOpenClDevice(0, GetOptions().on_device)},
      std::make_shared<EmptyStore>());
  ASSERT_OK(executable);
  const auto work = [&](float start) {
    const auto context = runtime::ExecutionContext::Create(*executable);
    ASSERT_OK(context);
    for (int run = 0; run < 20; ++run) {
      const Values values(4096, start + static_cast<float>(run));
      float sum = 0;
      const void* inputs[] = {values.data()};
      void* outputs[] = {&sum};
      ASSERT_OK((*context)->Run(inputs, outputs, nullptr));
      EXPECT_EQ(sum, SumOf(values));
    }
  };
  std::thread one(work, 1.0f);
  std::thread other(work, -50.0f);
  one.join();
  other.join();
}

// y = exp(x - max) / sum, a work-group per row.
TEST(CustomOpKernels, SoftmaxWithLocalMemory) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __local float* lanes, int n) {\n"
      "  const int i = get_local_id(0);\n"
      "  const int size = get_local_size(0);\n"
      "  x += get_group_id(0) * n;\n"
      "  y += get_group_id(0) * n;\n"
      "  float most = -INFINITY;\n"
      "  for (int k = i; k < n; k += size) most = fmax(most, x[k]);\n"
      "  lanes[i] = most;\n"
      "  for (int half_size = size / 2; half_size > 0; half_size /= 2) {\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    if (i < half_size) {\n"
      "      lanes[i] = fmax(lanes[i], lanes[i + half_size]);\n"
      "    }\n"
      "  }\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  most = lanes[0];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  float sum = 0;\n"
      "  for (int k = i; k < n; k += size) sum += exp(x[k] - most);\n"
      "  lanes[i] = sum;\n"
      "  for (int half_size = size / 2; half_size > 0; half_size /= 2) {\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    if (i < half_size) lanes[i] += lanes[i + half_size];\n"
      "  }\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  for (int k = i; k < n; k += size) {\n"
      "    y[k] = exp(x[k] - most) / lanes[0];\n"
      "  }\n"
      "}\n";
  plan.scalars = Scalars(37);
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes& local) {
    dim = 1;
    local[0] = 16;
    global[0] = local[0] * op.inputs_size_[0][1];
    op.AddLocal(local[0] * sizeof(float));
  };
  TestOpGraph g(plan, {37, 5});
  for (const float scale : {1.0f, 30.0f}) {
    Values values(37 * 5);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = scale * std::sin(static_cast<float>(i * i));
    }
    const Values results = g.Run(values);
    for (size_t row = 0; row < 5; ++row) {
      double sum = 0;
      for (size_t k = 0; k < 37; ++k) sum += std::exp(values[37 * row + k]);
      for (size_t k = 0; k < 37; ++k) {
        const double expected = std::exp(values[37 * row + k]) / sum;
        EXPECT_NEAR(results[37 * row + k], expected, 1e-6);
      }
    }
  }
}

// Counts of the codes of x, which has 16 levels.
OpPlan HistogramPlan() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const uchar* x, __global int* counts) {\n"
      "  atomic_inc(&counts[x[get_global_id(0)] & 15]);\n"
      "}\n";
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::INT32); };
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {16}; };
  plan.params = [](OpPlan::Op& op, auto&&...) { op.FillWithZeros(0); };
  plan.enqueue = Sizes(1, {4000}, {0});
  return plan;
}

TEST(CustomOpKernels, HistogramStartsWithZeros) {
  const auto graph = OpenClGraph();
  const auto x =
      graph->CreateTensor(TensorSpec(DataType::UINT8, {4000}, vx::INPUT));
  const auto y =
      graph->CreateTensor(TensorSpec(DataType::INT32, {16}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(HistogramPlan())->BindInput(x).BindOutput(y);
  std::vector<uint8_t> codes(4000);
  std::iota(codes.begin(), codes.end(), uint8_t{0});
  Write(x, codes);
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read<int32_t>(y), Each(250));
  }
  Write(x, std::vector<uint8_t>(4000, 3));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read<int32_t>(y)[3], 4000);
  EXPECT_EQ(Read<int32_t>(y)[2], 0);
  EXPECT_THAT(ir::Dump(*vx::CompiledPlan(*graph)),
              HasSubstr(" zeroed out int32 [16]"));
}

// In the middle of a graph, where the memory was another tensor's before.
TEST(CustomOpKernels, ZerosInMemoryThatOthersHaveUsed) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  if (get_global_id(0) == 1) y[1] = x[1];\n"
      "}\n";
  plan.params = [](OpPlan::Op& op, auto&&...) { op.FillWithZeros(0); };
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({7}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({7}, vx::OUTPUT));
  auto from = x;
  for (int i = 0; i < 5; ++i) {
    const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    const auto b = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Sin>()->BindInput(from).BindOutput(a);
    graph->CreateOperation<TestOp>(plan)->BindInput(a).BindOutput(b);
    from = b;
  }
  graph->CreateOperation<vx::ops::Neg>()->BindInput(from).BindOutput(y);
  for (const float value : {1.0f, 0.5f}) {
    Write(x, Values(7, value));
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    float expected = value;
    for (int i = 0; i < 5; ++i) expected = std::sin(expected);
    const Values results = Read(y);
    EXPECT_NEAR(results[1], -expected, 1e-6);
    for (const size_t i : {0, 2, 3, 4, 5, 6}) EXPECT_EQ(results[i], 0);
  }
}

// As an image, and of bytes that are no words.
TEST(CustomOpKernels, ZerosOfAnImageAndOfOddBytes) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__read_only image2d_t x, __write_only image2d_t y,\n"
      "                __global uchar* z) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(0));\n"
      "  write_imagef(y, at, read_imagef(x, at));\n"
      "  z[2 * get_global_id(0)] = 9;\n"
      "}\n";
  plan.outputs = 2;
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_ = {{2, 2}, {3}}; };
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.FillWithZeros(0);
    op.FillWithZeros(1);
  };
  plan.enqueue = Sizes(1, {2}, {0});
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({2, 2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2, 2}, vx::OUTPUT));
  const auto z =
      graph->CreateTensor(TensorSpec(DataType::UINT8, {3}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutputs({y, z});
  for (int run = 1; run < 3; ++run) {
    Write(x, Values(4, static_cast<float>(run)));
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(y), ElementsAre(run, 0, 0, run));
    EXPECT_THAT(Read<uint8_t>(z), ElementsAre(9, 0, 9));
  }
}

TEST(CustomOpKernels, ScratchOfZerosCountsAnew) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global int* count) {\n"
      "  if (x[get_global_id(0)] > 0) atomic_inc(count);\n"
      "}\n"
      "__kernel void g(__global const float* x, __global float* y,\n"
      "                __global const int* count) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] / count[0];\n"
      "}\n";
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.FillScratchWithZeros(op.AddScratch(DataType::INT32, {1}));
  };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 1;
    global[0] = 4;
    op.AddKernel("g", {4});
  };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, -3, 0}), ElementsAre(.5f, 1, -1.5f, 0));
  EXPECT_THAT(g.Run({1, 2, 4, 8}), ElementsAre(.25f, .5f, 1, 2));
  EXPECT_THAT(g.Run({-1, -2, 4, -8}), ElementsAre(-1, -2, 4, -8));
}

// y = x + 1, then y = y[3 - i] * 2 by way of a scratch, each kernel with
// arguments of its own, in an order of its own.
TEST(CustomOpKernels, LaterOnesReadTheOutputOfTheFirst) {
  OpPlan plan;
  plan.source =
      "__kernel void f(float one, __global float* y,\n"
      "                __global const float* x) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] + one;\n"
      "}\n"
      "__kernel void turn(__global const float* y, __global float* t) {\n"
      "  t[3 - get_global_id(0)] = y[get_global_id(0)];\n"
      "}\n"
      "__kernel void scale(__global float* t, __global float* y, int n) {\n"
      "  y[get_global_id(0)] = t[get_global_id(0)] * n;\n"
      "}\n";
  plan.scalars = Scalars(1.0f, 2);
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.AddScratch(DataType::FLOAT32, {4});
  };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 1;
    global[0] = 4;
    op.SetKernelArgs(
        {KernelArg::Scalar(0), KernelArg::Output(0), KernelArg::Input(0)});
    op.AddKernel("turn", {4}, {2},
                 {KernelArg::Output(0), KernelArg::Scratch(0)});
    op.AddKernel(
        "scale", {4}, {},
        {KernelArg::Scratch(0), KernelArg::Output(0), KernelArg::Scalar(1)});
  };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(10, 8, 6, 4));
  EXPECT_THAT(g.Run({0, 0, 0, 9}), ElementsAre(20, 2, 2, 2));
}

// An image between kernels of two and three dimensions.
TEST(CustomOpKernels, ScratchImage) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__read_only image2d_t x, __global float* y,\n"
      "                __write_only image2d_t t) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  write_imagef(t, at.yx, read_imagef(x, at));\n"
      "}\n"
      "__kernel void g(__read_only image2d_t t, __global float* y) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  y[at.x + 2 * at.y] = read_imagef(t, at).x + get_global_id(2);\n"
      "}\n";
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.AddScratch(DataType::FLOAT32, {2, 2});
  };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 2;
    global[0] = global[1] = 2;
    op.AddKernel("g", {2, 2, 1}, {1, 1, 1},
                 {KernelArg::Scratch(0), KernelArg::Output(0)});
  };
  TestOpGraph g(plan, {2, 2});
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(g.Run({5, 6, 7, 8}), ElementsAre(5, 7, 6, 8));
}

// A state that two kernels add to keeps the sum of both, each run.
TEST(CustomOpKernels, StateIsKeptThroughAllOfThem) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* s) {\n"
      "  s[0] += x[0];\n"
      "}\n"
      "__kernel void g(__global const float* x, __global float* s) {\n"
      "  s[0] += x[1]; s[2] = s[0];\n"
      "}\n";
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {3}; };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 1;
    global[0] = 1;
    op.AddKernel("g", {1});
  };
  for (const bool read : {false, true}) {
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
    const Values start = {10, 20, 30};
    const auto s = graph->CreateTensor(Floats({3}, vx::VARIABLE), start.data());
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(s);
    if (read) {
      const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
      graph->CreateOperation<vx::ops::Relu>()->BindInput(s).BindOutput(y);
    }
    Write<float>(x, {1, 2});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(s), ElementsAre(13, 20, 13));
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(s), ElementsAre(16, 20, 16));
  }
}

TEST(CustomOpKernels, EachGraphOfAnotherShapeHasItsOwnScratch) {
  for (const uint32_t count : {3u, 64u, 65u, 5000u}) {
    SumGraph g(count);
    EXPECT_THAT(g.Run(Values(count, 2)),
                ElementsAre(2 * static_cast<float>(count)));
  }
}

TEST(CustomOpKernels, CloneHasAllOfThem) {
  SumGraph g(100);
  auto other = OpenClGraph();
  const auto clone = g.op->Clone(other);
  const auto x = other->CreateTensor(Floats({70}, vx::INPUT));
  const auto y = other->CreateTensor(Floats({1}, vx::OUTPUT));
  clone->BindInput(x).BindOutput(y);
  Write(x, Values(70, 3));
  ASSERT_TRUE(other->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(210));
}

// A graph that is changed is compiled again, with all functions called again.
TEST(CustomOpKernels, CompiledAgain) {
  SumGraph g(100);
  EXPECT_THAT(g.Run(Values(100, 1)), ElementsAre(100));
  const auto z = g.graph->CreateTensor(Floats({1}, vx::OUTPUT));
  g.graph->CreateOperation<vx::ops::Neg>()->BindInput(g.y).BindOutput(z);
  EXPECT_THAT(g.Run(Values(100, 2)), ElementsAre(200));
  EXPECT_THAT(Read(z), ElementsAre(-200));
}

}  // namespace
}  // namespace tim::testing
