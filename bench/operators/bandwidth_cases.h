// Operators whose time is that of their memory.
#ifndef TIM_BENCH_OPERATORS_BANDWIDTH_CASES_H_
#define TIM_BENCH_OPERATORS_BANDWIDTH_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "tim/vx/graph.h"

namespace tim::bench {

/// One operation between INPUT and OUTPUT tensors of float32.
struct BandwidthCase {
  std::string name;
  std::string operation;  ///< As the class of tim::vx::ops is called.
  double bytes = 0;       ///< That must be read and written.
  std::function<void(vx::Graph& graph)> build;
};

/// Shapes are W x H; 16 MiB are 1024x4096.
/// relu_, add_, select_, transpose_, softmax_, layer_norm_, cumsum_1024x4096.
/// slice_, concat_, tile_1024x4096: of the result; Slice cuts it out of rows of
/// 1536, Concat has two inputs of 512x4096, Tile one of 512x2048.
/// reduce_fastest_, reduce_slowest_1024x4096: ReduceSum of one axis.
/// gather_rows_256x16384: as many rows of 256, in random order.
/// topk_8_of_100000: of each of 40 rows.
std::vector<BandwidthCase> BandwidthCases();

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_BANDWIDTH_CASES_H_
