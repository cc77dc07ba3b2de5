// DetectionPostProcess where there is no OpenCL device.
#include <algorithm>
#include <cmath>

#include "custom_ops/box_selection.h"
#include "custom_ops/detection_postprocess.h"

namespace tim {
namespace custom_ops {
namespace {

using vx::ops::HostInput;
using vx::ops::HostOutput;

std::vector<float> ValuesOf(const HostInput& input) {
  const auto count = static_cast<std::size_t>(input.spec.GetElementNum());
  if (input.spec.datatype_ == vx::DataType::FLOAT32) {
    const float* values = input.Data<float>();
    return std::vector<float>(values, values + count);
  }
  const uint8_t* codes = input.Data<uint8_t>();
  const float scale = input.spec.quantization_.Scales()[0];
  const int32_t zero_point = input.spec.quantization_.ZeroPoints()[0];
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(codes[i] - zero_point) * scale;
  }
  return values;
}

float Centre(double encoding, double scale, double size, double centre) {
  return static_cast<float>(encoding / scale * size + centre);
}

float HalfSize(double encoding, double scale, double size) {
  return static_cast<float>(0.5 * std::exp(encoding / scale) * size);
}

CornerBox Decoded(const float* encoding, const float* anchor,
                  const DetectionPostProcess::Parameters& p) {
  const float y = Centre(encoding[0], p.y_scale, anchor[2], anchor[0]);
  const float x = Centre(encoding[1], p.x_scale, anchor[3], anchor[1]);
  const float h = HalfSize(encoding[2], p.h_scale, anchor[2]);
  const float w = HalfSize(encoding[3], p.w_scale, anchor[3]);
  return {y - h, x - w, y + h, x + w};
}

// The outputs of one image.
struct Rows {
  float* boxes;
  float* scores;
  const HostOutput* labels;
  std::size_t first;
  std::size_t first_label;

  void Write(std::size_t row, const CornerBox& box, std::size_t label,
             float score) const {
    const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
    std::copy(corners, corners + 4, boxes + (first + row) * 4);
    scores[first + row] = score;
    WriteNumber(*labels, first + row, label + first_label);
  }

  static void WriteNumber(const HostOutput& output, std::size_t at,
                          std::size_t number) {
    if (output.spec.datatype_ == vx::DataType::INT32) {
      output.Data<int32_t>()[at] = static_cast<int32_t>(number);
    } else {
      output.Data<float>()[at] = static_cast<float>(number);
    }
  }
};

void Clear(const HostOutput& output) {
  const int64_t bytes =
      output.spec.GetElementNum() * output.spec.GetElementByteSize();
  std::fill_n(static_cast<char*>(output.data), bytes, char{0});
}

// What both forms of NMS take of an image.
struct Image {
  std::size_t classes;
  std::size_t score_columns;
  std::size_t list_limit;
  std::size_t image_limit;
  std::size_t best_classes;
  uint32_t least_key;
  float threshold;
  std::vector<CornerBox> boxes;
  const float* scores;  // behind the background
};

std::vector<uint32_t> KeysOfClass(const Image& image, std::size_t label) {
  std::vector<uint32_t> keys(image.boxes.size());
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const float score = image.scores[n * image.score_columns + label];
    const uint32_t key = IsSelectable(image.boxes[n]) ? ScoreKey(score) : 0;
    keys[n] = key >= image.least_key ? key : 0;
  }
  return keys;
}

std::size_t SelectFast(const Image& image, const Rows& rows) {
  std::vector<uint32_t> best(image.boxes.size());
  for (std::size_t label = 0; label < image.classes; ++label) {
    const std::vector<uint32_t> keys = KeysOfClass(image, label);
    for (std::size_t n = 0; n < best.size(); ++n) {
      best[n] = std::max(best[n], keys[n]);
    }
  }
  const std::vector<std::size_t> kept =
      SelectBoxes(best, image.boxes.data(), image.list_limit, image.threshold);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const float* scores = image.scores + kept[i] * image.score_columns;
    std::vector<uint32_t> keys(image.classes);
    std::transform(scores, scores + image.classes, keys.begin(), ScoreKey);
    std::size_t row = i * image.best_classes;
    for (const std::size_t label : FirstByKey(keys, image.best_classes)) {
      rows.Write(row++, image.boxes[kept[i]], label, scores[label]);
    }
  }
  return kept.size();
}

std::size_t SelectRegular(const Image& image, const Rows& rows) {
  std::vector<std::size_t> anchors;
  std::vector<std::size_t> labels;
  std::vector<uint32_t> kept_keys;
  for (std::size_t label = 0; label < image.classes; ++label) {
    const std::vector<uint32_t> keys = KeysOfClass(image, label);
    for (const std::size_t n : SelectBoxes(keys, image.boxes.data(),
                                           image.list_limit, image.threshold)) {
      anchors.push_back(n);
      labels.push_back(label);
      kept_keys.push_back(keys[n]);
    }
  }
  const auto first = FirstByKey(kept_keys, image.image_limit);
  for (std::size_t row = 0; row < first.size(); ++row) {
    const std::size_t n = anchors[first[row]];
    const std::size_t label = labels[first[row]];
    rows.Write(row, image.boxes[n], label,
               image.scores[n * image.score_columns + label]);
  }
  return first.size();
}

}  // namespace

void DetectionPostProcess::HostEval(const std::vector<HostInput>& inputs,
                                    const std::vector<HostOutput>& outputs) {
  const Sizes& s = sizes_;
  const Parameters& p = parameters_;
  const std::vector<float> encodings = ValuesOf(inputs[Boxes()]);
  const std::vector<float> scores = ValuesOf(inputs[Scores()]);
  const std::vector<float> anchors = ValuesOf(inputs[2]);
  for (const HostOutput& output : outputs) Clear(output);
  for (std::size_t b = 0; b < s.batch; ++b) {
    Image image = {s.classes,
                   s.score_columns,
                   s.list_limit,
                   s.image_limit,
                   s.rows / static_cast<std::size_t>(p.max_detections),
                   LeastKeyFrom(p.nms_score_threshold),
                   p.nms_iou_threshold,
                   {},
                   &scores[b * s.anchors * s.score_columns] + s.background};
    for (std::size_t n = 0; n < s.anchors; ++n) {
      image.boxes.push_back(Decoded(&encodings[(b * s.anchors + n) * s.columns],
                                    &anchors[n * 4], p));
    }
    const Rows rows = {outputs[Boxes()].Data<float>(),
                       outputs[Boxes() == 0 ? 2 : 0].Data<float>(),
                       &outputs[Boxes() == 0 ? 1 : 2], b * s.rows,
                       std::size_t{nnapi_.background_in_label}};
    const std::size_t detections = p.use_regular_nms
                                       ? SelectRegular(image, rows)
                                       : SelectFast(image, rows);
    Rows::WriteNumber(outputs[3], b, detections);
  }
}

}  // namespace custom_ops
}  // namespace tim
