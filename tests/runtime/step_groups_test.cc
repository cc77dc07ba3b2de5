#include "runtime/step_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_run.h"

namespace tim::runtime {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::PlanBuilder;

PlanBuilder Steps(int count) {
  PlanBuilder plan({device::CreateHostDevice(), std::make_shared<FakeDevice>()},
                   4);
  for (int i = 0; i < count; ++i) {
    plan.Eval(1, testing::AddTen, plan.Constant(1, {1, 2, 3, 4}),
              plan.Temporary(1));
  }
  return plan;
}

std::vector<size_t> Counts(const ir::Plan& plan) {
  std::vector<size_t> counts;
  size_t next = 0;
  for (const StepGroup& group : GroupSteps(plan)) {
    EXPECT_EQ(group.first, next);
    EXPECT_TRUE(group.chain || group.count == 1);
    counts.push_back(group.count);
    next += group.count;
  }
  EXPECT_EQ(next, plan.steps.size());
  return counts;
}

TEST(StepGroups, StepsAreOneByOneWhereThePlanHasNoChains) {
  EXPECT_THAT(Counts(Steps(3).plan()), ElementsAre(1, 1, 1));
  EXPECT_THAT(Counts(ir::Plan()), ElementsAre());
}

TEST(StepGroups, ChainsOfThePlanAreGroups) {
  PlanBuilder plan = Steps(7);
  plan.plan().chains = {{1, 2}, {3, 1}, {5, 2}};
  EXPECT_THAT(Counts(plan.plan()), ElementsAre(1, 2, 1, 1, 2));
  const auto groups = GroupSteps(plan.plan());
  EXPECT_FALSE(groups[0].chain);
  EXPECT_TRUE(groups[2].chain);
  EXPECT_FALSE(groups[3].chain);
}

TEST(StepGroups, OperandsInTheSameBufferHaveTheSameNumber) {
  PlanBuilder plan = Steps(1);
  plan.Eval(1, testing::AddTen, plan.Temporary(1), plan.Temporary(1));
  plan.Eval(1, testing::AddTen, plan.plan().steps[0].operands[0],
            plan.Temporary(1));
  const std::vector<std::optional<double>> work = {7.5, std::nullopt, 0};
  const auto links = LinksOf(plan.plan(), {.first = 0, .count = 3}, work);
  ASSERT_EQ(links.size(), 3u);
  EXPECT_THAT(links[0].buffers, ElementsAre(0, 1));
  EXPECT_THAT(links[1].buffers, ElementsAre(1, 1));
  EXPECT_THAT(links[2].buffers, ElementsAre(0, 1));
  EXPECT_EQ(links[1].action, &plan.plan().steps[1].action);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(links[i].predicted_us, work[i]);
}

}  // namespace
}  // namespace tim::runtime
