// The custom operator TFLite_Detection_PostProcess.
#include <cmath>

#include "custom_ops/detection_postprocess.h"
#include "models/tflite/node.h"
#include "models/tflite/supplied.h"

namespace tim::models::tflite {
namespace {

using custom_ops::DetectionPostProcess;

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

}  // namespace

void AddDetection(OperatorTable* table) {
  (*table)["TFLite_Detection_PostProcess"] = Detections;
}

}  // namespace tim::models::tflite
