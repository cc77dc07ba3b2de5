// tools/check_format.sh finds nothing in the tree, and what is planted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

TEST(Format, TreeIsFormatted) {
  ASSERT_FALSE(FilesUnder("src", {".cc"}).empty()) << "the tree was not found";
  const CommandResult result = RunCommand("tools/check_format.sh .");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Format, PlantedFaultsAreSeen) {
  const std::string folder = FreshFolder("format");
  WriteText(folder + "/.clang-format", ReadText(".clang-format"));
  WriteText(folder + "/src/clean.cc", "int main() { return 0; }\n");
  EXPECT_EQ(RunCommand("tools/check_format.sh " + folder).exit_status, 0);
  for (const std::string name : {"a.cc", "b.h", "c.cl", "d.clh"}) {
    const std::string path = folder + "/src/" + name;
    WriteText(path, "int  planted( ) ;\n");
    const CommandResult result = RunCommand("tools/check_format.sh " + folder);
    EXPECT_NE(result.exit_status, 0);
    EXPECT_THAT(result.output, HasSubstr(name));
    WriteText(path, "int clean();\n");
  }
}

}  // namespace
}  // namespace tim::structure
