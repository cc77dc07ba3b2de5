// The names that a user's program gives to builtin types.
#ifndef TIM_KERNELS_TEXT_TYPEDEF_NAMES_H_
#define TIM_KERNELS_TEXT_TYPEDEF_NAMES_H_

#include <map>
#include <string>
#include <string_view>

namespace tim::kernels {

/// Reads every "typedef <type> NAME;" in the program, also where the
/// preprocessor would leave it out; macros are not expanded.
class TypedefNames {
 public:
  explicit TypedefNames(std::string_view program);

  /// The builtin type (c_type.h, vectors included) that `name` stands for
  /// wherever it is declared.  Other names stay as they are: builtin types,
  /// structs, and a name that is declared as different types.
  std::string Resolve(std::string_view name) const;

 private:
  void Declare(const std::string& name, const std::string& type);

  /// "" for what is no builtin type, or not always the same one.
  std::map<std::string, std::string, std::less<>> types_;
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_TYPEDEF_NAMES_H_
