#include "compiler/transposes/min_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tim::compiler {
namespace {

using ::testing::ElementsAre;

TEST(MinCut, OfTwoVerticesPartsThem) {
  MinCut cut;
  cut.AddEdge(MinCut::kSource, MinCut::kSink, 3);
  EXPECT_THAT(cut.Solve(), ElementsAre(true, false));
}

TEST(MinCut, GoesThroughTheCheapestEdgeOfAChain) {
  MinCut cut;
  const int a = cut.AddVertex();
  const int b = cut.AddVertex();
  cut.AddEdge(MinCut::kSource, a, 5);
  cut.AddEdge(a, b, 2);
  cut.AddEdge(b, MinCut::kSink, 4);
  EXPECT_THAT(cut.Solve(), ElementsAre(true, false, true, false));
}

TEST(MinCut, LeavesTheSourceFewVerticesOnATie) {
  MinCut cut;
  const int a = cut.AddVertex();
  cut.AddEdge(MinCut::kSource, a, 2);
  cut.AddEdge(a, MinCut::kSink, 2);
  EXPECT_THAT(cut.Solve(), ElementsAre(true, false, false));
}

TEST(MinCut, NeverCutsWhatIsInfinite) {
  MinCut cut;
  const int a = cut.AddVertex();
  const int b = cut.AddVertex();
  cut.AddEdge(MinCut::kSource, a, 1);
  cut.AddEdge(a, b, MinCut::kInfinite);
  cut.AddEdge(b, MinCut::kSink, 7);
  EXPECT_THAT(cut.Solve(), ElementsAre(true, false, false, false));
}

struct Edge {
  int from = 0;
  int to = 0;
  double capacity = 0;
};

double CostOf(const std::vector<Edge>& edges, const std::vector<bool>& side) {
  double cost = 0;
  for (const Edge& edge : edges) {
    if (side[edge.from] && !side[edge.to]) cost += edge.capacity;
  }
  return cost;
}

// Against all ways to part a small network.
TEST(MinCut, IsTheCheapestOfAllWays) {
  constexpr int kVertices = 8;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 rng(seed);
    MinCut cut;
    for (int i = 2; i < kVertices; ++i) cut.AddVertex();
    std::vector<Edge> edges;
    for (int i = 0; i < 20; ++i) {
      edges.push_back({static_cast<int>(rng() % kVertices),
                       static_cast<int>(rng() % kVertices),
                       static_cast<double>(rng() % 9)});
      cut.AddEdge(edges.back().from, edges.back().to, edges.back().capacity);
    }
    double best = MinCut::kInfinite;
    for (int sides = 0; sides < 1 << (kVertices - 2); ++sides) {
      std::vector<bool> side = {true, false};
      for (int i = 2; i < kVertices; ++i) {
        side.push_back(((sides >> (i - 2)) & 1) != 0);
      }
      best = std::min(best, CostOf(edges, side));
    }
    EXPECT_EQ(CostOf(edges, cut.Solve()), best) << "seed " << seed;
  }
}

TEST(MinCut, OfALongChainNeedsNoDeepStack) {
  constexpr int kLength = 100000;
  MinCut cut;
  int last = MinCut::kSource;
  for (int i = 0; i < kLength; ++i) {
    const int next = cut.AddVertex();
    cut.AddEdge(last, next, i == kLength / 2 ? 1 : 2);
    last = next;
  }
  cut.AddEdge(last, MinCut::kSink, 2);
  const std::vector<bool> side = cut.Solve();
  EXPECT_TRUE(side[kLength / 2 + 1]);
  EXPECT_FALSE(side[kLength / 2 + 2]);
}

}  // namespace
}  // namespace tim::compiler
