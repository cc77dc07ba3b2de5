// Patterns over graphs of values, and graphs that are rewritten.
#include "tim/values/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Values = std::vector<Value>;

const Spec kRow(Type::kFloat32, {4});

Graph Captured(const Function& function) {
  Graph graph = Graph::Capture(function, {kRow}, "net");
  EXPECT_TRUE(graph.ok()) << graph.error();
  return graph;
}

Pattern SwishPattern() {
  const Pattern x = Pattern::Any("x");
  return Pattern::Op("tim.Multiply", {x, Pattern::Op("tim.Sigmoid", {x})})
      .AnyOrder();
}

Values BySwish(const Match& match) { return {Call("tim.Swish", {match["x"]})}; }

// Three swishes, one of them the other way round, and what is none.
Values Swishes(const Values& in) {
  Value x = in[0];
  x = x * Sigmoid(x);
  x = Sigmoid(x) * x;
  x = Relu(x) * Sigmoid(x);
  return {x * Sigmoid(x)};
}

TEST(Replace, RewritesANetwork) {
  Graph graph = Captured(Swishes);
  const Value x = Value::Of<float>({4}, {-1, 0, 2, 3});
  const std::vector<float> before = Value(graph.Call({x})).ToVector<float>();
  EXPECT_EQ(graph.Replace(SwishPattern(), BySwish), 3);
  EXPECT_EQ(graph.FindAll(Pattern::Op("tim.Swish")).size(), 3u);
  EXPECT_EQ(graph.FindAll(Pattern::Op("tim.Sigmoid")).size(), 1u);
  const std::vector<float> after = Value(graph.Call({x})).ToVector<float>();
  ASSERT_EQ(after.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(after[i], before[i], 1e-5f);
  EXPECT_EQ(graph.Replace(SwishPattern(), BySwish), 0);
  // The graph goes on: it is compiled, specialised, and differentiated.
  const Values run = graph.Compile().Run({x});
  ASSERT_TRUE(run[0].Wait()) << run[0].error();
  EXPECT_EQ(run[0].ToVector<float>(), after);
  const Graph same = graph.Specialize({kRow});
  ASSERT_TRUE(same.ok()) << same.error();
  EXPECT_EQ(Value(same.Call({x})).ToVector<float>(), after);
}

TEST(Replace, ValuesOfTheGraphStayWhatTheyWere) {
  Graph graph;
  const Value x = graph.Input(kRow);
  const Value y = Relu(x * Sigmoid(x));
  EXPECT_EQ(graph.Replace(SwishPattern(), BySwish), 1);
  graph.Output(y);  // Nothing needed it: it is gone.
  EXPECT_THAT(graph.error(), HasSubstr("a replacement removed this value"));
  Graph kept;
  const Value a = kept.Input(kRow);
  const Value b = Relu(a * Sigmoid(a));
  kept.Output(b);
  EXPECT_EQ(kept.Replace(SwishPattern(), BySwish), 1);
  kept.Output(b + a);
  const Outputs found = kept.Call({Value::Of<float>({4}, {0, 0, 0, 0})});
  ASSERT_TRUE(found.ok()) << found.error();
  EXPECT_THAT(found[1].ToVector<float>(), ElementsAre(0, 0, 0, 0));
}

TEST(Replace, AnotherShapeIsLeftOutAndTold) {
  Graph graph = Captured([](const Values& in) { return Values{Relu(in[0])}; });
  const std::string before = graph.Dump();
  EXPECT_EQ(graph.Replace(Pattern::Op("tim.Relu", {Pattern::Any("x")}),
                          [](const Match& match) -> Values {
                            return {Reshape(match["x"], {2, 2})};
                          }),
            0);
  EXPECT_THAT(LastError(), HasSubstr("Relu#0"));
  EXPECT_THAT(LastError(), HasSubstr("expected float32 [4]"));
  EXPECT_EQ(graph.Dump(), before);
}

TEST(Replace, AFailureLeavesTheGraphAsItWas) {
  Graph graph = Captured(Swishes);
  const std::string before = graph.Dump();
  EXPECT_EQ(graph.Replace(SwishPattern(),
                          [](const Match& match) -> Values {
                            return {match["no such part"]};
                          }),
            -1);
  EXPECT_THAT(LastError(), HasSubstr("no part named 'no such part'"));
  EXPECT_EQ(graph.Dump(), before);
  EXPECT_EQ(graph.Replace(SwishPattern(),
                          [](const Match& match) -> Values {
                            return {Call("tim.NoSuch", {match["x"]})};
                          }),
            -1);
  EXPECT_EQ(
      graph.Replace(Pattern::Repeat("tim.Relu", 2, 1, Pattern::Any()), BySwish),
      -1);
  EXPECT_THAT(LastError(), HasSubstr("repeats tim.Relu 2 to 1 times"));
  EXPECT_TRUE(graph.ok());
  EXPECT_EQ(graph.Replace(SwishPattern(), BySwish), 3);
}

TEST(FindAll, GivesPartsByName) {
  const Graph graph = Captured([](const Values& in) {
    const float ones[] = {1, 1, 1, 1};
    const Value weights = Value::Constant(kRow, ones);
    return Values{Relu(Linear(in[0] + weights, 2))};
  });
  Pattern line =
      Pattern::Op(
          "tim.Linear",
          {Pattern::Op("tim.Add", {Pattern::Any("x"), Pattern::Constant("w")})},
          "line")
          .With("a", 2);
  const auto found = graph.FindAll(Pattern::Optional("tim.Relu", line, "relu"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].Has("x"));
  EXPECT_FALSE(found[0].Has("relu"));
  EXPECT_TRUE(found[0]["w"].ok());
  EXPECT_EQ(found[0].node("line").op(), "tim.Linear");
  EXPECT_THAT(found[0].nodes(),
              ElementsAre(StartsWith("Linear"), StartsWith("Add")));
  EXPECT_FALSE(found[0].node("relu").ok());
  const auto repeated = graph.FindAll(Pattern::Op(
      "tim.Relu", {Pattern::Repeat("tim.Linear", 1, 3, Pattern::Any("end"))}));
  ASSERT_EQ(repeated.size(), 1u);
  EXPECT_TRUE(graph.FindAll(line.With("b", 1)).empty());
}

TEST(FindAll, AsksPredicatesAndReaders) {
  const Graph graph = Captured([](const Values& in) {
    const Value y = Relu(in[0]);
    return Values{Tanh(y), Sigmoid(y), Tanh(Relu(in[0] + in[0]))};
  });
  const Pattern relu = Pattern::Op("tim.Relu", {Pattern::Any("x")}, "relu");
  const auto tanh = [](const Pattern& inside) {
    return Pattern::Op("tim.Tanh", {inside});
  };
  EXPECT_EQ(graph.FindAll(tanh(relu)).size(), 1u);
  EXPECT_EQ(graph.FindAll(tanh(Pattern(relu).MayBeShared())).size(), 2u);
  EXPECT_EQ(graph.FindAll(tanh(relu)).size(), 1u);  // A copy was changed.
  Pattern shared = relu;
  shared.MayBeShared().Where(
      [](const Match& match) { return match["x"].spec().shape == kRow.shape; });
  EXPECT_EQ(graph.FindAll(tanh(shared)).size(), 2u);
  shared.Where([](const Match&) { return false; });
  EXPECT_EQ(graph.FindAll(tanh(shared)).size(), 0u);
  EXPECT_EQ(graph
                .FindAll(Pattern::OneOf(
                    {Pattern::Op("tim.Sigmoid"), Pattern::Op("tim.Add")}))
                .size(),
            2u);
}

TEST(FindAll, TakesCalledGraphsAsOneNode) {
  const Graph block = Graph::Capture(
      [](const Values& in) { return Values{Relu(in[0] + in[0])}; }, {Spec()},
      "block");
  Graph graph = Captured([&](const Values& in) {
    const Value once = block.Call({in[0]});
    return Values{Value(block.Call({once}))};
  });
  EXPECT_EQ(graph.FindAll(Pattern::Op("block")).size(), 2u);
  EXPECT_TRUE(graph.FindAll(Pattern::Op("tim.Relu")).empty());
  EXPECT_EQ(graph.Replace(Pattern::Op("block", {Pattern::Any("x")}),
                          [](const Match& match) -> Values {
                            return {Tanh(match["x"])};
                          }),
            2);
  EXPECT_EQ(graph.FindAll(Pattern::Op("tim.Tanh")).size(), 2u);
}

// What a holder without a function cannot do is put in its place.
TEST(Replace, PutsAnOperatorInAHoldersPlace) {
  Graph graph = Captured([](const Values& in) {
    return Values{Holder("acme.Rectify", {in[0]}, {kRow})};
  });
  ASSERT_EQ(graph.FindAll(Pattern::Op("acme.Rectify")).size(), 1u);
  EXPECT_EQ(graph.Replace(Pattern::Op("acme.Rectify", {Pattern::Any("x")}),
                          [](const Match& match) -> Values {
                            return {Relu(match["x"])};
                          }),
            1);
  const Values run =
      graph.Compile().Run({Value::Of<float>({4}, {-1, 0, 2, 3})});
  ASSERT_TRUE(run[0].Wait()) << run[0].error();
  EXPECT_THAT(run[0].ToVector<float>(), ElementsAre(0, 0, 2, 3));
}

// The replacement takes the place of the order as well.
TEST(Replace, PutsOperatorsInOrderedGraphsPlace) {
  int calls = 0;
  const Function hold = [&](const Values& in) -> Values {
    Effects ordered;
    ordered.ordered = true;
    return {Holder(
        "acme.Same", in, {kRow},
        [&](const std::vector<Plain>& x, std::vector<Plain>* y, std::string*) {
          ++calls;
          return (*y)[0] = x[0], true;
        },
        ordered)};
  };
  const Graph first = Graph::Capture(hold, {kRow}, "first");
  for (const bool another : {false, true}) {
    Graph block = Captured([&](const Values& in) {
      const Value x = first.Call(in);
      return another ? hold({x}) : Values{x};
    });
    ASSERT_EQ(block.Replace(Pattern::Op("first", {Pattern::Any("x")}),
                            [&](const Match& match) -> Values {
                              return {Relu(match["x"])};
                            }),
              1)
        << LastError();
    const Graph graph = Captured(
        [&](const Values& in) { return Values{Value(block.Call(hold(in)))}; });
    calls = 0;
    const Value y =
        graph.Compile().Run({Value::Of<float>({4}, {-1, 0, 2, 3})})[0];
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(0, 0, 2, 3)) << y.error();
    EXPECT_EQ(calls, another ? 2 : 1);
    EXPECT_TRUE(block.Specialize({kRow}).ok()) << LastError();
  }
}

// Holders whose effects are ordered note their numbers.
class OrderedReplace : public ::testing::Test {
 protected:
  Value Note(const Value& x, int what) {
    Effects ordered;
    ordered.ordered = true;
    return Holder(
        "acme.Note" + std::to_string(what), {x}, {kRow},
        [this, what](const std::vector<Plain>& in, std::vector<Plain>* out,
                     std::string*) {
          seen_.push_back(what);
          return (*out)[0] = in[0], true;
        },
        ordered);
  }
  static Pattern Noted(int what) {
    return Pattern::Op("acme.Note" + std::to_string(what), {Pattern::Any("x")},
                       "note");
  }
  // Notes of runs of the graph, frozen, called, and as a part of another one.
  void ExpectNotes(const Graph& graph, const std::vector<int>& wanted) {
    ASSERT_TRUE(graph.ok()) << graph.error();
    const Value x = Value::Of<float>({4}, {-1, 0, 2, 3});
    const Value frozen = graph.Compile().Run({x})[0];
    EXPECT_TRUE(frozen.Wait()) << frozen.error();
    EXPECT_EQ(std::exchange(seen_, {}), wanted);
    EXPECT_TRUE(graph.Call({x}).ok()) << LastError();
    EXPECT_EQ(std::exchange(seen_, {}), wanted);
    const Graph outer = Captured([&](const Values& in) -> Values {
      return {graph.Call({Note(in[0], 0)})[0]};
    });
    const Value called = outer.Compile().Run({x})[0];
    EXPECT_TRUE(called.Wait()) << called.error();
    std::vector<int> after = {0};
    after.insert(after.end(), wanted.begin(), wanted.end());
    EXPECT_EQ(std::exchange(seen_, {}), after);
  }
  Graph OneTwoThree() {
    return Captured([this](const Values& in) -> Values {
      Note(in[0], 1);
      const Value y = Note(in[0] + in[0], 2);
      Note(in[0], 3);
      return {y};
    });
  }

  std::vector<int> seen_;
};

TEST_F(OrderedReplace, OperatorsTakeTheirPlace) {
  for (int what = 1; what <= 3; ++what) {
    Graph graph = OneTwoThree();
    EXPECT_EQ(
        graph.Replace(
            Noted(what),
            [](const Match& match) -> Values { return {Relu(match["x"])}; }, 3),
        1)
        << LastError();
    EXPECT_TRUE(graph.FindAll(Noted(what)).empty());
    std::vector<int> left = {1, 2, 3};
    left.erase(left.begin() + what - 1);
    ExpectNotes(graph, left);
  }
}

TEST_F(OrderedReplace, AllOfThemLeaveNoOrder) {
  Graph graph = OneTwoThree();
  for (int what = 1; what <= 3; ++what) {
    EXPECT_EQ(graph.Replace(
                  Noted(what),
                  [](const Match& match) -> Values { return {match["x"]}; }),
              1)
        << LastError();
  }
  EXPECT_THAT(graph.Dump(), Not(HasSubstr("order")));
  ExpectNotes(graph, {});
}

TEST_F(OrderedReplace, OthersTakeTheirPlaceInOrder) {
  Graph graph = OneTwoThree();
  EXPECT_EQ(graph.Replace(Noted(2),
                          [this](const Match& match) -> Values {
                            return {Note(Note(match["x"], 8), 9)};
                          }),
            1)
      << LastError();
  ExpectNotes(graph, {1, 8, 9, 3});
  // One that is kept, since what takes its place reads it.
  EXPECT_EQ(graph.Replace(Noted(8),
                          [this](const Match& match) -> Values {
                            return {Note(match["note"], 7)};
                          }),
            1)
      << LastError();
  ExpectNotes(graph, {1, 8, 7, 9, 3});
}

TEST_F(OrderedReplace, PartsOfMatchesGo) {
  const auto captured = [&](bool read) {
    return Captured([&](const Values& in) -> Values {
      const Value y = Note(in[0], 1);
      const Value z = Relu(y);
      Note(in[0], 2);
      return read ? Values{z, y} : Values{z};
    });
  };
  const Pattern relu =
      Pattern::Op("tim.Relu", {Pattern(Noted(1)).MayBeShared()});
  for (const bool read : {false, true}) {
    Graph graph = captured(read);
    EXPECT_EQ(graph.Replace(relu,
                            [this](const Match& match) -> Values {
                              return {Note(match["x"], 9)};
                            }),
              1)
        << LastError();
    ExpectNotes(graph,
                read ? std::vector<int>{1, 9, 2} : std::vector<int>{9, 2});
  }
}

TEST_F(OrderedReplace, TakeThePlaceOfOthers) {
  Graph graph = Captured([](const Values& in) { return Values{Relu(in[0])}; });
  EXPECT_EQ(graph.Replace(Pattern::Op("tim.Relu", {Pattern::Any("x")}),
                          [this](const Match& match) -> Values {
                            return {Note(Note(match["x"], 1), 2)};
                          }),
            1)
      << LastError();
  ExpectNotes(graph, {1, 2});
}

// A replacement that does not fit, or fails, leaves nothing.
TEST_F(OrderedReplace, StayWhereNothingFits) {
  Graph graph = OneTwoThree();
  const std::string before = graph.Dump();
  EXPECT_EQ(graph.Replace(Noted(2),
                          [this](const Match& match) -> Values {
                            return {Reshape(Note(match["x"], 9), {2, 2})};
                          }),
            0);
  EXPECT_EQ(graph.Replace(Noted(2),
                          [this](const Match& match) -> Values {
                            return {Note(match["x"], 9), match["x"]};
                          }),
            0);
  EXPECT_THAT(LastError(), HasSubstr("gave 2 values, expected 1"));
  EXPECT_EQ(graph.Replace(Noted(2),
                          [this](const Match& match) -> Values {
                            return {Note(match["none"], 9)};
                          }),
            -1);
  EXPECT_EQ(graph.Dump(), before);
  ExpectNotes(graph, {1, 2, 3});
}

}  // namespace
}  // namespace tim::values
