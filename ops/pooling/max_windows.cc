#include "ops/pooling/max_windows.h"

#include <algorithm>
#include <limits>

#include "ops/pooling/greatest.h"

namespace tim::ops {
namespace {

// Adds the cells of one window and takes the greatest.
GreatestCell GreatestOf(const MaxWindows& windows,
                        const std::array<int64_t, 3>& window, int64_t plane,
                        GreatestElement& greatest) {
  const auto& [w, h, d] = windows.axes;
  const PoolCells columns = CellsOf(w, window[0]);
  const PoolCells rows = CellsOf(h, window[1]);
  const PoolCells slices = CellsOf(d, window[2]);
  for (int64_t z = slices.first; z < slices.last; ++z) {
    for (int64_t y = rows.first; y < rows.last; ++y) {
      for (int64_t x = columns.first; x < columns.last; ++x) {
        greatest.Add(((plane * d.input + z) * h.input + y) * w.input + x);
      }
    }
  }
  GreatestCell out = {.cell = greatest.Take()};
  if (out.cell < 0) return out;
  const auto within = [](const PoolAxis& axis, int64_t at, int64_t index) {
    return at % axis.input - (index * axis.stride - axis.pad);
  };
  const int64_t x = within(w, out.cell, window[0]);
  const int64_t y = within(h, out.cell / w.input, window[1]);
  const int64_t z = within(d, out.cell / w.input / h.input, window[2]);
  out.local = (z * h.kernel + y) * w.kernel + x;
  return out;
}

}  // namespace

MaxWindows MaxWindowsOf(std::span<const PoolWindow> along,
                        const ir::Shape& input, const ir::Shape& output) {
  const auto axes = static_cast<int>(along.size());
  MaxWindows windows;
  for (int axis = 0; axis < axes; ++axis) {
    windows.axes[axis] = PoolAxisOf(along[axis], input[axis], output[axis]);
  }
  windows.planes = input.Product(axes, input.rank());
  return windows;
}

Result<MaxWindows> MaxWindowsOf(const ir::AttributeMap& attributes, int axes,
                                const ir::Shape& input,
                                const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const auto along, ExplicitWindows(attributes, axes));
  return MaxWindowsOf(along, input, output);
}

void ForEachMaximum(const MaxWindows& windows, const ir::ConstTensor& input,
                    const std::function<void(int64_t, GreatestCell)>& finish) {
  GreatestElement greatest(input);
  const auto& [w, h, d] = windows.axes;
  const int64_t count = windows.outputs();
  for (int64_t o = 0; o < count; ++o) {
    const std::array<int64_t, 3> window = {o % w.output,
                                           o / w.output % h.output,
                                           o / w.output / h.output % d.output};
    const int64_t plane = o / w.output / h.output / d.output;
    finish(o, GreatestOf(windows, window, plane, greatest));
  }
}

std::vector<ir::AttributeSpec> WindowAttributes(int axes, DataLayout layout) {
  using ir::AttributeType;
  const std::vector<int64_t> none(2 * axes, 0);
  return {{"ksize", AttributeType::kInts},
          {"stride", AttributeType::kInts},
          {"pad", AttributeType::kInts, none},
          PaddingSpec(),
          DataLayoutSpec("layout", layout)};
}

double CellsPerWindow(const ir::NodeView& view, int axes) {
  const std::vector<int64_t>& ksize = view.node.attributes.Ints("ksize");
  const ir::Shape& input = view.inputs[0]->shape;
  double cells = 1;
  for (int axis = 0; axis < axes; ++axis) {
    cells *= static_cast<double>(std::min(ksize[axis], input[axis]));
  }
  return cells;
}

Status CheckWindowPositions(const MaxWindows& windows) {
  for (const PoolAxis& axis : windows.axes) {
    const double last =
        static_cast<double>(axis.output) * static_cast<double>(axis.stride) +
        static_cast<double>(axis.input) + static_cast<double>(axis.kernel) +
        static_cast<double>(axis.pad);
    if (last > std::numeric_limits<int32_t>::max()) {
      return Unimplemented("positions of windows do not fit 32 bits");
    }
  }
  const auto& [w, h, d] = windows.axes;
  const double cells = static_cast<double>(w.kernel) *
                       static_cast<double>(h.kernel) *
                       static_cast<double>(d.kernel);
  if (cells <= std::numeric_limits<int32_t>::max()) return OkStatus();
  return Unimplemented("the cells of a window do not fit 32 bits");
}

void AddWindowArguments(const MaxWindows& windows, Launch* launch) {
  const auto& [w, h, d] = windows.axes;
  launch->Int("w", w.input)
      .Int("h", h.input)
      .Int("d", d.input)
      .Int("out_w", w.output)
      .Int("out_h", h.output)
      .Int("out_d", d.output)
      .Int("planes", windows.planes)
      .Int("kernel_w", w.kernel)
      .Int("kernel_h", h.kernel)
      .Int("kernel_d", d.kernel)
      .Int("stride_w", w.stride)
      .Int("stride_h", h.stride)
      .Int("stride_d", d.stride)
      .Int("left", w.pad)
      .Int("top", h.pad)
      .Int("front", d.pad);
}

}  // namespace tim::ops
