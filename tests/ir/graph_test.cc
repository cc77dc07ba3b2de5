#include "ir/graph.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "ir/effect_order.h"
#include "ir/op_schema.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::ir {
namespace {

using testing::ToyGraph;

TEST(Graph, ChainsFollowEveryEdit) {
  ToyGraph toy;
  const ValueId a = toy.Input({4});
  const ValueId b = toy.Op("Twice", {a});
  const ValueId c = toy.Op("Sum", {b, b});
  toy.Output(c);
  Graph& graph = toy.graph();
  EXPECT_EQ(graph.value(b).uses, (std::vector<Use>{{1, 0}, {1, 1}}));
  EXPECT_EQ(graph.value(c).producer, 1);
  graph.ReplaceUses(b, a);
  EXPECT_TRUE(graph.value(b).uses.empty());
  EXPECT_EQ(graph.value(a).uses.size(), 3u);
  graph.RemoveNode(0);
  EXPECT_EQ(graph.value(b).producer, kNone);
  EXPECT_OK(graph.CheckChains());
}

TEST(Graph, ReplacingUsesMovesGraphOutputs) {
  ToyGraph toy;
  const ValueId a = toy.Input({4});
  const ValueId b = toy.Op("Twice", {a});
  toy.Output(b);
  toy.graph().ReplaceUses(b, a);
  EXPECT_EQ(toy.graph().outputs(), std::vector<ValueId>{a});
}

TEST(Graph, CopyIsIndependent) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({4})}));
  Graph copy = toy.graph();
  copy.RemoveNode(0);
  EXPECT_TRUE(toy.graph().HasNode(0));
  EXPECT_OK(toy.graph().CheckChains());
}

TEST(Graph, TopologicalOrderPutsProducersFirst) {
  ToyGraph toy;
  const ValueId a = toy.Op("Twice", {toy.Input({4})});
  const ValueId b = toy.Op("Twice", {a});
  toy.graph().SetInput(0, 0, toy.Op("Bump", {toy.Input({4})}));
  toy.Output(b);
  const auto order = toy.graph().TopologicalOrder();
  ASSERT_OK(order);
  EXPECT_EQ(*order, (std::vector<NodeId>{2, 0, 1}));
}

// Nodes with ordered effects.
class EffectOrders : public ::testing::Test {
 protected:
  EffectOrders() : effect_(*testing::ToyOperators().Find("toy.Bump")) {
    effect_.effects.ordered = true;
  }
  ValueId Effect(ValueId x) {
    const ValueId y = toy_.Op("Bump", {x});
    graph().node(graph().value(y).producer).schema = &effect_;
    return y;
  }
  Graph& graph() { return toy_.graph(); }

  ToyGraph toy_;
  OpSchema effect_;
};

TEST_F(EffectOrders, AreThoseOfIds) {
  const ValueId x = toy_.Input({4});
  const ValueId late = toy_.Op("Twice", {x});        // 0
  Effect(late);                                      // 1
  Effect(x);                                         // 2
  graph().SetInput(1, 0, toy_.Op("Twice", {late}));  // 3
  EXPECT_EQ(EffectOrder(graph()), (std::vector<NodeId>{1, 2}));
  const auto order = graph().TopologicalOrder();
  ASSERT_OK(order);
  EXPECT_EQ(*order, (std::vector<NodeId>{0, 3, 1, 2}));
  const EffectChain chain(graph());
  EXPECT_EQ(chain.Before(2), 1);
  EXPECT_EQ(chain.After(1), 2);
  EXPECT_EQ(chain.Before(1), kNone);
  EXPECT_EQ(chain.After(0), kNone);
}

TEST_F(EffectOrders, FollowOperands) {
  const ValueId x = toy_.Input({4});
  Effect(x);                                         // 0
  Effect(x);                                         // 1
  const ValueId last = Effect(x);                    // 2
  graph().SetInput(0, 0, toy_.Op("Twice", {last}));  // 3
  EXPECT_EQ(EffectOrder(graph()), (std::vector<NodeId>{2, 0, 1}));
  EXPECT_OK(graph().TopologicalOrder());
}

TEST_F(EffectOrders, CanBeSet) {
  const ValueId x = toy_.Input({4});
  for (int i = 0; i < 3; ++i) toy_.Output(Effect(x));
  const auto moved = SetEffectOrder({1, 0, 2}, &graph());
  EXPECT_EQ(moved, (std::vector<std::pair<NodeId, NodeId>>{{0, 3}, {2, 4}}));
  EXPECT_EQ(EffectOrder(graph()), (std::vector<NodeId>{1, 3, 4}));
  EXPECT_EQ(graph().value(graph().outputs()[0]).producer, 3);
  EXPECT_OK(graph().CheckChains());
}

TEST(Graph, DumpNamesValuesNodesAndRoles) {
  ToyGraph toy("g");
  toy.Output(toy.Op("Twice", {toy.Input({4})}));
  EXPECT_EQ(toy.graph().Dump(),
            "graph g (%0) -> (%1)\n"
            "  %0: float32 [4] input\n"
            "  %1: unknown [...]\n"
            "  (%1) = toy.Twice@1 {} (%0)  # Twice#0\n");
}

}  // namespace
}  // namespace tim::ir
