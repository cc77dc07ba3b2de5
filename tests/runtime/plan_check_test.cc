#include "runtime/plan_check.h"

#include <gtest/gtest.h>

#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::FakeDevice;
using testing::PlanBuilder;

Status Nothing(std::span<const float>, std::span<float>) { return OkStatus(); }

// input -> a step on device 1 -> output, a constant and a state.
struct Fixture {
  Fixture()
      : builder({device::CreateHostDevice(), std::make_shared<FakeDevice>()},
                4),
        plan(builder.plan()) {
    input = builder.Input();
    in = builder.Temporary(1);
    out = builder.Temporary(1);
    constant = builder.Constant(1, {1, 2, 3, 4});
    state = builder.ReadState(builder.State(1));
    builder.Copy(1, input, in);
    builder.Eval(1, Nothing, in, out);
    builder.Copy(1, out, builder.Output());
  }
  Status Check() const { return CheckPlan(plan, builder.devices()); }

  PlanBuilder builder;
  ir::Plan& plan;
  int input = 0;
  int in = 0;
  int out = 0;
  int constant = 0;
  int state = 0;
};

TEST(PlanCheck, AcceptsAGoodPlan) { EXPECT_OK(Fixture().Check()); }

TEST(PlanCheck, RefusesOtherDevices) {
  Fixture f;
  EXPECT_ERROR(CheckPlan(f.plan, {}), "for 2 devices, found 0");
  f.plan.devices[1].kind = "opencl";
  EXPECT_ERROR(f.Check(), "of kind 'opencl', found 'fake'");
}

TEST(PlanCheck, RefusesDevicesOutOfRange) {
  Fixture a;
  a.plan.arenas[0].device = 2;
  EXPECT_ERROR(a.Check(), "an arena on device 2 of 2");
  Fixture b;
  b.plan.constants[0].device = -1;
  EXPECT_ERROR(b.Check(), "a constant on device -1");
  Fixture c;
  c.plan.states[0].device = 9;
  EXPECT_ERROR(c.Check(), "a state on device 9");
  Fixture d;
  d.plan.steps[1].device = 2;
  EXPECT_ERROR(d.Check(), "a step on device 2");
}

TEST(PlanCheck, RefusesSlotsThatDoNotFit) {
  Fixture a;
  a.plan.slots[a.input].bytes = 20;
  EXPECT_ERROR(a.Check(), "slot 0 has 20 bytes at 0 of 16");
  Fixture b;
  b.plan.slots[b.constant].index = 1;
  EXPECT_ERROR(b.Check(), "constant 1 of 1");
  Fixture c;
  c.plan.slots[c.constant].offset = 4;
  EXPECT_ERROR(c.Check(), "16 bytes at 4 of 16");
  Fixture d;
  d.plan.slots[d.state].kind = ir::SlotKind::kStateWrite;
  EXPECT_ERROR(d.Check(), "'state0' is written, but not marked so");
  Fixture e;
  e.plan.constants[0].data = nullptr;
  EXPECT_ERROR(e.Check(), "constant 0 of 16 bytes has no content");
  Fixture f;
  f.plan.states[0].in_place = true;
  EXPECT_ERROR(f.Check(), "'state0' is updated in place, but read as it was");
}

TEST(PlanCheck, RefusesMemoryOfTheWrongDevice) {
  Fixture a;
  a.plan.slots[a.input].device = 1;
  EXPECT_ERROR(a.Check(), "slot 0 is on device 1, its memory on device 0");
  Fixture b;
  b.plan.steps[1].device = 0;
  EXPECT_ERROR(b.Check(), "'step1' on device 0 has an operand on device 1");
  Fixture c;
  c.plan.steps[0].device = 0;
  EXPECT_ERROR(c.Check(), "'step0' on device 0 reaches device 1");
}

TEST(PlanCheck, RefusesCopiesThatDoNotFit) {
  Fixture a;
  a.plan.steps[0].action = ir::Copy{17};
  EXPECT_ERROR(a.Check(), "of 17 bytes, a slot has 16");
  Fixture b;
  b.plan.steps[0].operands.pop_back();
  b.plan.steps[0].written.pop_back();
  EXPECT_ERROR(b.Check(), "has 1 operands");
}

}  // namespace
}  // namespace tim::runtime
