// Draws pictures of shapes on cluttered backgrounds, which the network is
// trained on and measured with.
#ifndef TIM_SAMPLES_DETECTION_PICTURE_H_
#define TIM_SAMPLES_DETECTION_PICTURE_H_

#include <cstdint>
#include <vector>

#include "image.h"

namespace detection {

/// What is to be found in a picture.
struct Object {
  int class_id = 0;  // see ShapeNames()
  Box box;           // pixels of the picture
};

struct Picture {
  Image image;
  std::vector<Object> objects;
};

/// A picture of 96 to 224 pixels each way with one to five shapes, which do not
/// overlap much. The same numbers draw the same picture.
Picture DrawPicture(std::uint64_t seed, std::uint64_t number);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_PICTURE_H_
