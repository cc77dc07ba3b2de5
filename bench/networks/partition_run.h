// One network as a graph of tim::graph, compiled and run as one partition.
#ifndef TIM_BENCH_NETWORKS_PARTITION_RUN_H_
#define TIM_BENCH_NETWORKS_PARTITION_RUN_H_

#include <map>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "bench/networks/network.h"
#include "tim/graph/graph.hpp"

namespace tim::bench {

/// For float32 networks of one input, the first layer, whose layers are
/// convolutions, sums, activations, pools and fully connected layers.
class PartitionRun {
 public:
  /// Builds and compiles, with a cache of constants that has no limit.
  /// kUnimplemented for other layers.
  static Result<PartitionRun> Create(const Network& network);
  PartitionRun(PartitionRun&&) = default;

  /// The memory of the partition's ports.
  std::span<float> input() const;
  std::span<const float> output() const;

  /// Seconds that compiled_partition::execute() took.
  Result<double> Run();

 private:
  using Tensor = graph::logical_tensor;
  struct Memory {
    AlignedMemory bytes;
    size_t elements = 0;
  };
  PartitionRun() = default;
  std::span<float> FloatsOf(size_t id) const;
  graph::tensor Allocate(const Tensor& port);
  Status Build(const Network& network);

  graph::engine engine_;
  graph::stream stream_;
  graph::compiled_partition compiled_;
  std::map<size_t, Memory> memory_;  ///< By tensor.
  std::vector<graph::tensor> inputs_;
  std::vector<graph::tensor> outputs_;
};

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_PARTITION_RUN_H_
