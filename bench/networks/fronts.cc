// Measures both fronts, and an execute beside the run that it makes.
#include "bench/networks/fronts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bench/networks/network_run.h"
#include "bench/networks/network_writer.h"
#include "bench/networks/partition_run.h"
#include "bench/networks/values.h"
#include "bench/timing/median.h"
#include "graph_api/compiled_partition.h"
#include "runtime/execution_context.h"

namespace tim::bench {
namespace {

using Clock = std::chrono::steady_clock;

double GreatestDifference(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double greatest = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference = std::max<double>(difference, std::fabs(a[i] - b[i]));
    greatest = std::max<double>(greatest, std::fabs(b[i]));
  }
  return difference / greatest;
}

// Times of two functions that take turns, which of them is first changes.
struct Turns {
  template <typename First, typename Second>
  Status Measure(int turns, First first, Second second) {
    for (int i = -1; i < turns; ++i) {
      double a = 0;
      double b = 0;
      if (i % 2 != 0) {
        TIM_ASSIGN_OR_RETURN(a, first());
      }
      TIM_ASSIGN_OR_RETURN(b, second());
      if (i % 2 == 0) {
        TIM_ASSIGN_OR_RETURN(a, first());
      }
      if (i < 0) continue;  // made what first runs make
      firsts.push_back(a);
      seconds.push_back(b);
      ratios.push_back(b / a);
      differences.push_back(b - a);
    }
    return OkStatus();
  }

  std::vector<double> firsts, seconds, ratios, differences;
};

// Seconds of one of many calls.
template <typename Function>
Result<double> SecondsOfOne(Function function) {
  constexpr int kCalls = 200;
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    const auto start = Clock::now();
    TIM_RETURN_IF_ERROR(function());
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  return Median(std::move(seconds));
}

// A partition of one op, and its plan in a context of its own.
class OneOp {
 public:
  Status Create();
  Status Execute() {
    compiled_.execute(stream_, inputs_, outputs_);
    return OkStatus();
  }
  Status Run() { return context_->Run(memory_in_, memory_out_, nullptr); }
  int64_t size() const { return kElements; }

 private:
  static constexpr int64_t kElements = 64;
  struct alignas(64) Memory {
    float values[kElements] = {};
  };

  graph::engine engine_;
  graph::stream stream_;
  graph::compiled_partition compiled_;
  std::vector<graph::tensor> inputs_;
  std::vector<graph::tensor> outputs_;
  Memory in_;
  Memory out_;
  std::vector<runtime::PortMemory> memory_in_;
  std::vector<runtime::PortMemory> memory_out_;
  std::unique_ptr<runtime::ExecutionContext> context_;
};

Status OneOp::Create() {
  using Tensor = graph::logical_tensor;
  const auto tensor = [](size_t id) {
    return Tensor(id, Tensor::data_type::f32, Tensor::dims{kElements},
                  Tensor::layout_type::strided);
  };
  const graph::op relu(0, graph::op::kind::ReLU, {tensor(0)}, {tensor(1)});
  engine_ = graph::engine(graph::engine::kind::cpu, 0);
  stream_ = graph::stream(engine_);
  compiled_ = graph::partition(relu, graph::engine::kind::cpu)
                  .compile({tensor(0)}, {tensor(1)}, engine_);
  inputs_ = {graph::tensor(tensor(0), engine_, in_.values)};
  outputs_ = {graph::tensor(tensor(1), engine_, out_.values)};
  TIM_ASSIGN_OR_RETURN(const auto plan, compiled_.get()->compiled->plan());
  TIM_ASSIGN_OR_RETURN(
      context_, runtime::ExecutionContext::Create(plan->graph()->executable()));
  memory_in_ = {runtime::PortMemory(in_.values, sizeof(in_))};
  memory_out_ = {runtime::PortMemory(out_.values, sizeof(out_))};
  return OkStatus();
}

}  // namespace

Result<nlohmann::json> MeasureFronts(const Network& network, int turns) {
  TIM_ASSIGN_OR_RETURN(NetworkRun vx, NetworkRun::Create(network));
  TIM_ASSIGN_OR_RETURN(PartitionRun partition, PartitionRun::Create(network));
  FillValues(1000, 1.0f, vx.input());
  FillValues(1000, 1.0f, partition.input());
  Turns measured;
  TIM_RETURN_IF_ERROR(measured.Measure(
      turns, [&] { return vx.Run(); }, [&] { return partition.Run(); }));
  return nlohmann::json{
      {"network", network.name},
      {"device", vx.device()},
      {"turns", turns},
      {"vx_ms", 1e3 * Median(measured.firsts)},
      {"graph_ms", 1e3 * Median(measured.seconds)},
      {"ratio", Median(measured.ratios)},
      {"difference", GreatestDifference(partition.output(), vx.output())}};
}

Result<nlohmann::json> MeasureExecuteCost(int turns) {
  const auto one = std::make_unique<OneOp>();
  Turns measured;
  try {
    TIM_RETURN_IF_ERROR(one->Create());
    TIM_RETURN_IF_ERROR(measured.Measure(
        turns, [&] { return SecondsOfOne([&] { return one->Run(); }); },
        [&] { return SecondsOfOne([&] { return one->Execute(); }); }));
  } catch (const graph::error& error) {
    return FailedPrecondition(error.what());
  }
  return nlohmann::json{{"elements", one->size()},
                        {"turns", turns},
                        {"run_us", 1e6 * Median(measured.firsts)},
                        {"execute_us", 1e6 * Median(measured.seconds)},
                        {"beyond_us", 1e6 * Median(measured.differences)}};
}

}  // namespace tim::bench
