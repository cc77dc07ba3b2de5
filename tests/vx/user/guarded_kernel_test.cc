// TIMCL_GUARD: what kernels of users do outside of their tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Texts = std::vector<std::string>;

// `test` in a process with the variable; the output of that.
std::string Guarded(const std::function<void()>& test) {
  if (IsChild()) {
    test();
    return "";
  }
  const ChildResult child = RunAsChild({{"TIMCL_GUARD", "1"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  return child.output;
}

OpPlan WithSource(const std::string& source) {
  OpPlan plan;
  plan.source = source;
  return plan;
}

// `statement` for each i < `count`.
OpPlan Items(const std::string& statement, size_t count = 4) {
  OpPlan plan = WithSource(
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  const int i = get_global_id(0);\n  " +
      statement + "\n}\n");
  plan.enqueue = Sizes(1, {count}, {0});
  return plan;
}

void ExpectRefused(const OpPlan& plan, const Texts& texts,
                   const vx::ShapeType& shape = {4}) {
  TestOpGraph g(plan, shape);
  Write<float>(g.x, {1, 2, 3, 4});
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  for (int run = 0; run < 2; ++run) {
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(),
                HasSubstr("user.TestOp#1: kernel 'f' " + texts[0]));
    for (const std::string& text : texts) {
      EXPECT_THAT(vx::LastError(), HasSubstr(text));
    }
  }
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(GuardedKernel, WritesOutsideOfAnOutput) {
  Guarded([] {
    ExpectRefused(Items("y[i] = x[i % 4];", 7),
                  {"writes outside of output 0 '__global float* y' (float32 "
                   "[4]): element 4, it has 0 to 3"});
    ExpectRefused(Items("y[i] = x[i]; y[i - 2] = 5;"),
                  {"writes outside of output 0", ": element -1,"});
    ExpectRefused(Items("y[i] = x[i]; if (i == 0) y[500] = 0;"),
                  {"writes outside of output 0", ": element 500,"});
  });
}

TEST(GuardedKernel, WhatIsAroundAnInputIsNoValueToCopy) {
  Guarded([] {
    ExpectRefused(Items("y[i] = x[i];", 5),
                  {"writes outside of output 0", ": element 4,"});
  });
}

TEST(GuardedKernel, WritesOutsideOfAnInputThatItMayWrite) {
  Guarded([] {
    ExpectRefused(
        WithSource("__kernel void f(__global float* x, __global float* y) {\n"
                   "  const int i = get_global_id(0);\n"
                   "  y[i] = x[i];\n"
                   "  x[i + 1] = 0;\n"
                   "}\n"),
        {"writes outside of input 0 '__global float* x'", ": element 4,"});
  });
}

TEST(GuardedKernel, WritesToAnInputThatItSaysIsConst) {
  Guarded([] {
    ExpectRefused(
        Items("y[i] = x[i]; if (i == 2) ((__global float*)x)[i] = 9;"),
        {"writes to input 0 '__global const float* x'",
         "says is const: element 2"});
  });
}

TEST(GuardedKernel, ReadsBehindAnInput) {
  Guarded([] {
    ExpectRefused(Items("y[i] = x[i + 1];"),
                  {"reads outside of input 0 '__global const float* x' "
                   "(float32 [4]): element 4, it has 0 to 3",
                   "element 3 of output 0", "or is another each time"});
    ExpectRefused(
        Items("y[i] = x[i] + (i == 1 ? x[77] : 0);"),
        {"reads outside of input 0", ": element 77,", "element 1 of output 0"});
  });
}

TEST(GuardedKernel, ReadsBeforeAnInput) {
  Guarded([] {
    ExpectRefused(Items("y[i] = fmax(x[i - 2], x[i]);"),
                  {"reads outside of input 0", ": element -1,"});
  });
}

TEST(GuardedKernel, NamesTheInputOfSeveral) {
  Guarded([] {
    const auto graph = OpenClGraph();
    OpPlan plan = WithSource(
        "__kernel void f(__global const float* a, __global const char* b,\n"
        "                __global float* y) {\n"
        "  const int i = get_global_id(0);\n"
        "  y[i] = a[i] + (b[i] ? 1 : 2);\n"
        "}\n");
    plan.inputs = 2;
    const auto a = graph->CreateTensor(Floats({4}, vx::INPUT));
    const auto b = graph->CreateTensor(
        vx::TensorSpec(vx::DataType::BOOL8, {2}, vx::INPUT));
    const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)->BindInputs({a, b}).BindOutput(y);
    Write<float>(a, {1, 2, 3, 4});
    Write<int8_t>(b, {1, 0});
    EXPECT_FALSE(graph->Run());
    EXPECT_THAT(vx::LastError(),
                HasSubstr("reads outside of input 1 '__global const char* b' "
                          "(bool8 [2]): element 2, it has 0 to 1"));
  });
}

TEST(GuardedKernel, ReadsAnOutputThatHoldsNothingYet) {
  Guarded([] {
    ExpectRefused(Items("y[i] = i < 2 ? x[i] : y[i] + x[i];"),
                  {"reads output 0 '__global float* y'",
                   "before it is written: element 2"});
  });
}

TEST(GuardedKernel, UnwrittenTail) {
  Guarded([] {
    ExpectRefused(Items("y[i] = x[i];", 3),
                  {"leaves 1 of 4 elements of output 0 '__global float* y' "
                   "(float32 [2, 2]) unwritten, the first is element 3 at "
                   "[1, 1]"},
                  {2, 2});
  });
}

TEST(GuardedKernel, UnwrittenTailBetweenOperations) {
  Guarded([] {
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
    const auto a = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
    const auto b = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
    const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
    graph->CreateOperation<TestOp>(Items("if (i != 1) y[i] = x[i];"))
        ->BindInput(a)
        .BindOutput(b);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(b).BindOutput(y);
    Write<float>(x, {1, 2, 3, 4});
    EXPECT_FALSE(graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr("leaves 1 of 4 elements of output"));
    EXPECT_THAT(vx::LastError(), HasSubstr("the first is element 1"));
  });
}

TEST(GuardedKernel, UnwrittenTexelsOfAnImage) {
  Guarded([] {
    const std::string head =
        "__kernel void f(__read_only image2d_t x, __write_only image2d_t y) {\n"
        "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n";
    OpPlan plan = WithSource(
        head + "  if (at.y == 0) write_imagef(y, at, read_imagef(x, at));\n}");
    plan.enqueue = Sizes(2, {2, 2}, {0, 0});
    ExpectRefused(plan,
                  {"leaves 2 of 4 elements of output 0 '__write_only "
                   "image2d_t y' (float32 [2, 2]) unwritten, the first is "
                   "element 2 at [0, 1]"},
                  {2, 2});
    // What lies outside of images is defined.
    plan.source = head + "  write_imagef(y, at, read_imagef(x, at + 1));\n}";
    plan.enqueue = Sizes(2, {4, 4}, {0, 0});
    TestOpGraph g(plan, {2, 2});
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(4, 4, 4, 4));
  });
}

TEST(GuardedKernel, KernelsWithoutMistakesGiveTheirResults) {
  const std::string log = Guarded([] {
    TestOpGraph g(OpPlan{});
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(g.Run({5, 6, 7, 8}), ElementsAre(5, 6, 7, 8));
    // The input is a copy, and the same for each launch.
    TestOpGraph counting(
        WithSource("__kernel void f(__global float* x, __global float* y) {\n"
                   "  const int i = get_global_id(0);\n"
                   "  y[i] = ++x[i];\n"
                   "}\n"));
    EXPECT_THAT(counting.Run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(Read(counting.x), ElementsAre(1, 2, 3, 4));
  });
  if (IsChild()) return;
  EXPECT_THAT(log, Not(HasSubstr("TIMCL_GUARD)")));
}

TEST(GuardedKernel, BetweenBuiltInsThatAreChained) {
  Guarded([] {
    const auto graph = OpenClGraph();
    std::shared_ptr<vx::Tensor> from =
        graph->CreateTensor(Floats({4}, vx::INPUT));
    const auto x = from;
    for (int i = 0; i < 7; ++i) {
      const auto to =
          graph->CreateTensor(Floats({4}, i == 6 ? vx::OUTPUT : vx::TRANSIENT));
      if (i % 3 == 0) {
        graph->CreateOperation<TestOp>(Items("y[i] = x[i] + 1;"))
            ->BindInput(from)
            .BindOutput(to);
      } else {
        graph->CreateOperation<vx::ops::Abs>()->BindInput(from).BindOutput(to);
      }
      from = to;
    }
    for (int run = 0; run < 3; ++run) {
      Write<float>(x, {1, -2, 3, -14});
      ASSERT_TRUE(graph->Run()) << vx::LastError();
      EXPECT_THAT(Read(from), ElementsAre(4, 3, 6, 15));
    }
  });
}

// s[0] += x[0], s[1] stays.
TEST(GuardedKernel, StatesThatAreWrittenInPart) {
  const std::string log = Guarded([] {
    OpPlan plan = WithSource(
        "__kernel void f(__global const float* x, __global float* s,\n"
        "                __global float* y) {\n"
        "  s[0] += x[0];\n"
        "  y[0] = s[1];\n"
        "}\n");
    plan.outputs = 2;
    plan.shapes = [](OpPlan::Op& op) {
      op.outputs_size_[0] = {2};
      op.outputs_size_[1] = {1};
    };
    plan.enqueue = Sizes(1, {1}, {0});
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
    const std::vector<float> start = {10, 20};
    const auto s = graph->CreateTensor(Floats({2}, vx::VARIABLE), start.data());
    const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutputs({s, y});
    for (int run = 1; run <= 3; ++run) {
      Write<float>(x, {1});
      ASSERT_TRUE(graph->Run()) << vx::LastError();
      EXPECT_THAT(Read(s), ElementsAre(10 + run, 20));
      EXPECT_THAT(Read(y), ElementsAre(20));
    }
  });
  if (IsChild()) return;
  EXPECT_THAT(log, Not(HasSubstr("TIMCL_GUARD)")));
}

TEST(GuardedKernel, StatesHaveGuardsToo) {
  Guarded([] {
    OpPlan plan = Items("y[i] += x[i]; if (i == 3) y[4] = 0;");
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
    const std::vector<float> start(4);
    const auto s = graph->CreateTensor(Floats({4}, vx::VARIABLE), start.data());
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(s);
    EXPECT_FALSE(graph->Run());
    EXPECT_THAT(vx::LastError(),
                HasSubstr("writes outside of output 0 '__global float* y' "
                          "(float32 [4]): element 4,"));
  });
}

// Work-items in the order in which they came, enough of them for every compute
// unit to begin before another has done them all.
TEST(GuardedKernel, ResultsThatAreOthersEachTimeAreTold) {
  constexpr uint32_t kItems = 1 << 18;
  const std::string log = Guarded([] {
    OpPlan plan = WithSource(
        "__kernel void f(__global int* x, __global float* y) {\n"
        "  y[get_global_id(0)] = atomic_inc(x);\n"
        "}\n");
    plan.enqueue = Sizes(1, {kItems}, {1});
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(
        vx::TensorSpec(vx::DataType::INT32, {1}, vx::INPUT));
    const auto y = graph->CreateTensor(Floats({kItems}, vx::OUTPUT));
    plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {kItems}; };
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
    int good = 0;
    for (int run = 0; run < 20; ++run) {
      Write<int32_t>(x, {0});
      if (!graph->Run()) {  // by chance, the same twice
        EXPECT_THAT(vx::LastError(), HasSubstr("another"));
        continue;
      }
      ++good;
      std::vector<float> order = Read(y);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order[kItems - 1], kItems - 1);
    }
    EXPECT_GT(good, 0);
  });
  if (IsChild()) return;
  EXPECT_THAT(
      log, HasSubstr("[warning] user.TestOp#1: kernel 'f' reads outside of an "
                     "input, or gives another result each time: element "));
  EXPECT_THAT(log, HasSubstr(" of output 0 '__global float* y' (float32 "));
}

TEST(GuardedKernel, WithoutTheVariableNothingIsWatched) {
  if (IsChild()) {
    TestOpGraph g(Items("y[i] = x[i];", 3));
    EXPECT_EQ(g.Run({1, 2, 3, 4})[2], 3);
    return;
  }
  for (const char* off : {"0", ""}) {
    const ChildResult child = RunAsChild({{"TIMCL_GUARD", off}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
  }
}

}  // namespace
}  // namespace tim::testing
