// The launch of conv2d_nchw16c_i8.cl, for operators that are such convolutions.
#ifndef TIM_OPS_CONVOLUTION_I8_CODE_TILES_H_
#define TIM_OPS_CONVOLUTION_I8_CODE_TILES_H_

#include <cstdint>
#include <optional>

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution_i8/code_epilogue.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/convolution_i8/variable_codes.h"

namespace tim::ops {

/// Its sizes, see the kernel.
struct CodeTiles {
  int64_t width = 1;     ///< TW
  int64_t rows = 1;      ///< ROWS
  int64_t blocks = 1;    ///< BLOCKS
  int64_t ic_block = 1;  ///< 4 * DEPTH
  int64_t span = 1;      ///< SPAN
  int64_t part = 0;      ///< PART, 0: not by tiles of AMX.
  PackedCodes packed;
};
/// For an input of this layout.
CodeTiles CodeTilesOf(const Conv2dShape& shape, const ir::Layout& input,
                      bool many_shapes, const ir::DeviceInfo& device);

/// Ok, or that a tile reads more pixels than the kernel keeps.
Status CheckSpan(const CodeTiles& tiles);

/// Estimated microseconds for the layouts of the node's descs.
double CodeTilesCost(const ir::KernelNode& node, const Conv2dShape& shape,
                     const ir::DeviceInfo& device);

/// A convolution whose output channels are pixels of a larger output, w * h of
/// each: -DPHASES.
struct OutputPhases {
  int64_t w = 1;
  int64_t h = 1;
  int64_t out_w = 1;  ///< Of the larger output.
  int64_t out_h = 1;
  int64_t out_channels = 1;
};

/// Adds the launches to `lowering`.  Weights, bias and their quantization are
/// those of `shape`, where a 1x1 convolution without phases may be flat;
/// `codes` says where they are if they are no constants.
Status ConvolveCodes(const ir::KernelNode& node, const Conv2dShape& shape,
                     const std::optional<OutputPhases>& phases,
                     const VariableCodes& codes, const CodeEpilogue& epilogue,
                     const ir::DeviceInfo& device, ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_I8_CODE_TILES_H_
