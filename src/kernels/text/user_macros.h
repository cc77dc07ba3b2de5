// The macros of a user's program, as far as its text and options show them.
#ifndef TIM_KERNELS_TEXT_USER_MACROS_H_
#define TIM_KERNELS_TEXT_USER_MACROS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace tim::kernels {

class UserMacros {
 public:
  /// Every #define in `text`, also where the preprocessor would leave it out,
  /// and every -D in `options`.
  UserMacros(std::string_view text, std::string_view options);

  /// Whether `token` is one of `words`, or a macro that has one of them in its
  /// body, outside of parentheses, by itself or through other macros.
  bool Means(std::string_view token,
             std::span<const std::string_view> words) const;

 private:
  void Define(std::string_view name, std::string_view body);

  /// Outside of parentheses, of all definitions of a name.
  std::map<std::string, std::set<std::string>, std::less<>> words_;
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_USER_MACROS_H_
