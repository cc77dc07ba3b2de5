// Sizes and cost of tiles of AMX (kernels/bytes/matrix_tiles.clh), for kernels
// that choose between them and vectors.
#ifndef TIM_OPS_LAUNCH_MATRIX_TILE_H_
#define TIM_OPS_LAUNCH_MATRIX_TILE_H_

#include <cstdint>

namespace tim::ops {

/// Rows of a tile, at most.
inline constexpr int64_t kMatrixRows = 16;
/// Bytes of a row whose products are summed at once: a step.
inline constexpr int64_t kMatrixDepth = 64;
/// Steps that take as long as what a tile costs beside its products: to start,
/// to bring the sums to memory, to load them from there.
inline constexpr double kMatrixSteps = 2.3;

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_MATRIX_TILE_H_
