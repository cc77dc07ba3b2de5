// What DetectionPostProcess refuses, by its messages.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "custom_ops/detection_postprocess.h"
#include "tests/custom_ops/ssd_case.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using testing::SsdCase;
using testing::SsdOrder;
using vx::DataType;
using vx::ShapeType;

SsdCase Nnapi() {
  SsdCase ssd = testing::PublishedSsd();
  ssd.order = SsdOrder::kNnapi;
  return ssd;
}

void ExpectBound(const SsdCase& ssd, const testing::SsdTensors& tensors,
                 vx::Graph& graph, const std::string& text) {
  SsdOperation(ssd, &graph)
      ->BindInputs(tensors.inputs)
      .BindOutputs(tensors.outputs);
  EXPECT_TRUE(CompileFailsWith(graph, text));
  EXPECT_TRUE(CompileFailsWith(graph, "user.DetectionPostProcess#"));
}

// On both devices.
void ExpectFailure(const SsdCase& ssd, const std::string& text) {
  for (const auto& graph : {testing::HostGraph(), testing::OpenClGraph()}) {
    ExpectBound(ssd, SsdTensorsOf(ssd, graph.get()), *graph, text);
  }
}

// The published case with other inputs.
void ExpectInputFails(uint32_t input, const vx::TensorSpec& spec,
                      const std::string& text,
                      const SsdCase& ssd = testing::PublishedSsd()) {
  for (const auto& graph : {testing::HostGraph(), testing::OpenClGraph()}) {
    testing::SsdTensors tensors = SsdTensorsOf(ssd, graph.get());
    tensors.inputs[input] = graph->CreateTensor(spec);
    ExpectBound(ssd, tensors, *graph, text);
  }
}

using Change = std::function<void(DetectionPostProcess::Parameters&)>;

void ExpectParameterFails(const Change& change, const std::string& text,
                          SsdCase ssd = testing::PublishedSsd()) {
  change(ssd.parameters);
  ExpectFailure(ssd, text);
}

TEST(DetectionPostProcessErrors, CountsBelowOne) {
  for (const int32_t count : {0, -1}) {
    const std::string is =
        " is " + std::to_string(count) + ", expected 1 or more";
    ExpectParameterFails([=](auto& p) { p.max_detections = count; },
                         "max_detections" + is);
    ExpectParameterFails([=](auto& p) { p.max_classes_per_detection = count; },
                         "max_classes_per_detection" + is);
    ExpectParameterFails([=](auto& p) { p.detections_per_class = count; },
                         "detections_per_class" + is);
    ExpectParameterFails([=](auto& p) { p.num_classes = count; },
                         "num_classes" + is);
    ExpectParameterFails([=](auto& p) { p.detections_per_class = count; },
                         "max_detections_per_class" + is, Nnapi());
  }
}

TEST(DetectionPostProcessErrors, Thresholds) {
  for (const float threshold : {0.0f, -0.5f, 1.001f, NAN}) {
    const std::string text = "the IoU threshold is " +
                             std::to_string(threshold) +
                             ", expected above 0 and up to 1";
    const Change change = [=](auto& p) { p.nms_iou_threshold = threshold; };
    ExpectParameterFails(change, text);
    ExpectParameterFails(change, text, Nnapi());
  }
  ExpectParameterFails([](auto& p) { p.nms_score_threshold = NAN; },
                       "the score threshold is NaN");
}

TEST(DetectionPostProcessErrors, ScalesThatNothingCanBeDividedBy) {
  for (const float scale :
       {0.0f, NAN, std::numeric_limits<float>::infinity()}) {
    const std::string is =
        " is " + std::to_string(scale) + "; boxes are divided";
    ExpectParameterFails([=](auto& p) { p.y_scale = scale; }, "y_scale" + is);
    ExpectParameterFails([=](auto& p) { p.x_scale = scale; }, "x_scale" + is);
    ExpectParameterFails([=](auto& p) { p.h_scale = scale; }, "h_scale" + is);
    ExpectParameterFails([=](auto& p) { p.w_scale = scale; }, "w_scale" + is);
    ExpectParameterFails([=](auto& p) { p.y_scale = scale; }, "dy" + is,
                         Nnapi());
    ExpectParameterFails([=](auto& p) { p.w_scale = scale; }, "dw" + is,
                         Nnapi());
  }
}

TEST(DetectionPostProcessErrors, ProductsThatOverflow) {
  ExpectParameterFails(
      [](auto& p) {
        p.max_detections = 65536;
        p.max_classes_per_detection = 65536;
      },
      "an image's detections (max_detections * max_classes_per_detection) "
      "would "
      "have 65536 * 65536 elements, more than 2^31 - 1");
  ExpectParameterFails([](auto& p) { p.max_detections = 0x7fffffff; },
                       "boxes of all detections would have 2147483647 * 1 * 4");
}

TEST(DetectionPostProcessErrors, Shapes) {
  ExpectInputFails(0, testing::Floats({3, 6, 1}, vx::INPUT),
                   "box encodings have the shape {3, 6, 1}, expected {K, N, "
                   "B}, K >= 4");
  ExpectInputFails(0, testing::Floats({4, 6}, vx::INPUT),
                   "box encodings have the shape {4, 6}");
  ExpectInputFails(0, testing::Floats({4, 262145, 1}, vx::INPUT),
                   "262145 boxes, expected up to 262144");
  for (const ShapeType& shape : {ShapeType{3, 7, 1}, {3, 6, 2}, {3, 6}}) {
    ExpectInputFails(1, testing::Floats(shape, vx::INPUT),
                     ", expected {C, 6, 1}, as box encodings have it");
  }
  // TensorFlow Lite reads behind anchors of another number.
  for (const ShapeType& shape :
       {ShapeType{4, 5}, {4, 7}, {5, 6}, {4, 6, 1}, {4}}) {
    ExpectInputFails(2, testing::Floats(shape, vx::INPUT),
                     ", expected {4, 6}, one anchor per box encoding");
  }
}

TEST(DetectionPostProcessErrors, NumbersOfClasses) {
  for (const int32_t classes : {1, 4}) {
    ExpectParameterFails(
        [=](auto& p) { p.num_classes = classes; },
        "scores have 3 columns, num_classes is " + std::to_string(classes) +
            "; expected as many, or one more with the background first");
  }
  ExpectInputFails(0, testing::Floats({1, 6, 1}, vx::INPUT),
                   "scores have 1 column, expected the background and classes",
                   Nnapi());
}

TEST(DetectionPostProcessErrors, Types) {
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 0);
  for (const DataType type : {DataType::INT8, DataType::FLOAT16}) {
    ExpectInputFails(0, vx::TensorSpec(type, {4, 6, 1}, vx::INPUT),
                     "inputs of another type than FLOAT32 and UINT8; put a "
                     "DataConvert to FLOAT32 before them");
  }
  ExpectInputFails(
      1, vx::TensorSpec(DataType::UINT8, {3, 6, 1}, vx::INPUT, quantization),
      "scores (input 1) and input 0 have different types");
  // TensorFlow Lite does not look at it.
  ExpectInputFails(
      2, vx::TensorSpec(DataType::UINT8, {4, 6}, vx::INPUT, quantization),
      "anchors (input 2) and input 0 have different types");
}

TEST(DetectionPostProcessErrors, CodesWithoutAScale) {
  SsdCase ssd = testing::PublishedSsd();
  for (auto* operand : {&ssd.encodings, &ssd.scores, &ssd.anchors}) {
    *operand = testing::SsdOperand::Quantized(operand->values, 0.5f, 0);
  }
  ExpectInputFails(2, vx::TensorSpec(DataType::UINT8, {4, 6}, vx::INPUT),
                   "anchors (input 2) are UINT8, expected with the "
                   "quantization ASYMMETRIC",
                   ssd);
}

TEST(DetectionPostProcessErrors, OutputsOfAnotherType) {
  for (const auto& graph : {testing::HostGraph(), testing::OpenClGraph()}) {
    const SsdCase ssd = testing::PublishedSsd();
    testing::SsdTensors tensors = SsdTensorsOf(ssd, graph.get());
    tensors.outputs[1] =
        graph->CreateTensor(vx::TensorSpec(DataType::INT32, {}, vx::OUTPUT));
    ExpectBound(ssd, tensors, *graph, "SetupTypes() made output 1");
  }
}

}  // namespace
}  // namespace tim::custom_ops
