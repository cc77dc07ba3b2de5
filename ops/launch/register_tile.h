// Tiles that CPU kernels keep in vector registers.
#ifndef TIM_OPS_LAUNCH_REGISTER_TILE_H_
#define TIM_OPS_LAUNCH_REGISTER_TILE_H_

#include <cstdint>
#include <functional>

#include "ir/device_info.h"

namespace tim::ops {

/// Sums of a convolution of blocks: so many neighbours times so many blocks of
/// output channels.
struct RegisterTile {
  int64_t neighbours = 1;
  int64_t blocks = 1;
};

/// The largest whose sums fit beside weights and a pixel.
RegisterTile LargestTile(const ir::DeviceInfo& device);

/// LargestTile with at most `blocks` blocks, or one of other proportions that
/// takes less time for so many neighbours and blocks.  Its neighbours are a
/// limit for TileSize.
RegisterTile BestTile(int64_t neighbours, int64_t blocks,
                      const ir::DeviceInfo& device);

/// Blocks of 16 floats that fit beside what a loop needs.
int64_t BlocksInRegisters(const ir::DeviceInfo& device);

/// Rows of a matrix that a work-item multiplies with a block of 16 columns: of
/// `count` so many that every core has some.
int64_t RowsInRegisters(int64_t count, const ir::DeviceInfo& device);

/// The size of tiles, from 1 to `limit`, that takes least time for `count`
/// neighbours of `unit` sums each: the last tile may compute some in vain, and
/// every tile loads the weights again.
int64_t TileSize(int64_t count, int64_t limit, int64_t unit = 1);

/// The tile for so many neighbours and blocks: BestTile with neighbours of
/// TileSize, or, for many shapes, LargestTile with those of FewTileSizes.
RegisterTile TileFor(int64_t neighbours, int64_t blocks, bool many_shapes,
                     const ir::DeviceInfo& device);

/// A size of tiles of graphs for many shapes (KernelNode::many_shapes), each of
/// which is a program: of `limit`, its half, its quarter and 1 the largest that
/// is at most `count`.
int64_t FewTileSizes(int64_t count, int64_t limit);

/// `size`, such a one, halved until what its tile spans is at most `most`; 1
/// where none does.
int64_t FewTileSizesWithin(int64_t size, int64_t most,
                           const std::function<int64_t(int64_t size)>& span);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_REGISTER_TILE_H_
