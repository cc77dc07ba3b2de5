#include "custom_ops/detection_postprocess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "custom_ops/box_selection.h"
#include "custom_ops/detection_kernels.h"
#include "custom_ops/number_text.h"

namespace tim {
namespace custom_ops {
namespace {

using vx::ops::HostInput;
using vx::ops::HostOutput;
using vx::ops::KernelArg;

// The scalars of the kernels, by their places in param_list_.
enum Scalar : uint32_t {
  kAnchors,
  kColumns,
  kScoreColumns,
  kBackground,
  kClasses,
  kPadded,
  kLeastKey,
  kScales,
  kLists,
  kListLimit,
  kThreshold,
  kHalfStep,
  kKeptPadded,
  kImageLimit,
  kRows,
  kBestClasses,
  kFirstLabel
};

// The scratch tensors, in the order of AddScratch().
enum Scratch : uint32_t { kBoxes, kKeys, kKept, kNumbers, kKeptKeys, kTaken };

KernelArg Of(Scalar scalar) { return KernelArg::Scalar(scalar); }
KernelArg Of(Scratch scratch) { return KernelArg::Scratch(scratch); }

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("DetectionPostProcess: " + what);
}

std::string TextOf(const vx::ShapeType& shape) {
  std::string text = "{";
  for (const uint32_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "}";
}

void CheckShape(const char* input, const vx::ShapeType& shape, bool fits,
                const std::string& expected) {
  if (fits) return;
  Refuse(std::string(input) + " have the shape " + TextOf(shape) +
         ", expected " + expected);
}

void CheckCount(const char* name, int32_t value) {
  if (value >= 1) return;
  Refuse(std::string(name) + " is " + std::to_string(value) +
         ", expected 1 or more");
}

void CheckScale(const char* name, float value) {
  if (value != 0 && std::isfinite(value)) return;
  Refuse(std::string(name) + " is " + NumberText(value) +
         "; boxes are divided by it, so it may not be 0, infinite or NaN");
}

int Int(std::size_t value) { return static_cast<int>(value); }
uint32_t Extent(std::size_t value) { return static_cast<uint32_t>(value); }

// Regular NMS has one row per detection.
DetectionPostProcess::Parameters Converted(
    const DetectionPostProcess::NnapiParameters& nnapi) {
  DetectionPostProcess::Parameters parameters;
  parameters.max_detections = nnapi.max_detections;
  parameters.max_classes_per_detection =
      nnapi.use_regular_nms ? 1 : nnapi.max_classes_per_detection;
  parameters.detections_per_class = nnapi.max_detections_per_class;
  parameters.use_regular_nms = nnapi.use_regular_nms;
  parameters.nms_score_threshold = nnapi.score_threshold;
  parameters.nms_iou_threshold = nnapi.iou_threshold;
  parameters.y_scale = nnapi.dy;
  parameters.x_scale = nnapi.dx;
  parameters.h_scale = nnapi.dh;
  parameters.w_scale = nnapi.dw;
  return parameters;
}

}  // namespace

DetectionPostProcess::DetectionPostProcess(vx::Graph* graph,
                                           const Parameters& parameters)
    : CustomOpBase(
          graph, 3, 4, -1, "DetectionPostProcess",
          {{"max_detections", parameters.max_detections},
           {"max_classes_per_detection", parameters.max_classes_per_detection},
           {"detections_per_class", parameters.detections_per_class},
           {"use_regular_nms", parameters.use_regular_nms},
           {"nms_score_threshold", parameters.nms_score_threshold},
           {"nms_iou_threshold", parameters.nms_iou_threshold},
           {"num_classes", parameters.num_classes},
           {"y_scale", parameters.y_scale},
           {"x_scale", parameters.x_scale},
           {"h_scale", parameters.h_scale},
           {"w_scale", parameters.w_scale}}),
      order_(Order::kTensorFlowLite),
      parameters_(parameters),
      source_(DetectionSource()) {
  kernel_resource_ = source_.c_str();
}

DetectionPostProcess::DetectionPostProcess(vx::Graph* graph,
                                           const NnapiParameters& parameters)
    : CustomOpBase(
          graph, 3, 4, -1, "DetectionPostProcess",
          {{"dy", parameters.dy},
           {"dx", parameters.dx},
           {"dh", parameters.dh},
           {"dw", parameters.dw},
           {"use_regular_nms", parameters.use_regular_nms},
           {"max_detections", parameters.max_detections},
           {"max_classes_per_detection", parameters.max_classes_per_detection},
           {"max_detections_per_class", parameters.max_detections_per_class},
           {"score_threshold", parameters.score_threshold},
           {"iou_threshold", parameters.iou_threshold},
           {"background_in_label", parameters.background_in_label}}),
      order_(Order::kNnapi),
      parameters_(Converted(parameters)),
      nnapi_(parameters),
      source_(DetectionSource()) {
  kernel_resource_ = source_.c_str();
}

std::shared_ptr<vx::Operation> DetectionPostProcess::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  if (order_ == Order::kNnapi) {
    return graph->CreateOperation<DetectionPostProcess>(nnapi_);
  }
  return graph->CreateOperation<DetectionPostProcess>(parameters_);
}

void DetectionPostProcess::SetupTypes() {
  const vx::DataType number =
      order_ == Order::kNnapi ? vx::DataType::INT32 : vx::DataType::FLOAT32;
  SetOutputType(0, vx::DataType::FLOAT32);
  SetOutputType(order_ == Order::kNnapi ? 1 : 2, vx::DataType::FLOAT32);
  SetOutputType(order_ == Order::kNnapi ? 2 : 1, number);
  SetOutputType(3, number);
}

void DetectionPostProcess::CheckParameters() const {
  const bool is_nnapi = order_ == Order::kNnapi;
  const Parameters& p = parameters_;
  CheckCount("max_detections", p.max_detections);
  CheckCount("max_classes_per_detection", p.max_classes_per_detection);
  CheckCount(is_nnapi ? "max_detections_per_class" : "detections_per_class",
             p.detections_per_class);
  if (!is_nnapi) CheckCount("num_classes", p.num_classes);
  CheckScale(is_nnapi ? "dy" : "y_scale", p.y_scale);
  CheckScale(is_nnapi ? "dx" : "x_scale", p.x_scale);
  CheckScale(is_nnapi ? "dh" : "h_scale", p.h_scale);
  CheckScale(is_nnapi ? "dw" : "w_scale", p.w_scale);
  if (std::isnan(p.nms_score_threshold)) Refuse("the score threshold is NaN");
  if (!(p.nms_iou_threshold > 0 && p.nms_iou_threshold <= 1)) {
    Refuse("the IoU threshold is " + NumberText(p.nms_iou_threshold) +
           ", expected above 0 and up to 1");
  }
}

void DetectionPostProcess::CheckShapes() const {
  const vx::ShapeType& boxes = inputs_size_[Boxes()];
  const vx::ShapeType& scores = inputs_size_[Scores()];
  const vx::ShapeType& anchors = inputs_size_[2];
  CheckShape("box encodings", boxes, boxes.size() == 3 && boxes[0] >= 4,
             "{K, N, B}, K >= 4");
  if (boxes[1] > kMaxBoxes) {
    Refuse(std::to_string(boxes[1]) + " boxes, expected up to " +
           std::to_string(uint32_t{kMaxBoxes}));
  }
  const std::string of_boxes =
      std::to_string(boxes[1]) + ", " + std::to_string(boxes[2]) + "}";
  CheckShape(
      "scores", scores,
      scores.size() == 3 && scores[1] == boxes[1] && scores[2] == boxes[2],
      "{C, " + of_boxes + ", as box encodings have it");
  CheckShape(
      "anchors", anchors, anchors == vx::ShapeType{4, boxes[1]},
      "{4, " + std::to_string(boxes[1]) + "}, one anchor per box encoding");
}

// In the order of NNAPI column 0 always is the background.
std::size_t DetectionPostProcess::CheckedClasses() const {
  const uint32_t columns = inputs_size_[Scores()][0];
  if (order_ == Order::kNnapi) {
    if (columns >= 2) return columns - 1;
    Refuse("scores have 1 column, expected the background and classes");
  }
  const auto classes = static_cast<uint32_t>(parameters_.num_classes);
  if (columns == classes || columns - 1 == classes) return classes;
  Refuse("scores have " + std::to_string(columns) +
         " columns, num_classes is " + std::to_string(classes) +
         "; expected as many, or one more with the background first");
}

DetectionPostProcess::Sizes DetectionPostProcess::CheckedSizes() const {
  const auto count = [](int32_t value) {
    return static_cast<std::size_t>(value);
  };
  const auto check = [](const char* tensor,
                        const std::vector<std::size_t>& factors) {
    return CheckedProduct("DetectionPostProcess", tensor, factors);
  };
  const Parameters& p = parameters_;
  const vx::ShapeType& boxes = inputs_size_[Boxes()];
  Sizes s;
  s.columns = boxes[0];
  s.anchors = boxes[1];
  s.batch = boxes[2];
  s.score_columns = inputs_size_[Scores()][0];
  s.classes = CheckedClasses();
  s.background = s.score_columns - s.classes;
  s.rows = check(
      "an image's detections (max_detections * "
      "max_classes_per_detection)",
      {count(p.max_detections), count(p.max_classes_per_detection)});
  check("boxes of all detections", {s.rows, s.batch, 4});
  s.lists = p.use_regular_nms ? s.classes : 1;
  s.list_limit = std::min(s.anchors, count(p.max_detections));
  s.image_limit = s.list_limit;
  if (p.use_regular_nms) {
    s.list_limit = std::min(s.list_limit, count(p.detections_per_class));
    s.image_limit = std::min(s.lists * s.list_limit, count(p.max_detections));
  }
  check("box encodings", {s.columns, s.anchors, s.batch});
  check("scores", {s.score_columns, PaddedKeys(s.anchors), s.batch});
  check("boxes that NMS keeps", {s.lists, PaddedKeys(s.list_limit), s.batch});
  return s;
}

void DetectionPostProcess::SetupShapeInfor() {
  CheckParameters();
  CheckShapes();
  sizes_ = CheckedSizes();
  const uint32_t batch = Extent(sizes_.batch);
  const uint32_t rows = Extent(sizes_.rows);
  for (uint32_t i = 0; i < 3; ++i) outputs_size_[i] = {rows, batch};
  outputs_size_[Boxes()] = {4, rows, batch};
  outputs_size_[3] = {batch};
}

void DetectionPostProcess::CheckTypes(
    const std::vector<vx::DataType>& types) const {
  const vx::DataType type = types[0];
  const bool is_quantized = type == vx::DataType::UINT8;
  if (!is_quantized && type != vx::DataType::FLOAT32) {
    Refuse(
        "inputs of another type than FLOAT32 and UINT8; put a DataConvert to "
        "FLOAT32 before them");
  }
  const char* const names[] = {Boxes() == 0 ? "box encodings" : "scores",
                               Boxes() == 0 ? "scores" : "box encodings",
                               "anchors"};
  for (uint32_t i = 0; i < 3; ++i) {
    if (types[i] != type) {
      Refuse(std::string(names[i]) + " (input " + std::to_string(i) +
             ") and input 0 have different types; expected all FLOAT32 or all "
             "UINT8");
    }
    if (is_quantized &&
        InputSpec(i).quantization_.Type() != vx::QuantType::ASYMMETRIC) {
      Refuse(std::string(names[i]) + " (input " + std::to_string(i) +
             ") are UINT8, expected with the quantization ASYMMETRIC");
    }
  }
}

void DetectionPostProcess::SetupParams(std::vector<vx::DataType> input_types,
                                       std::string& build_option) {
  CheckTypes(input_types);
  const Sizes& s = sizes_;
  const Parameters& p = parameters_;
  const bool is_nnapi = order_ == Order::kNnapi;
  build_option = is_nnapi ? "-DLABEL=int -DENCODINGS=INPUT1 -DSCORES=INPUT0"
                          : "-DLABEL=float -DENCODINGS=INPUT0 -DSCORES=INPUT1";
  if (input_types[0] == vx::DataType::UINT8) build_option += " -DQUANTIZED";
  const std::size_t padded = PaddedKeys(s.anchors);
  const std::size_t kept_padded = PaddedKeys(s.lists * s.list_limit);
  // In the order of Scalar.
  vx::ops::param_transform(
      std::make_tuple(
          Int(s.anchors), Int(s.columns), Int(s.score_columns),
          Int(s.background), Int(s.classes), Int(padded),
          LeastKeyFrom(p.nms_score_threshold),
          std::array<float, 4>{{p.y_scale, p.x_scale, p.h_scale, p.w_scale}},
          Int(s.lists), Int(s.list_limit), p.nms_iou_threshold,
          HalfStep(p.nms_iou_threshold), Int(kept_padded), Int(s.image_limit),
          Int(s.rows), Int(s.rows) / p.max_detections,
          nnapi_.background_in_label ? 1 : 0),
      param_list_);
  // In the order of Scratch.
  const uint32_t batch = Extent(s.batch);
  const uint32_t lists = Extent(s.lists) * batch;
  AddScratch(vx::DataType::FLOAT32, {4, Extent(s.anchors), batch});
  AddScratch(vx::DataType::UINT32, {Extent(padded), lists});
  AddScratch(vx::DataType::INT32, {Extent(s.list_limit), lists});
  AddScratch(vx::DataType::INT32, {lists});
  func_name_ = p.use_regular_nms ? "prepare_regular" : "prepare_fast";
  if (!p.use_regular_nms) return;
  AddScratch(vx::DataType::UINT32, {Extent(kept_padded), batch});
  AddScratch(vx::DataType::INT32, {Extent(s.image_limit), batch});
}

void DetectionPostProcess::SetupEnqueue(uint32_t& dim,
                                        std::vector<size_t>& gobal_size,
                                        std::vector<size_t>&) {
  const Sizes& s = sizes_;
  dim = 2;
  gobal_size[0] = PaddedKeys(s.anchors);
  gobal_size[1] = s.batch;
  SetKernelArgs({KernelArg::Input(Boxes()), KernelArg::Input(Scores()),
                 KernelArg::Input(2), Of(kBoxes), Of(kKeys), Of(kAnchors),
                 Of(kColumns), Of(kScoreColumns), Of(kBackground), Of(kClasses),
                 Of(kPadded), Of(kLeastKey), Of(kScales)});
  AddKernel("select_boxes", {s.lists * s.batch * kSelectionGroup},
            {kSelectionGroup},
            {Of(kKeys), Of(kBoxes), Of(kKept), Of(kNumbers), Of(kPadded),
             Of(kAnchors), Of(kLists), Of(kListLimit), Of(kThreshold),
             Of(kHalfStep)});
  const KernelArg boxes = KernelArg::Output(Boxes());
  const KernelArg labels = KernelArg::Output(Boxes() == 0 ? 1 : 2);
  const KernelArg scores = KernelArg::Output(Boxes() == 0 ? 2 : 0);
  const KernelArg detections = KernelArg::Output(3);
  if (!parameters_.use_regular_nms) {
    AddKernel("write_fast",
              {static_cast<std::size_t>(parameters_.max_detections), s.batch},
              {},
              {KernelArg::Input(Scores()), Of(kBoxes), Of(kKept), Of(kNumbers),
               boxes, labels, scores, detections, Of(kAnchors),
               Of(kScoreColumns), Of(kBackground), Of(kClasses), Of(kListLimit),
               Of(kRows), Of(kBestClasses), Of(kFirstLabel)});
    return;
  }
  AddKernel("gather_keys", {PaddedKeys(s.lists * s.list_limit), s.batch}, {},
            {Of(kKeys), Of(kKept), Of(kNumbers), Of(kKeptKeys), Of(kPadded),
             Of(kLists), Of(kListLimit), Of(kKeptPadded)});
  AddKernel("write_regular", {s.batch * kSelectionGroup}, {kSelectionGroup},
            {KernelArg::Input(Scores()), Of(kBoxes), Of(kKept), Of(kKeptKeys),
             Of(kTaken), boxes, labels, scores, detections, Of(kAnchors),
             Of(kScoreColumns), Of(kBackground), Of(kLists), Of(kListLimit),
             Of(kKeptPadded), Of(kImageLimit), Of(kRows), Of(kFirstLabel)});
}

}  // namespace custom_ops
}  // namespace tim
