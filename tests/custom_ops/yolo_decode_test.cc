// YoloDecode against its formulas in double.
#include "custom_ops/yolo_decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "custom_ops/non_max_suppression.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using ::testing::ElementsAre;
using testing::HostGraph;
using testing::OpenClGraph;
using vx::DataType;
using Layout = YoloDecode::Layout;
using Version = YoloDecode::Version;

struct Size {
  uint32_t width;
  uint32_t height;
};

struct YoloCase {
  YoloDecode::Parameters parameters;
  uint32_t batch = 1;
  std::vector<Size> sizes;
  std::vector<std::vector<float>> heads;  // by image, feature, row, column

  bool HasAnchors() const { return parameters.version != Version::kV8; }
  uint32_t Anchors() const {
    return HasAnchors() ? static_cast<uint32_t>(parameters.anchors.size() / 2 /
                                                parameters.strides.size())
                        : 1;
  }
  uint32_t Features() const {
    return HasAnchors() ? Anchors() * (5 + parameters.num_classes)
                        : 4 * parameters.bins + parameters.num_classes;
  }
  uint32_t Boxes() const {
    uint32_t count = 0;
    for (const Size& size : sizes) count += size.width * size.height;
    return count * Anchors();
  }
};

struct Decoded {
  std::vector<float> boxes;
  std::vector<float> scores;
};

// The elements of {W, H, F, B} as those of {F, W, H, B}.
std::vector<float> Interleaved(const std::vector<float>& planar, uint32_t cells,
                               uint32_t features) {
  std::vector<float> values(planar.size());
  for (size_t i = 0; i < planar.size(); ++i) {
    const size_t cell = i % cells;
    const size_t feature = i / cells % features;
    const size_t image = i / cells / features;
    values[(image * cells + cell) * features + feature] = planar[i];
  }
  return values;
}

std::vector<std::shared_ptr<vx::Tensor>> Heads(const YoloCase& yolo,
                                               vx::Graph* graph) {
  std::vector<std::shared_ptr<vx::Tensor>> tensors;
  for (size_t i = 0; i < yolo.sizes.size(); ++i) {
    const Size& size = yolo.sizes[i];
    const uint32_t features = yolo.Features();
    const bool is_planar = yolo.parameters.layout == Layout::kPlanar;
    const vx::ShapeType shape =
        is_planar
            ? vx::ShapeType{size.width, size.height, features, yolo.batch}
            : vx::ShapeType{features, size.width, size.height, yolo.batch};
    tensors.push_back(graph->CreateTensor(testing::Floats(shape, vx::INPUT)));
    testing::Write(tensors.back(),
                   is_planar ? yolo.heads[i]
                             : Interleaved(yolo.heads[i],
                                           size.width * size.height, features));
  }
  return tensors;
}

Decoded RunYolo(const YoloCase& yolo, std::shared_ptr<vx::Graph> graph) {
  const uint32_t classes = yolo.parameters.num_classes;
  const auto boxes = graph->CreateTensor(
      testing::Floats({4, yolo.Boxes(), yolo.batch}, vx::OUTPUT));
  const auto scores = graph->CreateTensor(
      testing::Floats({yolo.Boxes(), classes, yolo.batch}, vx::OUTPUT));
  // Through a clone, which must be the same operator.
  const std::shared_ptr<vx::Graph> other = HostGraph();
  other->CreateOperation<YoloDecode>(yolo.parameters)
      ->Clone(graph)
      ->BindInputs(Heads(yolo, graph.get()))
      .BindOutputs({boxes, scores});
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return {testing::Read(boxes), testing::Read(scores)};
}

double Sigmoid(double t) { return 1 / (1 + std::exp(-t)); }

// One box of the formulas: centre and the distances to the sides.
struct Formula {
  double x, y, left, top, right, bottom;
  std::vector<double> scores;
};

template <typename T>
Formula Anchored(const YoloCase& yolo, size_t head, uint32_t anchor, double x,
                 double y, const T& t) {
  const auto& p = yolo.parameters;
  const double stride = p.strides[head];
  const float* size = &p.anchors[(head * yolo.Anchors() + anchor) * 2];
  double cx, cy, w, h;
  if (p.version == Version::kV3) {
    const double k = p.scale_x_y.empty() ? 1 : p.scale_x_y[head];
    cx = (Sigmoid(t(0)) * k - (k - 1) / 2 + x) * stride;
    cy = (Sigmoid(t(1)) * k - (k - 1) / 2 + y) * stride;
    w = std::exp(t(2)) * size[0];
    h = std::exp(t(3)) * size[1];
  } else {
    cx = (2 * Sigmoid(t(0)) - 0.5 + x) * stride;
    cy = (2 * Sigmoid(t(1)) - 0.5 + y) * stride;
    w = 4 * Sigmoid(t(2)) * Sigmoid(t(2)) * size[0];
    h = 4 * Sigmoid(t(3)) * Sigmoid(t(3)) * size[1];
  }
  Formula box = {cx, cy, w / 2, h / 2, w / 2, h / 2, {}};
  for (int c = 0; c < p.num_classes; ++c) {
    box.scores.push_back(Sigmoid(t(4)) * Sigmoid(t(5 + c)));
  }
  return box;
}

template <typename T>
Formula Free(const YoloCase& yolo, size_t head, double x, double y,
             const T& t) {
  const auto& p = yolo.parameters;
  const double stride = p.strides[head];
  double sides[4];
  for (int side = 0; side < 4; ++side) {
    double sum = 0, weighted = 0;
    for (int i = 0; i < p.bins; ++i) {
      sum += std::exp(t(side * p.bins + i));
      weighted += i * std::exp(t(side * p.bins + i));
    }
    sides[side] = weighted / sum * stride;
  }
  Formula box = {(x + 0.5) * stride, (y + 0.5) * stride, sides[0], sides[1],
                 sides[2],           sides[3],           {}};
  for (int c = 0; c < p.num_classes; ++c) {
    box.scores.push_back(Sigmoid(t(4 * p.bins + c)));
  }
  return box;
}

void ExpectBox(const Formula& box, const float* found) {
  const double y = 4e-6 * (std::abs(box.y) + box.top + box.bottom);
  const double x = 4e-6 * (std::abs(box.x) + box.left + box.right);
  EXPECT_NEAR(found[0], box.y - box.top, y);
  EXPECT_NEAR(found[1], box.x - box.left, x);
  EXPECT_NEAR(found[2], box.y + box.bottom, y);
  EXPECT_NEAR(found[3], box.x + box.right, x);
}

void ExpectDecoded(const YoloCase& yolo, const Decoded& found) {
  const uint32_t classes = yolo.parameters.num_classes;
  const uint32_t features = yolo.Features();
  for (uint32_t image = 0; image < yolo.batch; ++image) {
    uint32_t n = 0;
    for (size_t head = 0; head < yolo.sizes.size(); ++head) {
      const uint32_t width = yolo.sizes[head].width;
      const uint32_t cells = width * yolo.sizes[head].height;
      for (uint32_t i = 0; i < cells * yolo.Anchors(); ++i, ++n) {
        const uint32_t anchor = i / cells;
        const uint32_t cell = i % cells;
        const auto t = [&](uint32_t f) {
          const uint32_t feature = anchor * features / yolo.Anchors() + f;
          return double{
              yolo.heads[head][(image * features + feature) * cells + cell]};
        };
        const Formula box =
            yolo.HasAnchors()
                ? Anchored(yolo, head, anchor, cell % width, cell / width, t)
                : Free(yolo, head, cell % width, cell / width, t);
        SCOPED_TRACE("image " + std::to_string(image) + ", box " +
                     std::to_string(n));
        ExpectBox(box, &found.boxes[(image * yolo.Boxes() + n) * 4]);
        for (uint32_t c = 0; c < classes; ++c) {
          EXPECT_NEAR(found.scores[(image * classes + c) * yolo.Boxes() + n],
                      box.scores[c], 1e-6);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

YoloCase ThreeHeads(Version version, Layout layout) {
  YoloCase yolo;
  yolo.parameters.version = version;
  yolo.parameters.layout = layout;
  yolo.parameters.num_classes = 5;
  yolo.parameters.strides = {8, 16, 32};
  yolo.parameters.bins = version == Version::kV8 ? 16 : 1;
  if (version != Version::kV8) {
    yolo.parameters.anchors = {10,  13, 16,  30,  33,  23,   //
                               30,  61, 62,  45,  59,  119,  //
                               116, 90, 156, 198, 373, 326};
  }
  if (version == Version::kV3) yolo.parameters.scale_x_y = {1.2f, 1.1f, 1.05f};
  yolo.batch = 2;
  yolo.sizes = {{13, 7}, {5, 4}, {1, 3}};
  std::mt19937 rng(20261125);
  std::normal_distribution<float> normal(0, 2);
  for (const Size& size : yolo.sizes) {
    yolo.heads.emplace_back(size.width * size.height * yolo.Features() *
                            yolo.batch);
    for (float& value : yolo.heads.back()) value = normal(rng);
  }
  return yolo;
}

TEST(YoloDecode, EqualsItsFormulasOnBothDevices) {
  for (const Version version : {Version::kV3, Version::kV5, Version::kV8}) {
    for (const Layout layout : {Layout::kPlanar, Layout::kInterleaved}) {
      SCOPED_TRACE("version " + std::to_string(static_cast<int>(version)) +
                   ", layout " + std::to_string(static_cast<int>(layout)));
      const YoloCase yolo = ThreeHeads(version, layout);
      ExpectDecoded(yolo, RunYolo(yolo, OpenClGraph()));
      ExpectDecoded(yolo, RunYolo(yolo, HostGraph()));
    }
  }
}

// A cell in the second column of two, zeros: s = 1/2.
YoloCase OneAnchor(Version version) {
  YoloCase yolo;
  yolo.parameters.version = version;
  yolo.parameters.num_classes = 1;
  yolo.parameters.strides = {8};
  yolo.parameters.bins = 3;
  if (version != Version::kV8) yolo.parameters.anchors = {4, 6};
  yolo.sizes = {{2, 1}};
  yolo.heads = {std::vector<float>(2 * yolo.Features())};
  return yolo;
}

TEST(YoloDecode, HandChecked) {
  for (const auto& graph : {OpenClGraph(), HostGraph()}) {
    const Decoded v5 = RunYolo(OneAnchor(Version::kV5), graph);
    EXPECT_THAT(v5.boxes, ElementsAre(1, 2, 7, 6, 1, 10, 7, 14));
    EXPECT_THAT(v5.scores, ElementsAre(0.25f, 0.25f));
  }
  for (const auto& graph : {OpenClGraph(), HostGraph()}) {
    // The mean of 0, 1 and 2 is 1: a stride to each side of (12, 4).
    const Decoded v8 = RunYolo(OneAnchor(Version::kV8), graph);
    EXPECT_THAT(v8.boxes, ElementsAre(-4, -4, 12, 12, -4, 4, 12, 20));
    EXPECT_THAT(v8.scores, ElementsAre(0.5f, 0.5f));
  }
}

TEST(YoloDecode, LargeValuesGiveNoNaN) {
  for (const Version version : {Version::kV3, Version::kV5, Version::kV8}) {
    YoloCase yolo = OneAnchor(version);
    for (size_t i = 0; i < yolo.heads[0].size(); ++i) {
      yolo.heads[0][i] = i % 3 == 0 ? 80.0f : -1e4f;
    }
    for (const auto& graph : {OpenClGraph(), HostGraph()}) {
      const Decoded found = RunYolo(yolo, graph);
      for (const float value : found.boxes) EXPECT_FALSE(std::isnan(value));
      for (const float value : found.scores) EXPECT_FALSE(std::isnan(value));
    }
  }
}

// What it gives goes to NonMaxSuppression as it is.
TEST(YoloDecode, FeedsNonMaxSuppression) {
  const YoloCase yolo = ThreeHeads(Version::kV5, Layout::kPlanar);
  NonMaxSuppression::Parameters nms;
  nms.max_output_boxes_per_class = 4;
  nms.iou_threshold = 0.45f;
  nms.score_threshold = 0.25f;
  std::vector<std::vector<int32_t>> found;
  for (const auto& graph : {OpenClGraph(), HostGraph()}) {
    const auto between = [&] {
      return graph->CreateTensor(
          vx::TensorSpec(DataType::UNKNOWN, {}, vx::TRANSIENT));
    };
    const auto boxes = between();
    const auto scores = between();
    const auto rows =
        graph->CreateTensor(vx::TensorSpec(DataType::INT32, {}, vx::OUTPUT));
    const auto number =
        graph->CreateTensor(vx::TensorSpec(DataType::INT32, {1}, vx::OUTPUT));
    graph->CreateOperation<YoloDecode>(yolo.parameters)
        ->BindInputs(Heads(yolo, graph.get()))
        .BindOutputs({boxes, scores});
    graph->CreateOperation<NonMaxSuppression>(nms)
        ->BindInputs({boxes, scores})
        .BindOutputs({rows, number});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(rows->GetShape(), (vx::ShapeType{3, 2 * 5 * 4}));
    found.push_back(testing::Read<int32_t>(rows));
    EXPECT_EQ(testing::Read<int32_t>(number)[0], 40);
  }
  EXPECT_EQ(found[0], found[1]);
}

struct Rejected {
  YoloDecode::Parameters parameters;
  std::vector<vx::ShapeType> heads = {{2, 2, 21, 1}};
  DataType type = DataType::FLOAT32;

  Rejected() {
    parameters.num_classes = 2;
    parameters.strides = {8};
    parameters.anchors = {1, 2, 3, 4, 5, 6};
  }

  void FailsWith(const std::string& text) const {
    for (const auto& graph : {HostGraph(), OpenClGraph()}) {
      std::vector<std::shared_ptr<vx::Tensor>> inputs;
      for (const vx::ShapeType& shape : heads) {
        inputs.push_back(
            graph->CreateTensor(vx::TensorSpec(type, shape, vx::INPUT)));
      }
      const auto output = [&] {
        return graph->CreateTensor(testing::Floats({}, vx::OUTPUT));
      };
      graph->CreateOperation<YoloDecode>(parameters)
          ->BindInputs(inputs)
          .BindOutputs({output(), output()});
      EXPECT_TRUE(CompileFailsWith(*graph, text));
      EXPECT_TRUE(CompileFailsWith(*graph, "user.YoloDecode#"));
    }
  }
};

TEST(YoloDecodeErrors, NameTheParameter) {
  Rejected bad;
  bad.parameters.strides.clear();
  bad.FailsWith("strides is empty, expected one per head");
  bad = Rejected();
  bad.parameters.strides = {0};
  bad.FailsWith("a stride is 0, expected above 0");
  bad = Rejected();
  bad.parameters.num_classes = 0;
  bad.FailsWith("num_classes is 0, expected 1 or more");
  bad = Rejected();
  bad.parameters.anchors.pop_back();
  bad.FailsWith("anchors has 5 numbers, expected as many pairs");
  bad.parameters.anchors.clear();
  bad.FailsWith("anchors has 0 numbers, expected as many pairs");
  bad.parameters.version = Version::kV8;
  bad.parameters.bins = 0;
  bad.FailsWith("bins is 0, expected 1 or more");
  bad = Rejected();
  bad.parameters.version = Version::kV8;
  bad.FailsWith("anchors has 6 numbers, kV8 has none");
  bad = Rejected();
  bad.parameters.scale_x_y = {1, 1};
  bad.FailsWith(
      "scale_x_y has 2 numbers, expected none or one for each of 1 "
      "heads");
}

TEST(YoloDecodeErrors, NameTheHead) {
  Rejected bad;
  bad.heads = {{2, 2, 20, 1}};
  bad.FailsWith(
      "head 0 has another shape than {W, H, F, B}, where F = 21 = "
      "anchors per head * (5 + num_classes) and B = 1");
  bad.heads = {{2, 2, 21}};
  bad.FailsWith("head 0 has another shape than {W, H, F, B}");
  bad = Rejected();
  bad.parameters.layout = Layout::kInterleaved;
  bad.FailsWith("head 0 has another shape than {F, W, H, B}");
  bad = Rejected();
  bad.parameters.strides = {8, 16};
  bad.parameters.anchors.resize(12);
  bad.heads = {{2, 2, 21, 1}, {1, 1, 21, 2}};
  bad.FailsWith("head 1 has another shape than {W, H, F, B}");
  bad = Rejected();
  bad.type = DataType::INT8;
  bad.FailsWith("a head of another type than FLOAT32");
}

TEST(YoloDecodeErrors, NameWhatIsTooLarge) {
  Rejected bad;
  bad.parameters.num_classes = 0x7fffffff;
  bad.FailsWith("a cell would have");
}

}  // namespace
}  // namespace tim::custom_ops
