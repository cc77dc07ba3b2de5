#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/vx/vx_graph.h"
#include "tim/transform/mean_stddev_normalize_fusion.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

// (x - mean) / sqrt(mean((x - mean)^2) + eps) * gamma + beta, as a converter
// writes it.
TEST(MeanStdDevNormalization, ChangesNothing) {
  auto graph = HostGraph();
  const auto between = [&] {
    return graph->CreateTensor(Floats({}, vx::TRANSIENT));
  };
  const auto number = [&](float value) {
    return graph->CreateTensor(Floats({1}, vx::CONSTANT), &value);
  };
  auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  const auto add = [&](const auto& operation, auto inputs, auto output) {
    (*operation).BindInputs(inputs).BindOutput(output);
    return output;
  };
  using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;
  const std::vector<int32_t> axes = {0};
  auto mean = add(graph->CreateOperation<ops::ReduceMean>(axes, true),
                  Tensors{x}, between());
  auto centered =
      add(graph->CreateOperation<ops::Sub>(), Tensors{x, mean}, between());
  auto squares = add(graph->CreateOperation<ops::Pow>(),
                     Tensors{centered, number(2)}, between());
  auto variance = add(graph->CreateOperation<ops::ReduceMean>(axes, true),
                      Tensors{squares}, between());
  auto safe = add(graph->CreateOperation<ops::Add>(),
                  Tensors{variance, number(0)}, between());
  auto rsqrt =
      add(graph->CreateOperation<ops::Rsqrt>(), Tensors{safe}, between());
  auto s = add(graph->CreateOperation<ops::Multiply>(),
               Tensors{rsqrt, number(2)}, between());
  auto scaled =
      add(graph->CreateOperation<ops::Multiply>(), Tensors{x, s}, between());
  auto moved =
      add(graph->CreateOperation<ops::Multiply>(), Tensors{mean, s}, between());
  auto offset = add(graph->CreateOperation<ops::Sub>(),
                    Tensors{number(1), moved}, between());
  add(graph->CreateOperation<ops::Add>(), Tensors{scaled, offset}, y);
  const auto before = graph->OpVector();
  const auto consumers = graph->TensorConsumer();
  transform::MeanStdDevNormalization(graph);
  EXPECT_EQ(graph->OpVector(), before);
  EXPECT_EQ(graph->TensorConsumer(), consumers);
  Write<float>(x, {-3, -1, 1, 3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ::testing::Pointwise(
                           ::testing::FloatNear(1e-5f),
                           {1 - 6 / std::sqrt(5.0f), 1 - 2 / std::sqrt(5.0f),
                            1 + 2 / std::sqrt(5.0f), 1 + 6 / std::sqrt(5.0f)}));
}

TEST(MeanStdDevNormalization, TakesNoGraphAndAnEmptyOne) {
  std::shared_ptr<vx::Graph> graph;
  transform::MeanStdDevNormalization(graph);
  EXPECT_EQ(graph, nullptr);
  graph = HostGraph();
  transform::MeanStdDevNormalization(graph);
  EXPECT_TRUE(graph->OpVector().empty());
}

}  // namespace
}  // namespace tim::testing
