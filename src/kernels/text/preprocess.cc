// Follows #if, #define and #undef line by line.
#include "kernels/text/preprocess.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace tim::kernels {
namespace {

class Preprocessor {
 public:
  explicit Preprocessor(MacroTable macros) : macros_(std::move(macros)) {}

  Result<std::string> Run(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.starts_with('#')) {
        if (Active()) AddText(line);
        continue;
      }
      line.remove_prefix(1);
      const std::string_view word = TakeWord(&line);
      if (line.starts_with(' ')) line.remove_prefix(1);
      TIM_RETURN_IF_ERROR(
          Follow(word, line).WithContext(StrCat("#", word, " ", line)));
    }
    return std::move(out_);
  }

 private:
  // State of an #if: whether the lines count, and whether some branch did, or
  // none can as those around it do not.
  struct Branch {
    bool active = false;
    bool taken = false;
  };

  bool Active() const {
    return std::all_of(branches_.begin(), branches_.end(),
                       [](const Branch& b) { return b.active; });
  }

  void AddText(std::string_view line) {
    for (const std::string& token : macros_.Expand(TokensOf(line))) {
      out_ += token;
      out_ += ' ';
    }
  }

  Status Follow(std::string_view word, std::string_view rest) {
    if (word.starts_with("if")) {
      bool holds = false;
      if (Active()) {
        TIM_ASSIGN_OR_RETURN(holds, Holds(word, rest));
      }
      branches_.push_back({holds, holds || !Active()});
      return OkStatus();
    }
    if (word == "elif" || word == "else" || word == "endif") {
      if (branches_.empty()) return Unimplemented("stands without an #if");
      return EndBranch(word, rest);
    }
    if (!Active()) return OkStatus();
    if (word == "define") macros_.Define(rest);
    if (word == "undef") macros_.Undefine(rest);
    return OkStatus();
  }

  Status EndBranch(std::string_view word, std::string_view rest) {
    Branch& branch = branches_.back();
    branch.active = false;
    if (word == "endif") {
      branches_.pop_back();
    } else if (!branch.taken) {
      branch.active = true;
      if (word == "elif") {
        TIM_ASSIGN_OR_RETURN(branch.active, Holds("if", rest));
      }
      branch.taken = branch.active;
    }
    return OkStatus();
  }

  Result<bool> Holds(std::string_view word, std::string_view rest) const {
    if (word == "ifdef") return macros_.Has(rest);
    if (word == "ifndef") return !macros_.Has(rest);
    return EvaluateCondition(rest, macros_);
  }

  MacroTable macros_;
  std::vector<Branch> branches_;
  std::string out_;
};

}  // namespace

Result<std::string> Preprocess(std::string_view text, MacroTable macros) {
  return Preprocessor(std::move(macros)).Run(text);
}

}  // namespace tim::kernels
