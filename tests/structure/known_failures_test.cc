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
  for (const char* runtime : {"mesa", "mesa22"}) {
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
