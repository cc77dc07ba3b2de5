// Windows of convolutions and pools as attributes say them.
#ifndef TIM_MODELS_ONNX_OPS_CONVOLUTIONS_WINDOWS_H_
#define TIM_MODELS_ONNX_OPS_CONVOLUTIONS_WINDOWS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Windows over the spatial axes, which are those behind batch and channels,
/// in the model's order.
struct Windows {
  Dims input;
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims before;
  Dims after;
  Dims output;  ///< Extents of the result.

  size_t axes() const { return kernel.size(); }
  /// Cells from the first to the last of a window.
  int64_t Reach(size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
  bool Dilated() const;
  /// Cells of a window, in all axes.
  Result<int64_t> KernelCells() const;
};

enum class Rounding { kFloor, kCeil };

/// Reads strides, dilations, pads and auto_pad, for a kernel of these extents;
/// checks all of them.  A rounded up last window that begins behind the input
/// and the pads before it is left out.
Result<Windows> WindowsOf(const Node& node, const Dims& input,
                          const Dims& kernel, Rounding rounding);

/// Windows whose pads after are what the last window needs: those windows are
/// as many with rounding down.
Windows WithExactEnds(Windows windows);

/// An attribute of one value for each spatial axis; `otherwise` for all where
/// it is not there.
Result<Dims> SpatialInts(const Node& node, const char* attribute, size_t axes,
                         int64_t otherwise, int64_t least);

/// Values per axis as the graph has them, W first.
template <typename T, size_t axes>
std::array<T, axes> Backwards(const Dims& values) {
  std::array<T, axes> out{};
  for (size_t i = 0; i < axes; ++i) {
    out[i] = static_cast<T>(values[axes - 1 - i]);
  }
  return out;
}
/// {left, right, top, bottom, front, rear} as far as there are axes.
template <typename T, size_t axes>
std::array<T, 2 * axes> GraphPads(const Windows& windows) {
  std::array<T, 2 * axes> out{};
  for (size_t i = 0; i < axes; ++i) {
    out[2 * i] = static_cast<T>(windows.before[axes - 1 - i]);
    out[2 * i + 1] = static_cast<T>(windows.after[axes - 1 - i]);
  }
  return out;
}

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CONVOLUTIONS_WINDOWS_H_
