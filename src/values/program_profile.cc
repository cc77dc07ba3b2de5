// Measures the operations of a program's runs.
#include <utility>

#include "runtime/profile.h"
#include "runtime/step_estimates.h"
#include "values/program_state.h"

namespace tim::values::internal {
namespace {

NodeReport ReportOf(const runtime::OperationProfile& operation,
                    const ir::Plan& plan, int64_t runs) {
  NodeReport report;
  report.name = operation.name;
  report.op = operation.op;
  report.device = plan.devices[static_cast<size_t>(operation.device)].kind;
  report.kernel = operation.kernel;
  for (const std::string& refused : operation.refused) {
    report.reason += (report.reason.empty() ? "" : "\n") + refused;
  }
  report.compute.flops = operation.operations;
  report.compute.bytes_read = operation.bytes;
  ir::Decision decision;
  decision.chosen = operation.chosen;
  report.predicted_us = runtime::CostOf(decision).value_or(0);
  report.measured_us = static_cast<double>(operation.nanoseconds) / 1e3 /
                       static_cast<double>(runs);
  return report;
}

}  // namespace

Result<std::vector<NodeReport>> ProgramState::Profile(
    const std::vector<Value>& inputs, int runs) {
  if (runs < 1) return InvalidArgument(runs, " runs measure nothing");
  TIM_ASSIGN_OR_RETURN(const Operands operands, OperandsOf(inputs));
  TIM_ASSIGN_OR_RETURN(const auto plan,
                       PlanFor(operands.ports, OutputPlace::kDevice));
  std::vector<NodeReport> reports;
  runtime::CompiledGraph* const compiled = plan->compiled();
  if (compiled == nullptr) return reports;
  std::vector<runtime::PortMemory> in;
  for (const size_t i : plan->inputs()) {
    const auto& memory = *operands.places[i].memory;
    TIM_RETURN_IF_ERROR(memory.completion().Wait());
    in.push_back(PortOf(memory));
  }
  TIM_ASSIGN_OR_RETURN(const auto outputs, AllocateOutputs(compiled->plan()));
  std::vector<runtime::PortMemory> out;
  for (const auto& memory : outputs) out.push_back(PortOf(*memory));
  runtime::Profiler profiler(compiled->executable());
  for (int i = 0; i < runs; ++i) {
    TIM_RETURN_IF_ERROR(compiled->RunObserved(in, out, profiler));
  }
  for (const auto& operation : profiler.profile().operations) {
    if (operation.chosen.empty()) continue;  // a copy, and no node
    reports.push_back(ReportOf(operation, compiled->plan(), runs));
  }
  return reports;
}

}  // namespace tim::values::internal
