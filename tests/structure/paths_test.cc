// No file holds a path of the machine on which it was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> LinesWithPaths(const std::string& text) {
  static const std::regex path("/(home|root|Users|work)/");
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, path)) found.push_back(line);
  return found;
}

TEST(Paths, NoneOfOneMachineInTheTree) {
  std::size_t count = 0;
  for (const char* folder : {"bench", "cmake", "custom_ops", "docs", "include",
                             "ops", "samples", "src", "tests", "tools"})
    for (const std::string& path : FilesUnder(
             folder, {"", ".bzl", ".cc", ".cl", ".clh", ".cmake", ".h", ".in",
                      ".json", ".map", ".md", ".py", ".sh", ".txt"})) {
      ++count;
      EXPECT_THAT(LinesWithPaths(ReadText(path)), IsEmpty()) << path;
    }
  EXPECT_GT(count, 50u) << "the tree was not found";
}

TEST(Paths, PlantedPathIsSeen) {
  const std::string home = "/" + std::string("home/");
  EXPECT_THAT(LinesWithPaths("a\n# " + home + "me/data.bin\n"), SizeIs(1));
  EXPECT_THAT(LinesWithPaths("../shared/data tests/home.txt"), IsEmpty());
}

}  // namespace
}  // namespace tim::structure
