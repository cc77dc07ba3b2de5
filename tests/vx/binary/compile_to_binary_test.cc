// Graph::CompileToBinary().
#include <gtest/gtest.h>

#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

TEST(CompileToBinary, BothCallsAgreeOnTheSize) {
  ReluGraph g({4});
  for (const size_t before : {size_t{0}, static_cast<size_t>(-1), size_t{7}}) {
    size_t size = before;
    ASSERT_TRUE(g.graph->CompileToBinary(nullptr, &size)) << vx::LastError();
    ASSERT_GT(size, 0u);
    ASSERT_LT(size, size_t{1} << 20);
    std::vector<char> exact(size), roomy(size + 10, 'x');
    EXPECT_TRUE(g.graph->CompileToBinary(exact.data(), &size));
    EXPECT_EQ(size, exact.size());
    size = roomy.size();
    EXPECT_TRUE(g.graph->CompileToBinary(roomy.data(), &size));
    EXPECT_EQ(size, exact.size());
    EXPECT_EQ(roomy[size], 'x');
    roomy.resize(size);
    EXPECT_EQ(exact, roomy);
  }
}

TEST(CompileToBinary, TheGraphStillRuns) {
  ReluGraph g({4});
  ToBinary(*g.graph);
  Write<float>(g.input, {-1, 2, -3, 4});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{0, 2, 0, 4}));
  EXPECT_FALSE(ToBinary(*g.graph).empty());
}

TEST(CompileToBinary, BadArgumentsAreRefused) {
  ReluGraph g({4});
  EXPECT_FALSE(g.graph->CompileToBinary(nullptr, nullptr));
  EXPECT_NE(vx::LastError().find("size is null"), std::string::npos);
  size_t size = 0;
  ASSERT_TRUE(g.graph->CompileToBinary(nullptr, &size));
  std::vector<char> small(size - 1, 'x');
  size_t room = small.size();
  EXPECT_FALSE(g.graph->CompileToBinary(small.data(), &room));
  EXPECT_EQ(room, size);
  EXPECT_EQ(small, std::vector<char>(size - 1, 'x'));
  EXPECT_NE(g.graph->ErrorMessage().find("the buffer has"), std::string::npos);
}

TEST(CompileToBinary, OfGraphsThatDoNotCompileFails) {
  const auto empty = HostGraph();
  size_t size = 5;
  EXPECT_FALSE(empty->CompileToBinary(nullptr, &size));
  EXPECT_NE(vx::LastError().find("is empty"), std::string::npos);
}

// An INPUT that operations write is an output of the lowered graph.
TEST(CompileToBinary, RolesMustBeThoseOfTheGraph) {
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2}, vx::INPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(y);
  size_t size = 0;
  EXPECT_FALSE(graph->CompileToBinary(nullptr, &size));
  EXPECT_NE(vx::LastError().find("is an INPUT that operations write"),
            std::string::npos)
      << vx::LastError();
}

TEST(CompileToBinary, TakesStatesAsTheyAre) {
  const auto graph = HostGraph();
  const auto state = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  const auto out = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(state).BindOutput(out);
  Write<float>(state, {1, 2});
  size_t size = 0;
  ASSERT_TRUE(graph->CompileToBinary(nullptr, &size));
  Write<float>(state, {3, 4});
  std::vector<char> binary(size);
  ASSERT_TRUE(graph->CompileToBinary(binary.data(), &size));
  ASSERT_EQ(size, binary.size());
  LoadedBinary loaded(binary, *graph, HostGraph());
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{3, 4}));
}

TEST(CompileToBinary, HoldsWeightsOnce) {
  const auto graph = HostGraph();
  const uint32_t n = 1 << 16;
  const Values weights(n, 2);
  auto x = graph->CreateTensor(Floats({n}, vx::INPUT));
  for (int i = 0; i < 4; ++i) {
    const auto y = graph->CreateTensor(i < 3 ? Floats({}, vx::TRANSIENT)
                                             : Floats({n}, vx::OUTPUT));
    const auto w =
        graph->CreateTensor(Floats({n}, vx::CONSTANT), weights.data());
    (*graph->CreateOperation<vx::ops::Add>()).BindInputs({x, w}).BindOutput(y);
    x = y;
  }
  // Once in the graph, once in the plan.
  EXPECT_LT(ToBinary(*graph).size(), 2 * n * sizeof(float) + 32768);
}

}  // namespace
}  // namespace tim::testing
