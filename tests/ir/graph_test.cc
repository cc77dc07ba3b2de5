#include "ir/graph.h"

#include <gtest/gtest.h>

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
