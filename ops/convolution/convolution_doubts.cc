// What of a convolution is legal and hardly meant.
#include "ops/convolution/convolution.h"
#include "ops/convolution/extent_doubts.h"
#include "ops/doubts/sums.h"

namespace tim::ops {
namespace {

// Pads that are given, and others that count.
void AddPadDoubt(const ir::NodeView& view,
                 const std::vector<ConvWindow>& windows, Doubts* doubts) {
  std::vector<int64_t> given, used;
  bool differ = false, any = false;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t input = DimOf(view.inputs[0]->shape, static_cast<int>(i));
    const int64_t kernel = DimOf(view.inputs[1]->shape, static_cast<int>(i));
    if (input == ir::kUnknownDim || kernel == ir::kUnknownDim) return;
    const ConvPads pads = PadsOf(windows[i], input, kernel);
    given.insert(given.end(), {windows[i].front, windows[i].back});
    used.insert(used.end(), {pads.front, pads.back});
    any |= windows[i].front != 0 || windows[i].back != 0;
    differ |= windows[i].front != pads.front || windows[i].back != pads.back;
  }
  if (!any || !differ) return;
  const bool same = windows[0].mode == PadMode::kSame;
  doubts->push_back(StrCat("attribute 'pad' is [", StrJoin(given, ", "),
                           "], which padding ", same ? "SAME" : "VALID",
                           " discards: [", StrJoin(used, ", "),
                           "] counts; give AUTO for the pads given"));
}

}  // namespace

std::vector<std::string> ConvolutionDoubts(const ir::NodeView& view, int axes) {
  Doubts doubts = SumDoubts(view);
  const auto windows = WindowsOf(view.node.attributes, axes);
  if (!windows.ok()) return doubts;
  std::vector<std::vector<ExtentRange>> readings;
  for (int i = 0; i < axes; ++i) {
    readings.push_back(ConvolvedExtents((*windows)[i],
                                        DimOf(view.inputs[0]->shape, i),
                                        DimOf(view.inputs[1]->shape, i)));
  }
  AddExtentsDoubt(view, readings, &doubts);
  AddPadDoubt(view, *windows, &doubts);
  AddKernelDoubt(view, axes, &doubts);
  return doubts;
}

}  // namespace tim::ops
