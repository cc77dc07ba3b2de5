// Boxes of samples/detection: on the letter-boxed square and back, and how good
// they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "samples/detection/average_precision.h"
#include "samples/detection/letter_box.h"
#include "samples/detection/picture.h"
#include "samples/detection/shapes.h"

namespace detection {
namespace {

void ExpectNear(const Box& a, const Box& b, float tolerance) {
  EXPECT_NEAR(a.xmin, b.xmin, tolerance);
  EXPECT_NEAR(a.ymin, b.ymin, tolerance);
  EXPECT_NEAR(a.xmax, b.xmax, tolerance);
  EXPECT_NEAR(a.ymax, b.ymax, tolerance);
}

TEST(LetterBox, WidePictureHasBarsAboveAndBelow) {
  const LetterBox wide = MakeLetterBox(200, 100, 96);
  EXPECT_EQ(wide.width, 96);
  EXPECT_EQ(wide.height, 48);
  EXPECT_EQ(wide.left, 0);
  EXPECT_EQ(wide.top, 24);
  // x * 0.48, y * 0.48 + 24.
  ExpectNear(ToSquare(wide, {50, 25, 100, 75}), {24, 36, 48, 60}, 1e-4f);
}

TEST(LetterBox, TallPictureHasBarsLeftAndRight) {
  const LetterBox tall = MakeLetterBox(24, 48, 96);
  EXPECT_EQ(tall.width, 48);
  EXPECT_EQ(tall.height, 96);
  EXPECT_EQ(tall.left, 24);
  EXPECT_EQ(tall.top, 0);
  ExpectNear(ToSquare(tall, {6, 12, 12, 24}), {36, 24, 48, 48}, 1e-4f);
}

TEST(LetterBox, ThinPictureKeepsAPixel) {
  const LetterBox thin = MakeLetterBox(10000, 10, 96);
  EXPECT_EQ(thin.height, 1);
  EXPECT_EQ(Apply(thin, Image(10000, 10, {{7, 8, 9}})).Pixel(50, thin.top)[2],
            9);
}

TEST(LetterBox, BoxesComeBack) {
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    const Image picture(rng.Int(8, 900), rng.Int(8, 900), {{0, 0, 0}});
    const LetterBox letter_box =
        MakeLetterBox(picture.width, picture.height, 96);
    const auto w = static_cast<float>(picture.width);
    const auto h = static_cast<float>(picture.height);
    const Box box = {rng.Uniform(0, w / 2), rng.Uniform(0, h / 2),
                     rng.Uniform(w / 2, w), rng.Uniform(h / 2, h)};
    const Box square = ToSquare(letter_box, box);
    EXPECT_GE(std::min(square.xmin, square.ymin), 0);
    EXPECT_LE(std::max(square.xmax, square.ymax), 96.001f);
    ExpectNear(ToPicture(letter_box, square, picture), box, 1e-3f * (w + h));
  }
}

TEST(LetterBox, BoxesAreClippedToThePicture) {
  const Image picture(200, 100, {{0, 0, 0}});
  const LetterBox letter_box = MakeLetterBox(200, 100, 96);
  ExpectNear(ToPicture(letter_box, {-10, 10, 48, 90}, picture),
             {0, 0, 100, 100}, 1e-3f);
  const Box in_bar = ToPicture(letter_box, {10, 2, 40, 20}, picture);
  EXPECT_EQ(in_bar.ymin, in_bar.ymax);
}

// White where `box` is.
Image WithBox(int width, int height, const Box& box) {
  Image image(width, height, {{0, 0, 0}});
  for (int y = static_cast<int>(box.ymin); y < box.ymax; ++y) {
    for (int x = static_cast<int>(box.xmin); x < box.xmax; ++x) {
      std::fill_n(image.Pixel(x, y), 3, std::uint8_t{255});
    }
  }
  return image;
}

struct Centroid {
  double x = 0;
  double y = 0;
  double mass = 0;
};

Centroid CentroidOf(const Image& image, int left, int top, int right,
                    int bottom) {
  Centroid c;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const double value = image.Pixel(x, y)[0] / 255.0;
      c.x += value * (x + 0.5);
      c.y += value * (y + 0.5);
      c.mass += value;
    }
  }
  c.x /= c.mass;
  c.y /= c.mass;
  return c;
}

// To enlarge and to shrink keeps places to a fraction of a pixel, and areas.
TEST(LetterBox, PixelsLieWhereBoxesSay) {
  for (const int factor : {1, 2, 3, 10}) {
    for (const int divisor : {1, 2}) {
      const int width = 72 * factor / divisor, height = 40 * factor / divisor;
      const auto unit =
          static_cast<float>(factor) / static_cast<float>(divisor);
      const Box box = {std::round(20 * unit), std::round(10 * unit),
                       std::round(44 * unit), std::round(22 * unit)};
      const LetterBox letter_box = MakeLetterBox(width, height, 96);
      const Image square = Apply(letter_box, WithBox(width, height, box));
      const int bottom = letter_box.top + letter_box.height;
      const Centroid c = CentroidOf(square, 0, letter_box.top, 96, bottom);
      const Box wanted = ToSquare(letter_box, box);
      EXPECT_NEAR(c.x, (wanted.xmin + wanted.xmax) / 2, 0.1) << unit;
      EXPECT_NEAR(c.y, (wanted.ymin + wanted.ymax) / 2, 0.1) << unit;
      const double area =
          (wanted.xmax - wanted.xmin) * (wanted.ymax - wanted.ymin);
      EXPECT_NEAR(c.mass / area, 1, 0.02) << unit;
    }
  }
}

TEST(LetterBox, BarsAreGreyAndTheRestIsThePicture) {
  const LetterBox letter_box = MakeLetterBox(31, 17, 96);
  const Image square = Apply(letter_box, Image(31, 17, {{10, 20, 30}}));
  for (int y = 0; y < 96; ++y) {
    const bool bar =
        y < letter_box.top || y >= letter_box.top + letter_box.height;
    EXPECT_EQ(square.Pixel(5, y)[0], bar ? 114 : 10) << y;
    EXPECT_EQ(square.Pixel(95, y)[2], bar ? 114 : 30) << y;
  }
}

TEST(Iou, OfKnownBoxes) {
  EXPECT_FLOAT_EQ(Iou({0, 0, 2, 1}, {0, 0, 1, 1}), 0.5f);
  EXPECT_FLOAT_EQ(Iou({0, 0, 2, 2}, {1, 1, 3, 3}), 1.0f / 7);
  EXPECT_EQ(Iou({0, 0, 1, 1}, {1, 0, 2, 1}), 0);
  EXPECT_EQ(Iou({0, 0, 0, 0}, {0, 0, 0, 0}), 0);
}

using Objects = std::vector<std::vector<Object>>;
using Detections = std::vector<std::vector<Detection>>;

const Box kHere = {0, 0, 10, 10};
const Box kThere = {20, 20, 30, 30};
const Box kNowhere = {50, 50, 60, 60};

TEST(MeanAveragePrecision, AllFoundAndNothingElseIsOne) {
  const Objects objects = {{{0, kHere}, {1, kThere}}, {{1, kHere}}};
  const Detections detections = {{{1, 0.9f, kThere}, {0, 0.2f, kHere}},
                                 {{1, 0.5f, kHere}}};
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, detections, 2), 1);
}

// By descending score: wrong, right, right of three objects. The best
// precisions at the recalls 1/3 and 2/3 are 2/3 each.
TEST(MeanAveragePrecision, OfAKnownOrder) {
  const Objects objects = {{{0, kHere}}, {{0, kHere}, {0, kThere}}};
  const Detections detections = {{{0, 0.9f, kNowhere}, {0, 0.8f, kHere}},
                                 {{0, 0.7f, kThere}}};
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, detections, 1), 4.0 / 9);
}

TEST(MeanAveragePrecision, OneObjectIsFoundOnce) {
  const Objects objects = {{{0, kHere}, {0, kThere}}};
  const Detections detections = {
      {{0, 0.9f, kHere}, {0, 0.8f, kHere}, {0, 0.7f, kThere}}};
  // Precisions 1, 1/2, 2/3 at recalls 1/2, 1/2, 1.
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, detections, 1),
                   0.5 + 0.5 * 2 / 3);
}

TEST(MeanAveragePrecision, IouOfHalfIsEnoughAndLessIsNot) {
  const Objects objects = {{{0, {0, 0, 2, 1}}}};
  const Detections half = {{{0, 0.9f, {0, 0, 1, 1}}}};
  const Detections less = {{{0, 0.9f, {0, 0, 0.99f, 1}}}};
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, half, 1), 1);
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, less, 1), 0);
}

TEST(MeanAveragePrecision, ClassesAreAveragedWhereTheyOccur) {
  const Objects objects = {{{0, kHere}, {2, kThere}}};
  const Detections detections = {{{0, 0.9f, kHere}, {1, 0.8f, kThere}}};
  EXPECT_DOUBLE_EQ(MeanAveragePrecision(objects, detections, 4), 0.5);
  EXPECT_DOUBLE_EQ(MeanAveragePrecision({{}}, {{}}, 4), 0);
}

TEST(Shapes, DistanceIsNegativeInside) {
  const Polygon square = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  EXPECT_FLOAT_EQ(SignedDistance(square, {2, 1}), -1);
  EXPECT_FLOAT_EQ(SignedDistance(square, {2, 6}), 2);
  EXPECT_FLOAT_EQ(SignedDistance(square, {7, 8}), 5);
}

TEST(DrawPicture, IsTheSameForTheSameNumbers) {
  const Picture picture = DrawPicture(5, 3);
  EXPECT_EQ(picture.image.rgb, DrawPicture(5, 3).image.rgb);
  EXPECT_NE(picture.image.rgb, DrawPicture(5, 4).image.rgb);
  EXPECT_NE(picture.image.rgb, DrawPicture(4, 3).image.rgb);
}

TEST(DrawPicture, HoldsShapesOfAllClassesWholly) {
  std::vector<int> counts(ShapeNames().size());
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Picture picture = DrawPicture(11, i);
    EXPECT_GE(std::min(picture.image.width, picture.image.height), 96);
    EXPECT_LE(std::max(picture.image.width, picture.image.height), 224);
    EXPECT_LE(picture.objects.size(), 5u);
    for (const Object& object : picture.objects) {
      ++counts[static_cast<std::size_t>(object.class_id)];
      EXPECT_GE(std::min(object.box.xmin, object.box.ymin), 0);
      EXPECT_LE(object.box.xmax, static_cast<float>(picture.image.width));
      EXPECT_LE(object.box.ymax, static_cast<float>(picture.image.height));
    }
  }
  for (const int count : counts) EXPECT_GT(count, 15);
}

}  // namespace
}  // namespace detection
