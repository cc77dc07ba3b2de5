// A scalar and a tensor of shape [1] are one in memory, and two to the
// operators that read them.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

class ScalarViews : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
    table_ = graph_->CreateTensor(Floats({2, 3}, vx::INPUT), kTable);
    index_ = graph_->CreateTensor(
        vx::TensorSpec(vx::DataType::INT32, {1}, vx::INPUT), &kRow);
    seen_ = graph_->CreateTensor(
        vx::TensorSpec(vx::DataType::INT32, {}, vx::TRANSIENT));
    row_ = graph_->CreateTensor(Floats({}, vx::TRANSIENT));
  }
  // The row that Gather(seen_) takes of the table, and its shape.
  void ExpectRow(const vx::ShapeType& shape) {
    graph_->CreateOperation<vx::ops::Gather>(1)
        ->BindInputs({table_, seen_})
        .BindOutput(row_);
    const auto result = graph_->CreateTensor(Floats({2}, vx::OUTPUT));
    graph_->CreateOperation<vx::ops::Reshape>(vx::ShapeType{2})
        ->BindInput(row_)
        .BindOutput(result);
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    EXPECT_EQ(row_->GetShape(), shape);
    float values[2] = {};
    ASSERT_TRUE(result->CopyDataFromTensor(values));
    EXPECT_EQ(values[0], 3);
    EXPECT_EQ(values[1], 4);
  }

  static constexpr float kTable[] = {1, 2, 3, 4, 5, 6};
  static constexpr int32_t kRow = 1;
  std::shared_ptr<vx::Graph> graph_;
  std::shared_ptr<vx::Tensor> table_, index_, seen_, row_;
};

TEST_P(ScalarViews, SqueezedIndexHasNoAxis) {
  graph_->CreateOperation<vx::ops::Squeeze>(std::vector<uint32_t>{0})
      ->BindInput(index_)
      .BindOutput(seen_);
  ExpectRow({2});
}

TEST_P(ScalarViews, ReshapedScalarHasAnAxis) {
  index_->SetScalar(1);
  graph_->CreateOperation<vx::ops::Reshape>(vx::ShapeType{1})
      ->BindInput(index_)
      .BindOutput(seen_);
  ExpectRow({2, 1});
}

INSTANTIATE_TEST_SUITE_P(Devices, ScalarViews,
                         ::testing::Values("host", "opencl"));

}  // namespace
}  // namespace tim::testing
