#include "bench/networks/network_run.h"

#include <chrono>

#include "tim/vx/error.h"
#include "vx/graph/graph_impl.h"

namespace tim::bench {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<NetworkRun> NetworkRun::Create(const Network& network) {
  NetworkRun run;
  const auto context = vx::Context::Create();
  if (context == nullptr) return FailedPrecondition(vx::LastError());
  run.device_ = context->DeviceName();
  run.graph_ = GraphOfNetwork(*context, network);
  const auto start = Clock::now();
  if (!run.graph_.graph->Compile()) {
    return FailedPrecondition(network.name, ": ", vx::LastError());
  }
  run.compile_seconds_ = SecondsSince(start);
  return run;
}

Result<double> NetworkRun::Run() {
  const auto start = Clock::now();
  if (!graph_.results.front()->FlushCacheForHandle() || !graph_.graph->Run() ||
      !graph_.results.back()->InvalidateCacheForHandle()) {
    return FailedPrecondition(vx::LastError());
  }
  return SecondsSince(start);
}

const ir::Plan& NetworkRun::plan() const {
  return *vx::CompiledPlan(*graph_.graph);
}

std::span<float> NetworkRun::Memory(vx::Tensor& tensor) {
  return {static_cast<float*>(tensor.map()),
          static_cast<size_t>(tensor.GetSpec().GetElementNum())};
}

}  // namespace tim::bench
