// Custom operators that write only a part of a VARIABLE: what they do not write
// keeps its last value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Values = std::vector<float>;

// Copies into states, whole ones all of them.
int StateCopies(const vx::Graph& graph) {
  const ir::Plan& plan = *vx::CompiledPlan(graph);
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    count += std::holds_alternative<ir::Copy>(step.action) &&
             plan.slots[step.operands[1]].kind == ir::SlotKind::kStateWrite;
  }
  return count;
}

bool IsInPlace(const vx::Graph& graph) {
  return vx::CompiledPlan(graph)->states[0].in_place;
}

// An operator of outputs of the shape `shape`, `items` work-items.
OpPlan Plan(const std::string& source, uint32_t inputs,
            const vx::ShapeType& shape, size_t items) {
  OpPlan plan;
  plan.source = source;
  plan.inputs = inputs;
  plan.shapes = [shape](OpPlan::Op& op) {
    op.outputs_size_.assign(op.outputs_size_.size(), shape);
  };
  plan.enqueue = Sizes(1, {items, 0, 0}, {0, 0, 0});
  return plan;
}

// cache[at] = row, of a cache of rows of two elements.
OpPlan Append(const vx::ShapeType& shape = {2, 3}) {
  return Plan(
      "__kernel void f(__global const float* row, __global const int* at,\n"
      "                __global float* cache) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  cache[2 * at[0] + i] = row[i];\n"
      "}\n",
      2, shape, 2);
}

// A cache of three rows, and what is written to it.
struct Cache {
  explicit Cache(const vx::ShapeType& shape = {2, 3})
      : cache(graph->CreateTensor(Floats(shape, vx::VARIABLE))) {}

  TensorPtr Output(const vx::ShapeType& shape = {2, 3}) {
    return graph->CreateTensor(Floats(shape, vx::OUTPUT));
  }
  TensorPtr Relu(const TensorPtr& x, const TensorPtr& y) {
    graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(y);
    return y;
  }
  void Run(int where, float value) {
    Write(row, Values{value, value + 1});
    Write(at, std::vector<int>{where});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
  }

  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  TensorPtr row = graph->CreateTensor(Floats({2}, vx::INPUT));
  TensorPtr at =
      graph->CreateTensor(vx::TensorSpec(DataType::INT32, {1}, vx::INPUT));
  TensorPtr cache;
};

TEST(KeptState, IsUpdatedInPlaceWhereNothingReadsIt) {
  Cache g;
  Write<float>(g.cache, {-1, -2, -3, -4, -5, -6});
  g.graph->CreateOperation<TestOp>(Append())
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  g.Run(0, 10);
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, -3, -4, -5, -6));
  g.Run(1, 20);
  g.Run(2, 30);
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 20, 21, 30, 31));
  Write<float>(g.cache, {1, 2, 3, 4, 5, 6});
  g.Run(1, 40);
  EXPECT_THAT(Read(g.cache), ElementsAre(1, 2, 40, 41, 5, 6));
  EXPECT_EQ(StateCopies(*g.graph), 0);
  EXPECT_TRUE(IsInPlace(*g.graph));
}

TEST(KeptState, IsCopiedWhereABuiltInReadsWhatWasBefore) {
  Cache g;
  g.graph->CreateOperation<TestOp>(Append())
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  const auto y = g.Relu(g.cache, g.Output());
  g.Run(0, 10);
  EXPECT_THAT(Read(y), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 0, 0, 0, 0));
  g.Run(1, 20);
  EXPECT_THAT(Read(y), ElementsAre(10, 11, 0, 0, 0, 0));
  g.Run(2, 30);
  EXPECT_THAT(Read(y), ElementsAre(10, 11, 20, 21, 0, 0));
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 20, 21, 30, 31));
  Write<float>(g.cache, {1, 2, 3, 4, 5, 6});
  g.Run(1, 40);
  EXPECT_THAT(Read(y), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Read(g.cache), ElementsAre(1, 2, 40, 41, 5, 6));
  EXPECT_EQ(StateCopies(*g.graph), 1);
  EXPECT_FALSE(IsInPlace(*g.graph));
}

TEST(KeptState, IsCopiedWhereItIsAlsoAnOutputOfTheGraph) {
  Cache g;
  g.graph->CreateOperation<TestOp>(Append())
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  const auto y = g.Output();
  g.graph->CreateOperation<vx::ops::DataConvert>()
      ->BindInput(g.cache)
      .BindOutput(y);
  g.Run(0, 10);
  g.Run(2, 20);
  EXPECT_THAT(Read(y), ElementsAre(10, 11, 0, 0, 0, 0));
  g.Run(1, 30);
  EXPECT_THAT(Read(y), ElementsAre(10, 11, 0, 0, 20, 21));
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 30, 31, 20, 21));
  EXPECT_FALSE(IsInPlace(*g.graph));
}

TEST(KeptState, IsInTheOutputBeforeTheKernelRuns) {
  const auto graph = OpenClGraph();
  const auto step = graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto counter = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  graph
      ->CreateOperation<TestOp>(
          Plan("__kernel void f(__global const float* x, __global float* n) {\n"
               "  n[0] += x[0];\n"
               "}\n",
               1, {2}, 1))
      ->BindInput(step)
      .BindOutput(counter);
  Write<float>(step, {3});
  Write<float>(counter, {100, 7});
  for (float run = 1; run < 5; ++run) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(counter), ElementsAre(100 + 3 * run, 7));
  }
  Write<float>(counter, {0, 8});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(counter), ElementsAre(3, 8));
  EXPECT_TRUE(IsInPlace(*graph));
}

// Every element but the last moves, which goes wrong where old and new are one.
TEST(KeptState, MayBeAnInputOfItsOwnKernel) {
  const auto graph = OpenClGraph();
  const auto state = graph->CreateTensor(Floats({64}, vx::VARIABLE));
  graph
      ->CreateOperation<TestOp>(
          Plan("__kernel void f(__global const float* x, __global float* y) {\n"
               "  y[get_global_id(0) + 1] = x[get_global_id(0)];\n"
               "}\n",
               1, {64}, 63))
      ->BindInput(state)
      .BindOutput(state);
  Values expected;
  for (int i = 0; i < 64; ++i) expected.push_back(static_cast<float>(i + 1));
  Write(state, expected);
  for (int run = 0; run < 4; ++run) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    expected.insert(expected.begin(), 1);
    expected.pop_back();
    EXPECT_EQ(Read(state), expected);
  }
  EXPECT_EQ(StateCopies(*graph), 1);
  EXPECT_FALSE(IsInPlace(*graph));
}

TEST(KeptState, MayBeAnImage) {
  Cache g;
  g.graph
      ->CreateOperation<TestOp>(
          Plan("__kernel void f(__global const float* row,\n"
               "                __global const int* at,\n"
               "                __write_only image2d_t cache) {\n"
               "  const int x = get_global_id(0);\n"
               "  write_imagef(cache, (int2)(x, at[0]), row[x]);\n"
               "}\n",
               2, {2, 3}, 2))
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  Write<float>(g.cache, {1, 2, 3, 4, 5, 6});
  g.Run(1, 20);
  EXPECT_THAT(Read(g.cache), ElementsAre(1, 2, 20, 21, 5, 6));
  Write<float>(g.cache, {6, 5, 4, 3, 2, 1});
  g.Run(2, 30);
  EXPECT_THAT(Read(g.cache), ElementsAre(6, 5, 4, 3, 30, 31));
}

TEST(KeptState, MayBeDeclaredInAnotherShape) {
  for (const bool read : {false, true}) {
    Cache g({3, 2});
    g.graph->CreateOperation<TestOp>(Append({6}))
        ->BindInputs({g.row, g.at})
        .BindOutput(g.cache);
    const auto y = g.Output({3, 2});
    if (read) g.Relu(g.cache, y);
    g.Run(0, 10);
    g.Run(1, 20);
    g.Run(2, 30);
    EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 20, 21, 30, 31));
    EXPECT_EQ(StateCopies(*g.graph), read ? 1 : 0);
    EXPECT_EQ(IsInPlace(*g.graph), !read);
  }
}

// In rows of another length packed elements lie elsewhere.
TEST(KeptState, OfPackedElementsHasTheShapeOfTheOperator) {
  const auto graph = OpenClGraph();
  const auto x =
      graph->CreateTensor(vx::TensorSpec(DataType::INT8, {1}, vx::INPUT));
  const auto state =
      graph->CreateTensor(vx::TensorSpec(DataType::INT4, {3, 2}, vx::VARIABLE));
  graph
      ->CreateOperation<TestOp>(
          Plan("__kernel void f(__global const char* x, __global uchar* y) {\n"
               "  y[0] = x[0];\n"
               "}\n",
               1, {2, 3}, 1))
      ->BindInput(x)
      .BindOutput(state);
  EXPECT_TRUE(CompileFailsWith(*graph, "output 0 is a VARIABLE"));
}

TEST(KeptState, TwoOfOneOperatorAreKeptEachByItself) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto a = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  const auto b = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  OpPlan plan = Plan(
      "__kernel void f(__global const float* x, __global float* a,\n"
      "                __global float* b) {\n"
      "  a[0] += x[0];\n"
      "  b[1] += 10 * x[0];\n"
      "}\n",
      1, {2}, 1);
  plan.outputs = 2;
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutputs({a, b});
  graph->CreateOperation<vx::ops::Relu>()->BindInput(b).BindOutput(y);
  Write<float>(a, {1, 2});
  Write<float>(b, {3, 4});
  Write<float>(x, {1});
  for (float run = 1; run < 4; ++run) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(a), ElementsAre(1 + run, 2));
    EXPECT_THAT(Read(b), ElementsAre(3, 4 + 10 * run));
    EXPECT_THAT(Read(y), ElementsAre(3, 4 + 10 * (run - 1)));
  }
  EXPECT_EQ(StateCopies(*graph), 1);
}

TEST(KeptState, SurvivesAnotherCompile) {
  Cache g;
  g.graph->CreateOperation<TestOp>(Append())
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  g.Run(0, 10);
  const auto y = g.Relu(g.cache, g.Output());
  g.Run(1, 20);
  EXPECT_THAT(Read(y), ElementsAre(10, 11, 0, 0, 0, 0));
  EXPECT_THAT(Read(g.cache), ElementsAre(10, 11, 20, 21, 0, 0));
}

// Built-in operators write all of their outputs, and write it where it stays.
TEST(KeptState, BuiltInsNeedNoCopy) {
  Cache g;
  const auto sum = g.graph->CreateTensor(Floats({2}, vx::VARIABLE));
  const auto viewed = g.graph->CreateTensor(Floats({3, 2}, vx::VARIABLE));
  g.graph->CreateOperation<vx::ops::Add>()
      ->BindInputs({sum, g.row})
      .BindOutput(sum);
  const auto tripled = g.graph->CreateTensor(Floats({}, vx::TRANSIENT));
  g.graph->CreateOperation<vx::ops::Concat>(0, 3)
      ->BindInputs({g.row, sum, g.row})
      .BindOutput(tripled);
  g.graph->CreateOperation<vx::ops::Reshape>(std::vector<uint32_t>{3, 2})
      ->BindInput(tripled)
      .BindOutput(viewed);
  g.graph->CreateOperation<TestOp>(Append())
      ->BindInputs({g.row, g.at})
      .BindOutput(g.cache);
  g.Run(0, 10);
  g.Run(0, 20);
  EXPECT_THAT(Read(sum), ElementsAre(30, 32));
  EXPECT_THAT(Read(viewed), ElementsAre(20, 21, 10, 11, 20, 21));
  EXPECT_EQ(StateCopies(*g.graph), 0);
  for (const ir::PlanState& state : vx::CompiledPlan(*g.graph)->states) {
    EXPECT_TRUE(state.written);
    EXPECT_EQ(state.in_place, state.name == "t2") << state.name;
  }
}

// Appends to a state that is none of its operands, and gives what was there.
class Appender : public vx::ComposedOp {
 public:
  explicit Appender(vx::Graph* graph, TensorPtr cache, bool reads)
      : ComposedOp(graph, "user.Appender", 2, 1),
        cache_(std::move(cache)),
        reads_(reads) {}
  void Wire(vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    graph->CreateOperation<TestOp>(Append())->BindInputs(inputs).BindOutput(
        cache_);
    graph->CreateOperation<vx::ops::Relu>()
        ->BindInput(reads_ ? cache_ : inputs[0])
        .BindOutput(outputs[0]);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Appender>(cache_, reads_);
  }

 private:
  TensorPtr cache_;
  bool reads_;
};

// An Appender in an operator.
class Outer : public vx::ComposedOp {
 public:
  explicit Outer(vx::Graph* graph, TensorPtr cache, bool reads)
      : ComposedOp(graph, "user.Outer", 2, 1),
        cache_(std::move(cache)),
        reads_(reads) {}
  void Wire(vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    graph->CreateOperation<Appender>(cache_, reads_)
        ->BindInputs(inputs)
        .BindOutputs(outputs);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Outer>(cache_, reads_);
  }

 private:
  TensorPtr cache_;
  bool reads_;
};

template <typename Op>
void CheckComposed(bool reads) {
  Cache g;
  const auto y = g.Output(reads ? vx::ShapeType{2, 3} : vx::ShapeType{2});
  g.graph->CreateOperation<Op>(g.cache, reads)
      ->BindInputs({g.row, g.at})
      .BindOutput(y);
  g.Run(2, 10);
  g.Run(0, 20);
  g.Run(1, 30);
  EXPECT_THAT(Read(g.cache), ElementsAre(20, 21, 30, 31, 10, 11));
  if (reads) {
    EXPECT_THAT(Read(y), ElementsAre(20, 21, 0, 0, 10, 11));
  }
  Write<float>(g.cache, {1, 2, 3, 4, 5, 6});
  g.Run(1, 40);
  EXPECT_THAT(Read(g.cache), ElementsAre(1, 2, 40, 41, 5, 6));
  EXPECT_EQ(StateCopies(*g.graph), reads ? 1 : 0);
  EXPECT_EQ(IsInPlace(*g.graph), !reads);
}

TEST(KeptState, MayBelongToAComposedOperator) {
  for (const bool reads : {false, true}) {
    CheckComposed<Appender>(reads);
    CheckComposed<Outer>(reads);
  }
}

// The states of an operator are no inputs that its user counts.
TEST(KeptState, WrongCountOfOperandsIsCountedAsBound) {
  Cache g;
  g.graph->CreateOperation<TestOp>(Append())->BindInput(g.row).BindOutput(
      g.cache);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "1 inputs are bound, expected 2"));
}

}  // namespace
}  // namespace tim::testing
