// Extents, padding and groups of convolutions, and the rules of their schemas.
#ifndef TIM_OPS_CONVOLUTION_CONVOLUTION_H_
#define TIM_OPS_CONVOLUTION_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"
#include "ir/shape.h"

namespace tim::ops {

enum class PadMode : int8_t { kNone = -1, kAuto = 0, kValid = 1, kSame = 2 };
/// The attribute `padding`, a PadMode.
ir::AttributeSpec PaddingSpec();

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
/// Whether that can be told of extents that may be unknown.
bool ArePadsKnown(const ConvWindow& window, int64_t input, int64_t kernel);
/// Windows along the axis; kUnknownDim where unknown, <= 0 where the kernel
/// does not fit.
int64_t OutputExtent(const ConvWindow& window, int64_t input, int64_t kernel);
/// stride >= 1 and nothing negative.
Status CheckWindow(const ConvWindow& window);

/// Ok, or that the attribute, a list, has another length.
Status CheckLength(const ir::AttributeMap& attributes, const char* name,
                   size_t expected);

/// "W", "H", "D".
const char* SpatialAxisName(int axis);

/// The windows along so many spatial axes of the attributes padding, pad,
/// stride, dilation.
Result<std::vector<ConvWindow>> WindowsOf(const ir::AttributeMap& attributes,
                                          int axes);
/// `attributes`, whose padding is `pads` along the spatial axes, for an input
/// with padding around it that they take over: zeros along these axes.  Nothing
/// for other padding.
std::optional<ir::AttributeMap> PaddedBy(const ir::Padding& padding,
                                         const std::vector<ConvPads>& pads,
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

/// A convolution with known extents; along an axis that it does not have it is
/// one element deep.  Element (kw, kh, kd, ic) of output channel oc is at
/// kw + Kw * (kh + Kh * (kd + Kd * (ic + group.channels * oc))).
struct ConvShape {
  ConvAxis w = {};
  ConvAxis h = {};
  ConvAxis d = {};
  int64_t batch = 1;
  int64_t channels = 1;
  ConvGroups group = {};

  int64_t terms() const {
    return w.kernel * h.kernel * d.kernel * group.channels;
  }
};
using Conv2dShape = ConvShape;  ///< Without an axis D.
/// The shape of a convolution along two or three axes.  Extents of `output`
/// rule, where its last two dims are the channels and the batch.
Result<ConvShape> ConvShapeOf(const ir::AttributeMap& attributes,
                              const ir::Shape& input, const ir::Shape& kernel,
                              const ir::Shape& output);

// Rules of operators with input [spatial axes.., C, N], kernel [taps.., Ic,
// Oc], an optional bias [Oc] and output [spatial axes.., Oc, N].

/// Extent `axis`; unknown where the rank is.
int64_t DimOf(const ir::Shape& shape, int axis);
/// Both have so many spatial axes and two more.
Status CheckConvRanks(const ir::InferContext& context, int axes);
/// Gives output 0 the shape `inferred`.  Declared extents rule where channels
/// and batch agree.
void SetConvShape(const ir::Shape& inferred, ir::InferContext* context);
/// The bias, and the scales of the kernel, are as many as output channels.
Status CheckConvChannels(const ir::InferContext& context, int64_t channels);

/// The schema's functions where padding, pad, stride, dilation and multiplier
/// say the rest.
Status InferConvolution(ir::InferContext& context, int axes);
Status CheckConvolution(const ir::NodeView& view, int axes);
std::optional<ir::AttributeMap> AbsorbIntoConvolution(
    const ir::NodeView& view, const ir::Padding& padding, int axes);
std::optional<ir::SumChannels> ConvolutionSums(const ir::NodeView& view,
                                               int axes);

/// permute_rule of input and kernel alike: spatial axes may change places, and
/// along with them the values of `attributes`, as far as there are such, one
/// for each axis or for each end.
Result<ir::PermutedNode> PermuteSpatialAxes(
    const ir::NodeView& view, int operand, std::span<const int> perm, int axes,
    std::initializer_list<const char*> attributes);

/// doubts of a convolution with `axes` spatial axes: those of its sums, a
/// declared output that no rounding of the rule gives, pads that a padding mode
/// discards, and arguments that the kernel contradicts.
std::vector<std::string> ConvolutionDoubts(const ir::NodeView& view, int axes);

/// layout_rule where the attributes input_layout and kernel_layout count.
Result<ir::PermutedNode> ConvInDefaultLayout(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONVOLUTION_H_
