#include "annotate.h"

#include <stb/stb_easy_font.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace detection {
namespace {

constexpr int kLetterHeight = 12;  // with the space between lines
constexpr std::size_t kMaxText = 60;

// What stb_easy_font_print() writes: four of them are a rectangle.
struct Vertex {
  float x;
  float y;
  float z;
  unsigned char color[4];
};

// Light, so that black letters can be read on them.
Color ColorOf(int class_id) {
  static const std::array<Color, 6> colors = {{{{255, 220, 40}},
                                               {{90, 235, 255}},
                                               {{140, 255, 120}},
                                               {{255, 150, 220}},
                                               {{255, 170, 90}},
                                               {{190, 180, 255}}}};
  return colors[static_cast<std::size_t>(class_id) % colors.size()];
}

// Pixels of the picture from left to right and from top to bottom; what lies
// outside of it is left out.
struct Area {
  int left;
  int top;
  int right;
  int bottom;
};

void Fill(const Area& area, const Color& color, Image* image) {
  const int right = std::min(area.right, image->width);
  const int bottom = std::min(area.bottom, image->height);
  for (int y = std::max(0, area.top); y < bottom; ++y) {
    for (int x = std::max(0, area.left); x < right; ++x) {
      std::copy(color.begin(), color.end(), image->Pixel(x, y));
    }
  }
}

void DrawFrame(const Area& box, int width, const Color& color, Image* image) {
  Fill({box.left, box.top, box.right, box.top + width}, color, image);
  Fill({box.left, box.bottom - width, box.right, box.bottom}, color, image);
  Fill({box.left, box.top, box.left + width, box.bottom}, color, image);
  Fill({box.right - width, box.top, box.right, box.bottom}, color, image);
}

void DrawText(std::string text, int left, int top, int scale, Image* image) {
  std::array<Vertex, 4 * 32 * kMaxText> vertices;
  const int rectangles = stb_easy_font_print(0.0f, 0.0f, &text[0], nullptr,
                                             vertices.data(), sizeof(vertices));
  for (int i = 0; i < rectangles; ++i) {
    const Vertex* corner = &vertices[4 * static_cast<std::size_t>(i)];
    const auto at = [scale](float value, int from) {
      return from + scale * static_cast<int>(value);
    };
    Fill({at(corner[0].x, left), at(corner[0].y, top), at(corner[2].x, left),
          at(corner[2].y, top)},
         {{0, 0, 0}}, image);
  }
}

// Black letters on the colour of the frame.
void DrawLabel(std::string text, const Area& box, int scale, const Color& color,
               Image* image) {
  text.resize(std::min(text.size(), kMaxText));
  const int width = scale * (stb_easy_font_width(&text[0]) + 3);
  const int height = scale * kLetterHeight;
  const int left = std::max(0, std::min(box.left, image->width - width));
  const int top = box.top >= height ? box.top - height : box.top;
  Fill({left, top, left + width, top + height}, color, image);
  DrawText(text, left + 2 * scale, top + 2 * scale, scale, image);
}

Area Rounded(const Box& box) {
  return {static_cast<int>(std::lround(box.xmin)),
          static_cast<int>(std::lround(box.ymin)),
          static_cast<int>(std::lround(box.xmax)),
          static_cast<int>(std::lround(box.ymax))};
}

std::string Label(const std::string& name, float score) {
  char text[8];
  std::snprintf(text, sizeof(text), " %.2f", static_cast<double>(score));
  return name + text;
}

}  // namespace

Image Annotated(const Image& picture, const std::vector<Detection>& detections,
                const std::vector<std::string>& classes) {
  Image image = picture;
  const int scale = 1 + std::max(picture.width, picture.height) / 600;
  // The most certain ones last, on top.
  for (auto it = detections.rbegin(); it != detections.rend(); ++it) {
    const Area box = Rounded(it->box);
    const Color color = ColorOf(it->class_id);
    DrawFrame(box, scale, color, &image);
    const std::string& name = classes[static_cast<std::size_t>(it->class_id)];
    DrawLabel(Label(name, it->score), box, scale, color, &image);
  }
  return image;
}

}  // namespace detection
