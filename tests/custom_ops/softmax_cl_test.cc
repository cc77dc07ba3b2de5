// SoftmaxCl against a softmax in double.
#include "custom_ops/softmax_cl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using testing::OpenClGraph;
using vx::DataType;

template <typename T>
std::vector<float> SoftmaxOn(std::shared_ptr<vx::Graph> graph, DataType type,
                             const vx::ShapeType& shape,
                             const std::vector<T>& values, float beta) {
  const auto x = graph->CreateTensor(vx::TensorSpec(type, shape, vx::INPUT));
  const auto y = graph->CreateTensor(testing::Floats(shape, vx::OUTPUT));
  // Through a clone, which must be the same operator.
  OpenClGraph()
      ->CreateOperation<SoftmaxCl>(beta)
      ->Clone(graph)
      ->BindInput(x)
      .BindOutput(y);
  testing::Write(x, values);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return testing::Read(y);
}

// On OpenCL, and as close on the host.
template <typename T>
std::vector<float> Softmax(DataType type, const vx::ShapeType& shape,
                           const std::vector<T>& values, float beta) {
  const auto y = SoftmaxOn(OpenClGraph(), type, shape, values, beta);
  const auto host = SoftmaxOn(testing::HostGraph(), type, shape, values, beta);
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], host[i], 1e-6 + 4e-6 * y[i]) << "element " << i;
  }
  return y;
}

template <typename T>
void ExpectSoftmax(DataType type, const vx::ShapeType& shape,
                   const std::vector<T>& x, float beta) {
  const std::vector<float> y = Softmax(type, shape, x, beta);
  const size_t width = shape[0];
  for (size_t row = 0; row < x.size(); row += width) {
    const double largest = *std::max_element(&x[row], &x[row] + width);
    const auto e = [&](size_t i) { return std::exp(beta * (x[i] - largest)); };
    double sum = 0;
    for (size_t i = row; i < row + width; ++i) sum += e(i);
    for (size_t i = row; i < row + width; ++i) {
      const double expected = e(i) / sum;
      EXPECT_NEAR(y[i], expected, 1e-6 + 4e-6 * expected) << "element " << i;
    }
  }
}

const vx::ShapeType kShapes[] = {{1},     {10},     {10, 1},  {33},
                                 {1, 31}, {10, 50}, {1000, 3}};

size_t Count(const vx::ShapeType& shape) {
  return shape[0] * (shape.size() > 1 ? shape[1] : 1);
}

TEST(SoftmaxCl, HandChecked) {
  const auto y = Softmax<float>(DataType::FLOAT32, {2, 2},
                                {0, 0, std::log(3.0f), 0}, 1.0f);
  EXPECT_THAT(y, ::testing::Pointwise(::testing::FloatNear(1e-6f),
                                      {0.5f, 0.5f, 0.75f, 0.25f}));
}

TEST(SoftmaxCl, Float32OfAnyWidthAndBatch) {
  std::mt19937 rng(20261121);
  std::normal_distribution<float> normal(0, 5);
  for (const vx::ShapeType& shape : kShapes) {
    for (const float beta : {1.0f, 0.3f}) {
      std::vector<float> x(Count(shape));
      for (float& value : x) value = normal(rng);
      ExpectSoftmax(DataType::FLOAT32, shape, x, beta);
    }
  }
}

TEST(SoftmaxCl, Uint8CodesOfAnyWidthAndBatch) {
  std::mt19937 rng(20261121);
  for (const vx::ShapeType& shape : kShapes) {
    std::vector<uint8_t> x(Count(shape));
    for (uint8_t& code : x) code = static_cast<uint8_t>(rng());
    ExpectSoftmax(DataType::UINT8, shape, x, 0.11f);
  }
}

TEST(SoftmaxCl, IsStableForLargeValues) {
  ExpectSoftmax<float>(DataType::FLOAT32, {3}, {1e6f, 1e6f - 1, -1e30f}, 1);
  ExpectSoftmax<float>(DataType::FLOAT32, {2}, {-1e30f, -1e30f}, 1);
}

void ExpectFailure(DataType type, const vx::ShapeType& shape,
                   const std::string& text) {
  const auto graph = OpenClGraph();
  graph->CreateOperation<SoftmaxCl>()
      ->BindInput(graph->CreateTensor(vx::TensorSpec(type, shape, vx::INPUT)))
      .BindOutput(graph->CreateTensor(testing::Floats(shape, vx::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph, text));
  EXPECT_TRUE(CompileFailsWith(*graph, "user.SoftmaxCl#1"));
}

TEST(SoftmaxClErrors, NameTheRule) {
  ExpectFailure(DataType::FLOAT32, {2, 2, 1}, "{C} or {C, N}, not rank 3");
  ExpectFailure(DataType::INT32, {2}, "SoftmaxCl takes FLOAT32 or UINT8");
}

}  // namespace
}  // namespace tim::custom_ops
