// MaxPool, AvgPool and Interpolate against loops in double.
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

// NCX to NXC.
Array ChannelsLast(const Array& ncx) {
  std::vector<size_t> order = {0};
  for (size_t i = 2; i < ncx.dims.size(); ++i) order.push_back(i);
  order.push_back(1);
  return Permuted(ncx, order);
}

// ---- Pools ----

struct Pool {
  std::string name = {};
  Dims spatial = {};
  Dims kernel = {};
  Dims strides = {};
  Dims begin = {};
  Dims end = {};
  Dims dst = {};  // Spatial extents, counted by hand.
  std::string rounding = "floor";
  std::string auto_pad = "None";
  Dims dilations = {};
};

Dims Three(Dims list, int64_t fill) {
  while (list.size() < 3) list.insert(list.begin(), fill);
  return list;
}

enum class Mean { kNone, kOfKernel, kOfImage };

// One plane [D, H, W] at a time.
Array Pooled(const Pool& test, const Array& src, Mean mean) {
  const Dims in = Three(test.spatial, 1);
  const Dims out = Three(test.dst, 1);
  const Dims kernel = Three(test.kernel, 1);
  const Dims stride = Three(test.strides, 1);
  const Dims dilation = Three(test.dilations, 1);
  const Dims begin = Three(test.begin, 0);
  const size_t plane = static_cast<size_t>(in[0] * in[1] * in[2]);
  Array made = {.dims = {src.dims[0], src.dims[1]}};
  made.dims.insert(made.dims.end(), test.dst.begin(), test.dst.end());
  for (size_t first = 0; first < src.values.size(); first += plane) {
    for (int64_t o = 0; o < out[0] * out[1] * out[2]; ++o) {
      const Dims at = {o / out[2] / out[1], o / out[2] % out[1], o % out[2]};
      double sum = 0;
      double largest = -std::numeric_limits<double>::infinity();
      int64_t count = 0;
      const int64_t taps = kernel[0] * kernel[1] * kernel[2];
      for (int64_t k = 0; k < taps; ++k) {
        const Dims tap = {k / kernel[2] / kernel[1], k / kernel[2] % kernel[1],
                          k % kernel[2]};
        Dims i(3);
        bool inside = true;
        for (size_t a = 0; a < 3; ++a) {
          i[a] = at[a] * stride[a] + tap[a] * dilation[a] - begin[a];
          inside = inside && i[a] >= 0 && i[a] < in[a];
        }
        if (!inside) continue;
        const double x =
            src.values[first + static_cast<size_t>(
                                   (i[0] * in[1] + i[1]) * in[2] + i[2])];
        sum += x;
        largest = std::max(largest, x);
        ++count;
      }
      const int64_t divisor = mean == Mean::kOfKernel ? taps : count;
      made.values.push_back(
          mean == Mean::kNone ? largest : sum / static_cast<double>(divisor));
    }
  }
  return made;
}

EvaluatedOp WithAttributes(const Pool& test, Mean mean,
                           const std::string& data_format) {
  const bool explicit_pads = test.auto_pad == "None";
  EvaluatedOp op(mean == Mean::kNone ? tim_graph_op_max_pool
                                     : tim_graph_op_avg_pool);
  op.Set(tim_graph_op_attr_kernel, test.kernel)
      .Set(tim_graph_op_attr_strides, test.strides)
      .Set(tim_graph_op_attr_pads_begin, explicit_pads ? test.begin : Dims())
      .Set(tim_graph_op_attr_pads_end, explicit_pads ? test.end : Dims())
      .Set(tim_graph_op_attr_auto_pad, test.auto_pad)
      .Set(tim_graph_op_attr_rounding_type, test.rounding)
      .Set(tim_graph_op_attr_data_format, data_format);
  if (mean != Mean::kNone) {
    op.Set(tim_graph_op_attr_exclude_pad, mean == Mean::kOfImage);
  } else if (!test.dilations.empty()) {
    op.Set(tim_graph_op_attr_dilations, test.dilations);
  }
  return op;
}

void Compare(const Pool& test, Mean mean) {
  SCOPED_TRACE(test.name);
  Dims dims = {2, 3};
  dims.insert(dims.end(), test.spatial.begin(), test.spatial.end());
  const Array src = Random(dims, 1);
  const Array expected = Pooled(test, src, mean);
  ExpectBoth(WithAttributes(test, mean, "NCX").Input(src).Output().First(),
             expected, mean == Mean::kNone ? 0 : 1e-6);
  ExpectBoth(WithAttributes(test, mean, "NXC")
                 .Input(ChannelsLast(src))
                 .Output()
                 .First(),
             ChannelsLast(expected), mean == Mean::kNone ? 0 : 1e-6);
}

std::vector<Pool> Pools() {
  return {
      {"1d", {9}, {3}, {2}, {1}, {1}, {5}},
      {"2d", {6, 7}, {3, 2}, {2, 1}, {1, 0}, {0, 1}, {3, 7}},
      {"3d", {4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 1, 0}, {0, 1, 1}, {4, 3, 3}},
      // (5 - 2) / 2 = 1.5, (6 + 1 - 3) / 3 = 1.33
      {"ceil", {5, 6}, {2, 3}, {2, 3}, {0, 1}, {0, 0}, {3, 3}, "ceil"},
      {"other rounding", {5}, {2}, {2}, {0}, {0}, {2}, "ceiling"},
      {"3d ceil",
       {5, 4, 6},
       {2, 2, 4},
       {2, 2, 3},
       {0, 0, 1},
       {0, 0, 1},
       {3, 2, 3},
       "ceil"},
      // 7 mod 2 = 1: 2 pads; 6 mod 4 = 2: 1 pad.
      {"upper",
       {7, 6},
       {3, 3},
       {2, 4},
       {1, 0},
       {1, 1},
       {4, 2},
       "floor",
       "SAME_UPPER"},
      {"lower",
       {7, 6},
       {3, 3},
       {2, 4},
       {1, 1},
       {1, 0},
       {4, 2},
       "floor",
       "SAME_LOWER"},
      {"valid",
       {7, 6},
       {3, 3},
       {2, 1},
       {0, 0},
       {0, 0},
       {3, 4},
       "floor",
       "VALID"},
  };
}

TEST(GraphMaxPool, AgreesWithLoops) {
  for (const Pool& test : Pools()) Compare(test, Mean::kNone);
}

TEST(GraphMaxPool, TakesDilatedWindows) {
  Compare({.name = "1d",
           .spatial = {9},
           .kernel = {3},
           .strides = {1},
           .begin = {2},
           .end = {2},
           .dst = {9},
           .dilations = {2}},
          Mean::kNone);
  Compare({.name = "2d",
           .spatial = {7, 8},
           .kernel = {2, 3},
           .strides = {2, 1},
           .begin = {1, 2},
           .end = {0, 3},
           .dst = {3, 7},
           .dilations = {3, 3}},
          Mean::kNone);
  Compare({.name = "3d",
           .spatial = {4, 3, 6},
           .kernel = {2, 1, 2},
           .strides = {1, 1, 2},
           .begin = {0, 0, 0},
           .end = {0, 0, 0},
           .dst = {2, 3, 2},
           .dilations = {2, 5, 3}},
          Mean::kNone);
}

TEST(GraphMaxPool, CountsByHand) {
  for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
    const Array src = {{1, 1, 4}, {1, 3, -kInfinity, -kInfinity}, type};
    const Array found =
        WithAttributes(
            {.kernel = {2}, .strides = {1}, .begin = {1}, .end = {0}},
            Mean::kNone, "NCX")
            .Input(src)
            .Output(type)
            .First();
    EXPECT_EQ(found.dims, (Dims{1, 1, 4}));
    EXPECT_EQ(found.values, (Numbers{1, 3, 3, -kInfinity}));
  }
}

TEST(GraphAvgPool, AgreesWithLoops) {
  for (const Pool& test : Pools()) {
    Compare(test, Mean::kOfKernel);
    Compare(test, Mean::kOfImage);
  }
}

TEST(GraphAvgPool, CountsByHand) {
  const Pool test = {.kernel = {2},
                     .strides = {2},
                     .begin = {1},
                     .end = {0},
                     .rounding = "ceil"};
  for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
    const Array src = {{1, 1, 4}, {1, 3, 4, 6}, type};
    // The last window begins at the last cell.
    ExpectBoth(WithAttributes(test, Mean::kOfKernel, "NCX")
                   .Input(src)
                   .Output(type)
                   .First(),
               {{1, 1, 3}, {0.5, 3.5, 3}}, 0);
    ExpectBoth(WithAttributes(test, Mean::kOfImage, "NCX")
                   .Input(src)
                   .Output(type)
                   .First(),
               {{1, 1, 3}, {1, 3.5, 6}}, 0);
  }
}

TEST(GraphPools, RefuseShapesThatDoNotFit) {
  for (const Mean mean : {Mean::kNone, Mean::kOfImage}) {
    const auto op = [&](Pool test) {
      EvaluatedOp made = WithAttributes(test, mean, "NCX");
      made.Input(Random({1, 1, 3}, 1)).Output();
      return made;
    };
    const Pool small = {
        .kernel = {2}, .strides = {1}, .begin = {0}, .end = {0}};
    Pool test = small;
    test.kernel = {4};
    ExpectRefused(op(test).Run().status(), "does not fit");
    test.kernel = {2, 2};
    ExpectRefused(op(test).Run().status(), "'kernel'");
    test = small;
    test.strides = {};
    ExpectRefused(op(test).Run().status(), "'strides'");
    test = small;
    test.end = {-1};
    ExpectRefused(op(test).Check(), "no negative pad");
  }
  ExpectRefused(WithAttributes({.kernel = {2},
                                .strides = {1},
                                .begin = {0},
                                .end = {0},
                                .dilations = {1, 1}},
                               Mean::kNone, "NCX")
                    .Input(Random({1, 1, 3}, 1))
                    .Output()
                    .Check(),
                "'dilations'");
}

// ---- Interpolate ----

struct Resampling {
  Dims spatial;
  Dims sizes;
};

double Coordinate(int64_t o, int64_t in, int64_t out, bool align) {
  if (align) {
    return out == 1 ? 0
                    : static_cast<double>(o * (in - 1)) /
                          static_cast<double>(out - 1);
  }
  return static_cast<double>((2 * o + 1) * in) / static_cast<double>(2 * out) -
         0.5;
}

// Along axis `axis` of an array.
Array Resampled(const Array& src, size_t axis, int64_t size, bool linear,
                bool align) {
  const int64_t in = src.dims[axis];
  int64_t inner = 1;
  for (size_t i = axis + 1; i < src.dims.size(); ++i) inner *= src.dims[i];
  Array made = {.dims = src.dims};
  made.dims[axis] = size;
  const auto at = [&](int64_t outer, int64_t cell, int64_t k) {
    cell = std::clamp<int64_t>(cell, 0, in - 1);
    return src.values[static_cast<size_t>((outer * in + cell) * inner + k)];
  };
  for (int64_t outer = 0; outer < CountOf(src) / in / inner; ++outer) {
    for (int64_t o = 0; o < size; ++o) {
      const double x = Coordinate(o, in, size, align);
      const auto lower = static_cast<int64_t>(std::floor(x));
      const double weight = x - std::floor(x);
      for (int64_t k = 0; k < inner; ++k) {
        made.values.push_back(
            linear ? at(outer, lower, k) * (1 - weight) +
                         at(outer, lower + 1, k) * weight
                   : at(outer, static_cast<int64_t>(std::round(x)), k));
      }
    }
  }
  return made;
}

EvaluatedOp Interpolate(const std::string& mode, bool align,
                        const std::string& data_format) {
  EvaluatedOp op(tim_graph_op_interpolate);
  op.Set(tim_graph_op_attr_mode, mode)
      .Set(tim_graph_op_attr_coordinate_transformation_mode,
           std::string(align ? "align_corners" : "half_pixel"))
      .Set(tim_graph_op_attr_data_format, data_format);
  return op;
}

TEST(GraphInterpolate, AgreesWithLoops) {
  const std::vector<std::string> modes = {"linear", "bilinear", "trilinear"};
  const std::vector<Resampling> cases = {
      {{5}, {8}},
      {{7}, {3}},
      {{4, 6}, {7, 9}},
      {{5, 5}, {1, 3}},
      {{3, 4, 5}, {5, 2, 7}},
      {{2, 2, 2}, {2, 4, 1}},
      // Products of a rounded scale miss integers.
      {{2, 10}, {49, 41}},
  };
  for (const Resampling& test : cases) {
    Dims dims = {2, 3};
    dims.insert(dims.end(), test.spatial.begin(), test.spatial.end());
    const Array src = Random(dims, 1);
    for (const bool align : {false, true}) {
      for (const bool linear : {false, true}) {
        const std::string mode =
            linear ? modes[test.spatial.size() - 1] : "nearest";
        SCOPED_TRACE(mode + (align ? " align" : "") + " of " +
                     std::to_string(test.sizes[0]));
        Array expected = src;
        for (size_t i = 0; i < test.sizes.size(); ++i) {
          expected = Resampled(expected, 2 + i, test.sizes[i], linear, align);
        }
        const double tolerance = linear ? 1e-5 : 0;
        ExpectBoth(Interpolate(mode, align, "NCX")
                       .Set(tim_graph_op_attr_sizes, test.sizes)
                       .Input(src)
                       .Output()
                       .First(),
                   expected, tolerance);
        ExpectBoth(Interpolate(mode, align, "NXC")
                       .Set(tim_graph_op_attr_sizes, test.sizes)
                       .Input(ChannelsLast(src))
                       .Output()
                       .First(),
                   ChannelsLast(expected), tolerance);
      }
    }
  }
}

TEST(GraphInterpolate, CountsByHand) {
  for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
    const Array src = {{1, 1, 2}, {0, 4}, type};

    ExpectBoth(Interpolate("linear", false, "NCX")
                   .Set(tim_graph_op_attr_scales, Floats{2})
                   .Input(src)
                   .Output(type)
                   .First(),
               {{1, 1, 4}, {0, 1, 3, 4}}, 0);
    ExpectBoth(Interpolate("nearest", false, "NCX")
                   .Set(tim_graph_op_attr_scales, Floats{1.9f})
                   .Input(src)
                   .Output(type)
                   .First(),
               {{1, 1, 3}, {0, 4, 4}}, 0);
  }
}

TEST(GraphInterpolate, RefusesWhatContradicts) {
  const auto op = [](const std::string& mode) {
    EvaluatedOp made = Interpolate(mode, false, "NCX");
    made.Input(Random({1, 1, 2}, 1)).Output();
    return made;
  };
  ExpectRefused(op("linear").Check(), "neither");
  ExpectRefused(op("linear")
                    .Set(tim_graph_op_attr_sizes, Dims{2})
                    .Set(tim_graph_op_attr_scales, Floats{1})
                    .Check(),
                "both");
  ExpectRefused(op("cubic").Set(tim_graph_op_attr_sizes, Dims{2}).Check(),
                "mode");
  ExpectRefused(
      op("bilinear").Set(tim_graph_op_attr_sizes, Dims{2}).Run().status(),
      "expected linear");
  ExpectRefused(
      op("linear").Set(tim_graph_op_attr_sizes, Dims{2, 2}).Run().status(),
      "'sizes'");
  ExpectRefused(
      op("linear").Set(tim_graph_op_attr_sizes, Dims{0}).Run().status(),
      "'sizes'");
  ExpectRefused(
      op("linear").Set(tim_graph_op_attr_scales, Floats{0.1f}).Run().status(),
      "scale");
  const Status second = op("linear")
                            .Set(tim_graph_op_attr_sizes, Dims{2})
                            .Input({{1}, {2}, tim_graph_s32})
                            .Supports();
  EXPECT_EQ(second.code(), StatusCode::kUnimplemented) << second.ToString();
}

}  // namespace
}  // namespace tim::graph
