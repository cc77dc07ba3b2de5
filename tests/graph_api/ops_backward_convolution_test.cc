// Gradients of convolutions and transposed convolutions against differences of
// sums written from the formula, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

// Extents along up to three spatial axes; the others are 1.
using Extents = std::array<int64_t, 3>;

struct Case {
  std::string name = "";
  int64_t batch = 2;
  int64_t channels = 2;  // Of src.
  int64_t made = 3;      // Of dst.
  int64_t groups = 1;
  Dims src = {};  // Spatial.
  Dims kernel = {};
  Dims strides = {};
  Dims dilations = {};
  Dims begins = {};
  Dims ends = {};
  bool channels_last = false;
  std::string auto_pad = "None";

  size_t spatial() const { return src.size(); }
};

Extents Padded(const Dims& dims, int64_t rest) {
  Extents out = {rest, rest, rest};
  std::copy_backward(dims.begin(), dims.end(), out.end());
  return out;
}

int64_t CountOf(const Extents& e) { return e[0] * e[1] * e[2]; }

// Windows along the spatial axes, with pads as numbers.
struct Problem {
  Case c;
  Extents src, kernel, strides, dilations, begins, dst;

  explicit Problem(const Case& one)
      : c(one),
        src(Padded(one.src, 1)),
        kernel(Padded(one.kernel, 1)),
        strides(Padded(one.strides, 1)),
        dilations(Padded(one.dilations, 1)),
        begins(Padded(one.begins, 0)),
        dst() {
    const Extents ends = Padded(one.ends, 0);
    for (size_t i = 0; i < 3; ++i) {
      const int64_t span = (kernel[i] - 1) * dilations[i] + 1;
      dst[i] = (src[i] + begins[i] + ends[i] - span) / strides[i] + 1;
    }
  }

  Dims DimsOf(int64_t first, int64_t second, const Extents& extents) const {
    Dims out = {first, second};
    out.insert(out.end(), extents.end() - static_cast<int>(c.spatial()),
               extents.end());
    return out;
  }
  Dims SrcDims() const { return DimsOf(c.batch, c.channels, src); }
  Dims DstDims() const { return DimsOf(c.batch, c.made, dst); }
  Dims WeightsDims() const {
    return DimsOf(c.made, c.channels / c.groups, kernel);
  }

  // Sum over all products x * w * dd of the convolution.
  double Loss(const Numbers& x, const Numbers& w, const Numbers& dd) const {
    const int64_t inputs = c.channels / c.groups;
    const int64_t outputs = c.made / c.groups;
    double sum = 0;
    size_t at_dst = 0;
    for (int64_t plane = 0; plane < c.batch * c.made; ++plane) {
      const int64_t n = plane / c.made;
      const int64_t o = plane % c.made;
      for (int64_t p = 0; p < CountOf(dst); ++p, ++at_dst) {
        for (int64_t i = 0; i < inputs; ++i) {
          const int64_t channel = o / outputs * inputs + i;
          sum += dd[at_dst] *
                 Window(x, (n * c.channels + channel), w, o * inputs + i, p);
        }
      }
    }
    return sum;
  }

 private:
  double Window(const Numbers& x, int64_t x_plane, const Numbers& w,
                int64_t w_plane, int64_t p) const {
    const Extents at = {p / dst[2] / dst[1], p / dst[2] % dst[1], p % dst[2]};
    double sum = 0;
    for (int64_t k = 0; k < CountOf(kernel); ++k) {
      const Extents tap = {k / kernel[2] / kernel[1], k / kernel[2] % kernel[1],
                           k % kernel[2]};
      int64_t cell = 0;
      bool inside = true;
      for (size_t i = 0; i < 3; ++i) {
        const int64_t position =
            at[i] * strides[i] + tap[i] * dilations[i] - begins[i];
        inside = inside && position >= 0 && position < src[i];
        cell = cell * src[i] + position;
      }
      if (!inside) continue;
      sum += x[static_cast<size_t>(x_plane * CountOf(src) + cell)] *
             w[static_cast<size_t>(w_plane * CountOf(kernel) + k)];
    }
    return sum;
  }
};

std::vector<Case> Cases() {
  return {
      {.name = "1d",
       .src = {9},
       .kernel = {3},
       .strides = {2},
       .dilations = {1},
       .begins = {1},
       .ends = {0}},
      {.name = "2d, rest of a stride, channels last",
       .src = {6, 7},
       .kernel = {3, 2},
       .strides = {2, 3},
       .dilations = {1, 1},
       .begins = {0, 1},
       .ends = {1, 0},
       .channels_last = true},
      {.name = "2d, dilations",
       .src = {7, 8},
       .kernel = {2, 3},
       .strides = {1, 2},
       .dilations = {3, 2},
       .begins = {2, 1},
       .ends = {0, 2}},
      {.name = "2d, groups",
       .channels = 4,
       .made = 6,
       .groups = 2,
       .src = {5, 4},
       .kernel = {3, 3},
       .strides = {1, 1},
       .dilations = {1, 1},
       .begins = {1, 1},
       .ends = {1, 1},
       .channels_last = true},
      {.name = "2d, depthwise",
       .batch = 1,
       .channels = 3,
       .made = 6,
       .groups = 3,
       .src = {5, 5},
       .kernel = {2, 2},
       .strides = {2, 1},
       .dilations = {1, 2},
       .begins = {0, 0},
       .ends = {0, 1}},
      {.name = "3d",
       .src = {4, 3, 5},
       .kernel = {2, 1, 3},
       .strides = {1, 2, 2},
       .dilations = {2, 1, 1},
       .begins = {1, 0, 1},
       .ends = {0, 0, 1}},
      {.name = "3d, groups, channels last",
       .batch = 1,
       .channels = 4,
       .made = 6,
       .groups = 2,
       .src = {3, 4, 3},
       .kernel = {2, 3, 1},
       .strides = {1, 2, 1},
       .dilations = {1, 1, 1},
       .begins = {0, 1, 0},
       .ends = {1, 0, 0},
       .channels_last = true},
      {.name = "2d, same",
       .src = {5, 6},
       .kernel = {3, 4},
       .strides = {2, 2},
       .dilations = {1, 1},
       .begins = {1, 1},
       .ends = {1, 1},
       .auto_pad = "SAME_UPPER"},
  };
}

std::vector<size_t> ToLast(size_t spatial) {
  std::vector<size_t> order = {0};
  for (size_t i = 0; i < spatial; ++i) order.push_back(2 + i);
  order.push_back(1);
  return order;
}

// [O, I, X...] as X, then the second and the first, or the other way round.
std::vector<size_t> SpatialFirst(size_t spatial) {
  std::vector<size_t> order;
  for (size_t i = 0; i < spatial; ++i) order.push_back(2 + i);
  order.push_back(1);
  order.push_back(0);
  return order;
}

Array Data(const Case& c, const Array& ncx) {
  return c.channels_last ? Permuted(ncx, ToLast(c.spatial())) : ncx;
}

// Those of a convolution, [O, I, X...]: OIX or XIO of it; IOX or XOI of the
// transposed one, whose outputs are I.
Array Weights(const Case& c, const Array& oix) {
  return c.channels_last ? Permuted(oix, SpatialFirst(c.spatial())) : oix;
}

void SetAttributes(const Case& c, const char* first, const char* last,
                   EvaluatedOp* op) {
  op->Set(tim_graph_op_attr_strides, c.strides)
      .Set(tim_graph_op_attr_dilations, c.dilations)
      .Set(tim_graph_op_attr_pads_begin, c.begins)
      .Set(tim_graph_op_attr_pads_end, c.ends)
      .Set(tim_graph_op_attr_auto_pad, c.auto_pad)
      .Set(tim_graph_op_attr_groups, c.groups)
      .Set(tim_graph_op_attr_data_format,
           std::string(c.channels_last ? "NXC" : "NCX"))
      .Set(tim_graph_op_attr_weights_format,
           std::string(c.channels_last ? last : first));
}

struct Operands {
  Array src, weights, dd;
};

Operands OperandsOf(const Problem& problem) {
  return {Random(problem.SrcDims(), 1), Random(problem.WeightsDims(), 2),
          Random(problem.DstDims(), 3)};
}

Numbers ByData(const Problem& p, const Operands& in) {
  return NumericGradient(
      [&](const Numbers& x) {
        return p.Loss(x, in.weights.values, in.dd.values);
      },
      in.src.values, 1);
}

Numbers ByWeights(const Problem& p, const Operands& in) {
  return NumericGradient(
      [&](const Numbers& w) { return p.Loss(in.src.values, w, in.dd.values); },
      in.weights.values, 1);
}

Numbers ByResult(const Problem& p, const Operands& in) {
  return NumericGradient(
      [&](const Numbers& dd) {
        return p.Loss(in.src.values, in.weights.values, dd);
      },
      in.dd.values, 1);
}

TEST(BackwardConvolution, DataEqualDifferences) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const Problem p(c);
    const Operands in = OperandsOf(p);
    const Array expected = Data(c, {in.src.dims, ByData(p, in), tim_graph_f32});
    EvaluatedOp op(tim_graph_op_convolution_backward_data);
    op.Input(Data(c, in.dd)).Input(Weights(c, in.weights)).Output();
    op.Set(tim_graph_op_attr_dst_shape, expected.dims);
    SetAttributes(c, "OIX", "XIO", &op);
    const Array made = op.First();
    EXPECT_EQ(made.dims, expected.dims);
    ExpectNear(made.values, expected.values, 1e-5);
  }
}

TEST(BackwardConvolution, WeightsEqualDifferences) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const Problem p(c);
    const Operands in = OperandsOf(p);
    const Array expected =
        Weights(c, {in.weights.dims, ByWeights(p, in), tim_graph_f32});
    EvaluatedOp op(tim_graph_op_convolution_backward_weights);
    op.Input(Data(c, in.src)).Input(Data(c, in.dd));
    op.Output(tim_graph_f32, expected.dims);
    SetAttributes(c, "OIX", "XIO", &op);
    const Array made = op.First();
    EXPECT_EQ(made.dims, expected.dims);
    ExpectNear(made.values, expected.values, 1e-5);
  }
}

// A transposed convolution has the convolution's src as dst: its diff_dst is
// of that shape, and the gradient of its data is the convolution.
struct Transposed {
  Problem problem;
  Dims output_padding;
};

std::vector<Transposed> TransposedCases() {
  std::vector<Transposed> out;
  for (const Case& c : Cases()) {
    if (c.auto_pad != "None") continue;
    Transposed one = {Problem(c), {}};
    for (size_t i = 3 - c.spatial(); i < 3; ++i) {
      const Problem& p = one.problem;
      const int64_t span = (p.kernel[i] - 1) * p.dilations[i] + 1;
      const int64_t ends = c.ends[i + c.spatial() - 3];
      one.output_padding.push_back(p.src[i] + p.begins[i] + ends - span -
                                   (p.dst[i] - 1) * p.strides[i]);
    }
    out.push_back(one);
  }
  return out;
}

TEST(BackwardConvTranspose, DataEqualDifferences) {
  for (const auto& [p, output_padding] : TransposedCases()) {
    SCOPED_TRACE(p.c.name);
    const Operands in = OperandsOf(p);
    const Array expected =
        Data(p.c, {in.dd.dims, ByResult(p, in), tim_graph_f32});
    EvaluatedOp op(tim_graph_op_conv_transpose_backward_data);
    op.Input(Data(p.c, in.src)).Input(Weights(p.c, in.weights)).Output();
    op.Set(tim_graph_op_attr_output_padding, output_padding);
    SetAttributes(p.c, "IOX", "XOI", &op);
    const Array made = op.First();
    EXPECT_EQ(made.dims, expected.dims);
    ExpectNear(made.values, expected.values, 1e-5);
  }
}

TEST(BackwardConvTranspose, WeightsEqualDifferences) {
  for (const auto& [p, output_padding] : TransposedCases()) {
    SCOPED_TRACE(p.c.name);
    const Operands in = OperandsOf(p);
    const Array expected =
        Weights(p.c, {in.weights.dims, ByWeights(p, in), tim_graph_f32});
    EvaluatedOp op(tim_graph_op_conv_transpose_backward_weights);
    op.Input(Data(p.c, in.dd)).Input(Data(p.c, in.src)).Output();
    op.Set(tim_graph_op_attr_output_padding, output_padding);
    op.Set(tim_graph_op_attr_weights_shape, expected.dims);
    SetAttributes(p.c, "IOX", "XOI", &op);
    const Array made = op.First();
    EXPECT_EQ(made.dims, expected.dims);
    ExpectNear(made.values, expected.values, 1e-5);
  }
}

// dd 1 and 10 through the kernel 1, 2 with stride 2.
TEST(BackwardConvolution, HandCheckedData) {
  EvaluatedOp op(tim_graph_op_convolution_backward_data);
  op.Input({{1, 1, 2}, {1, 10}}).Input({{1, 1, 2}, {1, 2}}).Output();
  op.Set(tim_graph_op_attr_dst_shape, Dims{1, 1, 5});
  SetAttributes({.src = {5},
                 .strides = {2},
                 .dilations = {1},
                 .begins = {0},
                 .ends = {0}},
                "OIX", "XIO", &op);
  EXPECT_EQ(op.First().values, (Numbers{1, 2, 10, 20, 0}));
}

Case Plain() {
  return {.src = {5, 5},
          .strides = {1, 1},
          .dilations = {1, 1},
          .begins = {0, 0},
          .ends = {0, 0}};
}

TEST(BackwardConvolution, RefusesWhatDoesNotFit) {
  EvaluatedOp unknown(tim_graph_op_convolution_backward_data);
  unknown.Input(Random({1, 2, 3, 3}, 1)).Input(Random({2, 1, 3, 3}, 1));
  unknown.Output();
  SetAttributes(Plain(), "OIX", "XIO", &unknown);
  EXPECT_EQ(unknown.Run().status().code(), StatusCode::kUnimplemented);
  unknown.Set(tim_graph_op_attr_dst_shape, Dims{1, 1, 6, 5});
  ExpectRefused(unknown.Run().status(), "number of windows");
  unknown.Set(tim_graph_op_attr_dst_shape, Dims{1, 2, 5, 5});
  ExpectRefused(unknown.Run().status(), "channels that weights read");
  unknown.Set(tim_graph_op_attr_dst_shape, Dims{2, 1, 5, 5});
  ExpectRefused(unknown.Run().status(), "batch");
  unknown.Set(tim_graph_op_attr_pads_begin, Dims{-1, 0});
  ExpectRefused(unknown.Check(), "pads_begin");
}

}  // namespace
}  // namespace tim::graph
