// Files and kernels stay small enough to be read.  A folder is one thing that a
// person looks for, however many files it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

constexpr int kLinesOfAFile = 450;
constexpr int kLinesOfAKernel = 80;
constexpr int kParametersOfAKernel = 24;  // Whatever the options.

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

// `text` without comments and directives.
std::string CodeOf(const std::string& text) {
  std::istringstream lines(text);
  std::string code;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) code += line.substr(0, line.find("//")) + "\n";
  }
  return code;
}

// One more than the commas up to the parenthesis that closes.
int CountParameters(const std::string& code) {
  int depth = 1;
  int count = 1;
  for (size_t i = 0; i < code.size() && depth > 0; ++i) {
    depth += (code[i] == '(') - (code[i] == ')');
    if (code[i] == ',' && depth == 1) ++count;
  }
  return count;
}

// "f: 81 lines, 3 parameters", for each kernel that has too many.
std::vector<std::string> LongKernels(const std::string& text) {
  static const std::regex head(
      "__kernel\\s+(__attribute__\\(\\(.*\\)\\)\\s+)?void\\s+(\\w+)\\(");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), head), end; it != end;
       ++it) {
    const std::string kernel = text.substr(it->position());
    const std::string whole = kernel.substr(0, kernel.find("\n}\n") + 3);
    const auto lines = std::count(whole.begin(), whole.end(), '\n');
    const int parameters = CountParameters(CodeOf(kernel.substr(it->length())));
    if (lines <= kLinesOfAKernel && parameters <= kParametersOfAKernel)
      continue;
    found.push_back((*it)[2].str() + ": " + std::to_string(lines) + " lines, " +
                    std::to_string(parameters) + " parameters");
  }
  return found;
}

TEST(Limits, OfKernels) {
  int count = 0;
  for (const char* folder : {"custom_ops", "ops", "src/kernels"}) {
    for (const std::string& path : FilesUnder(folder, {".cl", ".clh"})) {
      ++count;
      EXPECT_THAT(LongKernels(ReadText(path)), testing::IsEmpty()) << path;
    }
  }
  EXPECT_GT(count, 100);
}

TEST(Limits, PlantedKernelsAreSeen) {
  std::string parameters = "int a";
  for (int i = 1; i < kParametersOfAKernel; ++i) {
    parameters +=
        i % 2 != 0 ? ", int b" : "\n#ifdef B\n, f(1, 2) c // d,\n#endif\n";
  }
  const auto kernel = [&](const std::string& more, int lines) {
    return "__kernel __attribute__((size(1, 2))) void\nf(" + parameters + more +
           ") {" + std::string(lines, '\n') + "}\n";
  };
  const std::string shortest = kernel("", 1);
  const int lines =
      static_cast<int>(std::count(shortest.begin(), shortest.end(), '\n'));
  const int rest = kLinesOfAKernel - lines + 1;
  EXPECT_THAT(LongKernels(kernel("", rest)), testing::IsEmpty());
  EXPECT_THAT(LongKernels("int x;\n" + kernel("", rest + 1) + "int y;\n"),
              testing::ElementsAre("f: 81 lines, 24 parameters"));
  EXPECT_THAT(LongKernels(kernel(", int e", rest)),
              testing::ElementsAre("f: 80 lines, 25 parameters"));
}

}  // namespace
}  // namespace tim::structure
