#include "bench/operators/measure_operators.h"

#include <map>
#include <memory>
#include <utility>

#include "bench/networks/graph_of_network.h"
#include "bench/operators/bandwidth_cases.h"
#include "bench/operators/byte_cases.h"
#include "bench/operators/cases.h"
#include "bench/operators/plan_edit.h"
#include "bench/operators/quantized_cases.h"
#include "bench/timing/probes.h"
#include "bench/timing/timed_plan.h"
#include "tim/vx/error.h"
#include "vx/graph/graph_impl.h"

namespace tim::bench {
namespace {

constexpr char kFma[] = "peak/fma";
constexpr char kVnni[] = "peak/vnni";
constexpr char kAmx[] = "peak/amx";
constexpr char kRead[] = "peak/read";
constexpr char kCopy[] = "peak/copy";

std::string KernelsName(const std::string& name) { return name + "/kernels"; }
std::string RunName(const std::string& name) { return name + "/run"; }

// As the class of tim::vx::ops is called.
const char* OperationType(LayerKind kind) {
  switch (kind) {
    case LayerKind::kMatmul:
      return "Matmul";
    case LayerKind::kFullyConnected:
      return "FullyConnected";
    case LayerKind::kMaxPool:
      return "Pool2d";
    default:
      return "Conv2d";
  }
}

// What a case does, and how often its kernels do it in a run of their own.
struct Amount {
  std::string name;
  double flops = 0;
  double bytes = 0;
  int repeats = 1;
  bool moves = false;       // its limit is a copy
  const char* peak = kFma;  // the limit of its arithmetic
};

class OperatorBench {
 public:
  static Result<OperatorBench> Create() {
    OperatorBench bench;
    TIM_ASSIGN_OR_RETURN(bench.devices_, MeasuredDevices());
    bench.context_ = vx::Context::Create();
    if (bench.context_ == nullptr) return FailedPrecondition(vx::LastError());
    TIM_RETURN_IF_ERROR(bench.AddProbe(kFma, FmaProbe(bench.devices_)));
    TIM_RETURN_IF_ERROR(bench.AddProbe(kRead, ReadProbe(bench.devices_)));
    TIM_RETURN_IF_ERROR(bench.AddProbe(kCopy, CopyProbe(bench.devices_)));
    if (bench.devices_[1]->info().has_amx) {
      bench.byte_peak_ = kAmx;
      TIM_RETURN_IF_ERROR(bench.AddProbe(kAmx, AmxProbe(bench.devices_)));
    } else if (bench.devices_[1]->info().has_vnni) {
      bench.byte_peak_ = kVnni;
      TIM_RETURN_IF_ERROR(bench.AddProbe(kVnni, VnniProbe(bench.devices_)));
    }
    return bench;
  }

  Status Add(const OperatorCase& added) {
    const Work work = WorkOf(added);
    return AddGraph(GraphOfNetwork(*context_, added.network).graph,
                    OperationType(added.kind),
                    {.name = added.name,
                     .flops = work.flops,
                     .bytes = work.bytes,
                     .repeats = added.repeats});
  }

  Status Add(const BandwidthCase& added) {
    const auto graph = context_->CreateGraph();
    added.build(*graph);
    return AddGraph(graph, added.operation,
                    {.name = added.name,
                     .bytes = added.bytes,
                     .repeats = 4,
                     .moves = true});
  }

  Status Add(const ByteCase& added) {
    const auto graph = context_->CreateGraph();
    added.build(*graph);
    return AddGraph(graph, added.operation,
                    {.name = added.name,
                     .flops = added.operations,
                     .bytes = added.bytes,
                     .repeats = added.repeats,
                     .peak = byte_peak_});
  }

  Result<std::vector<OperatorResult>> Measure(Effort effort) const {
    TIM_ASSIGN_OR_RETURN(const auto seconds, MedianSeconds(functions_, effort));
    std::vector<OperatorResult> results;
    for (const Amount& amount : amounts_) {
      results.push_back(ResultOf(amount, seconds));
    }
    return results;
  }

 private:
  OperatorBench() = default;

  Status AddPlan(const std::string& name, ir::Plan plan) {
    TIM_ASSIGN_OR_RETURN(functions_.emplace_back(),
                         TimedPlan(name, std::move(plan), devices_));
    return OkStatus();
  }

  Status AddProbe(const std::string& name, Probe probe) {
    probe_work_[name] = probe.work;
    return AddPlan(name, std::move(probe.plan));
  }

  Status AddGraph(const std::shared_ptr<vx::Graph>& graph,
                  const std::string& operation, Amount amount) {
    const std::string& name = amount.name;
    if (!graph->Compile()) {
      return FailedPrecondition(name, ": ", vx::LastError());
    }
    ir::Plan kernels = OnlyOperations(*vx::CompiledPlan(*graph), operation);
    if (kernels.steps.empty()) {
      return FailedPrecondition(name, ": the plan has no such step");
    }
    kernels = WithRandomInputs(Repeated(std::move(kernels), amount.repeats));
    TIM_RETURN_IF_ERROR(AddPlan(KernelsName(name), std::move(kernels)));
    functions_.push_back({RunName(name), [graph]() -> Status {
                            if (graph->Run()) return OkStatus();
                            return FailedPrecondition(vx::LastError());
                          }});
    amounts_.push_back(std::move(amount));
    return OkStatus();
  }

  OperatorResult ResultOf(const Amount& c,
                          const std::map<std::string, double>& seconds) const {
    const auto rate = [&](const char* probe) {
      return probe_work_.at(probe) / seconds.at(probe);
    };
    const double bandwidth = rate(c.moves ? kCopy : kRead);
    const bool computes = c.flops / rate(c.peak) > c.bytes / bandwidth;
    const double amount = computes ? c.flops : c.bytes;
    const double limit = computes ? rate(c.peak) : bandwidth;
    return {.name = c.name,
            .unit = computes ? "gflops" : "gbps",
            .rate = 1e-9 * amount * c.repeats / seconds.at(KernelsName(c.name)),
            .limit = 1e-9 * limit,
            .run_share = amount / seconds.at(RunName(c.name)) / limit};
  }

  Devices devices_;
  std::shared_ptr<vx::Context> context_;
  const char* byte_peak_ = kFma;
  std::map<std::string, double> probe_work_;  // of a run
  std::vector<Amount> amounts_;
  std::vector<Timed> functions_;
};

std::vector<BandwidthCase> MovingCases() {
  std::vector<BandwidthCase> cases = BandwidthCases();
  for (BandwidthCase& added : QuantizedCases()) {
    cases.push_back(std::move(added));
  }
  return cases;
}

}  // namespace

Result<std::vector<OperatorResult>> MeasureOperators(
    Effort effort, const std::function<bool(const std::string& name)>& asked) {
  TIM_ASSIGN_OR_RETURN(OperatorBench bench, OperatorBench::Create());
  for (const OperatorCase& added : OperatorCases()) {
    if (asked(added.name)) TIM_RETURN_IF_ERROR(bench.Add(added));
  }
  for (const ByteCase& added : ByteCases()) {
    if (asked(added.name)) TIM_RETURN_IF_ERROR(bench.Add(added));
  }
  for (const BandwidthCase& added : MovingCases()) {
    if (asked(added.name)) TIM_RETURN_IF_ERROR(bench.Add(added));
  }
  return bench.Measure(effort);
}

}  // namespace tim::bench
