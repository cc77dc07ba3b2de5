// docs/detection.md shows lines of sources that tests run, and tells the five
// conventions that the sample prints.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

std::string Trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

// Lines of C++ in the page, and how many of them the sources do not have.
struct Shown {
  int lines = 0;
  std::vector<std::string> unknown;
};

Shown ShownBy(const std::string& page, const std::set<std::string>& known) {
  Shown shown;
  std::istringstream text(page);
  bool in_code = false;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
    } else if (in_code && !line.empty()) {
      ++shown.lines;
      if (known.count(Trimmed(line)) == 0) shown.unknown.push_back(line);
    }
  }
  return shown;
}

TEST(DetectionPage, ShowsLinesOfTestedSourcesOnly) {
  std::set<std::string> known;
  for (const char* folder : {"samples/detection", "tests/samples"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      std::istringstream text(ReadText(path));
      for (std::string line; std::getline(text, line);) {
        known.insert(Trimmed(line));
      }
    }
  }
  const Shown shown = ShownBy(ReadText("docs/detection.md"), known);
  EXPECT_GT(shown.lines, 30);
  for (const std::string& line : shown.unknown) ADD_FAILURE() << line;
}

TEST(DetectionPage, UnknownLinesAreSeen) {
  const Shown shown =
      ShownBy("no code\n```cpp\n  a;\n\nb;\n```\nc;\n", {"a;", "c;"});
  EXPECT_EQ(shown.lines, 2);
  EXPECT_EQ(shown.unknown, std::vector<std::string>{"b;"});
}

TEST(DetectionPage, TellsTheConventionsThatTheSamplePrints) {
  const std::string page = ReadText("docs/detection.md");
  const std::string sample = ReadText("samples/detection/report.cc");
  const char* const both[][2] = {{"| order |", "\"  order "},
                                 {"| corner or centre |", "\"  corners "},
                                 {"| unit |", "\"  unit "},
                                 {"| letter-box |", "\"  letter-box "},
                                 {"| background |", "\"  background "}};
  for (const auto& [in_page, in_sample] : both) {
    EXPECT_NE(page.find(in_page), std::string::npos) << in_page;
    EXPECT_NE(sample.find(in_sample), std::string::npos) << in_sample;
  }
}

}  // namespace
}  // namespace tim::structure
