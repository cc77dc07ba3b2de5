// Windows of which the greatest cell counts: its value, its place, or a
// gradient that goes there.
#ifndef TIM_OPS_POOLING_MAX_WINDOWS_H_
#define TIM_OPS_POOLING_MAX_WINDOWS_H_

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/elements/data_layout.h"
#include "ops/launch/launch.h"
#include "ops/pooling/pooling.h"

namespace tim::ops {

/// `planes` images [w, h, d], one behind the other.
struct MaxWindows {
  std::array<PoolAxis, 3> axes;
  int64_t planes = 1;

  int64_t outputs() const {
    return axes[0].output * axes[1].output * axes[2].output * planes;
  }
};

/// Of static shapes; windows move along the first axes, and the output's
/// extents rule.
MaxWindows MaxWindowsOf(std::span<const PoolWindow> along,
                        const ir::Shape& input, const ir::Shape& output);
Result<MaxWindows> MaxWindowsOf(const ir::AttributeMap& attributes, int axes,
                                const ir::Shape& input,
                                const ir::Shape& output);

/// A window's greatest cell, which is the first of equal ones in row-major
/// order; NaN is greater than numbers.
struct GreatestCell {
  int64_t cell = -1;  ///< In the whole input; -1: the window has none inside.
  int64_t local = 0;  ///< In the window.
};

/// finish(o, cell) for every element o of the output, in order.
void ForEachMaximum(const MaxWindows& windows, const ir::ConstTensor& input,
                    const std::function<void(int64_t, GreatestCell)>& finish);

/// Attributes ksize, stride, pad, padding and an inert layout, whose default is
/// `layout`.
std::vector<ir::AttributeSpec> WindowAttributes(int axes, DataLayout layout);

/// The cells that a window has inside the image, at most, where extents are
/// known.
double CellsPerWindow(const ir::NodeView& view, int axes);

/// What a kernel computes with fits 32 bits, or the reason.
Status CheckWindowPositions(const MaxWindows& windows);

/// TIM_WINDOW_PARAMETERS of ops/pooling/max_window.clh.
void AddWindowArguments(const MaxWindows& windows, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_POOLING_MAX_WINDOWS_H_
