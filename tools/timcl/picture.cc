// Reads pictures, resizes them and stores them as elements of a tensor.
#include "tools/timcl/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/elements.h"
#include "tools/timcl/read_file.h"

#ifdef TIM_CL_PICTURES
#include <stb/stb_image.h>
#endif

namespace tim::tool {
namespace {

// Elements in rows from the top, channels of a pixel beside each other.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 0;
  std::vector<float> values = {};
};

// The place of pixels in a tensor.
struct Places {
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;
  bool channels_first = true;

  int64_t Of(int64_t c, int64_t y, int64_t x) const {
    return channels_first ? (c * height + y) * width + x
                          : (y * width + x) * channels + c;
  }
};

bool AreChannels(int64_t extent) { return extent == 1 || extent == 3; }

// Whether channels are the first of three extents; nothing: nobody knows.
std::optional<bool> ChannelsFirst(const std::vector<int64_t>& dims,
                                  const std::string& layout) {
  const bool first = AreChannels(dims.front()) && layout != "nhwc";
  const bool last = AreChannels(dims.back()) && layout != "nchw";
  if (first == last) return std::nullopt;
  return first;
}

Result<Places> PlacesIn(const binary::Port& port, const std::string& layout) {
  const std::vector<int64_t>& shape = port.desc.shape.dims();
  std::vector<int64_t> dims(shape.rbegin(), shape.rend());
  while (dims.size() > 3 && dims.front() == 1) dims.erase(dims.begin());
  if (dims.size() == 2) return Places{1, dims[0], dims[1], true};
  if (dims.size() != 3) {
    return InvalidArgument("it is ", port.desc.ToString(),
                           ", which is not one picture");
  }
  const auto first = ChannelsFirst(dims, layout);
  if (!first) {
    return InvalidArgument(
        "its extents are (", StrJoin(dims, ", "),
        layout.empty()
            ? "): --layout nchw or nhwc says where the channels are, "
              "1 or 3"
            : "), which do not have 1 or 3 channels there");
  }
  if (*first) return Places{dims[0], dims[1], dims[2], true};
  return Places{dims[2], dims[0], dims[1], false};
}

#ifdef TIM_CL_PICTURES
constexpr double kMostPixels = 1e8;

// The `count` bytes at `at`, the lowest first; 0 beyond the end.
int64_t NumberAt(const std::string& content, size_t at, size_t count) {
  int64_t number = 0;
  for (size_t i = 0; i < count && at + i < content.size(); ++i) {
    number |= int64_t{static_cast<unsigned char>(content[at + i])} << (8 * i);
  }
  return number;
}

// A JPEG file whose last scan has no end marker.
bool JpegIsCut(const std::string& content) {
  const size_t scan = content.rfind("\xFF\xDA");
  return scan == std::string::npos ||
         content.find("\xFF\xD9", scan) == std::string::npos;
}

// A BMP file with fewer bytes than it says, or than its rows take.
bool BmpIsCut(const std::string& content, int width, int height) {
  const auto bytes = static_cast<int64_t>(content.size());
  const int64_t row = (width * NumberAt(content, 28, 2) + 31) / 32 * 4;
  const bool is_plain = NumberAt(content, 30, 4) == 0;
  return NumberAt(content, 2, 4) > bytes ||
         (is_plain && NumberAt(content, 10, 4) + row * height > bytes);
}

// A PNM file: behind its mark and three numbers each pixel has its bytes.
bool PnmIsCut(const std::string& content, int64_t samples) {
  size_t at = 2;
  int64_t number = 0;
  for (int i = 0; i < 3; ++i) {
    at = content.find_first_of("0123456789#", at);
    while (at < content.size() && content[at] == '#') {
      at = content.find_first_of("0123456789#", content.find('\n', at));
    }
    for (number = 0; at < content.size() && content[at] >= '0' &&
                     content[at] <= '9' && number < 65536;
         ++at) {
      number = number * 10 + (content[at] - '0');
    }
  }
  if (at >= content.size()) return true;
  return static_cast<int64_t>(content.size() - at - 1) <
         samples * (number > 255 ? 2 : 1);
}

// The decoder fills up what is missing with grey or black, or does not miss it.
bool EndsTooEarly(const std::string& content, int width, int height,
                  int channels) {
  if (content.starts_with("\x89PNG")) {
    return content.find("IEND") == std::string::npos;
  }
  if (content.starts_with("\xFF\xD8")) return JpegIsCut(content);
  if (content.starts_with("BM")) return BmpIsCut(content, width, height);
  if (content.starts_with("P5") || content.starts_with("P6")) {
    return PnmIsCut(content, int64_t{1} * width * height * channels);
  }
  return false;
}

Result<Picture> Decode(const std::string& content, int64_t channels) {
  const auto* const bytes = reinterpret_cast<const stbi_uc*>(content.data());
  if (content.size() > (size_t{1} << 30)) {
    return InvalidArgument("it has more than a GiB");
  }
  const int size = static_cast<int>(content.size());
  int width = 0, height = 0, own = 0;
  if (stbi_info_from_memory(bytes, size, &width, &height, &own) == 0) {
    const bool is_text = content.starts_with("P2") || content.starts_with("P3");
    return InvalidArgument("it is no picture that can be read: ",
                           is_text ? "of PGM and PPM only P5 and P6 are, whose "
                                     "pixels are bytes and not text"
                                   : stbi_failure_reason());
  }
  if (double{1} * width * height > kMostPixels) {
    return InvalidArgument("its ", width, " x ", height,
                           " pixels are more than 100 million");
  }
  if (EndsTooEarly(content, width, height, own)) {
    return InvalidArgument("it ends too early");
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes, size, &width, &height, &own,
                            static_cast<int>(channels)),
      stbi_image_free);
  if (pixels == nullptr) {
    return InvalidArgument("it is damaged: ", stbi_failure_reason());
  }
  Picture picture = {.width = width, .height = height, .channels = channels};
  const int64_t count = channels * width * height;
  picture.values.assign(pixels.get(), pixels.get() + count);
  return picture;
}
#else
Result<Picture> Decode(const std::string&, int64_t) {
  return InvalidArgument(
      "this timcl was built without pictures: build it where libstb-dev is, or "
      "give a .npy file");
}
#endif

// Pixels of a row or column that one result is made of.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights = {};
};

// A triangle over the pixels, as wide as the picture shrinks, so that none is
// left out; linear interpolation where it grows.
std::vector<Taps> TapsOf(double begin, double length, int64_t extent,
                         int64_t wanted) {
  const double ratio = length / static_cast<double>(wanted);
  const double reach = std::max(ratio, 1.0);
  std::vector<Taps> all;
  for (int64_t i = 0; i < wanted; ++i) {
    const double middle = begin + (static_cast<double>(i) + 0.5) * ratio;
    const auto low = static_cast<int64_t>(std::floor(middle - reach));
    const auto high = static_cast<int64_t>(std::ceil(middle + reach));
    Taps taps = {.first = std::clamp<int64_t>(low, 0, extent - 1)};
    const int64_t last = std::clamp<int64_t>(high, taps.first, extent - 1);
    double sum = 0;
    for (int64_t at = taps.first; at <= last; ++at) {
      const double apart = std::fabs(static_cast<double>(at) + 0.5 - middle);
      const double weight = std::max(0.0, 1 - apart / reach);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : taps.weights) weight /= static_cast<float>(sum);
    all.push_back(std::move(taps));
  }
  return all;
}

Picture ResizeRows(const Picture& from, const std::vector<Taps>& columns) {
  Picture to = {.width = static_cast<int64_t>(columns.size()),
                .height = from.height,
                .channels = from.channels};
  for (int64_t y = 0; y < from.height; ++y) {
    for (const Taps& taps : columns) {
      const float* at =
          &from.values[(y * from.width + taps.first) * from.channels];
      for (int64_t c = 0; c < from.channels; ++c) {
        float sum = 0;
        for (size_t t = 0; t < taps.weights.size(); ++t) {
          sum += taps.weights[t] * at[t * from.channels + c];
        }
        to.values.push_back(sum);
      }
    }
  }
  return to;
}

Picture ResizeColumns(const Picture& from, const std::vector<Taps>& rows) {
  Picture to = {.width = from.width,
                .height = static_cast<int64_t>(rows.size()),
                .channels = from.channels};
  const int64_t row = from.width * from.channels;
  for (const Taps& taps : rows) {
    for (int64_t i = 0; i < row; ++i) {
      float sum = 0;
      for (size_t t = 0; t < taps.weights.size(); ++t) {
        sum += taps.weights[t] * from.values[(taps.first + t) * row + i];
      }
      to.values.push_back(sum);
    }
  }
  return to;
}

Picture Resize(const Picture& from, int64_t width, int64_t height, Fit fit) {
  const auto full_width = static_cast<double>(from.width);
  const auto full_height = static_cast<double>(from.height);
  double used_width = full_width, used_height = full_height;
  if (fit == Fit::kCrop) {
    const double aspect =
        static_cast<double>(width) / static_cast<double>(height);
    used_width = std::min(full_width, full_height * aspect);
    used_height = std::min(full_height, full_width / aspect);
  }
  return ResizeColumns(ResizeRows(from, TapsOf((full_width - used_width) / 2,
                                               used_width, from.width, width)),
                       TapsOf((full_height - used_height) / 2, used_height,
                              from.height, height));
}

// One number per channel.
Result<std::vector<double>> PerChannel(const char* option,
                                       const std::vector<double>& given,
                                       double otherwise, int64_t channels) {
  const auto count = static_cast<size_t>(channels);
  if (given.empty()) return std::vector<double>(count, otherwise);
  if (given.size() == 1) return std::vector<double>(count, given[0]);
  if (given.size() == count) return given;
  return InvalidArgument(option, " has ", given.size(), " numbers; expected 1",
                         count == 1 ? "" : " or 3");
}

// Pixels are the codes of 8 bits where nothing else is asked for.
bool AreCodes(const ir::TensorDesc& desc, const PictureArguments& arguments) {
  return ir::IsInteger(desc.type) && ir::Info(desc.type).bits == 8 &&
         arguments.mean.empty() && arguments.scale.empty();
}

Status Store(const Picture& picture, const Places& places,
             const binary::Port& port, const PictureArguments& arguments,
             std::byte* memory) {
  const int64_t channels = places.channels;
  const bool codes = AreCodes(port.desc, arguments);
  const bool as_is = arguments.mean.empty() && arguments.scale.empty();
  TIM_ASSIGN_OR_RETURN(const auto mean,
                       PerChannel("--mean", arguments.mean, 0, channels));
  TIM_ASSIGN_OR_RETURN(
      const auto scale,
      PerChannel("--scale", arguments.scale, as_is ? 1.0 / 255 : 1, channels));
  const int64_t least = ir::Info(port.desc.type).min;
  kernels::ElementWriter writer(ir::MutableTensor{&port.desc, memory});
  size_t next = 0;
  for (int64_t y = 0; y < places.height; ++y) {
    for (int64_t x = 0; x < places.width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        const float pixel = picture.values[next++];
        const int64_t to = arguments.bgr ? channels - 1 - c : c;
        const int64_t at = places.Of(to, y, x);
        if (codes) {
          writer.StoreCode(at, std::lround(pixel) + least);
        } else {
          writer.StoreReal(at,
                           static_cast<float>((pixel - mean[to]) * scale[to]));
        }
      }
    }
  }
  return OkStatus();
}

Status ReadAndStore(const binary::Port& port, const std::string& content,
                    const PictureArguments& arguments, std::byte* memory) {
  TIM_ASSIGN_OR_RETURN(const Places places, PlacesIn(port, arguments.layout));
  TIM_ASSIGN_OR_RETURN(Picture picture, Decode(content, places.channels));
  if (picture.width != places.width || picture.height != places.height) {
    picture = Resize(picture, places.width, places.height, arguments.fit);
  }
  return Store(picture, places, port, arguments, memory);
}

}  // namespace

bool IsPictureName(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = path.substr(dot + 1);
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr const char* kEndings[] = {"png", "jpg", "jpeg",
                                      "bmp", "ppm", "pgm"};
  return std::find(std::begin(kEndings), std::end(kEndings), ending) !=
         std::end(kEndings);
}

Status StorePicture(const binary::Port& port, const std::string& path,
                    const PictureArguments& arguments, std::byte* memory) {
  TIM_ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  return ReadAndStore(port, content, arguments, memory)
      .WithContext(StrCat("'", path, "' for input '", port.name, "'"));
}

}  // namespace tim::tool
