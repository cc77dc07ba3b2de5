// What README.md shows is what is there.
#include <gtest/gtest.h>

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
