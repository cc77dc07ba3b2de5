// TIM_INDEX_INPUT0(...) and TIM_SIZE_INPUT0_1: shapes in the kernels of users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ir/plan.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Values = std::vector<float>;

// y = x with all axes reversed, of `rank` axes.
OpPlan ReversePlan(size_t rank) {
  std::string loops;
  std::string close;
  std::string forth;
  std::string back;
  for (size_t i = 0; i < rank; ++i) {
    const std::string x = "a" + std::to_string(i);
    const std::string size = "TIM_SIZE_INPUT0_" + std::to_string(i);
    loops +=
        "  for (int " + x + " = 0; " + x + " < " + size + "; ++" + x + ") {\n";
    close += "}";
    forth += (i > 0 ? ", " : "") + x;
    back += (i > 0 ? ", " : "") + size + " - 1 - " + x;
  }
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n" +
      loops + "  y[TIM_INDEX_OUTPUT0(" + back + ")] = x[TIM_INDEX_INPUT0(" +
      forth + ")];\n" + close + "\n}\n";
  plan.enqueue = Sizes(1, {1}, {0});
  return plan;
}

// A reversed tensor is its elements in reverse order.
void ExpectReversed(const vx::ShapeType& shape) {
  SCOPED_TRACE(shape.size());
  TestOpGraph g(ReversePlan(shape.size()), shape);
  size_t count = 1;
  for (const uint32_t extent : shape) count *= extent;
  Values values(count);
  for (const float start : {0.0f, 5.0f}) {
    std::iota(values.begin(), values.end(), start);
    EXPECT_EQ(g.Run(values), Values(values.rbegin(), values.rend()));
  }
}

TEST(CustomOpShapeMacros, OfEveryRank) {
  ExpectReversed({7});
  ExpectReversed({3, 2});
  ExpectReversed({3, 1, 2});
  ExpectReversed({2, 3, 4, 5});
  ExpectReversed({2, 3, 4, 3, 2});
  ExpectReversed({2, 3, 1, 3, 2, 2});
  ExpectReversed({2, 3, 1, 3, 2, 2, 1});
  ExpectReversed({2, 1, 3, 2, 1, 2, 3, 2});
}

// Offsets of elements against a count by hand, with expressions as arguments.
TEST(CustomOpShapeMacros, OfEachOperand) {
  OpPlan plan;
  plan.inputs = 2;
  plan.source =
      "__kernel void f(__global const float* a, __global const float* b,\n"
      "                __global float* y, __global float* t) {\n"
      "  t[TIM_INDEX_SCRATCH0(1, 1 - 1)] = b[TIM_INDEX_INPUT1(0 + 1)];\n"
      "  y[0] = a[TIM_INDEX_INPUT0(1 + 1, 0, 3 - 2)];\n"
      "  y[1] = t[1];\n"
      "  y[2] = TIM_INDEX_INPUT0(1, 1, 1);\n"
      "  y[3] = TIM_SIZE_SCRATCH0_1 * 100 + TIM_SIZE_OUTPUT0_0 * 10 +\n"
      "         TIM_SIZE_INPUT0_2;\n"
      "}\n";
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {4}; };
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.AddScratch(vx::DataType::FLOAT32, {3, 9});
  };
  plan.enqueue = Sizes(1, {1}, {0});
  const auto graph = OpenClGraph();
  const auto a = graph->CreateTensor(Floats({3, 2, 2}, vx::INPUT));
  const auto b = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindInputs({a, b}).BindOutput(y);
  Values values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  Write(a, values);
  Write<float>(b, {50, 60});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(8, 60, 10, 942));
}

// Names that are pasted, and in the options.
TEST(CustomOpShapeMacros, WhereTheSourceMentionsThemInAnotherWay) {
  OpPlan plan;
  plan.source =
      "#define AT(operand, i) TIM_INDEX_##operand(i)\n"
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  y[AT(OUTPUT0, LAST - i)] = x[AT(INPUT0, i)];\n"
      "}\n";
  plan.options = "-DLAST=(TIM_SIZE_INPUT0_0-1)";
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(4, 3, 2, 1));
}

// The text of a plan whose operator has the shape {4}.
std::string DumpOf(const OpPlan& plan) {
  TestOpGraph g(plan);
  EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
  return ir::Dump(*vx::CompiledPlan(*g.graph));
}

TEST(CustomOpShapeMacros, AreNoPartOfOtherPrograms) {
  EXPECT_THAT(DumpOf(OpPlan()), Not(HasSubstr("#define")));
  const std::string dump = DumpOf(ReversePlan(1));
  EXPECT_THAT(dump, HasSubstr("#define TIM_INDEX_INPUT0(x0) ((x0));"));
  EXPECT_THAT(dump, HasSubstr("#define TIM_SIZE_INPUT0_0 4;"));
  EXPECT_THAT(dump, Not(HasSubstr("TIM_SIZE_OUTPUT0_0 ")));
}

// What the compiler says counts the user's lines.
TEST(CustomOpShapeMacros, DoNotMoveLines) {
  OpPlan plan = ReversePlan(1);
  plan.source += "no_such_type end;\n";
  TestOpGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.TestOp#1:6:"));
}

}  // namespace
}  // namespace tim::testing
