// TIMCL_GUARD of operators with several kernels: what they share is watched
// from the first to the last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/vx/several_kernels.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using vx::DataType;
using vx::ops::KernelArg;
using Texts = std::vector<std::string>;

// `test` in a process with the variable; the output of that.
std::string Guarded(const std::function<void()>& test) {
  if (IsChild()) {
    test();
    return "";
  }
  const ChildResult child = RunAsChild({{"TIMCL_GUARD", "1"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  EXPECT_THAT(child.output, Not(HasSubstr("another result each time")));
  return child.output;
}

// Kernels f and g of four items each, with scratch 0 of four floats.
OpPlan TwoKernels(const std::string& f, const std::string& g,
                  const std::string& scratch_in_g = "__global float*") {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global float* t) {\n"
      "  const int i = get_global_id(0);\n  " +
      f +
      "\n}\n"
      "__kernel void g(__global const float* x, __global float* y,\n"
      "                " +
      scratch_in_g +
      " t) {\n"
      "  const int i = get_global_id(0);\n  " +
      g + "\n}\n";
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.AddScratch(DataType::FLOAT32, {4});
  };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 1;
    global[0] = 4;
    op.AddKernel("g", {4});
  };
  return plan;
}

void ExpectRefused(const OpPlan& plan, const std::string& text) {
  SCOPED_TRACE(text);
  TestOpGraph g(plan);
  Write<float>(g.x, {1, 2, 3, 4});
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  for (int run = 0; run < 2; ++run) {
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#1: kernel '" + text));
  }
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(GuardedKernels, GoodOnesRun) {
  Guarded([] {
    for (int run = 0; run < 2; ++run) {
      EXPECT_THAT(SumGraph(4).Run({1, 2, 3, 4}), ElementsAre(10));
    }
    SumGraph g(100);
    EXPECT_THAT(g.Run(std::vector<float>(100, 1)), ElementsAre(100));
    EXPECT_THAT(g.Run(std::vector<float>(100, 2)), ElementsAre(200));
  });
}

// Half of the output by each, and half of the scratch by none.
TEST(GuardedKernels, CompleteTheOutputTogether) {
  Guarded([] {
    TestOpGraph g(TwoKernels("if (i < 2) { y[i] = x[i]; t[i] = x[3 - i]; }",
                             "if (i >= 2) y[i] = t[3 - i] + y[3 - i];"));
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 5, 5));
    EXPECT_THAT(g.Run({2, 4, 6, 8}), ElementsAre(2, 4, 10, 10));
  });
}

TEST(GuardedKernels, LeaveAnElementUnwritten) {
  Guarded([] {
    ExpectRefused(TwoKernels("if (i < 2) y[i] = x[i];",
                             "if (i > 2) y[i] = x[i]; t[i] = 0;"),
                  "g' leaves 1 of 4 elements of output 0 '__global float* y' "
                  "(float32 [4]) unwritten, the first is element 2");
  });
}

TEST(GuardedKernels, ReadScratchThatNoneHasWritten) {
  Guarded([] {
    ExpectRefused(
        TwoKernels("if (i != 2) t[i] = x[i];", "y[i] = t[i] + 1;",
                   "__global const float*"),
        "g' reads scratch 0 '__global const float* t' (float32 [4]) before it "
        "is written: element 2");
    ExpectRefused(TwoKernels("y[i] = t[i];", "t[i] = x[i];"),
                  "f' reads scratch 0 '__global float* t' (float32 [4]) before "
                  "it is written: element 0");
    ExpectRefused(TwoKernels("if (i < 3) y[i] = x[i];",
                             "t[i] = 0; y[i] = y[3 - i > i ? i : 3];"),
                  "g' reads output 0 '__global float* y' (float32 [4]) before "
                  "it is written: element 3");
  });
}

TEST(GuardedKernels, WriteOutsideOfScratch) {
  Guarded([] {
    ExpectRefused(TwoKernels("y[i] = x[i]; t[i + 1] = 0;", "y[i] = x[i];"),
                  "f' writes outside of scratch 0 '__global float* t' (float32 "
                  "[4]): element 4, it has 0 to 3");
    ExpectRefused(TwoKernels("t[i] = x[i];", "y[i] = x[i]; t[i - 1] = 0;"),
                  "g' writes outside of scratch 0");
    ExpectRefused(TwoKernels("t[i] = x[i];", "y[i] = t[i + 2];"),
                  "g' reads outside of scratch 0");
    ExpectRefused(TwoKernels("y[i] = t[i] = x[i];",
                             "if (i == 1) ((__global float*)t)[i] = 7;",
                             "__global const float*"),
                  "g' writes to scratch 0 '__global const float* t'");
  });
}

TEST(GuardedKernels, ReadOutsideOfATable) {
  Guarded([] {
    OpPlan plan;
    plan.source =
        "__kernel void f(__global const float* x, __global float* y,\n"
        "                __global const float* table) {\n"
        "  const int i = get_global_id(0);\n"
        "  y[i] = x[i] + table[i];\n"
        "}\n";
    plan.construct = [](OpPlan::Op& op) {
      op.AddTable(std::vector<float>{10, 20, 30});
    };
    ExpectRefused(plan,
                  "f' reads outside of table 0 '__global const float* table' "
                  "(float32 [3]): element 3, it has 0 to 2");
    plan.construct = [](OpPlan::Op& op) {
      op.AddTable(std::vector<float>{10, 20, 30, 40});
    };
    EXPECT_THAT(TestOpGraph(plan).Run({1, 2, 3, 4}),
                ElementsAre(11, 22, 33, 44));
  });
}

TEST(GuardedKernels, ZerosAreAContent) {
  Guarded([] {
    OpPlan plan = TwoKernels("atomic_inc((volatile __global int*)t);",
                             "if (i == 1) y[1] = *(__global int*)t + x[1];");
    plan.params = [](OpPlan::Op& op, auto&&...) {
      op.AddScratch(DataType::FLOAT32, {4});
      op.FillScratchWithZeros(0);
      op.FillWithZeros(0);
    };
    TestOpGraph g(plan);
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(0, 6, 0, 0));
    EXPECT_THAT(g.Run({1, 3, 3, 4}), ElementsAre(0, 7, 0, 0));
  });
}

TEST(GuardedKernels, AbsentInputsAndImages) {
  Guarded([] {
    OpPlan plan;
    plan.inputs = 3;
    plan.source =
        "__kernel void f(__read_only image2d_t x, __read_only image2d_t a,\n"
        "                __global const float* b, __write_only image2d_t y,\n"
        "                __write_only image2d_t t) {\n"
        "  const int2 at = (int2)(get_global_id(0), 0);\n"
        "  write_imagef(t, at, read_imagef(x, at) + read_imagef(a, at));\n"
        "}\n"
        "__kernel void g(__read_only image2d_t t, __write_only image2d_t y) {\n"
        "  const int2 at = (int2)(get_global_id(0), 0);\n"
        "  write_imagef(y, at, read_imagef(t, (int2)(3 - at.x, 0)));\n"
        "}\n";
    plan.construct = [](OpPlan::Op& op) {
      op.SetInputOptional(1);
      op.SetInputOptional(2);
    };
    plan.params = [](OpPlan::Op& op, auto&&...) {
      op.AddScratch(DataType::FLOAT32, {4});
    };
    plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                      OpPlan::Sizes&) {
      dim = 1;
      global[0] = 4;
      op.AddKernel("g", {4}, {}, {KernelArg::Scratch(0), KernelArg::Output(0)});
    };
    TestOpGraph g(plan);
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(4, 3, 2, 1));
    EXPECT_THAT(g.Run({0, 2, 0, 4}), ElementsAre(4, 0, 2, 0));
  });
}

// Each run begins anew: what the last one wrote is no content.
TEST(GuardedKernels, EachRunBeginsAnew) {
  Guarded([] {
    TestOpGraph g(TwoKernels("if (x[i] > 0) t[i] = x[i];", "y[i] = t[i];"));
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
    Write<float>(g.x, {1, -2, 3, 4});
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(),
                HasSubstr("kernel 'g' reads scratch 0 '__global float* t' "
                          "(float32 [4]) before it is written: element 1"));
    EXPECT_THAT(g.Run({4, 3, 2, 1}), ElementsAre(4, 3, 2, 1));
  });
}

}  // namespace
}  // namespace tim::testing
