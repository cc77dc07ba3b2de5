// Operators that take the blocked layout of convolutions as it comes.
#ifndef TIM_OPS_LAUNCH_BLOCKED_H_
#define TIM_OPS_LAUNCH_BLOCKED_H_

#include "ir/kernel_def.h"
#include "kernels/elements.h"

namespace tim::ops {

/// Channels of a block.
inline constexpr int64_t kChannelBlock = 16;

/// [W, H, C, N] in such blocks.
ir::Layout ChannelBlocks();

/// Rank 4, whole bytes per element, and no more elements than kernels count.
bool FitsChannelBlocks(const ir::TensorDesc& desc);

/// Every operand in `layout`.
ir::LayoutTuple SameLayouts(const ir::KernelNode& node,
                            const ir::Layout& layout);

/// Whether a kernel that treats tail lanes like elements leaves the real value
/// 0 in those of output 0: found by running eval of the anchor and of what is
/// fused on single elements of real value 0.
bool KeepsZero(const ir::KernelNode& node);

/// KeepsZero, or the blocks of the output have no tail lanes.
bool KeepsTail(const ir::KernelNode& node);

/// The same for a conversion of elements.
bool ConversionKeepsZero(const ir::TensorDesc& from, const ir::TensorDesc& to,
                         kernels::ConvertRule rule);

/// `layouts` of operators of one input, element by element: dense, or in blocks
/// where their tail lanes stay 0.
std::vector<ir::LayoutTuple> UnaryLayouts(const ir::KernelNode& node,
                                          const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_BLOCKED_H_
