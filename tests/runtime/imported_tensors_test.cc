// Devices with unified memory read and write the caller's tensors in place.
#include <gtest/gtest.h>

#include <variant>

#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::TensorAttribute;
using Values = std::vector<float>;

struct Counts {
  int steps = 0;
  int copies = 0;
};

Counts CountSteps(const vx::Graph& graph) {
  const ir::Plan* plan = vx::CompiledPlan(graph);
  if (plan == nullptr) return {};
  Counts counts;
  for (const ir::Step& step : plan->steps) {
    ++counts.steps;
    if (std::holds_alternative<ir::Copy>(step.action)) ++counts.copies;
  }
  return counts;
}

class ImportedTensors : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = ContextOn("opencl");
    if (context_ == nullptr) GTEST_SKIP() << "no OpenCL device";
    graph_ = context_->CreateGraph();
    a_ = graph_->CreateTensor(Floats({40}, TensorAttribute::INPUT));
  }

  std::shared_ptr<vx::Tensor> Output() {
    return graph_->CreateTensor(Floats({40}, TensorAttribute::OUTPUT));
  }
  std::shared_ptr<vx::Tensor> Relu(const std::shared_ptr<vx::Tensor>& x,
                                   const std::shared_ptr<vx::Tensor>& y) {
    graph_->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(y);
    return y;
  }
  std::shared_ptr<vx::Tensor> Sum(const std::shared_ptr<vx::Tensor>& x,
                                  const std::shared_ptr<vx::Tensor>& y,
                                  const std::shared_ptr<vx::Tensor>& sum) {
    graph_->CreateOperation<vx::ops::Add>()->BindInputs({x, y}).BindOutput(sum);
    return sum;
  }
  void Run(float value) {
    Write(a_, Values(40, value));
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
  }
  bool IsUnified() const {
    return vx::CompiledPlan(*graph_)->devices[1].unified_memory;
  }

  std::shared_ptr<vx::Context> context_;
  std::shared_ptr<vx::Graph> graph_;
  std::shared_ptr<vx::Tensor> a_;
};

TEST_F(ImportedTensors, NeedNoCopies) {
  const auto y = Relu(a_, Output());
  for (const float value : {1.0f, -2.0f, 3.0f}) {
    Run(value);
    EXPECT_EQ(Read(y), Values(40, std::max(0.0f, value)));
  }
  if (!IsUnified()) GTEST_SKIP() << "the device has memory of its own";
  EXPECT_EQ(CountSteps(*graph_).steps, 1);
  EXPECT_EQ(CountSteps(*graph_).copies, 0);
}

TEST_F(ImportedTensors, AnOutputMayBeReadByLaterOperations) {
  const auto y = Relu(a_, Output());
  const auto z = Sum(y, a_, Output());
  for (const float value : {1.0f, -2.0f}) {
    Run(value);
    EXPECT_EQ(Read(y), Values(40, std::max(0.0f, value)));
    EXPECT_EQ(Read(z), Values(40, std::max(0.0f, value) + value));
  }
  if (IsUnified()) {
    EXPECT_EQ(CountSteps(*graph_).copies, 0);
  }
}

TEST_F(ImportedTensors, ViewsOfAnOutputAreTheSameMemory) {
  const auto y = graph_->CreateTensor(Floats({8, 5}, TensorAttribute::OUTPUT));
  const auto between =
      Relu(a_, graph_->CreateTensor(Floats({}, TensorAttribute::TRANSIENT)));
  graph_->CreateOperation<vx::ops::Reshape>(std::vector<uint32_t>{8, 5})
      ->BindInput(between)
      .BindOutput(y);
  Run(4);
  EXPECT_EQ(Read(y), Values(40, 4));
}

TEST_F(ImportedTensors, AnOutputThatIsAViewOfAnInputIsCopied) {
  const auto y = graph_->CreateTensor(Floats({8, 5}, TensorAttribute::OUTPUT));
  graph_->CreateOperation<vx::ops::Reshape>(std::vector<uint32_t>{8, 5})
      ->BindInput(a_)
      .BindOutput(y);
  for (const float value : {4.0f, 5.0f}) {
    Run(value);
    EXPECT_EQ(Read(y), Values(40, value));
  }
}

TEST_F(ImportedTensors, FollowSwappedMemory) {
  const auto y = Relu(a_, Output());
  Run(1);
  alignas(64) float in[40];
  alignas(64) float out[40] = {};
  std::fill(in, in + 40, 7.0f);
  void* old = nullptr;
  ASSERT_TRUE(a_->SwapHandle(in, false, &old));
  ASSERT_TRUE(y->SwapHandle(out, false, &old));
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Values(out, out + 40), Values(40, 7));
  std::fill(in, in + 40, 8.0f);
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Values(out, out + 40), Values(40, 8));
}

TEST_F(ImportedTensors, AStateMayTakeWhatAnOutputHolds) {
  const auto state =
      graph_->CreateTensor(Floats({40}, TensorAttribute::VARIABLE));
  const auto y = Sum(a_, state, Output());
  Relu(y, state);
  Run(1);
  EXPECT_EQ(Read(y), Values(40, 1));
  Run(2);
  EXPECT_EQ(Read(y), Values(40, 3));
}

}  // namespace
}  // namespace tim::testing
