// Bazel and CMake compile the same files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.insert(line);
  return lines;
}

// "//src/base:status.cc" -> "src/base/status.cc"; headers and other packages
// are no compiled sources of the library.
std::set<std::string> PathsOfLabels(const std::string& labels) {
  std::set<std::string> paths;
  for (std::string path : Lines(labels)) {
    const bool is_source = path.ends_with(".cc") || path.ends_with(".cl") ||
                           path.ends_with(".clh");
    if (!is_source || path.rfind("//tools", 0) == 0 || path.rfind("//", 0) != 0)
      continue;
    path.erase(0, 2);
    std::replace(path.begin(), path.end(), ':', '/');
    paths.insert(path);
  }
  return paths;
}

std::vector<std::string> Differences(const std::set<std::string>& bazel,
                                     const std::set<std::string>& cmake) {
  std::vector<std::string> differences;
  for (const std::string& path : bazel)
    if (cmake.count(path) == 0) differences.push_back(path + ": Bazel only");
  for (const std::string& path : cmake)
    if (bazel.count(path) == 0) differences.push_back(path + ": CMake only");
  return differences;
}

TEST(BuildSources, AreTheSameInBothBuilds) {
  const std::string folder = FreshFolder("cmake");
  const CommandResult configured =
      RunCommand("cmake -S . -B '" + folder + "' -G Ninja");
  ASSERT_EQ(configured.exit_status, 0) << configured.output;
  const std::set<std::string> cmake =
      Lines(ReadText(folder + "/tim-vx-sources.txt"));
  const std::set<std::string> bazel =
      PathsOfLabels(ReadText("tests/structure/bazel_sources"));
  EXPECT_GT(bazel.size(), 20u);
  EXPECT_THAT(Differences(bazel, cmake), IsEmpty());
}

// custom_ops/template is a project of its own.
TEST(BuildSources, EveryFileOfTheFoldersIsCompiled) {
  const std::set<std::string> bazel =
      PathsOfLabels(ReadText("tests/structure/bazel_sources"));
  for (const char* folder : {"src", "ops", "custom_ops"})
    for (const std::string& path : FilesUnder(folder, {".cc", ".cl", ".clh"})) {
      if (path.rfind("custom_ops/template/", 0) == 0) continue;
      EXPECT_EQ(bazel.count(path), 1u) << path;
    }
}

TEST(BuildSources, PlantedDifferencesAreSeen) {
  EXPECT_THAT(
      Differences(
          PathsOfLabels(
              "//ops:activation/relu.cc\n//ops:launch/a.cc\n@gtest//:b.cc\n"),
          {"ops/activation/relu.cc", "ops/activation/tanh.cc"}),
      testing::ElementsAre(HasSubstr("ops/launch/a.cc: Bazel only"),
                           HasSubstr("ops/activation/tanh.cc: CMake only")));
}

}  // namespace
}  // namespace tim::structure
