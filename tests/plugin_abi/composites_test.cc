// Composites in graph mode: a device's own compiler takes them whole, with
// their bodies, where its claims do; else it gets what they consist of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "plugin/plugins.h"
#include "runtime/compile_options.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"
#include "tim/plugin/plugin.h"

namespace tim::plugin {
namespace {

using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

// What the device claims, and what it saw.
struct Weaver {
  std::map<std::string, double> prices;  ///< Microseconds by operator.
  bool holds_constants = false;
  bool refuses_composites = false;       ///< When it compiles.
  std::vector<std::string> compiled;     ///< Operators of parts, with bodies.
  std::set<std::string> seen_in_claims;  ///< Operators.
};
Weaver g_weaver;  // NOLINT: of the test that runs

// A list of steps over buffers of floats of one size.
class WovenProgram final : public plug::Program {
 public:
  struct Step {
    std::string op;
    std::vector<int> inputs;
    int output;
  };
  std::vector<Step> steps;
  std::map<int, Floats> constants;
  size_t inputs = 0;
  int places = 0;
  std::vector<int> outputs;

  using Places = std::map<std::int32_t, int>;

  void Add(const plug::Graph& graph, Places* places_of) {
    const auto place = [&](std::int32_t value) {
      const auto added = places_of->emplace(value, places);
      if (!added.second) return added.first->second;
      const TimBytes bytes = graph.constant(value);
      if (bytes.data != nullptr) {
        const auto* floats = static_cast<const float*>(bytes.data);
        constants[places] = Floats(floats, floats + bytes.bytes / 4);
      }
      return places++;
    };
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const plug::Node node = graph.node(i);
      std::vector<int> from;
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        from.push_back(place(graph.input_of(node, k)));
      }
      const int to = place(graph.output_of(node, 0));
      if (node.body() == nullptr) {
        steps.push_back({node.op(), from, to});
        continue;
      }
      const plug::Graph body(node.body());
      Places inner;
      for (size_t k = 0; k < from.size(); ++k) {
        const std::int32_t value = body.inputs()[k];
        inner[value] = from[k];
        const bool held = body.constant(value).data != nullptr;
        EXPECT_EQ(held, constants.count(from[k]) != 0)
            << "input " << k << " of " << node.op();
      }
      inner[body.outputs()[0]] = to;
      Add(body, &inner);
    }
  }
};

// "tim.AddN(tim.Add tim.Add)"
std::string Written(const plug::Graph& graph) {
  std::string text;
  for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
    const plug::Node node = graph.node(i);
    text += (text.empty() ? "" : " ") + node.op();
    if (node.body() == nullptr) continue;
    text += "(" + Written(plug::Graph(node.body())) + ")";
  }
  return text;
}

class WeaverDevice final : public plug::Device {
 public:
  TimBuffer* Allocate(std::uint64_t bytes, std::int32_t) override {
    return reinterpret_cast<TimBuffer*>(new Floats(bytes / 4 + 16));
  }
  void Release(TimBuffer* buffer) override {
    delete reinterpret_cast<Floats*>(buffer);
  }
  void CopyIn(const void* host, const TimRange& to) override {
    std::memcpy(At(to), host, to.bytes);
  }
  void CopyOut(const TimRange& from, void* host) override {
    std::memcpy(host, At(from), from.bytes);
  }

  // One claim per node that has a price.
  void Claim(const plug::Graph& graph, TimClaims* claims) override {
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      const plug::Node node = graph.node(i);
      g_weaver.seen_in_claims.insert(node.op());
      const auto price = g_weaver.prices.find(node.op());
      if (price == g_weaver.prices.end()) continue;
      const TimNode* const claimed = node.get();
      plug::Check(plug::Sinks().claim(claims, &claimed, 1, price->second,
                                      node.op().c_str()),
                  "claim");
      std::vector<std::int32_t> held;
      for (std::uint32_t k = 0; k < node.inputs(); ++k) {
        const std::int32_t value = graph.input_of(node, k);
        if (graph.constant(value).data != nullptr) held.push_back(value);
      }
      if (!g_weaver.holds_constants) continue;
      plug::Check(plug::Sinks().claim_constants(
                      claims, held.data(), static_cast<uint32_t>(held.size())),
                  "claim_constants");
    }
  }

  std::unique_ptr<plug::Program> Compile(const plug::Graph& part) override {
    const std::string text = Written(part);
    if (g_weaver.refuses_composites && text.find('(') != std::string::npos) {
      throw plug::Error(TIM_UNIMPLEMENTED, "it was too bold");
    }
    g_weaver.compiled.push_back(text);
    auto program = std::make_unique<WovenProgram>();
    WovenProgram::Places places;
    for (const std::int32_t value : part.inputs()) {
      places[value] = program->places++;
    }
    program->inputs = part.inputs().size();
    program->Add(part, &places);
    for (const std::int32_t value : part.outputs()) {
      program->outputs.push_back(places.at(value));
    }
    return program;
  }

  void Execute(plug::Program& program, const TimRange* inputs, std::uint32_t,
               const TimRange* outputs, std::uint32_t) override {
    const auto& woven = static_cast<const WovenProgram&>(program);
    std::map<int, Floats> values = woven.constants;
    for (size_t i = 0; i < woven.inputs; ++i) {
      values[static_cast<int>(i)] =
          Floats(At(inputs[i]), At(inputs[i]) + inputs[i].bytes / 4);
    }
    for (const WovenProgram::Step& step : woven.steps) {
      Floats result = values.at(step.inputs[0]);
      for (size_t i = 0; i < result.size(); ++i) {
        if (step.op == "tim.Add") result[i] += values.at(step.inputs[1])[i];
        if (step.op == "tim.Relu") result[i] = std::max(result[i], 0.0f);
        if (step.op == "tim.Neg") result[i] = -result[i];
      }
      values[step.output] = std::move(result);
    }
    for (size_t i = 0; i < woven.outputs.size(); ++i) {
      const Floats& result = values.at(woven.outputs[i]);
      std::copy(result.begin(), result.end(), At(outputs[i]));
    }
  }

 private:
  static float* At(const TimRange& range) {
    return reinterpret_cast<Floats*>(range.buffer)->data() + range.offset / 4;
  }
};

struct WeaverPlugin {
  static const char* Kind() { return "weaver"; }
  static const char* Vendor() { return "tests"; }
  static const char* Version() { return "1"; }
  static bool HasGraphs() { return true; }
  static bool Optimizes() { return false; }
  static void Initialize(const TimOption*, std::uint32_t) {}
  static void Shutdown() {}
  static std::uint32_t DeviceCount() { return 1; }
  static void Describe(std::uint32_t, TimDeviceProps* out) {
    out->score = 1;
    std::snprintf(out->name, sizeof(out->name), "weaver");
    out->memory_bytes = out->max_allocation_bytes = 1 << 20;
    out->alignment = 64;
  }
  static plug::Device* Open(std::uint32_t) { return new WeaverDevice(); }
};

constexpr int64_t kElements = 12;

class Composites : public ::testing::Test {
 protected:
  void Load(std::map<std::string, double> prices) {
    g_weaver = {};
    g_weaver.prices = std::move(prices);
    ASSERT_OK(LoadPluginTable(plug::Table<WeaverPlugin>(), {}, {}));
    auto devices = testing::HostAnd("weaver");
    ASSERT_OK(devices);
    devices_ = *std::move(devices);
  }
  void TearDown() override {
    devices_.clear();
    EXPECT_OK(UnloadPlugin("weaver"));
  }

  // Compiles and runs it, strictly: the device does everything.
  void Weave(const PlugGraph& graph,
             compiler::GraphParts parts = compiler::GraphParts::kAuto) {
    compiler::CompileOptions options = runtime::CompileOptionsFor(devices_);
    options.strict = true;
    options.policy.graph_parts = parts;
    ir::Graph copy = const_cast<PlugGraph&>(graph).graph();
    const auto inferred =
        compiler::Infer(std::move(copy), *graph.operators(), options);
    ASSERT_OK(inferred);
    auto ready = runtime::CompileAndPrepare(
        *inferred, options,
        {.devices = devices_,
         .store = std::make_shared<testing::EmptyStore>(),
         .operators = graph.operators()});
    ASSERT_OK(ready);
    const std::vector<Floats> inputs = {testing::SomeFloats(kElements, 3),
                                        testing::SomeFloats(kElements, 4)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    EXPECT_EQ(*results, testing::Expected(graph, inputs));
  }

  device::Devices devices_;
};

// relu(AddN(x, y, constant))
PlugGraph SumOfThree() {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({kElements});
  const ir::ValueId y = graph.Input({kElements});
  const ir::ValueId sum =
      graph.Op("tim.AddN", {x, y, graph.Constant({kElements})},
               {{"num_inputs", int64_t{3}}});
  graph.Output(graph.Op("tim.Relu", {sum}));
  return graph;
}

// A node that consists of neg(AddN(a, b)), which no operator's schema tells.
PlugGraph CallOfAGraph(const std::string& inner = "tim.Neg",
                       const testing::Operators& operators = testing::Known()) {
  PlugGraph body(operators);
  const ir::ValueId a = body.Input({kElements});
  const ir::ValueId b = body.Input({kElements});
  body.Output(body.Op(
      inner, {body.Op("tim.AddN", {a, b}, {{"num_inputs", int64_t{2}}})}));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "twist";
  composite->body = body.graph();
  PlugGraph graph(operators);
  ir::Node node;
  node.name = "twist#0";
  node.inputs = {graph.Input({kElements}), graph.Input({kElements})};
  node.outputs = {graph.graph().AddValue(ir::TensorDesc())};
  node.composite = composite;
  const ir::ValueId output = node.outputs[0];
  graph.graph().AddNode(std::move(node));
  graph.Output(output);
  return graph;
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST_F(Composites, AreTakenWholeWithTheirBodies) {
  Load({{"tim.AddN", 5}, {"tim.Relu", 1}});
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.compiled,
              UnorderedElementsAre("tim.AddN(tim.Add tim.Add)", "tim.Relu"));
}

TEST_F(Composites, AreOpenedForWhoeverDoesNotClaimThem) {
  Load({{"tim.Add", 2}, {"tim.Relu", 1}});
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.seen_in_claims, Contains("tim.AddN"));
  EXPECT_THAT(g_weaver.compiled,
              UnorderedElementsAre("tim.Add", "tim.Add", "tim.Relu"));
}

TEST_F(Composites, AreOpenedWhereTheirPartsTakeLess) {
  Load({{"tim.Add", 2}, {"tim.AddN", 5}, {"tim.Relu", 1}});
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.compiled, Not(Contains(HasSubstr("AddN"))));
  g_weaver.prices["tim.AddN"] = 3;
  g_weaver.compiled.clear();
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.compiled, Contains(HasSubstr("AddN")));
}

TEST_F(Composites, AreTakenWherePartsArePreferred) {
  Load({{"tim.Add", 2}, {"tim.AddN", 500}, {"tim.Relu", 1}});
  Weave(SumOfThree(), compiler::GraphParts::kPrefer);
  EXPECT_THAT(g_weaver.compiled, Contains(HasSubstr("AddN")));
}

TEST_F(Composites, InsideOfOthersAreClaimedToo) {
  Load({{"tim.AddN", 2}, {"tim.Neg", 1}, {"twist", 2}});
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled,
              ElementsAre("twist(tim.AddN(tim.Add) tim.Neg)"));
  g_weaver.compiled.clear();
  g_weaver.prices.erase("twist");
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled,
              UnorderedElementsAre("tim.AddN(tim.Add)", "tim.Neg"));
}

// Two composites, of which one is better whole, the other in parts.
TEST_F(Composites, AreComparedOperatorByOperator) {
  Load({{"tim.Add", 2},
        {"tim.AddN", 3},
        {"tim.Relu", 1},
        {"twist", 9},
        {"tim.Neg", 1}});
  PlugGraph graph = CallOfAGraph();
  const ir::ValueId twisted = graph.graph().outputs()[0];
  graph.Output(graph.Op(
      "tim.AddN",
      {twisted, graph.graph().inputs()[0], graph.Constant({kElements})},
      {{"num_inputs", int64_t{3}}}));
  Weave(graph);
  EXPECT_THAT(
      g_weaver.compiled,
      UnorderedElementsAre("tim.Add", "tim.Neg", "tim.AddN(tim.Add tim.Add)"));
}

// The outer one is not worth it, and what is inside of it is.
TEST_F(Composites, AreComparedLevelByLevel) {
  Load({{"tim.Add", 5}, {"tim.AddN", 1}, {"twist", 9}, {"tim.Neg", 1}});
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled,
              UnorderedElementsAre("tim.AddN(tim.Add)", "tim.Neg"));
}

// With several devices the times of whole plans are compared.
TEST_F(Composites, AreTakenWhereThePlanOfAllDevicesTakesLess) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}));
  for (const double price : {0.5, 1e5}) {
    Load({{"tim.AddN", price}, {"tim.Relu", 1}});
    {
      auto demo = testing::HostAnd("demo");
      ASSERT_OK(demo);
      devices_.push_back((*demo)[1]);
    }
    Weave(SumOfThree());
    EXPECT_EQ(std::count(g_weaver.compiled.begin(), g_weaver.compiled.end(),
                         "tim.AddN(tim.Add tim.Add)"),
              price < 1 ? 1 : 0)
        << price;
    devices_.clear();
    EXPECT_OK(UnloadPlugin("weaver"));
  }
  EXPECT_OK(UnloadPlugin("demo"));
  Load({});  // for the end of the test
}

// The part's constants are those that the claim holds, in bodies too.
TEST_F(Composites, KnowTheConstantsOfTheirClaim) {
  Load({{"tim.AddN", 3}, {"tim.Relu", 1}});
  g_weaver.holds_constants = true;
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.compiled, Contains("tim.AddN(tim.Add tim.Add)"));
}

TEST_F(Composites, ThatCannotBeCompiledAreOpened) {
  Load({{"tim.Add", 9}, {"tim.AddN", 5}, {"tim.Relu", 1}});
  g_weaver.refuses_composites = true;
  Weave(SumOfThree());
  EXPECT_THAT(g_weaver.compiled, Not(Contains(HasSubstr("AddN"))));
  EXPECT_THAT(g_weaver.compiled, Contains("tim.Add").Times(2));
}

TEST_F(Composites, ThatAreAllThereIsAreOpenedToo) {
  Load({{"tim.Add", 9}, {"tim.AddN", 5}});
  g_weaver.refuses_composites = true;
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({kElements});
  const ir::ValueId y = graph.Input({kElements});
  graph.Output(graph.Op("tim.AddN", {x, y, graph.Constant({kElements})},
                        {{"num_inputs", int64_t{3}}}));
  Weave(graph);
  EXPECT_THAT(g_weaver.compiled, ElementsAre("tim.Add", "tim.Add"));
}

// First the outer one is refused, then the one in it.
TEST_F(Composites, InsideOfOthersThatCannotBeCompiledAreOpened) {
  Load({{"tim.Add", 9}, {"tim.AddN", 2}, {"tim.Neg", 1}, {"twist", 2}});
  g_weaver.refuses_composites = true;
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled, Contains("tim.Add"));
  EXPECT_THAT(g_weaver.compiled, Contains("tim.Neg"));
  EXPECT_THAT(g_weaver.compiled, Not(Contains(HasSubstr("("))));
}

// Bodies that a plug-in must not have are those of no part.
TEST_F(Composites, WithEffectsAreNotTaken) {
  Load({{"twist", 1}});
  const auto operators =
      std::make_shared<ir::OpRegistry>(testing::Known().get());
  ir::OpSchema dice = *operators->Find("tim.Neg");
  dice.name = "Dice";
  dice.effects.random = true;
  operators->Add(dice);
  const auto ready =
      testing::Ready(CallOfAGraph("tim.Dice", operators), devices_);
  ASSERT_OK(ready);
  EXPECT_THAT(g_weaver.seen_in_claims, Contains("twist"));
  EXPECT_THAT(g_weaver.compiled, ::testing::IsEmpty());
}

TEST_F(Composites, OfAnotherDeviceAreNotTaken) {
  Load({{"tim.AddN", 5}, {"tim.Relu", 1}});
  PlugGraph graph = SumOfThree();
  graph.graph().node(0).device = 0;
  const auto ready = testing::Ready(graph, devices_);
  ASSERT_OK(ready);
  EXPECT_THAT(g_weaver.compiled, ElementsAre("tim.Relu"));
}

}  // namespace
}  // namespace tim::plugin
