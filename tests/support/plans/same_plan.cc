#include "tests/support/plans/same_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "ir/constant.h"

namespace tim::testing {
namespace {

using Tensor = std::shared_ptr<const ir::ConstantData>;

void ExpectSameBlocks(const ir::Plan& expected, const ir::Plan& actual) {
  ASSERT_EQ(expected.constants.size(), actual.constants.size());
  for (size_t i = 0; i < expected.constants.size(); ++i) {
    const ir::ConstantBlock& a = expected.constants[i];
    const ir::ConstantBlock& b = actual.constants[i];
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.constants, b.constants);
    ASSERT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(
        std::memcmp(a.data.get(), b.data.get(), static_cast<size_t>(a.bytes)),
        0)
        << i;
  }
}

// Attributes are compared by what they are, tensors by where they are: the
// action with those that are equal in the place of its own.
ir::Action WithTensorsOf(const ir::Action& expected, ir::Action actual) {
  const auto* from = std::get_if<ir::HostCall>(&expected);
  auto* to = std::get_if<ir::HostCall>(&actual);
  if (from == nullptr || to == nullptr) return actual;
  for (const auto& [name, value] : from->attributes.entries()) {
    const ir::Attribute* found = to->attributes.Find(name);
    const auto* a = std::get_if<Tensor>(&value);
    const auto* b = found == nullptr ? nullptr : std::get_if<Tensor>(found);
    if (a == nullptr || b == nullptr || *a == nullptr || *b == nullptr)
      continue;
    if ((*a)->bytes.size() == (*b)->bytes.size() && (*a)->hash == (*b)->hash) {
      to->attributes.Set(name, value);
    }
  }
  return actual;
}

}  // namespace

void ExpectSamePlan(const ir::Plan& expected, const ir::Plan& actual) {
  EXPECT_EQ(expected.graph, actual.graph);
  EXPECT_EQ(expected.options, actual.options);
  EXPECT_EQ(expected.devices, actual.devices);
  EXPECT_EQ(expected.slots, actual.slots);
  EXPECT_EQ(expected.arenas, actual.arenas);
  EXPECT_EQ(expected.inputs, actual.inputs);
  EXPECT_EQ(expected.outputs, actual.outputs);
  EXPECT_EQ(expected.states, actual.states);
  EXPECT_EQ(expected.chains, actual.chains);
  EXPECT_EQ(expected.memory, actual.memory);
  EXPECT_EQ(expected.decisions, actual.decisions);
  ExpectSameBlocks(expected, actual);
  ASSERT_EQ(expected.steps.size(), actual.steps.size());
  for (size_t i = 0; i < expected.steps.size(); ++i) {
    ir::Step step = actual.steps[i];
    step.action =
        WithTensorsOf(expected.steps[i].action, std::move(step.action));
    EXPECT_TRUE(expected.steps[i] == step) << "step " << i;
  }
  EXPECT_EQ(ir::Dump(expected), ir::Dump(actual));
}

}  // namespace tim::testing
