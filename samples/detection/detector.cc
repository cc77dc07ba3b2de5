#include "detector.h"

#include <algorithm>
#include <chrono>

#include "letter_box.h"
#include "tim/vx/error.h"

namespace detection {
namespace {

class Stopwatch {
 public:
  double Ms() const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double, std::milli>(elapsed).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// A call into tim::vx failed: the library knows the reason.
bool Fail(const std::string& what, std::string* error) {
  *error = what + ": " + tim::vx::LastError();
  return false;
}

// From pixels side by side to a plane per colour, [W, H, 3].
std::vector<std::uint8_t> Planes(const Image& square) {
  const std::size_t pixels = square.rgb.size() / 3;
  std::vector<std::uint8_t> planes(square.rgb.size());
  for (std::size_t i = 0; i < square.rgb.size(); ++i) {
    planes[i % 3 * pixels + i / 3] = square.rgb[i];
  }
  return planes;
}

}  // namespace

bool Detector::Create(tim::vx::Context* context, const Model& model,
                      const Selection& selection, std::string* error) {
  if (!BuildSsd(context, model, selection, &net_, error)) return false;
  input_ = model.tensors.at("input");
  extent_ = static_cast<int>(model.extent);
  class_count_ = static_cast<int>(model.classes.size());
  boxes_.resize(std::size_t{4} * selection.max_detections);
  classes_.resize(selection.max_detections);
  scores_.resize(selection.max_detections);
  const Stopwatch watch;
  if (!net_.graph->Compile()) return Fail("compile", error);
  compile_ms_ = watch.Ms();
  return true;
}

bool Detector::Detect(const Image& picture, std::vector<Detection>* detections,
                      std::string* error) {
  const LetterBox letter_box =
      MakeLetterBox(picture.width, picture.height, extent_);
  if (!Run(Apply(letter_box, picture), error)) return false;
  const auto side = static_cast<float>(extent_);
  detections->clear();
  for (std::size_t i = 0; static_cast<float>(i) < count_; ++i) {
    const float* box = &boxes_[4 * i];  // ymin, xmin, ymax, xmax
    Detection found;
    found.class_id = static_cast<int>(classes_[i]);
    found.score = scores_[i];
    found.box = ToPicture(
        letter_box,
        {box[1] * side, box[0] * side, box[3] * side, box[2] * side}, picture);
    // Boxes in the bars have no area in the picture.
    if (found.box.xmin < found.box.xmax && found.box.ymin < found.box.ymax) {
      detections->push_back(found);
    }
  }
  return true;
}

bool Detector::Run(const Image& square, std::string* error) {
  const Stopwatch watch;
  if (!WriteInput(square)) return Fail("write the input", error);
  if (!net_.graph->Run()) return Fail("run", error);
  if (!ReadOutputs()) return Fail("read the output", error);
  run_ms_.push_back(watch.Ms());
  const auto is_class = [this](float id) {
    return id >= 0.0f && id < static_cast<float>(class_count_);
  };
  // False for a NaN, too.
  if (count_ >= 0.0f && count_ <= static_cast<float>(scores_.size()) &&
      std::all_of(classes_.begin(), classes_.end(), is_class)) {
    return true;
  }
  *error = "run: a number of detections or a class that cannot be";
  return false;
}

// The uint8 network takes the bytes as they are, as codes of its input.
bool Detector::WriteInput(const Image& square) {
  const std::vector<std::uint8_t> bytes = Planes(square);
  if (input_.type == tim::vx::DataType::UINT8) {
    return net_.input->CopyDataToTensor(bytes.data());
  }
  std::vector<float> values(bytes.size());
  std::transform(
      bytes.begin(), bytes.end(), values.begin(), [this](std::uint8_t byte) {
        return static_cast<float>(byte - input_.zero_point) * input_.scale;
      });
  return net_.input->CopyDataToTensor(values.data());
}

bool Detector::ReadOutputs() {
  return net_.boxes->CopyDataFromTensor(boxes_.data()) &&
         net_.classes->CopyDataFromTensor(classes_.data()) &&
         net_.scores->CopyDataFromTensor(scores_.data()) &&
         net_.count->CopyDataFromTensor(&count_);
}

double Detector::MedianRunMs() const {
  if (run_ms_.empty()) return 0.0;
  std::vector<double> sorted = run_ms_;
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace detection
