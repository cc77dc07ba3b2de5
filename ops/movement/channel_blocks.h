// Channels that move between tensors in blocks (ChannelBlocks), all else as it
// is: Split along channels, ShuffleChannel, Concat of parts of blocks.
#ifndef TIM_OPS_MOVEMENT_CHANNEL_BLOCKS_H_
#define TIM_OPS_MOVEMENT_CHANNEL_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/element_map/element_map.h"
#include "ir/kernel_def.h"

namespace tim::ops {

/// Where the channels of a tensor come from, by channel: one of another tensor,
/// kZeroChannel (the real value 0) or kOtherChannel (left as it is).
using ChannelSources = std::vector<int64_t>;
inline constexpr int64_t kZeroChannel = -1;
inline constexpr int64_t kOtherChannel = -2;

/// Those of a map of [W, H, C, N] that moves channels and nothing else.
std::optional<ChannelSources> ChannelSourcesOf(const ir::ElementMap& map,
                                               const ir::Shape& from,
                                               const ir::Shape& to);

/// Whether elements keep their bits and fit blocks, the real value 0 of tail
/// lanes too.
bool CanMoveChannels(const ir::TensorDesc& from, const ir::TensorDesc& to);

/// Whether the channels lie in blocks of the input as they would in blocks of
/// the output, one after the other from a whole block on; from which channel.
std::optional<int64_t> FirstOfWholeBlocks(const ChannelSources& sources,
                                          int64_t input_channels);

/// Adds the launch that gives output `output` these channels of input `input`,
/// both in blocks.  Blocks without any of them are left as they are.
Status AppendChannelBlocks(const ir::KernelNode& node, int input, int output,
                           const ChannelSources& sources,
                           const ir::DeviceInfo& device,
                           ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_CHANNEL_BLOCKS_H_
