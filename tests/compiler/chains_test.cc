#include "compiler/chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/kernel_def.h"

namespace tim::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A built-in kernel without barriers or local memory.
ir::KernelLaunch Launch() {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  return launch;
}

// Devices 1 and 2 have chains.
class Chains : public ::testing::Test {
 protected:
  Chains() {
    plan_.devices.resize(3);
    plan_.devices[1].chains = plan_.devices[1].chains_singles = true;
    plan_.devices[2].chains = plan_.devices[2].chains_singles = true;
    for (int d = 0; d < 3; ++d) {
      plan_.arenas.push_back({.device = d, .bytes = 64});
      plan_.slots.push_back({.device = d, .index = d, .bytes = 64});
    }
  }

  // In the arena of its device; returns its number.
  int Step(int device, std::vector<int> waits = {}) {
    plan_.steps.push_back({.label = {},
                           .device = device,
                           .action = Launch(),
                           .operands = {device},
                           .written = {true},
                           .waits = std::move(waits)});
    return static_cast<int>(plan_.steps.size()) - 1;
  }
  void Copy(int device) { plan_.steps[Step(device)].action = ir::Copy{}; }

  std::vector<ir::Chain> Find() { return FindChains(plan_); }

  ir::Plan plan_;
};

TEST_F(Chains, NeighboursOfADeviceThatChains) {
  for (int i = 0; i < 4; ++i) Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 4}));
}

TEST_F(Chains, NothingOfADeviceThatDoesNot) {
  for (int i = 0; i < 3; ++i) Step(0);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(Chains, AUsersKernelStandsAlone) {
  for (int i = 0; i < 4; ++i) Step(1);
  plan_.steps[2].action = ir::UserLaunch();
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 2}));
  plan_.steps[2].action = Launch();
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 4}));
}

TEST_F(Chains, ARunOfOneStepIsAChain) {
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 1}));
  Step(2);
  EXPECT_THAT(Find(), IsEmpty());
  Step(2);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{1, 2}));
}

TEST_F(Chains, ARunOfOneStepThatGainsNothingIsNone) {
  plan_.devices[1].chains_singles = false;
  Step(1);
  EXPECT_THAT(Find(), IsEmpty());
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 2}));
}

TEST_F(Chains, ACopyAloneIsNone) {
  Copy(1);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(Chains, ACopyStandsAlone) {
  Step(1);
  Step(1);
  Copy(1);
  Step(1);
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 2}, ir::Chain{3, 2}));
}

TEST_F(Chains, ADeviceInBetweenEndsAChain) {
  Step(1);
  Step(2);
  Step(2);
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{1, 2}));
}

TEST_F(Chains, OnlyTheFirstWaitsForAnotherDevice) {
  Step(1);
  const int other = Step(2);
  Step(1);
  Step(1, {other});
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{3, 2}));
}

TEST_F(Chains, AnotherDeviceWaitsOnlyForTheLast) {
  Step(1);
  const int awaited = Step(1);
  Step(1);
  Step(1);
  Step(2, {awaited});
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 2}, ir::Chain{2, 2}));
}

TEST_F(Chains, WaitsWithinADeviceAreNone) {
  const int first = Step(1);
  Step(1, {first});
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 2}));
}

TEST_F(Chains, NoMoreBuffersThanAKernelTakes) {
  // Each step has a constant, a buffer of its own; one arena is common.
  for (int i = 0; i < 200; ++i) {
    plan_.slots.push_back(
        {.kind = ir::SlotKind::kConstant, .device = 1, .index = i});
    ir::Step& step = plan_.steps[Step(1)];
    step.operands.push_back(static_cast<int>(plan_.slots.size()) - 1);
    step.written.push_back(false);
  }
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 95}, ir::Chain{95, 95},
                                  ir::Chain{190, 10}));
}

// Kernels add offset and index in 32 bits, and a chain has no views of buffers.
TEST_F(Chains, OperandsThatEndBeyondAnIntStandAlone) {
  for (int i = 0; i < 3; ++i) Step(1);
  ir::Slot far = plan_.slots[1];
  far.bytes = 1000;
  far.offset = ir::kMostKernelElements - 1000;
  plan_.slots.push_back(far);
  plan_.steps[1].operands = {static_cast<int>(plan_.slots.size()) - 1};
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 3}));
  plan_.slots.back().bytes += 1;
  EXPECT_THAT(Find(), IsEmpty());
  plan_.slots.back().offset = 0;
  plan_.slots.back().bytes = int64_t{1} << 32;
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{0, 3}));
}

TEST_F(Chains, AStepOfTooManyBuffersStandsAlone) {
  Step(1);
  ir::Step& wide = plan_.steps[Step(1)];
  for (int i = 0; i < 100; ++i) {
    plan_.slots.push_back(
        {.kind = ir::SlotKind::kConstant, .device = 1, .index = i});
    wide.operands.push_back(static_cast<int>(plan_.slots.size()) - 1);
    wide.written.push_back(false);
  }
  Step(1);
  Step(1);
  EXPECT_THAT(Find(), ElementsAre(ir::Chain{2, 2}));
}

}  // namespace
}  // namespace tim::compiler
