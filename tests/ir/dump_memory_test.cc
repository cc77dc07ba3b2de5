// A plan's memory as SVG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/dump/memory_svg.h"

namespace tim::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

void AddStep(const std::string& label, std::vector<int> operands, Plan* plan) {
  Step step;
  step.label = label;
  step.written.resize(operands.size());
  step.operands = std::move(operands);
  plan->steps.push_back(std::move(step));
}

Plan ThreeSteps() {
  Plan plan;
  plan.graph = "a<b>&\"c\"";
  plan.devices.resize(1);
  plan.arenas = {{.device = 0, .bytes = 256}, {.device = 0, .bytes = 0}};
  plan.slots = {
      {.kind = SlotKind::kInput, .bytes = 64},
      {.index = 0, .offset = 0, .bytes = 64, .allocation = 0},
      {.index = 0, .offset = 128, .bytes = 128, .allocation = 1},
      {.index = 0, .offset = 128, .bytes = 64, .allocation = 1},
      {.index = 0, .offset = 64, .bytes = 32, .allocation = 2},  // unused
  };
  AddStep("one", {0, 1}, &plan);
  AddStep("two", {1, 3}, &plan);
  AddStep("three", {2}, &plan);
  plan.memory = {.no_reuse_sum = 300, .lower_bound = 200, .peak = 256};
  return plan;
}

TEST(MemorySvg, HasARectanglePerSlotOfAnArena) {
  Plan plan = ThreeSteps();
  const std::string svg = MemorySvg(plan);
  EXPECT_THAT(svg, HasSubstr("memory of graph 'a&lt;b&gt;&amp;&quot;c&quot;': "
                             "256 bytes in arenas, 300 without reuse, at "
                             "least 200"));
  EXPECT_THAT(svg, HasSubstr("arena 0 on device 0: 256 bytes, 3 steps"));
  EXPECT_THAT(svg, Not(HasSubstr("arena 1")));
  EXPECT_EQ(Count(svg, "<rect "), 1 + 3);
  EXPECT_EQ(Count(svg, "<g>"), Count(svg, "</g>"));
  // Two steps wide of three, a quarter of the height.
  EXPECT_THAT(svg,
              HasSubstr("<title>slot 1: 64 bytes at offset 0, steps 0 [one] to "
                        "1 [two]</title><rect x=\"10\" y=\"58\" width=\"160\" "
                        "height=\"120\""));
  // What is a part of another slot is drawn over it.
  EXPECT_LT(svg.find("slot 2: 128 bytes at offset 128, step 2 [three]"),
            svg.find("slot 3: 64 bytes at offset 128, step 1 [two]"));
}

TEST(MemorySvg, NamesAreThoseOfTheNotes) {
  Plan plan = ThreeSteps();
  plan.notes.values = {{"in", {}}, {"t<5>", {}}, {"t6", {}}};
  plan.notes.operands = {{{0}, {1}}, {{1}, {2, 32}}, {{-1}}};
  const std::string svg = MemorySvg(plan);
  EXPECT_THAT(svg, HasSubstr("<title>t&lt;5&gt;: 64 bytes"));
  EXPECT_THAT(svg, HasSubstr(">t&lt;5&gt;, 64</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>t6 from byte 32: 64 bytes"));
  EXPECT_THAT(svg, HasSubstr("<title>slot 2: 128 bytes"));
}

TEST(MemorySvg, OfNoStepsAndOfMany) {
  Plan plan;
  plan.graph = "empty";
  EXPECT_THAT(MemorySvg(plan), HasSubstr("graph 'empty'"));
  plan = ThreeSteps();
  for (int i = 0; i < 1000; ++i) plan.steps.push_back(plan.steps.back());
  EXPECT_THAT(MemorySvg(plan), HasSubstr("width=\"1600\""));
}

}  // namespace
}  // namespace tim::ir
