// Gemm with every transpose against sums in double and in integers.
#include "custom_ops/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using testing::OpenClGraph;
using vx::DataType;

// One product; matrices are row by row, as the tensors are.
template <typename T>
struct Problem {
  uint32_t m, k, n;
  bool trans_a, trans_b;
  Gemm::Quantization quantization = Gemm::NotQuantized();
  std::vector<T> a = {}, b = {};

  T A(uint32_t row, uint32_t inner) const {
    return trans_a ? a[inner * m + row] : a[row * k + inner];
  }
  T B(uint32_t inner, uint32_t column) const {
    return trans_b ? b[column * k + inner] : b[inner * n + column];
  }

  template <typename Sum>
  Sum Element(uint32_t row, uint32_t column) const {
    Sum sum = 0;
    for (uint32_t i = 0; i < k; ++i) {
      sum += (static_cast<Sum>(A(row, i)) - quantization.zeroPointA) *
             (static_cast<Sum>(B(i, column)) - quantization.zeroPointB);
    }
    return sum;
  }
};

template <typename T>
std::vector<T> ProductOn(std::shared_ptr<vx::Graph> graph, DataType type,
                         const Problem<T>& p) {
  const vx::ShapeType a_shape =
      p.trans_a ? vx::ShapeType{p.m, p.k} : vx::ShapeType{p.k, p.m};
  const vx::ShapeType b_shape =
      p.trans_b ? vx::ShapeType{p.k, p.n} : vx::ShapeType{p.n, p.k};
  const auto a = graph->CreateTensor(vx::TensorSpec(type, a_shape, vx::INPUT));
  const auto b = graph->CreateTensor(vx::TensorSpec(type, b_shape, vx::INPUT));
  const auto c =
      graph->CreateTensor(vx::TensorSpec(type, {p.n, p.m}, vx::OUTPUT));
  // Through a clone, which must be the same operator.
  OpenClGraph()
      ->CreateOperation<Gemm>(p.trans_a, p.trans_b, p.quantization)
      ->Clone(graph)
      ->BindInputs({a, b})
      .BindOutput(c);
  testing::Write(a, p.a);
  testing::Write(b, p.b);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return testing::Read<T>(c);
}

// On OpenCL; the host's codes are the same, its float32 sums close.
template <typename T>
std::vector<T> Product(DataType type, const Problem<T>& p) {
  const auto c = ProductOn(OpenClGraph(), type, p);
  const auto host = ProductOn(testing::HostGraph(), type, p);
  for (size_t i = 0; i < c.size(); ++i) {
    if (type == DataType::UINT8) {
      EXPECT_EQ(c[i], host[i]) << "element " << i;
    } else {
      EXPECT_NEAR(c[i], host[i], 1e-6 * (p.k + 1)) << "element " << i;
    }
  }
  return c;
}

template <typename T>
std::vector<Problem<T>> Problems() {
  std::vector<Problem<T>> problems;
  for (const auto& [m, k, n] :
       {std::tuple(1u, 1u, 1u), std::tuple(2u, 3u, 5u), std::tuple(7u, 33u, 4u),
        std::tuple(31u, 1u, 2u), std::tuple(4u, 17u, 32u)}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        problems.push_back({m, k, n, trans_a, trans_b});
      }
    }
  }
  std::mt19937 rng(20261121);
  for (Problem<T>& p : problems) {
    for (size_t i = 0; i < p.m * p.k; ++i)
      p.a.push_back(static_cast<T>(rng() % 256));
    for (size_t i = 0; i < p.k * p.n; ++i)
      p.b.push_back(static_cast<T>(rng() % 256));
  }
  return problems;
}

TEST(Gemm, HandChecked) {
  // [1 2 3; 4 5 6] * [1 0; 0 1; 1 1]
  const Problem<float> p = {2,
                            3,
                            2,
                            false,
                            false,
                            Gemm::NotQuantized(),
                            {1, 2, 3, 4, 5, 6},
                            {1, 0, 0, 1, 1, 1}};
  EXPECT_THAT(Product(DataType::FLOAT32, p),
              ::testing::ElementsAre(4, 5, 10, 11));
}

TEST(Gemm, Float32WithEveryTranspose) {
  testing::Sample sample(3);
  for (Problem<float>& p : Problems<float>()) {
    if (!sample.Takes()) continue;
    for (float& value : p.a) value = value / 128 - 1;
    for (float& value : p.b) value = value / 100 - 1.3f;
    const auto c = Product(DataType::FLOAT32, p);
    for (uint32_t i = 0; i < p.m * p.n; ++i) {
      EXPECT_NEAR(c[i], p.Element<double>(i / p.n, i % p.n), 1e-6 * (p.k + 1))
          << p.m << "x" << p.k << "x" << p.n << " element " << i;
    }
  }
}

TEST(Gemm, Uint8EqualsTheIntegerSumWithEveryTranspose) {
  testing::Sample sample(3);
  for (Problem<uint8_t>& p : Problems<uint8_t>()) {
    if (!sample.Takes()) continue;
    p.quantization = {128, 3, 100, 0.0007f * 10 / static_cast<float>(p.k)};
    const auto c = Product(DataType::UINT8, p);
    for (uint32_t i = 0; i < p.m * p.n; ++i) {
      const auto sum = p.Element<int64_t>(i / p.n, i % p.n);
      const float code = static_cast<float>(sum) * p.quantization.scale + 100;
      const float expected = std::clamp(std::rint(code), 0.0f, 255.0f);
      EXPECT_EQ(int{c[i]}, static_cast<int>(expected))
          << p.m << "x" << p.k << "x" << p.n << " element " << i;
    }
  }
}

TEST(Gemm, TheLargestQuantizedSumIsExact) {
  Problem<uint8_t> p = {1, Gemm::kMaxQuantizedK, 1, false, false};
  p.quantization.scale = 0x1p-24f;
  p.a.assign(p.k, 255);
  p.b.assign(p.k, 255);
  EXPECT_THAT(Product(DataType::UINT8, p), ::testing::ElementsAre(128));
}

void ExpectFailure(DataType type, const vx::ShapeType& a,
                   const vx::ShapeType& b, const std::string& text,
                   DataType type_of_b) {
  const auto graph = OpenClGraph();
  graph->CreateOperation<Gemm>()
      ->BindInputs(
          {graph->CreateTensor(vx::TensorSpec(type, a, vx::INPUT)),
           graph->CreateTensor(vx::TensorSpec(type_of_b, b, vx::INPUT))})
      .BindOutput(graph->CreateTensor(vx::TensorSpec(type, {1}, vx::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph, text));
  EXPECT_TRUE(CompileFailsWith(*graph, "user.Gemm#1"));
}

void ExpectFailure(DataType type, const vx::ShapeType& a,
                   const vx::ShapeType& b, const std::string& text) {
  ExpectFailure(type, a, b, text, type);
}

TEST(GemmErrors, NameTheRule) {
  ExpectFailure(DataType::FLOAT32, {2, 3, 4}, {2, 2}, "rank 2, not 3 and 2");
  ExpectFailure(DataType::FLOAT32, {3, 1}, {1, 2}, "A has K = 3, B has K = 2");
  ExpectFailure(DataType::INT32, {1, 1}, {1, 1}, "takes FLOAT32 or UINT8");
  ExpectFailure(DataType::UINT8, {33026, 1}, {1, 33026}, "up to 33025");
  ExpectFailure(DataType::UINT8, {1, 1}, {1, 1}, "different types",
                DataType::FLOAT32);
}

}  // namespace
}  // namespace tim::custom_ops
