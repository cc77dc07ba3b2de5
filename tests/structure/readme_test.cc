// What README.md shows is what is there.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "base/options.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

TEST(Readme, ShowsTheFirstGraphSampleAsItIs) {
  const std::string sample = ReadText("samples/first_graph/first_graph.cc");
  ASSERT_FALSE(sample.empty());
  EXPECT_NE(ReadText("README.md").find("```cpp\n" + sample + "```\n"),
            std::string::npos);
}

std::string Trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

// Lines of C and C++ are those of sources that tests run.
TEST(Readme, ShowsLinesOfTestedSourcesOnly) {
  std::set<std::string> known;
  for (const char* folder :
       {"samples/first_graph", "samples/sdk_app", "custom_ops/template"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      std::istringstream text(ReadText(path));
      for (std::string line; std::getline(text, line);) {
        known.insert(Trimmed(line));
      }
    }
  }
  std::istringstream readme(ReadText("README.md"));
  bool in_code = false;
  int checked = 0;
  for (std::string line; std::getline(readme, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp" || line == "```c";
    } else if (in_code && !line.empty()) {
      EXPECT_TRUE(known.count(Trimmed(line)) != 0) << line;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(Readme, ListsEveryOption) {
  EXPECT_NE(ReadText("README.md").find(OptionTableMarkdown()),
            std::string::npos)
      << "README.md must contain this text:\n"
      << OptionTableMarkdown();
}

TEST(Readme, ShowsTheTwoCommands) {
  const std::string readme = ReadText("README.md");
  EXPECT_NE(readme.find("./tools/demo.sh"), std::string::npos);
  EXPECT_NE(readme.find("./tools/test.sh"), std::string::npos);
}

}  // namespace
}  // namespace tim::structure
