// The kinds of operations, and what a copy of one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OpKind, IsThatOfTheClass) {
  const auto graph = HostGraph();
  const vx::OpImpl& relu = *graph->CreateOperation<vx::ops::Relu>()->impl();
  ASSERT_NE(relu.As<vx::Builtin>(), nullptr);
  EXPECT_EQ(relu.As<vx::CustomMeans>(), nullptr);
  EXPECT_EQ(relu.Number(), std::nullopt);
  const auto custom = graph->CreateOperation<TestOp>(OpPlan());
  EXPECT_NE(custom->impl()->As<vx::CustomMeans>(), nullptr);
  EXPECT_EQ(custom->impl()->As<vx::Builtin>(), nullptr);
  EXPECT_EQ(custom->impl()->Number(), std::nullopt);
}

TEST(OpKind, ACopyOfABuiltInOneHasItsNumber) {
  const vx::OpKind copy = vx::CopyOf(vx::Builtin{.number = 7});
  ASSERT_TRUE(std::holds_alternative<vx::Builtin>(copy));
  EXPECT_EQ(std::get<vx::Builtin>(copy).number, 7u);
}

TEST(OpKind, ACopyOfAComposedOneIsNone) {
  const vx::OpKind copy =
      vx::CopyOf(vx::Composition{.inputs = 2, .outputs = 1});
  ASSERT_TRUE(std::holds_alternative<vx::Builtin>(copy));
  EXPECT_EQ(std::get<vx::Builtin>(copy).number, std::nullopt);
}

TEST(OpKind, ACopyOfACustomOneHasWhatTheConstructorSet) {
  vx::CustomMeans means;
  means.optional = {false, true};
  means.tables.resize(2);
  means.own_tables = 1;
  means.locals = {64};
  means.begun = true;
  const vx::OpKind copy = vx::CopyOf(std::move(means));
  ASSERT_TRUE(std::holds_alternative<vx::CustomMeans>(copy));
  const auto& copied = std::get<vx::CustomMeans>(copy);
  EXPECT_THAT(copied.optional, ElementsAre(false, true));
  EXPECT_EQ(copied.tables.size(), 1u);
  EXPECT_THAT(copied.locals, IsEmpty());
  EXPECT_FALSE(copied.begun);
}

}  // namespace
}  // namespace tim::testing
