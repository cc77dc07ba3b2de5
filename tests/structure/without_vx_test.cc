// A program of ir + ops + compiler + device + runtime has the whole road from a
// graph to its runs: nothing below the tim::vx facade needs it.  (Bazel links
// this test without src/vx.)
#include <gtest/gtest.h>

#include <array>

#include "binary/plan/plan_file.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "runtime/compiled_graph.h"
#include "runtime/device_pool.h"
#include "runtime/stored_plan.h"

namespace tim::structure {
namespace {

using Four = std::array<float, 4>;
using runtime::CompiledGraph;
using runtime::PortMemory;

ir::TensorDesc FourFloats() {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{4};
  return desc;
}

ir::ValueId Add(ir::Graph& graph, const std::string& op,
                std::vector<ir::ValueId> inputs) {
  ir::Node node;
  node.name = op;
  node.schema = ops::BuiltinOperators().Find("tim." + op);
  EXPECT_NE(node.schema, nullptr) << op;
  EXPECT_TRUE(ir::CompleteAttributes(*node.schema, &node.attributes).ok());
  node.inputs = std::move(inputs);
  node.outputs = {graph.AddValue(FourFloats())};
  const ir::ValueId output = node.outputs[0];
  graph.AddNode(std::move(node));
  return output;
}

ir::Graph ReluGraph() {
  ir::Graph graph("without_vx");
  const ir::ValueId x = graph.AddValue(FourFloats(), ir::Role::kInput, "x");
  graph.AddInput(x);
  graph.AddOutput(Add(graph, "Relu", {x}));
  return graph;
}

// The sum of all inputs so far, which is a state.
ir::Graph SumGraph() {
  ir::Graph graph("sum");
  const ir::ValueId x = graph.AddValue(FourFloats(), ir::Role::kInput, "x");
  const ir::ValueId before =
      graph.AddValue(FourFloats(), ir::Role::kState, "sum");
  graph.AddInput(x);
  const ir::ValueId sum = Add(graph, "Add", {before, x});
  graph.AddStateUpdate(before, sum);
  graph.AddOutput(sum);
  return graph;
}

class WithoutVx : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto devices = runtime::SelectDevices("host");
    ASSERT_TRUE(devices.ok()) << devices.status().ToString();
    around_.devices = *devices;
    around_.store = runtime::ProgramCache::Create({});
    around_.operators =
        std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  }

  std::unique_ptr<CompiledGraph> Compile(const ir::Graph& graph) {
    const auto options = runtime::CompileOptionsFor(around_.devices);
    const auto inferred = compiler::Infer(graph, *around_.operators, options);
    EXPECT_TRUE(inferred.ok()) << inferred.status().ToString();
    auto compiled = CompiledGraph::Create(*inferred, options, around_);
    EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
    return compiled.ok() ? *std::move(compiled) : nullptr;
  }

  static PortMemory Memory(Four& values) { return {&values, sizeof(values)}; }
  static void Run(CompiledGraph& graph, Four x, const Four& expected) {
    alignas(64) Four y = {};
    const PortMemory inputs[] = {Memory(x)};
    const PortMemory outputs[] = {Memory(y)};
    const Status status = graph.Run(inputs, outputs);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(y, expected);
  }

  runtime::Surroundings around_;
};

TEST_F(WithoutVx, CompilesAndRunsAGraph) {
  const auto graph = Compile(ReluGraph());
  ASSERT_NE(graph, nullptr);
  Run(*graph, {-1, 2, -3, 4}, {0, 2, 0, 4});
}

TEST_F(WithoutVx, StatesGoFromRunToRun) {
  const auto graph = Compile(SumGraph());
  ASSERT_NE(graph, nullptr);
  const Four start = {1, 1, 1, 1};
  ASSERT_TRUE(graph->states()->Write(0, &start).ok());
  Run(*graph, {1, 2, 3, 4}, {2, 3, 4, 5});
  Run(*graph, {1, 2, 3, 4}, {3, 5, 7, 9});
  Four sum = {};
  ASSERT_TRUE(graph->states()->Read(0, &sum).ok());
  EXPECT_EQ(sum, (Four{3, 5, 7, 9}));
}

TEST_F(WithoutVx, AStoredPlanRunsWithoutItsGraph) {
  const auto graph = Compile(ReluGraph());
  ASSERT_NE(graph, nullptr);
  const auto stored = runtime::EncodeStored(graph->plan());
  ASSERT_TRUE(stored.has_value());
  auto plan = binary::ReadPlan(stored->ToBytes(), ops::BuiltinOperators());
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const auto loaded = CompiledGraph::Load(*std::move(plan), around_);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  Run(**loaded, {-1, 2, -3, 4}, {0, 2, 0, 4});
}

TEST_F(WithoutVx, RunsFollowEachOther) {
  const auto graph = Compile(SumGraph());
  ASSERT_NE(graph, nullptr);
  alignas(64) Four x = {1, 2, 3, 4};
  alignas(64) Four first = {};
  alignas(64) Four second = {};
  const PortMemory inputs[] = {Memory(x)};
  const PortMemory outputs[][1] = {{Memory(first)}, {Memory(second)}};
  const auto one = graph->Enqueue(inputs, outputs[0]);
  const auto two = graph->Enqueue(inputs, outputs[1]);
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  EXPECT_TRUE((*two)->Wait().ok());
  EXPECT_TRUE((*one)->Wait().ok());
  EXPECT_EQ(first, (Four{1, 2, 3, 4}));
  EXPECT_EQ(second, (Four{2, 4, 6, 8}));
}

}  // namespace
}  // namespace tim::structure
