// Plans of random graphs of all operators: written and read back they run to
// the same bits, and a damaged one is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "binary/plan/plan_file.h"
#include "compiler/compiler.h"
#include "device/device_pools.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "runtime/execution_context.h"
#include "runtime/transfer.h"
#include "tests/properties/graphs/random_graph.h"
#include "tests/properties/properties.h"
#include "tests/support/long_tests.h"
#include "tests/support/plans/same_plan.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/core/user_programs.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"
#include "vx/lowering/lowering.h"

namespace tim::testing {
namespace {

using Bytes = std::vector<std::byte>;
using device::Devices;

// Reorder depends on what no graph states.
bool IsLeftOut(const std::string& op) {
  return op == "tim.Reorder" ||
         ops::BuiltinOperators().Find(op)->effects.random;
}

std::vector<const OperatorCases*> Operators() {
  std::vector<const OperatorCases*> out;
  for (const OperatorCases& cases : AllCases()) {
    if (!IsLeftOut(cases.op)) out.push_back(&cases);
  }
  return out;
}

// A graph's plan, and the content of its inputs.
struct Planned {
  ir::Plan plan;
  std::vector<Bytes> inputs;
};

Result<Planned> PlanOf(const BuiltGraph& built, const Devices& devices) {
  const auto& graph = dynamic_cast<const vx::GraphImpl&>(*built.graph);
  auto io = built.graph->InputsTensor();
  const auto outputs = built.graph->OutputsTensor();
  io.insert(io.end(), outputs.begin(), outputs.end());
  TIM_ASSIGN_OR_RETURN(const vx::LoweredGraph lowered,
                       vx::Lower(*graph.core(), built.graph->OpVector(), io));
  Planned planned;
  TIM_ASSIGN_OR_RETURN(planned.plan,
                       compiler::Compile(lowered.graph, *lowered.registry,
                                         runtime::CompileOptionsFor(devices)));
  std::map<std::string, std::shared_ptr<vx::TensorImpl>> tensors;
  for (const vx::LoweredTensor& entry : lowered.tensors) {
    tensors.emplace(lowered.graph.value(entry.value).name, entry.tensor);
  }
  for (const ir::PlanTensor& input : planned.plan.inputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(input.desc));
    Bytes& content = planned.inputs.emplace_back(static_cast<size_t>(bytes));
    if (!tensors.at(input.name)->CopyDataFromTensor(content.data())) {
      return InvalidArgument(vx::LastError());
    }
  }
  return planned;
}

Result<std::vector<Bytes>> RunIn(runtime::ExecutionContext& context,
                                 const std::vector<Bytes>& inputs) {
  std::vector<const void*> in;
  for (const Bytes& input : inputs) in.push_back(input.data());
  std::vector<Bytes> results;
  std::vector<void*> out;
  for (const ir::PlanTensor& output : context.executable().plan().outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    results.emplace_back(static_cast<size_t>(bytes));
    out.push_back(results.back().data());
  }
  TIM_RETURN_IF_ERROR(context.Run(in, out, nullptr));
  return results;
}

// Arenas that a context takes from the pools next are all ones: as floats they
// are no numbers, as indices out of bounds.
Status FillPools(const runtime::Executable& executable) {
  std::vector<device::PoolRange> filled;
  for (const ir::Arena& arena : executable.plan().arenas) {
    if (arena.bytes == 0) continue;
    device::Device& device = executable.device(arena.device);
    const Bytes ones(static_cast<size_t>(arena.bytes), std::byte{0xFF});
    TIM_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
    TIM_ASSIGN_OR_RETURN(
        filled.emplace_back(),
        device.pools().Of(arena.memory).Allocate(arena.bytes, nullptr));
    TIM_RETURN_IF_ERROR(runtime::Upload(*stream, ones.data(), arena.bytes,
                                        filled.back().buffer()));
  }
  return OkStatus();
}

// Runs by a first context and by a further one, which is not filled with zeros.
Result<std::vector<Bytes>> Run(ir::Plan plan, const std::vector<Bytes>& inputs,
                               const Devices& devices) {
  TIM_ASSIGN_OR_RETURN(const auto executable,
                       runtime::Executable::Create(std::move(plan), devices,
                                                   vx::UserPrograms()));
  TIM_ASSIGN_OR_RETURN(const auto first,
                       runtime::ExecutionContext::Create(executable));
  TIM_ASSIGN_OR_RETURN(auto results, RunIn(*first, inputs));
  TIM_RETURN_IF_ERROR(FillPools(*executable));
  TIM_ASSIGN_OR_RETURN(const auto another,
                       runtime::ExecutionContext::CreateAnother(executable));
  TIM_ASSIGN_OR_RETURN(const auto again, RunIn(*another, inputs));
  EXPECT_EQ(results, again) << "in arenas of any content";
  return results;
}

void Check(const RandomGraph& graph, vx::Context& context,
           const Devices& devices) {
  const auto planned = PlanOf(Build(graph, context), devices);
  ASSERT_OK(planned);
  EXPECT_OK(ir::Verify(planned->plan));
  const auto written = binary::WritePlan(planned->plan);
  ASSERT_OK(written);
  const auto file = std::make_shared<const Bytes>(*written);
  const auto read = binary::ReadPlan(*file, ops::BuiltinOperators(), file);
  ASSERT_OK(read);
  ExpectSamePlan(planned->plan, *read);
  const auto expected = Run(planned->plan, planned->inputs, devices);
  ASSERT_OK(expected);
  const auto actual = Run(*read, planned->inputs, devices);
  ASSERT_OK(actual);
  EXPECT_EQ(*expected, *actual);
}

void CheckGraphs(const char* device, size_t graphs, size_t most_operators) {
  const auto context = ContextOn(device);
  if (context == nullptr) GTEST_SKIP() << "no device " << device;
  const std::vector<const OperatorCases*> operators = Operators();
  const uint32_t first = NodesOfThisRun().seed;
  std::mt19937 rng(first);
  for (size_t i = 0; i < graphs; ++i) {
    RandomGraph graph;
    const size_t count = 3 + rng() % (most_operators - 2);
    while (graph.nodes.size() < count) {
      graph.Add(*operators[rng() % operators.size()], rng);
    }
    SCOPED_TRACE(
        StrCat("TIMCL_TEST_SEED=", first, ", graph ", i, "\n", graph.Dump()));
    const auto empty = context->CreateGraph();
    Check(graph, *context,
          dynamic_cast<const vx::GraphImpl&>(*empty).core()->context->devices);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(RandomPlans, RunToTheSameBitsOnTheHost) {
  CheckGraphs("host", RunsLongTests() ? 1000 : 60, 20);
}

TEST(RandomPlans, RunToTheSameBitsOnOpenCl) {
  CheckGraphs("opencl", RunsLongTests() ? 100 : 6, 8);
}

}  // namespace
}  // namespace tim::testing
