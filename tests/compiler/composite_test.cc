// Composite nodes: expanded into their body, or kept for a kernel that claims
// them by name.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/effects.h"
#include "compiler/passes/passes.h"
#include "compiler/whole_composites.h"
#include "ir/effect_order.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::CountKernels;
using testing::ToyGraph;
using testing::ToyOperators;

// y = 2 (a + b) as one node "toy.TwiceSum".
ir::NodeId AddTwiceSum(ToyGraph& toy, ir::ValueId a, ir::ValueId b) {
  ToyGraph body("body");
  const ir::ValueId x = body.Input(ir::Shape());
  const ir::ValueId y = body.Input(ir::Shape());
  body.Output(body.Op("Twice", {body.Op("Sum", {x, y})}));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "toy.TwiceSum";
  composite->body = body.graph();
  ir::Node node;
  node.name = "TwiceSum#0";
  node.inputs = {a, b};
  node.outputs = {toy.graph().AddValue(ir::TensorDesc())};
  node.composite = composite;
  return toy.graph().AddNode(std::move(node));
}

ToyGraph Example() {
  ToyGraph toy;
  const ir::NodeId node = AddTwiceSum(toy, toy.Input({8}), toy.Input({8}));
  toy.Output(toy.graph().node(node).outputs[0]);
  return toy;
}

TEST(Composite, ExpandsIntoItsBody) {
  const Result<ir::Plan> plan = Example().Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "sum"), 1);
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
  EXPECT_EQ(plan->outputs[0].desc.shape, ir::Shape({8}));
}

TEST(Composite, IsOneNodeWithItsBodyInTheDump) {
  const std::string dump = Example().graph().Dump();
  EXPECT_NE(dump.find("= toy.TwiceSum"), std::string::npos) << dump;
  EXPECT_NE(dump.find("= toy.Twice@1"), std::string::npos) << dump;
}

// A composite whose body is a composite whose body is one node of the schema.
ir::Node Nested(const ir::OpSchema& schema) {
  ir::Node node;
  node.schema = &schema;
  for (int level = 0; level < 2; ++level) {
    auto composite = std::make_shared<ir::Composite>();
    composite->body.AddNode(std::move(node));
    node = ir::Node();
    node.composite = std::move(composite);
  }
  return node;
}

TEST(Composite, HasTheEffectsAndDecisionsInsideOfIt) {
  ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
  EXPECT_FALSE(compiler::HasEffects(Nested(schema)));
  EXPECT_FALSE(compiler::HasControl(Nested(schema)));
  schema.effects.ordered = true;
  EXPECT_TRUE(compiler::HasEffects(Nested(schema)));
  EXPECT_FALSE(compiler::HasControl(Nested(schema)));
  schema.effects = {.random = true};
  EXPECT_TRUE(compiler::HasEffects(Nested(schema)));
  schema.effects = {};
  schema.control = ir::ControlKind::kWhile;
  EXPECT_FALSE(compiler::HasEffects(Nested(schema)));
  EXPECT_TRUE(compiler::HasControl(Nested(schema)));
}

// A device's compiler may not have what is evaluated as the run decides.
TEST(Composite, IsInNoPartWithDecisionsInsideOfIt) {
  ToyGraph toy = Example();
  const ir::Graph inferred =
      compiler::Infer(toy.graph(), ToyOperators(), testing::ToyOptions())
          ->graph;
  ir::Node whole = inferred.node(inferred.NodeIds()[0]);
  EXPECT_TRUE(compiler::MayBeInPart(inferred, whole, 1));
  ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
  schema.control = ir::ControlKind::kIf;
  whole.composite = Nested(schema).composite;
  EXPECT_FALSE(compiler::MayBeInPart(inferred, whole, 1));
}

// Composites of two nodes, the first of which has ordered effects.
class OrderedComposites : public ::testing::Test {
 protected:
  OrderedComposites() : effect_(*ToyOperators().Find("toy.Bump")) {
    effect_.effects.ordered = true;
  }
  ir::ValueId Effect(ToyGraph& toy, ir::ValueId x) {
    const ir::ValueId y = toy.Op("Bump", {x});
    toy.graph().node(toy.graph().value(y).producer).schema = &effect_;
    return y;
  }
  ir::NodeId Add(ir::ValueId x, ToyGraph body, const std::string& name) {
    auto composite = std::make_shared<ir::Composite>();
    composite->body = body.graph();
    ir::Node node;
    node.name = name;
    node.inputs = {x};
    node.outputs = {graph().AddValue(ir::TensorDesc())};
    node.composite = std::move(composite);
    return graph().AddNode(std::move(node));
  }
  ir::NodeId AddEffect(ir::ValueId x, const std::string& name) {
    ToyGraph body("body");
    const ir::ValueId y = Effect(body, body.Input(ir::Shape()));
    body.Output(body.Op("Twice", {y}));
    return Add(x, std::move(body), name);
  }
  ir::Graph& graph() { return toy_.graph(); }
  std::vector<std::string> EffectNames() {
    std::vector<std::string> names;
    for (const ir::NodeId id : ir::EffectOrder(graph())) {
      names.push_back(graph().node(id).name);
    }
    return names;
  }

  ir::OpSchema effect_;
  ToyGraph toy_;
};

TEST_F(OrderedComposites, ExpandAtOnceIntoTheirPlaces) {
  const ir::ValueId x = toy_.Input({4});
  const ir::NodeId first = AddEffect(x, "first");
  Effect(toy_, x);
  const ir::NodeId last = AddEffect(x, "last");
  const std::string alone = graph().node(1).name;
  compiler::ExpandComposites({last, first}, &graph());
  EXPECT_EQ(EffectNames(),
            (std::vector<std::string>{"first/Bump#0", alone, "last/Bump#0"}));
  EXPECT_OK(graph().CheckChains());
}

// Each node that an expansion makes has one id: none is moved for each other
// composite.
TEST_F(OrderedComposites, ExpandInOneRound) {
  constexpr int kCount = 1000;
  ir::ValueId x = toy_.Input({4});
  std::vector<ir::NodeId> ids;
  for (int i = 0; i < kCount; ++i) {
    ids.push_back(AddEffect(x, StrCat("trip", i)));
    x = graph().node(ids.back()).outputs[0];
  }
  toy_.Output(x);
  const Result<ir::Plan> plan = toy_.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "bump"), kCount);
  compiler::ExpandComposites(ids, &graph());
  EXPECT_EQ(graph().node_id_limit(), 3 * kCount);
}

// An effect that waited for another one only by an operand that the body turns
// out not to read stays behind it.
TEST_F(OrderedComposites, KeepAnOrderThatABodyHides) {
  const ir::ValueId x = toy_.Input({4});
  const ir::ValueId last = Effect(toy_, x);
  const ir::ValueId first = Effect(toy_, x);
  ToyGraph body("body");
  body.Input(ir::Shape());
  body.Output(body.Op("Twice", {body.Constant({4}, 1)}));
  const ir::NodeId hides = Add(first, std::move(body), "hides");
  graph().SetInput(graph().value(last).producer, 0,
                   graph().node(hides).outputs[0]);
  const auto order = [&] {
    std::vector<ir::ValueId> results;
    for (const ir::NodeId id : ir::EffectOrder(graph())) {
      results.push_back(graph().node(id).outputs[0]);
    }
    return results;
  };
  ASSERT_EQ(order(), (std::vector<ir::ValueId>{first, last}));
  compiler::ExpandComposites({hides}, &graph());
  EXPECT_EQ(order(), (std::vector<ir::ValueId>{first, last}));
}

TEST(Composite, StaysOneStepForAKernelThatClaimsIt) {
  ir::OpRegistry registry(&ToyOperators());
  ir::KernelDef claim = *ToyOperators().Kernels("toy.Sum", "opencl")[0];
  claim.op = "toy.TwiceSum";
  claim.name = "twice_sum";
  registry.Add(claim);
  const Result<ir::Plan> plan =
      compiler::Compile(Example().graph(), registry, testing::ToyOptions());
  ASSERT_OK(plan);
  EXPECT_EQ(plan->steps.size(), 4u);  // two inputs in, one kernel, one out
  EXPECT_EQ(plan->decisions[0].node, "TwiceSum#0");
}

// The composite of Example(), after `change`.
template <typename Change>
Result<ir::Plan> CompileChanged(Change change) {
  ToyGraph toy = Example();
  ir::Node& node = toy.graph().node(0);
  auto composite = std::make_shared<ir::Composite>(*node.composite);
  change(composite->body);
  node.composite = composite;
  return toy.Compile();
}

TEST(Composite, MustHaveABodyOfItsArity) {
  EXPECT_ERROR(CompileChanged([](ir::Graph& body) {
                 body.AddInput(body.AddValue({}, ir::Role::kInput));
               }),
               "TwiceSum#0 of graph 'toy': its body has 3 inputs, the "
               "operation 2");
  EXPECT_ERROR(
      CompileChanged([](ir::Graph& body) { body.AddOutput(ir::kNone); }),
      "its body has 2 outputs, the operation 1");
}

TEST(Composite, MustHaveABodyThatMakesItsOutputs) {
  EXPECT_ERROR(CompileChanged(
                   [](ir::Graph& body) { body.SetGraphOutput(0, ir::kNone); }),
               "its body does not make output 0");
  EXPECT_ERROR(CompileChanged([](ir::Graph& body) {
                 body.SetGraphOutput(0, body.AddValue({}));
               }),
               "its body does not make output 0");
}

TEST(Composite, ADecomposedBodyIsVerified) {
  ir::OpRegistry registry(&ToyOperators());
  ir::OpSchema schema = *ToyOperators().Find("toy.Sum");
  schema.name = "Half";
  schema.decompose = [](const ir::NodeView&, const ir::OpRegistry&) {
    ToyGraph body("half");
    const ir::ValueId x = body.Input(ir::Shape());
    body.graph().AddInput(ir::kNone);
    body.Output(body.Op("Sum", {x}));
    return Result<ir::Graph>(body.graph());
  };
  registry.Add(schema);
  ToyGraph toy;
  toy.Output(toy.Op("Sum", {toy.Input({8}), toy.Input({8})}));
  toy.graph().node(0).schema = registry.Find("toy.Half");
  EXPECT_ERROR(compiler::Compile(toy.graph(), registry, testing::ToyOptions()),
               "1 inputs are bound, expected 2");
}

TEST(Composite, ErrorInTheBodyNamesItsOperation) {
  ToyGraph toy;
  AddTwiceSum(toy, toy.Input({8}), toy.Input({8}));
  auto composite =
      std::make_shared<ir::Composite>(*toy.graph().node(0).composite);
  composite->body.node(0).inputs.pop_back();
  composite->body.value(composite->body.inputs()[1]).uses.clear();
  toy.graph().node(0).composite = composite;
  EXPECT_ERROR(toy.Compile(), "operation Sum#0");
}

}  // namespace
}  // namespace tim
