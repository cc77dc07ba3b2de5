// The fronts tim::vx, tim::graph and tim::values stand beside each other, and
// the kinds of operations of tim::graph have a place each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kRecords[] = "src/graph_api/ops";

// Includes of files say the same (include_direction_test); here are the
// libraries that layers and their tests are linked of.
TEST(Fronts, LinkWithoutEachOther) {
  EXPECT_THAT(ReadText("src/vx/BUILD"), Not(HasSubstr("graph_api")));
  EXPECT_THAT(ReadText("src/graph_api/BUILD"), Not(HasSubstr("//src/vx")));
  const std::string values = ReadText("src/values/BUILD");
  EXPECT_THAT(values, Not(HasSubstr("//src/vx")));
  EXPECT_THAT(values, Not(HasSubstr("graph_api")));
  EXPECT_THAT(ReadText("src/vx/BUILD"), Not(HasSubstr("values")));
  EXPECT_THAT(ReadText("src/graph_api/BUILD"), Not(HasSubstr("values")));
  for (const char* front : {"vx", "graph_api", "values"}) {
    EXPECT_THAT(ReadText(std::string("src/") + front + "/BUILD"),
                Not(HasSubstr("bridges")));
  }
  const std::string bridges = ReadText("src/bridges/BUILD");
  EXPECT_THAT(bridges, HasSubstr("\"//src/values\""));
  EXPECT_THAT(bridges, HasSubstr("\"//src/vx\""));
  const std::string of_values = ReadText("tests/values/BUILD");
  for (const char* other : {"//src/vx", "//src/graph_api", "//:tim-cl"}) {
    EXPECT_THAT(of_values, Not(HasSubstr(other)));
  }
  const std::string tests = ReadText("tests/graph_api/BUILD");
  EXPECT_THAT(tests, HasSubstr("\"//src/graph_api\""));
  for (const char* other : {"//src/vx", "//:tim-cl", "support_vx"}) {
    EXPECT_THAT(tests, Not(HasSubstr(other)));
  }
}

std::vector<std::string> MatchesOf(const std::string& text,
                                   const std::regex& pattern) {
  std::vector<std::string> matches;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
       it != end; ++it) {
    matches.push_back(it->str());
  }
  return matches;
}

std::set<std::string> EnumeratorsOfKinds(const std::string& text) {
  static const std::regex enumerator(
      R"(\btim_graph_op_(?!attr_|kind|last_symbol|destroy)\w+)");
  const auto matches = MatchesOf(text, enumerator);
  return {matches.begin(), matches.end()};
}

// Kinds of tim/graph/c_types.h.
std::set<std::string> Kinds() {
  const std::string header = ReadText("include/tim/graph/c_types.h");
  const size_t begin = header.find("tim_graph_op_abs");
  const size_t end = header.find("tim_graph_op_last_symbol");
  if (begin == std::string::npos || end == std::string::npos) return {};
  return EnumeratorsOfKinds(header.substr(begin, end - begin));
}

// A new kind is a record in one file.
TEST(Fronts, AKindIsInOneFile) {
  std::map<std::string, std::vector<std::string>> files;
  for (const std::string& path : FilesUnder(kRecords, {".h", ".cc"})) {
    for (const std::string& kind : EnumeratorsOfKinds(ReadText(path))) {
      files[kind].push_back(path);
    }
  }
  const std::set<std::string> kinds = Kinds();
  EXPECT_THAT(kinds, SizeIs(88));
  for (const std::string& kind : kinds) {
    EXPECT_THAT(files[kind], SizeIs(1)) << kind;
  }
}

// Decisions that ask for a kind by its enumerator.
std::vector<std::string> Decisions(const std::string& text) {
  static const std::regex decision(
      R"((case|[=!]=)\s+tim_graph_op_(?!attr_|kind|last_symbol)\w+)");
  return MatchesOf(text, decision);
}

TEST(Fronts, NothingIsDecidedByAKind) {
  int count = 0;
  for (const std::string& path : FilesUnder("src/graph_api", {".h", ".cc"})) {
    ++count;
    EXPECT_THAT(Decisions(ReadText(path)), IsEmpty()) << path;
  }
  EXPECT_GT(count, 50) << "the tree was not found";
  EXPECT_THAT(Decisions("switch (op.kind) {\n  case tim_graph_op_add:"),
              SizeIs(1));
  EXPECT_THAT(Decisions("if (op.kind == tim_graph_op_matmul) return;"),
              SizeIs(1));
  EXPECT_THAT(Decisions("op.kind = tim_graph_op_reorder; case "
                        "tim_graph_op_attr_axis: kind == "
                        "tim_graph_op_last_symbol"),
              IsEmpty());
}

}  // namespace
}  // namespace tim::structure
