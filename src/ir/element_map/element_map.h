// Which element of one tensor each element of another one is.
#ifndef TIM_IR_ELEMENT_MAP_ELEMENT_MAP_H_
#define TIM_IR_ELEMENT_MAP_ELEMENT_MAP_H_

#include <cstdint>
#include <vector>

namespace tim::ir {

/// Both tensors are seen as rows of elements in the order of a dense layout.
/// The index of an element of the result has a digit i_k for every loop, the
/// fastest first: i = i_0 + extents[0] * (i_1 + extents[1] * (i_2 + ...)).  It
/// is
///   input[start + sum of i_k * strides[k]],
/// or the real value 0 where it is outside of a bound.
struct ElementMap {
  /// Inside: start + sum of i_k * strides[k] is in [0, limit).
  struct Bound {
    int64_t start = 0;
    int64_t limit = 0;
    std::vector<int64_t> strides;
    bool operator==(const Bound&) const = default;
  };
  int64_t start = 0;
  std::vector<int64_t> extents;  ///< Their product counts the results.
  std::vector<int64_t> strides;  ///< As many.
  std::vector<Bound> bounds;
  bool operator==(const ElementMap&) const = default;
};

}  // namespace tim::ir

#endif  // TIM_IR_ELEMENT_MAP_ELEMENT_MAP_H_
