// Tables of pages are read as Markdown has them.
#include "tests/structure/page_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PageTables, CodeIsThatOfTheColumn) {
  const std::string page =
      "| a | b |\n| --- | --- |\n| `c` | `d`, `e` |\n| f | g |\n\n"
      "| b |\n| --- |\n| h `i` |\n\n| `j` | `k` |\n";
  EXPECT_THAT(CodeInColumn(page, "b"), ElementsAre("d", "e", "i"));
  EXPECT_THAT(CodeInColumn(page, "a"), ElementsAre("c"));
  EXPECT_THAT(CodeInColumn(page, "x"), IsEmpty());
}

TEST(PageTables, RowsThatAreCutShortEndTheirCells) {
  EXPECT_THAT(CodeInColumn("| a | b |\n| --- |\n| `c` |\n| `d\n", "a"),
              ElementsAre("c"));
}

TEST(PageTables, PartsOfMessagesAreBetweenGaps) {
  const std::string table =
      "| `no` | a |\n\n| message | why |\n| --- | --- |\n"
      "| `a … b c` | `d` |\n| `… e` | f |\n| `g …`, `h` | i |\n\n| `no` | j "
      "|\n";
  EXPECT_THAT(MessageParts(table), ElementsAre("a ", " b c", " e", "g ", "h"));
  EXPECT_THAT(MessageParts(""), IsEmpty());
}

TEST(PageTables, LiteralsOfAMessageAreJoined) {
  EXPECT_EQ(JoinedLiterals("Refuse(\"a b \"\n  \"c \", \"d\")"),
            "Refuse(\"a b c d\")");
}

TEST(PageTables, MessagesAreThoseOfTheSources) {
  EXPECT_THAT(MessagesOfSources(),
              HasSubstr("names no device; expected host, opencl or"));
}

}  // namespace
}  // namespace tim::structure
