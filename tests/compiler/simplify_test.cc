#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::CountKernels;
using testing::ToyGraph;
using testing::ToyOperators;

TEST(Simplify, ConstantsAreFolded) {
  ToyGraph toy;
  const ir::ValueId w = toy.Op("Twice", {toy.Constant({4}, 3.0f)});
  toy.Output(toy.Op("Sum", {toy.Input({4}), w}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "twice"), 0);
  ASSERT_EQ(plan->constants.size(), 1u);
  float folded = 0;
  std::memcpy(&folded, plan->constants[0].data.get(), sizeof(folded));
  EXPECT_EQ(folded, 6.0f);
}

TEST(Simplify, GraphOfConstantsOnlyIsACopy) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Constant({4}, 3.0f)}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<ir::Copy>(plan->steps[0].action));
}

TEST(Simplify, IdentitiesVanish) {
  ToyGraph toy;
  const ir::ValueId x = toy.Op("Same", {toy.Input({4})});
  toy.Output(toy.Op("Same", {toy.Op("Twice", {x})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(plan->steps.size(), 3u);
}

TEST(Simplify, IdentityBetweenInputAndOutputStillCopies) {
  ToyGraph toy;
  toy.Output(toy.Op("Same", {toy.Input({4})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  const auto& step = plan->steps[0];
  EXPECT_EQ(plan->slots[step.operands[0]].kind, ir::SlotKind::kInput);
  EXPECT_EQ(plan->slots[step.operands[1]].kind, ir::SlotKind::kOutput);
}

TEST(Simplify, WhatNothingReadsIsNotRun) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input({4});
  toy.Op("Bump", {toy.Op("Bump", {x})});
  toy.Output(toy.Op("Twice", {x}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "bump"), 0);
}

// y = `count` times x[0], for an estimated `flops` operations.
ir::OpSchema RepeatSchema() {
  ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
  schema.name = "Repeat";
  schema.attributes = {{.name = "count"},
                       {.name = "flops", .type = ir::AttributeType::kFloat}};
  schema.infer_shapes = [](ir::InferContext& context) {
    context.outputs[0].desc.type = context.inputs[0].desc->type;
    context.outputs[0].desc.shape =
        ir::Shape({context.attributes().Int("count")});
    return OkStatus();
  };
  schema.eval = [](const ir::EvalContext& context) {
    const float x = *static_cast<const float*>(context.inputs[0].data);
    auto* y = static_cast<float*>(context.outputs[0].data);
    std::fill_n(y, context.attributes().Int("count"), x);
    return OkStatus();
  };
  schema.compute_estimate = [](const ir::NodeView& view) {
    return ir::ComputeEstimate{.flops = view.node.attributes.Float("flops")};
  };
  return schema;
}

// Whether a constant of `from` floats, repeated to `to`, is folded.
bool RepeatIsFolded(int64_t from, int64_t to, double flops,
                    const compiler::FoldLimits& limits = {}) {
  ir::OpRegistry registry(&ToyOperators());
  registry.Add(RepeatSchema());
  ToyGraph toy;
  const ir::ValueId y = toy.graph().AddValue(ir::TensorDesc());
  ir::Node node;
  node.name = "Repeat#0";
  node.schema = registry.Find("toy.Repeat");
  node.attributes.Set("count", to);
  node.attributes.Set("flops", flops);
  node.inputs = {toy.Constant({from}, 3.0f)};
  node.outputs = {y};
  toy.graph().AddNode(std::move(node));
  toy.Output(y);
  compiler::CompileOptions options = testing::ToyOptions();
  options.fold = limits;
  const Result<ir::Plan> plan =
      compiler::Compile(toy.graph(), registry, options);
  EXPECT_OK(plan);
  if (!plan.ok()) return false;
  // The result is a constant that is copied, or a step makes it.
  return plan->steps.size() == 1 &&
         std::holds_alternative<ir::Copy>(plan->steps[0].action);
}

constexpr int64_t kMebi = int64_t{1} << 18;  // floats

TEST(Simplify, AFoldedResultHasAtMostOneMebibyte) {
  EXPECT_TRUE(RepeatIsFolded(1, kMebi, 1));
  EXPECT_FALSE(RepeatIsFolded(1, kMebi + 1, 1));
}

TEST(Simplify, OrFourTimesTheBytesOfTheInputs) {
  EXPECT_TRUE(RepeatIsFolded(kMebi, 4 * kMebi, 1));
  EXPECT_FALSE(RepeatIsFolded(kMebi, 4 * kMebi + 1, 1));
}

TEST(Simplify, FoldingTakesAtMostAHundredMillionOperations) {
  EXPECT_TRUE(RepeatIsFolded(1, 4, 1e8));
  EXPECT_FALSE(RepeatIsFolded(1, 4, 1e8 + 10));
}

TEST(Simplify, AnElementIsAnOperationAtLeast) {
  EXPECT_TRUE(RepeatIsFolded(1, 8, 0, {.operations = 8}));
  EXPECT_FALSE(RepeatIsFolded(1, 9, 0, {.operations = 8}));
}

TEST(Simplify, LimitsOfFoldingAreOptions) {
  EXPECT_TRUE(RepeatIsFolded(2, 6, 1, {.growth = 3, .small_bytes = 0}));
  EXPECT_FALSE(RepeatIsFolded(2, 7, 1, {.growth = 3, .small_bytes = 0}));
  EXPECT_TRUE(RepeatIsFolded(2, 7, 1, {.growth = 3, .small_bytes = 28}));
}

// It takes neither memory nor time, and no step could make it.
TEST(Simplify, AViewOfAConstantIsFoldedWhateverItsSize) {
  ToyGraph toy;
  ir::Node node;
  node.name = "Reshape#0";
  node.schema = ToyOperators().Find("tim.Reshape");
  node.attributes.Set("shape", std::vector<int64_t>{2, 2});
  node.inputs = {toy.Constant({4}, 3.0f)};
  const ir::ValueId y = toy.graph().AddValue(ir::TensorDesc());
  node.outputs = {y};
  toy.graph().AddNode(std::move(node));
  toy.Output(toy.Op("Sum", {toy.Input({2, 2}), y}));
  compiler::CompileOptions options = testing::ToyOptions();
  options.fold = {.growth = 0, .small_bytes = 0, .operations = 0};
  const Result<ir::Plan> plan = toy.Compile(options);
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "sum"), 1);
  EXPECT_EQ(plan->constants.size(), 1u);
}

}  // namespace
}  // namespace tim
