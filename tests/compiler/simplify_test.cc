#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::CountKernels;
using testing::ToyGraph;

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

}  // namespace
}  // namespace tim
