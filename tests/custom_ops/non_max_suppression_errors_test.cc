// What NonMaxSuppression refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "custom_ops/box_selection.h"
#include "custom_ops/non_max_suppression.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using testing::HostGraph;
using testing::OpenClGraph;
using vx::DataType;

struct Rejected {
  NonMaxSuppression::Parameters parameters;
  vx::ShapeType boxes = {4, 6, 1};
  vx::ShapeType scores = {6, 2, 1};
  DataType type = DataType::FLOAT32;
  DataType row_type = DataType::INT32;

  void FailsWith(const std::string& text) const {
    for (const auto& graph : {HostGraph(), OpenClGraph()}) {
      const auto tensor = [&](DataType of, const vx::ShapeType& shape,
                              vx::TensorAttribute attribute) {
        return graph->CreateTensor(vx::TensorSpec(of, shape, attribute));
      };
      graph->CreateOperation<NonMaxSuppression>(parameters)
          ->BindInputs(
              {tensor(type, boxes, vx::INPUT), tensor(type, scores, vx::INPUT)})
          .BindOutputs({tensor(row_type, {}, vx::OUTPUT),
                        tensor(DataType::INT32, {1}, vx::OUTPUT)});
      EXPECT_TRUE(CompileFailsWith(*graph, text));
      EXPECT_TRUE(CompileFailsWith(*graph, "user.NonMaxSuppression#"));
    }
  }
};

TEST(NonMaxSuppressionErrors, NameTheParameter) {
  Rejected bad;
  bad.parameters.max_output_boxes_per_class = -1;
  bad.FailsWith("max_output_boxes_per_class is -1, expected 0 or more");
  for (const float iou : {-0.1f, 1.1f, NAN}) {
    bad = Rejected();
    bad.parameters.iou_threshold = iou;
    bad.FailsWith("iou_threshold is " + std::to_string(iou) +
                  ", expected 0 to 1");
  }
  bad = Rejected();
  bad.parameters.score_threshold = NAN;
  bad.FailsWith("score_threshold is NaN");
}

TEST(NonMaxSuppressionErrors, NameTheInput) {
  Rejected bad;
  bad.boxes = {5, 6, 1};
  bad.FailsWith("boxes (input 0) have another shape than {4, N, B}");
  bad.boxes = {4, 6};
  bad.FailsWith("boxes (input 0) have another shape than {4, N, B}");
  bad.boxes = {4, 262145, 1};
  bad.FailsWith("262145 boxes, expected up to 262144");
  for (const vx::ShapeType& scores :
       {vx::ShapeType{7, 2, 1}, {6, 2, 2}, {6, 2}}) {
    bad = Rejected();
    bad.scores = scores;
    bad.FailsWith(
        "scores (input 1) have another shape than {N, C, B}, where "
        "boxes have N = 6 and B = 1");
  }
  bad = Rejected();
  bad.type = DataType::FLOAT16;
  bad.FailsWith("inputs of another type than FLOAT32");
  bad = Rejected();
  bad.row_type = DataType::INT64;
  bad.FailsWith("SetupTypes() made output 0");
}

// Of shapes that no test has memory for.
TEST(BoxSelection, RefusesProductsAbove31Bits) {
  EXPECT_EQ(CheckedProduct("Op", "rows", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(CheckedProduct("Op", "rows", {0, 65536, 65536}), 0u);
  try {
    CheckedProduct("Op", "rows", {65536, 65536, 3});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "Op: rows would have 65536 * 65536 * 3 elements, more than "
                 "2^31 - 1");
  }
}

}  // namespace
}  // namespace tim::custom_ops
