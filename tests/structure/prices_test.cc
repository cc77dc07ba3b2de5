// What kernels are expected to reach of a device's peaks stands in one table,
// ops/launch/prices.h, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kTable[] = "ops/launch/prices.h";
constexpr char kEstimates[] = "ops/launch/prices.cc";

std::vector<std::string> RowsOf(const std::string& text) {
  static const std::regex row(R"(\bconstexpr Price (k\w+) =)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end;
       ++at) {
    names.push_back((*at)[1]);
  }
  return names;
}

// The arguments of a call whose parenthesis opens before `begin`.
std::string ArgumentsFrom(const std::string& text, std::size_t begin) {
  int open = 1;
  std::size_t end = begin;
  for (; end < text.size() && open > 0; ++end) {
    if (text[end] == '(') ++open;
    if (text[end] == ')') --open;
  }
  return text.substr(begin, end - begin - (open == 0 ? 1 : 0));
}

// Estimates that are made from anything but rows of the table.
std::vector<std::string> Violations(const std::string& text) {
  static const std::regex call(
      R"(\b(ir::)?(EstimateMicroseconds|ElementwiseCost|CostAt)\()");
  static const std::regex number(R"(\d\.\d)");
  std::vector<std::string> violations;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end;
       ++at) {
    const auto behind = static_cast<std::size_t>(at->position() + at->length());
    const std::string arguments = ArgumentsFrom(text, behind);
    if ((*at)[1].matched || std::regex_search(arguments, number)) {
      violations.push_back(at->str() + arguments + ")");
    }
  }
  return violations;
}

TEST(Prices, RowsAreInOrder) {
  const std::vector<std::string> rows = RowsOf(ReadText(kTable));
  EXPECT_GT(rows.size(), 50u);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
}

TEST(Prices, KernelsTakeThemFromTheTable) {
  std::vector<std::string> unused = RowsOf(ReadText(kTable));
  for (const std::string& path : FilesUnder("ops", {".h", ".cc"})) {
    const std::string text = ReadText(path);
    if (path != kEstimates) {
      EXPECT_THAT(Violations(text), IsEmpty()) << path;
    }
    std::erase_if(unused, [&](const std::string& row) {
      return std::regex_search(text, std::regex("prices::" + row + "\\b"));
    });
  }
  EXPECT_THAT(unused, IsEmpty()) << "rows that no kernel has";
}

TEST(Prices, PlantedViolationsAreSeen) {
  EXPECT_THAT(Violations("f(); ElementwiseCost(g(node), device, 0.1) / 2;"),
              ElementsAre("ElementwiseCost(g(node), device, 0.1)"));
  EXPECT_THAT(
      Violations("ir::EstimateMicroseconds(estimate, device, kShare)"),
      ElementsAre("ir::EstimateMicroseconds(estimate, device, kShare)"));
  EXPECT_THAT(Violations("EstimateMicroseconds({.flops = 0}, device, "
                         "prices::kA) + 0.5 * us; CostAt(prices::kB);"),
              IsEmpty());
  EXPECT_THAT(RowsOf("inline constexpr Price kB = {{0.1}};\n"
                     "// kC\ninline constexpr Price kA = {{1}};\n"),
              ElementsAre("kB", "kA"));
}

}  // namespace
}  // namespace tim::structure
