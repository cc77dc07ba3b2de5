// Composed operators of which operands in the middle are absent.
#include <gtest/gtest.h>

#include "tests/support/vx/own_operators.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using vx::Graph;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;
using Values = std::vector<float>;

class AbsentOperands : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = OwnContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
    absent_ = graph_->CreateTensorPlaceHolder();
  }

  std::shared_ptr<vx::Tensor> Input(float value) {
    return graph_->CreateTensor(Floats({1}, vx::INPUT), &value);
  }
  std::shared_ptr<vx::Tensor> Output() {
    return graph_->CreateTensor(Floats({}, vx::OUTPUT));
  }

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<vx::Tensor> absent_;
};

// What the body does not read must not take the place of what is absent in it.
TEST_P(AbsentOperands, OfADecomposedOperatorThatIgnoresOthers) {
  const auto y = Output();
  const auto z = Output();
  const auto same = Output();
  graph_->CreateOperation<Mix>()
      ->BindInputs({Input(1), Input(2), Input(3), Input(4), Input(5), Input(6)})
      .BindOutputs({y, z, same});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Values{531});
  EXPECT_EQ(Read(z), Values{601});
  EXPECT_EQ(Read(same), Values{1});
}

TEST_P(AbsentOperands, OfADecomposedOperatorAreAbsentInItsBody) {
  const auto y = Output();
  const auto z = Output();
  graph_->CreateOperation<Mix>()
      ->BindInputs({Input(1), absent_, absent_, Input(4), Input(5), absent_})
      .BindOutputs({y, z});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Values{501});
  EXPECT_EQ(Read(z), Values{1});
}

TEST_P(AbsentOperands, OutputsMayBeAbsentAndTrailingInputsLeftOut) {
  const auto z = Output();
  graph_->CreateOperation<Mix>()
      ->BindInputs({Input(1), Input(2), Input(3)})
      .BindOutputs({absent_, z, absent_});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(z), Values{1});
}

// A Mix in a ComposedOp: bodies in bodies.
class Inner : public vx::ComposedOp {
 public:
  explicit Inner(Graph* graph) : ComposedOp(graph, "user.Inner", 6, 2) {}
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    graph->CreateOperation<Mix>()->BindInputs(inputs).BindOutputs(outputs);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Inner>();
  }
};

TEST_P(AbsentOperands, GoThroughOperatorsInOperators) {
  const auto y = Output();
  graph_->CreateOperation<Inner>()
      ->BindInputs({Input(1), Input(2), absent_, absent_, Input(5), Input(6)})
      .BindOutputs({y, absent_});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Values{501});
}

// As wide as BidirectionalSequenceLstm: 56 inputs, then 8 optional ones, 6
// outputs.  Output 0 joins what is there of all inputs; output 3 picks.
class Wide : public vx::ComposedOp {
 public:
  explicit Wide(Graph* graph) : ComposedOp(graph, "user.Wide", 56, 6, 8) {}
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    ASSERT_EQ(inputs.size(), 64u);
    ASSERT_EQ(outputs.size(), 6u);
    for (const auto& input : inputs) present += !input->IsPlaceHolder();
    graph->CreateOperation<vx::ops::Concat>(0u, static_cast<int>(inputs.size()))
        ->BindInputs(inputs)
        .BindOutput(outputs[0]);
    const auto between = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<Inner>()
        ->BindInputs(Tensors(inputs.begin() + 9, inputs.begin() + 15))
        .BindOutputs({between, outputs[4]});
    graph->CreateOperation<Pick>()
        ->BindInputs({between, inputs[40], inputs[63]})
        .BindOutput(outputs[3]);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Wide>();
  }
  int present = 0;
};

TEST_P(AbsentOperands, FortyFiveOfSixtyFourSlots) {
  Tensors inputs;
  Values expected;
  for (int i = 0; i < 60; ++i) {
    // 15 of the first 60 are absent, the last four are left out.
    if (i % 4 == 3) {
      inputs.push_back(absent_);
    } else {
      inputs.push_back(Input(static_cast<float>(i)));
      expected.push_back(static_cast<float>(i));
    }
  }
  ASSERT_EQ(expected.size(), 45u);
  const auto all = Output();
  const auto picked = Output();
  const auto wide = graph_->CreateOperation<Wide>();
  wide->BindInputs(inputs).BindOutputs(
      {all, absent_, absent_, picked, absent_, absent_});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(wide->present, 45);
  EXPECT_EQ(Read(all), expected);
  // Pick(9, absent, 13) with 40.
  EXPECT_EQ(Read(picked), Values{9 + 100 * 13 + 10 * 40});
}

TEST_P(AbsentOperands, WhatAnInnerOperatorNeedsMustBeThere) {
  graph_->CreateOperation<Inner>()
      ->BindInputs({absent_, Input(2), Input(3), Input(4), Input(5), Input(6)})
      .BindOutputs({Output(), absent_});
  EXPECT_TRUE(CompileFailsWith(*graph_, "input 0 is required"));
}

INSTANTIATE_TEST_SUITE_P(Devices, AbsentOperands,
                         ::testing::Values("host", "opencl"));

}  // namespace
}  // namespace tim::testing
