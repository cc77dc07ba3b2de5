// Inputs that arrive in another order, at operators of all kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/vx/inferred_graph.h"
#include "tim/vx/types.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;
using vx::ShapeType;
namespace ops = vx::ops;

using Perm = std::vector<uint32_t>;
using Tensors = std::vector<TensorPtr>;

TensorPtr Between(vx::Graph& graph) {
  return graph.CreateTensor(Floats({}, vx::TRANSIENT));
}

// Adds operations that read the input and write the outputs.
using Body =
    std::function<void(vx::Graph&, const TensorPtr&, const Tensors& outputs)>;

struct Bodied {
  Bodied(const ShapeType& shape, const std::vector<ShapeType>& results,
         const Body& body)
      : graph(HostContext()->CreateGraph()) {
    x = graph->CreateTensor(Floats(shape, vx::INPUT));
    for (const ShapeType& result : results) {
      outputs.push_back(graph->CreateTensor(Floats(result, vx::OUTPUT)));
    }
    body(*graph, x, outputs);
  }
  std::shared_ptr<vx::Graph> graph;
  TensorPtr x;
  Tensors outputs;
};

// The same results of an input of `shape`, and of one that arrives in each of
// these orders; `most` Transposes.
void ExpectSameInEveryOrder(const ShapeType& shape,
                            const std::vector<ShapeType>& results,
                            const Body& body, int most) {
  size_t count = 1;
  for (const uint32_t extent : shape) count *= extent;
  const std::vector<float> values = Ramp(count);
  Bodied direct(shape, results, body);
  Write(direct.x, values);
  ASSERT_TRUE(direct.graph->Run()) << vx::LastError();
  Perm order;
  for (uint32_t i = 0; i < shape.size(); ++i) order.push_back(i);
  while (std::next_permutation(order.begin(), order.end())) {
    SCOPED_TRACE(Pv(order)->AsText());
    Bodied source(Permuted(shape, order), results, body);
    InferredGraph inferred(source.graph, {{source.x, Pv(order)}});
    EXPECT_LE(inferred.transposes(), most);
    inferred.Write(source.x, Permuted(values, shape, order));
    inferred.Run();
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_THAT(inferred.Read(source.outputs[i]),
                  Pointwise(FloatNear(1e-5f), Read(direct.outputs[i])))
          << "output " << i;
    }
  }
}

TEST(Arrival, AtSeveralOutputs) {
  ExpectSameInEveryOrder(
      {4, 3, 2}, {{1, 3, 2}, {3, 3, 2}},
      [](vx::Graph& graph, const TensorPtr& x, const Tensors& outputs) {
        (*graph.CreateOperation<ops::Split>(0u, std::vector<uint32_t>{1, 3}))
            .BindInput(x)
            .BindOutputs(outputs);
      },
      1);
}

struct Slices {
  std::vector<int32_t> begin, end, stride;
  int32_t shrink = 0;
  int32_t add = 0;
  ShapeType result;
};

TEST(Arrival, AtSlicesThatAddAndDropAxes) {
  for (const Slices& slices :
       {Slices{{0, 0, 0}, {4, 3, 2}, {2, 1, 1}, 0, 0, {2, 3, 2}},
        Slices{{0, 1, 0}, {4, 2, 2}, {2, 1, 1}, 2, 0, {2, 2}},
        Slices{{0, 0, 0, 0}, {1, 4, 3, 2}, {1, 2, 1, 1}, 0, 1, {1, 2, 3, 2}}}) {
    ExpectSameInEveryOrder(
        {4, 3, 2}, {slices.result},
        [&](vx::Graph& graph, const TensorPtr& x, const Tensors& outputs) {
          auto between = Between(graph);
          (*graph.CreateOperation<ops::StridedSlice>(slices.begin, slices.end,
                                                     slices.stride, 0, 0,
                                                     slices.shrink, slices.add))
              .BindInput(x)
              .BindOutput(between);
          (*graph.CreateOperation<ops::Relu>())
              .BindInput(between)
              .BindOutputs(outputs);
        },
        1);
  }
}

TEST(Arrival, AtOperatorsWhoseFirstInputIsConstant) {
  ExpectSameInEveryOrder(
      {2, 3, 2}, {{2, 3, 2}},
      [](vx::Graph& graph, const TensorPtr& x, const Tensors& outputs) {
        const std::vector<float> values = Ramp(12, 3);
        auto constant =
            graph.CreateTensor(Floats({2, 3, 2}, vx::CONSTANT), values.data());
        auto row = graph.CreateTensor(Floats({2}, vx::CONSTANT), values.data());
        auto a = Between(graph);
        auto b = Between(graph);
        (*graph.CreateOperation<ops::Sub>())
            .BindInputs({constant, x})
            .BindOutput(a);
        (*graph.CreateOperation<ops::AddN>(3))
            .BindInputs({constant, a, x})
            .BindOutput(b);
        (*graph.CreateOperation<ops::Maximum>())
            .BindInputs({row, b})
            .BindOutputs(outputs);
      },
      1);
}

// Every one ends a permutation.
TEST(Arrival, AtOperatorsThatLetNoneThrough) {
  ExpectSameInEveryOrder(
      {4, 3, 2}, {{8, 3}},
      [](vx::Graph& graph, const TensorPtr& x, const Tensors& outputs) {
        auto positive = Between(graph);
        (*graph.CreateOperation<ops::Relu>()).BindInput(x).BindOutput(positive);
        (*graph.CreateOperation<ops::Reshape>(std::vector<uint32_t>{8, 3}))
            .BindInput(positive)
            .BindOutputs(outputs);
      },
      1);
}

TEST(Arrival, AtReductionsAndWhatFollows) {
  ExpectSameInEveryOrder(
      {4, 3, 2}, {{4, 2}},
      [](vx::Graph& graph, const TensorPtr& x, const Tensors& outputs) {
        auto mean = Between(graph);
        (*graph.CreateOperation<ops::ReduceMean>(std::vector<int32_t>{1},
                                                 false))
            .BindInput(x)
            .BindOutput(mean);
        (*graph.CreateOperation<ops::Softmax>(1.0f, -1))
            .BindInput(mean)
            .BindOutputs(outputs);
      },
      1);
}

TEST(Arrival, OfIntegersOfEightBytes) {
  auto graph = HostContext()->CreateGraph();
  const auto spec = [](const ShapeType& shape, vx::TensorAttribute attribute) {
    return vx::TensorSpec(vx::DataType::INT64, shape, attribute);
  };
  const int64_t big = int64_t{1} << 40;
  const std::vector<int64_t> ones = {1, 2, 3, 4, 5, 6};
  auto x = graph->CreateTensor(spec({2, 3}, vx::INPUT));
  auto one = graph->CreateTensor(spec({3, 2}, vx::CONSTANT), ones.data());
  auto sum = graph->CreateTensor(spec({}, vx::TRANSIENT));
  auto y = graph->CreateTensor(spec({2, 3}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Add>()).BindInputs({x, one}).BindOutput(sum);
  (*graph->CreateOperation<ops::Transpose>(Perm{1, 0}))
      .BindInput(sum)
      .BindOutput(y);
  InferredGraph inferred(graph, {{x, Pv({1, 0})}});
  EXPECT_EQ(inferred.transposes(), 0);
  Write<int64_t>(inferred[x], {big, big, big, big, big, big});
  inferred.Run();
  EXPECT_THAT(
      Read<int64_t>(inferred[y]),
      ElementsAre(big + 1, big + 4, big + 2, big + 5, big + 3, big + 6));
}

// Two elements per byte, rows of whole bytes.
TEST(Arrival, OfConstantsOfFourBits) {
  auto graph = HostContext()->CreateGraph();
  const vx::Quantization half(vx::QuantType::ASYMMETRIC, 0.5f, 0);
  const std::vector<uint8_t> packed = {0x21, 0x03, 0x54, 0x06};
  auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  auto codes = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::INT4, {3, 2}, vx::CONSTANT, half),
      packed.data());
  auto real = Between(*graph);
  auto sum = Between(*graph);
  auto y = graph->CreateTensor(Floats({2, 3}, vx::OUTPUT));
  (*graph->CreateOperation<ops::DataConvert>())
      .BindInput(codes)
      .BindOutput(real);
  (*graph->CreateOperation<ops::Add>()).BindInputs({x, real}).BindOutput(sum);
  (*graph->CreateOperation<ops::Transpose>(Perm{1, 0}))
      .BindInput(sum)
      .BindOutput(y);
  InferredGraph inferred(graph, {{x, Pv({1, 0})}});
  EXPECT_EQ(inferred.transposes(), 0);
  inferred.Write(x, {0, 0, 0, 0, 0, 0});
  inferred.Run();
  EXPECT_THAT(inferred.Read(y), ElementsAre(0.5, 2, 1, 2.5, 1.5, 3));
}

TEST(Arrival, InAContextOfAnotherDevice) {
  auto opencl = ContextOn("opencl");
  if (opencl == nullptr) GTEST_SKIP() << vx::LastError();
  ReluGraph source({2, 2});
  InferredGraph inferred(source.graph, {{source.input, Pv({1, 0})}}, opencl);
  inferred.Write(source.input, {1, -2, 3, 4});
  inferred.Run();
  EXPECT_THAT(inferred.Read(source.output), ElementsAre(1, 3, 0, 4));
}

}  // namespace
}  // namespace tim::testing
