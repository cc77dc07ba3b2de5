// Tables of custom operators, scalars that are vectors, and scalars that
// SetupParams() adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "ir/plan.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::ops::KernelArg;
using Values = std::vector<float>;

// Boxes (x, y, w, h) of offsets to anchors: two of a cell, by their sizes.
OpPlan DecodePlan() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float4* t, __global float4* boxes,\n"
      "                __global const float2* anchors, float stride) {\n"
      "  const int i = get_global_id(0);\n"
      "  const float2 size = anchors[i % 2];\n"
      "  const float2 cell = (float2)(i / 2, 0);\n"
      "  boxes[i] = (float4)((t[i].xy + cell) * stride, t[i].zw * size);\n"
      "}\n";
  plan.scalars = Scalars(8.0f);
  plan.construct = [](OpPlan::Op& op) {
    EXPECT_EQ(op.AddTable(Values{10, 13, 16, 30}), 0u);
  };
  plan.enqueue = Sizes(1, {4}, {0});
  return plan;
}

TEST(CustomOpTable, AnchorsOfTheConstructor) {
  TestOpGraph g(DecodePlan(), {4, 4});
  for (const float one : {1.0f, 2.0f}) {
    EXPECT_THAT(g.Run(Values(16, one)),
                ElementsAre(8 * one, 8 * one, 10 * one, 13 * one,  //
                            8 * one, 8 * one, 16 * one, 30 * one, 8 * (one + 1),
                            8 * one, 10 * one, 13 * one, 8 * (one + 1), 8 * one,
                            16 * one, 30 * one));
  }
  auto other = OpenClGraph();
  const auto clone = g.op->Clone(other);
  const auto x = other->CreateTensor(Floats({4, 4}, vx::INPUT));
  const auto y = other->CreateTensor(Floats({4, 4}, vx::OUTPUT));
  clone->BindInput(x).BindOutput(y);
  Write(x, Values(16, 1));
  ASSERT_TRUE(other->Run()) << vx::LastError();
  EXPECT_EQ(Read(y)[6], 16);
}

// y[0] = the sum of table 0, y[1] of a second one, by their element.
template <typename T>
void ExpectSum(const std::vector<T>& table, const std::string& parameter,
               float expected) {
  SCOPED_TRACE(parameter);
  OpPlan plan;
  plan.source =
      "#ifdef cl_khr_fp64\n"
      "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
      "#endif\n"
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                " +
      parameter +
      " a, __constant float* b) {\n"
      "  y[0] = 0;\n"
      "  for (int i = 0; i < 3; ++i) y[0] += LOAD(a, i);\n"
      "  y[1] = b[0] + b[1];\n"
      "}\n";
  plan.options = parameter == "__global const half*"
                     ? "-DLOAD(a,i)=vload_half(i,a)"
                     : "-DLOAD(a,i)=(float)a[i]";
  plan.params = [table, options = plan.options](OpPlan::Op& op, const auto&,
                                                std::string& build) {
    build = options;
    op.AddTable(table);
    op.AddTable(Values{0.25f, 0.5f});
  };
  plan.enqueue = Sizes(1, {1}, {0});
  TestOpGraph g(plan, {2});
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(g.Run({0, 0}), ElementsAre(expected, .75f));
  }
}

TEST(CustomOpTable, OfEveryType) {
  ExpectSum<float>({1, 2, -4}, "__global const float*", -1);
  ExpectSum<int8_t>({-128, 1, 127}, "__constant char*", 0);
  ExpectSum<uint8_t>({255, 1, 2}, "__global const uchar*", 258);
  ExpectSum<int16_t>({-32768, 1, 2}, "__constant short*", -32765);
  ExpectSum<uint16_t>({65535, 1, 2}, "__global const ushort*", 65538);
  ExpectSum<int32_t>({-70000, 1, 2}, "__constant int*", -69997);
  ExpectSum<uint32_t>({70000, 1, 2}, "__global const uint*", 70003);
  ExpectSum<int64_t>({int64_t{-1} << 40, 0, 0}, "__constant long*",
                     -1099511627776.0f);
  ExpectSum<uint64_t>({uint64_t{1} << 63, 0, 0}, "__global const ulong*",
                      9223372036854775808.0f);
  ExpectSum<long long>({1, 2, 3}, "__global const long*", 6);
  ExpectSum<vx::Half>({vx::Half(0.5f), vx::Half(2), vx::Half(4)},
                      "__global const half*", 6.5f);
  ExpectSum<int32_t>({1, 2, 3}, "__global int*", 6);  // a copy
}

TEST(CustomOpTable, OfDoubles) {
  const auto graph = OpenClGraph();
  ASSERT_TRUE(TestOpGraph(OpPlan(), {4}, graph).graph->Compile());
  const auto& devices = vx::CompiledPlan(*graph)->devices;
  if (!devices.back().has_fp64) GTEST_SKIP() << "no doubles";
  ExpectSum<double>({1, 0.5, -4}, "__global const double*", -2.5f);
}

// Two operators and the second table of each have the same content.
TEST(CustomOpTable, EqualOnesAreInMemoryOnce) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({4, 4}, vx::INPUT));
  for (int i = 0; i < 2; ++i) {
    const auto y = graph->CreateTensor(Floats({4, 4}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(DecodePlan())->BindInput(x).BindOutput(y);
  }
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  const ir::Plan& plan = *vx::CompiledPlan(*graph);
  int tables = 0;
  for (const ir::ConstantBlock& block : plan.constants) {
    for (const ir::PlacedConstant& constant : block.constants) {
      tables += constant.id.find("table") != std::string::npos;
    }
  }
  EXPECT_EQ(tables, 1);
  EXPECT_THAT(ir::Dump(plan), HasSubstr(" table 0 float32 [4]"));
}

TEST(CustomOpVector, AffineOfFourChannels) {
  OpPlan plan;
  plan.source =
      "typedef float4 channels;\n"
      "__kernel void f(__global const float4* x, __global float4* y,\n"
      "                float4 scale, channels bias, int n) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] * scale + bias + n;\n"
      "}\n";
  plan.scalars = Scalars(std::array<float, 4>{1, 2, 3, 4},
                         std::array<double, 4>{0.5, 0, 0, -1}, 100);
  plan.enqueue = Sizes(1, {2}, {0});
  TestOpGraph g(plan, {4, 2});
  EXPECT_THAT(g.Run({1, 1, 1, 1, 2, 2, 2, 2}),
              ElementsAre(101.5f, 102, 103, 103, 102.5f, 104, 106, 107));
  EXPECT_THAT(g.Run({0, 0, 0, 0, 1, 0, 0, 0}),
              ElementsAre(100.5f, 100, 100, 99, 101.5f, 100, 100, 99));
}

// y = the elements of a vector of N, those of the one before it and behind it.
template <typename T, size_t N>
void ExpectElements(const std::string& type) {
  SCOPED_TRACE(type);
  std::array<T, N> values;
  Values expected;
  for (size_t i = 0; i < N; ++i) {
    values[i] = static_cast<T>(3 * i + 1);
    expected.push_back(static_cast<float>(3 * i + 1));
  }
  expected.push_back(7);
  expected.push_back(8);
  OpPlan plan;
  plan.inputs = 0;
  plan.source = "__kernel void f(__global float* y, char before, " + type +
                " v, short behind) {\n"
                "  vstore" +
                std::to_string(N) + "(convert_float" + std::to_string(N) +
                "(v), 0, y);\n"
                "  y[N] = before;\n"
                "  y[N + 1] = behind;\n"
                "}\n";
  plan.options = "-DN=" + std::to_string(N);
  plan.scalars = Scalars(7, values, 8);
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {N + 2}; };
  plan.enqueue = Sizes(1, {1}, {0});
  const auto graph = OpenClGraph();
  const auto y = graph->CreateTensor(Floats({N + 2}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindOutput(y);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), expected);
}

TEST(CustomOpVector, OfEveryWidth) {
  ExpectElements<float, 2>("float2");
  ExpectElements<float, 3>("float3");
  ExpectElements<float, 4>("float4");
  ExpectElements<float, 8>("float8");
  ExpectElements<float, 16>("float16");
  ExpectElements<int32_t, 2>("int2");
  ExpectElements<uint8_t, 3>("ushort3");
  ExpectElements<int64_t, 4>("char4");
  ExpectElements<uint64_t, 8>("ulong8");
  ExpectElements<int16_t, 16>("uint16");
}

// Each Compile() calls SetupParams(), which adds them anew.
TEST(CustomOpParams, AreAddedBySetupParams) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y, int a,\n"
      "                float b, int c) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] + a * b + c;\n"
      "}\n";
  plan.scalars = Scalars(3);
  plan.params = [](OpPlan::Op& op, auto&&...) {
    vx::ops::param_transform(std::make_tuple(0.5f, 100), op.param_list_);
    op.param_list_[0].data.i *= 2;
  };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(104, 105, 106, 107));
  const auto z = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  g.graph->CreateOperation<vx::ops::Neg>()->BindInput(g.y).BindOutput(z);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(104, 105, 106, 107));
  EXPECT_THAT(Read(z), ElementsAre(-104, -105, -106, -107));
  EXPECT_EQ(g.op->param_list_.size(), 3u);

  g.op->param_list_ = Scalars(5);
  const auto w = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  g.graph->CreateOperation<vx::ops::Relu>()->BindInput(g.y).BindOutput(w);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(106, 107, 108, 109))
      << "what the program has changed since, rules";
}

TEST(CustomOpParams, HaveOneNumberPerVector) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, float2 v, float b,\n"
      "                __global float* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] * v.x + v.y * b;\n"
      "}\n";
  plan.scalars = Scalars(9, std::array<float, 2>{2, 3}, 10.0f);
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes&) {
    dim = 1;
    global[0] = 4;
    op.SetKernelArgs({KernelArg::Input(0), KernelArg::Scalar(1),
                      KernelArg::Scalar(2), KernelArg::Output(0)});
  };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(32, 34, 36, 38));
  EXPECT_THAT(ir::Dump(*vx::CompiledPlan(*g.graph)),
              HasSubstr("std::array<float, 2> (2, 3)"));
}

}  // namespace
}  // namespace tim::testing
