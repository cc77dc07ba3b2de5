// docs/custom_operators.md tells messages that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What stands for names and numbers in a message.
constexpr char kGap[] = "…";

// The parts between gaps of the `code` in the first column of tables that have
// the column "message".
std::vector<std::string> MessageParts(const std::string& markdown) {
  static const std::regex row("\\| `([^`]+)` \\|.*");
  std::vector<std::string> parts;
  std::istringstream lines(markdown);
  bool in_table = false;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| message |", 0) == 0) in_table = true;
    if (line.rfind("|", 0) != 0) in_table = false;
    if (!in_table || !std::regex_match(line, match, row)) continue;
    std::string rest = match[1];
    for (size_t gap = 0; gap != std::string::npos;) {
      gap = rest.find(kGap);
      if (gap != 0) parts.push_back(rest.substr(0, gap));
      if (gap != std::string::npos) rest.erase(0, gap + sizeof(kGap) - 1);
    }
    if (!parts.empty() && parts.back().empty()) parts.pop_back();
  }
  return parts;
}

// The text of sources with literals joined that make one message.
std::string JoinedLiterals(const std::string& source) {
  static const std::regex between("\"[\\s,]*\"");
  return std::regex_replace(source, between, "");
}

TEST(CustomOperatorsPage, TellsMessagesThatThereAre) {
  std::string sources;
  for (const std::string& path : FilesUnder("src", {".cc"})) {
    sources += JoinedLiterals(ReadText(path));
  }
  const auto parts = MessageParts(ReadText("docs/custom_operators.md"));
  EXPECT_GT(parts.size(), 20u);
  for (const std::string& part : parts) {
    EXPECT_NE(sources.find(part), std::string::npos) << "no message: " << part;
  }
}

TEST(CustomOperatorsPage, PartsOfMessagesAreBetweenGaps) {
  const std::string table =
      "| `no` | a |\n\n| message | why |\n| --- | --- |\n"
      "| `a … b c` | `d` |\n| `… e` | f |\n| `g …` | h |\n\n| `no` | i |\n";
  EXPECT_THAT(MessageParts(table), ElementsAre("a ", " b c", " e", "g "));
  EXPECT_THAT(MessageParts(""), IsEmpty());
}

TEST(CustomOperatorsPage, LiteralsOfAMessageAreJoined) {
  EXPECT_EQ(JoinedLiterals("Refuse(\"a b \"\n  \"c \", \"d\")"),
            "Refuse(\"a b c d\")");
}

}  // namespace
}  // namespace tim::structure
