// A compiled network: a picture in, detections out.
#ifndef TIM_SAMPLES_DETECTION_DETECTOR_H_
#define TIM_SAMPLES_DETECTION_DETECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "letter_box.h"
#include "ssd.h"
#include "tim/vx/run_event.h"

namespace detection {

struct Detection {
  int class_id = 0;
  float score = 0.0f;
  Box box;  // pixels of the picture
};

inline bool operator==(const Detection& a, const Detection& b) {
  return a.class_id == b.class_id && a.score == b.score &&
         a.box.xmin == b.box.xmin && a.box.ymin == b.box.ymin &&
         a.box.xmax == b.box.xmax && a.box.ymax == b.box.ymax;
}

/// What the network says of one picture.
struct Outputs {
  std::vector<float> boxes;
  std::vector<float> classes;
  std::vector<float> scores;
  float count = 0.0f;
};

class Detector {
 public:
  /// Builds and compiles the network.
  bool Create(tim::vx::Context* context, const Model& model,
              const Selection& selection, std::string* error);

  /// What is in a picture of any size, by descending score.
  bool Detect(const Image& picture, std::vector<Detection>* detections,
              std::string* error);

  /// The same of many pictures, `in_flight` of them at a time: while the device
  /// works on some, the program prepares the next one and reads what was found
  /// in the last.  Detections in the order of the pictures.
  bool DetectAll(const std::vector<const Image*>& pictures,
                 std::size_t in_flight,
                 std::vector<std::vector<Detection>>* detections,
                 std::string* error);

  double CompileMs() const { return compile_ms_; }
  /// To copy a picture in, run, and copy the detections out: the median of all
  /// runs.
  double MedianRunMs() const;

 private:
  /// A picture in flight: its memory belongs to the run until that has ended.
  struct Frame {
    ~Frame() {
      if (run) run.Wait();
    }
    LetterBox letter_box;
    std::vector<std::uint8_t> bytes;
    std::vector<float> values;
    Outputs outputs;
    tim::vx::RunEvent run;
  };

  Outputs MakeOutputs() const;
  bool Start(const Image& picture, Frame* frame, std::string* error);
  bool Run(const Image& square, std::string* error);
  /// What the input tensor takes: its address, in one of the two.
  const void* InputOf(const Image& square, std::vector<std::uint8_t>* bytes,
                      std::vector<float>* values) const;
  bool ReadOutputs();
  bool ToDetections(const Outputs& outputs, const LetterBox& letter_box,
                    const Image& picture, std::vector<Detection>* detections,
                    std::string* error) const;

  Ssd net_;
  StoredTensor input_;
  int extent_ = 0;
  int class_count_ = 0;
  std::uint32_t max_detections_ = 0;
  Outputs outputs_;
  double compile_ms_ = 0.0;
  std::vector<double> run_ms_;
};

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_DETECTOR_H_
