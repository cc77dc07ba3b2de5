// The tokens of OpenCL C text.
#ifndef TIM_DEVICE_OPENCL_C_TOKENS_H_
#define TIM_DEVICE_OPENCL_C_TOKENS_H_

#include <string_view>

namespace tim::device {

/// Comments, lines of the preprocessor and string literals are skipped.
class CTokens {
 public:
  /// `text` must outlive it.
  explicit CTokens(std::string_view text) : rest_(text) {}

  /// A word or number, or one other character; empty at the end.
  std::string_view Next();

 private:
  // Whether something was skipped.
  bool SkipSpace();
  bool SkipComment();
  bool SkipLiteral();
  bool SkipDirective();

  std::string_view rest_;
  bool line_start_ = true;  // Only space and comments before, in this line.
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_C_TOKENS_H_
