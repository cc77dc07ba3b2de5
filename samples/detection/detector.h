// A compiled network: a picture in, detections out.
#ifndef TIM_SAMPLES_DETECTION_DETECTOR_H_
#define TIM_SAMPLES_DETECTION_DETECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "ssd.h"

namespace detection {

struct Detection {
  int class_id = 0;
  float score = 0.0f;
  Box box;  // pixels of the picture
};

class Detector {
 public:
  /// Builds and compiles the network.
  bool Create(tim::vx::Context* context, const Model& model,
              const Selection& selection, std::string* error);

  /// What is in a picture of any size, by descending score.
  bool Detect(const Image& picture, std::vector<Detection>* detections,
              std::string* error);

  double CompileMs() const { return compile_ms_; }
  /// To copy a picture in, run, and copy the detections out: the median of all
  /// runs.
  double MedianRunMs() const;

 private:
  bool Run(const Image& square, std::string* error);
  bool WriteInput(const Image& square);
  bool ReadOutputs();

  Ssd net_;
  StoredTensor input_;
  int extent_ = 0;
  int class_count_ = 0;
  std::vector<float> boxes_;
  std::vector<float> classes_;
  std::vector<float> scores_;
  float count_ = 0.0f;
  double compile_ms_ = 0.0;
  std::vector<double> run_ms_;
};

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_DETECTOR_H_
