// VARIABLE tensors: state that persists from one run to the next.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::TensorAttribute;
using Values = std::vector<float>;

class Variables : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
    state_ = graph_->CreateTensor(Floats({2}, TensorAttribute::VARIABLE));
    in_ = graph_->CreateTensor(Floats({2}, TensorAttribute::INPUT));
    out_ = graph_->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  }

  // state = state + in, out = state as it was.
  void BuildCounter() {
    auto add = graph_->CreateOperation<vx::ops::Add>();
    auto read = graph_->CreateOperation<vx::ops::DataConvert>();
    (*add).BindInputs({state_, in_}).BindOutput(state_);
    (*read).BindInput(state_).BindOutput(out_);
    Write<float>(in_, {1, 10});
  }

  std::shared_ptr<vx::Graph> graph_;
  std::shared_ptr<vx::Tensor> state_, in_, out_;
};

TEST_P(Variables, ReadsSeeTheValueFromBeforeTheRun) {
  BuildCounter();
  for (float run = 0; run < 4; ++run) {
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    EXPECT_EQ(Read(out_), (Values{run, 10 * run}));
    EXPECT_EQ(Read(state_), (Values{run + 1, 10 * (run + 1)}));
  }
}

TEST_P(Variables, TheHostWritesThemAtAnyTime) {
  BuildCounter();
  Write<float>(state_, {100, 200});
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  EXPECT_EQ(Read(state_), (Values{100, 200}));
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(state_), (Values{101, 210}));
  Write<float>(state_, {0, 0});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(state_), (Values{1, 10}));
}

TEST_P(Variables, ReadOnlyOnesKeepTheirValue) {
  auto relu = graph_->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(state_).BindOutput(out_);
  Write<float>(state_, {3, -3});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    EXPECT_EQ(Read(out_), (Values{3, 0}));
    EXPECT_EQ(Read(state_), (Values{3, -3}));
  }
}

TEST_P(Variables, WrittenOnlyOnesHoldTheLastResult) {
  auto relu = graph_->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in_).BindOutput(state_);
  for (const float value : {1.0f, 2.0f}) {
    Write<float>(in_, {value, -value});
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    EXPECT_EQ(Read(state_), (Values{value, 0}));
  }
}

TEST_P(Variables, SurviveAnotherCompile) {
  BuildCounter();
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  const auto last = graph_->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto relu = graph_->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(state_).BindOutput(last);
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(last), (Values{1, 10}));
  EXPECT_EQ(Read(state_), (Values{2, 20}));
}

TEST_P(Variables, OutliveTheirGraph) {
  BuildCounter();
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  graph_.reset();
  EXPECT_EQ(Read(state_), (Values{1, 10}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Variables,
                         ::testing::Values("host", "opencl"));

}  // namespace
}  // namespace tim::testing
