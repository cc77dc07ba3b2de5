// Averages and maxima over windows of one to three spatial axes, padded,
// dilated, or with extents that are rounded up.
#include "models/onnx/ops/pools/pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/max_pool3d.h"
#include "tim/vx/ops/pool2d.h"

namespace tim::models::onnx {
namespace {

// Windows of the axes [begin, end), as two: the first of one cell where there
// is one.
Windows ImageWindows(const Windows& all, size_t begin, size_t end) {
  Windows image;
  if (end - begin == 1) {
    image = {{1}, {1}, {1}, {1}, {0}, {0}, {1}};
  }
  const auto take = [&](const Dims& from, Dims* to) {
    to->insert(to->end(), from.begin() + begin, from.begin() + end);
  };
  take(all.input, &image.input);
  take(all.kernel, &image.kernel);
  take(all.strides, &image.strides);
  take(all.dilations, &image.dilations);
  take(all.before, &image.before);
  take(all.after, &image.after);
  take(all.output, &image.output);
  return image;
}

// A pool over two axes of x, which is [N, C, H, W].
Result<Value> PoolImage(GraphBuilder* builder, const Value& x,
                        const Windows& windows, vx::PoolType type,
                        const vx::Quantization& quantization) {
  const Windows exact = WithExactEnds(windows);
  // The number of cells in the padded input depends on where that ends.
  const bool overhangs =
      type == vx::PoolType::AVG_PADDED &&
      (exact.after[0] > windows.after[0] || exact.after[1] > windows.after[1]);
  const Dims dims = PooledDims(x, windows.output);
  if (!overhangs) {
    return builder->Add<vx::ops::Pool2d>(
        {x}, Wanted::Of(x.type, dims, quantization), type,
        GraphPads<uint32_t, 2>(exact), Backwards<uint32_t, 2>(exact.kernel),
        Backwards<uint32_t, 2>(exact.strides), vx::RoundType::FLOOR);
  }
  Dims rounded;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t room = windows.input[i] + windows.before[i] +
                         windows.after[i] - windows.kernel[i];
    rounded.push_back((room + windows.strides[i] - 1) / windows.strides[i] + 1);
  }
  const Dims more = PooledDims(x, rounded);
  TIM_ASSIGN_OR_RETURN(
      const Value pooled,
      builder->Add<vx::ops::Pool2d>({x}, Wanted::Of(x.type, more, quantization),
                                    type, GraphPads<uint32_t, 2>(windows),
                                    Backwards<uint32_t, 2>(windows.kernel),
                                    Backwards<uint32_t, 2>(windows.strides),
                                    vx::RoundType::CEILING));
  return Sliced(builder, pooled, {0, 0, 0, 0}, dims);
}

// One pool over the last one or two axes, then one over the axis before them.
Result<Value> PoolAxes(GraphBuilder* builder, const Value& x,
                       const Windows& windows, vx::PoolType type,
                       const vx::Quantization& quantization) {
  const size_t axes = windows.axes();
  const Dims& in = windows.input;
  const Dims result = PooledDims(x, windows.output);
  Value image = x;
  if (axes == 1) {
    TIM_ASSIGN_OR_RETURN(image,
                         builder->Reshape(x, {x.dims[0], x.dims[1], 1, in[0]}));
  }
  if (axes == 3) {
    TIM_ASSIGN_OR_RETURN(
        image,
        builder->Reshape(x, {x.dims[0], x.dims[1] * in[0], in[1], in[2]}));
  }
  const Windows last = ImageWindows(windows, axes == 3 ? 1 : 0, axes);
  // The quantization of the result counts once, after the last pool.
  const bool once = axes != 3;
  TIM_ASSIGN_OR_RETURN(image, PoolImage(builder, image, last, type,
                                        once ? quantization : x.quantization));
  if (once) return builder->Reshape(image, result);
  const int64_t cells = windows.output[1] * windows.output[2];
  TIM_ASSIGN_OR_RETURN(
      image, builder->Reshape(image, {x.dims[0], x.dims[1], in[0], cells}));
  Windows first = ImageWindows(windows, 0, 1);
  for (Dims* dims :
       {&first.input, &first.kernel, &first.strides, &first.dilations,
        &first.before, &first.after, &first.output}) {
    std::swap((*dims)[0], (*dims)[1]);
  }
  first.input[1] = first.output[1] = cells;
  TIM_ASSIGN_OR_RETURN(image,
                       PoolImage(builder, image, first, type, quantization));
  return builder->Reshape(image, result);
}

// Numbers of the cells of each window that count, [1, 1, output...].
Result<Value> CellCounts(const GraphBuilder& builder, const Windows& windows,
                         Divisor divisor) {
  TIM_ASSIGN_OR_RETURN(const int64_t total,
                       Product(windows.output, 0, windows.axes()));
  TIM_ASSIGN_OR_RETURN(const Value ones, FilledVector(builder, 1.0f, total));
  TIM_ASSIGN_OR_RETURN(std::vector<float> counts, Floats(*ones.constant));
  int64_t inner = total;
  for (size_t axis = 0; axis < windows.axes(); ++axis) {
    inner /= windows.output[axis];
    const int64_t low = divisor == Divisor::kPadded ? -windows.before[axis] : 0;
    const int64_t high =
        windows.input[axis] +
        (divisor == Divisor::kPadded ? windows.after[axis] : 0);
    for (int64_t i = 0; i < total; ++i) {
      const int64_t at = i / inner % windows.output[axis];
      const int64_t begin = at * windows.strides[axis] - windows.before[axis];
      const int64_t step = windows.dilations[axis];
      // Cells begin + j * step, 0 <= j < kernel, within [low, high).
      const int64_t from =
          begin < low ? (low - begin + step - 1) / step : int64_t{0};
      const int64_t to = std::min<int64_t>(
          windows.kernel[axis],
          begin < high ? (high - begin + step - 1) / step : 0);
      counts[i] *= static_cast<float>(std::max<int64_t>(to - from, 0));
    }
  }
  Dims dims = {1, 1};
  dims.insert(dims.end(), windows.output.begin(), windows.output.end());
  return builder.ConstantOf(counts, dims);
}

Result<Value> DilatedAverage(GraphBuilder* builder, const Value& x,
                             const Windows& windows, Divisor divisor) {
  TIM_ASSIGN_OR_RETURN(const Value sums,
                       WindowSums(builder, x, WithExactEnds(windows)));
  if (divisor == Divisor::kWindow) {
    TIM_ASSIGN_OR_RETURN(const int64_t cells, windows.KernelCells());
    return Scaled(builder, sums, 1.0f / static_cast<float>(cells));
  }
  TIM_ASSIGN_OR_RETURN(const Value counts,
                       CellCounts(*builder, windows, divisor));
  return Binary<vx::ops::Div>(builder, x.type, sums, counts);
}

// The maximum of the elements of windows along one axis: of as many slices.
Result<Value> GreatestAlong(GraphBuilder* builder, const Value& x, size_t axis,
                            const Windows& windows, size_t spatial,
                            float least) {
  constexpr int64_t kMostSlices = 256;
  if (windows.kernel[spatial] > kMostSlices) {
    return Unimplemented("a dilated window of ", windows.kernel[spatial],
                         " cells, at most ", kMostSlices, " are taken");
  }
  Dims none(x.dims.size(), 0), before = none, after = none;
  before[axis] = windows.before[spatial];
  after[axis] = windows.after[spatial];
  TIM_ASSIGN_OR_RETURN(const Value padded,
                       Padded(builder, x, before, after, least));
  Dims extents = x.dims, steps(x.dims.size(), 1);
  extents[axis] = windows.output[spatial];
  steps[axis] = windows.strides[spatial];
  Value greatest;
  for (int64_t cell = 0; cell < windows.kernel[spatial]; ++cell) {
    Dims starts = none;
    starts[axis] = cell * windows.dilations[spatial];
    TIM_ASSIGN_OR_RETURN(Value slice,
                         Sliced(builder, padded, starts, extents, steps));
    if (cell == 0) {
      greatest = std::move(slice);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        greatest,
        builder->Add<vx::ops::Maximum>(
            {greatest, slice}, Wanted::Of(x.type, extents, x.quantization)));
  }
  return greatest;
}

Result<Value> DilatedGreatest(GraphBuilder* builder, const Value& x,
                              const Windows& windows) {
  const Windows exact = WithExactEnds(windows);
  Value greatest = x;
  for (size_t i = 0; i < windows.axes(); ++i) {
    TIM_ASSIGN_OR_RETURN(
        greatest, GreatestAlong(builder, greatest, i + 2, exact, i,
                                -std::numeric_limits<float>::infinity()));
  }
  return greatest;
}

Result<Value> GreatestOfVolume(GraphBuilder* builder, const Value& x,
                               Windows windows) {
  const Dims result = PooledDims(x, windows.output);
  Dims dims = x.dims;
  while (windows.axes() < 3) {
    for (Dims* each : {&windows.input, &windows.kernel, &windows.strides,
                       &windows.dilations, &windows.output}) {
      each->insert(each->begin(), 1);
    }
    windows.before.insert(windows.before.begin(), 0);
    windows.after.insert(windows.after.begin(), 0);
    dims.insert(dims.begin() + 2, 1);
  }
  TIM_ASSIGN_OR_RETURN(Value volume, builder->Reshape(x, dims));
  const Windows exact = WithExactEnds(windows);
  TIM_ASSIGN_OR_RETURN(
      volume,
      builder->Add<vx::ops::MaxPool3d>(
          {volume},
          Wanted::Of(x.type, PooledDims(x, windows.output), x.quantization),
          vx::RoundType::FLOOR, Backwards<uint32_t, 3>(exact.kernel),
          Backwards<uint32_t, 3>(exact.strides), GraphPads<uint32_t, 3>(exact),
          vx::PadType::AUTO));
  return builder->Reshape(volume, result);
}

}  // namespace

Dims PooledDims(const Value& x, const Dims& spatial) {
  Dims dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Result<Windows> PoolWindows(const Node& node, const Value& x) {
  if (x.rank() < 3 || x.rank() > 5) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", one to three spatial axes are taken");
  }
  if (!node.HasAttribute("kernel_shape")) {
    return InvalidArgument("attribute 'kernel_shape' is missing");
  }
  TIM_ASSIGN_OR_RETURN(const Dims kernel, node.Ints("kernel_shape"));
  TIM_ASSIGN_OR_RETURN(const int64_t ceil, node.Int("ceil_mode", 0));
  const Dims spatial(x.dims.begin() + 2, x.dims.end());
  return WindowsOf(node, spatial, kernel,
                   ceil != 0 ? Rounding::kCeil : Rounding::kFloor);
}

Result<Value> AverageOfWindows(GraphBuilder* builder, const Value& x,
                               const Windows& windows, Divisor divisor,
                               const vx::Quantization& quantization) {
  if (windows.Dilated()) {
    if (IsQuantized(quantization)) {
      return Unimplemented(
          "attribute 'dilations' of averages of codes is not 1, ",
          "which is taken of floats");
    }
    return DilatedAverage(builder, x, windows, divisor);
  }
  const vx::PoolType type =
      divisor == Divisor::kInside   ? vx::PoolType::AVG_ANDROID
      : divisor == Divisor::kPadded ? vx::PoolType::AVG_PADDED
                                    : vx::PoolType::AVG;
  return PoolAxes(builder, x, windows, type, quantization);
}

Result<Value> GreatestOfWindows(GraphBuilder* builder, const Value& x,
                                const Windows& windows) {
  const bool real = IsFloat(x.type) || IsQuantized(x.quantization);
  if (windows.Dilated()) {
    if (IsFloat(x.type)) return DilatedGreatest(builder, x, windows);
    return Unimplemented("attribute 'dilations' for ", Describe(x),
                         ", float32 and float16 are taken");
  }
  if (windows.axes() == 3 || !real) {
    return GreatestOfVolume(builder, x, windows);
  }
  return PoolAxes(builder, x, windows, vx::PoolType::MAX, x.quantization);
}

Result<Value> AverageOfAll(GraphBuilder* builder, const Value& x,
                           const vx::Quantization& quantization) {
  const Dims result = PooledDims(x, Dims(x.dims.size() - 2, 1));
  Value image = x;
  if (x.rank() != 4) {
    TIM_ASSIGN_OR_RETURN(const int64_t cells,
                         Product(x.dims, 2, x.dims.size()));
    TIM_ASSIGN_OR_RETURN(image,
                         builder->Reshape(x, {x.dims[0], x.dims[1], 1, cells}));
  }
  const std::array<uint32_t, 2> size = {static_cast<uint32_t>(image.dims[3]),
                                        static_cast<uint32_t>(image.dims[2])};
  TIM_ASSIGN_OR_RETURN(
      image, builder->Add<vx::ops::Pool2d>(
                 {image},
                 Wanted::Of(x.type, {x.dims[0], x.dims[1], 1, 1}, quantization),
                 vx::PoolType::AVG, size));
  return builder->Reshape(image, result);
}

}  // namespace tim::models::onnx
