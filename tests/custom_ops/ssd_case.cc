#include "tests/custom_ops/ssd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using custom_ops::DetectionPostProcess;
using vx::DataType;

std::shared_ptr<vx::Tensor> TensorOf(const SsdOperand& operand,
                                     const vx::ShapeType& shape,
                                     vx::Graph* graph) {
  if (operand.codes.empty()) {
    const auto tensor = graph->CreateTensor(Floats(shape, vx::INPUT));
    Write(tensor, operand.values);
    return tensor;
  }
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, operand.scale,
                                      operand.zero_point);
  const auto tensor = graph->CreateTensor(
      vx::TensorSpec(DataType::UINT8, shape, vx::INPUT, quantization));
  Write(tensor, operand.codes);
  return tensor;
}

std::vector<float> Numbers(const std::shared_ptr<vx::Tensor>& tensor) {
  if (tensor->GetDataType() == DataType::FLOAT32) return Read(tensor);
  const std::vector<int32_t> numbers = Read<int32_t>(tensor);
  return std::vector<float>(numbers.begin(), numbers.end());
}

// 0 where a coordinate is infinite: it is equal.
float Tolerance(float low, float high, float anchor) {
  const float offset = (low + high) / 2 - anchor;
  const float sum = std::abs(offset) + std::abs(anchor) + std::abs(high - low);
  return std::isfinite(sum) ? 1e-6f * sum : 0;
}

void SetRow(const bench::ScalarBox& box, const float* anchor, size_t row,
            SsdDetections* to) {
  const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
  for (size_t i = 0; i < 4; ++i) {
    to->boxes[row * 4 + i] = corners[i];
    to->tolerances[row * 4 + i] =
        Tolerance(corners[i % 2], corners[i % 2 + 2], anchor[i % 2]);
  }
}

}  // namespace

SsdOperand SsdOperand::OfCodes(std::vector<uint8_t> codes, float scale,
                               int32_t zero_point) {
  SsdOperand operand;
  operand.codes = std::move(codes);
  operand.scale = scale;
  operand.zero_point = zero_point;
  for (const uint8_t code : operand.codes) {
    operand.values.push_back(static_cast<float>(code - zero_point) * scale);
  }
  return operand;
}

SsdOperand SsdOperand::Quantized(const std::vector<float>& values, float scale,
                                 int32_t zero_point) {
  std::vector<uint8_t> codes;
  for (const float value : values) {
    const float code = std::nearbyint(value / scale) + zero_point;
    codes.push_back(static_cast<uint8_t>(std::clamp(code, 0.0f, 255.0f)));
  }
  return OfCodes(std::move(codes), scale, zero_point);
}

SsdTensors SsdTensorsOf(const SsdCase& ssd, vx::Graph* graph) {
  const auto encodings =
      TensorOf(ssd.encodings, {ssd.columns, ssd.count, ssd.batch}, graph);
  const auto scores =
      TensorOf(ssd.scores, {ssd.score_columns, ssd.count, ssd.batch}, graph);
  const auto anchors = TensorOf(ssd.anchors, {4, ssd.count}, graph);
  const bool is_nnapi = ssd.order == SsdOrder::kNnapi;
  const DataType number = is_nnapi ? DataType::INT32 : DataType::FLOAT32;
  std::vector<std::shared_ptr<vx::Tensor>> outputs;
  for (int i = 0; i < 4; ++i) {
    const bool is_number = i == 3 || i == (is_nnapi ? 2 : 1);
    // Their shapes are for the operator to say.
    outputs.push_back(graph->CreateTensor(vx::TensorSpec(
        is_number ? number : DataType::FLOAT32, {}, vx::OUTPUT)));
  }
  if (is_nnapi) return {{scores, encodings, anchors}, outputs};
  return {{encodings, scores, anchors}, outputs};
}

std::shared_ptr<vx::Operation> SsdOperation(const SsdCase& ssd,
                                            vx::Graph* graph) {
  if (ssd.order == SsdOrder::kTensorFlowLite) {
    return graph->CreateOperation<DetectionPostProcess>(ssd.parameters);
  }
  const DetectionPostProcess::Parameters& from = ssd.parameters;
  DetectionPostProcess::NnapiParameters to;
  to.dy = from.y_scale;
  to.dx = from.x_scale;
  to.dh = from.h_scale;
  to.dw = from.w_scale;
  to.use_regular_nms = from.use_regular_nms;
  to.max_detections = from.max_detections;
  to.max_classes_per_detection = from.max_classes_per_detection;
  to.max_detections_per_class = from.detections_per_class;
  to.score_threshold = from.nms_score_threshold;
  to.iou_threshold = from.nms_iou_threshold;
  to.background_in_label = ssd.background_in_label;
  return graph->CreateOperation<DetectionPostProcess>(to);
}

SsdDetections RunSsd(const SsdCase& ssd, std::shared_ptr<vx::Graph> graph) {
  const SsdTensors tensors = SsdTensorsOf(ssd, graph.get());
  // Through a clone, which must be the same operator.
  const std::shared_ptr<vx::Graph> other = HostGraph();
  SsdOperation(ssd, other.get())
      ->Clone(graph)
      ->BindInputs(tensors.inputs)
      .BindOutputs(tensors.outputs);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  SsdDetections found;
  const bool is_nnapi = ssd.order == SsdOrder::kNnapi;
  found.boxes = Read(tensors.outputs[is_nnapi ? 1 : 0]);
  found.labels = Numbers(tensors.outputs[is_nnapi ? 2 : 1]);
  found.scores = Read(tensors.outputs[is_nnapi ? 0 : 2]);
  found.numbers = Numbers(tensors.outputs[3]);
  return found;
}

bench::ScalarHead ScalarHeadOf(const SsdCase& ssd, uint32_t image) {
  const auto& p = ssd.parameters;
  bench::ScalarHead head;
  head.count = ssd.count;
  head.columns = ssd.columns;
  head.score_columns = ssd.score_columns;
  head.background =
      ssd.order == SsdOrder::kNnapi ? 1 : ssd.score_columns - p.num_classes;
  head.encodings = &ssd.encodings.values[image * ssd.count * ssd.columns];
  head.scores = &ssd.scores.values[image * ssd.count * ssd.score_columns];
  head.anchors = ssd.anchors.values.data();
  const float scales[] = {p.y_scale, p.x_scale, p.h_scale, p.w_scale};
  std::copy(scales, scales + 4, head.scales);
  head.score_threshold = p.nms_score_threshold;
  head.max_detections = p.max_detections;
  head.best_classes = p.max_classes_per_detection;
  head.detections_per_class = p.detections_per_class;
  return head;
}

SsdDetections ExpectedSsd(const SsdCase& ssd) {
  const size_t rows = ssd.Rows();
  SsdDetections to;
  to.boxes.resize(rows * ssd.batch * 4);
  to.tolerances.resize(to.boxes.size());
  to.labels.resize(rows * ssd.batch);
  to.scores.resize(rows * ssd.batch);
  for (uint32_t b = 0; b < ssd.batch; ++b) {
    const bench::ScalarHead head = ScalarHeadOf(ssd, b);
    const std::vector<bench::ScalarBox> boxes = Decode(head);
    const bench::IouAbove rule{ssd.parameters.nms_iou_threshold};
    size_t number = 0;
    std::vector<bench::ScalarDetection> detections;
    if (ssd.parameters.use_regular_nms) {
      detections = DetectRegular(head, boxes, rule);
      number = detections.size();
    } else {
      detections = DetectFast(head, boxes, rule, &number);
    }
    for (const bench::ScalarDetection& found : detections) {
      const size_t row = b * rows + found.row;
      SetRow(boxes[found.anchor], head.anchors + found.anchor * 4, row, &to);
      to.labels[row] = static_cast<float>(found.label) +
                       (ssd.background_in_label ? 1.0f : 0.0f);
      to.scores[row] = head.Score(found.anchor, found.label);
    }
    to.numbers.push_back(static_cast<float>(number));
  }
  return to;
}

void ExpectSsd(const SsdDetections& expected, const SsdDetections& found) {
  EXPECT_EQ(found.numbers, expected.numbers);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.scores, expected.scores);
  ASSERT_EQ(found.boxes.size(), expected.boxes.size());
  for (size_t i = 0; i < found.boxes.size(); ++i) {
    if (found.boxes[i] == expected.boxes[i]) continue;
    EXPECT_NEAR(found.boxes[i], expected.boxes[i], expected.tolerances[i])
        << "row " << i / 4 << ", coordinate " << i % 4;
  }
}

SsdCase PublishedSsd() {
  SsdCase ssd;
  ssd.count = 6;
  ssd.score_columns = 3;
  ssd.encodings.values = {0, 0,  0, 0,  //
                          0, 1,  0, 0,  //
                          0, -1, 0, 0,  //
                          0, 0,  0, 0,  //
                          0, 1,  0, 0,  //
                          0, 0,  0, 0};
  ssd.scores.values = {0, .9f,  .8f,   //
                       0, .75f, .72f,  //
                       0, .6f,  .5f,   //
                       0, .93f, .95f,  //
                       0, .5f,  .4f,   //
                       0, .3f,  .2f};
  ssd.anchors.values = {.5f, .5f,    1, 1,  //
                        .5f, .5f,    1, 1,  //
                        .5f, .5f,    1, 1,  //
                        .5f, 10.5f,  1, 1,  //
                        .5f, 10.5f,  1, 1,  //
                        .5f, 100.5f, 1, 1};
  ssd.parameters.num_classes = 2;
  ssd.parameters.max_detections = 3;
  ssd.parameters.detections_per_class = 1;
  ssd.parameters.nms_score_threshold = 0;
  ssd.parameters.nms_iou_threshold = 0.5f;
  return ssd;
}

}  // namespace tim::testing
