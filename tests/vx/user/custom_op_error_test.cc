// What Compile() says about custom operators that cannot run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/child_process.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

// Compile and Run fail, the reason names the operator and holds `texts`, and a
// good graph works afterwards.
void ExpectRefused(vx::Graph& graph, const Texts& texts) {
  EXPECT_TRUE(CompileFailsWith(graph, "user.TestOp#1"));
  for (const std::string& text : texts) {
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
  }
  EXPECT_FALSE(graph.Run());
  EXPECT_THAT(vx::LastError(), HasSubstr(texts[0]));
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

void ExpectRefused(const OpPlan& plan, const Texts& texts) {
  TestOpGraph g(plan);
  ExpectRefused(*g.graph, texts);
}

OpPlan WithSource(const std::string& source) {
  OpPlan plan;
  plan.source = source;
  return plan;
}

TEST(CustomOpErrors, SyntaxErrorIsAtTheUsersOwnLine) {
  const std::string text =
      "// line 1\n"
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[0] = no_such_name;\n"
      "}\n";
  ExpectRefused(WithSource(text), {"no_such_name", "user.TestOp#1:3"});
  const std::string images =
      "// line 1\n"
      "__kernel void f(__read_only image2d_t x, __write_only image2d_t y) {\n"
      "  write_imagef(y, (int2)(0, 0), no_such_name);\n"
      "}\n";
  ExpectRefused(WithSource(images), {"no_such_name", "user.TestOp#1:3"});
}

TEST(CustomOpErrors, UnknownFunction) {
  OpPlan plan;
  plan.function = "g";
  ExpectRefused(plan, {"no kernel 'g'", "it has: f"});
}

TEST(CustomOpErrors, NoFunctionAndNoSource) {
  OpPlan plan;
  plan.params = [](OpPlan::Op& op, auto&&...) { op.func_name_ = nullptr; };
  ExpectRefused(plan, {"SetupParams() set no func_name_"});
  plan.params = [](OpPlan::Op& op, auto&&...) { op.func_name_ = ""; };
  ExpectRefused(plan, {"SetupParams() set no func_name_"});
  plan.params = [](OpPlan::Op& op, auto&&...) {
    op.kernel_resource_ = nullptr;
  };
  ExpectRefused(plan, {"kernel_resource_ is null"});
}

TEST(CustomOpErrors, SourceWithoutAKernel) {
  ExpectRefused(WithSource("float helper(float x) { return x; }\n"), {"'f'"});
  ExpectRefused(WithSource(""), {"'f'"});
}

TEST(CustomOpErrors, OneParameterTooManyOrTooFew) {
  ExpectRefused(WithSource("__kernel void f(__global const float* x,\n"
                           "                __global float* y, int n) {}\n"),
                {"takes 3 parameters, the operator gives 2", "int n",
                 "input 0 float32 [4]", "output 0 float32 [4]"});
  OpPlan plan;
  plan.scalars = Scalars(1, 2.0f);
  ExpectRefused(plan, {"takes 2 parameters, the operator gives 4",
                       "scalar 0 int32_t, scalar 1 float"});
}

TEST(CustomOpErrors, ArgumentsInAnotherOrder) {
  OpPlan plan = WithSource(
      "__kernel void f(__global const float* x, int n, __global float* y) {}");
  plan.scalars = Scalars(1);
  ExpectRefused(plan, {"parameter 1 'int n' with output 0 float32 [4]",
                       "a tensor for a value"});
  ExpectRefused(
      WithSource(
          "__kernel void f(__global float* y, __global const float* x) {}"),
      {"parameter 1 '__global const float* x' with output 0 float32 [4]",
       "an output cannot be const; inputs come first"});
  ExpectRefused(
      WithSource("__kernel void f(__write_only image2d_t y,\n"
                 "                __read_only image2d_t x) {}"),
      {"parameter 0 '__write_only image2d_t y' with input 0 float32 [4]",
       "an input cannot be __write_only; inputs come first"});
}

TEST(CustomOpErrors, ScalarOfAnotherTypeOrTooLarge) {
  OpPlan plan = WithSource(
      "__kernel void f(__global const float* x, __global float* y, char n) {}");
  plan.scalars = Scalars(1.0f);
  ExpectRefused(plan, {"parameter 2 'char n' with scalar 0 float",
                       "a scalar of another type"});
  plan.scalars = Scalars(128);
  ExpectRefused(plan, {"does not fit: 128 in char [-128, 127]"});
  plan.scalars[0].type = vx::DataType::INT4;
  ExpectRefused(plan, {"scalar 0 of param_list_", "is no scalar"});
}

TEST(CustomOpErrors, WrongNumberOfTensors) {
  OpPlan plan;
  plan.inputs = 2;
  ExpectRefused(plan, {"1 inputs are bound, expected 2"});
  plan.inputs = 1;
  plan.outputs = 2;
  ExpectRefused(plan, {"1 outputs are bound, expected 2"});
}

TEST(CustomOpErrors, PlaceholderIsNoInput) {
  const auto graph = OpenClGraph();
  graph->CreateOperation<TestOp>(OpPlan())
      ->BindInput(graph->CreateTensorPlaceHolder())
      .BindOutput(graph->CreateTensor(Floats({4}, vx::OUTPUT)));
  ExpectRefused(*graph, {"input 0"});
}

OpPlan WithShapes(const std::vector<vx::ShapeType>& shapes) {
  OpPlan plan;
  plan.shapes = [=](OpPlan::Op& op) { op.outputs_size_ = shapes; };
  return plan;
}

TEST(CustomOpErrors, ShapesThatAreNone) {
  ExpectRefused(WithShapes({{}}), {"left outputs_size_[0] empty"});
  ExpectRefused(WithShapes({}), {"outputs_size_ with 0 shapes", "has 1"});
  ExpectRefused(WithShapes({{4}, {4}}), {"outputs_size_ with 2 shapes"});
  ExpectRefused(WithShapes({vx::ShapeType(9, 1)}), {"rank 9, the limit is 8"});
  ExpectRefused(WithShapes({{4, 0}}), {"outputs_size_[0] an extent of 0"});
}

TEST(CustomOpErrors, ExceptionsOfEachFunction) {
  OpPlan plan;
  plan.shapes = [](OpPlan::Op&) { throw std::runtime_error("no shape"); };
  ExpectRefused(plan, {"SetupShapeInfor()", "no shape"});
  plan = OpPlan();
  plan.params = [](auto&&...) { throw std::runtime_error("no parameter"); };
  ExpectRefused(plan, {"SetupParams()", "no parameter"});
  plan = OpPlan();
  plan.enqueue = [](auto&&...) { throw 3; };
  ExpectRefused(plan, {"SetupEnqueue()", "unknown type"});
}

TEST(CustomOpErrors, NoOpenClDevice) {
  const auto graph = HostGraph();
  graph->CreateOperation<TestOp>(OpPlan())
      ->BindInput(graph->CreateTensor(Floats({4}, vx::INPUT)))
      .BindOutput(graph->CreateTensor(Floats({4}, vx::OUTPUT)));
  ExpectRefused(*graph,
                {"a user's kernel runs on OpenCL devices only",
                 "install the driver of your device; for CPUs it is the "
                 "package pocl-opencl-icd on Debian and Ubuntu"});
}

TEST(CustomOpErrors, ImagesThatNoTensorIs) {
  ExpectRefused(
      WithSource(
          "__kernel void f(__read_only image3d_t x, __write_only image2d_t y) {"
          "  write_imagef(y, (int2)(0), read_imagef(x, (int4)(0)));\n"
          "}\n"),
      {"kernel 'f', parameter 0 '__read_only image3d_t x': no tensor goes to "
       "image3d_t; write __global T*, image2d_t or image2d_array_t"});
  ExpectRefused(WithSource("__kernel void f(__global float* x,\n"
                           "                __write_only image1d_t y) {}\n"),
                {"parameter 1 '__write_only image1d_t y': no tensor goes to "
                 "image1d_t"});
}

TEST(CustomOpErrors, OtherImagesOfABranchThatIsLeftOut) {
  OpPlan plan = WithSource(
      "#ifdef VOLUMES\n"
      "__kernel void f(__read_only image3d_t x, __global float* y) {}\n"
      "#else\n"
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)];\n"
      "}\n"
      "#endif\n");
  EXPECT_THAT(TestOpGraph(plan).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(CustomOpErrors, ImagesAreToldByTheUsersNames) {
  const std::string head =
      "__kernel void f(__read_only image2d_t x, __write_only image2d_t y) {\n";
  const Texts calls[] = {
      {"  write_imagef(y, (int3)(0), read_imagef(x, (int2)(0)));\n}\n",
       "call to 'write_imagef'"},
      {"  write_imagef(y, (int2)(0), read_imagef(x, (int3)(0)));\n}\n",
       "call to 'read_imagef'"},
      {"  float a = x;\n}\n", "image2d_t"}};
  for (const Texts& call : calls) {
    TestOpGraph g(WithSource(head + call[0]), {2, 2});
    EXPECT_TRUE(CompileFailsWith(*g.graph, "user.TestOp#1:2:"));
    EXPECT_THAT(vx::LastError(), HasSubstr(call[1]));
    EXPECT_THAT(vx::LastError(), ::testing::Not(HasSubstr("tim_")));
    EXPECT_THAT(vx::LastError(), ::testing::Not(HasSubstr("custom_images")));
  }
}

TEST(CustomOpErrors, LocalParametersAreNamed) {
  ExpectRefused(WithSource("__kernel void f(__global const float* x,\n"
                           "    __global float* y, __local float* sums) {}\n"),
                {"kernel 'f', parameter 2 '__local float* sums': the operator "
                 "gives no local memory for it; add some by AddLocal(), or "
                 "declare it in the kernel"});
  ExpectRefused(WithSource("__kernel void f(__read_only image2d_t x,\n"
                           "    __write_only image2d_t y,\n"
                           "    __local float* sums) {}\n"),
                {"parameter 2 '__local float* sums'"});
}

// The text on stderr of a graph of that operator, at the level info.
std::string InfoOf(const OpPlan& plan) {
  if (IsChild()) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(TestOpGraph(plan).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
    }
    return "";
  }
  const ChildResult child = RunAsChild({{"TIMCL_LOG", "info"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  return child.output;
}

constexpr char kCopied[] =
    "[info] user.TestOp#1: kernel 'f' gets a copy of input 0 on each run, as "
    "'__global float* x' is not const\n";

TEST(CustomOpCopies, OfAnInputThatIsNotConstAreToldOnce) {
  const std::string info = InfoOf(
      WithSource("__kernel void f(__global float* x, __global float* y) {\n"
                 "  y[get_global_id(0)] = x[get_global_id(0)];\n"
                 "}\n"));
  if (IsChild()) return;
  const size_t first = info.find(kCopied);
  ASSERT_NE(first, std::string::npos) << info;
  EXPECT_EQ(info.find(kCopied, first + 1), std::string::npos) << info;
}

TEST(CustomOpCopies, OfAConstInputThereAreNone) {
  EXPECT_THAT(InfoOf(OpPlan()), ::testing::Not(HasSubstr("gets a copy")));
}

TEST(CustomOpErrors, FunctionThatCompilesItsGraph) {
  vx::Graph* graph = nullptr;
  bool compiled = true;
  OpPlan plan;
  plan.shapes = [&](OpPlan::Op& op) {
    op.outputs_size_[0] = op.inputs_size_[0];
    compiled = graph->Compile();
    EXPECT_THAT(vx::LastError(), ::testing::HasSubstr("is running"));
  };
  TestOpGraph g(plan);
  graph = g.graph.get();
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(compiled);
}

}  // namespace
}  // namespace tim::testing
