// Where states lie, and which copies of them a plan has.
#include <gtest/gtest.h>

#include <variant>

#include "compiler/compiler.h"
#include "tests/support/pinned_nodes.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::ToyGraph;
using testing::ToyOptions;

const ir::Shape kShape = {16};

// "state read 0 -> arena 1", one line per copy.
std::string CopiesOf(const ir::Plan& plan) {
  static constexpr const char* kNames[] = {
      "arena", "constant", "input", "output", "state read", "state write"};
  const auto text = [&](int operand) {
    const ir::Slot& slot = plan.slots[operand];
    return StrCat(kNames[static_cast<int>(slot.kind)], " ", slot.device);
  };
  std::string out;
  for (const ir::Step& step : plan.steps) {
    if (!std::holds_alternative<ir::Copy>(step.action)) continue;
    out += StrCat(text(step.operands[0]), " -> ", text(step.operands[1]), "\n");
  }
  return out;
}

TEST(StatePlan, NewValuesAreMadeWhereTheyStay) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Sum", {state, toy.Input(kShape)}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan), "input 0 -> arena 1\n");
  EXPECT_TRUE(plan->states[0].written);
  EXPECT_FALSE(plan->states[0].in_place);
}

TEST(StatePlan, WhatOnlyAKernelKeepsIsUpdatedInPlace) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan), "input 0 -> arena 1\n");
  EXPECT_TRUE(plan->states[0].in_place);
  EXPECT_NE(ir::Dump(*plan).find("written in place"), std::string::npos);
}

TEST(StatePlan, WhatAnotherNodeReadsIsCopied) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  toy.Output(toy.Op("Twice", {state}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_NE(CopiesOf(*plan).find("state read 1 -> state write 1\n"),
            std::string::npos);
  EXPECT_FALSE(plan->states[0].in_place);
}

TEST(StatePlan, WhatTheKernelItselfReadsIsCopied) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {state, state}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan), "state read 1 -> state write 1\n");
  EXPECT_FALSE(plan->states[0].in_place);
}

TEST(StatePlan, WhatIsAnOutputOfTheGraphIsCopied) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  toy.Output(state);
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_FALSE(plan->states[0].in_place);
}

// The other state takes the old value, and is itself taken.
TEST(StatePlan, WhatGoesToAnotherStateIsCopied) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  const ir::ValueId last = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  toy.graph().AddStateUpdate(last, state);
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_FALSE(plan->states[0].in_place);
  EXPECT_FALSE(plan->states[1].in_place);
  int copies = 0;
  for (const ir::Step& step : plan->steps) {
    copies += std::holds_alternative<ir::Copy>(step.action) &&
              plan->slots[step.operands[1]].kind == ir::SlotKind::kStateWrite;
  }
  EXPECT_EQ(copies, 2);
}

TEST(StatePlan, OneValueForTwoStatesIsMadeInOne) {
  ToyGraph toy;
  const ir::ValueId value = toy.Op("Twice", {toy.Input(kShape)});
  toy.graph().AddStateUpdate(toy.State(kShape), value);
  toy.graph().AddStateUpdate(toy.State(kShape), value);
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan),
            "input 0 -> arena 1\nstate write 1 -> state write 1\n");
}

// The device that reads and makes it most, which is not the first one.
TEST(StatePlan, StatesAreKeptWhereTheirKernelIs) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  compiler::CompileOptions options = ToyOptions();
  options.devices.push_back(options.devices[1]);
  testing::PinNodes(toy.graph(), [](const ir::Node& node) {
    return node.name == "Keep#0" ? 2 : -1;
  });
  const auto plan = toy.Compile(options);
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan), "input 0 -> arena 2\n");
  EXPECT_EQ(plan->states[0].device, 2);
  EXPECT_TRUE(plan->states[0].in_place);
}

// A kernel on another device than the state lives on gets a copy.
TEST(StatePlan, OldValuesFollowAKernelToItsDevice) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  toy.Output(toy.Op("Twice", {state}));
  compiler::CompileOptions options = ToyOptions();
  options.devices.push_back(options.devices[1]);
  testing::PinNodes(toy.graph(), [](const ir::Node& node) {
    return node.name == "Keep#0" ? 2 : 1;
  });
  const auto plan = toy.Compile(options);
  ASSERT_OK(plan);
  const std::string copies = CopiesOf(*plan);
  const size_t to_host = copies.find("state read 2 -> arena 0\n");
  ASSERT_NE(to_host, std::string::npos) << copies;
  EXPECT_NE(copies.find("arena 0 -> arena 1\n", to_host), std::string::npos)
      << copies;
  EXPECT_FALSE(plan->states[0].in_place);
}

// Without kernels the whole is computed, the old value an operand as others.
TEST(StatePlan, OnTheHostAloneNothingIsCopied) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  toy.graph().AddStateUpdate(state, toy.Op("Keep", {toy.Input(kShape), state}));
  compiler::CompileOptions options = ToyOptions();
  options.devices.resize(1);
  const auto plan = toy.Compile(options);
  ASSERT_OK(plan);
  EXPECT_EQ(CopiesOf(*plan), "");
  EXPECT_FALSE(plan->states[0].in_place);
}

// What a file says that a state holds before the first run.
TEST(StatePlan, ContentIsNoConstant) {
  ToyGraph toy;
  const ir::ValueId state = toy.State(kShape);
  const std::vector<float> content(16, 3);
  toy.graph().value(state).constant =
      ir::MakeConstant(content.data(), content.size() * sizeof(float));
  toy.Output(toy.Op("Twice", {state}));
  const auto plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(plan->states.size(), 1u);
  EXPECT_TRUE(plan->constants.empty());
}

}  // namespace
}  // namespace tim
