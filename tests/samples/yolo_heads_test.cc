// The graph of docs/detection.md behind the heads of a YOLO network.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "custom_ops/non_max_suppression.h"
#include "custom_ops/yolo_decode.h"
#include "tim/vx/context.h"
#include "tim/vx/error.h"
#include "tim/vx/graph.h"

namespace detection {
namespace {

using TensorPtr = std::shared_ptr<tim::vx::Tensor>;
using tim::custom_ops::NonMaxSuppression;
using tim::custom_ops::YoloDecode;
using tim::vx::DataType;
using tim::vx::TensorSpec;

constexpr uint32_t kBoxes = 4 * 4 + 2 * 2;  // cells of all heads times anchors
constexpr uint32_t kClasses = 2;
constexpr uint32_t kPerClass = 4;

struct Found {
  TensorPtr boxes;  // (ymin, xmin, ymax, xmax) in pixels of the input
  TensorPtr rows;   // (image, class, box)
  TensorPtr count;  // rows that hold something
};

// Heads {W, H, anchors * (5 + classes), 1} as the convolutions give them.
Found AddYolo(tim::vx::Graph* graph, const std::vector<TensorPtr>& heads) {
  YoloDecode::Parameters yolo;
  yolo.version = YoloDecode::Version::kV5;
  yolo.num_classes = kClasses;
  yolo.strides = {8, 16};
  yolo.anchors = {10, 13, 30, 61};  // width, height: one pair per head here
  NonMaxSuppression::Parameters nms;
  nms.max_output_boxes_per_class = kPerClass;
  nms.score_threshold = 0.25f;
  nms.iou_threshold = 0.45f;
  Found found;
  found.boxes = graph->CreateTensor(
      TensorSpec(DataType::FLOAT32, {4, kBoxes, 1}, tim::vx::OUTPUT));
  found.rows = graph->CreateTensor(
      TensorSpec(DataType::INT32, {3, kClasses * kPerClass}, tim::vx::OUTPUT));
  found.count =
      graph->CreateTensor(TensorSpec(DataType::INT32, {1}, tim::vx::OUTPUT));
  const auto scores = graph->CreateTensor(
      TensorSpec(DataType::FLOAT32, {}, tim::vx::TRANSIENT));
  graph->CreateOperation<YoloDecode>(yolo)->BindInputs(heads).BindOutputs(
      {found.boxes, scores});
  graph->CreateOperation<NonMaxSuppression>(nms)
      ->BindInputs({found.boxes, scores})
      .BindOutputs({found.rows, found.count});
  return found;
}

// Of one cell, by head and place: the values of its features.
struct Cell {
  std::size_t place = 0;
  std::vector<float> features;
};

// A head of `cells` places where nothing is but what `cell` says.
std::vector<float> Head(std::size_t cells, const Cell& cell) {
  std::vector<float> head(cells * 7);
  for (std::size_t i = 0; i < cells; ++i) head[4 * cells + i] = -20;
  for (std::size_t f = 0; f < cell.features.size(); ++f) {
    head[f * cells + cell.place] = cell.features[f];
  }
  return head;
}

TEST(YoloHeads, GiveBoxesInPixels) {
  const auto context = tim::vx::Context::Create();
  const auto graph = context->CreateGraph();
  const TensorSpec fine(DataType::FLOAT32, {4, 4, 7, 1}, tim::vx::INPUT);
  const TensorSpec coarse(DataType::FLOAT32, {2, 2, 7, 1}, tim::vx::INPUT);
  const std::vector<TensorPtr> heads = {graph->CreateTensor(fine),
                                        graph->CreateTensor(coarse)};
  const Found found = AddYolo(graph.get(), heads);
  ASSERT_TRUE(graph->Compile()) << tim::vx::LastError();
  // Column 2, row 1 of the fine head is of class 1.
  const auto first = Head(16, {6, {0, 0, 0, 0, 20, -20, 20}});
  // Column 1, row 0 of the coarse one is of class 0.
  const auto second = Head(4, {1, {0, 0, 0, 0, 20, 20, -20}});
  ASSERT_TRUE(heads[0]->CopyDataToTensor(first.data()));
  ASSERT_TRUE(heads[1]->CopyDataToTensor(second.data()));
  ASSERT_TRUE(graph->Run()) << tim::vx::LastError();
  std::int32_t count = 0;
  std::vector<std::int32_t> rows(3 * kClasses * kPerClass);
  std::vector<float> boxes(4 * kBoxes);
  ASSERT_TRUE(found.count->CopyDataFromTensor(&count));
  ASSERT_TRUE(found.rows->CopyDataFromTensor(rows.data()));
  ASSERT_TRUE(found.boxes->CopyDataFromTensor(boxes.data()));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(rows[1], 0);
  EXPECT_EQ(rows[2], 16 + 1);
  EXPECT_EQ(rows[4], 1);
  EXPECT_EQ(rows[5], 6);
  // (2 + 0.5) * 8 = 20, (1 + 0.5) * 8 = 12; 10 wide and 13 high.
  const float fine_box[] = {5.5f, 15, 18.5f, 25};
  // (1 + 0.5) * 16 = 24, 0.5 * 16 = 8; 30 wide and 61 high.
  const float coarse_box[] = {-22.5f, 9, 38.5f, 39};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(boxes[4 * 6 + i], fine_box[i], 1e-4f) << i;
    EXPECT_NEAR(boxes[4 * 17 + i], coarse_box[i], 1e-4f) << i;
  }
}

}  // namespace
}  // namespace detection
