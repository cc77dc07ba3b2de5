// Rows of dense planes, resized 16 neighbours at a time: the host side of
// ops/resize/resize_rows.cl.
#ifndef TIM_OPS_RESIZE_RESIZE_ROWS_H_
#define TIM_OPS_RESIZE_RESIZE_ROWS_H_

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/kernel_def.h"
#include "ops/resize/resize_sources.h"

namespace tim::ops {

/// Whether it resizes `node` on `device`: on CPUs, elements that are copied,
/// codes of 8 bits that become others, blends of float32 and of 8-bit codes.
bool TakesResizeRows(const ir::KernelNode& node, const ResizeMap& map,
                     const ir::DeviceInfo& device);

/// Launches for a node that the check above takes.
Result<ir::Lowering> LowerResizeRows(const ir::KernelNode& node,
                                     const ResizeMap& map,
                                     const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_RESIZE_RESIZE_ROWS_H_
