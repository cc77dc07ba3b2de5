// Writes and reads lines of measured numbers.
#include "runtime/stored_figures.h"

#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/str_cat.h"

namespace tim::runtime {
namespace {

constexpr double kMost = 1e12;

}  // namespace

std::string EncodeFigures(std::initializer_list<double> figures) {
  return StrCat(StrJoin(figures, " "), "\n");
}

bool DecodeFigures(std::string_view text,
                   std::initializer_list<double*> figures) {
  const char* next = text.data();
  const char* const end = next + text.size();
  size_t left = figures.size();
  for (double* const figure : figures) {
    const char separator = --left > 0 ? ' ' : '\n';
    const auto parsed = std::from_chars(next, end, *figure);
    if (parsed.ec != std::errc() || parsed.ptr == end ||
        *parsed.ptr != separator || !(*figure > 0) || *figure > kMost) {
      return false;
    }
    next = parsed.ptr + 1;
  }
  return next == end;
}

}  // namespace tim::runtime
