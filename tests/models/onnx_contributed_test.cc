// Operators of com.microsoft, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/models/windows_reference.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Ints = std::vector<int64_t>;

constexpr float kNear = 2e-5f;

NodeRunner Contributed(const std::string& op) {
  return NodeRunner(AddContributed, op, 1, "com.microsoft");
}

TEST(OnnxContributed, ActivationsByTheirFormulas) {
  const std::vector<float> x = {-2, -0.5f, 0, 1, 3};
  std::vector<float> exact, tanh, quick;
  for (const double v : x) {
    exact.push_back(
        static_cast<float>(v * (1 + std::erf(v / std::sqrt(2))) / 2));
    tanh.push_back(static_cast<float>(
        v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))) /
        2));
    quick.push_back(static_cast<float>(v / (1 + std::exp(-2 * v))));
  }
  NodeRunner gelu = Contributed("Gelu");
  EXPECT_THAT(FloatsOf(gelu.Input(x, {5})), Pointwise(FloatNear(kNear), exact));
  NodeRunner fast = Contributed("FastGelu");
  EXPECT_THAT(FloatsOf(fast.Input(x, {5})), Pointwise(FloatNear(kNear), tanh));
  NodeRunner sigmoid = Contributed("QuickGelu");
  EXPECT_THAT(FloatsOf(sigmoid.With("alpha", 2.0f).Input(x, {5})),
              Pointwise(FloatNear(kNear), quick));
  NodeRunner biased = Contributed("BiasGelu");
  EXPECT_THAT(FloatsOf(biased.Input<float>({-3, -1.5f, -1, 0, 2}, {1, 5})
                           .Constant<float>({1, 1, 1, 1, 1}, {5})),
              Pointwise(FloatNear(kNear), exact));
}

TEST(OnnxContributed, FusedProducts) {
  NodeRunner product = Contributed("FusedMatMul");
  EXPECT_THAT(FloatsOf(product.With("alpha", 0.5f)
                           .With("transB", int64_t{1})
                           .Input<float>({1, 2, 3, 4}, {2, 2})
                           .Input<float>({1, 0, 2, 2}, {2, 2})),
              ElementsAre(0.5f, 3, 1.5f, 7));
  NodeRunner gemm = Contributed("FusedGemm");
  EXPECT_THAT(FloatsOf(gemm.With("activation", std::string("Relu"))
                           .Input<float>({1, -2}, {1, 2})
                           .Constant<float>({1, 3, 1, 1}, {2, 2})
                           .Constant<float>({-1, 2}, {2})),
              ElementsAre(0, 3));
  NodeRunner convolution = Contributed("FusedConv");
  EXPECT_THAT(
      FloatsOf(convolution.With("activation", std::string("Clip"))
                   .With("activation_params", std::vector<float>{0.0f, 6.0f})
                   .Input<float>({1, -2, 3}, {1, 1, 3})
                   .Constant<float>({2}, {1, 1, 1})
                   .Absent()
                   .Input<float>({1, 1, 1}, {1, 1, 3})),
      ElementsAre(3, 0, 6));
  NodeRunner unknown = Contributed("FusedGemm");
  EXPECT_THAT(unknown.With("activation", std::string("Later"))
                  .Input<float>({1}, {1, 1})
                  .Input<float>({1}, {1, 1})
                  .Run()
                  .status()
                  .message(),
              HasSubstr("'Later'"));
}

TEST(OnnxContributed, OperatorsOfCodes) {
  NodeRunner sum = Contributed("QLinearAdd");
  EXPECT_THAT(IntsOf(sum.Input<uint8_t>({10, 20}, {2})
                         .Constant<float>({0.5f}, {})
                         .Constant<uint8_t>({10}, {})
                         .Input<uint8_t>({4, 8}, {2})
                         .Constant<float>({2}, {})
                         .Constant<uint8_t>({0}, {})
                         .Constant<float>({0.25f}, {})
                         .Constant<uint8_t>({2}, {})),
              ElementsAre(34, 86));  // 8 and 21
  NodeRunner product = Contributed("QLinearMul");
  EXPECT_THAT(IntsOf(product.Input<int8_t>({10, -20}, {2})
                         .Constant<float>({0.5f}, {})
                         .Constant<int8_t>({0}, {})
                         .Input<int8_t>({4}, {1})
                         .Constant<float>({1}, {})
                         .Constant<int8_t>({0}, {})
                         .Constant<float>({1}, {})
                         .Constant<int8_t>({0}, {})),
              ElementsAre(20, -40));
  NodeRunner leaky = Contributed("QLinearLeakyRelu");
  EXPECT_THAT(IntsOf(leaky.With("alpha", 0.25f)
                         .Input<int8_t>({8, -8}, {2})
                         .Constant<float>({1}, {})
                         .Constant<int8_t>({0}, {})
                         .Constant<float>({0.5f}, {})
                         .Constant<int8_t>({0}, {})),
              ElementsAre(16, -4));
  NodeRunner sigmoid = Contributed("QLinearSigmoid");
  EXPECT_THAT(IntsOf(sigmoid.Input<uint8_t>({128, 255, 0}, {3})
                         .Constant<float>({0.1f}, {})
                         .Constant<uint8_t>({128}, {})
                         .Constant<float>({1.0f / 256}, {})
                         .Constant<uint8_t>({0}, {})),
              ElementsAre(128, 255, 0));
  NodeRunner mean = Contributed("QLinearGlobalAveragePool");
  EXPECT_THAT(IntsOf(mean.Input<uint8_t>({1, 2, 3, 6}, {1, 1, 2, 2})
                         .Constant<float>({1}, {})
                         .Constant<uint8_t>({0}, {})
                         .Constant<float>({0.5f}, {})
                         .Constant<uint8_t>({10}, {})),
              ElementsAre(16));
  NodeRunner joined = Contributed("QLinearConcat");
  EXPECT_THAT(IntsOf(joined.With("axis", int64_t{1})
                         .Constant<float>({1}, {})
                         .Constant<uint8_t>({0}, {})
                         .Input<uint8_t>({1, 2}, {1, 2})
                         .Constant<float>({2}, {})
                         .Constant<uint8_t>({0}, {})
                         .Input<uint8_t>({9}, {1, 1})
                         .Constant<float>({1}, {})
                         .Constant<uint8_t>({4}, {})),
              ElementsAre(2, 4, 5));
}

TEST(OnnxContributed, ProductsOfFewBitsAndOfRanges) {
  // Columns of 4 in blocks of 2: codes less 8, or less their zero points.
  const std::vector<uint8_t> codes = {0x98, 0x0a, 0xf7, 0x88};
  const std::vector<float> scales = {1, 2, 0.5f, 1};
  NodeRunner bits = Contributed("MatMulNBits");
  EXPECT_THAT(FloatsOf(bits.With("K", int64_t{4})
                           .With("N", int64_t{2})
                           .With("bits", int64_t{4})
                           .With("block_size", int64_t{2})
                           .Input<float>({1, 10, 100, 1000}, {1, 4})
                           .Constant(codes, {2, 2, 1})
                           .Constant(scales, {4})),
              ElementsAre(10 + 400 - 16000, -0.5f + 35));
  NodeRunner zeros = Contributed("MatMulNBits");
  EXPECT_THAT(FloatsOf(zeros.With("K", int64_t{4})
                           .With("N", int64_t{2})
                           .With("block_size", int64_t{2})
                           .Input<float>({1, 10, 100, 1000}, {1, 4})
                           .Constant(codes, {2, 2, 1})
                           .Constant(scales, {4})
                           .Constant<uint8_t>({0xa8, 0x87}, {2})),
              ElementsAre(10 - 20000, 40));
  NodeRunner real = Contributed("MatMulIntegerToFloat");
  EXPECT_THAT(FloatsOf(real.Input<uint8_t>({3, 5}, {1, 2})
                           .Input<int8_t>({1, 2, 3, 4}, {2, 2})
                           .Input<float>({0.5f}, {})
                           .Input<float>({1, 2}, {2})
                           .Constant<uint8_t>({1}, {})
                           .Absent()
                           .Constant<float>({10, 20}, {2})),
              ElementsAre(17, 40));
  // 0 to 255 is itself.
  NodeRunner dynamic = Contributed("DynamicQuantizeMatMul");
  EXPECT_THAT(FloatsOf(dynamic.Input<float>({0, 255, 100}, {1, 3})
                           .Constant<int8_t>({1, 2, 3}, {3, 1})
                           .Constant<float>({0.5f}, {})),
              ElementsAre(405));
}

TEST(OnnxContributed, GemmOfCodes) {
  for (const bool real : {false, true}) {
    NodeRunner runner(AddQuantized, "QGemm", 1, "com.microsoft");
    runner.With("transB", int64_t{1})
        .Input<uint8_t>({12, 8, 14, 10}, {2, 2})
        .Constant<float>({0.5f}, {})
        .Constant<uint8_t>({10}, {})
        .Constant<int8_t>({1, 2, -3, 4}, {2, 2})
        .Constant<float>({2, 1}, {2})
        .Constant<int8_t>({0, 0}, {2})
        .Constant<int32_t>({10, -6}, {2});
    if (!real) {
      runner.Constant<float>({0.5f}, {}).Constant<uint8_t>({100}, {});
    }
    // Sums -2 + 10, -14 - 6 and 4 + 10, -12 - 6, of units 1 and 0.5.
    if (real) {
      EXPECT_THAT(FloatsOf(runner), ElementsAre(8, -10, 14, -9));
    } else {
      EXPECT_THAT(IntsOf(runner), ElementsAre(116, 80, 128, 82));
    }
  }
}

// softmax(q k^T / sqrt(size) + mask) v for one batch, from the joint values
// [length, 3 * heads * size].
std::vector<float> AttentionReference(const std::vector<double>& joint,
                                      int length, int heads, int size,
                                      const std::vector<double>& mask) {
  const int width = heads * size;
  const auto at = [&](int row, int part, int column) {
    return joint[row * 3 * width + part * width + column];
  };
  std::vector<float> out;
  for (int query = 0; query < length; ++query) {
    for (int column = 0; column < width; ++column) {
      const int head = column / size * size;
      double total = 0, sum = 0;
      for (int key = 0; key < length; ++key) {
        double score = 0;
        for (int i = head; i < head + size; ++i) {
          score += at(query, 0, i) * at(key, 1, i);
        }
        const double weight =
            std::exp(score / std::sqrt(size) + mask[query * length + key]);
        total += weight;
        sum += weight * at(key, 2, column);
      }
      out.push_back(static_cast<float>(sum / total));
    }
  }
  return out;
}

// One batch of 3 places of width 2, weights to 12, in two heads of 2.
struct AttentionCase {
  std::vector<float> x = {0.5f, -1, 1, 0.25f, -0.5f, 2};
  std::vector<float> weights;
  std::vector<float> bias;
  std::vector<double> joint;

  AttentionCase() {
    for (int i = 0; i < 24; ++i) weights.push_back((i * 5 % 7 - 3) * 0.3f);
    for (int i = 0; i < 12; ++i) bias.push_back((i * 3 % 5 - 2) * 0.1f);
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 12; ++column) {
        joint.push_back(double{bias[column]} +
                        double{x[row * 2]} * weights[column] +
                        double{x[row * 2 + 1]} * weights[12 + column]);
      }
    }
  }
};

TEST(OnnxContributed, AttentionWithTheMasksOfExporters) {
  const AttentionCase it;
  constexpr double kNo = -10000;
  const struct {
    const char* name;
    std::vector<int32_t> mask;
    Dims dims;
    int64_t causal;
    std::vector<double> added;
  } cases[] = {
      {"none", {}, {}, 0, std::vector<double>(9, 0)},
      {"lengths", {2}, {1}, 0, {0, 0, kNo, 0, 0, kNo, 0, 0, kNo}},
      {"ends", {3, 1}, {2}, 0, {kNo, 0, 0, kNo, 0, 0, kNo, 0, 0}},
      {"flags", {1, 0, 1}, {1, 3}, 0, {0, kNo, 0, 0, kNo, 0, 0, kNo, 0}},
      {"each",
       {1, 0, 1, 1, 1, 0, 0, 1, 1},
       {1, 3, 3},
       0,
       {0, kNo, 0, 0, 0, kNo, kNo, 0, 0}},
      {"causal", {}, {}, 1, {0, kNo, kNo, 0, 0, kNo, 0, 0, 0}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    NodeRunner runner = Contributed("Attention");
    runner.With("num_heads", int64_t{2})
        .With("unidirectional", one.causal)
        .Input(it.x, {1, 3, 2})
        .Constant(it.weights, {2, 12})
        .Constant(it.bias, {12});
    if (!one.mask.empty()) runner.Input(one.mask, one.dims);
    EXPECT_THAT(FloatsOf(runner),
                Pointwise(FloatNear(kNear),
                          AttentionReference(it.joint, 3, 2, 2, one.added)));
  }
}

TEST(OnnxContributed, AttentionOfSeparateOperands) {
  const AttentionCase it;
  std::vector<float> parts[3];
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 12; ++column) {
      parts[column / 4].push_back(
          static_cast<float>(it.joint[row * 12 + column]) - it.bias[column]);
    }
  }
  NodeRunner runner = Contributed("MultiHeadAttention");
  runner.With("num_heads", int64_t{2});
  for (const auto& part : parts) runner.Input(part, {1, 3, 4});
  const std::vector<double> added = {0.5, 0, -1, 0, 0, 2, 0, 1, 0};
  EXPECT_THAT(
      FloatsOf(runner.Constant(it.bias, {12})
                   .Absent()
                   .Input(std::vector<float>(added.begin(), added.end()),
                          {1, 1, 3, 3})),
      Pointwise(FloatNear(kNear),
                AttentionReference(it.joint, 3, 2, 2, added)));
  NodeRunner past = Contributed("Attention");
  EXPECT_THAT(past.With("num_heads", int64_t{2})
                  .Input(it.x, {1, 3, 2})
                  .Constant(it.weights, {2, 12})
                  .Constant(it.bias, {12})
                  .Absent()
                  .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 2, 1, 2})
                  .Run()
                  .status()
                  .message(),
              HasSubstr("past"));
}

TEST(OnnxContributed, SumsAndEmbeddingsNormalised) {
  NodeRunner skip = Contributed("SkipLayerNormalization");
  const auto results = skip.Wants({true, false, false, true})
                           .With("epsilon", 0.0f)
                           .Input<float>({1, 2}, {1, 1, 2})
                           .Input<float>({1, 4}, {1, 1, 2})
                           .Constant<float>({1, 2}, {2})
                           .Constant<float>({0, 3}, {2})
                           .Constant<float>({10, 20}, {2})
                           .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Floats(results.value()[0]).value(),
              ElementsAre(FloatNear(-1, kNear), FloatNear(5, kNear)));
  EXPECT_THAT(Floats(results.value()[1]).value(), ElementsAre(12, 26));
  NodeRunner rms = Contributed("SkipSimplifiedLayerNormalization");
  EXPECT_THAT(
      FloatsOf(rms.With("epsilon", 0.0f)
                   .Input<float>({1, 4, 0, 0}, {1, 4})
                   .Input<float>({2, 0, 0, 0}, {1, 4})
                   .Constant<float>({1, 1, 1, 1}, {4})),
      ElementsAre(FloatNear(1.2f, kNear), FloatNear(1.6f, kNear), 0, 0));
  NodeRunner embed = Contributed("EmbedLayerNormalization");
  const auto embedded = embed.Wants({true, true, true})
                            .With("epsilon", 0.0f)
                            .Input<int32_t>({1, 0}, {1, 2})
                            .Input<int32_t>({0, 1}, {1, 2})
                            .Constant<float>({1, 2, 3, 5}, {2, 2})
                            .Constant<float>({10, 10, 20, 30, 7, 7}, {3, 2})
                            .Constant<float>({100, 200, 300, 500}, {2, 2})
                            .Constant<float>({1, 1}, {2})
                            .Constant<float>({0, 0}, {2})
                            .Input<int32_t>({1, 0}, {1, 2})
                            .Run();
  ASSERT_OK(embedded);
  EXPECT_THAT(Floats(embedded.value()[0]).value(),
              Pointwise(FloatNear(kNear), std::vector<float>{-1, 1, -1, 1}));
  EXPECT_THAT(Integers(embedded.value()[1]).value(), ElementsAre(1));
  EXPECT_THAT(Floats(embedded.value()[2]).value(),
              ElementsAre(113, 215, 321, 532));
}

TEST(OnnxContributed, Rotations) {
  // Two places of one head of 4; a quarter turn at place 1 of pair 0, at place
  // 0 of pair 1.
  const std::vector<float> cosine = {1, 0, 0, 1, 1, 1};
  const std::vector<float> sine = {0, 1, 1, 0, 0, 0};
  const auto made = [&](int64_t pairs, const std::vector<int64_t>& positions) {
    NodeRunner runner = Contributed("RotaryEmbedding");
    const auto count = static_cast<int64_t>(positions.size());
    return FloatsOf(runner.With("interleaved", pairs)
                        .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4})
                        .Input(positions, count == 1 ? Dims{1} : Dims{1, 2})
                        .Constant(cosine, {3, 2})
                        .Constant(sine, {3, 2}));
  };
  EXPECT_THAT(made(0, {0}), ElementsAre(1, -4, 3, 2, -7, 6, 5, 8));
  EXPECT_THAT(made(1, {0}), ElementsAre(1, 2, -4, 3, -6, 5, 7, 8));
  EXPECT_THAT(made(0, {2, 0}), ElementsAre(1, 2, 3, 4, 5, -8, 7, 6));
}

}  // namespace
}  // namespace tim::models::onnx
