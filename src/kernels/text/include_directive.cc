#include "kernels/text/include_directive.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace tim::kernels {
namespace {

constexpr std::string_view kDirectives[] = {"include", "include_next", "import",
                                            "embed", "__include_macros"};
constexpr std::string_view kOperators[] = {"__has_include", "__has_embed"};
constexpr std::string_view kOptions[] = {"-include", "-imacros"};

// `text` starts with a backslash that joins two lines, or its trigraph: the
// characters up to the next line, else 0.  Clang allows space before the end.
size_t SpliceLength(std::string_view text) {
  size_t end = text.starts_with('\\') ? 1 : text.starts_with("?\?/") ? 3 : 0;
  if (end == 0) return 0;
  end = std::min(text.find_first_not_of(" \t\v\f\r", end), text.size());
  return end < text.size() && text[end] == '\n' ? end + 1 : 0;
}

// Lines joined.
std::string Joined(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const size_t splice = SpliceLength(text);
    if (splice == 0) joined += text[0];
    text.remove_prefix(std::max<size_t>(splice, 1));
  }
  return joined;
}

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What stands after space and comments.
std::string_view SkipSpace(std::string_view text) {
  while (true) {
    text.remove_prefix(
        std::min(text.find_first_not_of(" \t\v\f\r"), text.size()));
    if (!text.starts_with("/*")) return text;
    const size_t end = text.find("*/", 2);
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 2);
  }
}

// Of the text after a number sign.
bool NamesDirective(std::string_view text) {
  text = SkipSpace(text);
  const auto* const end =
      std::find_if_not(text.begin(), text.end(), IsNameCharacter);
  const std::string_view word = text.substr(0, end - text.begin());
  return std::find(std::begin(kDirectives), std::end(kDirectives), word) !=
         std::end(kDirectives);
}

}  // namespace

bool IncludesFiles(std::string_view text, std::string_view options) {
  for (const std::string_view option : kOptions) {
    if (Holds(options, option)) return true;
  }
  const std::string joined = Joined(text);
  for (const std::string_view name : kOperators) {
    if (Holds(joined, name)) return true;
  }
  // A digraph and a trigraph are number signs, too.
  for (const std::string_view sign : {"#", "%:", "?\?="}) {
    for (size_t at = joined.find(sign); at != std::string::npos;
         at = joined.find(sign, at + 1)) {
      const std::string_view rest = std::string_view(joined).substr(at);
      if (NamesDirective(rest.substr(sign.size()))) return true;
    }
  }
  return false;
}

}  // namespace tim::kernels
