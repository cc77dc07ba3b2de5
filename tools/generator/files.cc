// Files, and texts as literals of C++.
#include "tools/generator/files.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>

namespace tim::generator {
namespace {

// Longest raw string literal written; compilers differ in what they accept.
constexpr std::size_t kLiteralBytes = 12000;

std::string Delimiter(const std::string& text) {
  std::string delimiter = "CL";
  while (text.find(")" + delimiter + "\"") != std::string::npos)
    delimiter += "_";
  return delimiter;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path + ": cannot be opened");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Error(path + ": cannot be read");
  return text;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path + ": cannot be written");
}

std::string RawLiterals(const std::string& text) {
  const std::string delimiter = Delimiter(text);
  std::string out;
  std::size_t begin = 0;
  do {
    std::size_t end = std::min(begin + kLiteralBytes, text.size());
    if (end < text.size()) {
      const std::size_t newline = text.rfind('\n', end - 1);
      if (newline != std::string::npos && newline >= begin) end = newline + 1;
    }
    out += "     R\"" + delimiter + "(" + text.substr(begin, end - begin) +
           ")" + delimiter + "\"\n";
    begin = end;
  } while (begin < text.size());
  return out;
}

}  // namespace tim::generator
