// Normalizations and softmax against formulas in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "evaluated_op.h"

namespace tim::graph {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void ExpectBoth(const Array& found, const Array& expected, double tolerance) {
  EXPECT_EQ(found.dims, expected.dims);
  ExpectNear(found.values, expected.values, tolerance);
}

// Half a unit in the last place, and what float32 sums add.
double Tolerance(tim_graph_data_type_t type) {
  if (type == tim_graph_f32) return 1e-5;
  return type == tim_graph_f16 ? 0x1.1p-11 : 0x1.1p-8;
}

Array ChannelsLast(const Array& ncx) {
  std::vector<size_t> order = {0};
  for (size_t i = 2; i < ncx.dims.size(); ++i) order.push_back(i);
  order.push_back(1);
  return Permuted(ncx, order);
}

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments MomentsOf(const Numbers& values, size_t first, size_t count) {
  Moments out;
  for (size_t i = 0; i < count; ++i) out.mean += values[first + i];
  out.mean /= static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) {
    out.variance += std::pow(values[first + i] - out.mean, 2);
  }
  out.variance /= static_cast<double>(count);
  return out;
}

constexpr auto kTypes = {tim_graph_f32, tim_graph_f16, tim_graph_bf16};

// ---- BatchNormInference ----

TEST(GraphBatchNormInference, FollowsTheFormula) {
  constexpr double kEpsilon = 0.25;
  for (const Dims& dims :
       std::vector<Dims>{{2, 3}, {2, 3, 4}, {2, 3, 2, 5}, {1, 3, 2, 2, 2}}) {
    for (const auto type : kTypes) {
      const auto small =
          type == tim_graph_bf16 ? tim_graph_bf16 : tim_graph_f32;
      const Array src = Rounded(Random(dims, 1), type);
      const Array gamma = Rounded(Random({3}, 2), small);
      const Array beta = Rounded(Random({3}, 3), small);
      const Array mean = Rounded(Random({3}, 4), small);
      Array variance = Random({3}, 5);
      for (double& value : variance.values) value = std::fabs(value);
      variance = Rounded(variance, small);
      Array expected = {.dims = dims};
      const size_t plane = src.values.size() / static_cast<size_t>(dims[0]) / 3;
      for (size_t i = 0; i < src.values.size(); ++i) {
        const size_t c = i / plane % 3;
        expected.values.push_back(gamma.values[c] *
                                      (src.values[i] - mean.values[c]) /
                                      std::sqrt(variance.values[c] + kEpsilon) +
                                  beta.values[c]);
      }
      const auto run = [&](const Array& x, const std::string& format) {
        return EvaluatedOp(tim_graph_op_batch_norm_inference)
            .Input(x)
            .Input(gamma)
            .Input(beta)
            .Input(mean)
            .Input(variance)
            .Output(type)
            .Set(tim_graph_op_attr_epsilon, static_cast<float>(kEpsilon))
            .Set(tim_graph_op_attr_data_format, format)
            .First();
      };
      ExpectBoth(run(src, "NCX"), expected, Tolerance(type));
      ExpectBoth(run(ChannelsLast(src), "NXC"), ChannelsLast(expected),
                 Tolerance(type));
    }
  }
}

TEST(GraphBatchNormInference, RefusesParametersThatDoNotFit) {
  const auto op = [](const Dims& dims, tim_graph_data_type_t type) {
    EvaluatedOp made(tim_graph_op_batch_norm_inference);
    made.Input(Random({2, 3, 4}, 1));
    for (uint32_t i = 2; i < 6; ++i) made.Input(Rounded(Random(dims, i), type));
    made.Output()
        .Set(tim_graph_op_attr_epsilon, 0.1f)
        .Set(tim_graph_op_attr_data_format, std::string("NCX"));
    return made;
  };
  ExpectRefused(op({4}, tim_graph_f32).Run().status(), "gamma");
  ExpectRefused(op({1, 3}, tim_graph_f32).Run().status(), "gamma");
  ExpectRefused(op({3}, tim_graph_bf16).Check(), "bf16");
}

// ---- LayerNorm ----

TEST(GraphLayerNorm, FollowsTheFormulaWithStatistics) {
  for (const int64_t begin : {-1, 1, 0}) {
    for (const auto type : kTypes) {
      const Dims dims = {2, 3, 5};
      const size_t axis = static_cast<size_t>(begin < 0 ? begin + 3 : begin);
      const Dims kept(dims.begin(), dims.begin() + static_cast<long>(axis));
      const Dims normalized(dims.begin() + static_cast<long>(axis), dims.end());
      const Array src = Rounded(Random(dims, 1), type);
      const Array gamma = Random(normalized, 2);
      const Array beta = Random(normalized, 3);
      const size_t count = gamma.values.size();
      Array dst = {.dims = dims};
      Array mean = {.dims = kept};
      Array variance = {.dims = kept};
      for (size_t i = 0; i < src.values.size(); ++i) {
        const Moments m = MomentsOf(src.values, i / count * count, count);
        if (i % count == 0) {
          mean.values.push_back(m.mean);
          variance.values.push_back(m.variance);
        }
        dst.values.push_back((src.values[i] - m.mean) /
                                 std::sqrt(m.variance + 1e-5) *
                                 gamma.values[i % count] +
                             beta.values[i % count]);
      }
      const auto arrays = EvaluatedOp(tim_graph_op_layer_norm)
                              .Input(src)
                              .Input(gamma)
                              .Input(beta)
                              .Output(type)
                              .Output()
                              .Output()
                              .Set(tim_graph_op_attr_begin_norm_axis, begin)
                              .Run();
      ASSERT_TRUE(arrays.ok()) << arrays.status().ToString();
      ExpectBoth((*arrays)[0], dst, Tolerance(type));
      ExpectBoth((*arrays)[1], mean, 1e-6);
      ExpectBoth((*arrays)[2], variance, 1e-6);
    }
  }
}

TEST(GraphLayerNorm, CountsByHand) {
  // Mean 2, variance 1: 4 parts of the square root of 16.
  const Array src = {{1, 2}, {1, 3}};
  EvaluatedOp op(tim_graph_op_layer_norm);
  op.Input(src)
      .Output()
      .Set(tim_graph_op_attr_keep_stats, false)
      .Set(tim_graph_op_attr_epsilon, 15.0f);
  ExpectBoth(op.First(), {{1, 2}, {-0.25, 0.25}}, 1e-7);
  // Parameters count where use_affine is true.
  op.Input({{2}, {4, 8}}).Input({{2}, {1, 2}});
  ExpectBoth(op.First(), {{1, 2}, {0, 4}}, 1e-7);
  op.Set(tim_graph_op_attr_use_affine, false);
  ExpectBoth(op.First(), {{1, 2}, {-0.25, 0.25}}, 1e-7);
}

TEST(GraphNorms, RefuseOperandsThatDoNotFit) {
  for (const auto kind : {tim_graph_op_layer_norm, tim_graph_op_group_norm}) {
    const auto op = [&](const Dims& parameter, tim_graph_data_type_t type) {
      EvaluatedOp made(kind);
      made.Input(Random({2, 4}, 1))
          .Input(Rounded(Random(parameter, 2), type))
          .Input(Rounded(Random(parameter, 3), type))
          .Output();
      if (kind == tim_graph_op_group_norm) {
        made.Set(tim_graph_op_attr_groups, int64_t{2})
            .Set(tim_graph_op_attr_data_format, std::string("NCX"));
      }
      return made;
    };
    ExpectRefused(op({4}, tim_graph_f32).Check(), "keep_stats");
    ExpectRefused(op({4}, tim_graph_bf16)
                      .Set(tim_graph_op_attr_keep_stats, false)
                      .Check(),
                  "bf16");
    ExpectRefused(op({3}, tim_graph_f32)
                      .Set(tim_graph_op_attr_keep_stats, false)
                      .Run()
                      .status(),
                  "gamma");
  }
  EvaluatedOp layer(tim_graph_op_layer_norm);
  layer.Input(Random({2, 4}, 1))
      .Output()
      .Set(tim_graph_op_attr_keep_stats, false)
      .Set(tim_graph_op_attr_begin_norm_axis, int64_t{2});
  ExpectRefused(layer.Run().status(), "begin_norm_axis");
  EvaluatedOp narrow(tim_graph_op_layer_norm);
  narrow.Input(Random({2, 4}, 1)).Output();
  narrow.Output(tim_graph_bf16).Output(tim_graph_bf16);
  ExpectRefused(narrow.Check(), "mean is bf16");
  EvaluatedOp group(tim_graph_op_group_norm);
  group.Input(Random({2, 4}, 1))
      .Output()
      .Set(tim_graph_op_attr_keep_stats, false)
      .Set(tim_graph_op_attr_groups, int64_t{3});
  ExpectRefused(group.Run().status(), "groups");
}

// ---- GroupNorm ----

TEST(GraphGroupNorm, FollowsTheFormulaWithStatistics) {
  for (const Dims& dims :
       std::vector<Dims>{{2, 6}, {2, 6, 3}, {2, 6, 2, 3}, {1, 6, 2, 2, 2}}) {
    for (const auto type : kTypes) {
      constexpr int64_t kGroups = 3;
      const Array src = Rounded(Random(dims, 1), type);
      const Array gamma = Random({6}, 2);
      const Array beta = Random({6}, 3);
      const size_t plane = src.values.size() / static_cast<size_t>(dims[0]) / 6;
      const size_t count = plane * 2;
      Array dst = {.dims = dims};
      Array mean = {.dims = {dims[0], kGroups}};
      Array variance = mean;
      for (size_t i = 0; i < src.values.size(); ++i) {
        const Moments m = MomentsOf(src.values, i / count * count, count);
        if (i % count == 0) {
          mean.values.push_back(m.mean);
          variance.values.push_back(m.variance);
        }
        const size_t c = i / plane % 6;
        dst.values.push_back((src.values[i] - m.mean) /
                                 std::sqrt(m.variance + 1e-5) *
                                 gamma.values[c] +
                             beta.values[c]);
      }
      const auto run = [&](const Array& x, const std::string& format) {
        return EvaluatedOp(tim_graph_op_group_norm)
            .Input(x)
            .Input(gamma)
            .Input(beta)
            .Output(type)
            .Output()
            .Output()
            .Set(tim_graph_op_attr_groups, kGroups)
            .Set(tim_graph_op_attr_data_format, format)
            .Run();
      };
      const auto ncx = run(src, "NCX");
      const auto nxc = run(ChannelsLast(src), "NXC");
      ASSERT_TRUE(ncx.ok() && nxc.ok()) << ncx.status().ToString();
      ExpectBoth((*ncx)[0], dst, 2 * Tolerance(type));
      ExpectBoth((*nxc)[0], ChannelsLast(dst), 2 * Tolerance(type));
      for (const auto& arrays : {*ncx, *nxc}) {
        ExpectBoth(arrays[1], mean, 1e-6);
        ExpectBoth(arrays[2], variance, 1e-6);
      }
    }
  }
}

// ---- RMSNorm ----

TEST(GraphRmsNorm, FollowsTheFormula) {
  for (const int64_t begin : {-1, 1}) {
    for (const auto type : kTypes) {
      const Array src = Rounded(Random({2, 3, 5}, 1), type);
      const Array gamma = Rounded(
          Random({5}, 2), type == tim_graph_bf16 ? type : tim_graph_f16);
      const size_t count = begin == -1 ? 5 : 15;
      Array expected = {.dims = src.dims};
      for (size_t i = 0; i < src.values.size(); ++i) {
        double squares = 0;
        for (size_t k = 0; k < count; ++k) {
          squares += std::pow(src.values[i / count * count + k], 2);
        }
        expected.values.push_back(
            gamma.values[i % 5] * src.values[i] /
            std::sqrt(squares / static_cast<double>(count) + 0.5));
      }
      ExpectBoth(EvaluatedOp(tim_graph_op_rms_norm)
                     .Input(src)
                     .Input(gamma)
                     .Output(type)
                     .Set(tim_graph_op_attr_begin_norm_axis, begin)
                     .Set(tim_graph_op_attr_epsilon, 0.5f)
                     .First(),
                 expected, Tolerance(type));
    }
  }
}

TEST(GraphRmsNorm, RefusesGammaThatDoesNotFit) {
  const auto op = [](const Array& gamma) {
    EvaluatedOp made(tim_graph_op_rms_norm);
    made.Input(Random({2, 4}, 1)).Input(gamma).Output();
    return made;
  };
  ExpectRefused(op(Random({3}, 2)).Run().status(), "gamma");
  ExpectRefused(op(Random({1, 2, 4}, 2)).Run().status(), "gamma");
  ExpectRefused(op(Rounded(Random({4}, 2), tim_graph_bf16)).Check(), "bf16");
}

// ---- SoftMax, LogSoftmax ----

struct Row {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

// Rows along an axis with `inner` elements behind.
Row RowOf(const Array& src, size_t i, size_t extent, size_t inner) {
  const size_t first = i / (extent * inner) * (extent * inner) + i % inner;
  Row row;
  for (size_t k = 0; k < extent; ++k) {
    row.largest = std::max(row.largest, src.values[first + k * inner]);
  }
  for (size_t k = 0; k < extent; ++k) {
    row.sum += std::exp(src.values[first + k * inner] - row.largest);
  }
  return row;
}

TEST(GraphSoftMax, FollowsTheFormulaAlongEveryAxis) {
  for (const int64_t axis : {0, 1, -1}) {
    for (const auto type : kTypes) {
      Array src = Random({3, 4, 5}, 7);
      for (double& value : src.values) value *= 8;
      src = Rounded(src, type);
      const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const auto extent = static_cast<size_t>(src.dims[at]);
      const size_t inner = at == 0 ? 20 : at == 1 ? 5 : 1;
      Array soft = {.dims = src.dims};
      Array logs = {.dims = src.dims};
      Array stats = {.dims = src.dims};
      stats.dims[at] = 1;
      for (size_t i = 0; i < src.values.size(); ++i) {
        const Row row = RowOf(src, i, extent, inner);
        const double x = src.values[i] - row.largest;
        soft.values.push_back(std::exp(x) / row.sum);
        logs.values.push_back(x - std::log(row.sum));
        if (i / inner % extent == 0) {
          stats.values.push_back(row.largest + std::log(row.sum));
        }
      }
      ExpectBoth(EvaluatedOp(tim_graph_op_softmax)
                     .Input(src)
                     .Output(type)
                     .Set(tim_graph_op_attr_axis, axis)
                     .First(),
                 soft, Tolerance(type));
      ExpectBoth(EvaluatedOp(tim_graph_op_log_softmax)
                     .Input(src)
                     .Output(type)
                     .Set(tim_graph_op_attr_axis, axis)
                     .First(),
                 logs, Tolerance(type));
      for (const char* mode : {"none", "inf_as_zero"}) {
        const auto both = EvaluatedOp(tim_graph_op_softmax)
                              .Input(src)
                              .Output()
                              .Output()
                              .Set(tim_graph_op_attr_axis, axis)
                              .Set(tim_graph_op_attr_mode, std::string(mode))
                              .Run();
        ASSERT_TRUE(both.ok()) << both.status().ToString();
        ExpectBoth((*both)[0], soft, 1e-6);
        ExpectBoth((*both)[1], stats, 1e-6);
      }
    }
  }
}

TEST(GraphSoftMax, MakesZerosOfRowsOfInfinityWhereAsked) {
  for (const auto type : kTypes) {
    const Array src = {
        {3, 2}, {0, 0, -kInfinity, -kInfinity, -kInfinity, 3}, type};
    const auto run = [&](const std::string& mode) {
      return EvaluatedOp(tim_graph_op_softmax)
          .Input(src)
          .Output(type)
          .Output()
          .Set(tim_graph_op_attr_mode, mode)
          .Run();
    };
    const auto zeros = run("inf_as_zero");
    ASSERT_TRUE(zeros.ok()) << zeros.status().ToString();
    ExpectBoth((*zeros)[0], {{3, 2}, {0.5, 0.5, 0, 0, 0, 1}}, 1e-6);
    EXPECT_EQ((*zeros)[1].dims, (Dims{3, 1}));
    EXPECT_NEAR((*zeros)[1].values[0], std::log(2.0), 1e-6);
    EXPECT_EQ((*zeros)[1].values[1], -kInfinity);
    EXPECT_NEAR((*zeros)[1].values[2], 3, 1e-6);
    const auto none = run("none");
    ASSERT_TRUE(none.ok()) << none.status().ToString();
    EXPECT_TRUE(std::isnan((*none)[0].values[2]));
    EXPECT_NEAR((*none)[0].values[5], 1, 1e-6);
  }
}

TEST(GraphSoftMax, RefusesAxesAndTypesThatDoNotFit) {
  const auto op = [](const Dims& dims, tim_graph_data_type_t from,
                     tim_graph_data_type_t to) {
    EvaluatedOp made(tim_graph_op_softmax);
    made.Input(Rounded(Random(dims, 1), from)).Output(to);
    return made;
  };
  ExpectRefused(op({3}, tim_graph_f32, tim_graph_f32).Run().status(), "axis");
  ExpectRefused(op({3, 2}, tim_graph_f16, tim_graph_bf16).Check(),
                "expected one type");
  EXPECT_TRUE(op({3, 2}, tim_graph_f16, tim_graph_f32).Check().ok());
  EXPECT_TRUE(op({3, 2}, tim_graph_f32, tim_graph_bf16).Check().ok());
  ExpectRefused(op({3, 2}, tim_graph_f32, tim_graph_f32)
                    .Set(tim_graph_op_attr_mode, std::string("zero"))
                    .Check(),
                "mode");
  ExpectRefused(EvaluatedOp(tim_graph_op_log_softmax)
                    .Input(Random({3}, 1))
                    .Output()
                    .Set(tim_graph_op_attr_axis, int64_t{1})
                    .Run()
                    .status(),
                "axis");
}

}  // namespace
}  // namespace tim::graph
