// Regions and grids of ONNX against formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

NodeRunner Images(const std::string& op, int opset = 20) {
  return NodeRunner(AddImages, op, opset);
}

/// Channel c of image n at (y, x) of images of 4 rows of 5.
constexpr int kHeight = 4, kWidth = 5;
float Pixel(int n, int c, int y, int x) {
  return static_cast<float>(((n * 2 + c) * 7 + y * 3 + x * 5) % 11) - 4;
}
std::vector<float> Pixels(int batch) {
  std::vector<float> values;
  for (int plane = 0; plane < batch * 2; ++plane) {
    for (int i = 0; i < kHeight * kWidth; ++i) {
      values.push_back(Pixel(plane / 2, plane % 2, i / kWidth, i % kWidth));
    }
  }
  return values;
}

// ---- Regions ----------------------------------------------------------------

/// Sample (y, x) of a plane; 0 beyond one element outside of it.
double Sample(int n, int c, double y, double x) {
  if (y < -1 || y > kHeight || x < -1 || x > kWidth) return 0;
  y = std::clamp<double>(y, 0, kHeight - 1);
  x = std::clamp<double>(x, 0, kWidth - 1);
  const int top = static_cast<int>(y), left = static_cast<int>(x);
  const int bottom = std::min(top + 1, kHeight - 1);
  const int right = std::min(left + 1, kWidth - 1);
  const double v = y - top, u = x - left;
  return (1 - v) *
             ((1 - u) * Pixel(n, c, top, left) + u * Pixel(n, c, top, right)) +
         v * ((1 - u) * Pixel(n, c, bottom, left) +
              u * Pixel(n, c, bottom, right));
}

/// Two channels of 2 rows of 3 bins of a region (x1, y1, x2, y2).
void AppendBins(const float* corners, int n, bool half_pixel, int samples,
                std::vector<float>* bins) {
  const double off = half_pixel ? 0.5 : 0;
  const double x1 = corners[0] * 0.5 - off, y1 = corners[1] * 0.5 - off;
  double width = corners[2] * 0.5 - off - x1;
  double height = corners[3] * 0.5 - off - y1;
  if (!half_pixel) width = std::max(width, 1.0);
  if (!half_pixel) height = std::max(height, 1.0);
  const int nx = samples > 0 ? samples : static_cast<int>(std::ceil(width / 3));
  const int ny =
      samples > 0 ? samples : static_cast<int>(std::ceil(height / 2));
  for (int c = 0; c < 2; ++c) {
    for (int bin = 0; bin < 6; ++bin) {
      double sum = 0;
      for (int i = 0; i < nx * ny; ++i) {
        const double y = y1 + height / 2 * (bin / 3 + (i / nx + 0.5) / ny);
        const double x = x1 + width / 3 * (bin % 3 + (i % nx + 0.5) / nx);
        sum += Sample(n, c, y, x);
      }
      bins->push_back(static_cast<float>(sum / std::max(nx * ny, 1)));
    }
  }
}

TEST(OnnxImages, RoiAlignIsTheMeanOfSamplesInsideAndOutside) {
  // Inside, over the borders, without extent, far outside, as large as allowed.
  const std::vector<float> corners = {1, 1, 7,  6, -3, -2, 6, 9, 4,  4,
                                      4, 4, 30, 1, 40, 5,  0, 0, 10, 8};
  const std::vector<int64_t> batches = {1, 0, 0, 1, 1};
  for (const int samples : {2, 3, 0}) {
    for (const int batch : {1, 2}) {
      for (const bool half_pixel : {true, false}) {
        std::vector<float> expected;
        std::vector<int64_t> used;
        for (size_t i = 0; i < batches.size(); ++i) {
          used.push_back(batch == 1 ? 0 : batches[i]);
          AppendBins(&corners[4 * i], static_cast<int>(used[i]), half_pixel,
                     samples, &expected);
        }
        NodeRunner runner = Images("RoiAlign");
        runner.With("output_height", int64_t{2})
            .With("output_width", int64_t{3})
            .With("sampling_ratio", int64_t{samples})
            .With("spatial_scale", 0.5f)
            .With("coordinate_transformation_mode",
                  std::string(half_pixel ? "half_pixel" : "output_half_pixel"))
            .Input(Pixels(batch), {batch, 2, kHeight, kWidth})
            .Input(corners, {5, 4})
            .Input(used, {5});
        EXPECT_THAT(FloatsOf(runner), Pointwise(FloatNear(1e-4f), expected))
            << samples << " samples, " << batch << " images, " << half_pixel;
        EXPECT_EQ(runner.node().outputs[0].dims, (Dims{5, 2, 2, 3}));
        EXPECT_EQ(runner.warnings().size(), samples == 0 ? 1u : 0u);
      }
    }
  }
}

TEST(OnnxImages, RoiAlignOfOpset10HasNoHalfPixel) {
  NodeRunner runner = Images("RoiAlign", 10);
  EXPECT_THAT(FloatsOf(runner.With("sampling_ratio", int64_t{1})
                           .Input<float>({0, 2, 4, 6}, {1, 1, 2, 2})
                           .Input<float>({0, 0, 1, 1}, {1, 4})
                           .Input<int64_t>({0}, {1})),
              ElementsAre(3));
}

TEST(OnnxImages, RoiAlignRefusesWhatIsNotTaken) {
  const auto run = [](const char* attribute, Attribute value, int64_t rois) {
    NodeRunner runner = Images("RoiAlign");
    return runner.With(attribute, std::move(value))
        .Input<float>({1}, {1, 1, 1, 1})
        .Input(std::vector<float>(4 * rois), {rois, 4})
        .Input<int64_t>({0}, {1})
        .Run();
  };
  EXPECT_ERROR(run("mode", std::string("max"), 1), "'mode' is 'max'");
  EXPECT_ERROR(run("output_width", int64_t{0}, 1), "'output_width'");
  EXPECT_ERROR(run("mode", std::string("avg"), 2), "expected [R,4] and [R]");
  EXPECT_ERROR(run("coordinate_transformation_mode", std::string("pixel"), 1),
               "'pixel'");
}

TEST(OnnxImages, MaxRoiPoolTakesTheGreatest) {
  NodeRunner runner = Images("MaxRoiPool");
  EXPECT_THAT(FloatsOf(runner.With("pooled_shape", std::vector<int64_t>{1, 2})
                           .With("spatial_scale", 0.5f)
                           .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4})
                           .Input<float>({0, 0, 0, 6, 0}, {1, 5})),
              ElementsAre(2, 4));
  NodeRunner refused = Images("MaxRoiPool");
  EXPECT_ERROR(refused.Input<float>({1}, {1, 1, 1, 1})
                   .Input<float>({0, 0, 0, 0, 0}, {1, 5})
                   .Run(),
               "'pooled_shape'");
}

// ---- Grids ------------------------------------------------------------------

/// One axis of a grid's point.
struct GridAxis {
  std::string mode, outside;
  bool align;
  double extent;

  double Mirrored(double x) const {
    const double least = align ? 0 : -0.5, most = extent - (align ? 1 : 0.5);
    while (x < least || x > most) x = x < least ? 2 * least - x : 2 * most - x;
    return x;
  }
  double Point(double g) const {
    double x = align ? (g + 1) / 2 * (extent - 1) : ((g + 1) * extent - 1) / 2;
    if (mode == "nearest") x = std::nearbyint(x);
    if (outside == "reflection") return Mirrored(x);
    const double margin = align ? 0 : 0.5;
    const bool beyond = x < -margin || x > extent - 1 + margin;
    if (outside == "border" && beyond) return std::clamp(x, 0.0, extent - 1);
    return x;
  }
  /// Index of element i, -1 where it is 0.
  int Index(double i) const {
    if (outside == "reflection") return static_cast<int>(Mirrored(i));
    if (outside == "border") {
      return static_cast<int>(std::clamp(i, 0.0, extent - 1));
    }
    return i < 0 || i >= extent ? -1 : static_cast<int>(i);
  }
  double Weight(double distance) const {
    const double d = std::abs(distance), a = -0.75;
    if (mode == "nearest") return d == 0;
    if (mode == "linear") return std::max(0.0, 1 - d);
    if (d >= 2) return 0;
    return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                  : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  }
};

float Gridded(const GridAxis& rows, const GridAxis& columns, int n, int c,
              double gx, double gy) {
  const double x = columns.Point(gx), y = rows.Point(gy);
  double sum = 0;
  for (int i = -40; i < 40; ++i) {
    for (int j = -40; j < 40; ++j) {
      const double weight = rows.Weight(y - i) * columns.Weight(x - j);
      if (weight == 0) continue;
      const int row = rows.Index(i), column = columns.Index(j);
      if (row >= 0 && column >= 0) sum += weight * Pixel(n, c, row, column);
    }
  }
  return static_cast<float>(sum);
}

TEST(OnnxImages, GridSampleReadsAroundItsPoints) {
  // Points (x, y) inside and outside, none near the half of two elements.
  const std::vector<float> grid = {-0.9f, -0.7f, 0.31f, 0.2f,  0.97f, -0.93f,
                                   -1.3f, 0.41f, 1.2f,  1.45f, -2.1f, 2.3f,
                                   0.07f, -1.1f, 0.53f, 1.07f, 3.2f,  -3.9f,
                                   -0.4f, 0.6f,  0.8f,  0.9f,  -0.3f, -0.45f};
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string outside : {"zeros", "border", "reflection"}) {
      for (const bool align : {false, true}) {
        const GridAxis rows = {mode, outside, align, kHeight};
        const GridAxis columns = {mode, outside, align, kWidth};
        std::vector<float> expected;
        for (int i = 0; i < 24; ++i) {
          const int point = i / 12 * 6 + i % 6;
          expected.push_back(Gridded(rows, columns, i / 12, i / 6 % 2,
                                     grid[2 * point], grid[2 * point + 1]));
        }
        NodeRunner runner = Images("GridSample");
        runner.With("mode", mode)
            .With("padding_mode", outside)
            .With("align_corners", int64_t{align})
            .Input(Pixels(2), {2, 2, kHeight, kWidth})
            .Input(grid, {2, 3, 2, 2});
        EXPECT_THAT(FloatsOf(runner), Pointwise(FloatNear(1e-3f), expected))
            << mode << ", " << outside << ", " << align;
        EXPECT_EQ(runner.node().outputs[0].dims, (Dims{2, 2, 3, 2}));
      }
    }
  }
}

TEST(OnnxImages, GridSampleOfVolumes) {
  NodeRunner runner = Images("GridSample");
  // (x, y, z): the middle of all, and the last corner.
  EXPECT_THAT(
      FloatsOf(runner.With("align_corners", int64_t{1})
                   .Input<float>({0, 1, 2, 3, 4, 5, 6, 7}, {1, 1, 2, 2, 2})
                   .Input<float>({0, 0, 0, 1, 1, 1}, {1, 2, 1, 1, 3})),
      ElementsAre(3.5f, 7));
  NodeRunner early = Images("GridSample", 16);
  EXPECT_ERROR(early.Input<float>({1}, {1, 1, 1, 1, 1})
                   .Input<float>({0, 0, 0}, {1, 1, 1, 1, 3})
                   .Run(),
               "volumes are taken from opset 20");
  NodeRunner names = Images("GridSample", 16);
  EXPECT_ERROR(names.With("mode", std::string("linear"))
                   .Input<float>({1}, {1, 1, 1, 1})
                   .Input<float>({0, 0}, {1, 1, 1, 2})
                   .Run(),
               "'mode' is 'linear'");
}

TEST(OnnxImages, AffineGridPlacesPointsFromMinusOneToOne) {
  NodeRunner plane = Images("AffineGrid");
  EXPECT_THAT(FloatsOf(plane.Input<float>({1, 0, 0, 0, 1, 0.5f}, {1, 2, 3})
                           .Constant<int64_t>({1, 1, 1, 2}, {4})),
              ElementsAre(-0.5f, 0.5f, 0.5f, 0.5f));
  NodeRunner corners = Images("AffineGrid");
  EXPECT_THAT(FloatsOf(corners.With("align_corners", int64_t{1})
                           .Input<float>({0, 2, 0, 1, 0, 0}, {1, 2, 3})
                           .Constant<int64_t>({1, 1, 2, 2}, {4})),
              ElementsAre(-2, -1, -2, 1, 2, -1, 2, 1));
  NodeRunner refused = Images("AffineGrid");
  EXPECT_ERROR(refused.Input<float>({1, 0, 0, 0, 1, 0}, {1, 2, 3})
                   .Constant<int64_t>({2, 1, 2, 2}, {4})
                   .Run(),
               "expected [N,2,3]");
}

TEST(OnnxImages, Col2ImAddsBlocksWhereTheyLie) {
  // Two blocks of 2 elements, a step of 1 apart: the middle one is in both.
  NodeRunner row = Images("Col2Im");
  EXPECT_THAT(FloatsOf(row.Input<float>({1, 2, 10, 20}, {1, 2, 2})
                           .Constant<int64_t>({1, 3}, {2})
                           .Constant<int64_t>({1, 2}, {2})),
              ElementsAre(1, 12, 20));
  // Blocks of elements 2 apart; the first and the last lie in the padding.
  NodeRunner padded = Images("Col2Im");
  EXPECT_THAT(FloatsOf(padded.With("dilations", std::vector<int64_t>{2})
                           .With("strides", std::vector<int64_t>{2})
                           .With("pads", std::vector<int64_t>{1, 1})
                           .Input<float>({1, 2, 3, 4}, {1, 2, 2})
                           .Constant<int64_t>({3}, {1})
                           .Constant<int64_t>({2}, {1})),
              ElementsAre(0, 5, 0));
  NodeRunner channels = Images("Col2Im");
  EXPECT_THAT(FloatsOf(channels.Input<float>({1, 2, 3, 4}, {1, 4, 1})
                           .Constant<int64_t>({1, 2}, {2})
                           .Constant<int64_t>({1, 2}, {2})),
              ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(channels.node().outputs[0].dims, (Dims{1, 2, 1, 2}));
  NodeRunner refused = Images("Col2Im");
  EXPECT_ERROR(refused.Input<float>({1, 2}, {1, 2, 1})
                   .Constant<int64_t>({1, 3}, {2})
                   .Constant<int64_t>({1, 2}, {2})
                   .Run(),
               "expected [N, a multiple of 2,2]");
}

// ---- Moved windows ----------------------------------------------------------

/// Channel c of image n at (y, x), between elements; 0 outside.
double Between(int n, int c, double y, double x) {
  const int top = static_cast<int>(std::floor(y));
  const int left = static_cast<int>(std::floor(x));
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int row = top + i / 2, column = left + i % 2;
    if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
    sum += (1 - std::abs(y - row)) * (1 - std::abs(x - column)) *
           Pixel(n, c, row, column);
  }
  return sum;
}

float Moved(int i) { return static_cast<float>(i * 7 % 13) / 5 - 1; }
float Masked(int i) { return static_cast<float>(i * 3 % 7) / 4; }

/// Windows of 2 by 2 cells, 2 columns apart, of images with a pad of 1 above
/// and at the left: [2, 2, 4, 3].  A channel has offsets of its own, and, in
/// `group` 2, weights.
std::vector<float> MovedWindows(int group, const std::vector<float>& weights,
                                bool is_masked) {
  std::vector<float> expected;
  for (int i = 0; i < 48; ++i) {
    const int n = i / 24, o = i / 12 % 2, y = i / 3 % 4, x = i % 3;
    double sum = o == 0 ? 0.5 : -2;
    for (int c = 0; c < 2; ++c) {
      if (group == 2 && c != o) continue;
      for (int k = 0; k < 4; ++k) {
        const int moves = ((n * 2 + c) * 4 + k) * 2;
        const int place = y * 3 + x;
        const double at_y = y - 1 + k / 2 + Moved(moves * 12 + place);
        const double at_x = 2 * x - 1 + k % 2 + Moved((moves + 1) * 12 + place);
        const int row = group == 2 ? o : o * 2 + c;
        const double factor = is_masked ? Masked(moves / 2 * 12 + place) : 1;
        sum += weights[row * 4 + k] * factor * Between(n, c, at_y, at_x);
      }
    }
    expected.push_back(static_cast<float>(sum));
  }
  return expected;
}

TEST(OnnxImages, WindowsAreMovedByOffsets) {
  std::vector<float> offsets, mask;
  for (int i = 0; i < 2 * 16 * 12; ++i) offsets.push_back(Moved(i));
  for (int i = 0; i < 2 * 8 * 12; ++i) mask.push_back(Masked(i));
  for (const int group : {1, 2}) {
    for (const bool is_masked : {false, true}) {
      SCOPED_TRACE(group * 2 + is_masked);
      const int64_t depth = 2 / group;
      std::vector<float> weights;
      for (int i = 0; i < 8 * depth; ++i) weights.push_back(Moved(i * 5));
      NodeRunner runner = Images("DeformConv");
      runner.With("group", int64_t{group})
          .With("offset_group", int64_t{2})
          .With("pads", std::vector<int64_t>{1, 1, 0, 0})
          .With("strides", std::vector<int64_t>{1, 2})
          .Input(Pixels(2), {2, 2, kHeight, kWidth})
          .Constant(weights, {2, depth, 2, 2})
          .Input(offsets, {2, 16, 4, 3})
          .Constant<float>({0.5f, -2}, {2});
      if (is_masked) runner.Input(mask, {2, 8, 4, 3});
      EXPECT_THAT(
          FloatsOf(runner),
          Pointwise(FloatNear(1e-4f), MovedWindows(group, weights, is_masked)));
    }
  }
  NodeRunner refused = Images("DeformConv");
  EXPECT_ERROR(refused.Input(Pixels(1), {1, 2, kHeight, kWidth})
                   .Constant<float>(std::vector<float>(8), {1, 2, 2, 2})
                   .Input<float>({0}, {1, 1, 1, 1})
                   .Run(),
               "operand 2 is float32 [1,1,1,1], expected [1,8,3,4]");
}

}  // namespace
}  // namespace tim::models::onnx
