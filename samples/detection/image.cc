#include "image.h"

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

namespace detection {
namespace {

constexpr int kMinExtent = 8;
constexpr int kMaxExtent = 32768;
constexpr double kMaxPixels = 1e8;
const char kUnreadable[] = "is damaged, ends too early or is too large: ";

bool StartsWith(const std::string& content, const std::string& start) {
  return content.compare(0, start.size(), start) == 0;
}

std::size_t Byte(const std::string& content, std::size_t i) {
  return static_cast<unsigned char>(content[i]);
}

// Whether a marker of JPEG stands inside of compressed data: a 0xFF of it, or a
// place to restart at.
bool BelongsToScan(std::size_t marker) {
  return marker == 0 || (marker >= 0xD0 && marker <= 0xD7);
}

// The decoder fills up what is missing with grey and calls it a success: walks
// over the segments to the end marker.
bool JpegIsWhole(const std::string& content) {
  std::size_t at = 2;  // behind the start marker
  bool in_scan = false;
  while (at + 1 < content.size()) {
    if (Byte(content, at) != 0xFF) {
      if (!in_scan) return false;
      ++at;
      continue;
    }
    const std::size_t marker = Byte(content, at + 1);
    if (marker == 0xD9) return true;
    if (marker == 0xFF) {  // a fill byte
      ++at;
    } else if (in_scan && BelongsToScan(marker)) {
      at += 2;
    } else {
      if (at + 3 >= content.size()) return false;
      in_scan = marker == 0xDA;
      at += 2 + 256 * Byte(content, at + 2) + Byte(content, at + 3);
    }
  }
  return false;
}

// The decoder does not miss the end of the last chunk.
bool PngIsWhole(const std::string& content) {
  std::size_t at = 8;  // behind the signature
  while (at + 12 <= content.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = 256 * length + Byte(content, at + i);
    }
    const bool is_end = content.compare(at + 4, 4, "IEND") == 0;
    at += 12 + length;
    if (is_end) return at <= content.size();
  }
  return false;
}

// Why the file is not read; empty where nothing speaks against it.
std::string Refusal(const std::string& content) {
  const bool jpeg = StartsWith(content, "\xFF\xD8\xFF");
  if (!jpeg && !StartsWith(content, "\x89PNG\r\n\x1A\n")) {
    return "is neither a PNG nor a JPEG image";
  }
  int width = 0, height = 0, channels = 0;
  const auto* bytes = reinterpret_cast<const stbi_uc*>(content.data());
  const int size = static_cast<int>(content.size());
  if (!stbi_info_from_memory(bytes, size, &width, &height, &channels)) {
    return std::string(kUnreadable) + stbi_failure_reason();
  }
  const std::string extents = "is " + std::to_string(width) + " x " +
                              std::to_string(height) + " pixels: ";
  if (std::min(width, height) < kMinExtent) {
    return extents + "at least " + std::to_string(kMinExtent) +
           " each way are needed";
  }
  if (std::max(width, height) > kMaxExtent ||
      static_cast<double>(width) * height > kMaxPixels) {
    return extents + "more than 32768 one way or 100 million in all";
  }
  const bool whole = jpeg ? JpegIsWhole(content) : PngIsWhole(content);
  return whole ? "" : "ends too early";
}

void Append(void* context, void* data, int size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                             static_cast<std::size_t>(size));
}

}  // namespace

Image::Image(int image_width, int image_height, const Color& color)
    : width(image_width), height(image_height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * height;
  rgb.reserve(3 * pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    rgb.insert(rgb.end(), color.begin(), color.end());
  }
}

bool ReadImage(const std::string& path, Image* image, std::string* error) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    *error = path + ": cannot be opened";
    return false;
  }
  const std::string content{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
  const std::string refusal = Refusal(content);
  if (!refusal.empty()) {
    *error = path + ": " + refusal;
    return false;
  }
  int channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(content.data()),
                            static_cast<int>(content.size()), &image->width,
                            &image->height, &channels, 3),
      stbi_image_free);
  if (pixels == nullptr) {
    *error = path + ": " + kUnreadable + stbi_failure_reason();
    return false;
  }
  const std::size_t count =
      3 * static_cast<std::size_t>(image->width) * image->height;
  image->rgb.assign(pixels.get(), pixels.get() + count);
  return true;
}

std::string EncodePng(const Image& image) {
  std::string png;
  const int row_bytes = 3 * image.width;
  if (!stbi_write_png_to_func(Append, &png, image.width, image.height, 3,
                              image.rgb.data(), row_bytes)) {
    png.clear();
  }
  return png;
}

}  // namespace detection
