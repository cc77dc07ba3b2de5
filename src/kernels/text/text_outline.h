// What of a kernel text decides which parameters its kernels have.
#ifndef TIM_KERNELS_TEXT_TEXT_OUTLINE_H_
#define TIM_KERNELS_TEXT_TEXT_OUTLINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::kernels {

/// Directives, typedefs and the heads of kernels, in their order.
struct TextOutline {
  enum class Kind {
    kHead,     ///< "__kernel void f ( int n ) { }", or a part of it.
    kTypedef,  ///< "typedef float real ;", or a part of it.
    kDefine,
    kUndef,
    kCondition,  ///< From #if to #endif.
    kOther,      ///< #line, #pragma, ...
  };
  struct Item {
    Kind kind = Kind::kOther;
    /// A directive has one line, no comments and single spaces.
    std::string text;
    std::string name = {};  ///< Of what is defined.
    int group = -1;  ///< In `groups`, of the innermost #if around it; -1: none.
  };
  /// Lines from an #if to its #endif.
  struct Group {
    int parent = -1;
    std::vector<int> conditions = {};  ///< Items.
  };
  std::vector<Item> items;
  std::vector<Group> groups;
};

/// Fails where an #if has no #endif or the like.
Result<TextOutline> OutlineOf(std::string_view text);

/// The least of the text that has its kernels with the same parameters,
/// whatever macros are defined before: their heads with empty bodies, and what
/// the heads are made of.  To be read by Preprocess().
std::string SignaturesOf(const TextOutline& outline);

/// Macros that the text reads and leaves to its program, sorted: conditions
/// name them, or it gives them a value where they have none.  Those of
/// compilers are none.
std::vector<std::string> OptionsOf(const TextOutline& outline);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_TEXT_OUTLINE_H_
