// Reads a kernel text for its directives, typedefs and heads of kernels, and
// keeps what the heads need.
#include "kernels/text/text_outline.h"

#include <set>

#include "base/ascii.h"
#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

using Kind = TextOutline::Kind;

// A directive in one line, without comments, with single spaces.
std::string Normalized(std::string_view directive) {
  std::string line;
  while (!directive.empty() && !directive.starts_with("//")) {
    size_t length = 1;
    char next = directive[0];
    if (StartsWithSplice(directive)) {
      length = directive.find('\n') + 1;
      next = ' ';
    } else if (directive.starts_with("/*")) {
      length = std::min(directive.find("*/", 2), directive.size() - 2) + 2;
      next = ' ';
    } else if (IsAsciiSpace(next)) {
      next = ' ';
    }
    directive.remove_prefix(length);
    if (next != ' ' || (!line.empty() && line.back() != ' ' && line != "#")) {
      line += next;
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

std::vector<std::string_view> NamesIn(std::string_view text) {
  std::vector<std::string_view> names;
  CTokens tokens(text.starts_with('#') ? text.substr(1) : text);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (IsWord(token)) names.push_back(token);
  }
  return names;
}

class OutlineReader {
 public:
  explicit OutlineReader(std::string_view text)
      : tokens_(text, Directives::kGiven) {}

  Result<TextOutline> Run() {
    for (std::string_view token = tokens_.Next(); !token.empty();
         token = tokens_.Next()) {
      if (token.starts_with('#')) {
        TIM_RETURN_IF_ERROR(ReadDirective(token));
      } else if (token == "__kernel") {
        TIM_RETURN_IF_ERROR(ReadHead());
      } else if (token == "typedef") {
        TIM_RETURN_IF_ERROR(ReadTypedef());
      }
    }
    if (group_ >= 0) return Unimplemented("an #if without an #endif");
    return std::move(outline_);
  }

 private:
  void Add(Kind kind, std::string text, std::string name = {}) {
    outline_.items.push_back({kind, std::move(text), std::move(name), group_});
  }

  Status ReadDirective(std::string_view token) {
    std::string line = Normalized(token);
    CTokens words(std::string_view(line).substr(1));
    const std::string_view word = words.Next();
    if (word.starts_with("if")) {
      outline_.groups.push_back({.parent = group_});
      group_ = static_cast<int>(outline_.groups.size()) - 1;
    }
    const bool ends = word == "endif";
    if (word.starts_with("if") || word == "elif" || word == "else" || ends) {
      if (group_ < 0) return Unimplemented("'", line, "' without an #if");
      const int item = static_cast<int>(outline_.items.size());
      outline_.groups[group_].conditions.push_back(item);
      Add(Kind::kCondition, std::move(line));
      if (ends) group_ = outline_.groups[group_].parent;
      return OkStatus();
    }
    const Kind kind = word == "define"  ? Kind::kDefine
                      : word == "undef" ? Kind::kUndef
                                        : Kind::kOther;
    std::string name(words.Next());
    Add(kind, std::move(line), std::move(name));
    return OkStatus();
  }

  // The tokens after "__kernel", up to the end of the parameters.
  Status ReadHead() {
    std::string text = "__kernel";
    int depth = 0;
    bool in_attribute = false;
    std::string_view previous;
    for (std::string_view token = tokens_.Next(); !token.empty();
         previous = token, token = tokens_.Next()) {
      if (token.starts_with('#')) {
        Add(Kind::kHead, std::move(text));
        text.clear();
        TIM_RETURN_IF_ERROR(ReadDirective(token));
        continue;
      }
      if (token == "(" && depth++ == 0) in_attribute = previous == kAttribute;
      text += StrCat(text.empty() ? "" : " ", token);
      if (token != ")" || --depth > 0 || in_attribute) continue;
      Add(Kind::kHead, text + " { }");
      return OkStatus();
    }
    return Unimplemented("a kernel without an end");
  }

  // The tokens after "typedef"; a struct may have fields under conditions.
  Status ReadTypedef() {
    std::vector<size_t> parts;  // items
    std::string text = "typedef";
    const auto add = [&] {
      parts.push_back(outline_.items.size());
      Add(Kind::kTypedef, std::move(text));
      text.clear();
    };
    std::string name;
    int depth = 0;
    std::string_view previous;
    for (std::string_view token = tokens_.Next(); !token.empty();
         previous = token, token = tokens_.Next()) {
      if (token.starts_with('#')) {
        add();
        TIM_RETURN_IF_ERROR(ReadDirective(token));
        continue;
      }
      text += StrCat(text.empty() ? "" : " ", token);
      if (token == ";" && depth == 0) {
        add();
        for (const size_t part : parts) outline_.items[part].name = name;
        return OkStatus();
      }
      depth += (token == "{" || token == "(") - (token == "}" || token == ")");
      if (depth == 0 && IsWord(token) && token != kAttribute) name = token;
    }
    return Unimplemented("a typedef without an end");
  }

  static constexpr std::string_view kAttribute = "__attribute__";

  CTokens tokens_;
  TextOutline outline_;
  int group_ = -1;
};

// The items that heads need: those that define a name in what is kept, and the
// conditions around them.
class Keeper {
 public:
  explicit Keeper(const TextOutline& outline)
      : outline_(outline),
        kept_(outline.items.size()),
        groups_(outline.groups.size()) {}

  std::string Run() {
    while (KeepMore()) {
    }
    std::string text;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i]) text += outline_.items[i].text + "\n";
    }
    return text;
  }

 private:
  bool KeepMore() {
    bool more = false;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i] || !IsNeeded(outline_.items[i])) continue;
      Keep(i);
      for (int g = outline_.items[i].group; g >= 0 && !groups_[g];
           g = outline_.groups[g].parent) {
        groups_[g] = true;
        for (const int item : outline_.groups[g].conditions) Keep(item);
      }
      more = true;
    }
    return more;
  }

  // What ends with an underscore is pasted before the rest of a name.
  bool IsNeeded(const TextOutline::Item& item) const {
    if (item.kind == Kind::kHead) return true;
    if (item.kind == Kind::kCondition || item.kind == Kind::kOther) {
      return false;
    }
    if (names_.contains(item.name)) return true;
    for (const std::string_view prefix : prefixes_) {
      if (item.name.starts_with(prefix)) return true;
    }
    return false;
  }

  void Keep(size_t item) {
    kept_[item] = true;
    for (const std::string_view name : NamesIn(outline_.items[item].text)) {
      names_.insert(name);
      if (name.ends_with('_')) prefixes_.insert(name);
    }
  }

  const TextOutline& outline_;
  std::vector<bool> kept_;
  std::vector<bool> groups_;
  std::set<std::string_view> names_;
  std::set<std::string_view> prefixes_;
};

// Names that compilers define.
bool IsOfCompilers(std::string_view name) {
  for (const std::string_view prefix : {"__", "cl_", "POCL_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

Result<TextOutline> OutlineOf(std::string_view text) {
  return OutlineReader(text).Run();
}

std::string SignaturesOf(const TextOutline& outline) {
  return Keeper(outline).Run();
}

std::vector<std::string> OptionsOf(const TextOutline& outline) {
  // Groups that begin with the #ifndef of a name to which they give a value;
  // without a value it is the guard of a header.
  std::set<int> defaults;
  std::set<std::string_view> own;
  for (const TextOutline::Item& item : outline.items) {
    if (item.kind != Kind::kDefine || item.group < 0) continue;
    const int first = outline.groups[item.group].conditions.front();
    if (outline.items[first].text == "#ifndef " + item.name &&
        item.text != "#define " + item.name) {
      defaults.insert(item.group);
    }
  }
  std::set<std::string, std::less<>> options;
  for (const TextOutline::Item& item : outline.items) {
    if (item.kind != Kind::kDefine) continue;
    if (defaults.contains(item.group)) {
      options.insert(item.name);
    } else {
      own.insert(item.name);
    }
  }
  for (const TextOutline::Item& item : outline.items) {
    if (item.kind != Kind::kCondition) continue;
    const std::vector<std::string_view> names = NamesIn(item.text);
    for (size_t i = 1; i < names.size(); ++i) {
      if (names[i] != "defined" && !own.contains(names[i])) {
        options.emplace(names[i]);
      }
    }
  }
  std::erase_if(options, [](const std::string& o) { return IsOfCompilers(o); });
  return {options.begin(), options.end()};
}

}  // namespace tim::kernels
