// Selection of boxes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "custom_ops/detection_postprocess.h"
#include "custom_ops/non_max_suppression.h"
#include "models/tflite/node.h"
#include "models/tflite/supplied.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/stridedslice.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;
using custom_ops::DetectionPostProcess;
using custom_ops::NonMaxSuppression;

// Options by name; members of the file that are numbers of the other kind
// count as well.
class Options {
 public:
  explicit Options(SuppliedNode read) : read_(std::move(read)) {}

  Result<double> Number(Node& node, const std::string& name,
                        const double* otherwise) const {
    const auto ints = read_.ints.find(name);
    if (ints != read_.ints.end() && ints->second.size() == 1) {
      return static_cast<double>(ints->second[0]);
    }
    const auto floats = read_.floats.find(name);
    if (floats != read_.floats.end() && floats->second.size() == 1) {
      return floats->second[0];
    }
    if (otherwise != nullptr) return *otherwise;
    return node.Refuse(name, "the options have no such number");
  }

  Status Read(Node& node, const std::string& name, float* value) const {
    TIM_ASSIGN_OR_RETURN(const double number, Number(node, name, nullptr));
    *value = static_cast<float>(number);
    return OkStatus();
  }

  Status ReadCount(Node& node, const std::string& name, const double* otherwise,
                   int32_t* value) const {
    TIM_ASSIGN_OR_RETURN(const double number, Number(node, name, otherwise));
    if (!(number >= 0 && number <= INT32_MAX) || number != std::floor(number)) {
      return node.Refuse(name, "it is ", number);
    }
    *value = static_cast<int32_t>(number);
    return OkStatus();
  }

 private:
  const SuppliedNode read_;
};

Result<DetectionPostProcess::Parameters> ParametersOf(Node& node) {
  SuppliedNode read;
  const Status status = ReadCustomOptions(*node.table, &read);
  if (!status.ok()) return node.Refuse("options", status.message());
  const Options options(std::move(read));
  DetectionPostProcess::Parameters made;
  const double boxes_of_class = 100;
  const double fast = 0;
  int32_t is_regular = 0;
  TIM_RETURN_IF_ERROR(
      options.ReadCount(node, "max_detections", nullptr, &made.max_detections));
  TIM_RETURN_IF_ERROR(options.ReadCount(node, "max_classes_per_detection",
                                        nullptr,
                                        &made.max_classes_per_detection));
  TIM_RETURN_IF_ERROR(options.ReadCount(node, "detections_per_class",
                                        &boxes_of_class,
                                        &made.detections_per_class));
  TIM_RETURN_IF_ERROR(
      options.ReadCount(node, "use_regular_nms", &fast, &is_regular));
  made.use_regular_nms = is_regular != 0;
  TIM_RETURN_IF_ERROR(
      options.ReadCount(node, "num_classes", nullptr, &made.num_classes));
  const std::pair<const char*, float*> reals[] = {
      {"nms_score_threshold", &made.nms_score_threshold},
      {"nms_iou_threshold", &made.nms_iou_threshold},
      {"y_scale", &made.y_scale},
      {"x_scale", &made.x_scale},
      {"h_scale", &made.h_scale},
      {"w_scale", &made.w_scale}};
  for (const auto& [name, value] : reals) {
    TIM_RETURN_IF_ERROR(options.Read(node, name, value));
  }
  return made;
}

Result<float> OneFloat(Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(const auto numbers, node.ConstantFloats(input));
  if (numbers.size() == 1) return numbers[0];
  return node.Refuse(StrCat("input ", input), "it has ", numbers.size(),
                     " elements, not 1");
}

// Inputs: encodings [B, N, K], scores [B, N, C], anchors [N, 4].
Status Detections(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3, 4));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 3));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 3));
  TIM_RETURN_IF_ERROR(node.ExpectRank(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto parameters, ParametersOf(node));
  std::vector<Value> operands = node.inputs;
  TIM_ASSIGN_OR_RETURN(operands[2], node.WeightsFor(operands[0], operands[2]));
  const int64_t batch = operands[0].dims[0];
  const int64_t rows =
      static_cast<int64_t>(parameters.max_detections) *
      (parameters.use_regular_nms ? 1 : parameters.max_classes_per_detection);
  const auto wanted = [](Dims dims) {
    return Wanted::Of(vx::DataType::FLOAT32, std::move(dims));
  };
  TIM_ASSIGN_OR_RETURN(
      auto made,
      node.builder().AddMade(
          node.builder().graph()->CreateOperation<DetectionPostProcess>(
              parameters),
          operands,
          {wanted({batch, rows, 4}), wanted({batch, rows}),
           wanted({batch, rows}), wanted({batch})}));
  for (size_t i = 0; i < 4; ++i) {
    TIM_RETURN_IF_ERROR(node.SetOutput(i, std::move(made[i])));
  }
  return OkStatus();
}

// Count and thresholds of a selection.
Result<NonMaxSuppression::Parameters> SelectionOf(Node& node) {
  NonMaxSuppression::Parameters made;
  TIM_ASSIGN_OR_RETURN(const int64_t most, node.ConstantInt(2));
  if (most < 1 || most > (1 << 18)) {
    return node.Refuse("input 2", most, " boxes are asked for");
  }
  made.max_output_boxes_per_class = static_cast<int32_t>(most);
  TIM_ASSIGN_OR_RETURN(const float overlap, OneFloat(node, 3));
  if (!(overlap >= 0 && overlap <= 1)) {
    return node.Refuse("input 3", "the threshold of overlaps is ", overlap);
  }
  // An overlap of the threshold drops a box, too: one of 0 all but the first.
  if (overlap == 0) made.max_output_boxes_per_class = 1;
  made.iou_threshold = std::nextafter(overlap, 0.0f);
  TIM_ASSIGN_OR_RETURN(made.score_threshold, OneFloat(node, 4));
  if (node.op == "NON_MAX_SUPPRESSION_V5") {
    TIM_ASSIGN_OR_RETURN(const float sigma, OneFloat(node, 5));
    if (sigma != 0) {
      return node.Refuse("input 5", "sigma is ", sigma,
                         ", soft suppression; 0 is taken");
    }
  }
  return made;
}

// Inputs: boxes [N, 4], scores [N], numbers.  Outputs: as many boxes as are
// asked for, the scores of those (V5), and how many count; the others are 0.
Status Selection(Node& node) {
  const bool has_scores = node.op == "NON_MAX_SUPPRESSION_V5";
  TIM_RETURN_IF_ERROR(
      node.Expect(has_scores ? 6 : 5, has_scores ? 6 : 5, has_scores ? 3 : 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 1));
  if (node.inputs[0].dims[1] != 4 ||
      node.inputs[0].dims[0] != node.inputs[1].dims[0] ||
      node.inputs[0].dims[0] < 1 ||
      node.inputs[0].dims[0] > NonMaxSuppression::kMaxBoxes ||
      node.inputs[0].type != vx::DataType::FLOAT32 ||
      node.inputs[1].type != vx::DataType::FLOAT32) {
    return node.Refuse("inputs", Describe(node.inputs[0]), " with the scores ",
                       Describe(node.inputs[1]));
  }
  TIM_ASSIGN_OR_RETURN(const auto parameters, SelectionOf(node));
  const Value& scores = node.inputs[1];
  const int64_t boxes = node.inputs[0].dims[0];
  TIM_ASSIGN_OR_RETURN(const int64_t most, node.ConstantInt(2));
  const int64_t rows =
      std::min<int64_t>(parameters.max_output_boxes_per_class, boxes);
  GraphBuilder& build = node.builder();
  const Wanted ints = Wanted::Of(vx::DataType::INT32);
  TIM_ASSIGN_OR_RETURN(const Value batch,
                       build.Reshape(node.inputs[0], {1, boxes, 4}));
  TIM_ASSIGN_OR_RETURN(const Value lists,
                       build.Reshape(scores, {1, 1, scores.dims[0]}));
  TIM_ASSIGN_OR_RETURN(
      auto made,
      build.AddMade(
          build.graph()->CreateOperation<NonMaxSuppression>(parameters),
          {batch, lists},
          {Wanted::Of(vx::DataType::INT32, {rows, 3}),
           Wanted::Of(vx::DataType::INT32, {1})}));
  const std::vector<int32_t> begin = {2, 0};
  const std::vector<int32_t> end = {3, static_cast<int32_t>(rows)};
  const std::vector<int32_t> stride = {1, 1};
  TIM_ASSIGN_OR_RETURN(const Value column,
                       build.Add<ops::StridedSlice>({made[0]}, ints, begin, end,
                                                    stride, 0, 0, 0));
  TIM_ASSIGN_OR_RETURN(const Value chosen, build.Reshape(column, {rows}));
  const std::vector<uint32_t> front = {0};
  const std::vector<uint32_t> behind = {static_cast<uint32_t>(most - rows)};
  const auto lengthened = [&](const Value& value) -> Result<Value> {
    if (rows == most) return value;
    return build.Add<ops::Pad>({value}, Wanted::Like(value), front, behind, 0);
  };
  TIM_RETURN_IF_ERROR(node.SetOutput(0, lengthened(chosen)));
  TIM_RETURN_IF_ERROR(
      node.SetOutput(has_scores ? 2 : 1, build.Reshape(made[1], {})));
  if (!has_scores) return OkStatus();
  const Wanted floats = Wanted::Like(scores);
  TIM_ASSIGN_OR_RETURN(const Value taken,
                       build.Add<ops::Gather>({scores, chosen}, floats, 0, 0));
  std::vector<int32_t> places(static_cast<size_t>(rows));
  std::iota(places.begin(), places.end(), 0);
  TIM_ASSIGN_OR_RETURN(
      const Value counts,
      build.Add<ops::Less>({build.ConstantOf(places, {rows}), made[1]},
                           Wanted::Of(vx::DataType::BOOL8)));
  TIM_ASSIGN_OR_RETURN(
      const Value counted,
      build.Add<ops::Select>({counts, taken, build.ConstantOf<float>({0}, {1})},
                             floats));
  return node.SetOutput(1, lengthened(counted));
}

}  // namespace

void AddDetection(OperatorTable* table) {
  (*table)["NON_MAX_SUPPRESSION_V4"] = Selection;
  (*table)["NON_MAX_SUPPRESSION_V5"] = Selection;
  (*table)["TFLite_Detection_PostProcess"] = Detections;
}

}  // namespace tim::models::tflite
