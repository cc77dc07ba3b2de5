// Gradients of softmax and normalizations against differences, and
// BatchNormForwardTraining against its formula, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/graph_api/evaluated_op.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph {
namespace {

// ---- SoftMaxBackward, LogSoftmaxBackward ----

// Along the second of three axes.
struct Softmax {
  size_t outer = 2, length = 5, inner = 3;

  Numbers Log(const Numbers& x) const {
    Numbers y = x;
    for (size_t row = 0; row < outer * inner; ++row) {
      const size_t first = row / inner * length * inner + row % inner;
      double sum = 0;
      for (size_t i = 0; i < length; ++i) sum += std::exp(x[first + i * inner]);
      for (size_t i = 0; i < length; ++i) {
        y[first + i * inner] = x[first + i * inner] - std::log(sum);
      }
    }
    return y;
  }
  Numbers Value(const Numbers& x) const {
    Numbers y = Log(x);
    for (double& value : y) value = std::exp(value);
    return y;
  }
};

TEST(SoftmaxBackward, EqualsDifferences) {
  const Softmax softmax;
  const Array x = Random({2, 5, 3}, 1);
  const Array dd = Random(x.dims, 2);
  EvaluatedOp op(tim_graph_op_softmax_backward);
  op.Input(dd).Input({x.dims, softmax.Value(x.values)}).Output();
  ExpectNear(
      op.First().values,
      NumericGradient(
          [&](const Numbers& at) { return Dot(softmax.Value(at), dd.values); },
          x.values),
      2e-6);
  EvaluatedOp log(tim_graph_op_log_softmax_backward);
  log.Input(dd).Input({x.dims, softmax.Log(x.values)}).Output();
  log.Set(tim_graph_op_attr_axis, int64_t{-2});
  ExpectNear(
      log.First().values,
      NumericGradient(
          [&](const Numbers& at) { return Dot(softmax.Log(at), dd.values); },
          x.values),
      2e-6);
}

TEST(SoftmaxBackward, HandCheckedValues) {
  EvaluatedOp op(tim_graph_op_softmax_backward);
  op.Input({{1, 2}, {8, 4}}).Input({{1, 2}, {0.25, 0.75}}).Output();
  EXPECT_EQ(op.First().values, (Numbers{0.75, -0.75}));
  EvaluatedOp log(tim_graph_op_log_softmax_backward);
  log.Input({{1, 1}, {8}}).Input({{1, 1}, {0}}).Output();
  EXPECT_EQ(log.First().values, (Numbers{0}));
}

TEST(SoftmaxBackward, TypesAndAxes) {
  Array half = Rounded(Random({2, 3}, 1), tim_graph_f16);
  EvaluatedOp wide(tim_graph_op_softmax_backward);
  wide.Input(half).Input(half).Output(tim_graph_f32);
  EXPECT_TRUE(wide.Check().ok());
  EvaluatedOp other(tim_graph_op_softmax_backward);
  other.Input(half).Input(half).Output(tim_graph_bf16);
  ExpectRefused(other.Check(), "expected the type of diff_dst");
  wide.Set(tim_graph_op_attr_axis, int64_t{2});
  ExpectRefused(wide.Run().status(), "axis 2");
}

// ---- Batch normalization: x [N, C, X], channels in the middle ----

struct Batch {
  size_t n = 3, c = 2, x = 4;
  double epsilon = 0.25;

  size_t Channel(size_t i) const { return i / x % c; }
  double count() const { return static_cast<double>(n * x); }

  Numbers Means(const Numbers& values) const {
    Numbers out(c, 0);
    for (size_t i = 0; i < values.size(); ++i) out[Channel(i)] += values[i];
    for (double& sum : out) sum /= count();
    return out;
  }
  Numbers Variances(const Numbers& values) const {
    const Numbers means = Means(values);
    Numbers out(c, 0);
    for (size_t i = 0; i < values.size(); ++i) {
      const double d = values[i] - means[Channel(i)];
      out[Channel(i)] += d * d;
    }
    for (double& sum : out) sum /= count();
    return out;
  }
  Numbers Value(const Numbers& values, const Numbers& gamma,
                const Numbers& beta) const {
    const Numbers means = Means(values);
    const Numbers variances = Variances(values);
    Numbers out;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t k = Channel(i);
      out.push_back(gamma[k] * (values[i] - means[k]) /
                        std::sqrt(variances[k] + epsilon) +
                    beta[k]);
    }
    return out;
  }
};

// [N, C, 2, 2] of it, or [N, 2, 2, C].
Array Images(const Array& ncx, bool channels_last) {
  Array image = {{3, 2, 2, 2}, ncx.values, ncx.type};
  return channels_last ? Permuted(image, {0, 2, 3, 1}) : image;
}

void SetFormat(bool channels_last, EvaluatedOp* op) {
  op->Set(tim_graph_op_attr_epsilon, 0.25f)
      .Set(tim_graph_op_attr_data_format,
           std::string(channels_last ? "NXC" : "NCX"));
}

TEST(BatchNormTrainingBackward, EqualsDifferences) {
  const Batch batch;
  const Array x = Random({3, 2, 4}, 1);
  const Array dd = Random(x.dims, 2);
  const Array gamma = Random({2}, 3);
  const Numbers zeros = {0, 0};
  const auto loss = [&](const Numbers& at, const Numbers& scale,
                        const Numbers& shift) {
    return Dot(batch.Value(at, scale, shift), dd.values);
  };
  for (const bool last : {false, true}) {
    EvaluatedOp op(tim_graph_op_batch_norm_backward);
    op.Input(Images(x, last)).Input(Images(dd, last));
    op.Input({{2}, batch.Means(x.values)});
    op.Input({{2}, batch.Variances(x.values)}).Input(gamma);
    op.Output().Output().Output();
    SetFormat(last, &op);
    const auto made = op.Run();
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    const Numbers by_data = NumericGradient(
        [&](const Numbers& at) { return loss(at, gamma.values, zeros); },
        x.values);
    ExpectNear((*made)[0].values, Images({x.dims, by_data}, last).values, 1e-5);
    ExpectNear((*made)[1].values,
               NumericGradient(
                   [&](const Numbers& at) { return loss(x.values, at, zeros); },
                   gamma.values),
               1e-5);
    ExpectNear(
        (*made)[2].values,
        NumericGradient(
            [&](const Numbers& at) { return loss(x.values, gamma.values, at); },
            zeros),
        1e-5);
  }
}

TEST(BatchNormForwardTraining, EqualsTheFormula) {
  const Batch batch;
  const Array x = Random({3, 2, 4}, 1);
  const Array gamma = Random({2}, 2);
  const Array beta = Random({2}, 3);
  const Array mean = Random({2}, 4);
  const Array variance = {{2}, {0.5, 2}};
  for (const bool last : {false, true}) {
    for (const bool affine : {false, true}) {
      EvaluatedOp op(tim_graph_op_batch_norm_forward_training);
      op.Input(Images(x, last)).Input(mean).Input(variance);
      if (affine) op.Input(gamma).Input(beta);
      op.Output().Output().Output().Output().Output();
      SetFormat(last, &op);
      op.Set(tim_graph_op_attr_momentum, 0.75f);
      const auto made = op.Run();
      ASSERT_TRUE(made.ok()) << made.status().ToString();
      const Numbers value =
          affine ? batch.Value(x.values, gamma.values, beta.values)
                 : batch.Value(x.values, {1, 1}, {0, 0});
      ExpectNear((*made)[0].values, Images({x.dims, value}, last).values, 2e-6);
      const Numbers means = batch.Means(x.values);
      const Numbers variances = batch.Variances(x.values);
      Numbers running_mean, running_variance;
      for (size_t i = 0; i < 2; ++i) {
        running_mean.push_back(0.75 * mean.values[i] + 0.25 * means[i]);
        running_variance.push_back(0.75 * variance.values[i] +
                                   0.25 * variances[i]);
      }
      ExpectNear((*made)[1].values, running_mean, 2e-6);
      ExpectNear((*made)[2].values, running_variance, 2e-6);
      ExpectNear((*made)[3].values, means, 2e-6);
      ExpectNear((*made)[4].values, variances, 2e-6);
    }
  }
}

TEST(BatchNormForwardTraining, HandCheckedValues) {
  EvaluatedOp op(tim_graph_op_batch_norm_forward_training);
  op.Input({{2, 1}, {1, 5}}).Input({{1}, {1}}).Input({{1}, {2}});
  op.Output().Output().Output().Output().Output();
  op.Set(tim_graph_op_attr_epsilon, 0.0f).Set(tim_graph_op_attr_momentum, 0.5f);
  const auto made = op.Run();
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ((*made)[0].values, (Numbers{-1, 1}));
  EXPECT_EQ((*made)[1].values, (Numbers{2}));
  EXPECT_EQ((*made)[2].values, (Numbers{3}));
  EXPECT_EQ((*made)[3].values, (Numbers{3}));
  EXPECT_EQ((*made)[4].values, (Numbers{4}));
}

TEST(BatchNormTraining, RulesAndShapes) {
  const auto forward = [](tim_graph_data_type_t data,
                          tim_graph_data_type_t side, const Dims& sides) {
    Array x = Random({2, 3}, 1);
    x.type = data;
    Array parameter = Random(sides, 2);
    parameter.type = side;
    EvaluatedOp op(tim_graph_op_batch_norm_forward_training);
    op.Input(x).Input(parameter).Input(parameter).Output(data);
    op.Output(side).Output(side).Output(side).Output(side);
    op.Set(tim_graph_op_attr_epsilon, 0.5f)
        .Set(tim_graph_op_attr_momentum, 0.5f);
    return op;
  };
  EXPECT_TRUE(forward(tim_graph_bf16, tim_graph_bf16, {3}).Run().ok());
  ExpectRefused(forward(tim_graph_f16, tim_graph_bf16, {3}).Check(),
                "expected src in bf16");
  ExpectRefused(forward(tim_graph_f32, tim_graph_f32, {2}).Run().status(),
                "expected {3}");
  EvaluatedOp flat(tim_graph_op_batch_norm_backward);
  flat.Input(Random({2, 3, 3}, 1)).Input(Random({2, 3, 3}, 1));
  flat.Input(Random({3}, 1)).Input(Random({3}, 1)).Output();
  flat.Set(tim_graph_op_attr_epsilon, 0.5f);
  ExpectRefused(flat.Run().status(), "expected 4 or more");
}

// ---- LayerNormBackward: rows of [2, 3, 4] ----

Numbers LayerNorm(const Numbers& x, size_t length, const Numbers& gamma,
                  const Numbers& beta) {
  Numbers y;
  for (size_t row = 0; row < x.size() / length; ++row) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < length; ++i) mean += x[row * length + i];
    mean /= static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) {
      const double d = x[row * length + i] - mean;
      variance += d * d;
    }
    variance /= static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) {
      y.push_back((x[row * length + i] - mean) / std::sqrt(variance + 0.25) *
                      gamma[i] +
                  beta[i]);
    }
  }
  return y;
}

void Statistics(const Numbers& x, size_t length, Numbers* means,
                Numbers* variances) {
  for (size_t row = 0; row < x.size() / length; ++row) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < length; ++i) mean += x[row * length + i];
    mean /= static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) {
      variance += std::pow(x[row * length + i] - mean, 2);
    }
    means->push_back(mean);
    variances->push_back(variance / static_cast<double>(length));
  }
}

struct LayerCase {
  int64_t axis;
  Dims rows;
  Dims gamma;
  bool affine;
};

TEST(LayerNormBackward, EqualsDifferences) {
  const std::vector<LayerCase> cases = {
      {-1, {2, 3}, {4}, true}, {1, {2}, {3, 4}, true}, {2, {2, 3}, {4}, false}};
  for (const LayerCase& one : cases) {
    SCOPED_TRACE(one.axis);
    const Array x = Random({2, 3, 4}, 1);
    const Array dd = Random(x.dims, 2);
    Array gamma = Random(one.gamma, 3);
    const Array beta = Random(one.gamma, 4);
    const size_t length = gamma.values.size();
    Array mean = {one.rows}, variance = {one.rows};
    Statistics(x.values, length, &mean.values, &variance.values);
    EvaluatedOp op(tim_graph_op_layer_norm_backward);
    op.Input(x).Input(dd).Input(mean).Input(variance).Output();
    op.Set(tim_graph_op_attr_begin_norm_axis, one.axis)
        .Set(tim_graph_op_attr_use_affine, one.affine)
        .Set(tim_graph_op_attr_epsilon, 0.25f);
    if (one.affine) {
      op.Input(gamma).Input(beta).Output().Output();
    } else {
      gamma.values.assign(length, 1);
    }
    const auto made = op.Run();
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    const auto loss = [&](const Numbers& at, const Numbers& scale,
                          const Numbers& shift) {
      return Dot(LayerNorm(at, length, scale, shift), dd.values);
    };
    ExpectNear((*made)[0].values,
               NumericGradient(
                   [&](const Numbers& at) {
                     return loss(at, gamma.values, beta.values);
                   },
                   x.values),
               1e-5);
    if (!one.affine) continue;
    EXPECT_EQ((*made)[1].dims, one.gamma);
    ExpectNear(
        (*made)[1].values,
        NumericGradient(
            [&](const Numbers& at) { return loss(x.values, at, beta.values); },
            gamma.values),
        1e-5);
    ExpectNear(
        (*made)[2].values,
        NumericGradient(
            [&](const Numbers& at) { return loss(x.values, gamma.values, at); },
            beta.values),
        1e-5);
  }
}

TEST(LayerNormBackward, AffineNeedsThreeOutputs) {
  const Array x = Random({2, 3}, 1);
  const Array rows = Random({2}, 2);
  EvaluatedOp op(tim_graph_op_layer_norm_backward);
  op.Input(x).Input(x).Input(rows).Input(rows).Output();
  ExpectRefused(op.Check(), "use_affine");
  op.Set(tim_graph_op_attr_use_affine, false);
  EXPECT_TRUE(op.Run().ok());
  op.Set(tim_graph_op_attr_begin_norm_axis, int64_t{0});
  ExpectRefused(op.Run().status(), "expected 1 elements");
}

// ---- Dropout ----

// The generator "squares" with the upper 24 bits of its result.
double Uniform(uint64_t seed, uint64_t counter) {
  const uint64_t key =
      2 * (seed * 7046029254386353131u + 4417276706812531889u) + 1;
  const auto swapped = [](uint64_t x) { return x >> 32 | x << 32; };
  const uint64_t y = counter * key;
  const uint64_t z = y + key;
  uint64_t x = swapped(y * y + y);
  x = swapped(x * x + z);
  x = swapped(x * x + y);
  return static_cast<double>((x * x + z) >> 40) / (1 << 24);
}

EvaluatedOp DropoutOf(const Array& src, double seed, double offset, double p) {
  EvaluatedOp op(tim_graph_op_dropout);
  op.Input(src).Input({{1}, {seed}, tim_graph_s64});
  op.Input({{}, {offset}, tim_graph_s64}).Input({{1}, {p}});
  op.Output(src.type);
  return op;
}

// The host, and an OpenCL device where there is one, agree.
TEST(Dropout, KeepsWhatTheGeneratorSays) {
  const auto device = testing::OpenClEngine();
  for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
    const Array src = Rounded(Random({3, 5, 70}, 1), type);
    EvaluatedOp op = DropoutOf(src, 42, 1000, 0.25);
    op.Output(tim_graph_u8);
    const auto made = op.Run();
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    Array expected = src;
    Numbers mask;
    for (size_t i = 0; i < src.values.size(); ++i) {
      mask.push_back(Uniform(42, 1000 + i) >= 0.25 ? 1 : 0);
      expected.values[i] =
          mask[i] == 0 ? 0 : static_cast<float>(src.values[i]) / 0.75f;
    }
    EXPECT_EQ((*made)[1].values, mask);
    if (device != nullptr && type == tim_graph_f32) {
      const auto there = op.On(device).Run();
      ASSERT_TRUE(there.ok()) << there.status().ToString();
      EXPECT_EQ((*there)[1].values, mask);
      ExpectNear((*there)[0].values, (*made)[0].values, 1e-6);
    }
    EXPECT_EQ((*made)[0].values, Rounded(expected, type).values);
    const auto kept = std::count(mask.begin(), mask.end(), 1);
    EXPECT_NEAR(static_cast<double>(kept) / 1050, 0.75, 0.05);
  }
}

TEST(Dropout, OfAllAndOfNothing) {
  const Array src = Random({50}, 1);
  EXPECT_EQ(DropoutOf(src, -1, 0, 0).First().values, src.values);
  EXPECT_EQ(DropoutOf(src, -1, 0, 1).First().values, Numbers(50, 0));
  EvaluatedOp op(tim_graph_op_dropout);
  op.Input(src).Input({{2}, {1, 2}, tim_graph_s64});
  op.Input({{1}, {1}, tim_graph_s64}).Input({{1}, {0.5}}).Output();
  ExpectRefused(op.Run().status(), "expected one element");
}

}  // namespace
}  // namespace tim::graph
