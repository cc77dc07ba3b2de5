// Windows of pooling operators, and the arithmetic that eval and the kernels
// share.
#ifndef TIM_OPS_POOLING_POOLING_H_
#define TIM_OPS_POOLING_POOLING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"
#include "ops/convolution/convolution.h"

namespace tim::ops {

enum class PoolType : int8_t {
  kMax = 0,
  kAverage = 1,        ///< Divided by the size of the window: padding counts.
  kL2 = 2,             ///< sqrt(mean of squares) of the cells inside the image.
  kAverageInside = 3,  ///< Divided by the number of cells inside the image.
  kAveragePadded = 4,  ///< By that of cells inside the image with its padding.
};

/// The attribute that names one.
ir::AttributeSpec PoolTypeSpec();

enum class PoolRounding : int8_t { kCeiling = 0, kFloor = 1 };

/// How a pooling window moves along one axis.
struct PoolWindow {
  PadMode mode = PadMode::kAuto;
  PoolRounding rounding = PoolRounding::kFloor;
  int64_t kernel = 1;
  int64_t stride = 1;  ///< 0: legal for kernel == input extent only.
  int64_t front = 0;   ///< Explicit padding, for kAuto (and kNone).
  int64_t back = 0;
};

/// Windows along the axis, R((input + front + back - kernel) / stride) + 1, or
/// ceil(input / stride) for kSame; kUnknownDim where `input` is.  Fails where
/// no window fits or stride 0 is not legal.  A last window in the padding alone
/// is not dropped.
Result<int64_t> PoolExtent(const PoolWindow& window, int64_t input);

/// From the attributes ksize, stride, pad (both ends of each axis), padding and
/// round_type, which have values for `axes` axes.
Result<std::vector<PoolWindow>> ExplicitWindows(
    const ir::AttributeMap& attributes, int axes);

/// `input`, which is ranked, with the extents of windows along its first axes;
/// those of `declared`, which may be null, where it has another number of
/// elements and agrees in the other axes.
Result<ir::Shape> PooledShape(std::span<const PoolWindow> windows,
                              const ir::Shape& input,
                              const ir::Shape* declared);

/// doubts of an operator with these windows along the first axes: codes without
/// quantization, and a declared output that no rounding of the rule gives.
std::vector<std::string> PoolDoubts(const ir::NodeView& view,
                                    std::span<const PoolWindow> windows);

struct PoolWindows2d {
  PoolWindow w;
  PoolWindow h;
};
/// From Pool2d's attributes.
Result<PoolWindows2d> PoolWindowsOf(const ir::AttributeMap& attributes);

/// A window's run along an axis of known extents.
struct PoolAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = 0;   ///< Front.
  int64_t back = 0;  ///< Padding behind the last cell.
};
/// Padding before the first cell and after the last.
ConvPads PadsOf(const PoolWindow& window, int64_t input);
/// `output`: the extent that the output tensor has.
PoolAxis PoolAxisOf(const PoolWindow& window, int64_t input, int64_t output);

/// Cells [first, last) of an axis that window `index` covers inside the image.
struct PoolCells {
  int64_t first = 0;
  int64_t last = 0;
};
PoolCells CellsOf(const PoolAxis& axis, int64_t index);
/// Cells that it covers inside of the padded image.
int64_t PaddedCellsOf(const PoolAxis& axis, int64_t index);

/// `planes` images [w.input, h.input], one behind the other.
struct PoolShape {
  PoolAxis w;
  PoolAxis h;
  int64_t planes = 1;
};

/// How the pooled value v, in units of input codes (a quantized input) or real
/// (a float input), becomes the output: y = v * multiplier, then
/// y / scale + zero to an integer type, y to a float type.
struct PoolScale {
  bool codes = false;  ///< v is in codes: the sums are exact integers.
  float multiplier = 1.0f;
  float scale = 1.0f;
  int32_t zero = 0;
};
/// Inputs of at most 16 bits, all per-tensor: sums of codes.
PoolScale PoolScaleOf(const ir::TensorDesc& input,
                      const ir::TensorDesc& output);

/// What MAX gives for a window without a cell inside the image: the least
/// finite value of a float type; for integers a value that saturates to the
/// least code.
float PoolLowest(ir::DataType type);

/// Evaluates `type` over `shape`, dense.
Status EvalPool(PoolType type, const PoolShape& shape,
                const ir::ConstTensor& input, const ir::MutableTensor& output);

}  // namespace tim::ops

#endif  // TIM_OPS_POOLING_POOLING_H_
