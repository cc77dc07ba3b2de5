// The README shows a program that is built, and only that.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tim {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Readme, ShowsTheFirstGraphSampleAsItIs) {
  const std::string sample = Read("samples/first_graph/first_graph.cc");
  ASSERT_FALSE(sample.empty());
  EXPECT_NE(Read("README.md").find("```cpp\n" + sample + "```\n"),
            std::string::npos);
}

TEST(Readme, ShowsTheTwoCommands) {
  const std::string readme = Read("README.md");
  EXPECT_NE(readme.find("./tools/demo.sh"), std::string::npos);
  EXPECT_NE(readme.find("./tools/test.sh"), std::string::npos);
}

}  // namespace
}  // namespace tim
