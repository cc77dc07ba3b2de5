// Compiles and runs hand-made plans with one input and one output.
#ifndef TIM_TESTS_SUPPORT_PLANS_PLAN_RUN_H_
#define TIM_TESTS_SUPPORT_PLANS_PLAN_RUN_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/state_set.h"
#include "tests/support/plans/plan_builder.h"

namespace tim::testing {

using Floats = std::vector<float>;
using device::Devices;

/// out = in + 10.
Status AddTen(std::span<const float> in, std::span<float> out);

/// input -> `function` on `device` -> output, through temporaries.
void BuildEval(PlanBuilder& plan, int device, FloatFunction function = AddTen);

/// Without a store, one that keeps nothing.
Result<std::shared_ptr<const runtime::Executable>> CompilePlan(
    PlanBuilder& plan, std::shared_ptr<device::BinaryStore> store = nullptr);

Result<std::unique_ptr<runtime::ExecutionContext>> MakeContext(
    PlanBuilder& plan);

/// The output, of as many floats as the input.
Result<Floats> RunOnce(runtime::ExecutionContext& context, const Floats& input,
                       runtime::StateSet* states = nullptr);

void ExpectRun(runtime::ExecutionContext& context, const Floats& input,
               const Floats& expected, runtime::StateSet* states = nullptr);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_PLAN_RUN_H_
