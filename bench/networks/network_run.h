// One network, compiled on the device of this process and run.
#ifndef TIM_BENCH_NETWORKS_NETWORK_RUN_H_
#define TIM_BENCH_NETWORKS_NETWORK_RUN_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/network.h"
#include "ir/plan.h"

namespace tim::bench {

/// For networks whose first layer is their only input.
class NetworkRun {
 public:
  /// Builds and compiles.
  static Result<NetworkRun> Create(const Network& network);

  /// The graph's own memory: a run copies nothing on the host.
  std::span<float> input() const { return Memory(*graph_.results.front()); }
  std::span<const float> output() const {
    return Memory(*graph_.results.back());
  }

  /// Seconds that Graph::Run() took.
  Result<double> Run();

  const std::string& device() const { return device_; }
  double compile_seconds() const { return compile_seconds_; }
  const ir::Plan& plan() const;

 private:
  NetworkRun() = default;
  static std::span<float> Memory(vx::Tensor& tensor);

  NetworkGraph graph_;
  std::string device_;
  double compile_seconds_ = 0;
};

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_NETWORK_RUN_H_
