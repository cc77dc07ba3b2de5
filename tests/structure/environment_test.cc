// Below the facade everything is a function of its arguments: only src/base
// reads the environment, and only its log and the fronts ask for the options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

bool MayAsk(const std::string& path) {
  return path.rfind("src/vx/", 0) == 0 ||
         path.rfind("src/graph_api/", 0) == 0 ||
         path.rfind("src/values/", 0) == 0 ||
         path.rfind("src/devices/", 0) == 0 ||
         path.rfind("src/base/options.", 0) == 0 || path == "src/base/log.cc";
}

std::vector<std::string> Violations(const std::string& path,
                                    const std::string& text) {
  static const std::regex word(
      R"(\b(getenv|secure_getenv|environ|setenv|putenv|GetOptions)\b)");
  std::vector<std::string> violations;
  if (MayAsk(path)) return violations;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, word)) continue;
    violations.push_back(path + ":" + std::to_string(number) + ": " +
                         match[1].str());
  }
  return violations;
}

TEST(Environment, IsReadByTheFacadeOnly) {
  std::size_t count = 0;
  for (const char* folder : {"src", "ops", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      ++count;
      EXPECT_THAT(Violations(path, ReadText(path)), IsEmpty());
    }
  }
  EXPECT_GT(count, 50u) << "the tree was not found";
}

TEST(Environment, PlantedViolationsAreSeen) {
  EXPECT_THAT(
      Violations("src/runtime/a.cc", "\nconst char* h = std::getenv(\"H\");"),
      testing::ElementsAre(HasSubstr("src/runtime/a.cc:2: getenv")));
  for (const char* path : {"src/device/a.cc", "src/compiler/a.h", "ops/a.cc",
                           "src/base/threads.cc", "src/ir/a.cc"}) {
    EXPECT_THAT(Violations(path, "if (GetOptions().chain) return;"), SizeIs(1))
        << path;
    EXPECT_THAT(Violations(path, "extern char** environ;"), SizeIs(1)) << path;
  }
  for (const char* path :
       {"src/vx/graph/context.cc", "src/base/options.cc", "src/base/log.cc"}) {
    EXPECT_THAT(Violations(path, "GetOptions();"), IsEmpty()) << path;
  }
  EXPECT_THAT(Violations("ops/a.cc", "// the environment"), IsEmpty());
}

}  // namespace
}  // namespace tim::structure
