#include "detector.h"

#include <algorithm>
#include <chrono>

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
  max_detections_ = selection.max_detections;
  outputs_ = MakeOutputs();
  const Stopwatch watch;
  if (!net_.graph->Compile()) return Fail("compile", error);
  compile_ms_ = watch.Ms();
  return true;
}

Outputs Detector::MakeOutputs() const {
  return {std::vector<float>(std::size_t{4} * max_detections_),
          std::vector<float>(max_detections_),
          std::vector<float>(max_detections_)};
}

bool Detector::Detect(const Image& picture, std::vector<Detection>* detections,
                      std::string* error) {
  const LetterBox letter_box =
      MakeLetterBox(picture.width, picture.height, extent_);
  return Run(Apply(letter_box, picture), error) &&
         ToDetections(outputs_, letter_box, picture, detections, error);
}

bool Detector::DetectAll(const std::vector<const Image*>& pictures,
                         std::size_t in_flight,
                         std::vector<std::vector<Detection>>* detections,
                         std::string* error) {
  detections->assign(pictures.size(), {});
  std::vector<Frame> frames(in_flight);
  for (Frame& frame : frames) frame.outputs = MakeOutputs();
  for (std::size_t i = 0; i < pictures.size() + in_flight; ++i) {
    Frame& frame = frames[i % in_flight];
    if (i >= in_flight) {  // the picture that this frame had before
      const std::size_t last = i - in_flight;
      if (!frame.run.Wait()) return Fail("run", error);
      if (!ToDetections(frame.outputs, frame.letter_box, *pictures[last],
                        &(*detections)[last], error)) {
        return false;
      }
    }
    if (i < pictures.size() && !Start(*pictures[i], &frame, error)) {
      return false;
    }
  }
  return true;
}

bool Detector::Start(const Image& picture, Frame* frame, std::string* error) {
  frame->letter_box = MakeLetterBox(picture.width, picture.height, extent_);
  const void* input =
      InputOf(Apply(frame->letter_box, picture), &frame->bytes, &frame->values);
  Outputs& out = frame->outputs;
  // In the order in which BuildSsd() creates the tensors.
  frame->run = net_.graph->RunAsync(
      {input},
      {out.boxes.data(), out.classes.data(), out.scores.data(), &out.count});
  return frame->run ? true : Fail("start a run", error);
}

bool Detector::ToDetections(const Outputs& outputs, const LetterBox& letter_box,
                            const Image& picture,
                            std::vector<Detection>* detections,
                            std::string* error) const {
  const auto is_class = [this](float id) {
    return id >= 0.0f && id < static_cast<float>(class_count_);
  };
  // True for a NaN, too.
  if (!(outputs.count >= 0.0f &&
        outputs.count <= static_cast<float>(max_detections_)) ||
      !std::all_of(outputs.classes.begin(), outputs.classes.end(), is_class)) {
    *error = "run: a number of detections or a class that cannot be";
    return false;
  }
  const auto side = static_cast<float>(extent_);
  detections->clear();
  for (std::size_t i = 0; static_cast<float>(i) < outputs.count; ++i) {
    const float* box = &outputs.boxes[4 * i];  // ymin, xmin, ymax, xmax
    Detection found;
    found.class_id = static_cast<int>(outputs.classes[i]);
    found.score = outputs.scores[i];
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
  std::vector<std::uint8_t> bytes;
  std::vector<float> values;
  if (!net_.input->CopyDataToTensor(InputOf(square, &bytes, &values))) {
    return Fail("write the input", error);
  }
  if (!net_.graph->Run()) return Fail("run", error);
  if (!ReadOutputs()) return Fail("read the output", error);
  run_ms_.push_back(watch.Ms());
  return true;
}

// The uint8 network takes the bytes as they are, as codes of its input.
const void* Detector::InputOf(const Image& square,
                              std::vector<std::uint8_t>* bytes,
                              std::vector<float>* values) const {
  *bytes = Planes(square);
  if (input_.type == tim::vx::DataType::UINT8) return bytes->data();
  values->resize(bytes->size());
  std::transform(
      bytes->begin(), bytes->end(), values->begin(), [this](std::uint8_t byte) {
        return static_cast<float>(byte - input_.zero_point) * input_.scale;
      });
  return values->data();
}

bool Detector::ReadOutputs() {
  return net_.boxes->CopyDataFromTensor(outputs_.boxes.data()) &&
         net_.classes->CopyDataFromTensor(outputs_.classes.data()) &&
         net_.scores->CopyDataFromTensor(outputs_.scores.data()) &&
         net_.count->CopyDataFromTensor(&outputs_.count);
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
