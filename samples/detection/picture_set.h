// Pictures with what is to be found in them, as files: what train.py reads.
#ifndef TIM_SAMPLES_DETECTION_PICTURE_SET_H_
#define TIM_SAMPLES_DETECTION_PICTURE_SET_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace detection {

struct PictureSet {
  std::uint64_t seed = 1;
  std::size_t count = 1;
  /// 0: pictures as they are drawn. Else letter-boxed to a square of so many
  /// pixels, as the network sees them, and their boxes with them.
  int square = 0;
};

/// Draws the set into `folder`, which is made where it does not exist: files
/// 00000.png ... and boxes.json, a list of {"image": name, "objects":
/// [{"class": name, "box": [xmin, ymin, xmax, ymax]}]} in pixels. On failure
/// returns false; `error` names the file and says why.
bool WritePictures(const PictureSet& set, const std::string& folder,
                   std::string* error);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_PICTURE_SET_H_
