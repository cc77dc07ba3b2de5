// How much of a tensor's rows a work-item makes.
#ifndef TIM_OPS_LAUNCH_PIECES_H_
#define TIM_OPS_LAUNCH_PIECES_H_

#include <cstdint>

#include "ir/device_info.h"

namespace tim::ops {

/// `planes` times `rows` rows of `length` elements.
struct RowExtents {
  int64_t length = 1;
  int64_t rows = 1;
  int64_t planes = 1;
};

/// `piece` neighbours, a multiple of 16, of `group` rows of a plane.
struct Pieces {
  int64_t piece = 16;
  int64_t group = 1;
};
int64_t CountItems(const RowExtents& extents, const Pieces& pieces);

/// Processors like long pieces, and groups of short rows, where enough remain
/// for all of them; other devices get 16 neighbours of one row.
Pieces PiecesOf(const RowExtents& extents, const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_PIECES_H_
