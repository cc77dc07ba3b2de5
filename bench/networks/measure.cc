#include "bench/networks/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/memory_count.h"
#include "bench/networks/network_run.h"
#include "bench/networks/process.h"
#include "bench/networks/values.h"
#include "bench/timing/core_to_core.h"
#include "bench/timing/median.h"

namespace tim::bench {
namespace {

// Virtual processors that slept run at full speed only after some 10 ms.
constexpr double kLeastSeconds = 0.5;
// Streams of inputs, far from those of parameters.
constexpr uint64_t kInputStream = uint64_t{1} << 32;

// Keeps this thread's processor busy.
void Compute(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> time(seconds);
  while (std::chrono::steady_clock::now() - start < time) {
  }
}

Result<std::vector<double>> TimeRuns(NetworkRun& run,
                                     const MeasureOptions& options) {
  std::vector<double> seconds;
  double sum = 0;
  for (int i = 0; i < options.runs || sum < kLeastSeconds; ++i) {
    FillValues(kInputStream + i, 1.0f, run.input());
    Compute(options.seconds_between);
    TIM_ASSIGN_OR_RETURN(seconds.emplace_back(), run.Run());
    sum += seconds.back() + options.seconds_between;
  }
  return seconds;
}

int64_t PlannedBytes(const ir::Plan& plan) {
  int64_t bytes = 0;
  for (const ir::Arena& arena : plan.arenas) bytes += arena.bytes;
  for (const ir::ConstantBlock& block : plan.constants) bytes += block.bytes;
  return bytes;
}

}  // namespace

Result<nlohmann::json> Measure(const Network& network,
                               const MeasureOptions& options) {
  if (options.runs < 1) return InvalidArgument("runs: expected 1 or more");
  if (!(options.seconds_between >= 0)) {
    return InvalidArgument("between: expected 0 seconds or more");
  }
  TIM_ASSIGN_OR_RETURN(NetworkRun run, NetworkRun::Create(network));
  TIM_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                       TimeRuns(run, options));
  const ir::MemoryReport& memory = run.plan().memory;
  return nlohmann::json{
      {"network", network.name},
      {"type", NameOf(network.type)},
      {"device", run.device()},
      {"runs", seconds.size()},
      {"median_ms", 1e3 * Median(seconds)},
      {"min_ms", 1e3 * *std::min_element(seconds.begin(), seconds.end())},
      {"core_to_core_ns", CoreToCoreNanoseconds()},
      {"compile_s", run.compile_seconds()},
      {"weight_bytes", ParameterBytes(network)},
      {"peak_bytes", memory.peak},
      {"lower_bound_bytes", memory.lower_bound},
      {"planned_bytes", PlannedBytes(run.plan())},
      {"counted_bytes", CountedMemory()},
      {"resident_bytes", ResidentBytes()}};
}

}  // namespace tim::bench
