// Resize and Upsample of ONNX against formulas, one axis at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

NodeRunner Resizer(int opset = 19) {
  return NodeRunner(AddImages, "Resize", opset);
}

/// A Resize of `values` to `sizes`, from opset 11 on.
NodeRunner& BySizes(NodeRunner& runner, const std::vector<float>& values,
                    const Dims& dims, const std::vector<int64_t>& sizes) {
  return runner.Input(values, dims)
      .Absent()
      .Absent()
      .Constant(sizes, {int64_t(sizes.size())});
}

/// As BySizes(), by scales.
NodeRunner& ByScales(NodeRunner& runner, const std::vector<float>& values,
                     const Dims& dims, const std::vector<float>& scales) {
  return runner.Input(values, dims)
      .Absent()
      .Constant(scales, {int64_t(scales.size())});
}

/// One axis by its formula, in double.
struct Reference {
  std::string mode = "linear", coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  bool exclude = false, antialias = false;
  double scale = 1;
  int64_t out = 1;

  double Point(double o, double in) const {
    const auto m = static_cast<double>(out);
    if (coordinates == "asymmetric") return o / scale;
    if (coordinates == "align_corners") {
      return out == 1 ? 0 : o * (in - 1) / (m - 1);
    }
    double x = (o + 0.5) / scale - 0.5;
    if (coordinates == "half_pixel_symmetric") {
      x += in / 2 * (1 - m / (scale * in));
    }
    if (coordinates == "pytorch_half_pixel" && out == 1) x = 0;
    return x;
  }

  double Weight(double distance) const {
    const double shrink = antialias ? std::min(scale, 1.0) : 1.0;
    const double d = std::abs(distance) * shrink;
    if (mode == "linear") return std::max(0.0, 1 - d);
    if (d >= 2) return 0;
    const double a = -0.75;
    return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                  : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  }

  double Rounded(double x) const {
    if (nearest == "floor") return std::floor(x);
    if (nearest == "ceil") return std::ceil(x);
    const bool half = x - std::floor(x) == 0.5;
    if (half) return nearest == "round_prefer_ceil" ? x + 0.5 : x - 0.5;
    return std::round(x);
  }

  std::vector<float> operator()(const std::vector<float>& in) const {
    const auto count = static_cast<int64_t>(in.size());
    const auto at = [&](int64_t i) {
      return in[std::clamp<int64_t>(i, 0, count - 1)];
    };
    std::vector<float> made;
    for (int64_t o = 0; o < out; ++o) {
      const double x = Point(static_cast<double>(o), count);
      if (mode == "nearest") {
        made.push_back(at(static_cast<int64_t>(Rounded(x))));
        continue;
      }
      double sum = 0, weights = 0;
      for (int64_t i = -3 * count; i < 4 * count; ++i) {
        if (exclude && (i < 0 || i >= count)) continue;
        sum += Weight(x - i) * at(i);
        weights += Weight(x - i);
      }
      made.push_back(static_cast<float>(sum / weights));
    }
    return made;
  }
};

const std::vector<float> kSignal = {3, -1, 4, 1, -5, 9, 2};

void Compare(const Reference& reference) {
  const auto in = static_cast<int64_t>(kSignal.size());
  Reference by_size = reference;
  by_size.scale = static_cast<double>(reference.out) / in;
  const std::vector<float> expected = by_size(kSignal);
  // The axis is the innermost one, one in the middle, and the only one.
  for (const Dims& dims : {Dims{1, 1, 1, in}, Dims{1, in, 1}, Dims{in}}) {
    std::vector<int64_t> sizes = dims;
    for (int64_t& extent : sizes) {
      if (extent == in) extent = reference.out;
    }
    NodeRunner runner = Resizer();
    runner.With("mode", reference.mode)
        .With("coordinate_transformation_mode", reference.coordinates)
        .With("nearest_mode", reference.nearest)
        .With("exclude_outside", int64_t{reference.exclude})
        .With("antialias", int64_t{reference.antialias});
    EXPECT_THAT(FloatsOf(BySizes(runner, kSignal, dims, sizes)),
                Pointwise(FloatNear(1e-4f), expected))
        << reference.mode << " " << reference.coordinates << " "
        << reference.nearest << " to " << reference.out << " of rank "
        << dims.size();
  }
}

TEST(OnnxResize, EveryModeHasTheValuesOfItsFormula) {
  for (const char* coordinates :
       {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
        "half_pixel_symmetric"}) {
    for (const int64_t out : {1, 3, 14, 19}) {
      Reference reference;
      reference.coordinates = coordinates;
      reference.out = out;
      Compare(reference);
      reference.exclude = true;
      Compare(reference);
      reference.mode = "cubic";
      Compare(reference);
      reference.exclude = false;
      Compare(reference);
      reference.antialias = true;
      Compare(reference);
      reference.mode = "linear";
      Compare(reference);
    }
  }
}

TEST(OnnxResize, NearestModesRoundAsTheySay) {
  for (const char* coordinates : {"half_pixel", "asymmetric"}) {
    for (const char* nearest :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (const int64_t out : {1, 14, 28}) {
        Reference reference;
        reference.mode = "nearest";
        reference.coordinates = coordinates;
        reference.nearest = nearest;
        reference.out = out;
        Compare(reference);
      }
    }
  }
}

TEST(OnnxResize, PlanesAndVolumes) {
  NodeRunner plane = Resizer();
  EXPECT_THAT(
      FloatsOf(ByScales(plane, {1, 2, 3, 4}, {1, 1, 2, 2}, {1, 1, 2, 1.5f})),
      ElementsAre(1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4));
  NodeRunner linear = Resizer();
  linear.With("mode", std::string("linear"));
  EXPECT_THAT(FloatsOf(ByScales(linear, {0, 4}, {1, 1, 1, 2}, {1, 1, 1, 2})),
              ElementsAre(0, 1, 3, 4));
  NodeRunner volume = Resizer();
  volume.With("mode", std::string("linear"))
      .With("coordinate_transformation_mode", std::string("align_corners"));
  EXPECT_THAT(
      FloatsOf(BySizes(volume, {0, 2, 4, 6}, {1, 1, 2, 1, 2}, {1, 1, 3, 1, 3})),
      ElementsAre(0, 1, 2, 2, 3, 4, 4, 5, 6));
}

TEST(OnnxResize, AntialiasingBlendsWhatShrinks) {
  NodeRunner runner = Resizer();
  runner.With("mode", std::string("linear")).With("antialias", int64_t{1});
  EXPECT_THAT(FloatsOf(ByScales(runner, {1, 2, 3, 4}, {1, 4}, {1, 0.5f})),
              ElementsAre(1.625f, 3.375f));
}

TEST(OnnxResize, RegionsAreCroppedAndExtrapolated) {
  for (const char* mode : {"linear", "nearest"}) {
    NodeRunner runner = Resizer();
    runner.With("mode", std::string(mode))
        .With("coordinate_transformation_mode",
              std::string("tf_crop_and_resize"))
        .With("extrapolation_value", -7.0f)
        .Input<float>({1, 2, 3, 4, 5}, {1, 5})
        .Constant<float>({0, 0.5f, 1, 1.25f}, {4})
        .Absent()
        .Constant<int64_t>({1, 4}, {2});
    // Points 2, 3, 4 and 5, of which the last lies outside.
    EXPECT_THAT(FloatsOf(runner), ElementsAre(3, 4, 5, -7)) << mode;
  }
  NodeRunner scales = Resizer();
  scales
      .With("coordinate_transformation_mode", std::string("tf_crop_and_resize"))
      .Input<float>({1, 2, 3, 4, 5}, {1, 5})
      .Constant<float>({0, 0.25f, 1, 0.75f}, {4})
      .Constant<float>({1, 1.2f}, {2});
  EXPECT_THAT(FloatsOf(scales), ElementsAre(2, 3, 4));
}

TEST(OnnxResize, AspectRatiosAreKept) {
  const auto dims = [](const std::string& policy) {
    NodeRunner runner = Resizer();
    runner.With("keep_aspect_ratio_policy", policy)
        .With("axes", std::vector<int64_t>{-1, 0})
        .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4})
        .Absent()
        .Absent()
        .Constant<int64_t>({8, 7}, {2});
    EXPECT_OK(runner.Run());
    return runner.node().outputs[0].dims;
  };
  EXPECT_EQ(dims("stretch"), (Dims{7, 8}));
  EXPECT_EQ(dims("not_larger"), (Dims{4, 8}));
  EXPECT_EQ(dims("not_smaller"), (Dims{7, 14}));
}

TEST(OnnxResize, OpsetsBefore11SampleFromTheCorner) {
  NodeRunner old = Resizer(10);
  EXPECT_THAT(FloatsOf(old.Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4})
                           .Constant<float>({1, 1, 0.6f, 0.6f}, {4})),
              ElementsAre(1, 3));
  NodeRunner upsample(AddImages, "Upsample", 9);
  EXPECT_THAT(FloatsOf(upsample.With("mode", std::string("linear"))
                           .Input<float>({0, 2}, {1, 1, 1, 2})
                           .Constant<float>({1, 1, 1, 2}, {4})),
              ElementsAre(0, 1, 2, 2));
  NodeRunner attribute(AddImages, "Upsample", 7);
  EXPECT_THAT(FloatsOf(attribute.With("scales", std::vector<float>{1, 1, 2, 2})
                           .Input<float>({1, 2}, {1, 1, 1, 2})),
              ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
  NodeRunner late(AddImages, "Upsample", 10);
  EXPECT_ERROR(late.Input<float>({1}, {1}).Run(), "no Upsample since");
}

TEST(OnnxResize, ElementsOfOtherTypesAreMovedButNotBlended) {
  NodeRunner nearest = Resizer();
  EXPECT_THAT(IntsOf(nearest.Input<int64_t>({16777217, 2}, {1, 2})
                         .Absent()
                         .Constant<float>({1, 2}, {2})),
              ElementsAre(16777217, 16777217, 2, 2));
  NodeRunner linear = Resizer();
  EXPECT_ERROR(linear.With("mode", std::string("linear"))
                   .Input<uint8_t>({1, 2}, {1, 2})
                   .Absent()
                   .Constant<float>({1, 2}, {2})
                   .Run(),
               "operand 0 is uint8");
  // Real values 0 and 4, of a scale of 0.5 and the zero point 10.
  NodeRunner codes = Resizer();
  EXPECT_THAT(
      IntsOf(codes.With("mode", std::string("cubic"))
                 .With("coordinate_transformation_mode",
                       std::string("align_corners"))
                 .Input(ArrayOf<uint8_t>({10, 18}, {1, 2}),
                        vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 10))
                 .Absent()
                 .Absent()
                 .Constant<int64_t>({1, 3}, {2})),
      ElementsAre(10, 14, 18));
}

TEST(OnnxResize, RefusesWhatIsWrong) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto scaled = [](float scale) {
    NodeRunner runner = Resizer();
    return ByScales(runner, {1, 2}, {1, 2}, {1, scale}).Run();
  };
  EXPECT_ERROR(scaled(0), "the scale of axis 1 is 0");
  EXPECT_ERROR(scaled(infinity), "the scale of axis 1");
  EXPECT_ERROR(scaled(0.3f), "makes 0 elements");
  EXPECT_ERROR(scaled(1e30f), "elements of 2");
  EXPECT_ERROR(scaled(1e9f), "elements along axis 1");
  const auto with = [](const char* attribute, const char* value) {
    NodeRunner runner = Resizer();
    runner.With(attribute, std::string(value));
    return ByScales(runner, {1, 2}, {1, 2}, {1, 2}).Run();
  };
  EXPECT_ERROR(with("mode", "area"), "'mode' is 'area'");
  EXPECT_ERROR(with("nearest_mode", "any"), "'nearest_mode' is 'any'");
  EXPECT_ERROR(with("coordinate_transformation_mode", "any"), "is 'any'");
  EXPECT_ERROR(with("coordinate_transformation_mode", "tf_crop_and_resize"),
               "corners of a region");
  NodeRunner corners = Resizer();
  corners.With("coordinate_transformation_mode", std::string("align_corners"));
  EXPECT_ERROR(ByScales(corners, {1, 2, 3, 4}, {1, 4}, {1, 0.6f}).Run(),
               "makes no whole number");
  NodeRunner both = Resizer();
  EXPECT_ERROR(both.Input<float>({1}, {1}).Run(), "one of scales and sizes");
  NodeRunner open = Resizer();
  EXPECT_ERROR(
      open.Input<float>({1}, {1}).Absent().Input<float>({1}, {1}).Run(),
      "must be known");
}

}  // namespace
}  // namespace tim::models::onnx
