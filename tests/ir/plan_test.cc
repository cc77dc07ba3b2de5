// ir::Verify catches plans that break the contract.
#include "ir/plan.h"

#include <gtest/gtest.h>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::ir {
namespace {

#ifdef NDEBUG  // elsewhere a broken invariant aborts

Plan GoodPlan() {
  testing::ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Op("Bump", {toy.Input({16})})}));
  return *toy.Compile();
}

TEST(PlanVerify, AcceptsWhatTheCompilerMakes) { EXPECT_OK(Verify(GoodPlan())); }

TEST(PlanVerify, OverlapOfLiveValues) {
  Plan plan = GoodPlan();
  for (Slot& slot : plan.slots) {
    if (slot.kind == SlotKind::kArena) slot.offset = 0;
  }
  EXPECT_ERROR(Verify(plan), "overlap");
}

TEST(PlanVerify, SlotOutsideItsArena) {
  Plan plan = GoodPlan();
  plan.arenas[1].bytes = 64;
  EXPECT_ERROR(Verify(plan), "outside its arena");
}

TEST(PlanVerify, WriteToAnInput) {
  Plan plan = GoodPlan();
  plan.steps[0].written[0] = true;
  EXPECT_ERROR(Verify(plan), "writes input 0");
}

TEST(PlanVerify, WaitForALaterStep) {
  Plan plan = GoodPlan();
  plan.steps[0].waits = {1};
  EXPECT_ERROR(Verify(plan), "waits for step 1");
}

TEST(PlanVerify, OperandThatIsNoSlot) {
  Plan plan = GoodPlan();
  plan.steps[0].operands[0] = 99;
  EXPECT_ERROR(Verify(plan), "names slot 99");
}

#endif

}  // namespace
}  // namespace tim::ir
