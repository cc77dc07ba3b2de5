// docs/troubleshooting.md tells messages, variables, functions and programs
// that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/structure/page_tables.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kPage[] = "docs/troubleshooting.md";

std::string PublicHeaders() {
  std::string headers;
  for (const std::string& path : FilesUnder("include", {".h"})) {
    headers += ReadText(path);
  }
  return headers;
}

// The words of "A=1 tools/b.sh c" that are no settings.
std::vector<std::string> WordsBehindSettings(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream stream(command);
  for (std::string word; stream >> word;) {
    const bool is_setting =
        words.empty() && word.find('=') != std::string::npos;
    if (!is_setting) words.push_back(word);
  }
  return words;
}

// What is wrong with what a page tells to call or to run.
std::vector<std::string> BadCommands(const std::string& page,
                                     const std::string& headers) {
  static const std::regex call(R"((\w+)\(\)$)");
  std::vector<std::string> bad;
  std::smatch match;
  for (const std::string& code : CodeInColumn(page, "command")) {
    const auto words = WordsBehindSettings(code);
    if (std::regex_search(code, match, call)) {
      const std::string name = match[1];
      if (!std::regex_search(headers, std::regex("\\b" + name + "\\("))) {
        bad.push_back(code + ": no public function");
      }
    } else if (words.empty()) {
      bad.push_back(code + ": no program");
    } else if (words[0].find('/') != std::string::npos && words[0] != "./app" &&
               !std::filesystem::exists(words[0])) {
      bad.push_back(code + ": no file");
    }
  }
  return bad;
}

// Variables that the page names and the library does not read.
std::vector<std::string> UnknownVariables(const std::string& page,
                                          const std::string& options) {
  static const std::regex variable(R"(\bTIMCL_[A-Z_]+)");
  std::vector<std::string> unknown;
  for (std::sregex_iterator it(page.begin(), page.end(), variable), end;
       it != end; ++it) {
    if (options.find("{\"" + it->str() + "\"") == std::string::npos) {
      unknown.push_back(it->str());
    }
  }
  return unknown;
}

TEST(Troubleshooting, TellsMessagesThatThereAre) {
  const std::string sources = MessagesOfSources();
  const auto parts = MessageParts(ReadText(kPage));
  EXPECT_GT(parts.size(), 20u);
  for (const std::string& part : parts) {
    EXPECT_NE(sources.find(part), std::string::npos) << "no message: " << part;
  }
}

TEST(Troubleshooting, TellsVariablesFunctionsAndProgramsThatThereAre) {
  const std::string page = ReadText(kPage);
  EXPECT_GE(CodeInColumn(page, "command").size(), 20u);
  EXPECT_THAT(BadCommands(page, PublicHeaders()), IsEmpty());
  EXPECT_THAT(UnknownVariables(page, ReadText("src/base/options.cc") +
                                         ReadText("src/graph_api/options.cc")),
              IsEmpty());
}

TEST(Troubleshooting, WhatIsNotThereIsSeen) {
  const std::string head = "| command |\n| --- |\n| ";
  for (const char* bad :
       {"`graph->Nothing()`", "`A=1 tools/nothing.sh`", "`A=1`"}) {
    EXPECT_THAT(BadCommands(head + bad + " |\n", "void Something();"),
                SizeIs(1))
        << bad;
  }
  EXPECT_THAT(BadCommands(head + "`x->Something()`, `A=1 ./app` |\n",
                          "void Something();"),
              IsEmpty());
  EXPECT_THAT(UnknownVariables("`TIMCL_A=1`, TIMCL_B", "{\"TIMCL_A\", 1}"),
              testing::ElementsAre("TIMCL_B"));
}

}  // namespace
}  // namespace tim::structure
