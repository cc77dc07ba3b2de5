// ir::Verify refuses whatever a plan may hold but should not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "ir/plan.h"
#include "tests/support/plans/plan_mistakes.h"
#include "tests/support/plans/whole_plan.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::ir {
namespace {

using namespace testing;  // the steps of WholePlan()

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(Verify, AcceptsSoundPlans) {
  EXPECT_OK(Verify(WholePlan()));
  Plan empty;
  empty.devices.resize(1);
  EXPECT_OK(Verify(empty));
}

TEST(Verify, RefusesHostileDevicesAndArenas) {
  ExpectRefused({
      {"plan: it has no devices", [](Plan& p) { p.devices.clear(); }},
      {"device 1 has an alignment of 0",
       [](Plan& p) { p.devices[1].alignment = 0; }},
      {"device 0 is of class 3",
       [](Plan& p) { p.devices[0].device_class = DeviceClass(3); }},
      {"arena 0 on device 2 of 2", [](Plan& p) { p.arenas[0].device = 2; }},
      {"arena 1 on device -1 of 2", [](Plan& p) { p.arenas[1].device = -1; }},
      {"arena 1 in memory of kind 2",
       [](Plan& p) { p.arenas[1].memory = MemoryKind(2); }},
      {"arena 1 of -1 bytes", [](Plan& p) { p.arenas[1].bytes = -1; }},
      {"slot 3 has 64 bytes at 64 of 127",
       [](Plan& p) { p.arenas[1].bytes = 127; }},
      {"is on device 1, its memory on device 0",
       [](Plan& p) { p.arenas[1].device = 0; }},
      {"arena 1 of 1", [](Plan& p) { p.arenas.pop_back(); }},
      {"memory report: no_reuse_sum of -1",
       [](Plan& p) { p.memory.no_reuse_sum = -1; }},
      {"memory report: lower_bound of -1",
       [](Plan& p) { p.memory.lower_bound = -1; }},
      {"memory report: peak of -1", [](Plan& p) { p.memory.peak = -1; }},
      {"memory report: eval_scratch of -1",
       [](Plan& p) { p.memory.eval_scratch = -1; }},
  });
}

TEST(Verify, RefusesHostileConstants) {
  ExpectRefused({
      {"constant 0 on device 7 of 2",
       [](Plan& p) { p.constants[0].device = 7; }},
      {"constant 1 of -64 bytes", [](Plan& p) { p.constants[1].bytes = -64; }},
      {"constant 0 of 256 bytes has no content",
       [](Plan& p) { p.constants[0].data = nullptr; }},
      {"constant 0 has 'w64' of 64 bytes at -1 of 256",
       [](Plan& p) { p.constants[0].constants[1].offset = -1; }},
      {"constant 0 has 'w64' of 64 bytes at 193 of 256",
       [](Plan& p) { p.constants[0].constants[1].offset = 193; }},
      {"constant 0 has 'w0' of -1 bytes",
       [](Plan& p) { p.constants[0].constants[0].bytes = -1; }},
      {"constant 0 has 'w64' of 9223372036854775807 bytes at 64",
       [](Plan& p) { p.constants[0].constants[1].bytes = kMax; }},
      {"slot 2 has 64 bytes at 64 of 127",
       [](Plan& p) {
         p.constants[0].bytes = 127;
         p.constants[0].constants.clear();
       }},
      {"slot 10 is in constant 1 of 1",
       [](Plan& p) { p.constants.pop_back(); }},
  });
}

TEST(Verify, RefusesHostileTensorsAndStates) {
  ExpectRefused({
      {"state 0 has layout blocked(axis 0, 16), which is not dense",
       [](Plan& p) { p.states[0].desc.layout = Layout::Blocked(0, 16); }},
      {"input 0 layout any is none of a tensor",
       [](Plan& p) { p.inputs[0].desc.layout = Layout::Any(); }},
      {"input 0 data type 16 of 16",
       [](Plan& p) { p.inputs[0].desc.type = DataType(16); }},
      {"input 0 the data type is unknown",
       [](Plan& p) { p.inputs[0].desc.type = DataType::kUnknown; }},
      {"input 0 shape [?] is not completely known",
       [](Plan& p) { p.inputs[0].desc.shape = Shape{-1}; }},
      {"output 0 shape [0] has an extent of 0",
       [](Plan& p) { p.outputs[0].desc.shape = Shape{0}; }},
      {"output 0 rank 9 exceeds 8",
       [](Plan& p) { p.outputs[0].desc.shape = Shape::OfRank(9); }},
      {"output 0 the size of [4294967296, 4294967296] overflows",
       [](Plan& p) {
         p.outputs[0].desc.shape = Shape{int64_t{1} << 32, int64_t{1} << 32};
       }},
      {"output 0 a quantization of kind 4",
       [](Plan& p) {
         p.outputs[0].desc.quantization.kind = QuantizationKind(4);
       }},
      {"state 0 on device 2 of 2", [](Plan& p) { p.states[0].device = 2; }},
      {"state 0 shape [4, 9223372036854775807] has an extent",
       [](Plan& p) {
         p.states[0].desc.shape = Shape{4, kMax};
       }},
      {"slot 5 state 's' is written, but not marked so",
       [](Plan& p) { p.states[0].written = false; }},
      {"slot 4 state 's' is updated in place, but read as it was",
       [](Plan& p) { p.states[0].in_place = true; }},
      {"slot 0 has 64 bytes at 0 of 60",
       [](Plan& p) { p.inputs[0].desc.shape = Shape{15}; }},
      {"slot 9 is in output 0 of 0", [](Plan& p) { p.outputs.clear(); }},
  });
}

TEST(Verify, RefusesHostileSlots) {
  ExpectRefused({
      {"slot 1 is of kind 6", [](Plan& p) { p.slots[1].kind = SlotKind(6); }},
      {"slot 1 is on device 2 of 2", [](Plan& p) { p.slots[1].device = 2; }},
      {"slot 1 is on device -1 of 2", [](Plan& p) { p.slots[1].device = -1; }},
      {"slot 1 is on device 0, its memory on device 1",
       [](Plan& p) { p.slots[1].device = 0; }},
      {"slot 0 is on device 1, its memory on device 0",
       [](Plan& p) { p.slots[0].device = 1; }},
      {"slot 1 is in arena 2 of 2", [](Plan& p) { p.slots[1].index = 2; }},
      {"slot 0 is in input -1 of 1", [](Plan& p) { p.slots[0].index = -1; }},
      {"slot 4 is in state 1 of 1", [](Plan& p) { p.slots[4].index = 1; }},
      {"slot 3 has offset 65, no multiple of 64",
       [](Plan& p) { p.slots[3].offset = 65; }},
      {"slot 2 has 64 bytes at -64", [](Plan& p) { p.slots[2].offset = -64; }},
      {"slot 2 has 64 bytes at 9223372036854775807",
       [](Plan& p) { p.slots[2].offset = kMax; }},
      {"slot 2 has -1 bytes", [](Plan& p) { p.slots[2].bytes = -1; }},
      {"slot 2 has 9223372036854775807 bytes at 64",
       [](Plan& p) { p.slots[2].bytes = kMax; }},
      {"slot 0 has 65 bytes at 0 of 64",
       [](Plan& p) { p.slots[0].bytes = 65; }},
      {"slot 6 is of allocation -2",
       [](Plan& p) { p.slots[6].allocation = -2; }},
  });
}

TEST(Verify, RefusesValuesThatOverlapWhileTheyLive) {
  ExpectRefused({
      {"values live at step 1 overlap: slots 1 and 3 in arena 1",
       [](Plan& p) { p.slots[3].offset = 0; }},
      {"overlap: slots 7 and 8 in arena 0",
       [](Plan& p) {
         p.slots[8].offset = 0;
         p.steps[kHost].operands[2] = 9;
         p.steps[kUser].waits = {};
         p.steps[kResult].operands[0] = 7;
         std::swap(p.steps[kHost], p.steps[kResult]);
         p.steps[kResult].operands = {8, 10, 9};
         p.steps[kHost].operands = {7, 8};
       }},
  });
  // One after the other they may take turns.
  Plan turns = WholePlan();
  turns.slots[6].offset = 0;
  turns.steps.back().operands = {6, 3};
  EXPECT_OK(Verify(turns));
  // And parts of one allocation lie in each other.
  Plan parts = WholePlan();
  parts.slots[3].offset = 0;
  parts.slots[3].allocation = parts.slots[1].allocation;
  EXPECT_OK(Verify(parts));
}

// All values live at once; pairs of them would be 10^10.
TEST(Verify, TakesNoSquareOfThePlansSize) {
  constexpr int kValues = 100'000;
  Plan plan = WholePlan();
  plan.chains.clear();
  plan.steps.resize(1);
  plan.arenas[1].bytes = int64_t{64} * (kValues + 3);
  std::vector<int> all;
  for (int i = 0; i < kValues; ++i) {
    Slot slot = plan.slots[1];
    slot.offset = int64_t{64} * (i + 3);
    slot.allocation = i % 2 == 0 ? -1 : i + 10;
    all.push_back(static_cast<int>(plan.slots.size()));
    plan.slots.push_back(slot);
  }
  for (int turn = 0; turn < 2; ++turn) {
    plan.steps.push_back({.label = "all",
                          .device = 1,
                          .action = KernelLaunch(),
                          .operands = all,
                          .written = std::vector<bool>(all.size(), turn == 0),
                          .waits = {0, 0, 0}});
  }
  EXPECT_OK(Verify(plan));
  plan.slots[all.back()].offset -= 64;
  EXPECT_ERROR(Verify(plan), "overlap");
}

// What Verify promises, said once more.
void ExpectSound(const Plan& plan) {
  for (const Step& step : plan.steps) {
    ASSERT_LT(static_cast<size_t>(step.device), plan.devices.size());
    for (const int operand : step.operands) {
      ASSERT_LT(static_cast<size_t>(operand), plan.slots.size());
      const Slot& slot = plan.slots[operand];
      ASSERT_LT(static_cast<size_t>(slot.device), plan.devices.size());
      int64_t limit = 0;
      if (slot.kind == SlotKind::kArena) {
        limit = plan.arenas.at(slot.index).bytes;
      } else if (slot.kind == SlotKind::kConstant) {
        limit = plan.constants.at(slot.index).bytes;
      } else {
        ASSERT_EQ(slot.index, 0);
        const TensorDesc& desc =
            slot.kind == SlotKind::kInput    ? plan.inputs[0].desc
            : slot.kind == SlotKind::kOutput ? plan.outputs[0].desc
                                             : plan.states[0].desc;
        limit = *ByteSize(desc);
      }
      ASSERT_GE(slot.offset, 0);
      ASSERT_GE(slot.bytes, 0);
      ASSERT_LE(slot.bytes, limit);
      ASSERT_LE(slot.offset, limit - slot.bytes);
    }
  }
  for (const Chain& chain : plan.chains) {
    for (int i = 0; i < chain.count; ++i) {
      ASSERT_EQ(plan.steps.at(chain.first + i).device,
                plan.steps.at(chain.first).device);
    }
  }
  EXPECT_FALSE(Dump(plan).empty());
}

TEST(Verify, WhatItAcceptsOfRandomPlansIsSound) {
  constexpr int64_t kValues[] = {
      0,         1,         -1,   2,    3,         4,
      7,         16,        63,   64,   1000,      -100,
      INT32_MAX, INT32_MIN, kMax, kMin, kMax - 63, int64_t{1} << 61};
  std::mt19937 random(7);
  int accepted = 0;
  constexpr int kPlans = 20'000;
  for (int i = 0; i < kPlans; ++i) {
    Plan plan = WholePlan();
    const std::vector<PlanNumber> numbers = NumbersOf(plan);
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0;
         --changes) {
      numbers[random() % numbers.size()].set(
          kValues[random() % std::size(kValues)]);
    }
    const Status status = Verify(plan);
    if (status.ok()) {
      ++accepted;
      ExpectSound(plan);
      if (HasFatalFailure()) return;
    } else {
      ASSERT_EQ(status.code(), StatusCode::kInvalidArgument);
    }
  }
  EXPECT_GT(accepted, kPlans / 100);
  EXPECT_LT(accepted, kPlans / 2);
}

TEST(Verify, AcceptsWhatTheCompilerMakes) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Op("Bump", {toy.Input({16})})}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_OK(Verify(*plan));
  EXPECT_FALSE(plan->options.strict);
}

}  // namespace
}  // namespace tim::ir
