#include "runtime/step_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/plans/plan_run.h"

namespace tim::runtime {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::PlanBuilder;

// Chains all that is no copy.
class ChainingDevice final : public testing::ForwardingDevice {
 public:
  explicit ChainingDevice(bool singles = true)
      : ForwardingDevice(std::make_shared<FakeDevice>()), singles_(singles) {}
  bool ChainsSingles() const override { return singles_; }
  bool CanChain(const ir::Action& action) const override {
    return !std::holds_alternative<ir::Copy>(action);
  }

 private:
  bool singles_ = true;
};

class StepGroups : public ::testing::Test {
 protected:
  // From the temporary before to a new one.
  int Step(int device, std::vector<int> waits = {}) {
    const int from =
        last_[device] < 0 ? plan_.Temporary(device) : last_[device];
    last_[device] = plan_.Temporary(device);
    return plan_.Eval(device, testing::AddTen, from, last_[device],
                      std::move(waits));
  }

  std::vector<bool> Chains() {
    std::vector<bool> chains;
    const auto order = OrderSteps(plan_.plan(), devices_);
    for (const StepGroup& group : GroupSteps(plan_.plan(), devices_, order)) {
      chains.push_back(group.chain);
    }
    return chains;
  }

  std::vector<size_t> Counts() {
    std::vector<size_t> counts;
    size_t next = 0;
    const auto order = OrderSteps(plan_.plan(), devices_);
    for (const StepGroup& group : GroupSteps(plan_.plan(), devices_, order)) {
      EXPECT_EQ(group.first, next);
      EXPECT_TRUE(group.chain || group.count == 1);
      counts.push_back(group.count);
      next += group.count;
    }
    EXPECT_EQ(next, plan_.plan().steps.size());
    return counts;
  }

  testing::Devices devices_ = {device::CreateHostDevice(),
                               std::make_shared<ChainingDevice>(),
                               std::make_shared<ChainingDevice>()};
  PlanBuilder plan_{devices_, 4};
  std::vector<int> last_ = {-1, -1, -1};
};

TEST_F(StepGroups, NeighboursOfADeviceThatChains) {
  for (int i = 0; i < 4; ++i) Step(1);
  EXPECT_THAT(Counts(), ElementsAre(4));
}

TEST_F(StepGroups, NothingOfADeviceThatDoesNot) {
  for (int i = 0; i < 3; ++i) Step(0);
  EXPECT_THAT(Counts(), ElementsAre(1, 1, 1));
}

TEST_F(StepGroups, ARunOfOneStepIsAChain) {
  Step(1);
  EXPECT_THAT(Chains(), ElementsAre(true));
  Step(2);
  EXPECT_THAT(Chains(), ElementsAre(false, false));
  Step(2);
  EXPECT_THAT(Chains(), ElementsAre(false, true));
}

TEST_F(StepGroups, ARunOfOneStepThatGainsNothingIsNone) {
  Step(0);
  EXPECT_THAT(Chains(), ElementsAre(false));
  devices_[1] = std::make_shared<ChainingDevice>(false);
  plan_ = PlanBuilder(devices_, 4);
  Step(1);
  EXPECT_THAT(Chains(), ElementsAre(false));
  Step(1);
  EXPECT_THAT(Chains(), ElementsAre(true));
}

TEST_F(StepGroups, ACopyAloneIsNone) {
  plan_.Copy(1, plan_.Input(), plan_.Temporary(1));
  EXPECT_THAT(Chains(), ElementsAre(false));
}

TEST_F(StepGroups, ACopyStandsAlone) {
  Step(1);
  Step(1);
  plan_.Copy(1, plan_.Input(), plan_.Temporary(1));
  Step(1);
  Step(1);
  EXPECT_THAT(Counts(), ElementsAre(2, 1, 2));
}

TEST_F(StepGroups, ADeviceInBetweenEndsAGroup) {
  Step(1);
  Step(2);
  Step(2);
  Step(1);
  EXPECT_THAT(Counts(), ElementsAre(1, 2, 1));
}

TEST_F(StepGroups, OnlyTheFirstWaitsForAnotherDevice) {
  Step(1);
  const int other = Step(2);
  Step(1);
  Step(1, {other});
  Step(1);
  EXPECT_THAT(Counts(), ElementsAre(1, 1, 1, 2));
}

TEST_F(StepGroups, AnotherDeviceWaitsOnlyForTheLast) {
  Step(1);
  const int awaited = Step(1);
  Step(1);
  Step(1);
  Step(2, {awaited});
  EXPECT_THAT(Counts(), ElementsAre(2, 2, 1));
}

TEST_F(StepGroups, WaitsWithinADeviceAreNone) {
  const int first = Step(1);
  Step(1, {first});
  EXPECT_THAT(Counts(), ElementsAre(2));
}

TEST_F(StepGroups, NoMoreBuffersThanAKernelTakes) {
  // Each step has a constant, a buffer of its own; one arena is common.
  for (int i = 0; i < 200; ++i) {
    plan_.Eval(1, testing::AddTen, plan_.Constant(1, {1, 2, 3, 4}),
               plan_.Temporary(1));
  }
  EXPECT_THAT(Counts(), ElementsAre(95, 95, 10));
}

TEST_F(StepGroups, OperandsInTheSameBufferHaveTheSameNumber) {
  const int constant = plan_.Constant(1, {1, 2, 3, 4});
  plan_.Eval(1, testing::AddTen, constant, plan_.Temporary(1));
  Step(1);
  plan_.Eval(1, testing::AddTen, constant, plan_.Temporary(1));
  const auto links = LinksOf(plan_.plan(), {.first = 0, .count = 3});
  ASSERT_EQ(links.size(), 3u);
  EXPECT_THAT(links[0].buffers, ElementsAre(0, 1));
  EXPECT_THAT(links[1].buffers, ElementsAre(1, 1));
  EXPECT_THAT(links[2].buffers, ElementsAre(0, 1));
  EXPECT_EQ(links[1].action, &plan_.plan().steps[1].action);
}

}  // namespace
}  // namespace tim::runtime
