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

// Words of a text, without the marks of comments and of Markdown.
std::string Words(std::string text) {
  std::erase(text, '`');
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;) {
    if (word != "///") words += words.empty() ? word : " " + word;
  }
  return words;
}

// Which failures of Compile() stay is said in the same words everywhere.
TEST(Readme, SaysOfFailuresWhatTheHeaderSays) {
  const std::string header = Words(ReadText("include/tim/vx/graph.h"));
  const std::string last = "is tried again by the next Compile() or Run().";
  const size_t from =
      header.find("A Compile() that fails because of the graph");
  const size_t to = header.find(last);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string contract = header.substr(from, to - from) + last;
  for (const char* path : {"README.md", "docs/architecture.md"}) {
    EXPECT_NE(Words(ReadText(path)).find(contract), std::string::npos)
        << path << " lacks: " << contract;
  }
}

TEST(Readme, ShowsTheTwoCommands) {
  const std::string readme = ReadText("README.md");
  EXPECT_NE(readme.find("./tools/demo.sh"), std::string::npos);
  EXPECT_NE(readme.find("./tools/test.sh"), std::string::npos);
}

}  // namespace
}  // namespace tim::structure
