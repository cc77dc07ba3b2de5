#include "bench/operators/measure_operators.h"

#include <map>
#include <memory>

#include "bench/networks/graph_of_network.h"
#include "bench/operators/cases.h"
#include "bench/operators/plan_edit.h"
#include "bench/timing/probes.h"
#include "bench/timing/timed_plan.h"
#include "tim/vx/error.h"
#include "vx/graph/graph_impl.h"

namespace tim::bench {
namespace {

constexpr char kFma[] = "peak/fma";
constexpr char kRead[] = "peak/read";

std::string KernelsName(const OperatorCase& c) { return c.name + "/kernels"; }
std::string RunName(const OperatorCase& c) { return c.name + "/run"; }

// As the class of tim::vx::ops is called.
const char* OperationType(LayerKind kind) {
  switch (kind) {
    case LayerKind::kMatmul:
      return "Matmul";
    case LayerKind::kFullyConnected:
      return "FullyConnected";
    case LayerKind::kMaxPool:
      return "Pool2d";
    case LayerKind::kSoftmax:
      return "Softmax";
    case LayerKind::kAdd:
      return "Add";
    case LayerKind::kRelu:
      return "Relu";
    case LayerKind::kTranspose:
      return "Transpose";
    default:
      return "Conv2d";
  }
}

class OperatorBench {
 public:
  static Result<OperatorBench> Create() {
    OperatorBench bench;
    TIM_ASSIGN_OR_RETURN(bench.devices_, MeasuredDevices());
    bench.context_ = vx::Context::Create();
    if (bench.context_ == nullptr) return FailedPrecondition(vx::LastError());
    Probe fma = FmaProbe(bench.devices_);
    Probe read = ReadProbe(bench.devices_);
    bench.flops_ = fma.work;
    bench.bytes_ = read.work;
    TIM_RETURN_IF_ERROR(bench.AddPlan(kFma, std::move(fma.plan)));
    TIM_RETURN_IF_ERROR(bench.AddPlan(kRead, std::move(read.plan)));
    return bench;
  }

  Status Add(OperatorCase added) {
    const auto graph = GraphOfNetwork(*context_, added.network).graph;
    if (!graph->Compile()) {
      return FailedPrecondition(added.name, ": ", vx::LastError());
    }
    ir::Plan kernels =
        OnlyOperations(*vx::CompiledPlan(*graph), OperationType(added.kind));
    if (kernels.steps.empty()) {
      return FailedPrecondition(added.name, ": the plan has no such step");
    }
    TIM_RETURN_IF_ERROR(AddPlan(KernelsName(added),
                                Repeated(std::move(kernels), added.repeats)));
    functions_.push_back({RunName(added), [graph]() -> Status {
                            if (graph->Run()) return OkStatus();
                            return FailedPrecondition(vx::LastError());
                          }});
    cases_.push_back(std::move(added));
    return OkStatus();
  }

  Result<std::vector<OperatorResult>> Measure(Effort effort) const {
    TIM_ASSIGN_OR_RETURN(const auto seconds, MedianSeconds(functions_, effort));
    std::vector<OperatorResult> results;
    for (const OperatorCase& c : cases_) {
      results.push_back(ResultOf(c, seconds));
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

  OperatorResult ResultOf(const OperatorCase& c,
                          const std::map<std::string, double>& seconds) const {
    const double peak_flops = flops_ / seconds.at(kFma);
    const double peak_bytes = bytes_ / seconds.at(kRead);
    const Work work = WorkOf(c);
    const bool computes = work.flops / peak_flops > work.bytes / peak_bytes;
    const double amount = computes ? work.flops : work.bytes;
    const double limit = computes ? peak_flops : peak_bytes;
    return {.name = c.name,
            .unit = computes ? "gflops" : "gbps",
            .rate = 1e-9 * amount * c.repeats / seconds.at(KernelsName(c)),
            .limit = 1e-9 * limit,
            .run_share = amount / seconds.at(RunName(c)) / limit};
  }

  Devices devices_;
  std::shared_ptr<vx::Context> context_;
  double flops_ = 0;  // of a run of kFma
  double bytes_ = 0;  // of a run of kRead
  std::vector<OperatorCase> cases_;
  std::vector<Timed> functions_;
};

}  // namespace

Result<std::vector<OperatorResult>> MeasureOperators(Effort effort) {
  TIM_ASSIGN_OR_RETURN(OperatorBench bench, OperatorBench::Create());
  std::vector<OperatorCase> cases = OperatorCases();
  for (OperatorCase& added : cases) {
    TIM_RETURN_IF_ERROR(bench.Add(std::move(added)));
  }
  return bench.Measure(effort);
}

}  // namespace tim::bench
