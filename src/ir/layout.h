// How the elements of a tensor lie in memory.
#ifndef TIM_IR_LAYOUT_H_
#define TIM_IR_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tim::ir {

enum class LayoutKind : uint8_t {
  kAny,      ///< Not chosen yet.
  kDense,    ///< Element 0 first, dim 0 fastest, no padding.
  kBlocked,  ///< See Layout::Blocked.
  kStrided,  ///< See Layout::Strided.
};

struct Layout {
  LayoutKind kind = LayoutKind::kDense;
  int axis = -1;                      ///< kBlocked
  int64_t block = 0;                  ///< kBlocked
  std::vector<int64_t> strides = {};  ///< kStrided

  static Layout Any() { return {.kind = LayoutKind::kAny}; }
  static Layout Dense() { return {}; }
  /// `block` consecutive elements of `axis` become the fastest dimension, the
  /// rest of the axis stays in place: [W, H, C, N] blocked on axis 2 by 16 is
  /// [16, W, H, ceil(C / 16), N] (NCHW16c).  Lanes beyond the extent hold the
  /// real value 0 (the zero point).
  static Layout Blocked(int axis, int64_t block) {
    return {.kind = LayoutKind::kBlocked, .axis = axis, .block = block};
  }

  /// Layout of memory outside of a graph, as its inputs and outputs have it:
  /// index (i0, i1, ...) is element i0 * strides[0] + i1 * strides[1] + ...
  /// Rows may be padded, axes exchanged; what lies between the elements is
  /// somebody else's.  A stride of 0 repeats an element, in inputs only.
  static Layout Strided(std::vector<int64_t> strides) {
    return {.kind = LayoutKind::kStrided, .strides = std::move(strides)};
  }

  bool dense() const { return kind == LayoutKind::kDense; }
  bool blocked() const { return kind == LayoutKind::kBlocked; }
  bool strided() const { return kind == LayoutKind::kStrided; }
  /// "dense", "blocked(axis 2, 16)", "strided(1, 640)".
  std::string ToString() const;
  auto operator<=>(const Layout&) const = default;
};

}  // namespace tim::ir

#endif  // TIM_IR_LAYOUT_H_
