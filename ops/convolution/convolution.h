// Extents, padding and groups of convolutions.
#ifndef TIM_OPS_CONVOLUTION_CONVOLUTION_H_
#define TIM_OPS_CONVOLUTION_CONVOLUTION_H_

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"
#include "ir/shape.h"

namespace tim::ops {

enum class PadMode : int8_t { kNone = -1, kAuto = 0, kValid = 1, kSame = 2 };

/// How a window moves along one spatial axis.
struct ConvWindow {
  PadMode mode = PadMode::kAuto;
  int64_t front = 0;  ///< Explicit padding, for kAuto (and kNone).
  int64_t back = 0;
  int64_t stride = 1;
  int64_t dilation = 1;  ///< 0 means 1.
};

/// Input elements that a kernel of extent `kernel` spans.
int64_t EffectiveKernel(const ConvWindow& window, int64_t kernel);
struct ConvPads {
  int64_t front = 0;
  int64_t back = 0;
};
/// Padding before the first element and after the last.
ConvPads PadsOf(const ConvWindow& window, int64_t input, int64_t kernel);
/// Windows along the axis; kUnknownDim where unknown, <= 0 where the kernel
/// does not fit.
int64_t OutputExtent(const ConvWindow& window, int64_t input, int64_t kernel);
/// stride >= 1 and nothing negative.
Status CheckWindow(const ConvWindow& window);

/// The windows along W and H of the attributes padding, pad, stride, dilation.
struct ConvWindows2d {
  ConvWindow w;
  ConvWindow h;
};
Result<ConvWindows2d> WindowsOf(const ir::AttributeMap& attributes);

/// `attributes`, whose padding is `w` and `h`, for an input with padding around
/// it that they take over: zeros along W and H.  Nothing for other padding.
std::optional<ir::AttributeMap> PaddedBy(const ir::Padding& padding,
                                         const ConvPads& w, const ConvPads& h,
                                         const ir::AttributeMap& attributes);

/// One spatial axis of a convolution with known extents.
struct ConvAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t output = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;  ///< Front.
};
ConvAxis AxisOf(const ConvWindow& window, int64_t input, int64_t kernel,
                int64_t output);

/// Which input channels an output channel reads: `channels` of its group, the
/// groups being `outputs` consecutive output channels each.
struct ConvGroups {
  int64_t out_channels = ir::kUnknownDim;
  int64_t channels = ir::kUnknownDim;
  int64_t outputs = ir::kUnknownDim;
};
/// From the extents 2 and 3 of a kernel [W, H, Ic, Oc]; `multiplier` > 0: the
/// depthwise forms [W, H, C * multiplier, 1] and [W, H, 1, C * multiplier].
/// Unknown extents give unknown results.
Result<ConvGroups> GroupsOf(int64_t input_channels, int64_t kernel_in,
                            int64_t kernel_out, int64_t multiplier);

/// A two-dimensional convolution with known extents.  Element (kw, kh, ic) of
/// output channel oc is at kw + Kw * (kh + Kh * (ic + group.channels * oc)).
struct Conv2dShape {
  ConvAxis w;
  ConvAxis h;
  int64_t batch = 1;
  int64_t channels = 1;
  ConvGroups group;

  int64_t terms() const { return w.kernel * h.kernel * group.channels; }
};
/// `output`: where its dims 2 and 3 are the channels and the batch, its dims 0
/// and 1 rule.
Result<Conv2dShape> Conv2dShapeOf(const ir::AttributeMap& attributes,
                                  const ir::Shape& input,
                                  const ir::Shape& kernel,
                                  const ir::Shape& output);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONVOLUTION_H_
