// Schema and kernel of users' operators, made of what their sources know.
#include "ir/user_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_macros.h"

namespace tim::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::shared_ptr<const ConstantData> TableOf(std::vector<std::byte> bytes) {
  return MakeConstant(bytes);
}

// One copy, a scratch tensor of 100 bytes, and three tables, two of them alike.
UserOperatorFacts Facts() {
  return {.name = "Gate#3",
          .inputs = {1, 2},
          .outputs = {1, 1},
          .attributes = {{.name = "slope", .type = AttributeType::kFloat}},
          .infer_shapes = [](InferContext&) { return OkStatus(); },
          .steps = [](const KernelNode&) -> Result<UserSteps> {
            return UserSteps{
                .steps = {{.action = Copy{4}, .operands = {}, .written = {}}},
                .scratch = {{.bytes = 100, .first = 0, .last = 0}},
                .tables = {TableOf({std::byte{1}, std::byte{2}}),
                           TableOf({std::byte{3}, std::byte{4}}),
                           TableOf({std::byte{1}, std::byte{2}})},
                .in_place = {{.input = 1, .output = 0}}};
          }};
}

Result<Lowering> LowerOn(const OpRegistry& registry, int64_t allocation) {
  DeviceInfo device;
  device.name = "small";
  device.max_allocation_bytes = allocation;
  const KernelDef& kernel = *registry.Kernels("user.Gate#3", "opencl").at(0);
  TIM_ASSIGN_OR_RETURN(const KernelProblem problem,
                       Analyze(kernel, {}, device));
  return kernel.lower(problem, {}, device);
}

TEST(UserOperator, HasASchemaAndOneKernel) {
  OpRegistry registry;
  const OpSchema* schema = AddUserOperator(Facts(), &registry);
  ASSERT_NE(schema, nullptr);
  EXPECT_OK(registry.Check());
  EXPECT_EQ(schema->Key(), "user.Gate#3@1");
  EXPECT_TRUE(schema->user_kernel);
  EXPECT_THAT(schema->attributes, SizeIs(1));
  const auto kernels = registry.Kernels("user.Gate#3", "opencl");
  ASSERT_THAT(kernels, SizeIs(1));
  KernelNode node;
  EXPECT_OK(Analyze(*kernels[0], node, {}).status());
  node.epilogue.emplace_back();
  EXPECT_ERROR(Analyze(*kernels[0], node, {}), "takes no fused operators");
}

TEST(UserOperator, LoweringHasWhatTheSourceGave) {
  OpRegistry registry;
  AddUserOperator(Facts(), &registry);
  const auto lowering = LowerOn(registry, 100);
  ASSERT_OK(lowering);
  EXPECT_THAT(lowering->steps, SizeIs(1));
  EXPECT_THAT(lowering->scratch, SizeIs(1));
  EXPECT_THAT(lowering->in_place,
              ElementsAre(InPlacePair{.input = 1, .output = 0}));
  ASSERT_THAT(lowering->packed, SizeIs(3));
  std::vector<std::byte> bytes(2);
  ASSERT_OK(lowering->packed[1].pack(bytes));
  EXPECT_THAT(bytes, ElementsAre(std::byte{3}, std::byte{4}));
}

TEST(UserOperator, EqualTablesAreOneConstant) {
  OpRegistry registry;
  AddUserOperator(Facts(), &registry);
  const auto lowering = LowerOn(registry, 100);
  ASSERT_OK(lowering);
  EXPECT_EQ(lowering->packed[0].id, lowering->packed[2].id);
  EXPECT_NE(lowering->packed[0].id, lowering->packed[1].id);
}

TEST(UserOperator, WhatTheDeviceCannotAllocateFails) {
  OpRegistry registry;
  AddUserOperator(Facts(), &registry);
  EXPECT_ERROR(LowerOn(registry, 99),
               "scratch 0 takes 100 bytes, small allocates 99 at most");
  OpRegistry tables;
  UserOperatorFacts facts = Facts();
  facts.steps = [](const KernelNode&) -> Result<UserSteps> {
    return UserSteps{.steps = {},
                     .scratch = {},
                     .tables = {TableOf({std::byte{1}}),
                                TableOf({std::byte{1}, std::byte{2}})},
                     .in_place = {}};
  };
  AddUserOperator(std::move(facts), &tables);
  EXPECT_ERROR(LowerOn(tables, 1),
               "table 1 takes 2 bytes, small allocates 1 at most");
}

TEST(UserOperator, FailuresOfTheSourceAreTheKernels) {
  OpRegistry registry;
  UserOperatorFacts facts = Facts();
  facts.steps = [](const KernelNode&) -> Result<UserSteps> {
    return InvalidArgument("output 0 is a VARIABLE");
  };
  AddUserOperator(std::move(facts), &registry);
  EXPECT_ERROR(LowerOn(registry, 100), "output 0 is a VARIABLE");
}

}  // namespace
}  // namespace tim::ir
