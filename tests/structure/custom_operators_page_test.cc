// docs/custom_operators.md tells messages that there are.
#include <gtest/gtest.h>

#include "tests/structure/page_tables.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

TEST(CustomOperatorsPage, TellsMessagesThatThereAre) {
  const std::string sources = MessagesOfSources();
  const auto parts = MessageParts(ReadText("docs/custom_operators.md"));
  EXPECT_GT(parts.size(), 20u);
  for (const std::string& part : parts) {
    EXPECT_NE(sources.find(part), std::string::npos) << "no message: " << part;
  }
}

}  // namespace
}  // namespace tim::structure
