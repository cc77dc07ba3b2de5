#include "bench/timing/interleaved.h"

#include <benchmark/benchmark.h>

#include "bench/timing/median.h"

namespace tim::bench {
namespace {

// Keeps what Google Benchmark would print.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        failure_ = FailedPrecondition(run.error_message);
      } else if (run.run_type == Run::RT_Iteration) {
        seconds_[run.run_name.function_name].push_back(
            run.real_accumulated_time / static_cast<double>(run.iterations));
      }
    }
  }

  Result<std::map<std::string, double>> Medians() const {
    TIM_RETURN_IF_ERROR(failure_);
    std::map<std::string, double> medians;
    for (const auto& [name, seconds] : seconds_) {
      medians[name] = Median(seconds);
    }
    return medians;
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
  Status failure_;
};

void Initialize(Effort effort) {
  const bool quick = effort == Effort::kQuick;
  const bool steps = effort == Effort::kSteps;
  std::vector<std::string> words = {
      "bench", "--benchmark_enable_random_interleaving=true",
      quick ? "--benchmark_repetitions=1" : "--benchmark_repetitions=15",
      quick   ? "--benchmark_min_time=0.0001"
      : steps ? "--benchmark_min_time=0.002"
              : "--benchmark_min_time=0.1"};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

void Register(const Timed& timed) {
  const auto loop = [timed](benchmark::State& state) {
    for (auto _ : state) {
      const Status status = timed.run();
      if (status.ok()) continue;
      state.SkipWithError(StrCat(timed.name, ": ", status.ToString()).c_str());
      break;
    }
  };
  benchmark::RegisterBenchmark(timed.name.c_str(), loop)->UseRealTime();
}

}  // namespace

Result<std::map<std::string, double>> MedianSeconds(
    const std::vector<Timed>& functions, Effort effort) {
  Initialize(effort);
  for (const Timed& timed : functions) Register(timed);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, ".*");
  benchmark::ClearRegisteredBenchmarks();
  return collector.Medians();
}

}  // namespace tim::bench
