// Reads the list of TIMCL_PLUGINS.
#include "plugin/named_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tim::plugin {
namespace {

// Pieces of a text, empty ones too.
std::vector<std::string> Divide(const std::string& text, char at) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

// Where the path of an entry ends: behind the first that exists, else at the
// first "?"; npos: at its end.
size_t EndOfPath(const std::string& text) {
  std::error_code error;
  const size_t first = text.find('?');
  for (size_t mark = first; mark != std::string::npos;
       mark = text.find('?', mark + 1)) {
    if (std::filesystem::exists(text.substr(0, mark), error)) return mark;
  }
  return std::filesystem::exists(text, error) ? std::string::npos : first;
}

NamedFile EntryOf(const std::string& text) {
  const size_t mark = EndOfPath(text);
  NamedFile entry{.path = text.substr(0, mark)};
  if (mark == std::string::npos) return entry;
  for (const std::string& option : Divide(text.substr(mark + 1), '&')) {
    const size_t equals = option.find('=');
    if (entry.path.empty() || equals == 0 || equals == std::string::npos) {
      return {
          .path = text,
          .status = InvalidArgument("entry '", text,
                                    "' is not understood; expected path, or "
                                    "path?key=value&key=value")};
    }
    entry.options.emplace_back(option.substr(0, equals),
                               option.substr(equals + 1));
  }
  return entry;
}

}  // namespace

std::vector<NamedFile> NamedFiles(const std::string& list) {
  namespace fs = std::filesystem;
  std::vector<NamedFile> files;
  for (const std::string& text : Divide(list, ':')) {
    if (text.empty()) continue;
    const NamedFile entry = EntryOf(text);
    std::error_code error;
    if (!fs::is_directory(entry.path, error)) {
      files.push_back(entry);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& file : fs::directory_iterator(entry.path, error)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with("libtimcl_") && name.ends_with(".so")) {
        found.push_back(file.path().string());
      }
    }
    if (error) {
      files.push_back(
          {.path = entry.path,
           .status = FailedPrecondition("folder ", entry.path,
                                        " cannot be read: ", error.message())});
    }
    std::sort(found.begin(), found.end());
    for (std::string& path : found) {
      files.push_back({.path = std::move(path), .options = entry.options});
    }
  }
  return files;
}

}  // namespace tim::plugin
