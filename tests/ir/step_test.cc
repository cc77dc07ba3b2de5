// Texts of actions and programs in dumps.
#include "ir/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/hash.h"
#include "ir/constant.h"
#include "ir/graph.h"
#include "ir/plan.h"

namespace tim::ir {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

UserLaunch HSwish() {
  UserLaunch launch;
  launch.name = "user.HSwish#3";
  launch.text = "kernel void\n\thswish() {}\r\n";
  launch.function = "hswish";
  launch.options = "-DT=float";
  launch.arguments = {
      UserTensorArg{0, DataType::kFloat32, {4, 2}, false, false, "input 0"},
      UserTensorArg{1, DataType::kFloat32, {4, 2}, true, false, "output 0"},
      UserScalarArg{0.5, "float", "scalar 0"},
      UserScalarArg{int64_t{-3}, "int32_t", "scalar 1"}};
  launch.range.dimensions = 2;
  launch.range.global = {4, 2, 1};
  launch.range.local = {2, 0, 0};
  return launch;
}

TEST(Step, AMatrixProductShowsSizesTransposesAndBatches) {
  EXPECT_EQ(ToString(Gemm{.m = 2, .n = 3, .k = 4}), "gemm 2x3x4");
  EXPECT_EQ(ToString(Gemm{.transpose_a = true,
                          .transpose_b = true,
                          .m = 2,
                          .n = 3,
                          .k = 4,
                          .batches = 5}),
            "gemm 2x3x4 ta tb batches 5");
}

TEST(Step, AUserKernelShowsItsFrozenForm) {
  EXPECT_EQ(ToString(HSwish()),
            StrCat("kernel user.HSwish#3@", HashText(HSwish().text).ToString(),
                   ":hswish [-DT=float] (*0 float32 [4, 2], *1 out float32 "
                   "[4, 2], float 0.5, int32_t -3) global 4x2 local 2x0"));
}

TEST(Step, AUserKernelShowsWhatElseItHas) {
  UserLaunch launch = HSwish();
  launch.defines = {"TIM_HAS_INPUT1 0", "F(x) (x)"};
  launch.arguments = {
      UserTensorArg{.operand = kAbsentOperand, .dims = {}, .name = "input 1"},
      UserTensorArg{.operand = 0,
                    .type = DataType::kInt32,
                    .dims = {16},
                    .written = true,
                    .name = "output 0",
                    .zeroed = true},
      UserTensorArg{.operand = 1,
                    .type = DataType::kFloat32,
                    .dims = {8},
                    .written = true,
                    .kept = true,
                    .name = "scratch 0"},
      UserTensorArg{.operand = 2,
                    .type = DataType::kInt8,
                    .dims = {3},
                    .name = "table 0"},
      LocalArg{.bytes = 64, .name = "local 0"},
      UserScalarArg{int64_t{1}, "int2", "scalar 0", {int64_t{2}}}};
  EXPECT_THAT(ToString(launch),
              HasSubstr("[#define TIM_HAS_INPUT1 0; #define F(x) (x); "
                        "-DT=float] (input 1 absent, *0 zeroed out int32 [16], "
                        "*1 scratch 0 kept out float32 [8], *2 table 0 int8 "
                        "[3], local:64, int2 (1, 2))"));
}

TEST(Step, ABuiltInKernelShowsItsSource) {
  KernelLaunch launch;
  launch.source = "ops/normalization/softmax.cl";
  launch.function = "softmax";
  launch.options = "-DT=float";
  launch.arguments = {
      TensorArg{.operand = 1}, int32_t{-7}, LocalArg{64},
      StructArg{.type = "sizes",
                .fields = {{"w", int32_t{3}}, {"scale", 0.5f}}}};
  launch.range = {.dimensions = 1, .global = {16, 1, 1}, .local = {4, 0, 0}};
  EXPECT_EQ(ToString(launch),
            "kernel ops/normalization/softmax.cl:softmax [-DT=float] (@1, -7, "
            "local:64, sizes {w 3, scale 0.5}) global 16 local 4");
  EXPECT_EQ(TextOf(launch), nullptr);
}

TEST(Step, ATextThatIsNotEmbeddedIsShownByNameAndHash) {
  KernelLaunch launch;
  launch.text = "kernel void f() {}";
  launch.function = "f";
  const std::string hash = HashText(launch.text).ToString();
  EXPECT_EQ(ToString(launch),
            StrCat("kernel text@", hash, ":f [] () global 1 local 0"));
  launch.source = "bench.f";
  EXPECT_EQ(ToString(launch),
            StrCat("kernel bench.f@", hash, ":f [] () global 1 local 0"));
  const Action action = launch;
  ASSERT_NE(TextOf(action), nullptr);
  EXPECT_EQ(*TextOf(action), launch.text);
}

TEST(Step, ACallOfADeviceShowsItsNameAndTheHashOfItsPayload) {
  const DeviceCall call{.name = "acme.scale", .payload = "abc"};
  EXPECT_EQ(ToString(call), StrCat("call acme.scale with 3 bytes @",
                                   HashText("abc").ToString()));
}

// A body whose constant holds `value`.
std::shared_ptr<const Graph> BodyOf(const std::string& name, float value) {
  auto body = std::make_shared<Graph>(name);
  body->AddOutput(body->AddConstant({}, MakeConstant(&value, sizeof(value))));
  return body;
}

TEST(Step, CallsAreEqualThatHaveEqualBodies) {
  HostCall call{.op = "tim.RNNCell",
                .name = "a",
                .attributes = {},
                .body = BodyOf("body", 1),
                .inputs = {},
                .outputs = {}};
  HostCall other = call;
  EXPECT_EQ(call, other);
  other.body = BodyOf("body", 1);
  EXPECT_EQ(call, other);
  other.body = BodyOf("body", 2);
  EXPECT_NE(call, other);
  other.body = BodyOf("another", 1);
  EXPECT_NE(call, other);
  other.body = nullptr;
  EXPECT_NE(call, other);
  other = call;
  other.name = "b";
  EXPECT_NE(call, other);
}

TEST(Step, PartsAreEqualThatHaveEqualGraphs) {
  GraphCall call{.part = BodyOf("part", 1),
                 .name = "part.acme.0",
                 .options = {{"level", "2"}, {"fast", ""}}};
  EXPECT_EQ(ToString(call),
            "graph part.acme.0 of 0 operators [level=2, fast=]");
  GraphCall other = call;
  other.part = BodyOf("part", 1);
  EXPECT_EQ(call, other);
  other.part = BodyOf("part", 2);
  EXPECT_NE(call, other);
  other = call;
  other.options[0].second = "3";
  EXPECT_NE(call, other);
}

// A body whose node has the graph BodyOf("inner", value) as an attribute.
std::shared_ptr<const Graph> WithGraphAttribute(float value) {
  auto body = std::make_shared<Graph>("outer");
  Node node;
  node.name = "n";
  node.attributes = {{"graph", Attribute(BodyOf("inner", value))}};
  node.outputs = {body->AddValue({})};
  body->AddNode(std::move(node));
  return body;
}

TEST(Step, BodiesDifferByGraphsAmongAttributes) {
  HostCall call;
  call.body = WithGraphAttribute(1);
  HostCall other;
  other.body = WithGraphAttribute(1);
  EXPECT_EQ(call, other);
  other.body = WithGraphAttribute(2);
  EXPECT_NE(call, other);
}

TEST(Step, WrongDimensionsCanBeShown) {
  UserLaunch launch = HSwish();
  launch.range.dimensions = 9;
  EXPECT_THAT(ToString(launch), EndsWith("global 4x2x1 local 2x0x0"));
}

TEST(Step, AnotherSourceHasAnotherHash) {
  UserLaunch other = HSwish();
  other.text += " ";
  EXPECT_NE(ToString(HSwish()), ToString(other));
}

TEST(Step, ProgramsAreWrittenAsPlainLines) {
  EXPECT_EQ(ProgramText(HSwish().text),
            StrCat("program ", HashText(HSwish().text).ToString(),
                   "\n  | kernel void\n  | \thswish() {}\\x0d\n  | \n"));
}

TEST(Step, APlanEndsWithEachProgramOnce) {
  Plan plan;
  KernelLaunch embedded;
  embedded.source = "ops/normalization/softmax.cl";
  for (const Action& launch :
       {Action(HSwish()), Action(HSwish()), Action(embedded)}) {
    plan.steps.emplace_back().action = launch;
  }
  const std::string dump = Dump(plan);
  const std::string program = ProgramText(HSwish().text);
  EXPECT_THAT(dump, EndsWith("\n" + program));
  EXPECT_THAT(dump.substr(0, dump.size() - program.size()),
              Not(HasSubstr("program ")));
}

}  // namespace
}  // namespace tim::ir
