// Links between the documents lead to files, folders and headings that there
// are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Whether a block of code begins or ends with the line.
bool IsFence(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line.compare(first, 3, "```") == 0;
}

// The lines of a page that are no block of code, without their `code`.
std::vector<std::string> ProseLines(const std::string& page) {
  static const std::regex code("`[^`]*`");
  std::vector<std::string> lines;
  std::istringstream text(page);
  bool in_block = false;
  for (std::string line; std::getline(text, line);) {
    if (IsFence(line)) {
      in_block = !in_block;
    } else if (!in_block) {
      lines.push_back(std::regex_replace(line, code, "``"));
    }
  }
  return lines;
}

// "What is called when" -> "what-is-called-when", as hosting platforms do it.
std::string AnchorOf(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (c >= 'A' && c <= 'Z') anchor += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '_') {
      anchor += c;
    }
  }
  return anchor;
}

std::set<std::string> AnchorsOf(const std::string& page) {
  static const std::regex heading("#+ +(.*)");
  std::set<std::string> anchors;
  std::istringstream text(page);
  std::smatch match;
  bool in_block = false;
  for (std::string line; std::getline(text, line);) {
    if (IsFence(line)) in_block = !in_block;
    if (!in_block && std::regex_match(line, match, heading)) {
      anchors.insert(AnchorOf(match[1]));
    }
  }
  return anchors;
}

// What is wrong with a link in the page at `path`.
std::optional<std::string> Problem(const std::string& path,
                                   const std::string& link) {
  const size_t mark = link.find('#');
  const std::string file = link.substr(0, mark);
  fs::path target = path;
  if (!file.empty()) target = fs::path(path).parent_path() / file;
  if (!fs::exists(target)) return link + ": there is no " + target.string();
  if (mark == std::string::npos) return std::nullopt;
  const std::string anchor = link.substr(mark + 1);
  if (AnchorsOf(ReadText(target.string())).count(anchor) != 0) {
    return std::nullopt;
  }
  return link + ": there is no such heading";
}

std::vector<std::string> BadLinks(const std::string& path,
                                  const std::string& page) {
  static const std::regex link(R"(\]\(([^()\s]+)\))");
  std::vector<std::string> bad;
  for (const std::string& line : ProseLines(page)) {
    for (std::sregex_iterator it(line.begin(), line.end(), link), end;
         it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.find("://") != std::string::npos) continue;
      if (auto problem = Problem(path, target)) bad.push_back(*problem);
    }
  }
  return bad;
}

std::vector<std::string> Pages() {
  std::vector<std::string> pages;
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".md") {
      pages.push_back(entry.path().filename().string());
    }
  }
  for (const char* folder : {"bench", "docs", "samples", "tests"}) {
    for (std::string& path : FilesUnder(folder, {".md"})) {
      pages.push_back(std::move(path));
    }
  }
  return pages;
}

TEST(Links, LeadSomewhere) {
  const std::vector<std::string> pages = Pages();
  EXPECT_GT(pages.size(), 15u) << "the tree was not found";
  for (const std::string& path : pages) {
    EXPECT_THAT(BadLinks(path, ReadText(path)), IsEmpty()) << path;
  }
}

TEST(Links, ThatLeadNowhereAreSeen) {
  EXPECT_THAT(BadLinks("docs/a.md", "[b](no_such.md) [c](https://no.such)"),
              ElementsAre(HasSubstr("there is no docs/no_such.md")));
  EXPECT_THAT(BadLinks("docs/a.md", "[b](architecture.md#no-such-heading)"),
              ElementsAre(HasSubstr("no such heading")));
}

TEST(Links, ToHeadingsAreThoseOfTheirText) {
  EXPECT_EQ(AnchorOf("Errors by symptom"), "errors-by-symptom");
  EXPECT_EQ(AnchorOf("`A`, b-c: 2"), "a-b-c-2");
  EXPECT_THAT(AnchorsOf("# One\n```sh\n# two\n```\n## Three a\n"),
              ElementsAre("one", "three-a"));
  EXPECT_THAT(AnchorsOf("```sh\ngrep '```'\n# two\n```\n## Three a\n"),
              ElementsAre("three-a"));
}

TEST(Links, InCodeAreNone) {
  EXPECT_THAT(BadLinks("docs/a.md", "`a[0](no.md)`\n```cpp\n[](no.md)\n```\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tim::structure
