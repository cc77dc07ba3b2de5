// What linear functions of a map's loops may be inside of its bounds.
#ifndef TIM_IR_ELEMENT_MAP_RANGE_H_
#define TIM_IR_ELEMENT_MAP_RANGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/element_map/element_map.h"

namespace tim::ir {

/// The factor by which `rest` has the strides of a bound, of all of its loops,
/// which are then 0 in `rest`.  Nothing where there is none but 0.
std::optional<int64_t> TakeFactor(const std::vector<int64_t>& strides,
                                  std::vector<int64_t>* rest);

/// Whether start + sum of i_k * steps[k] is in [0, limit) wherever the bounds
/// of `map` hold.  False also where it does not fit 64 bits or takes more than
/// to look at bounds one by one.
bool IsInRange(int64_t start, const std::vector<int64_t>& steps,
               const ElementMap& map, int64_t limit);

}  // namespace tim::ir

#endif  // TIM_IR_ELEMENT_MAP_RANGE_H_
