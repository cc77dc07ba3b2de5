// Convolutions and their adjoints by Conv2d and DeConv2d, for any strides,
// dilations, pads and groups.
#include "ops/gradients/gradient_windows.h"

#include <algorithm>
#include <vector>

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Axes = VjpBuilder::Axes;

int64_t SpanOf(const GradientWindow& window) {
  return (window.kernel - 1) * window.dilation + 1;
}

// Cells of the last window behind the image; negative: cells that no window
// reads.
int64_t BackOf(const GradientWindow& window) {
  return (window.count - 1) * window.stride + SpanOf(window) - window.image -
         window.front;
}

// Extents of the first two axes, then others.
ir::Shape Shaped(const ir::Shape& spatial, const Axes& others) {
  Axes dims = {spatial[0], spatial[1]};
  dims.insert(dims.end(), others.begin(), others.end());
  return ir::Shape(dims);
}

// [.., C, N] becomes [.., N * groups, C / groups].
Value SamplesAsChannels(VjpBuilder& b, Value x, int64_t groups) {
  if (groups == 1) return b.Transpose(x, {0, 1, 3, 2});
  const ir::Shape shape = b.ShapeOf(x);
  const int64_t channels = shape[2] / groups;
  const int64_t samples = shape[3];
  const Value split = b.Reshape(x, Shaped(shape, {channels, groups, samples}));
  return b.Reshape(b.Transpose(split, {0, 1, 4, 3, 2}),
                   Shaped(shape, {samples * groups, channels}));
}

}  // namespace

Value Convolve(VjpBuilder& b, Value x, Value weights,
               const GradientWindows& windows) {
  if (!b.ok()) return ir::kNone;
  const Axes none(4, 0);
  Axes zeros = none;
  Axes front = none;
  Axes back = none;
  Axes pad;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t before = windows[i].front;
    const int64_t behind = BackOf(windows[i]);
    front[i] = std::min<int64_t>(before, 0);
    back[i] = std::min<int64_t>(behind, 0);
    // Windows that all end before the image read the zeros there: an image
    // without what they do not read would have no cell.
    if (windows[i].image + behind <= 0) zeros[i] = before;
    pad.push_back(std::max<int64_t>(before - zeros[i], 0));
    pad.push_back(std::max<int64_t>(behind, 0));
  }
  const Value image = b.Pad(b.Pad(x, zeros, none), front, back);
  return b.Op("Conv2d", {image, weights},
              {{"pad", pad},
               {"stride", Axes{windows[0].stride, windows[1].stride}},
               {"dilation", Axes{windows[0].dilation, windows[1].dilation}}});
}

Value ExchangeChannels(VjpBuilder& b, Value weights, int64_t groups) {
  if (!b.ok()) return ir::kNone;
  const ir::Shape shape = b.ShapeOf(weights);
  if (groups == 1) return b.Transpose(weights, {0, 1, 3, 2});
  const int64_t inputs = shape[2];
  const int64_t outputs = shape[3] / groups;
  const Value split =
      b.Reshape(weights, Shaped(shape, {inputs, outputs, groups}));
  return b.Reshape(b.Transpose(split, {0, 1, 3, 2, 4}),
                   Shaped(shape, {outputs, inputs * groups}));
}

Value SpreadWindows(VjpBuilder& b, Value g, Value weights,
                    const GradientWindows& windows, int64_t groups) {
  // Taps lie `dilation` apart, the last ones with zeros behind them.
  const Value taps = b.Spread(ExchangeChannels(b, weights, groups),
                              {windows[0].dilation, windows[1].dilation});
  Axes pad;
  for (const GradientWindow& window : windows) {
    pad.push_back(window.front);
    pad.push_back(BackOf(window) + window.dilation - 1);
  }
  return b.Op("DeConv2d", {g, taps},
              {{"pad", pad},
               {"stride", Axes{windows[0].stride, windows[1].stride}},
               {"group", groups}});
}

// The sum over samples and windows is one over channels and taps: samples
// become channels, g the weights, and its step is the dilation.
Value WeightsGradient(VjpBuilder& b, Value x, Value g,
                      const GradientWindows& windows, int64_t groups) {
  if (!b.ok()) return ir::kNone;
  const Value image = SamplesAsChannels(b, x, groups);
  GradientWindows turned = windows;
  for (GradientWindow& window : turned) {
    std::swap(window.kernel, window.count);
    std::swap(window.stride, window.dilation);
  }
  const Value made = Convolve(b, image, b.Transpose(g, {0, 1, 3, 2}), turned);
  return b.Transpose(made, {0, 1, 3, 2});
}

Value ChannelSums(VjpBuilder& b, Value g) { return b.SumAway(g, {0, 1, 3}); }

}  // namespace tim::ops
