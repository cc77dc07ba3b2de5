// DetectionPostProcess by published cases and by hand.
#include "custom_ops/detection_postprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/custom_ops/ssd_case.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::PublishedSsd;
using testing::SsdCase;
using testing::SsdDetections;
using testing::SsdOperand;
using testing::SsdOrder;

// On both devices, which must agree with the scalar reference; what the host
// found.
SsdDetections Found(const SsdCase& ssd) {
  const SsdDetections expected = testing::ExpectedSsd(ssd);
  {
    SCOPED_TRACE("opencl");
    ExpectSsd(expected, RunSsd(ssd, testing::OpenClGraph()));
  }
  SCOPED_TRACE("host");
  const SsdDetections found = RunSsd(ssd, testing::HostGraph());
  ExpectSsd(expected, found);
  return found;
}

const std::vector<float> kThreeBoxes = {0, 10,  1, 11,  //
                                        0, 0,   1, 1,   //
                                        0, 100, 1, 101};
const std::vector<float> kTwoBoxes = {0, 10, 1, 11,  //
                                      0, 10, 1, 11,  //
                                      0, 0,  0, 0};

auto Near(const std::vector<float>& expected, float tolerance = 1e-5f) {
  return ::testing::Pointwise(::testing::FloatNear(tolerance), expected);
}

// TensorFlow Lite's FloatTest.
TEST(DetectionPostProcess, FastNmsAsPublished) {
  const SsdDetections found = Found(PublishedSsd());
  EXPECT_THAT(found.boxes, Near(kThreeBoxes));
  EXPECT_THAT(found.labels, ElementsAre(1, 0, 0));
  EXPECT_THAT(found.scores, ElementsAre(.95f, .9f, .3f));
  EXPECT_THAT(found.numbers, ElementsAre(3));
}

// TensorFlow Lite's regular NMS; NNAPI's first example.
TEST(DetectionPostProcess, RegularNmsAsPublished) {
  for (const SsdOrder order : {SsdOrder::kTensorFlowLite, SsdOrder::kNnapi}) {
    SsdCase ssd = PublishedSsd();
    ssd.order = order;
    ssd.parameters.use_regular_nms = true;
    const SsdDetections found = Found(ssd);
    EXPECT_THAT(found.boxes, Near(kTwoBoxes));
    EXPECT_THAT(found.labels, ElementsAre(1, 0, 0));
    EXPECT_THAT(found.scores, ElementsAre(.95f, .93f, 0));
    EXPECT_THAT(found.numbers, ElementsAre(2));
  }
}

// Two classes of each anchor; the number counts anchors.
TEST(DetectionPostProcess, SeveralClassesOfAnAnchorStandInConsecutiveRows) {
  SsdCase ssd = PublishedSsd();
  ssd.parameters.max_classes_per_detection = 2;
  const SsdDetections found = Found(ssd);
  EXPECT_THAT(found.labels, ElementsAre(1, 0, 0, 1, 0, 1));
  EXPECT_THAT(found.scores, ElementsAre(.95f, .93f, .9f, .8f, .3f, .2f));
  EXPECT_THAT(found.numbers, ElementsAre(3));
}

TEST(DetectionPostProcess, QuantizedAsPublished) {
  SsdCase ssd = PublishedSsd();
  ssd.encodings = SsdOperand::Quantized(ssd.encodings.values, 2 / 255.0f, 128);
  ssd.scores = SsdOperand::Quantized(ssd.scores.values, 1 / 255.0f, 0);
  ssd.anchors = SsdOperand::Quantized(ssd.anchors.values, 100.5f / 255, 0);
  for (const bool is_regular : {false, true}) {
    ssd.parameters.use_regular_nms = is_regular;
    const SsdDetections found = Found(ssd);
    EXPECT_THAT(found.boxes, Near(is_regular ? kTwoBoxes : kThreeBoxes, 0.3f));
    EXPECT_THAT(found.labels, ElementsAre(1, 0, 0));
    EXPECT_THAT(found.scores,
                Near(is_regular ? std::vector<float>{.95f, .93f, 0}
                                : std::vector<float>{.95f, .9f, .3f},
                     0.5f / 255));
    EXPECT_THAT(found.numbers, ElementsAre(is_regular ? 2 : 3));
  }
}

// NNAPI: seven columns per box, of which the last three are key points.
TEST(DetectionPostProcess, MoreColumnsOfABoxCountForNothing) {
  SsdCase ssd = PublishedSsd();
  const std::vector<float> four = ssd.encodings.values;
  ssd.encodings.values.clear();
  for (uint32_t n = 0; n < ssd.count; ++n) {
    ssd.encodings.values.insert(ssd.encodings.values.end(), &four[n * 4],
                                &four[n * 4] + 4);
    ssd.encodings.values.insert(ssd.encodings.values.end(), {1, 2, NAN});
  }
  ssd.columns = 7;
  for (const SsdOrder order : {SsdOrder::kTensorFlowLite, SsdOrder::kNnapi}) {
    ssd.order = order;
    EXPECT_THAT(Found(ssd).boxes, Near(kThreeBoxes));
  }
}

TEST(DetectionPostProcess, TheBackgroundMayCountAmongTheLabelsOfNnapi) {
  SsdCase ssd = PublishedSsd();
  ssd.order = SsdOrder::kNnapi;
  ssd.background_in_label = true;
  EXPECT_THAT(Found(ssd).labels, ElementsAre(2, 1, 1));
  ssd.parameters.use_regular_nms = true;
  EXPECT_THAT(Found(ssd).labels, ElementsAre(2, 1, 0));
}

TEST(DetectionPostProcess, ScoresMayLackTheBackground) {
  SsdCase ssd = PublishedSsd();
  const std::vector<float> three = ssd.scores.values;
  ssd.scores.values.clear();
  for (uint32_t n = 0; n < ssd.count; ++n) {
    ssd.scores.values.push_back(three[n * 3 + 1]);
    ssd.scores.values.push_back(three[n * 3 + 2]);
  }
  ssd.score_columns = 2;
  EXPECT_THAT(Found(ssd).labels, ElementsAre(1, 0, 0));
}

// A box without area, which TensorFlow Lite takes, too: IoU 0.
TEST(DetectionPostProcess, BoxesWithoutAreaSuppressNothing) {
  SsdCase ssd = PublishedSsd();
  for (uint32_t n : {0, 1}) ssd.anchors.values[n * 4 + 2] = 0;
  ssd.parameters.max_detections = 6;
  const SsdDetections found = Found(ssd);
  EXPECT_THAT(found.scores, ElementsAre(.95f, .9f, .75f, .6f, .3f, 0));
  EXPECT_THAT(found.numbers, ElementsAre(5));
}

TEST(DetectionPostProcess, InvalidBoxesAreNotSelectedAndSuppressNothing) {
  for (const float height : {-1.0f, NAN}) {
    SsdCase ssd = PublishedSsd();
    ssd.anchors.values[3 * 4 + 2] = height;  // of the highest score
    for (const bool is_regular : {false, true}) {
      ssd.parameters.use_regular_nms = is_regular;
      ssd.parameters.detections_per_class = 100;
      const SsdDetections found = Found(ssd);
      EXPECT_THAT(found.scores, ElementsAre(.9f, is_regular ? .8f : .5f,
                                            is_regular ? .5f : .3f));
    }
  }
}

TEST(DetectionPostProcess, ScoresThatAreNaNCountForNothing) {
  SsdCase ssd = PublishedSsd();
  ssd.parameters.max_classes_per_detection = 2;
  ssd.scores.values[3 * 3 + 2] = NAN;  // one class of an anchor
  ssd.scores.values[0 * 3 + 1] = NAN;  // all of another
  ssd.scores.values[0 * 3 + 2] = NAN;
  const SsdDetections found = Found(ssd);
  EXPECT_THAT(found.labels, ElementsAre(0, 0, 0, 1, 0, 1));
  EXPECT_THAT(found.scores, ElementsAre(.93f, 0, .75f, .72f, .3f, .2f));
}

TEST(DetectionPostProcess, EqualScoresGoByIndex) {
  SsdCase ssd = PublishedSsd();
  for (float& score : ssd.scores.values) score = 0.5f;
  for (uint32_t n = 0; n < ssd.count; ++n) {
    ssd.anchors.values[n * 4] = static_cast<float>(10 * n);
  }
  ssd.parameters.max_detections = 4;
  ssd.parameters.detections_per_class = 3;
  const auto first_edges = [](const SsdDetections& found) {
    std::vector<float> edges;
    for (size_t i = 0; i < found.boxes.size(); i += 4) {
      edges.push_back(std::round(found.boxes[i] + 0.5f));
    }
    return edges;
  };
  const SsdDetections fast = Found(ssd);
  EXPECT_THAT(first_edges(fast), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(fast.labels, ElementsAre(0, 0, 0, 0));
  ssd.parameters.use_regular_nms = true;
  const SsdDetections regular = Found(ssd);
  EXPECT_THAT(first_edges(regular), ElementsAre(0, 10, 20, 0));
  EXPECT_THAT(regular.labels, ElementsAre(0, 0, 0, 1));
}

TEST(DetectionPostProcess, NothingAboveTheThreshold) {
  for (const bool is_regular : {false, true}) {
    SsdCase ssd = PublishedSsd();
    ssd.parameters.use_regular_nms = is_regular;
    ssd.parameters.nms_score_threshold = 0.96f;
    EXPECT_THAT(Found(ssd).numbers, ElementsAre(0));
    // A score that equals it is kept.
    ssd.parameters.nms_score_threshold = 0.95f;
    EXPECT_THAT(Found(ssd).numbers, ElementsAre(1));
  }
}

// Three cells wide, one apart: 2 of 4 in common.
TEST(DetectionPostProcess, AnIouThatEqualsTheThresholdDoesNotSuppress) {
  SsdCase ssd = PublishedSsd();
  ssd.count = 2;
  ssd.encodings.values.assign(8, 0);
  ssd.scores.values = {0, .9f, 0, 0, .8f, 0};
  ssd.anchors.values = {0, 0, 1, 3, 0, 1, 1, 3};
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(2));
  ssd.parameters.nms_iou_threshold = std::nextafter(0.5f, 0.0f);
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(1));
}

TEST(DetectionPostProcess, ImagesOfABatchAreApart) {
  SsdCase ssd = PublishedSsd();
  ssd.batch = 3;
  for (SsdOperand* operand : {&ssd.encodings, &ssd.scores}) {
    const std::vector<float> one = operand->values;
    for (int i = 1; i < 3; ++i) {
      operand->values.insert(operand->values.end(), one.begin(), one.end());
    }
  }
  // The second image has nothing, the third one box.
  for (size_t i = 18; i < 54; ++i) ssd.scores.values[i] = -1;
  ssd.scores.values[36 + 5 * 3 + 2] = .7f;
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(3, 0, 1));
  ssd.parameters.use_regular_nms = true;
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(2, 0, 1));
}

TEST(DetectionPostProcess, MoreDetectionsThanAnchorsLeaveRowsOfZeros) {
  SsdCase ssd = PublishedSsd();
  ssd.parameters.max_detections = 70;
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(3));
  ssd.parameters.use_regular_nms = true;
  ssd.parameters.max_classes_per_detection = 2;
  EXPECT_THAT(Found(ssd).numbers, ElementsAre(2));
}

// What devices without double take, within the tolerance that the header says.
class InFloat : public DetectionPostProcess {
 public:
  using DetectionPostProcess::DetectionPostProcess;

 protected:
  void SetupParams(std::vector<vx::DataType> types,
                   std::string& options) override {
    DetectionPostProcess::SetupParams(types, options);
    options += " -DDECODE_IN_FLOAT";
  }
};

TEST(DetectionPostProcess, DevicesWithoutDoubleDecodeInFloat) {
  SsdCase ssd = PublishedSsd();
  for (size_t i = 0; i < ssd.encodings.values.size(); ++i) {
    ssd.encodings.values[i] = static_cast<float>(i % 7) * 0.9f - 2.3f;
  }
  const auto graph = testing::OpenClGraph();
  const testing::SsdTensors tensors = SsdTensorsOf(ssd, graph.get());
  graph->CreateOperation<InFloat>(ssd.parameters)
      ->BindInputs(tensors.inputs)
      .BindOutputs(tensors.outputs);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  SsdDetections found;
  found.boxes = testing::Read(tensors.outputs[0]);
  found.labels = testing::Read(tensors.outputs[1]);
  found.scores = testing::Read(tensors.outputs[2]);
  found.numbers = testing::Read(tensors.outputs[3]);
  ExpectSsd(testing::ExpectedSsd(ssd), found);
}

}  // namespace
}  // namespace tim::custom_ops
