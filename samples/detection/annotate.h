// Draws detections into a picture.
#ifndef TIM_SAMPLES_DETECTION_ANNOTATE_H_
#define TIM_SAMPLES_DETECTION_ANNOTATE_H_

#include <string>
#include <vector>

#include "detector.h"
#include "image.h"

namespace detection {

/// The picture with a frame around every detection, in a colour of its class,
/// and above it, or inside of it at the upper border, class and score. Lines
/// and letters grow with the picture.
Image Annotated(const Image& picture, const std::vector<Detection>& detections,
                const std::vector<std::string>& classes);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_ANNOTATE_H_
