// What there is to know of a kernel text without its options.
#ifndef TIM_KERNELS_TEXT_TEXT_FACTS_H_
#define TIM_KERNELS_TEXT_TEXT_FACTS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tim::kernels {

/// Where the head of a kernel stands in its text.
struct KernelPlace {
  int begin = 0;       ///< "__kernel void f("; a function is "static void f(".
  int name = 0;        ///< "f("
  int parameters = 0;  ///< Behind the parenthesis.
};

/// A text as part of a chain.  A header whose guard starts with TIM_ONCE_ is
/// the same whatever the options, those of a chain at least, so that a program
/// has it once, by its guard.  All other text is repeated for each set of
/// options, under names of its own.
struct KernelFacts {
  std::span<const KernelPlace> kernels = {};
  /// Functions and types that are defined outside of such headers, each once,
  /// with spaces between them.
  std::string_view names = {};
  std::string_view macros = {};  ///< Of the same text, in the same form.
  bool contracts = true;         ///< No FP_CONTRACT OFF stands in it.
  /// Why it is part of no chain, empty where it may be: barriers, local memory,
  /// what is of a work-group, names that only the preprocessor knows.
  std::string_view refusal = {};
};

/// Facts with the strings that they refer to.
struct TextFacts {
  std::vector<KernelPlace> kernels = {};
  std::string names = {};
  std::string macros = {};
  bool contracts = true;
  std::string refusal = {};

  /// Valid as long as this stays as it is.
  KernelFacts view() const {
    return {kernels, names, macros, contracts, refusal};
  }
};

/// Pure.  The text may be anyone's: #line directives say which of it is of
/// which header.
TextFacts FactsOf(std::string_view text);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_TEXT_FACTS_H_
