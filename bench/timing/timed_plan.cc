#include "bench/timing/timed_plan.h"

#include <cstddef>
#include <utility>

#include "base/options.h"
#include "compiler/chains.h"
#include "runtime/device_pool.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "vx/core/user_programs.h"

namespace tim::bench {
namespace {

// A plan made ready, with memory for its inputs and outputs.
class PlanRunner {
 public:
  static Result<std::unique_ptr<PlanRunner>> Create(ir::Plan plan,
                                                    const Devices& devices);
  Status Run() { return context_->Run(inputs_, outputs_, nullptr); }

 private:
  PlanRunner() = default;
  Result<void*> AddMemory(const ir::PlanTensor& tensor);

  std::unique_ptr<runtime::ExecutionContext> context_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

Result<void*> PlanRunner::AddMemory(const ir::PlanTensor& tensor) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(tensor.desc));
  return memory_.emplace_back(static_cast<size_t>(bytes)).data();
}

Result<std::unique_ptr<PlanRunner>> PlanRunner::Create(ir::Plan plan,
                                                       const Devices& devices) {
  // Plans that were edited have other neighbours.
  plan.chains = compiler::FindChains(plan);
  TIM_ASSIGN_OR_RETURN(const auto executable,
                       runtime::Executable::Create(std::move(plan), devices,
                                                   vx::UserPrograms()));
  std::unique_ptr<PlanRunner> runner(new PlanRunner());
  for (const ir::PlanTensor& input : executable->plan().inputs) {
    TIM_ASSIGN_OR_RETURN(runner->inputs_.emplace_back(),
                         runner->AddMemory(input));
  }
  for (const ir::PlanTensor& output : executable->plan().outputs) {
    TIM_ASSIGN_OR_RETURN(runner->outputs_.emplace_back(),
                         runner->AddMemory(output));
  }
  TIM_ASSIGN_OR_RETURN(runner->context_,
                       runtime::ExecutionContext::Create(executable));
  return runner;
}

}  // namespace

Result<Devices> MeasuredDevices() {
  TIM_ASSIGN_OR_RETURN(
      Devices devices,
      runtime::SelectDevices(GetOptions().device, GetOptions().on_device));
  if (devices.size() == 2) return devices;
  return FailedPrecondition("there is no OpenCL device to measure");
}

Result<Timed> TimedPlan(const std::string& name, ir::Plan plan,
                        const Devices& devices) {
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<PlanRunner> runner,
                       PlanRunner::Create(std::move(plan), devices));
  return Timed{name, [runner] { return runner->Run(); }};
}

}  // namespace tim::bench
