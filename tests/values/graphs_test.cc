// Captured functions, their levels, and graphs that are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "ir/constant.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/graph_state.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

// `count` numbers that differ.
std::vector<float> Numbers(size_t count, float first = 0.5f) {
  std::vector<float> data(count);
  std::iota(data.begin(), data.end(), first);
  for (float& x : data) x = x * 0.25f - static_cast<float>(count) / 8;
  return data;
}

Values Mlp(const Values& in) {
  const Value h = Relu(Matmul(in[0], in[1]));
  return {Softmax(Matmul(h, in[2]), 1.0f, 0)};
}

Values Weights() {
  return {Floats({3, 4}, Numbers(12)), Floats({2, 3}, Numbers(6))};
}

TEST(Capture, EqualsWhatIsMadeByHand) {
  const Graph captured = Graph::Capture(Mlp, {Spec(), Spec(), Spec()});
  ASSERT_TRUE(captured.ok()) << captured.error();
  Graph made;
  const Value x = made.Input(Spec());
  const Value w1 = made.Input(Spec());
  const Value w2 = made.Input(Spec());
  made.Output(Softmax(Matmul(Relu(Matmul(x, w1)), w2), 1.0f, 0));
  EXPECT_EQ(captured.Dump(), made.Dump());
  EXPECT_EQ(captured.Level(), 0);
  EXPECT_TRUE(x.symbolic());
}

TEST(Capture, HasLevels) {
  const Graph open = Graph::Capture(Mlp, {Spec(), Spec(), Spec()});
  const Values w = Weights();
  const Graph closed =
      open.Specialize({Spec(Type::kFloat32, {4, 5}), w[0].spec(), w[1].spec()});
  ASSERT_TRUE(closed.ok()) << closed.error();
  EXPECT_EQ(closed.Level(), 2);
  EXPECT_EQ(closed.OutputSpecs()[0].shape.ToString(), "[2, 5]");
  EXPECT_EQ(open.Level(), 0);
  const Graph wrong = closed.Specialize(
      {Spec(Type::kFloat32, {4, 6}), w[0].spec(), w[1].spec()});
  EXPECT_THAT(wrong.error(), HasSubstr("input 0: axis 1 is 5, not 6"));
  const Graph rank =
      closed.Specialize({Spec(Type::kFloat32, {4}), w[0].spec(), w[1].spec()});
  EXPECT_THAT(rank.error(), HasSubstr("input 0"));
  EXPECT_THAT(rank.error(), HasSubstr("another rank"));
  EXPECT_THAT(closed.Specialize({}).error(), HasSubstr("has 3 inputs"));
  const Graph contradiction =
      open.Specialize({Spec(Type::kFloat32, {7, 5}), w[0].spec(), w[1].spec()});
  EXPECT_THAT(contradiction.error(), HasSubstr("Matmul#0"));
}

// The constants of a graph, by their bytes.
std::vector<const ir::ConstantData*> ConstantsOf(const Graph& graph) {
  std::vector<const ir::ConstantData*> constants;
  const auto made = internal::Access::StateOf(graph)->Snapshot();
  for (const ir::ValueId id : made->ValueIds()) {
    const auto& constant = made->value(id).constant;
    if (constant != nullptr) constants.push_back(constant.get());
  }
  return constants;
}

TEST(Capture, SharesConstantsAmongLevels) {
  const Values w = Weights();
  const Value first = Value::Constant(w[0].spec(), Numbers(12).data());
  const Value second = Value::Constant(w[1].spec(), Numbers(6).data());
  const Graph open = Graph::Capture(
      [&](const Values& in) {
        return Mlp({in[0], first, second});
      },
      {Spec()});
  ASSERT_TRUE(open.ok()) << open.error();
  EXPECT_EQ(open.Level(), 0);
  const auto constants = ConstantsOf(open);
  EXPECT_EQ(constants.size(), 2u);
  for (const int64_t rows : {5, 2}) {
    const Value x = Floats({4, rows}, Numbers(static_cast<size_t>(4 * rows)));
    const Graph closed = open.Specialize({x.spec()});
    ASSERT_TRUE(closed.ok()) << closed.error();
    EXPECT_EQ(closed.Level(), 2);
    EXPECT_EQ(closed.OutputSpecs()[0].shape, Shape({2, rows}));
    EXPECT_EQ(ConstantsOf(closed), constants);
    EXPECT_EQ(closed.Compile().Run({x})[0].ToVector<float>(),
              Mlp({x, w[0], w[1]})[0].ToVector<float>());
  }
  EXPECT_THAT(open.Specialize({Spec(Type::kFloat32, {7, 5})}).error(),
              HasSubstr("Matmul#0"));
}

TEST(Capture, ClosesOverValues) {
  const float ones[] = {1, 1};
  const Value constant = Value::Constant(Spec(Type::kFloat32, {2}), ones);
  Value outer = Floats({2}, {10, 20});
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        return {in[0] * outer + constant + outer};
      },
      {Spec()});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_EQ(graph.InputSpecs().size(), 1u);
  outer = Floats({2}, {0, 0});
  const Values y = graph.Compile().Run({Floats({2}, {1, 2})});
  EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(21, 61));
  EXPECT_THAT(Value(graph.Call({Floats({2}, {2, 3})})).ToVector<float>(),
              ElementsAre(31, 81));
}

// Each would keep the other for ever.
TEST(Capture, RefusesValuesOfGraphsThatNeedItsOwn) {
  float memory = 1;
  bool released = false;
  {
    Graph one;
    Graph other;
    const Value x = one.Input(Spec(), "x");
    const Value y = other.Input(Spec(), "y");
    other.Output(y + Value::Wrap(Spec(Type::kFloat32, {1}), &memory,
                                 [&released] { released = true; }));
    one.Output(x);
    other.Output(x);
    ASSERT_TRUE(other.ok()) << other.error();
    one.Output(y);
    EXPECT_THAT(one.error(), HasSubstr("y is of a graph that has a value of "
                                       "this one"));
    EXPECT_FALSE(released);
  }
  Device().memory();  // waits for all work
  EXPECT_TRUE(released);
}

TEST(Capture, MustNotLookAtData) {
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values {
        const Value y = Relu(in[0]);
        if (y.ToVector<float>().empty()) return {y};
        return {in[0]};
      },
      {Spec(Type::kFloat32, {2})}, "branch");
  EXPECT_FALSE(graph.ok());
  EXPECT_THAT(graph.error(), HasSubstr("graph 'branch': a result of Relu#0"));
  EXPECT_THAT(graph.error(), HasSubstr("use If, While or Select"));
  EXPECT_FALSE(graph.Compile().ok());
  EXPECT_THAT(graph.Compile().error(), HasSubstr("Relu#0"));
  const Graph thrown = Graph::Capture(
      [](const Values&) -> Values { throw std::runtime_error("no luck"); }, {});
  EXPECT_THAT(thrown.error(), HasSubstr("no luck"));
  const Graph failed = Graph::Capture(
      [](const Values& in) -> Values { return {Call("tim.No", {in[0]})}; },
      {Spec()});
  EXPECT_THAT(failed.error(), HasSubstr("operator tim.No"));
}

// Each has two values of the one before: 2^40 ways lead to the first.
TEST(Capture, TakesValuesOfGraphsOfGraphs) {
  Values outer;
  const Function function = [&](const Values& in) -> Values {
    Value x = in[0];
    for (const Value& value : outer) x = x + value;
    return outer = {x, x * 2.0f};
  };
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(Graph::Capture(function, {Spec()}).ok()) << LastError();
  }
}

TEST(Calls, AreNodesOfOtherGraphs) {
  const Graph block = Graph::Capture(
      [](const Values& in) -> Values { return {Relu(in[0] - 1.0f)}; }, {Spec()},
      "acme.Block");
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        return {block.Call({Value(block.Call({in[0]}))})};
      },
      {Spec()});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_THAT(graph.Dump(), HasSubstr("acme.Block"));
  EXPECT_THAT(graph.Compile().Run({Floats({2}, {1, 5})})[0].ToVector<float>(),
              ElementsAre(0, 3));
  EXPECT_THAT(block.Call({}).error(), HasSubstr("takes 1 inputs, not 0"));
}

TEST(Calls, PassConstants) {
  const float two[] = {5, 7};
  const Value constant = Value::Constant(Spec(Type::kFloat32, {2}), two);
  const Graph block = Graph::Capture(
      [&](const Values& in) -> Values {
        return {constant, Relu(in[0]), in[0], constant};
      },
      {Spec()}, "acme.Passing");
  const Value x = Floats({2}, {-1, 3});
  const Graph outer = Graph::Capture(
      [&](const Values& in) -> Values {
        const Outputs made = block.Call(in);
        return {made[0], made[1], made[2], made[3]};
      },
      {Spec()});
  for (const Graph& graph : {block, outer}) {
    const Outputs called = graph.Call({x});
    ASSERT_TRUE(called.ok()) << called.error();
    const Values run = graph.Compile().Run({x});
    for (const Values& y :
         {Values{called[0], called[1], called[2], called[3]}, run}) {
      EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(5, 7)) << y[0].error();
      EXPECT_THAT(y[1].ToVector<float>(), ElementsAre(0, 3));
      EXPECT_THAT(y[2].ToVector<float>(), ElementsAre(-1, 3));
      EXPECT_THAT(y[3].ToVector<float>(), ElementsAre(5, 7));
    }
  }
}

}  // namespace
}  // namespace tim::values
