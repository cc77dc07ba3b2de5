// The tokens of OpenCL C text.
#ifndef TIM_KERNELS_TEXT_C_TOKENS_H_
#define TIM_KERNELS_TEXT_C_TOKENS_H_

#include <string_view>

namespace tim::kernels {

/// Whether it begins with a backslash that joins two lines.
bool StartsWithSplice(std::string_view text);

/// Whether a token is a word, no number.
bool IsWord(std::string_view token);

enum class Directives { kSkipped, kGiven };

/// Comments and string literals are skipped, and lines of the preprocessor
/// unless they are asked for.
class CTokens {
 public:
  /// `text` must outlive it.
  explicit CTokens(std::string_view text,
                   Directives directives = Directives::kSkipped)
      : rest_(text), directives_(directives) {}

  /// A word or number, a whole directive with the lines that are joined to it,
  /// or one other character; empty at the end.
  std::string_view Next();

 private:
  // What `rest_` starts with, taken off.
  std::string_view Take(size_t length);
  // Whether something was skipped.
  bool SkipSpace();
  bool SkipComment();
  bool SkipLiteral();
  // 0 where none starts here.
  size_t DirectiveLength() const;

  std::string_view rest_;
  const Directives directives_;
  bool line_start_ = true;  // Only space and comments before, in this line.
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_C_TOKENS_H_
