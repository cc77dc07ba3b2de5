// Spatial axes of operations: formats of data and weights, and windows that
// move along the axes with their pads.
//
// Lists and dims are in the order of this API.  NCX is [N, C, X...], OIX is
// [O, I, X...]; both are the inner graph's own order, turned round.
#ifndef TIM_GRAPH_API_OPS_WINDOWS_H_
#define TIM_GRAPH_API_OPS_WINDOWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph_api/lowering.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"

namespace tim::graph {

// ---- Attributes that several records have.

AttributeDef DataFormatDef();  ///< data_format = NXC {NXC, NCX}
AttributeDef AutoPadDef();     ///< auto_pad = None
/// weights_format, with the first of `choices` as the default.
AttributeDef WeightsFormatDef(std::vector<std::string> choices);
/// strides!, pads_begin!, pads_end!, auto_pad and data_format.
std::vector<AttributeDef> WindowDefs();
/// A rule of every operation with windows: no pad is negative.
Status CheckPads(const Op& op);

// ---- Formats.

/// The attribute data_format is NXC.
bool IsChannelsLast(const Op& op);
/// Spatial axes of `dims` (of data or weights).  kInvalidArgument that names
/// `operand` unless they are 1 to 3.
Result<int64_t> SpatialRank(std::string_view operand, const Dims& dims);

/// From the op's data_format, of rank 2 or more, and back.
Dims ToNcx(const Op& op, const Dims& dims);
Dims FromNcx(const Op& op, const Dims& dims);
Result<Tensor> ToNcx(Lowering& lowering, const Op& op, const Tensor& tensor);
Result<Tensor> FromNcx(Lowering& lowering, const Op& op, const Tensor& tensor);

/// From the op's weights_format (OIX, XIO, IOX or XOI) and back.
Dims ToOix(const Op& op, const Dims& dims);
Dims FromOix(const Op& op, const Dims& dims);
Result<Tensor> ToOix(Lowering& lowering, const Op& op, const Tensor& tensor);
Result<Tensor> FromOix(Lowering& lowering, const Op& op, const Tensor& tensor);

/// Dims of the axes behind the first two.
Dims SpatialDims(const Dims& ncx);

// ---- Windows.

/// Along one spatial axis.
struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t begin = 0;  ///< Pads, explicit whatever auto_pad is.
  int64_t end = 0;

  /// Cells from the first one to the last.
  int64_t span() const { return (kernel - 1) * dilation + 1; }
};

/// Values of a list attribute with one for each of `rank` spatial axes, all of
/// `usual` where it is absent.  kInvalidArgument: another length, or a value
/// outside of `least` to 2^31 - 1.
Result<std::vector<int64_t>> SpatialList(const Op& op,
                                         tim_graph_op_attr_t attribute,
                                         int64_t rank, int64_t usual,
                                         int64_t least);

/// Windows of a convolution or a pool over axes of these extents; attributes
/// strides, dilations, pads_begin, pads_end, auto_pad.  kInvalidArgument: lists
/// of wrong lengths, strides, dilations or kernels below 1.
Result<std::vector<Window>> WindowsOf(const Op& op, const Dims& extents,
                                      const Dims& kernel);
/// Windows of a transposed convolution.
Result<std::vector<Window>> TransposedWindowsOf(const Op& op,
                                                const Dims& kernel);

enum class Rounding : uint8_t { kFloor, kCeiling };
/// Windows that fit along an axis; kInvalidArgument where none does.
Result<int64_t> WindowCount(const Window& window, int64_t extent,
                            Rounding rounding = Rounding::kFloor);

/// Cells of all windows along an axis, window after window.  A cell outside of
/// the image is the nearest one inside of the same window, which a maximum does
/// not change.  kUnimplemented: a window without a cell in the image, and more
/// cells than can be spread.
Result<std::vector<int32_t>> CellsOfWindows(const Window& window,
                                            int64_t extent, int64_t count);

/// Image operators take two spatial axes: [N, C, W] becomes [N, C, 1, W], as
/// weights do; more axes stay as they are.
Result<Tensor> AsImage(Lowering& lowering, const Tensor& ncx);
std::vector<Window> AsImage(std::vector<Window> windows);

/// Attributes pad (both ends), stride and dilation of inner convolutions.
ir::AttributeMap ConvolutionAttributes(const std::vector<Window>& windows);
/// Attributes ksize, pad, stride and round_type of inner pools.
ir::AttributeMap PoolAttributes(const std::vector<Window>& windows,
                                Rounding rounding);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPS_WINDOWS_H_
