// What drivers are known to fail, and how tests see the libraries of another
// release of Debian.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

// The source of the test //tests:FOLDER/STEM_test.
std::string SourceOf(const std::string& label) {
  std::string path = label.substr(2);
  path[path.find(':')] = '/';
  return path + ".cc";
}

TEST(KnownFailures, NameTestsThatThereAreAndSayWhy) {
  static const std::regex entry("(//tests[a-z_/]*:\\S+) \\S+ (\\S.{20,})");
  for (const char* runtime : {"mesa", "mesa22", "pocl-remote"}) {
    const std::string path =
        "tests/known_failures/" + std::string(runtime) + ".txt";
    std::istringstream lines(ReadText(path));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::smatch match;
      ASSERT_TRUE(std::regex_match(line, match, entry)) << path << ": " << line;
      const std::string label = match[1];
      if (!label.ends_with("_test")) continue;  // goldens, properties
      EXPECT_TRUE(std::filesystem::exists(SourceOf(label))) << line;
    }
  }
}

class EndingCases : public testing::Test {
 protected:
  // Runs a program that says which cases it is asked for, and fails those of
  // the name `failing`.
  CommandResult Run(const std::string& failing) {
    WriteText(folder_ + "/known.txt",
              "//tests:some_test A.Ends ends the process: it does\n"
              "//tests:some_test A.Fails fails in another way here\n"
              "//tests:other_test B.Ends ends the process: it does\n");
    WriteText(folder_ + "/program.sh",
              "echo \"cases $GTEST_FILTER report ${XML_OUTPUT_FILE-none}\"\n"
              "[ \"$GTEST_FILTER\" != " +
                  failing + " ]\n");
    return RunCommand("env -u GTEST_FILTER TEST_TMPDIR='" + folder_ +
                      "' TEST_SRCDIR='" + folder_ +
                      "/execroot/x' TEST_TARGET=//tests:some_test "
                      "XML_OUTPUT_FILE=report.xml TEST_TOTAL_SHARDS=1 "
                      "TEST_SHARD_INDEX=0 TIMCL_TEST_KNOWN='" +
                      folder_ + "/known.txt' tools/bazel/run_test.sh sh '" +
                      folder_ + "/program.sh'");
  }
  const std::string folder_ =
      std::filesystem::absolute(FreshFolder("ending_cases")).string();
};

TEST_F(EndingCases, RunAloneBehindTheOthers) {
  const CommandResult result = Run("A.Ends");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.output,
            "cases -A.Ends report report.xml\n"
            "cases A.Ends report none\n");
}

TEST_F(EndingCases, ThatPassFailTheTest) {
  const CommandResult result = Run("nothing");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.output.find("A.Ends passes: remove its line from "),
            std::string::npos)
      << result.output;
}

class WithLibraries : public testing::Test {
 protected:
  CommandResult Run(const std::string& command) {
    return RunCommand("tools/bazel/with_libraries.sh '" + folder_ + "' " +
                      command);
  }
  const std::string folder_ =
      std::filesystem::absolute(FreshFolder("with_libraries")).string();
};

TEST_F(WithLibraries, ACommandAndItsChildrenSeeTheFolderAndNobodyElse) {
  WriteText(folder_ + "/tim_cl_probe", "of the folder\n");
  const CommandResult result =
      Run("sh -c 'cat /usr/lib/tim_cl_probe; ls /usr/lib | wc -l'");
  if (result.output.find("allows no mount namespace") != std::string::npos) {
    GTEST_SKIP() << result.output;
  }
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(result.output.rfind("of the folder\n", 0), 0u) << result.output;
  EXPECT_FALSE(std::filesystem::exists("/usr/lib/tim_cl_probe"));
  EXPECT_EQ(Run("sh -c 'exit 7'").exit_status, 7);
}

TEST_F(WithLibraries, NeedsACommand) {
  const CommandResult result = Run("");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.output, "with_libraries.sh FOLDER COMMAND...\n");
}

}  // namespace
}  // namespace tim::structure
