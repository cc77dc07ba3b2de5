// Pictures in memory, and in PNG and JPEG files.
#ifndef TIM_SAMPLES_DETECTION_IMAGE_H_
#define TIM_SAMPLES_DETECTION_IMAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace detection {

using Color = std::array<std::uint8_t, 3>;  // red, green, blue

/// Three bytes a pixel, row by row from the top.
struct Image {
  Image() = default;
  Image(int width, int height, const Color& color);

  std::uint8_t* Pixel(int x, int y) {
    return rgb.data() + 3 * (static_cast<std::size_t>(y) * width + x);
  }
  const std::uint8_t* Pixel(int x, int y) const {
    return rgb.data() + 3 * (static_cast<std::size_t>(y) * width + x);
  }

  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// A rectangle in pixels: pixel number i reaches from i to i + 1.
struct Box {
  float xmin = 0.0f;
  float ymin = 0.0f;
  float xmax = 0.0f;
  float ymax = 0.0f;
};

/// Reads a PNG or JPEG file of at least 8 pixels each way; transparency is
/// dropped. On failure returns false; `error` names the file and says why.
/// Files that end too early are an error.
bool ReadImage(const std::string& path, Image* image, std::string* error);

/// The bytes of a PNG file; none where there is no memory.
std::string EncodePng(const Image& image);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_IMAGE_H_
