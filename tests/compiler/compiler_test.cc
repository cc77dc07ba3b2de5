// The whole pipeline on toy operators: kernel counts, layouts, plans.
#include "compiler/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/pinned_nodes.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::CountKernels;

using ::testing::HasSubstr;
using testing::PinNodes;
using testing::ToyGraph;
using testing::ToyOptions;

const ir::Shape kImage = {8, 8, 32, 1};

int CountCopies(const ir::Plan& plan) {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    count += std::holds_alternative<ir::Copy>(step.action);
  }
  return count;
}

TEST(Compiler, OneKernelBetweenTwoCopies) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
  EXPECT_EQ(CountCopies(*plan), 2);
  EXPECT_EQ(plan->steps.size(), 3u);
  EXPECT_TRUE(plan->steps[1].waits.empty());
}

// Two tensors of 4 GiB, of which the second ends 2^31 elements behind the start
// of the arena.
TEST(Compiler, KnowsWhatKernelsOfRemoteDevicesReach) {
  const ir::Shape half = {int64_t{1} << 30};
  ToyGraph both;
  const ir::ValueId a = both.Op("Twice", {both.Input(half)});
  both.Output(both.Op("Sum", {a, both.Op("Twice", {a})}));
  compiler::CompileOptions options = ToyOptions();
  options.devices[1].max_allocation_bytes = int64_t{1} << 40;
  const auto compile = [&] {
    return compiler::Compile(both.graph(), testing::ToyOperators(), options);
  };
  EXPECT_OK(compile());
  options.devices[1].remote = true;
  const auto refused = compile();
  EXPECT_EQ(refused.status().code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(refused, "kernels of remote devices do not reach");
}

TEST(Compiler, PlanOfASmallGraphAsText) {
  ToyGraph toy("small");
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(
      ir::Dump(*plan),
      "plan of graph 'small'\n"
      "options: fold to 4 times or 1048576 bytes, 1e+08 operations\n"
      "device 0: host '' (, driver , cpu, 1 units, alignment 64, eval)\n"
      "device 1: opencl 'data' (, driver , cpu, 1 units, alignment 64)\n"
      "arena on device 0: 0 bytes, host memory\n"
      "arena on device 1: 128 bytes, device memory\n"
      "input %0: float32 [16]\n"
      "output %1: float32 [16]\n"
      "slot 0: input 0 on device 0, 64 bytes\n"
      "slot 1: arena 1 on device 1, 64 bytes at 0\n"
      "slot 2: arena 1 on device 1, 64 bytes at 64\n"
      "slot 3: output 0 on device 0, 64 bytes\n"
      "step 0 on 1 [reorder(%0)] copy 64 bytes : <0 >1\n"
      "step 1 on 1 [Twice#0] kernel toy.cl:twice [] (@0, @1) global 16 local "
      "0 : <1 >2\n"
      "step 2 on 1 [output %1] copy 64 bytes : <2 >3\n"
      "memory: no_reuse_sum 128 lower_bound 128 peak 128 eval_scratch 0\n"
      "decision Twice#0: opencl:twice, 10 us\n"
      "  not host:eval: 1000005.016 us, not cheaper here\n");
}

TEST(Compiler, ChainStaysBlockedWithReordersOnlyAtTheEdges) {
  ToyGraph toy;
  ir::ValueId x = toy.Input(kImage);
  for (int i = 0; i < 5; ++i) x = toy.Op("Heavy", {x});
  toy.Output(x);
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 5);
  EXPECT_EQ(CountKernels(*plan, "reorder"), 2);
}

TEST(Compiler, LayoutPassesThroughAKernelThatTakesBoth) {
  ToyGraph toy;
  ir::ValueId x = toy.Op("Heavy", {toy.Input(kImage)});
  toy.Output(x);  // a second reader, so that Bump cannot be fused
  x = toy.Op("Bump", {x});
  toy.Output(toy.Op("Heavy", {x}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 2);
  EXPECT_EQ(CountKernels(*plan, "bump"), 1);
  EXPECT_EQ(CountKernels(*plan, "reorder"), 3);
}

TEST(Compiler, OneReorderServesTwoReaders) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input(kImage);
  toy.Output(toy.Op("Heavy", {x}));
  toy.Output(toy.Op("Heavy", {x}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 2);
  EXPECT_EQ(CountKernels(*plan, "reorder"), 3);
}

TEST(Compiler, UnsupportedLayoutIsRefusedWithItsReason) {
  ToyGraph toy;
  toy.Output(toy.Op("Heavy", {toy.Input({16})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "heavy_dense"), 1);
  ASSERT_EQ(plan->decisions.size(), 1u);
  EXPECT_THAT(plan->decisions[0].chosen, HasSubstr("heavy_dense"));
  EXPECT_THAT(plan->decisions[0].refused,
              ::testing::Contains("opencl:heavy_blocked: rank below 3"));
}

TEST(Compiler, FusesAChainThatAKernelTakes) {
  ToyGraph toy;
  const ir::ValueId x = toy.Op("Heavy", {toy.Input(kImage)});
  toy.Output(toy.Op("Bump", {toy.Op("Bump", {x})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  // The first Bump is fused into Heavy; a longer epilogue is refused.
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 1);
  EXPECT_EQ(CountKernels(*plan, "bump"), 1);
}

// Else a slow device would leave large fused operators to the host.
TEST(Compiler, EvalOfAFusedChainCostsWhatItsPartsDo) {
  const auto refused = [](int bumps) {
    ToyGraph toy;
    ir::ValueId x = toy.Op("Heavy", {toy.Input({64, 64, 32, 1})});
    for (int i = 0; i < bumps; ++i) x = toy.Op("Bump", {x});
    toy.Output(x);
    const Result<ir::Plan> plan = toy.Compile();
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
    return plan->decisions.front().refused;
  };
  // A second for being on the host, and at 1 GFLOP/s 1000 flops for each
  // of 131072 elements, with Bump 1001.
  EXPECT_THAT(refused(0),
              ::testing::Contains("host:eval: 1131077 us, not cheaper here"));
  EXPECT_THAT(refused(1), ::testing::Contains(
                              "host:eval: 1131208.072 us, not cheaper here"));
}

TEST(Compiler, DoesNotFuseOverAGraphOutput) {
  ToyGraph toy;
  const ir::ValueId x = toy.Op("Heavy", {toy.Input(kImage)});
  toy.Output(x);
  toy.Output(toy.Op("Bump", {x}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "bump"), 1);
}

TEST(Compiler, DoesNotFuseWhatNoKernelTakes) {
  ToyGraph toy;
  toy.Output(toy.Op("Bump", {toy.Op("Twice", {toy.Input(kImage)})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
  EXPECT_EQ(CountKernels(*plan, "bump"), 1);
}

TEST(Compiler, OperatorWithoutKernelBecomesAHostStep) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Op("Slow", {toy.Input({16})})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->steps.size(), 4u);  // eval, copy, kernel, copy
  EXPECT_TRUE(std::holds_alternative<ir::HostCall>(plan->steps[0].action));
  EXPECT_EQ(plan->steps[1].waits, std::vector<int>{0});
}

TEST(Compiler, StrictModeRefusesAHostStepAndNamesTheOperation) {
  ToyGraph toy("g");
  toy.Output(toy.Op("Slow", {toy.Input({16})}));
  compiler::CompileOptions options = ToyOptions();
  options.strict = true;
  const Result<ir::Plan> plan = toy.Compile(options);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.status().message(), HasSubstr("operation Slow#0 of graph"));
  EXPECT_THAT(plan.status().message(), HasSubstr("strict mode"));
}

TEST(Compiler, PlacementSplitsAGraphOverDevices) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Op("Twice", {toy.Input({16})})}));
  compiler::CompileOptions options = ToyOptions();
  options.devices.emplace_back();
  options.devices[2].kind = "fake";
  options.devices[2].runs_eval = true;
  options.strict = true;
  PinNodes(toy.graph(),
           [](const ir::Node& node) { return node.name == "Twice#0" ? 2 : 1; });
  const Result<ir::Plan> plan = toy.Compile(options);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  // in -> fake, eval, fake -> host, host -> opencl, kernel, out
  ASSERT_EQ(plan->steps.size(), 6u);
  EXPECT_EQ(plan->steps[1].device, 2);
  EXPECT_EQ(plan->steps[3].device, 1);
  EXPECT_EQ(plan->steps[3].waits, std::vector<int>{2});
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
}

TEST(Compiler, DevicesOfNodesMustBeThere) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  PinNodes(toy.graph(), [](const ir::Node&) { return 2; });
  EXPECT_ERROR(toy.Compile(), "it must run on device 2, but is compiled for 2");
}

// What is inferred once makes the plan that both halves together make.
TEST(Compiler, InfersAndCompilesInTwoCalls) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Op("Twice", {toy.Input({16})})}));
  const auto options = ToyOptions();
  const auto inferred =
      compiler::Infer(toy.graph(), testing::ToyOperators(), options);
  ASSERT_OK(inferred);
  EXPECT_EQ(inferred->graph.value(inferred->graph.outputs()[0]).desc.shape,
            ir::Shape({16}));
  const auto plan =
      compiler::Compile(*inferred, testing::ToyOperators(), options);
  ASSERT_OK(plan);
  const auto whole = toy.Compile(options);
  ASSERT_OK(whole);
  EXPECT_EQ(ir::Dump(*plan), ir::Dump(*whole));
}

TEST(Compiler, EqualConstantsArePackedOnce) {
  ToyGraph toy;
  ir::ValueId x = toy.Input({16});
  for (int i = 0; i < 3; ++i) {
    x = toy.Op("Weighted", {x, toy.Constant({4}, 2.0f)});
  }
  toy.Output(toy.Op("Weighted", {x, toy.Constant({4}, 3.0f)}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->constants.size(), 1u);
  ASSERT_EQ(plan->constants[0].constants.size(), 2u);
  EXPECT_EQ(plan->constants[0].constants[0].bytes, 32);
}

TEST(Compiler, StateReadsAndWritesHaveSlotsOfTheirOwn) {
  ToyGraph toy;
  const ir::ValueId state = toy.State({16});
  const ir::ValueId next = toy.Op("Sum", {state, toy.Input({16})});
  toy.graph().AddStateUpdate(state, next);
  toy.Output(next);
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->states.size(), 1u);
  EXPECT_TRUE(plan->states[0].written);
  int reads = 0;
  int writes = 0;
  for (const ir::Slot& slot : plan->slots) {
    reads += slot.kind == ir::SlotKind::kStateRead;
    writes += slot.kind == ir::SlotKind::kStateWrite;
  }
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writes, 1);
}

TEST(Compiler, LongChainReusesMemory) {
  ToyGraph toy;
  ir::ValueId x = toy.Input(kImage);
  for (int i = 0; i < 50; ++i) x = toy.Op("Twice", {x});
  toy.Output(x);
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->memory.no_reuse_sum, 51 * 8 * 8 * 32 * 4);
  EXPECT_EQ(plan->memory.lower_bound, 2 * 8 * 8 * 32 * 4);
  EXPECT_EQ(plan->memory.peak, plan->memory.lower_bound);
}

TEST(Compiler, MemoryIsPlannedByThePolicysSolver) {
  ToyGraph toy;
  ir::ValueId x = toy.Input(kImage);
  for (int i = 0; i < 5; ++i) x = toy.Op("Twice", {x});
  toy.Output(x);
  for (const char* solver :
       {"none", "by_time", "by_size", "somas", "exact", "auto"}) {
    SCOPED_TRACE(solver);
    compiler::CompileOptions options = ToyOptions();
    options.policy.memory = *compiler::MemorySolverOf(solver);
    const Result<ir::Plan> plan = toy.Compile(options);
    ASSERT_OK(plan);
    EXPECT_EQ(plan->memory.peak, std::string(solver) == "none"
                                     ? plan->memory.no_reuse_sum
                                     : plan->memory.lower_bound);
    EXPECT_LT(plan->memory.lower_bound, plan->memory.no_reuse_sum);
  }
}

TEST(Compiler, LayoutsThatAPlanHasNoRoomForAreRefused) {
  constexpr int kLayouts = 300;
  constexpr int kMost = 256;  // with the dense one of each device
  ir::KernelDef kernel =
      *testing::ToyOperators().Kernels("toy.Twice", "opencl")[0];
  kernel.name = "many_layouts";
  kernel.cost = [](const ir::KernelProblem&, const ir::KernelNode&,
                   const ir::DeviceInfo&) { return 0.5; };
  kernel.layouts = [](const ir::KernelProblem&, const ir::KernelNode&,
                      const ir::DeviceInfo&) {
    std::vector<ir::LayoutTuple> tuples;
    for (int i = 0; i < kLayouts; ++i) {
      const auto layout = ir::Layout::Blocked(2, 2 + i);
      tuples.push_back({{layout}, {layout}});
    }
    return tuples;
  };
  ir::OpRegistry registry(&testing::ToyOperators());
  registry.Add(kernel);
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input(kImage)}));
  const Result<ir::Plan> plan =
      compiler::Compile(toy.graph(), registry, ToyOptions());
  ASSERT_OK(plan);
  const auto decision = std::find_if(
      plan->decisions.begin(), plan->decisions.end(),
      [](const ir::Decision& one) {
        return one.chosen.find("twice") != std::string::npos ||
               one.chosen.find("many_layouts") != std::string::npos;
      });
  ASSERT_NE(decision, plan->decisions.end());
  EXPECT_EQ(
      std::count_if(decision->refused.begin(), decision->refused.end(),
                    [](const std::string& reason) {
                      return reason.starts_with("opencl:many_layouts") &&
                             reason.ends_with(": no room for another layout");
                    }),
      kLayouts - (kMost - 2))
      << ir::Dump(*plan);
}

TEST(Compiler, DumpsAfterEveryPass) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  compiler::CompileOptions options = ToyOptions();
  std::vector<std::string> passes;
  options.dump_sink = [&](const std::string& pass, const ir::Graph& graph) {
    passes.push_back(pass);
    EXPECT_THAT(graph.Dump(), HasSubstr("toy.Twice@1"));
  };
  ASSERT_TRUE(toy.Compile(options).ok());
  EXPECT_EQ(passes.size(), 19u);
  EXPECT_EQ(passes.front(), "verify");
}

TEST(Compiler, UnknownShapeIsSpecialisedByACopyOfTheGraph) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input(ir::Shape())}));
  const Result<ir::Plan> unknown = toy.Compile();
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().message(), HasSubstr("not known"));
  for (const int64_t n : {3, 40}) {
    ToyGraph copy = toy;
    copy.graph().value(copy.graph().inputs()[0]).desc.shape = {n};
    const Result<ir::Plan> plan = copy.Compile();
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    EXPECT_EQ(plan->outputs[0].desc.shape, ir::Shape({n}));
  }
}

}  // namespace
}  // namespace tim
