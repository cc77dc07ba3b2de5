// Composites in graph mode: a device's own compiler takes them whole, with
// their bodies, where its claims do; else it gets what they consist of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/compiler.h"
#include "plugin/plugins.h"
#include "runtime/compile_options.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/plugin_abi/weaver_plugin.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

testing::Weaver& g_weaver = testing::TheWeaver();

constexpr int64_t kElements = 12;

class Composites : public ::testing::Test {
 protected:
  void Load(std::map<std::string, double> prices) {
    g_weaver = {};
    g_weaver.prices = std::move(prices);
    ASSERT_OK(LoadPluginTable(testing::WeaverPlugin(), {}, {}));
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
    constant_bytes_ = 0;
    for (const auto& block : ready->executable->plan().constants) {
      if (block.device == 1) constant_bytes_ += block.bytes;
    }
    parts_.clear();
    for (const ir::Step& step : ready->executable->plan().steps) {
      const auto* call = std::get_if<ir::GraphCall>(&step.action);
      if (call != nullptr) parts_.insert(call->name);
    }
    const std::vector<Floats> inputs = {testing::SomeFloats(kElements, 3),
                                        testing::SomeFloats(kElements, 4)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    EXPECT_EQ(*results, testing::Expected(graph, inputs));
  }

  device::Devices devices_;
  // Names of the parts of the last Weave(), and what the device holds besides.
  std::set<std::string> parts_;
  int64_t constant_bytes_ = 0;
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

// y + twist(x, constant), which is AddN(x, constant, another one of the body).
PlugGraph CallWithConstants(float in_body) {
  PlugGraph body(testing::Known());
  const ir::ValueId a = body.Input({kElements});
  const ir::ValueId b = body.Input({kElements});
  const ir::ValueId c = body.Constant({kElements});
  const Floats content(kElements, in_body);
  body.graph().value(c).constant =
      ir::MakeConstant(content.data(), content.size() * sizeof(float));
  body.Output(body.Op("tim.AddN", {a, b, c}, {{"num_inputs", int64_t{3}}}));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "twist";
  composite->body = body.graph();
  PlugGraph graph(testing::Known());
  ir::Node node;
  node.name = "twist#0";
  node.inputs = {graph.Input({kElements}), graph.Constant({kElements})};
  node.outputs = {graph.graph().AddValue(ir::TensorDesc())};
  node.composite = composite;
  const ir::ValueId twisted = node.outputs[0];
  graph.graph().AddNode(std::move(node));
  graph.Output(graph.Op("tim.Add", {graph.Input({kElements}), twisted}));
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

// An outer one that the device cannot edit is opened, and the inner one is not.
TEST_F(Composites, InsideOfOneThatFailsAreTried) {
  Load({{"tim.Add", 9}, {"tim.AddN", 1}, {"tim.Neg", 1}, {"twist", 2}});
  g_weaver.dislikes = "twist";
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled,
              UnorderedElementsAre("tim.AddN(tim.Add)", "tim.Neg"));
}

// The compiler is asked once per level of composites, and once for the parts.
TEST_F(Composites, ThatNobodyClaimsAreOpenedAtOnce) {
  Load({{"tim.Add", 2}, {"tim.Neg", 1}});
  Weave(CallOfAGraph());
  EXPECT_THAT(g_weaver.compiled, UnorderedElementsAre("tim.Add", "tim.Neg"));
  EXPECT_EQ(g_weaver.claims, 3);
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

// The part's constants are those that the claim holds, in bodies too; the
// device has memory for the others alone.
TEST_F(Composites, KnowTheConstantsOfTheirClaim) {
  Load({{"tim.AddN", 3}, {"tim.Relu", 1}});
  for (const bool holds : {false, true}) {
    g_weaver.compiled.clear();
    g_weaver.holds_constants = holds;
    Weave(SumOfThree());
    EXPECT_THAT(g_weaver.compiled, Contains("tim.AddN(tim.Add tim.Add)"));
    EXPECT_EQ(constant_bytes_, holds ? 0 : 64);  // 12 floats, aligned
  }
}

// Constants of bodies are there whatever the claim holds, at every level, and
// those that it holds go down to who reads them.  Parts that differ in nothing
// but a constant of a body are different programs.
TEST_F(Composites, HaveConstantsInTheirBodies) {
  Load({{"twist", 1.5}, {"tim.Add", 1}});
  for (const bool holds : {false, true}) {
    g_weaver.holds_constants = holds;
    for (const float in_body : {2.0f, -7.0f}) {
      g_weaver.compiled.clear();
      Weave(CallWithConstants(in_body));
      EXPECT_THAT(g_weaver.compiled,
                  Contains("twist(tim.AddN(tim.Add tim.Add))"));
    }
  }
}

// The names follow from the graph alone: they are the same in every process,
// whatever was compiled before, and beside what else the graph has.
TEST_F(Composites, AreInPartsOfLastingNames) {
  Load({{"tim.AddN", 5}, {"tim.Relu", 1}, {"tim.Neg", 1}});
  const std::set<std::string> names = {"part.weaver.#44cf6952229e",
                                       "part.weaver.#eaf9300daadc"};
  Weave(SumOfThree());
  EXPECT_EQ(parts_, names);
  Weave(CallOfAGraph());
  EXPECT_NE(parts_, names);
  PlugGraph more = SumOfThree();
  more.Output(more.Op("tim.Neg", {more.graph().inputs()[0]}));
  Weave(more);
  EXPECT_THAT(parts_, ::testing::IsSupersetOf(names));
  EXPECT_EQ(parts_.size(), 3u);
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
