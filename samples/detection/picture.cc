#include "picture.h"

#include <algorithm>
#include <cmath>

#include "shapes.h"

namespace detection {
namespace {

constexpr int kTriesToPlace = 40;
constexpr float kMaxOverlap = 0.05f;  // share of the smaller box
constexpr float kMinContrast = 90.0f;

struct Tone {
  float red = 0.0f;
  float green = 0.0f;
  float blue = 0.0f;
};

Tone RandomTone(Rng* rng) {
  return {rng->Uniform(0.0f, 255.0f), rng->Uniform(0.0f, 255.0f),
          rng->Uniform(0.0f, 255.0f)};
}

Tone Mixed(const Tone& a, const Tone& b, float share_of_b) {
  return {a.red + (b.red - a.red) * share_of_b,
          a.green + (b.green - a.green) * share_of_b,
          a.blue + (b.blue - a.blue) * share_of_b};
}

Tone Shaded(const Tone& tone, float by) {
  return {tone.red + by, tone.green + by, tone.blue + by};
}

std::uint8_t ToByte(float value) {
  return static_cast<std::uint8_t>(std::min(255.0f, std::max(0.0f, value)) +
                                   0.5f);
}

void Blend(const Tone& tone, float opacity, std::uint8_t* pixel) {
  const Tone below = {static_cast<float>(pixel[0]),
                      static_cast<float>(pixel[1]),
                      static_cast<float>(pixel[2])};
  const Tone mixed = Mixed(below, tone, opacity);
  pixel[0] = ToByte(mixed.red);
  pixel[1] = ToByte(mixed.green);
  pixel[2] = ToByte(mixed.blue);
}

// Calls paint(middle of the pixel, pixel) for the pixels of a box.
template <typename Paint>
void ForEachPixel(const Box& box, Image* image, const Paint& paint) {
  const int left = std::max(0, static_cast<int>(std::floor(box.xmin)));
  const int top = std::max(0, static_cast<int>(std::floor(box.ymin)));
  const int right =
      std::min(image->width, static_cast<int>(std::ceil(box.xmax)));
  const int bottom =
      std::min(image->height, static_cast<int>(std::ceil(box.ymax)));
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const Point middle = {static_cast<float>(x) + 0.5f,
                            static_cast<float>(y) + 0.5f};
      paint(middle, image->Pixel(x, y));
    }
  }
}

Box Whole(const Image& image) {
  return {0.0f, 0.0f, static_cast<float>(image.width),
          static_cast<float>(image.height)};
}

Box Grown(const Box& box, float by) {
  return {box.xmin - by, box.ymin - by, box.xmax + by, box.ymax + by};
}

// How much of a pixel lies inside, by the distance of its middle.
float Coverage(float distance) {
  return std::min(1.0f, std::max(0.0f, 0.5f - distance));
}

Point RandomPoint(const Image& image, Rng* rng) {
  return {rng->Uniform(0.0f, static_cast<float>(image.width)),
          rng->Uniform(0.0f, static_cast<float>(image.height))};
}

float LongSide(const Image& image) {
  return static_cast<float>(std::max(image.width, image.height));
}

// Random brightness at the corners of a grid, and smooth between them.
class Clouds {
 public:
  Clouds(const Image& image, float cell, float strength, Rng* rng)
      : cell_(cell), columns_(static_cast<int>(image.width / cell) + 2) {
    const int rows = static_cast<int>(image.height / cell) + 2;
    for (int i = 0; i < rows * columns_; ++i) {
      values_.push_back(rng->Uniform(-strength, strength));
    }
  }

  float At(const Point& point) const {
    const float x = point.x / cell_, y = point.y / cell_;
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float right = x - static_cast<float>(column);
    const float down = y - static_cast<float>(row);
    const float above = Between(column, row, right);
    return above + (Between(column, row + 1, right) - above) * down;
  }

 private:
  float Between(int column, int row, float right) const {
    const auto i = static_cast<std::size_t>(row * columns_ + column);
    return values_[i] + (values_[i + 1] - values_[i]) * right;
  }

  float cell_;
  int columns_;
  std::vector<float> values_;
};

// A different tone at every corner, and clouds of two sizes.
void PaintBackground(Image* image, Rng* rng) {
  const Tone base = RandomTone(rng);
  Tone corners[4];
  for (Tone& corner : corners) {
    const Tone other = RandomTone(rng);
    corner = Mixed(base, other, rng->Uniform(0.0f, 0.6f));
  }
  // In braces, so that the numbers are drawn in the order of the text.
  const Clouds coarse{*image, rng->Uniform(16.0f, 48.0f),
                      rng->Uniform(0.0f, 40.0f), rng};
  const Clouds fine{*image, rng->Uniform(3.0f, 9.0f), rng->Uniform(0.0f, 25.0f),
                    rng};
  const Box whole = Whole(*image);
  ForEachPixel(whole, image, [&](const Point& at, std::uint8_t* pixel) {
    const float x = at.x / whole.xmax, y = at.y / whole.ymax;
    const Tone tone = Mixed(Mixed(corners[0], corners[1], x),
                            Mixed(corners[2], corners[3], x), y);
    Blend(Shaded(tone, coarse.At(at) + fine.At(at)), 1.0f, pixel);
  });
}

void PaintLine(const Point& a, const Point& b, float width, const Tone& tone,
               float opacity, Image* image) {
  const Box box = Grown(Bounds({a, b}), width + 1.0f);
  ForEachPixel(box, image, [&](const Point& at, std::uint8_t* pixel) {
    const float covered = Coverage(DistanceToLine(at, a, b) - width / 2.0f);
    if (covered > 0.0f) Blend(tone, opacity * covered, pixel);
  });
}

void PaintRandomLines(int count, float max_width, Image* image, Rng* rng) {
  for (int i = 0; i < count; ++i) {
    const Point a = RandomPoint(*image, rng), b = RandomPoint(*image, rng);
    const float width = rng->Uniform(0.005f, max_width) * LongSide(*image);
    const float opacity = rng->Uniform(0.3f, 1.0f);
    PaintLine(a, b, width, RandomTone(rng), opacity, image);
  }
}

// Dots too small to be shapes.
void PaintDots(int count, Image* image, Rng* rng) {
  for (int i = 0; i < count; ++i) {
    const Point middle = RandomPoint(*image, rng);
    const float radius = rng->Uniform(0.006f, 0.022f) * LongSide(*image);
    PaintLine(middle, middle, 2.0f * radius, RandomTone(rng), 1.0f, image);
  }
}

// As large as shapes, but none of them.
void PaintCross(Image* image, Rng* rng) {
  const Point middle = RandomPoint(*image, rng);
  const float radius = rng->Uniform(0.05f, 0.2f) * LongSide(*image);
  const float angle = rng->Uniform(0.0f, 3.14f);
  const float x = radius * std::cos(angle), y = radius * std::sin(angle);
  const float width = radius * rng->Uniform(0.15f, 0.3f);
  const Tone tone = RandomTone(rng);
  PaintLine({middle.x - x, middle.y - y}, {middle.x + x, middle.y + y}, width,
            tone, 1.0f, image);
  PaintLine({middle.x + y, middle.y - x}, {middle.x - y, middle.y + x}, width,
            tone, 1.0f, image);
}

// A tone that stands out from what is there.
Tone ContrastingTone(const Image& image, const Point& at, Rng* rng) {
  const std::uint8_t* below =
      image.Pixel(static_cast<int>(at.x), static_cast<int>(at.y));
  for (;;) {
    const Tone tone = RandomTone(rng);
    const float red = tone.red - below[0], green = tone.green - below[1],
                blue = tone.blue - below[2];
    if (red * red + green * green + blue * blue > kMinContrast * kMinContrast) {
      return tone;
    }
  }
}

// Filled, brighter to one side, sometimes with a border.
void PaintShape(const Polygon& polygon, const Point& middle, Image* image,
                Rng* rng) {
  const Tone tone = ContrastingTone(*image, middle, rng);
  const Box box = Bounds(polygon);
  const float size = box.xmax - box.xmin;
  const float slope_x = rng->Uniform(-30.0f, 30.0f) / size;
  const float slope_y = rng->Uniform(-30.0f, 30.0f) / size;
  const float border = rng->Chance(0.3f) ? rng->Uniform(0.04f, 0.1f) : 0.0f;
  const Tone border_tone = Shaded(tone, rng->Uniform(-90.0f, 90.0f));
  ForEachPixel(
      Grown(box, 1.0f), image, [&](const Point& at, std::uint8_t* pixel) {
        const float distance = SignedDistance(polygon, at);
        const float covered = Coverage(distance);
        if (covered <= 0.0f) return;
        const float shade =
            (at.x - middle.x) * slope_x + (at.y - middle.y) * slope_y;
        const bool on_border = distance > -border * size;
        Blend(Shaded(on_border ? border_tone : tone, shade), covered, pixel);
      });
}

float Overlap(const Box& a, const Box& b) {
  const float width = std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin);
  const float height = std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin);
  const float smaller = std::min((a.xmax - a.xmin) * (a.ymax - a.ymin),
                                 (b.xmax - b.xmin) * (b.ymax - b.ymin));
  return std::max(0.0f, width) * std::max(0.0f, height) / smaller;
}

bool Fits(const Box& box, const Picture& picture) {
  const Box whole = Whole(picture.image);
  if (box.xmin < 0.0f || box.ymin < 0.0f || box.xmax > whole.xmax ||
      box.ymax > whole.ymax) {
    return false;
  }
  return std::all_of(picture.objects.begin(), picture.objects.end(),
                     [&box](const Object& object) {
                       return Overlap(box, object.box) <= kMaxOverlap;
                     });
}

// Where there is no room, no shape.
void AddShape(Picture* picture, Rng* rng) {
  const int classes = static_cast<int>(ShapeNames().size());
  for (int i = 0; i < kTriesToPlace; ++i) {
    const int class_id = rng->Int(0, classes - 1);
    const float share =
        std::exp(rng->Uniform(std::log(0.085f), std::log(0.28f)));
    const Point middle = RandomPoint(picture->image, rng);
    const Polygon polygon = MakeShape(static_cast<Shape>(class_id), middle,
                                      share * LongSide(picture->image), rng);
    if (!Fits(Bounds(polygon), *picture)) continue;
    PaintShape(polygon, middle, &picture->image, rng);
    picture->objects.push_back({class_id, Bounds(polygon)});
    return;
  }
}

void AddNoise(float strength, Image* image, Rng* rng) {
  for (std::uint8_t& value : image->rgb) {
    value =
        ToByte(static_cast<float>(value) + rng->Uniform(-strength, strength));
  }
}

}  // namespace

Picture DrawPicture(std::uint64_t seed, std::uint64_t number) {
  // Neighbouring seeds share no picture.
  Rng rng(Rng(seed).Bits() + Rng(~number).Bits());
  Picture picture;
  const int width = rng.Int(96, 224), height = rng.Int(96, 224);
  picture.image = Image(width, height, {{0, 0, 0}});
  Image* image = &picture.image;
  PaintBackground(image, &rng);
  PaintRandomLines(rng.Int(4, 20), 0.03f, image, &rng);
  PaintDots(rng.Int(0, 20), image, &rng);
  for (int i = rng.Int(0, 2); i > 0; --i) PaintCross(image, &rng);
  for (int i = rng.Int(1, 5); i > 0; --i) AddShape(&picture, &rng);
  PaintRandomLines(rng.Int(0, 3), 0.012f, image, &rng);
  AddNoise(rng.Uniform(0.0f, 14.0f), image, &rng);
  return picture;
}

}  // namespace detection
