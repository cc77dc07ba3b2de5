// What the program says about a picture.
#ifndef TIM_SAMPLES_DETECTION_REPORT_H_
#define TIM_SAMPLES_DETECTION_REPORT_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "detector.h"
#include "letter_box.h"
#include "model_file.h"

namespace detection {

/// The detections of one picture, and what they came from.
struct Report {
  std::string image_path;
  int width = 0;
  int height = 0;
  std::string network;  // "float32" or "uint8"
  Selection selection;
  std::vector<Detection> detections;
};

/// JSON: image, width, height, network, score_threshold, iou_threshold, and
/// detections, a list of {class, class_id, score, box: {xmin, ymin, xmax,
/// ymax}} in pixels of the picture.
std::string ToJson(const Report& report,
                   const std::vector<std::string>& classes);

/// A line per detection.
void Print(const Report& report, const std::vector<std::string>& classes,
           std::ostream& out);

/// The five conventions by which the numbers of the network become boxes of
/// the picture, in which detectors differ.
void PrintConventions(const Model& model, const LetterBox& letter_box,
                      std::ostream& out);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_REPORT_H_
