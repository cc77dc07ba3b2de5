// tools/test_report.py, which ends the log of tools/test.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string Case(const std::string& name, const std::string& seconds,
                 const std::string& inside = "") {
  return "<testcase classname=\"A\" name=\"" + name + "\" time=\"" + seconds +
         "\">" + inside + "</testcase>";
}

class TestReport : public testing::Test {
 protected:
  // A test of that name ran, or its result was `cached`.
  void AddTest(const std::string& name, const std::string& cases,
               const std::string& cached = "false") {
    const std::string path = folder_ + "/" + name + ".xml";
    WriteText(path,
              "<testsuites><testsuite>" + cases + "</testsuite></testsuites>");
    events_ += "{\"id\":{\"testResult\":{\"label\":\"//:" + name +
               "\"}},\"testResult\":{\"status\":\"PASSED\",\"cachedLocally\":" +
               cached + ",\"testActionOutput\":[{\"name\":\"test.xml\"," +
               "\"uri\":\"file://" + path + "\"}]}}\n";
  }
  void AddFile(const std::string& name) {
    WriteText(folder_ + "/caches/" + name, "binary");
  }
  CommandResult Run(const std::string& junit = "") {
    WriteText(folder_ + "/events.json", events_);
    return RunCommand("python3 tools/test_report.py --events '" + folder_ +
                      "/events.json' --kernel-caches '" + folder_ +
                      "/caches' " + junit);
  }

  const std::string folder_ =
      std::filesystem::absolute(FreshFolder("test_report")).string();
  std::string events_;
};

TEST_F(TestReport, EndsWithTheSlowestTheProgramsAndTheCount) {
  AddTest("one", Case("Quick", "0.25") + Case("Slow", "61.5"));
  AddTest("two", Case("Middle", "3"));
  AddFile("pocl/AB/CDE/program.bc");
  AddFile("pocl/AB/CDE/scale/0-0-0/scale.so");
  AddFile("timcl/1.bin");
  const CommandResult result = Run();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.output,
            "SLOW    61.5 s  //:one A.Slow\n"
            "SLOW     3.0 s  //:two A.Middle\n"
            "SLOW     0.2 s  //:one A.Quick\n"
            "2 programs compiled\n"
            "3 passed, 0 failed\n");
}

TEST_F(TestReport, ShowsTwentyOfManyTimes) {
  std::string cases;
  for (int i = 1; i <= 21; ++i) {
    cases += Case("Case" + std::to_string(i), std::to_string(i));
  }
  AddTest("many", cases);
  const std::string output = Run().output;
  EXPECT_THAT(output, HasSubstr("A.Case2\n"));
  EXPECT_THAT(output, Not(HasSubstr("A.Case1\n")));
}

TEST_F(TestReport, CountsCachedResultsWithoutTheirTimes) {
  AddTest("old", Case("Before", "9"), "true");
  EXPECT_EQ(Run().output, "0 programs compiled\n1 passed, 0 failed\n");
}

TEST_F(TestReport, CountsWhatFailedOrWasSkipped) {
  AddTest("one", Case("Fine", "1"));
  WriteText(folder_ + "/steps.xml",
            "<testsuite>" + Case("Bad", "2", "<failure>no</failure>") +
                Case("Left", "0", "<skipped message=\"no device\"/>") +
                "</testsuite>");
  const CommandResult result = Run("'" + folder_ + "/steps.xml'");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("SKIPPED steps A.Left: no device\n"));
  EXPECT_THAT(result.output, HasSubstr("FAILED steps A.Bad\n    no\n"));
  EXPECT_THAT(result.output, EndsWith("1 passed, 1 failed, 1 skipped\n"));
}

class KnownFailures : public TestReport {
 protected:
  CommandResult RunKnowing(const std::string& lines) {
    WriteText(folder_ + "/known.txt", lines);
    return Run("--known '" + folder_ + "/known.txt'");
  }
  const std::string failure_ = "<failure>no</failure>";
};

TEST_F(KnownFailures, FailNoRun) {
  AddTest("one", Case("Fine", "1") + Case("Bad", "1", failure_) +
                     Case("Bad/1", "1", failure_));
  const CommandResult result = RunKnowing(
      "# What a driver fails.\n\n"
      "//:one A.Bad* the driver has no such thing\n");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output,
              HasSubstr("KNOWN //:one A.Bad: the driver has no such thing\n"));
  EXPECT_THAT(result.output, EndsWith("1 passed, 0 failed, 2 known to fail\n"));
}

TEST_F(KnownFailures, OfAnotherTargetFail) {
  AddTest("one", Case("Bad", "1", failure_));
  AddTest("two", Case("Bad", "1", failure_) + Case("Fine", "1"));
  const CommandResult result = RunKnowing("//:two A.Bad it is so\n");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("FAILED //:one A.Bad\n"));
  EXPECT_THAT(result.output, EndsWith("1 passed, 1 failed, 1 known to fail\n"));
}

TEST_F(KnownFailures, ThatPassAreToldAndFail) {
  AddTest("one", Case("Good", "1"));
  const CommandResult result = RunKnowing(
      "//:one A.Good it was so\n"
      "//:absent * it does not run here\n");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("FAILED //:one A.Good (passes)\n"));
  EXPECT_THAT(result.output, HasSubstr("remove that line"));
  EXPECT_THAT(result.output, Not(HasSubstr("absent")));
}

TEST_F(KnownFailures, ThatEndTheProcessAreCountedWhereTheirTestRan) {
  AddTest("one", Case("Good", "1"));
  const CommandResult result = RunKnowing(
      "//:one A.Ends ends the process: no memory\n"
      "//:absent A.Ends ends the process: no memory\n");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("KNOWN //:one A.Ends: ends the "));
  EXPECT_THAT(result.output, EndsWith("1 passed, 0 failed, 1 known to fail\n"));
}

TEST_F(KnownFailures, NeedAReason) {
  AddTest("one", Case("Bad", "1", failure_));
  const CommandResult result = RunKnowing("//:one A.Bad\n");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output,
              HasSubstr("known.txt:1: expected a target, a case and why"));
}

}  // namespace
}  // namespace tim::structure
