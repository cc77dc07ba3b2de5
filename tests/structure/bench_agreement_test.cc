// bench/agreement.py: what compare says of the outputs of two engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

// What is printed after `statements` on an Agreement `a`.
CommandResult Figures(const std::string& statements) {
  return RunCommand(
      "cd bench && python3 -B -c 'from agreement import *; a = Agreement(); " +
      statements + "; print(a.figures())'");
}

TEST(BenchAgreement, CountsEqualCodesAndEqualFirstPlaces) {
  EXPECT_EQ(Figures("a.add([1, 5, 3, 0], [1, 4, 3, 2]); "
                    "a.add([7, 7, -1, 0], [6, 7, -1, 0])")
                .output,
            "{'outputs': 2, 'equal': 0.625, 'largest': 2, 'top1': 0.5}\n");
}

TEST(BenchAgreement, OfEqualOutputsIsWhole) {
  EXPECT_EQ(Figures("a.add([-128], [-128])").output,
            "{'outputs': 1, 'equal': 1.0, 'largest': 0, 'top1': 1.0}\n");
}

TEST(BenchAgreement, LargestDifferenceIsThatOfAllOutputs) {
  EXPECT_THAT(
      Figures("a.add([-128, 0], [127, 0]); a.add([3, 0], [2, 0])").output,
      HasSubstr("'largest': 255,"));
}

TEST(BenchAgreement, OutputsHaveEquallyManyCodes) {
  for (const char* pair : {"[1, 2], [1]", "[], []"}) {
    const CommandResult result = Figures("a.add(" + std::string(pair) + ")");
    EXPECT_NE(result.exit_status, 0);
    EXPECT_THAT(result.output, HasSubstr(" codes"));
  }
}

}  // namespace
}  // namespace tim::structure
