// Text that docs/timcl.md shows is what tests use.
#include <gtest/gtest.h>

#include <string>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

// The installed operators lie in tim/custom_ops/.
TEST(TimclPage, ShowsALibraryThatIsChecked) {
  std::string library = ReadText("tests/tools/libraries/hswish.cc");
  const size_t include = library.find("\"custom_ops/");
  ASSERT_NE(include, std::string::npos);
  library.insert(include + 1, "tim/");
  EXPECT_NE(ReadText("docs/timcl.md").find("```cpp\n" + library + "```\n"),
            std::string::npos);
}

}  // namespace
}  // namespace tim::structure
