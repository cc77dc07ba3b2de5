// What Compile() and Run() say about optional inputs, scratch, tables, local
// memory, vectors and further kernels that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "tests/support/vx/several_kernels.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::ops::KernelArg;
using Texts = std::vector<std::string>;
using Op = OpPlan::Op;

// Compile and Run fail, the reason names the operator and holds `texts`, and
// good graphs work afterwards.
void ExpectRefused(vx::Graph& graph, const Texts& texts) {
  EXPECT_TRUE(CompileFailsWith(graph, "user.TestOp#1"));
  for (const std::string& text : texts) {
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
  }
  EXPECT_FALSE(graph.Run());
  EXPECT_THAT(vx::LastError(), HasSubstr(texts[0]));
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(SumGraph(3).Run({1, 2, 3}), ElementsAre(6));
}

void ExpectRefused(const OpPlan& plan, const Texts& texts) {
  SCOPED_TRACE(texts[0]);
  TestOpGraph g(plan);
  ExpectRefused(*g.graph, texts);
}

using Call = std::function<void(Op&)>;

OpPlan InConstructor(const Call& call) {
  OpPlan plan;
  plan.construct = call;
  return plan;
}

OpPlan InTypes(const Call& call) {
  OpPlan plan;
  plan.types = call;
  return plan;
}

OpPlan InShapes(const Call& call) {
  OpPlan plan;
  plan.shapes = [=](Op& op) {
    op.outputs_size_[0] = op.inputs_size_[0];
    call(op);
  };
  return plan;
}

OpPlan InParams(const Call& call) {
  OpPlan plan;
  plan.params = [=](Op& op, auto&&...) { call(op); };
  return plan;
}

OpPlan InEnqueue(const Call& call) {
  OpPlan plan;
  plan.enqueue = [=](Op& op, uint32_t& dim, OpPlan::Sizes& global,
                     OpPlan::Sizes&) {
    dim = 1;
    global[0] = 4;
    call(op);
  };
  return plan;
}

TEST(CustomOpMeansErrors, AFunctionInAnotherPlace) {
  struct Case {
    Call call;
    std::string text;
  };
  const Case params[] = {
      {[](Op& op) { op.AddScratch(DataType::INT8, {1}); },
       "AddScratch() is for SetupParams()"},
      {[](Op& op) { op.FillWithZeros(0); },
       "FillWithZeros() is for SetupParams()"},
      {[](Op& op) { op.FillScratchWithZeros(0); },
       "FillScratchWithZeros() is for SetupParams()"},
  };
  for (const Case& c : params) {
    ExpectRefused(InConstructor(c.call), {c.text});
    ExpectRefused(InTypes(c.call), {c.text, "SetupTypes()"});
    ExpectRefused(InShapes(c.call), {c.text, "SetupShapeInfor()"});
    ExpectRefused(InEnqueue(c.call), {c.text, "SetupEnqueue()"});
  }
  const Case enqueue[] = {
      {[](Op& op) { op.AddKernel("f", {4}); },
       "AddKernel() is for SetupEnqueue()"},
      {[](Op& op) { op.SetKernelArgs({}); },
       "SetKernelArgs() is for SetupEnqueue()"},
  };
  for (const Case& c : enqueue) {
    ExpectRefused(InConstructor(c.call), {c.text});
    ExpectRefused(InTypes(c.call), {c.text});
    ExpectRefused(InShapes(c.call), {c.text});
    ExpectRefused(InParams(c.call), {c.text});
  }
  const Call local = [](Op& op) { op.AddLocal(4); };
  const std::string places =
      "AddLocal() is for SetupParams() and SetupEnqueue()";
  ExpectRefused(InConstructor(local), {places});
  ExpectRefused(InTypes(local), {places});
  ExpectRefused(InShapes(local), {places});
  const Call table = [](Op& op) { op.AddTable(std::vector<float>{1}); };
  const std::string one = "AddTable() is for the constructor and SetupParams()";
  ExpectRefused(InTypes(table), {one});
  ExpectRefused(InShapes(table), {one});
  ExpectRefused(InEnqueue(table), {one});
  const Call optional = [](Op& op) { op.SetInputOptional(0); };
  const std::string constructor = "SetInputOptional() is for the constructor";
  ExpectRefused(InTypes(optional), {constructor});
  ExpectRefused(InShapes(optional), {constructor});
  ExpectRefused(InParams(optional), {constructor});
  ExpectRefused(InEnqueue(optional), {constructor});
}

// Behind the constructor, but outside of all functions.
TEST(CustomOpMeansErrors, AFunctionAfterTheConstructor) {
  TestOpGraph bound((OpPlan()));
  bound.op->SetInputOptional(0);
  ExpectRefused(*bound.graph, {"SetInputOptional() is for the constructor"});
  TestOpGraph compiled((OpPlan()));
  ASSERT_TRUE(compiled.graph->Compile()) << vx::LastError();
  compiled.op->AddTable(std::vector<float>{1});
  EXPECT_THAT(vx::LastError(),
              HasSubstr("AddTable() is for the constructor and SetupParams()"));
}

TEST(CustomOpMeansErrors, NumbersOutOfRange) {
  ExpectRefused(InParams([](Op& op) { op.InputSpec(1); }), {"InputSpec(1)"});
  ExpectRefused(InShapes([](Op& op) { op.HasInput(1); }),
                {"HasInput(1)", "has 1 inputs"});
  ExpectRefused(InConstructor([](Op& op) { op.SetInputOptional(1); }),
                {"SetInputOptional(1): the operation has 1 inputs"});
  ExpectRefused(InParams([](Op& op) { op.FillWithZeros(1); }),
                {"FillWithZeros(1): the operation has 1 outputs"});
  ExpectRefused(InParams([](Op& op) { op.FillScratchWithZeros(0); }),
                {"FillScratchWithZeros(0): the operation has 0 scratch"});
  const std::pair<KernelArg, std::string> args[] = {
      {KernelArg::Input(1), "input 1; the operator has 1,"},
      {KernelArg::Output(1), "output 1; the operator has 1,"},
      {KernelArg::Scratch(0), "scratch 0; the operator has 0,"},
      {KernelArg::Table(2), "table 2; the operator has 0,"},
      {KernelArg::Local(0), "local 0; the operator has 0,"},
      {KernelArg::Scalar(9), "scalar 9; the operator has 0,"},
  };
  for (const auto& [arg, text] : args) {
    ExpectRefused(InEnqueue([a = arg](Op& op) {
                    op.AddKernel("f", {4}, {}, {KernelArg::Input(0), a});
                  }),
                  {"kernel 'f' is to get " + text});
    ExpectRefused(InEnqueue([a = arg](Op& op) { op.SetKernelArgs({a}); }),
                  {"kernel 'f' is to get " + text});
  }
}

TEST(CustomOpMeansErrors, ARequiredInputLeftOut) {
  OpPlan plan;
  plan.inputs = 3;
  plan.construct = [](Op& op) { op.SetInputOptional(2); };
  ExpectRefused(plan, {"1 inputs are bound, expected 2 to 3"});
  plan.construct = [](Op& op) { op.SetInputOptional(1); };
  ExpectRefused(plan, {"input 2 is required, but not bound"});
  const auto graph = OpenClGraph();
  const auto op = graph->CreateOperation<TestOp>(plan);
  op->BindInput(graph->CreateTensorPlaceHolder())
      .BindInput(graph->CreateTensorPlaceHolder())
      .BindInput(graph->CreateTensor(Floats({4}, vx::INPUT)))
      .BindOutput(graph->CreateTensor(Floats({4}, vx::OUTPUT)));
  ExpectRefused(*graph, {"input 0 is required, but a placeholder is bound"});
  const auto behind = OpenClGraph();
  const auto x = behind->CreateTensor(Floats({4}, vx::INPUT));
  behind->CreateOperation<TestOp>(plan)
      ->BindInputs({x, x, behind->CreateTensorPlaceHolder()})
      .BindOutput(behind->CreateTensor(Floats({4}, vx::OUTPUT)));
  ExpectRefused(*behind, {"input 2 is required, but not bound"});
}

TEST(CustomOpMeansErrors, AnOptionalInputWithoutAParameter) {
  OpPlan plan;
  plan.inputs = 2;
  plan.construct = [](Op& op) { op.SetInputOptional(1); };
  ExpectRefused(plan, {"kernel 'f' takes 2 parameters, the operator gives 3",
                       "(input 0 float32 [4], input 1 absent, output 0"});
  plan.source =
      "__kernel void f(__global const float* x, int a, __global float* y) {}\n";
  ExpectRefused(plan, {"parameter 1 'int a' with input 1 absent",
                       "a tensor for a value"});
  plan.enqueue =
      InEnqueue([](Op& op) {
        op.SetKernelArgs({KernelArg::Input(0), KernelArg::Output(0)});
      }).enqueue;
  ExpectRefused(plan, {"no kernel gets input 1"});
}

TEST(CustomOpMeansErrors, WhatNoKernelGets) {
  const std::vector<KernelArg> args = {KernelArg::Input(0),
                                       KernelArg::Output(0)};
  OpPlan plan = InEnqueue([=](Op& op) { op.SetKernelArgs(args); });
  plan.params = [](Op& op, auto&&...) { op.AddScratch(DataType::INT8, {4}); };
  ExpectRefused(plan, {"no kernel gets scratch 0"});
  plan.params = [](Op& op, auto&&...) { op.AddTable(std::vector<int>{4}); };
  ExpectRefused(plan, {"no kernel gets table 0"});
  plan.params = [](Op& op, auto&&...) { op.AddLocal(4); };
  ExpectRefused(plan, {"no kernel gets local 0"});
  ExpectRefused(
      InEnqueue([](Op& op) { op.SetKernelArgs({KernelArg::Input(0)}); }),
      {"no kernel gets output 0"});
}

TEST(CustomOpMeansErrors, Tables) {
  const Call none = [](Op& op) { op.AddTable(std::vector<float>()); };
  ExpectRefused(InConstructor(none), {"AddTable() of table 0: it has no"});
  ExpectRefused(InParams(none), {"AddTable() of table 0: it has no numbers"});
  OpPlan plan = InParams([](Op& op) { op.AddTable(std::vector<int>{1}); });
  ExpectRefused(
      plan, {"takes 2 parameters, the operator gives 3", "table 0 int32 [1])"});
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global const float* t) {}\n";
  ExpectRefused(plan, {"parameter 2 '__global const float* t' with table 0",
                       "int32 fits int*"});
}

TEST(CustomOpMeansErrors, LocalMemory) {
  ExpectRefused(InEnqueue([](Op& op) { op.AddLocal(0); }),
                {"AddLocal(0) of local 0: it takes at least one byte"});
  ExpectRefused(InParams([](Op& op) { op.AddLocal(SIZE_MAX); }),
                {"of local 0: it takes at least one byte, and at most"});
  OpPlan plan = InParams([](Op& op) { op.AddLocal(64); });
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global float* t) {}\n";
  ExpectRefused(plan, {"parameter 2 '__global float* t' with local 0 of 64 "
                       "bytes: local memory goes to __local T* only"});
  plan = InParams([](Op& op) { op.AddScratch(DataType::FLOAT32, {4}); });
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __local float* t) {}\n";
  ExpectRefused(plan, {"parameter 2 '__local float* t'",
                       "the operator gives no local memory for it"});
}

// Together with what the kernel declares.
TEST(CustomOpMeansErrors, LocalMemoryBeyondTheDevice) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __local float* t) {\n"
      "  __local float own[1000];\n"
      "  own[0] = t[0] = x[0];\n"
      "  y[0] = own[0] + t[0];\n"
      "}\n";
  for (const size_t bytes : {size_t{1} << 40, size_t{1} << 62}) {
    plan.params = [=](Op& op, auto&&...) { op.AddLocal(bytes); };
    ExpectRefused(plan, {"kernel 'f'", "bytes of local memory exceed the"});
  }
  // All that the device has, which the kernel's own is too much beside.
  TestOpGraph g(plan);
  EXPECT_FALSE(g.graph->Compile());
  const std::string error = vx::LastError();
  const size_t at = error.find("exceed the ") + 11;
  ASSERT_LT(at, error.size());
  const size_t all = std::stoull(error.substr(at));
  plan.params = [=](Op& op, auto&&...) { op.AddLocal(all - 3999); };
  ExpectRefused(plan, {"bytes of local memory exceed the"});
}

TEST(CustomOpMeansErrors, Scratch) {
  const auto scratch = [](DataType type, const vx::ShapeType& shape) {
    return InParams([=](Op& op) { op.AddScratch(type, shape); });
  };
  ExpectRefused(scratch(DataType::UNKNOWN, {4}),
                {"AddScratch() of scratch 0: data type"});
  ExpectRefused(scratch(static_cast<DataType>(77), {4}), {"data type 77"});
  ExpectRefused(scratch(DataType::INT8, {}), {"rank 0 is outside of 1 to 8"});
  ExpectRefused(scratch(DataType::INT8, vx::ShapeType(9, 1)),
                {"rank 9 is outside of 1 to 8"});
  ExpectRefused(scratch(DataType::INT8, {4, 0, 2}),
                {"shape [4, 0, 2] has an extent of 0"});
  const uint32_t large = UINT32_MAX;
  ExpectRefused(scratch(DataType::INT8, {large, large, large}), {"overflow"});
  OpPlan plan = scratch(DataType::FLOAT32, {large, 1000});
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                __global float* t) {}\n";
  ExpectRefused(plan, {"scratch 0 takes 17179869180000 bytes", "at most"});
}

OpPlan WithSecond(const std::string& function, const OpPlan::Sizes& global,
                  const OpPlan::Sizes& local = {},
                  const std::vector<KernelArg>& args = {}) {
  OpPlan plan =
      InEnqueue([=](Op& op) { op.AddKernel(function, global, local, args); });
  plan.source +=
      "__kernel void g(__global const float* x, __global float* y) {}\n"
      "__kernel void h(__global float* y, float a) {}\n"
      "__kernel void i(__global const float* x) {}\n";
  return plan;
}

TEST(CustomOpMeansErrors, FurtherKernels) {
  ExpectRefused(WithSecond("nothing", {4}),
                {"no kernel 'nothing'", "it has: f, g, h, i"});
  ExpectRefused(WithSecond("", {4}),
                {"AddKernel() of a kernel without a name"});
  ExpectRefused(WithSecond("g", {}), {"AddKernel(\"g\") with 0 global sizes"});
  ExpectRefused(WithSecond("g", {1, 1, 1, 1}), {"with 4 global sizes"});
  ExpectRefused(WithSecond("g", {4, 4}, {2}),
                {"AddKernel(\"g\") with 1 local"});
  ExpectRefused(WithSecond("g", {4, 0}),
                {"kernel 'g'", "global size 0 of dimension 1"});
  ExpectRefused(WithSecond("g", {4}, {3}),
                {"kernel 'g'", "local size 3 does not divide global size 4"});
  ExpectRefused(WithSecond("g", {1 << 30}, {1 << 30}),
                {"kernel 'g'", "exceeds the limit"});
  ExpectRefused(WithSecond("g", {SIZE_MAX}), {"63 bits", "kernel 'g'"});
  ExpectRefused(WithSecond("g", {4, SIZE_MAX / 2, 4}),
                {"kernel 'g'", "overflows"});
}

TEST(CustomOpMeansErrors, ArgumentsOfFurtherKernels) {
  const KernelArg x = KernelArg::Input(0);
  const KernelArg y = KernelArg::Output(0);
  ExpectRefused(WithSecond("g", {4}, {}, {x}),
                {"kernel 'g' takes 2 parameters, the operator gives 1"});
  ExpectRefused(WithSecond("g", {4}, {}, {x, y, x}),
                {"kernel 'g' takes 2 parameters, the operator gives 3"});
  ExpectRefused(WithSecond("g", {4}, {}, {y, y}), {"output 0 twice"});
  ExpectRefused(WithSecond("g", {4}, {}, {y, x}),
                {"kernel 'g' writes nothing", "(output 0 float32 [4], input"});
  ExpectRefused(WithSecond("i", {4}, {}, {x}), {"kernel 'i' writes nothing"});
  OpPlan plan = WithSecond("g", {4}, {}, {KernelArg::Scalar(0), y});
  plan.scalars = Scalars(1.0f);
  plan.enqueue = [plan, x, y](Op& op, uint32_t& dim, auto& global,
                              auto& local) {
    op.SetKernelArgs({x, y});
    plan.enqueue(op, dim, global, local);
  };
  ExpectRefused(plan, {"kernel 'g', parameter 0 '__global const float* x' "
                       "with scalar 0 float",
                       "a scalar for a pointer or an image"});
  ExpectRefused(WithSecond("h", {4}, {}, {y, x}),
                {"kernel 'h', parameter 1 'float a' with input 0",
                 "a tensor for a value"});
}

// The input may be written by a kernel that gets a copy, an output is const
// only where a kernel before has had it.
TEST(CustomOpMeansErrors, AConstOutputOfTheFirstKernel) {
  OpPlan plan = InEnqueue(
      [](Op& op) { op.AddKernel("g", {4}, {}, {KernelArg::Output(0)}); });
  plan.source =
      "__kernel void f(__global const float* x, __global const float* y) {}\n"
      "__kernel void g(__global float* y) {}\n";
  ExpectRefused(plan, {"kernel 'f', parameter 1 '__global const float* y'",
                       "an output cannot be const"});
}

TEST(CustomOpMeansErrors, ZerosOfAVariable) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto s = graph->CreateTensor(Floats({4}, vx::VARIABLE));
  graph->CreateOperation<TestOp>(InParams([](Op& op) { op.FillWithZeros(0); }))
      ->BindInput(x)
      .BindOutput(s);
  ExpectRefused(*graph, {"FillWithZeros(0): output 0 is a VARIABLE"});
}

// A kernel with a parameter of this type, from one program of all of them.
OpPlan WithScalar(const std::string& parameter,
                  const std::vector<vx::ops::Param>& scalars) {
  OpPlan plan;
  plan.source =
      "#define F(f, T) __kernel void f(__global const float* x, \\\n"
      "    __global float* y, T a) {}\n"
      "F(f_float, float) F(f_float2, float2) F(f_float4, float4)\n"
      "F(f_float8, float8) F(f_int4, int4) F(f_char4, char4)\n"
      "F(f_pointer, __global float*)\n";
  plan.function = "f_" + (parameter.back() == '*' ? "pointer" : parameter);
  plan.scalars = scalars;
  return plan;
}

TEST(CustomOpMeansErrors, Vectors) {
  const std::array<float, 4> four = {1, 2, 3, 4};
  ExpectRefused(WithScalar("float", Scalars(four)),
                {"parameter 2 'float a' with scalar 0 std::array<float, 4>",
                 "a vector of 4 elements does not go to float; write float4"});
  ExpectRefused(WithScalar("float2", Scalars(four)),
                {"does not go to float2; write float4"});
  ExpectRefused(WithScalar("float8", Scalars(four)), {"write float4"});
  ExpectRefused(WithScalar("int4", Scalars(four)),
                {"a scalar of another type"});
  ExpectRefused(WithScalar("float4", Scalars(1.0f)),
                {"no scalar goes to float4"});
  ExpectRefused(WithScalar("char4", Scalars(std::array<int, 4>{1, 2, 128, 0})),
                {"does not fit: 128 in char"});
  ExpectRefused(WithScalar("__global float*", Scalars(four)),
                {"a scalar for a pointer or an image"});
}

TEST(CustomOpMeansErrors, VectorsThatAreCut) {
  std::vector<vx::ops::Param> scalars = Scalars(std::array<float, 4>{1, 2, 3});
  scalars.pop_back();
  ExpectRefused(WithScalar("float4", scalars),
                {"scalar 0: param_list_[3] does not go on with the vector of "
                 "4 float that begins at 0"});
  scalars = Scalars(std::array<float, 2>{1, 2});
  scalars[1] = Scalars(1)[0];
  ExpectRefused(WithScalar("float2", scalars), {"param_list_[1] does not go"});
  scalars = Scalars(1.0f);
  scalars[0].lanes = 5;
  ExpectRefused(WithScalar("float", scalars), {"a vector of 5 float"});
  scalars[0].lanes = 0;
  ExpectRefused(WithScalar("float", scalars), {"a vector of 0 float"});
}

}  // namespace
}  // namespace tim::testing
