// Constants that are too large to be folded are made by every run.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

constexpr uint32_t kMebi = 1 << 18;  // floats

class ConstantFolding : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
  }

  std::shared_ptr<vx::Tensor> Constant(const vx::ShapeType& shape,
                                       const Values& values) {
    return graph_->CreateTensor(Floats(shape, vx::CONSTANT), values.data());
  }
  // y = x + {5, 0, 0, ...}, which is a padded constant.
  void RunWithPadding(uint32_t length) {
    const auto x = graph_->CreateTensor(Floats({length}, vx::INPUT));
    const auto y = graph_->CreateTensor(Floats({length}, vx::OUTPUT));
    const auto padded = graph_->CreateTensor(Floats({}, vx::TRANSIENT));
    const std::vector<uint32_t> front = {0};
    const std::vector<uint32_t> back = {length - 1};
    graph_->CreateOperation<vx::ops::Pad>(front, back, 0)
        ->BindInput(Constant({1}, {5}))
        .BindOutput(padded);
    graph_->CreateOperation<vx::ops::Add>()
        ->BindInputs({x, padded})
        .BindOutput(y);
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    Values expected(length, 0.0f);
    expected[0] = 5;
    EXPECT_EQ(Read(y), expected);
  }
  int64_t ConstantBytes() const {
    int64_t bytes = 0;
    for (const auto& constant : vx::CompiledPlan(*graph_)->constants) {
      bytes += constant.bytes;
    }
    return bytes;
  }

  std::shared_ptr<vx::Graph> graph_;
};

TEST_P(ConstantFolding, APaddedConstantOfAMebibyteIsFolded) {
  RunWithPadding(kMebi);
  EXPECT_GE(ConstantBytes(), 4 * kMebi);
}

TEST_P(ConstantFolding, ALargerOneIsMadeByTheRun) {
  RunWithPadding(kMebi + 1);
  EXPECT_LT(ConstantBytes(), 4 * kMebi);
}

// The outer product of two constants.
TEST_P(ConstantFolding, AProductOfConstantsIsMadeByTheRunWhereItIsLarge) {
  constexpr uint32_t kLength = 1024;
  const auto a = Constant({1, kLength}, Values(kLength, 2));
  const auto b = Constant({kLength, 1}, Values(kLength, 3));
  const auto y = graph_->CreateTensor(Floats({kLength, kLength}, vx::OUTPUT));
  graph_->CreateOperation<vx::ops::Matmul>()->BindInputs({a, b}).BindOutput(y);
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Values(size_t{kLength} * kLength, 6));
  EXPECT_LT(ConstantBytes(), 4 * kMebi);
}

INSTANTIATE_TEST_SUITE_P(Devices, ConstantFolding,
                         ::testing::Values("host", "opencl"));

}  // namespace
}  // namespace tim::testing
