// What of pooling is legal and hardly meant.
#include <algorithm>

#include "ops/convolution/extent_doubts.h"
#include "ops/pooling/pooling.h"

namespace tim::ops {
namespace {

std::vector<ExtentRange> Pooled(const PoolWindow& window, int64_t input) {
  return ConvolvedExtents({.mode = window.mode,
                           .front = window.front,
                           .back = window.back,
                           .stride = std::max<int64_t>(window.stride, 1)},
                          input, window.kernel);
}

}  // namespace

std::vector<std::string> PoolDoubts(const ir::NodeView& view,
                                    std::span<const PoolWindow> windows) {
  Doubts doubts = FirstCodes(view);
  const ir::Shape& input = view.inputs[0]->shape;
  if (input.rank() < std::ssize(windows)) return doubts;
  std::vector<std::vector<ExtentRange>> readings;
  for (size_t i = 0; i < windows.size(); ++i) {
    readings.push_back(Pooled(windows[i], input[static_cast<int>(i)]));
  }
  AddExtentsDoubt(view, readings, &doubts);
  return doubts;
}

}  // namespace tim::ops
