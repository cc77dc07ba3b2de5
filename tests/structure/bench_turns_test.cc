// bench/turns.py: which engine runs when, and what compare makes of the times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

// What a line of Python prints that knows bench/turns.py.
CommandResult Print(const std::string& expression) {
  return RunCommand(
      "cd bench && python3 -B -c 'from turns import *; "
      "print(" +
      expression + ")'");
}

TEST(BenchTurns, EveryEngineIsFirstAndBehindEveryOther) {
  EXPECT_EQ(
      Print("[\"\".join(order(list(\"abc\"), i)) for i in range(6)]").output,
      "['abc', 'bca', 'cab', 'cba', 'acb', 'bac']\n");
}

// The second turn took place on a machine of half the speed.
TEST(BenchTurns, RatiosAreOfTheSameTurn) {
  EXPECT_EQ(Print("median_ratio([[1, 9, 1], [2, 2], [1]], "
                  "[[2, 2, 2], [4, 4], [2]])")
                .output,
            "0.5\n");
}

TEST(BenchTurns, EnginesHaveEquallyManyTurns) {
  const CommandResult result = Print("median_ratio([[1], [1]], [[1]])");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("2 and 1 turns"));
}

}  // namespace
}  // namespace tim::structure
