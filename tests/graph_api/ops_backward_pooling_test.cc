// Gradients of pools against sums over windows, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

using Extents = std::array<int64_t, 3>;

struct Case {
  std::string name = "";
  Dims src = {};  // [N, C, X...]
  Dims kernel = {};
  Dims strides = {};
  Dims begins = {};
  Dims ends = {};
  bool channels_last = false;
  bool ceiling = false;
  Dims dilations = {};  // Of MaxPool; empty: 1.

  size_t spatial() const { return kernel.size(); }
};

Extents Padded(const Dims& dims, int64_t rest) {
  Extents out = {rest, rest, rest};
  std::copy_backward(dims.begin(), dims.end(), out.end());
  return out;
}

struct Pool {
  Case c;
  Extents src, kernel, strides, begins, dilations, dst;
  int64_t planes;

  explicit Pool(const Case& one)
      : c(one),
        src(Padded({one.src.begin() + 2, one.src.end()}, 1)),
        kernel(Padded(one.kernel, 1)),
        strides(Padded(one.strides, 1)),
        begins(Padded(one.begins, 0)),
        dilations(Padded(one.dilations, 1)),
        dst(),
        planes(one.src[0] * one.src[1]) {
    const Extents ends = Padded(one.ends, 0);
    for (size_t i = 0; i < 3; ++i) {
      const int64_t span = (kernel[i] - 1) * dilations[i] + 1;
      const int64_t room = src[i] + begins[i] + ends[i] - span;
      dst[i] = (room + (one.ceiling ? strides[i] - 1 : 0)) / strides[i] + 1;
    }
  }

  Dims DstDims() const {
    Dims out = {c.src[0], c.src[1]};
    out.insert(out.end(), dst.end() - static_cast<int>(c.spatial()), dst.end());
    return out;
  }

  // Each window with the cells of src that it reads.
  void ForEachWindow(
      const std::function<void(size_t, const std::vector<size_t>&)>& visit)
      const {
    size_t window = 0;
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t z = 0; z < dst[0]; ++z) {
        for (int64_t y = 0; y < dst[1]; ++y) {
          for (int64_t x = 0; x < dst[2]; ++x) {
            visit(window++, CellsOf(plane, {z, y, x}));
          }
        }
      }
    }
  }

 private:
  std::vector<size_t> CellsOf(int64_t plane, const Extents& at) const {
    std::vector<size_t> cells;
    const int64_t taps = kernel[0] * kernel[1] * kernel[2];
    for (int64_t k = 0; k < taps; ++k) {
      const Extents tap = {k / kernel[2] / kernel[1], k / kernel[2] % kernel[1],
                           k % kernel[2]};
      int64_t cell = plane;
      bool inside = true;
      for (size_t i = 0; i < 3; ++i) {
        const int64_t position =
            at[i] * strides[i] + tap[i] * dilations[i] - begins[i];
        inside = inside && position >= 0 && position < src[i];
        cell = cell * src[i] + position;
      }
      if (inside) cells.push_back(static_cast<size_t>(cell));
    }
    return cells;
  }
};

std::vector<Case> Cases() {
  return {
      {.name = "1d",
       .src = {2, 3, 9},
       .kernel = {3},
       .strides = {2},
       .begins = {1},
       .ends = {0}},
      {.name = "2d, overlapping, channels last",
       .src = {1, 2, 6, 7},
       .kernel = {3, 2},
       .strides = {2, 1},
       .begins = {1, 0},
       .ends = {1, 1},
       .channels_last = true},
      {.name = "2d, gaps",
       .src = {2, 1, 7, 8},
       .kernel = {2, 2},
       .strides = {3, 3},
       .begins = {0, 0},
       .ends = {0, 0}},
      {.name = "2d, rounded up",
       .src = {1, 1, 6, 6},
       .kernel = {3, 3},
       .strides = {2, 2},
       .begins = {0, 0},
       .ends = {0, 0},
       .ceiling = true},
      {.name = "3d",
       .src = {1, 2, 4, 5, 3},
       .kernel = {2, 3, 2},
       .strides = {2, 1, 1},
       .begins = {0, 1, 1},
       .ends = {0, 1, 0}},
  };
}

Array Data(const Case& c, const Array& ncx) {
  if (!c.channels_last) return ncx;
  std::vector<size_t> order = {0};
  for (size_t i = 0; i < c.spatial(); ++i) order.push_back(2 + i);
  order.push_back(1);
  return Permuted(ncx, order);
}

void SetAttributes(const Case& c, EvaluatedOp* op) {
  op->Set(tim_graph_op_attr_kernel, c.kernel)
      .Set(tim_graph_op_attr_strides, c.strides)
      .Set(tim_graph_op_attr_pads_begin, c.begins)
      .Set(tim_graph_op_attr_pads_end, c.ends)
      .Set(tim_graph_op_attr_data_format,
           std::string(c.channels_last ? "NXC" : "NCX"));
}

TEST(AvgPoolBackward, SpreadsOverTheWindow) {
  for (const Case& c : Cases()) {
    for (const bool exclude_pad : {false, true}) {
      SCOPED_TRACE(c.name);
      const Pool pool(c);
      const Array dd = Random(pool.DstDims(), 1);
      Array expected = Random(c.src, 1);
      std::fill(expected.values.begin(), expected.values.end(), 0);
      const double taps =
          static_cast<double>(pool.kernel[0] * pool.kernel[1] * pool.kernel[2]);
      pool.ForEachWindow([&](size_t window, const std::vector<size_t>& cells) {
        const double count =
            exclude_pad ? static_cast<double>(cells.size()) : taps;
        for (const size_t cell : cells) {
          expected.values[cell] += dd.values[window] / count;
        }
      });
      expected = Data(c, expected);
      EvaluatedOp op(tim_graph_op_avg_pool_backward);
      op.Input(Data(c, dd)).Output();
      op.Set(tim_graph_op_attr_src_shape, expected.dims)
          .Set(tim_graph_op_attr_exclude_pad, exclude_pad);
      SetAttributes(c, &op);
      const Array made = op.First();
      EXPECT_EQ(made.dims, expected.dims);
      ExpectNear(made.values, expected.values, 2e-6);
    }
  }
}

// Few values, so that windows have several greatest cells.
TEST(MaxPoolBackward, GoesToTheFirstGreatestCell) {
  std::vector<Case> cases = Cases();
  cases.push_back({.name = "2d, dilated",
                   .src = {2, 2, 6, 7},
                   .kernel = {2, 3},
                   .strides = {1, 2},
                   .begins = {1, 2},
                   .ends = {1, 1},
                   .dilations = {3, 2}});
  cases.push_back({.name = "3d, dilated, channels last, rounded up",
                   .src = {1, 2, 4, 5, 6},
                   .kernel = {2, 2, 2},
                   .strides = {2, 1, 2},
                   .begins = {1, 0, 0},
                   .ends = {0, 0, 0},
                   .channels_last = true,
                   .ceiling = true,
                   .dilations = {1, 2, 1}});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Pool pool(c);
    const Array dd = Random(pool.DstDims(), 1);
    Array src = Random(c.src, 2);
    for (double& value : src.values) value = std::floor(value * 2);
    Array expected = src;
    std::fill(expected.values.begin(), expected.values.end(), 0);
    pool.ForEachWindow([&](size_t window, const std::vector<size_t>& cells) {
      const size_t first = *std::max_element(
          cells.begin(), cells.end(),
          [&](size_t a, size_t b) { return src.values[a] < src.values[b]; });
      expected.values[first] += dd.values[window];
    });
    EvaluatedOp op(tim_graph_op_max_pool_backward);
    op.Input(Data(c, src)).Input(Data(c, dd)).Output();
    SetAttributes(c, &op);
    if (!c.dilations.empty()) op.Set(tim_graph_op_attr_dilations, c.dilations);
    ExpectNear(op.First().values, Data(c, expected).values, 2e-6);
  }
}

TEST(AvgPoolBackward, HandCheckedValues) {
  EvaluatedOp op(tim_graph_op_avg_pool_backward);
  op.Input({{1, 1, 2}, {4, 8}}).Output(tim_graph_f32, {1, 1, 3});
  op.Set(tim_graph_op_attr_exclude_pad, true);
  SetAttributes({.kernel = {2}, .strides = {1}, .begins = {0}, .ends = {0}},
                &op);
  EXPECT_EQ(op.First().values, (Numbers{2, 6, 4}));
}

TEST(PoolBackward, RefusesWhatDoesNotFit) {
  const Case c = {
      .kernel = {2, 2}, .strides = {2, 2}, .begins = {0, 0}, .ends = {0, 0}};
  EvaluatedOp avg(tim_graph_op_avg_pool_backward);
  avg.Input(Random({1, 1, 2, 2}, 1)).Output();
  avg.Set(tim_graph_op_attr_exclude_pad, true);
  SetAttributes(c, &avg);
  EXPECT_EQ(avg.Run().status().code(), StatusCode::kUnimplemented);
  avg.Set(tim_graph_op_attr_src_shape, Dims{1, 1, 7, 4});
  ExpectRefused(avg.Run().status(), "is not what windows");
  EvaluatedOp max(tim_graph_op_max_pool_backward);
  max.Input(Random({1, 1, 5, 5}, 1)).Input(Random({1, 1, 2, 2}, 1)).Output();
  SetAttributes(c, &max);
  EXPECT_TRUE(max.Run().ok());
  max.Set(tim_graph_op_attr_dilations, Dims{4, 4});
  ExpectRefused(max.Run().status(), "is not what windows");
  max.Set(tim_graph_op_attr_dilations, Dims{1});
  ExpectRefused(max.Check(), "dilations");
}

// ---- InterpolateBackward ----

EvaluatedOp Resized(tim_graph_op_kind_t kind, const std::string& mode,
                    bool align, const Dims& sizes) {
  EvaluatedOp op(kind);
  op.Set(tim_graph_op_attr_mode, mode)
      .Set(tim_graph_op_attr_sizes, sizes)
      .Set(tim_graph_op_attr_coordinate_transformation_mode,
           std::string(align ? "align_corners" : "half_pixel"));
  return op;
}

// Both formats: channels are last, and where there is one they are also first.
TEST(InterpolateBackward, EqualsDifferencesOfInterpolate) {
  const std::vector<std::string> modes = {"linear", "bilinear", "trilinear"};
  const std::vector<std::pair<Dims, Dims>> cases = {
      {{1, 5, 2}, {8}},
      {{1, 7, 1}, {3}},
      {{2, 3, 4, 1}, {5, 4}},
      {{1, 3, 3, 2}, {1, 2}},
      {{1, 2, 3, 2, 1}, {3, 2, 5}},
      {{1, 2, 2, 1, 1}, {4, 1, 3}},
  };
  for (const auto& [dims, sizes] : cases) {
    for (const int variant : {0, 1, 2, 3}) {
      const bool align = variant % 2 != 0;
      const std::string mode =
          variant < 2 ? "nearest" : modes[sizes.size() - 1];
      SCOPED_TRACE(mode + (align ? " align" : ""));
      const Array src = Random(dims, 1);
      Dims made_dims = dims;
      std::copy(sizes.begin(), sizes.end(), made_dims.begin() + 1);
      const Array dd = Random(made_dims, 2);
      const Numbers expected = NumericGradient(
          [&](const Numbers& x) {
            EvaluatedOp op =
                Resized(tim_graph_op_interpolate, mode, align, sizes);
            op.Input({dims, x}).Output();
            return Dot(op.First().values, dd.values);
          },
          src.values, 1);
      EvaluatedOp op =
          Resized(tim_graph_op_interpolate_backward, mode, align, sizes);
      op.Input(src).Input(dd).Output();
      ExpectNear(op.First().values, expected, 1e-5);
      if (dims.back() != 1) continue;
      Array first = src;
      Array first_dd = dd;
      std::rotate(first.dims.begin() + 1, first.dims.end() - 1,
                  first.dims.end());
      std::rotate(first_dd.dims.begin() + 1, first_dd.dims.end() - 1,
                  first_dd.dims.end());
      EvaluatedOp ncx =
          Resized(tim_graph_op_interpolate_backward, mode, align, sizes);
      ncx.Input(first).Input(first_dd).Output();
      ncx.Set(tim_graph_op_attr_data_format, std::string("NCX"));
      ExpectNear(ncx.First().values, expected, 1e-5);
    }
  }
}

TEST(InterpolateBackward, RefusesWhatDoesNotFit) {
  EvaluatedOp op =
      Resized(tim_graph_op_interpolate_backward, "nearest", false, {4, 4});
  op.Input(Random({1, 2, 2, 1}, 1)).Input(Random({1, 4, 3, 1}, 1)).Output();
  ExpectRefused(op.Run().status(), "those of what Interpolate makes");
  op.Set(tim_graph_op_attr_mode, std::string("cubic"));
  ExpectRefused(op.Check(), "cubic");
  op.Set(tim_graph_op_attr_mode, std::string("nearest"));
  op.Input({{2}, {4, 4}, tim_graph_s32});
  EXPECT_EQ(op.Supports().code(), StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace tim::graph
