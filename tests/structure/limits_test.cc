// Files and folders stay small enough to be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kFilesOfAFolder = 30;
constexpr int kLinesOfAFile = 450;

const char* const kFolders[] = {"bench",   "cmake", "custom_ops", "docs",
                                "include", "ops",   "samples",    "src",
                                "tests",   "tools"};

// It has a header per operator.
bool MayBeLarge(const std::string& folder) {
  return folder == "include/tim/vx/ops";
}

std::vector<std::string> LargeFolders(const std::vector<std::string>& paths) {
  std::map<std::string, int> counts;
  for (const std::string& path : paths)
    ++counts[path.substr(0, path.rfind('/'))];
  std::vector<std::string> large;
  for (const auto& [folder, count] : counts) {
    if (count > kFilesOfAFolder && !MayBeLarge(folder))
      large.push_back(folder + ": " + std::to_string(count) + " files");
  }
  return large;
}

bool IsLong(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') > kLinesOfAFile;
}

TEST(Limits, OfFolders) {
  std::vector<std::string> paths;
  for (const char* folder : kFolders) {
    const auto found = FilesUnder(folder, {});
    paths.insert(paths.end(), found.begin(), found.end());
  }
  EXPECT_GT(paths.size(), 50u) << "the tree was not found";
  EXPECT_THAT(LargeFolders(paths), IsEmpty());
}

TEST(Limits, OfFiles) {
  for (const char* folder : kFolders) {
    for (const std::string& path :
         FilesUnder(folder, {".bzl", ".cc", ".cl", ".clh", ".cmake", ".h",
                             ".md", ".py", ".sh"})) {
      EXPECT_FALSE(IsLong(ReadText(path)))
          << path << " has more than " << kLinesOfAFile << " lines";
    }
  }
}

TEST(Limits, PlantedFilesAreSeen) {
  std::vector<std::string> paths;
  for (int i = 0; i < kFilesOfAFolder; ++i) {
    for (const char* folder : {"src/a/", "src/b/", "include/tim/vx/ops/"})
      paths.push_back(folder + std::to_string(i));
  }
  EXPECT_THAT(LargeFolders(paths), IsEmpty());
  paths.push_back("src/b/one_more.cc");
  paths.push_back("include/tim/vx/ops/one_more.h");
  EXPECT_THAT(LargeFolders(paths), ElementsAre("src/b: 31 files"));
  const std::string lines(kLinesOfAFile, '\n');
  EXPECT_FALSE(IsLong(lines));
  EXPECT_TRUE(IsLong(lines + '\n'));
}

}  // namespace
}  // namespace tim::structure
