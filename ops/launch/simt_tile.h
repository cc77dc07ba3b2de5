// Tiles of ops/launch/simt_tile.clh, for matrix products on GPUs.
#ifndef TIM_OPS_LAUNCH_SIMT_TILE_H_
#define TIM_OPS_LAUNCH_SIMT_TILE_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// `count` products of [depth, rows] and [depth, columns].
struct SimtProduct {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t depth = 1;
  int64_t count = 1;
  double work = 1;  ///< Multiply-adds of one product of two elements.
};

/// Sums of one work-item: the .clh's ROWS and COLUMNS.
struct SimtTile {
  int64_t rows = 4;
  int64_t columns = 4;
};

/// Ok on GPUs that have the group and the local memory of the largest tile, or
/// the reason why not.
Status CheckSimt(const ir::DeviceInfo& device);

/// The tile that is estimated to be done first: a small one leaves no unit
/// idle, a large one loads less.
SimtTile SimtTileFor(const SimtProduct& product, const ir::DeviceInfo& device);

/// Estimated microseconds where the operands have `bytes` bytes together.
double SimtCost(const SimtProduct& product, double bytes,
                const ir::DeviceInfo& device);

/// The tile's options, one group for each tile of each product.
void AddSimtTile(const SimtProduct& product, const ir::DeviceInfo& device,
                 Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_SIMT_TILE_H_
