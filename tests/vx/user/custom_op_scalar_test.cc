// Scalars of every C++ type at parameters of every OpenCL C type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;

// y[0] = scalar, as a number of `out`.
struct ScalarGraph {
  ScalarGraph(const std::string& parameter,
              const std::vector<vx::ops::Param>& scalars, DataType out) {
    const std::string element = out == DataType::INT64 ? "long" : "float";
    OpPlan plan;
    plan.inputs = 0;
    plan.source =
        "#ifdef cl_khr_fp64\n"
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "#endif\n"
        "#ifdef cl_khr_fp16\n"
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "#endif\n"
        "__kernel void f(__global " +
        element + "* y, " + parameter + " a) {\n  y[0] = (" + element +
        ")a;\n}\n";
    plan.scalars = scalars;
    plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {1}; };
    y = graph->CreateTensor(vx::TensorSpec(out, {1}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)->BindOutput(y);
  }

  template <typename T>
  T Run() {
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read<T>(y)[0];
  }

  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> y;
};

struct Integer {
  const char* name;
  int64_t min;
  uint64_t max;
};

template <typename T>
constexpr Integer Limits(const char* name) {
  return {name, static_cast<int64_t>(std::numeric_limits<T>::min()),
          static_cast<uint64_t>(std::numeric_limits<T>::max())};
}

constexpr Integer kIntegers[] = {
    Limits<int8_t>("char"),   Limits<uint8_t>("uchar"),
    Limits<int16_t>("short"), Limits<uint16_t>("ushort"),
    Limits<int32_t>("int"),   Limits<uint32_t>("uint"),
    Limits<int64_t>("long"),  Limits<uint64_t>("ulong"),
};

template <typename T>
bool Holds(const Integer& type, T value) {
  const auto wide = static_cast<int64_t>(value);
  if (std::is_signed_v<T> && wide < 0) return wide >= type.min;
  return static_cast<uint64_t>(value) <= type.max;
}

template <typename T>
void ExpectAtEveryParameter(T value) {
  static Sample sample(5);
  for (const Integer& type : kIntegers) {
    if (!sample.Takes()) continue;
    SCOPED_TRACE(type.name);
    ScalarGraph g(type.name, Scalars(value), DataType::INT64);
    if (Holds(type, value)) {
      EXPECT_EQ(g.Run<int64_t>(), static_cast<int64_t>(value));
    } else {
      EXPECT_TRUE(CompileFailsWith(*g.graph, "does not fit"));
      EXPECT_THAT(vx::LastError(), HasSubstr("scalar 0"));
      EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#1"));
      EXPECT_FALSE(g.graph->Run());
    }
  }
}

template <typename T>
class IntegerScalar : public ::testing::Test {};
using IntegerTypes =
    ::testing::Types<bool, char, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                     uint32_t, int64_t, uint64_t, long, unsigned long,
                     long long, unsigned long long>;
TYPED_TEST_SUITE(IntegerScalar, IntegerTypes);

TYPED_TEST(IntegerScalar, GoesToEveryIntegerParameterThatHoldsIt) {
  using Limits = std::numeric_limits<TypeParam>;
  ExpectAtEveryParameter(Limits::min());
  ExpectAtEveryParameter(Limits::max());
  ExpectAtEveryParameter(static_cast<TypeParam>(1));
}

TYPED_TEST(IntegerScalar, IsRefusedByAFloatParameter) {
  ScalarGraph g("float", Scalars(TypeParam{1}), DataType::FLOAT32);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "a scalar of another type"));
  EXPECT_THAT(vx::LastError(), HasSubstr("does not go to float"));
  EXPECT_FALSE(g.graph->Run());
}

template <typename T>
class FloatScalar : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double, vx::Half>;
TYPED_TEST_SUITE(FloatScalar, FloatTypes);

bool DeviceHas(const std::string& extension) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {"
      "\n#ifdef " +
      extension +
      "\n  y[0] = 1;\n"
      "#else\n  y[0] = 0;\n#endif\n}\n";
  return TestOpGraph(plan, {1}).Run({0})[0] != 0;
}

TYPED_TEST(FloatScalar, GoesToFloat) {
  ScalarGraph g("float", Scalars(TypeParam(0.375f)), DataType::FLOAT32);
  EXPECT_EQ(g.Run<float>(), 0.375f);
}

TYPED_TEST(FloatScalar, GoesToDouble) {
  if (!DeviceHas("cl_khr_fp64")) GTEST_SKIP() << "no double on this device";
  ScalarGraph g("double", Scalars(TypeParam(0.375f)), DataType::FLOAT32);
  EXPECT_EQ(g.Run<float>(), 0.375f);
}

TYPED_TEST(FloatScalar, GoesToHalf) {
  if (!DeviceHas("cl_khr_fp16")) GTEST_SKIP() << "no half on this device";
  ScalarGraph g("half", Scalars(TypeParam(0.375f)), DataType::FLOAT32);
  EXPECT_EQ(g.Run<float>(), 0.375f);
}

TYPED_TEST(FloatScalar, IsRefusedByAnIntegerParameter) {
  ScalarGraph g("int", Scalars(TypeParam(1.0f)), DataType::INT64);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "a scalar of another type"));
  EXPECT_THAT(vx::LastError(), HasSubstr("does not go to int"));
}

TEST(CustomOpScalar, DoubleRoundsToNearestFloat) {
  ScalarGraph g("float", Scalars(1 + 0x1.8p-24), DataType::FLOAT32);
  EXPECT_EQ(g.Run<float>(), 1 + 0x1p-23f);
}

TEST(CustomOpScalar, DoubleThatOverflowsFloatIsRefused) {
  ScalarGraph g("float", Scalars(1e39), DataType::FLOAT32);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "overflows"));
}

// y[i] = scalar i, of `types` in turn.
OpPlan InOrder(int count, std::vector<vx::ops::Param> scalars) {
  static const char* const kTypes[] = {"int",   "float", "uchar", "long",
                                       "short", "float", "uint",  "char"};
  OpPlan plan;
  plan.inputs = 0;
  std::string parameters, body;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    parameters += std::string(", ") + kTypes[i] + " a" + n;
    body += "  y[" + n + "] = a" + n + ";\n";
  }
  plan.source = "__kernel void f(__global float* y" + parameters +
                ") {\n  y[8] = 9;\n" + body + "}\n";
  scalars.resize(count);
  plan.scalars = std::move(scalars);
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {9}; };
  plan.enqueue = Sizes(1, {1, 0, 0}, {0, 0, 0});
  return plan;
}

TEST(CustomOpScalar, NoneToEightArriveInOrder) {
  Sample sample(4);
  for (int count = 0; count <= 8; ++count) {
    if (!sample.Takes()) continue;
    const auto graph = OpenClGraph();
    const auto y = graph->CreateTensor(Floats({9}, vx::OUTPUT));
    graph
        ->CreateOperation<TestOp>(
            InOrder(count, Scalars(-1, 2.5f, true, int64_t{4}, int16_t{-5}, 6.5,
                                   7u, int8_t{-8})))
        ->BindOutput(y);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    const float expected[] = {-1, 2.5f, 1, 4, -5, 6.5f, 7, -8};
    const std::vector<float> values = Read(y);
    EXPECT_EQ(values[8], 9);
    for (int i = 0; i < count; ++i) EXPECT_EQ(values[i], expected[i]) << i;
  }
}

}  // namespace
}  // namespace tim::testing
