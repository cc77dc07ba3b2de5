// Files stay small enough to be read.  A folder is one thing that a person
// looks for, however many files it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

constexpr int kLinesOfAFile = 450;

const char* const kFolders[] = {"bench",   "cmake", "custom_ops", "docs",
                                "include", "ops",   "python",     "samples",
                                "src",     "tests", "tools"};

bool IsLong(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') > kLinesOfAFile;
}

TEST(Limits, OfFiles) {
  int count = 0;
  for (const char* folder : kFolders) {
    for (const std::string& path :
         FilesUnder(folder, {".bzl", ".cc", ".cl", ".clh", ".cmake", ".h",
                             ".hpp", ".md", ".py", ".sh"})) {
      ++count;
      EXPECT_FALSE(IsLong(ReadText(path)))
          << path << " has more than " << kLinesOfAFile << " lines";
    }
  }
  EXPECT_GT(count, 50) << "the tree was not found";
}

TEST(Limits, PlantedFilesAreSeen) {
  const std::string lines(kLinesOfAFile, '\n');
  EXPECT_FALSE(IsLong(lines));
  EXPECT_TRUE(IsLong(lines + '\n'));
}

}  // namespace
}  // namespace tim::structure
