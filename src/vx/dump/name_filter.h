// Which tensors a user asks for.
#ifndef TIM_VX_DUMP_NAME_FILTER_H_
#define TIM_VX_DUMP_NAME_FILTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/plan.h"

namespace tim::vx {

/// Names with "," between, without the white space around them; "*" stands for
/// any characters.  Each is compared with a tensor's name as messages have it
/// ("t3 'mask'"), with its parts "t3" and "mask", and with the same three of
/// the operation that makes it ("Conv2d#5 'stem'").
class NameFilter {
 public:
  NameFilter() = default;
  explicit NameFilter(std::string_view names);

  /// Nothing was asked for, and everything is meant.
  bool empty() const { return patterns_.empty(); }
  bool Matches(std::string_view name) const;
  /// Whether it matches any tensor or step of the plan.
  bool MatchesAnyOf(const ir::Plan& plan) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace tim::vx

#endif  // TIM_VX_DUMP_NAME_FILTER_H_
