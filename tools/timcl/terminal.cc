// Text, tables, JSON and progress on the terminal.
#include "tools/timcl/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace tim::tool {
namespace {

bool OnTerminal() {
  static const bool on_terminal = isatty(STDERR_FILENO) == 1;
  return on_terminal;
}

// Columns on a terminal: a character of UTF-8 has one first byte.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

void Print(const std::string& text) {
  ClearProgress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void PrintJson(const Json& json) {
  Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<ExitCode> WithStdout(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return FailedPrecondition("the output cannot be written to stdout");
}

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] + 2 - Width(row[i]), ' ');
    }
    text += '\n';
  }
  return text;
}

std::string Csv(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::string> fields;
    for (const std::string& field : row) fields.push_back(CsvField(field));
    text += StrJoin(fields, ",") + "\n";
  }
  return text;
}

std::string Fixed(double number, int digits) {
  char text[400];  // 1e308 has 309 digits
  const auto end = std::to_chars(text, text + sizeof(text), number,
                                 std::chars_format::fixed, digits);
  return std::string(text, end.ptr);
}

std::string Scientific(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number,
                                 std::chars_format::scientific, 1);
  return std::string(text, end.ptr);
}

std::string Milliseconds(double ms) {
  if (ms >= 1000) return Fixed(ms / 1000, 2) + " s";
  return Fixed(ms, ms < 1 ? 3 : 2) + " ms";
}

std::string Bytes(int64_t bytes) {
  if (bytes < 1024) return StrCat(bytes, " bytes");
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1024) return Fixed(kib, 1) + " KiB";
  if (kib < 1024 * 1024) return Fixed(kib / 1024, 1) + " MiB";
  return Fixed(kib / (1024 * 1024), 1) + " GiB";
}

void ShowProgress(const std::string& text) {
  if (!OnTerminal()) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

void ClearProgress() {
  if (!OnTerminal()) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace tim::tool
