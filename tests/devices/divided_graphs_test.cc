// Graphs that several devices share: which device does what, and the results.
// Numbers are those of the acceptance checks of the devices' specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <random>

#include "nlohmann/json.hpp"
#include "tests/devices/fake_context.h"
#include "tests/support/json_schema.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"
#include "tim/vx/placement.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int kStepUs = 2000;

FakeOptions Slow(const std::string& name, int step_us = kStepUs) {
  return {.max_delay_us = 0,
          .step_us = step_us,
          .name = name,
          .gflops = 1e3,
          .launch_us = static_cast<double>(step_us)};
}

// MillisecondsOf returns the time of the quickest of five runs: a busy machine
// lengthens single ones.
double MillisecondsOf(vx::Graph& graph) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(graph.Run()) << vx::LastError();
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count());
  }
  return least;
}

// Two branches of `length` operations each.
struct Fork {
  Fork(const std::shared_ptr<vx::Context>& context, int length)
      : graph(context->CreateGraph()),
        input(graph->CreateTensor(Floats({64}, vx::TensorAttribute::INPUT))),
        first(AddChain<vx::ops::Tanh>(*graph, input, length)),
        second(AddChain<vx::ops::Sigmoid>(*graph, input, length)) {}

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> first;
  std::shared_ptr<vx::Tensor> second;
};

// Check 17.
TEST(DividedGraphs, BranchesRunSideBySide) {
  const FakeSet set({Slow("left"), Slow("right")});
  Fork fork(set.ContextWith(), 8);
  Fork alone(FakeSet({Slow("left")}).ContextWith(), 8);
  Write(fork.input, std::vector<float>(64, 0.5f));
  Write(alone.input, std::vector<float>(64, 0.5f));
  ASSERT_TRUE(fork.graph->Compile()) << vx::LastError();
  ASSERT_TRUE(alone.graph->Compile()) << vx::LastError();
  EXPECT_THAT(DevicesOf(*fork.graph), UnorderedElementsAre(1, 2));
  EXPECT_LE(ChosenUs(*fork.graph),
            0.6 * PredictedUs(*fork.graph, "all on fake:0"));
  const double serial = MillisecondsOf(*alone.graph);
  EXPECT_LE(MillisecondsOf(*fork.graph), 0.6 * serial);
  EXPECT_EQ(Read(fork.first), Read(alone.first));
  EXPECT_EQ(Read(fork.second), Read(alone.second));

  Fork one(set.ContextWith("objective=serial"), 8);
  ASSERT_TRUE(one.graph->Compile()) << vx::LastError();
  EXPECT_EQ(DevicesOf(*one.graph).front(), DevicesOf(*one.graph).back());
}

// Check 31: streams of one device.
TEST(DividedGraphs, StreamsOfADeviceRunSideBySide) {
  const FakeSet set({Slow("only", 10'000)});
  Fork two(set.ContextWith("streams=2"), 2);
  Fork one(set.ContextWith(), 2);
  for (Fork* fork : {&two, &one}) {
    Write(fork->input, std::vector<float>(64, 0.25f));
    ASSERT_TRUE(fork->graph->Compile()) << vx::LastError();
  }
  const double serial = MillisecondsOf(*one.graph);
  EXPECT_LE(MillisecondsOf(*two.graph), 0.65 * serial);
  EXPECT_EQ(Read(two.first), Read(one.first));
  EXPECT_EQ(Read(two.second), Read(one.second));

  // No wait comes from memory that is used again: only copies of results wait.
  ir::Plan plan = *vx::CompiledPlan(*two.graph);
  int waiting = 0;
  for (ir::Step& step : plan.steps) {
    EXPECT_TRUE(step.waits.empty() || step.stream != 0) << ir::Dump(plan);
    if (step.waits.empty()) continue;
    ++waiting;
    const std::vector<int> waits = std::exchange(step.waits, {});
    EXPECT_ERROR(ir::Verify(plan), "does not wait for step");
    step.waits = waits;
  }
  EXPECT_GT(waiting, 0);
}

// ---- random graphs ----------------------------------------------------------

class RandomGraph {
 public:
  RandomGraph(vx::Graph& graph, uint64_t seed) : graph_(graph), random_(seed) {
    input_ = graph.CreateTensor(Floats({16}, vx::TensorAttribute::INPUT));
    values_.push_back(input_);
    const int count = 2 + static_cast<int>(random_() % 14);
    for (int i = 0; i < count; ++i) AddNode(i + 1 == count);
  }

  const std::shared_ptr<vx::Tensor>& input() const { return input_; }
  const std::shared_ptr<vx::Tensor>& output() const { return output_; }
  const std::vector<std::shared_ptr<vx::Operation>>& operations() const {
    return operations_;
  }

 private:
  std::shared_ptr<vx::Tensor> Any() {
    // Later ones are likelier.
    const size_t a = random_() % values_.size();
    const size_t b = random_() % values_.size();
    return values_[std::max(a, b)];
  }

  void AddNode(bool last) {
    const auto made = graph_.CreateTensor(
        Floats({16}, last ? vx::TensorAttribute::OUTPUT
                          : vx::TensorAttribute::TRANSIENT));
    std::shared_ptr<vx::Operation> operation;
    switch (random_() % 4) {
      case 0:
        operation = graph_.CreateOperation<vx::ops::Tanh>();
        (*operation).BindInput(Any());
        break;
      case 1:
        operation = graph_.CreateOperation<vx::ops::Abs>();
        (*operation).BindInput(Any());
        break;
      case 2:
        operation = graph_.CreateOperation<vx::ops::Multiply>();
        (*operation).BindInput(Any()).BindInput(values_.back());
        break;
      default:
        operation = graph_.CreateOperation<vx::ops::Add>();
        (*operation).BindInput(Any()).BindInput(values_.back());
    }
    (*operation).BindOutput(made);
    operations_.push_back(operation);
    values_.push_back(made);
    if (last) output_ = made;
  }

  vx::Graph& graph_;
  std::mt19937_64 random_;
  std::shared_ptr<vx::Tensor> input_;
  std::shared_ptr<vx::Tensor> output_;
  std::vector<std::shared_ptr<vx::Tensor>> values_;
  std::vector<std::shared_ptr<vx::Operation>> operations_;
};

std::vector<float> Numbers() {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(0.125f * static_cast<float>(i));
  return values;
}

std::vector<float> OnHost(uint64_t seed) {
  const auto graph = HostGraph();
  const RandomGraph made(*graph, seed);
  Write(made.input(), Numbers());
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(made.output());
}

// Parts have producers before them only, in the order in which they are told.
void ExpectNoCycle(const ir::Partition& partition) {
  for (size_t i = 0; i < partition.parts.size(); ++i) {
    for (const ir::PartitionInput& input : partition.parts[i].inputs) {
      EXPECT_LT(input.from, static_cast<int>(i));
    }
  }
}

size_t NodesOfParts(const ir::Partition& partition) {
  size_t count = 0;
  for (const auto& part : partition.parts) count += part.nodes.size();
  return count;
}

// Check 18, and 19 and 33 of these graphs.
TEST(DividedGraphs, RandomGraphsAreNeverPredictedWorseThanOnOneDevice) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::vector<float> expected = OnHost(seed);
    std::mt19937_64 random(seed + 1000);
    for (int figures = 0; figures < 3; ++figures) {
      SCOPED_TRACE(StrCat("seed ", seed, ", figures ", figures));
      const auto device = [&](const char* name) {
        return FakeOptions{
            .max_delay_us = 0,
            .name = name,
            .gflops = 1e-3 * static_cast<double>(1 + random() % 1000),
            .launch_us = 1.0 + static_cast<double>(random() % 200)};
      };
      const FakeSet set({device("a"), device("b")});
      const auto context = set.ContextWith("min_gain_us=0");
      const auto graph = context->CreateGraph();
      const RandomGraph made(*graph, seed);
      Write(made.input(), Numbers());
      ASSERT_TRUE(graph->Run()) << vx::LastError();
      EXPECT_EQ(Read(made.output()), expected);
      const ir::Partition& partition = PartitionOf(*graph);
      for (const char* single : {"all on fake:0", "all on fake:1"}) {
        EXPECT_LE(ChosenUs(*graph), PredictedUs(*graph, single) + 1e-9);
      }
      ExpectNoCycle(partition);
      EXPECT_EQ(NodesOfParts(partition), partition.nodes.size());
      for (const auto& part : partition.parts) EXPECT_NE(part.device, 0);
    }
  }
}

// Check 19: random affinities make parts that follow one another.
TEST(DividedGraphs, RandomAffinitiesRun) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const int domain = 0;
    FakeOptions options{.seed = seed, .max_delay_us = 50};
    if (seed % 2 == 0) options.domain = &domain;
    const FakeSet set({options, options, options});
    compiler::LinkTable links(4);
    if (options.domain != nullptr) {
      for (int a = 1; a < 4; ++a) {
        for (int b = 1; b < 4; ++b) links.Set(a, b, {.direct = true});
      }
    }
    const auto graph = set.ContextWith("", links)->CreateGraph();
    const RandomGraph made(*graph, seed);
    for (const auto& operation : made.operations()) {
      const std::string& device = set.specs[random() % set.specs.size()];
      ASSERT_TRUE(vx::SetAffinity(*operation, device));
    }
    Write(made.input(), Numbers());
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(made.output()), OnHost(seed));
    ExpectNoCycle(PartitionOf(*graph));
  }
}

// ---- fusion -----------------------------------------------------------------

// Check 24: two branches that stay where their ports are, of which one device
// has a kernel for both operations of its branch.
TEST(DividedGraphs, EachDeviceFusesWhatItCan) {
  ToyGraph graph;
  for (int branch = 0; branch < 2; ++branch) {
    const ir::ValueId input = graph.Input(ir::Shape({32, 32, 32}));
    graph.Output(graph.Op("Bump", {graph.Op("Heavy", {input})}));
  }
  compiler::CompileOptions options = ToyOptions();
  options.devices[1].spec = "opencl:0";
  ir::DeviceInfo fake = FakeDevice().info();
  fake.spec = "fake:0";
  options.devices.push_back(fake);
  options.links = compiler::LinkTable(3);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) options.links.Set(a, b, {.latency_us = 1e9});
  }
  options.inputs = options.outputs = {{.device = 1}, {.device = 2}};
  const auto plan = graph.Compile(options);
  ASSERT_OK(plan);
  std::vector<int> nodes(3, 0);
  for (const ir::PartitionNode& node : plan->notes.partition.nodes) {
    ++nodes[static_cast<size_t>(
        plan->notes.partition.parts[static_cast<size_t>(node.part)].device)];
  }
  EXPECT_THAT(nodes, ElementsAre(0, 1, 2)) << ir::Dump(*plan);
}

// ---- capacity ---------------------------------------------------------------

// Three products with weights of 1 MiB each.
struct Weighty {
  explicit Weighty(const std::shared_ptr<vx::Context>& context)
      : graph(context->CreateGraph()),
        input(
            graph->CreateTensor(Floats({512, 1}, vx::TensorAttribute::INPUT))) {
    std::shared_ptr<vx::Tensor> last = input;
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> data(512 * 512, 0.001f * static_cast<float>(i));
      const auto weights = graph->CreateTensor(
          Floats({512, 512}, vx::TensorAttribute::CONSTANT), data.data());
      const auto made = graph->CreateTensor(
          Floats({512, 1}, i == 2 ? vx::TensorAttribute::OUTPUT
                                  : vx::TensorAttribute::TRANSIENT));
      const auto product =
          graph->CreateOperation<vx::ops::FullyConnected>(0, 512);
      (*product).BindInputs({last, weights}).BindOutput(made);
      last = made;
    }
    output = last;
  }
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
};

// Check 22.
TEST(Capacity, PartsMoveWhereTheDeviceHasNoRoom) {
  const FakeOptions small{.memory_bytes = 1 << 20, .name = "small"};
  const FakeOptions large{.name = "large", .launch_us = 50};
  const FakeSet set({small, large});
  Weighty divided(set.ContextWith());
  Weighty host(HostContext());
  for (Weighty* graph : {&divided, &host}) {
    Write(graph->input, std::vector<float>(512, 1.0f));
    ASSERT_TRUE(graph->graph->Run()) << vx::LastError();
  }
  EXPECT_EQ(Read(divided.output), Read(host.output));
  EXPECT_THAT(DevicesOf(*divided.graph), ::testing::Contains(2));

  Weighty alone(FakeSet({small}).ContextWith());
  EXPECT_TRUE(CompileFailsWith(*alone.graph, "3145728 for constants"));
  EXPECT_THAT(vx::LastError(), HasSubstr("it has 1048576"));
}

// ---- what is told -----------------------------------------------------------

nlohmann::json ParsedJson(std::istream&& text) {
  return nlohmann::json::parse(text, nullptr, false);
}

// Check 33.
TEST(PartitionAsJson, TellsPartsAndNodes) {
  const FakeSet set({Slow("left"), Slow("right")});
  Fork fork(set.ContextWith("max_parts=5"), 3);
  EXPECT_EQ(vx::PartitionAsJson(*fork.graph), "");
  EXPECT_THAT(vx::LastError(), HasSubstr("is not compiled"));
  ASSERT_TRUE(fork.graph->Compile()) << vx::LastError();
  const auto json =
      nlohmann::json::parse(vx::PartitionAsJson(*fork.graph), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  const auto schema = ParsedJson(std::ifstream("docs/partition.schema.json"));
  ASSERT_FALSE(schema.is_discarded());
  EXPECT_THAT(SchemaMistakes(schema, json), IsEmpty());
  EXPECT_EQ(json["policy"], "max_parts=5");
  ASSERT_EQ(json["devices"].size(), 3u);
  EXPECT_EQ(json["devices"][1]["spec"], "fake:0");
  EXPECT_EQ(json["devices"][1]["links"]["host"]["route"], "host");
  size_t nodes = 0;
  for (const auto& part : json["parts"]) nodes += part["nodes"].size();
  EXPECT_EQ(nodes, json["nodes"].size());
  EXPECT_EQ(nodes, 6u);
  EXPECT_TRUE(json["parts"][0]["measured_us"].is_null());
  ASSERT_TRUE(fork.graph->Profile(1));
  const auto profiled =
      nlohmann::json::parse(vx::PartitionAsJson(*fork.graph), nullptr, false);
  EXPECT_GT(profiled["parts"][0]["measured_us"].get<double>(), 0);
  EXPECT_THAT(SchemaMistakes(schema, profiled), IsEmpty());

  auto wrong = json;
  wrong.erase("chosen");
  wrong["parts"][0]["id"] = "first";
  wrong["parts"][0]["kind"] = "neither";
  wrong["devices"][1]["links"]["host"]["cost"] = 1;
  EXPECT_THAT(
      SchemaMistakes(schema, wrong),
      UnorderedElementsAre(": there is no \"chosen\"",
                           "/parts/0/id: \"first\" is no \"integer\"",
                           HasSubstr("/parts/0/kind: \"neither\" is none of "),
                           "/devices/1/links/host: unknown property cost"));
}

// Check 21.
TEST(Fallback, TellsTheReasonsOfEveryDevice) {
  const FakeOptions none{.runs_eval = false};
  const FakeSet set({none, none});
  ReluGraph graph({4}, set.ContextWith()->CreateGraph());
  ASSERT_TRUE(graph.graph->Compile()) << vx::LastError();
  const ir::Partition& partition = PartitionOf(*graph.graph);
  ASSERT_EQ(partition.nodes.size(), 1u);
  EXPECT_EQ(partition.nodes[0].kernel, "host:eval");
  EXPECT_THAT(
      partition.nodes[0].refused,
      ::testing::IsSupersetOf({"fake:0: it has no kernel for tim.Relu",
                               "fake:1: it has no kernel for tim.Relu"}));
  ReluGraph strict({4}, set.ContextWith("fallback=error")->CreateGraph());
  EXPECT_TRUE(CompileFailsWith(*strict.graph, "no device can run it"));
  EXPECT_THAT(vx::LastError(),
              HasSubstr("fake:1: it has no kernel for tim.Relu"));
}

}  // namespace
}  // namespace tim::testing
