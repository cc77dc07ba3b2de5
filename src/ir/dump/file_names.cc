// Replaces what a file's name cannot have or a shell would take for its own.
#include "ir/dump/file_names.h"

#include "base/ascii.h"
#include "base/str_cat.h"
#include "base/utf8.h"

namespace tim::ir {
namespace {

constexpr size_t kMostBytes = 100;

bool IsContinuation(char c) { return (c & 0xC0) == 0x80; }

}  // namespace

std::string FileNameOf(std::string_view name) {
  std::string out;
  for (const char c : ValidUtf8(name)) {
    const bool stays = IsNameCharacter(c) || c == '-' || c == '.' ||
                       static_cast<unsigned char>(c) >= 0x80;
    out += stays ? c : '_';
  }
  if (out.empty() || out[0] == '.') out.insert(0, 1, '_');
  size_t end = out.size();
  if (end > kMostBytes) {
    end = kMostBytes;
    while (IsContinuation(out[end])) --end;
  }
  out.resize(end);
  return out;
}

std::string FileNames::Unique(const std::string& stem,
                              const std::string& extension) {
  std::string name = stem + extension;
  for (int i = 2; !given_.insert(name).second; ++i) {
    name = StrCat(stem, "_", i, extension);
  }
  return name;
}

}  // namespace tim::ir
