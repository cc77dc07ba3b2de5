// Macros of OpenCL C, and what texts become by them.
#ifndef TIM_KERNELS_TEXT_MACRO_TABLE_H_
#define TIM_KERNELS_TEXT_MACRO_TABLE_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tim::kernels {

/// Words, numbers and other characters; "##" is one.
using TextTokens = std::vector<std::string>;
TextTokens TokensOf(std::string_view text);

/// Macros with arguments and "##"; "#x" and variable arguments are no part of
/// it.
class MacroTable {
 public:
  /// "F(x) x + 1", what stands after "#define ".
  void Define(std::string_view definition);
  /// "-DNAME=value".
  void Define(std::string_view name, std::string_view value);
  void Undefine(std::string_view name);
  bool Has(std::string_view name) const { return macros_.contains(name); }

  /// A macro that expands to the name of one with arguments must have its own.
  TextTokens Expand(std::span<const std::string> tokens) const;

 private:
  struct Macro {
    bool has_parameters = false;
    TextTokens parameters = {};
    TextTokens body = {};
  };
  using Names = std::set<std::string_view>;

  void Expand(std::span<const std::string> tokens, Names& open,
              TextTokens* out) const;
  TextTokens Substitute(const Macro& macro,
                        const std::vector<TextTokens>& arguments,
                        Names& open) const;

  std::map<std::string, Macro, std::less<>> macros_;
};

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_MACRO_TABLE_H_
