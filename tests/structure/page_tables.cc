// What the tables of Markdown pages tell, and the messages that they quote.
#include "tests/structure/page_tables.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

// What stands for names and numbers in a message.
constexpr char kGap[] = "…";

// The cells of "| a | b |", without the spaces around them.
std::vector<std::string> Cells(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream stream(row.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(
        first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

std::vector<std::string> CodeIn(const std::string& cell) {
  std::vector<std::string> code;
  for (size_t open = cell.find('`'); open != std::string::npos;) {
    const size_t close = cell.find('`', open + 1);
    if (close == std::string::npos) break;
    code.push_back(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return code;
}

}  // namespace

std::vector<std::string> CodeInColumn(const std::string& markdown,
                                      const std::string& column) {
  std::vector<std::string> found;
  std::istringstream lines(markdown);
  std::vector<std::string> heads;  // of the table that a line is in
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') {
      heads.clear();
      continue;
    }
    const std::vector<std::string> cells = Cells(line);
    if (heads.empty()) {
      heads = cells;
      continue;
    }
    for (size_t i = 0; i < std::min(cells.size(), heads.size()); ++i) {
      if (heads[i] != column) continue;
      for (std::string& code : CodeIn(cells[i])) {
        found.push_back(std::move(code));
      }
    }
  }
  return found;
}

std::vector<std::string> MessageParts(const std::string& markdown) {
  std::vector<std::string> parts;
  for (std::string rest : CodeInColumn(markdown, "message")) {
    for (size_t gap = 0; gap != std::string::npos;) {
      gap = rest.find(kGap);
      const std::string part = rest.substr(0, gap);
      if (!part.empty()) parts.push_back(part);
      if (gap != std::string::npos) rest.erase(0, gap + sizeof(kGap) - 1);
    }
  }
  return parts;
}

std::string JoinedLiterals(const std::string& source) {
  static const std::regex between("\"[\\s,]*\"");
  return std::regex_replace(source, between, "");
}

std::string MessagesOfSources() {
  std::string sources;
  for (const char* folder : {"src", "ops", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".cc"})) {
      sources += JoinedLiterals(ReadText(path));
    }
  }
  return sources;
}

}  // namespace tim::structure
