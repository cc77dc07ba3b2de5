#include "tests/support/plans/plan_run.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/status_macros.h"

namespace tim::testing {

using runtime::Executable;
using runtime::ExecutionContext;
using runtime::StateSet;

Status AddTen(std::span<const float> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 10;
  return OkStatus();
}

Result<std::shared_ptr<const Executable>> CompilePlan(
    PlanBuilder& plan, std::shared_ptr<device::BinaryStore> store) {
  if (store == nullptr) store = std::make_shared<EmptyStore>();
  return Executable::Create(plan.plan(), plan.devices(), std::move(store),
                            plan.operators());
}

Result<std::unique_ptr<ExecutionContext>> MakeContext(PlanBuilder& plan) {
  TIM_ASSIGN_OR_RETURN(auto executable, CompilePlan(plan));
  return ExecutionContext::Create(std::move(executable));
}

Result<Floats> RunOnce(ExecutionContext& context, const Floats& input,
                       StateSet* states) {
  Floats output(input.size(), -1);
  const void* const inputs[] = {input.data()};
  void* const outputs[] = {output.data()};
  TIM_RETURN_IF_ERROR(context.Run(inputs, outputs, states));
  return output;
}

void ExpectRun(ExecutionContext& context, const Floats& input,
               const Floats& expected, StateSet* states) {
  const auto output = RunOnce(context, input, states);
  ASSERT_OK(output);
  EXPECT_EQ(*output, expected);
}

void BuildEval(PlanBuilder& plan, int device, FloatFunction function) {
  const int in = plan.Temporary(device);
  const int out = plan.Temporary(device);
  plan.Copy(device, plan.Input(), in);
  plan.Eval(device, std::move(function), in, out);
  plan.Copy(device, out, plan.Output());
}

}  // namespace tim::testing
