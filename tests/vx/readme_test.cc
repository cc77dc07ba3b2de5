// The table of environment variables in README.md is the one of the library.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/options.h"

namespace tim::testing {
namespace {

TEST(Readme, ListsEveryOption) {
  std::stringstream text;
  text << std::ifstream("README.md").rdbuf();
  EXPECT_NE(text.str().find(OptionTableMarkdown()), std::string::npos)
      << "README.md must contain this text:\n"
      << OptionTableMarkdown();
}

}  // namespace
}  // namespace tim::testing
