// Compilers of OpenCL C cut options at spaces; PoCL takes no quoting.
#include "device/opencl/program/option_words.h"

#include "base/ascii.h"
#include "base/str_cat.h"

namespace tim::device {
namespace {

// Options that end before their value.
constexpr std::string_view kTakeAWord[] = {
    "-I", "-D", "-U", "-include", "-imacros", "-isystem", "-x"};

bool TakesAWord(std::string_view word) {
  for (const std::string_view option : kTakeAWord) {
    if (word == option) return true;
  }
  return false;
}

// An option with all that stands before the next one, taken off `options`.
struct OptionText {
  std::string_view text;
  int words = 0;
};

OptionText TakeOption(std::string_view* options) {
  const std::string_view first = TakeWord(options);
  OptionText option = {first, first.empty() ? 0 : 1};
  while (!options->empty()) {
    std::string_view rest = *options;
    const std::string_view word = TakeWord(&rest);
    if (word.empty() || word.starts_with('-')) break;
    option.text = {first.data(),
                   static_cast<size_t>(word.end() - first.data())};
    ++option.words;
    *options = rest;
  }
  return option;
}

bool HasSpaces(const OptionText& option) {
  std::string_view rest = option.text;
  const int words = TakesAWord(TakeWord(&rest)) ? 2 : 1;
  const bool quoted =
      option.text.find_first_of("\"'") != std::string_view::npos;
  const bool is_path =
      option.text.starts_with("-I") || option.text.starts_with("-i");
  return option.words > words || (is_path && quoted);
}

}  // namespace

std::string HintOnSpaces(std::string_view options) {
  for (OptionText option = TakeOption(&options); option.words > 0;
       option = TakeOption(&options)) {
    if (!HasSpaces(option)) continue;
    return StrCat(
        "the option ", option.text,
        " has spaces or quotes: compilers of OpenCL C cut options at spaces, "
        "and PoCL takes no quoting; ",
        option.text.starts_with("-D")
            ? "write it as #define in the source"
            : "write #include \"...\" with the whole path in the source, where "
              "it may have spaces, or name a symbolic link without any");
  }
  return "";
}

}  // namespace tim::device
