// Runs with and without a trace, in turn.
#include "bench/networks/trace_cost.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "base/trace.h"
#include "bench/networks/network_run.h"
#include "bench/timing/median.h"

namespace tim::bench {
namespace {

constexpr int kTurns = 51;
constexpr double kTurnSeconds = 0.02;  // of each kind
constexpr int kMostRuns = 2000;        // of each kind, in a turn

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<double> MedianOfRuns(NetworkRun& run, int runs) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    TIM_ASSIGN_OR_RETURN(seconds.emplace_back(), run.Run());
  }
  return Median(std::move(seconds));
}

struct Turn {
  double off = 0;
  double on = 0;
  double write = 0;  // of a run
};

Result<double> MeasureOn(NetworkRun& run, int runs, const std::string& file,
                         double* write) {
  TIM_RETURN_IF_ERROR(StartTrace(file));
  const auto seconds = MedianOfRuns(run, runs);
  const auto start = Clock::now();
  StopTrace();
  *write = SecondsSince(start) / runs;
  return seconds;
}

Result<Turn> MeasureTurn(NetworkRun& run, int runs, const std::string& file,
                         bool off_first) {
  Turn turn;
  if (off_first) {
    TIM_ASSIGN_OR_RETURN(turn.off, MedianOfRuns(run, runs));
  }
  TIM_ASSIGN_OR_RETURN(turn.on, MeasureOn(run, runs, file, &turn.write));
  if (!off_first) {
    TIM_ASSIGN_OR_RETURN(turn.off, MedianOfRuns(run, runs));
  }
  return turn;
}

}  // namespace

Result<nlohmann::json> MeasureTraceCost(const Network& network,
                                        const std::string& file) {
  if (TraceEnabled()) {
    return InvalidArgument("TIMCL_TRACE is set: all runs would be traced");
  }
  TIM_ASSIGN_OR_RETURN(NetworkRun run, NetworkRun::Create(network));
  TIM_ASSIGN_OR_RETURN(const double first, MedianOfRuns(run, 20));
  const int runs =
      std::clamp(static_cast<int>(kTurnSeconds / first), 3, kMostRuns);
  std::vector<double> off, on, write, ratio, ratio_with_writing;
  for (int i = 0; i <= kTurns; ++i) {
    TIM_ASSIGN_OR_RETURN(const Turn turn,
                         MeasureTurn(run, runs, file, i % 2 == 0));
    if (i == 0) continue;  // made the text
    off.push_back(1e6 * turn.off);
    on.push_back(1e6 * turn.on);
    write.push_back(1e6 * turn.write);
    ratio.push_back(turn.on / turn.off);
    ratio_with_writing.push_back((turn.on + turn.write) / turn.off);
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(file));
  return nlohmann::json{{"network", network.name},
                        {"type", NameOf(network.type)},
                        {"device", run.device()},
                        {"runs", runs * kTurns},
                        {"off_us", Median(off)},
                        {"on_us", Median(on)},
                        {"write_us", Median(write)},
                        {"ratio", Median(ratio)},
                        {"ratio_with_writing", Median(ratio_with_writing)},
                        {"bytes", bytes / runs}};
}

}  // namespace tim::bench
