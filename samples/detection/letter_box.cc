#include "letter_box.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace detection {
namespace {

constexpr std::uint8_t kBar = 114;

// The source pixels that one scaled pixel is made of, and their shares.
struct Taps {
  int first = 0;
  std::vector<float> weights;  // with the sum 1
};

// A triangle around the scaled pixel's middle, at least one pixel of both the
// source and the result wide on either side.
std::vector<Taps> MakeTaps(int source, int scaled) {
  const float step = static_cast<float>(source) / static_cast<float>(scaled);
  const float reach = std::max(1.0f, step);
  std::vector<Taps> all(static_cast<std::size_t>(scaled));
  for (int i = 0; i < scaled; ++i) {
    Taps& taps = all[static_cast<std::size_t>(i)];
    const float middle = (static_cast<float>(i) + 0.5f) * step - 0.5f;
    taps.first = std::max(0, static_cast<int>(std::ceil(middle - reach)));
    const int last =
        std::min(source - 1, static_cast<int>(std::floor(middle + reach)));
    float sum = 0.0f;
    for (int j = taps.first; j <= last; ++j) {
      const float distance = std::fabs(static_cast<float>(j) - middle);
      taps.weights.push_back(std::max(1e-6f, 1.0f - distance / reach));
      sum += taps.weights.back();
    }
    for (float& weight : taps.weights) weight /= sum;
  }
  return all;
}

// Scales the rows: `lines` rows of `source` pixels become `taps.size()` wide.
// The result is transposed, so that a second call scales the columns.
std::vector<float> ScaleAndTranspose(const std::vector<float>& pixels,
                                     int source, int lines,
                                     const std::vector<Taps>& taps) {
  std::vector<float> result;
  result.reserve(3 * taps.size() * static_cast<std::size_t>(lines));
  for (const Taps& tap : taps) {
    for (int line = 0; line < lines; ++line) {
      float sums[3] = {0.0f, 0.0f, 0.0f};
      const float* from =
          pixels.data() +
          3 * (static_cast<std::size_t>(line) * source + tap.first);
      for (const float weight : tap.weights) {
        for (float& sum : sums) sum += weight * *from++;
      }
      result.insert(result.end(), sums, sums + 3);
    }
  }
  return result;
}

float Clip(float value, float high) {
  return std::min(std::max(value, 0.0f), high);
}

}  // namespace

LetterBox MakeLetterBox(int picture_width, int picture_height, int extent) {
  const int longer = std::max(picture_width, picture_height);
  const auto scaled = [&](int side) {
    const double exact = static_cast<double>(side) * extent / longer;
    return std::max(1, static_cast<int>(std::lround(exact)));
  };
  LetterBox box;
  box.extent = extent;
  box.width = scaled(picture_width);
  box.height = scaled(picture_height);
  box.left = (extent - box.width) / 2;
  box.top = (extent - box.height) / 2;
  box.scale_x =
      static_cast<float>(box.width) / static_cast<float>(picture_width);
  box.scale_y =
      static_cast<float>(box.height) / static_cast<float>(picture_height);
  return box;
}

Image Apply(const LetterBox& letter_box, const Image& picture) {
  const std::vector<float> pixels(picture.rgb.begin(), picture.rgb.end());
  const std::vector<float> rows =
      ScaleAndTranspose(pixels, picture.width, picture.height,
                        MakeTaps(picture.width, letter_box.width));
  const std::vector<float> scaled =
      ScaleAndTranspose(rows, picture.height, letter_box.width,
                        MakeTaps(picture.height, letter_box.height));
  Image square(letter_box.extent, letter_box.extent, {{kBar, kBar, kBar}});
  const float* from = scaled.data();
  for (int y = 0; y < letter_box.height; ++y) {
    std::uint8_t* to = square.Pixel(letter_box.left, letter_box.top + y);
    for (int i = 0; i < 3 * letter_box.width; ++i) {
      *to++ = static_cast<std::uint8_t>(Clip(*from++ + 0.5f, 255.0f));
    }
  }
  return square;
}

Box ToSquare(const LetterBox& letter_box, const Box& box) {
  const auto left = static_cast<float>(letter_box.left);
  const auto top = static_cast<float>(letter_box.top);
  return {box.xmin * letter_box.scale_x + left,
          box.ymin * letter_box.scale_y + top,
          box.xmax * letter_box.scale_x + left,
          box.ymax * letter_box.scale_y + top};
}

Box ToPicture(const LetterBox& letter_box, const Box& box,
              const Image& picture) {
  const auto left = static_cast<float>(letter_box.left);
  const auto top = static_cast<float>(letter_box.top);
  const auto width = static_cast<float>(picture.width);
  const auto height = static_cast<float>(picture.height);
  return {Clip((box.xmin - left) / letter_box.scale_x, width),
          Clip((box.ymin - top) / letter_box.scale_y, height),
          Clip((box.xmax - left) / letter_box.scale_x, width),
          Clip((box.ymax - top) / letter_box.scale_y, height)};
}

}  // namespace detection
