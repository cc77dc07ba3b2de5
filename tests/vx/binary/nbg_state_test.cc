// VARIABLE tensors in binary graphs.
#include <gtest/gtest.h>

#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/transform/layout_inference.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

// state = state + in, out = state as it was.
struct Counter {
  explicit Counter(std::shared_ptr<vx::Graph> on = HostGraph()) : graph(on) {
    state = graph->CreateTensor(Floats({1}, vx::VARIABLE));
    in = graph->CreateTensor(Floats({1}, vx::INPUT));
    out = graph->CreateTensor(Floats({1}, vx::OUTPUT));
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({state, in})
        .BindOutput(state);
    (*graph->CreateOperation<vx::ops::DataConvert>())
        .BindInput(state)
        .BindOutput(out);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> state, in, out;
};

float RunOnce(LoadedBinary& loaded, float in) {
  Write<float>(loaded.inputs[0], {in});
  EXPECT_TRUE(loaded.graph->Run()) << vx::LastError();
  return Read(loaded.outputs[0])[0];
}

class NbgState : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    if (context_ == nullptr) GTEST_SKIP() << "no device " << GetParam();
  }
  std::shared_ptr<vx::Context> context_;
};

TEST_P(NbgState, BeginsAsItWasWrittenAndGoesOn) {
  Counter counter;
  Write<float>(counter.state, {100});
  Write<float>(counter.in, {1});
  ASSERT_TRUE(counter.graph->Run());
  const std::vector<char> binary = ToBinary(*counter.graph);
  ASSERT_TRUE(counter.graph->Run());
  LoadedBinary loaded(binary, *counter.graph, context_->CreateGraph());
  EXPECT_EQ(RunOnce(loaded, 10), 101);
  EXPECT_EQ(RunOnce(loaded, 10), 111);
  // The state stays where the graph is compiled again.
  const auto unused = loaded.graph->CreateTensor(Floats({1}, vx::OUTPUT));
  (*loaded.graph->CreateOperation<vx::ops::Relu>())
      .BindInput(loaded.inputs[0])
      .BindOutput(unused);
  EXPECT_EQ(RunOnce(loaded, 1), 121);
}

TEST_P(NbgState, EveryOperationHasItsOwn) {
  Counter counter;
  const std::vector<char> binary = ToBinary(*counter.graph);
  const auto graph = context_->CreateGraph();
  const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto middle = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 1, 1))
      .BindInput(x)
      .BindOutput(middle);
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 1, 1))
      .BindInput(middle)
      .BindOutput(y);
  Write<float>(x, {1});
  const Values expected = {0, 0, 1, 3, 6};  // sums of sums
  for (const float value : expected) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(y)[0], value);
  }
}

TEST_P(NbgState, GoesIntoTheNextBinaryAndIntoClones) {
  Counter counter;
  const std::vector<char> first = ToBinary(*counter.graph);
  LoadedBinary loaded(first, *counter.graph, context_->CreateGraph());
  RunOnce(loaded, 5);
  const std::vector<char> second = ToBinary(*loaded.graph);
  RunOnce(loaded, 5);
  LoadedBinary again(second, *counter.graph, context_->CreateGraph());
  EXPECT_EQ(RunOnce(again, 1), 5);
  auto context = context_;
  const auto [inferred, map] =
      transform::LayoutInference(loaded.graph, context);
  Write<float>(map.at(loaded.inputs[0]), {0});
  ASSERT_TRUE(inferred->Run()) << vx::LastError();
  EXPECT_EQ(Read(map.at(loaded.outputs[0]))[0], 10);
}

// y = NBG(x), composed.
class Wrapped : public vx::ComposedOp {
 public:
  Wrapped(vx::Graph* graph, const std::vector<char>* binary)
      : ComposedOp(graph, "user.Wrapped", 1, 1), binary_(binary) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Wrapped>(binary_);
  }
  void Wire(vx::Graph* graph,
            const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
            const std::vector<std::shared_ptr<vx::Tensor>>& outputs) override {
    (*graph->CreateOperation<vx::ops::NBG>(binary_->data(), 1, 1))
        .BindInputs(inputs)
        .BindOutputs(outputs);
  }

 private:
  const std::vector<char>* binary_;
};

TEST_P(NbgState, WorksInComposedOperations) {
  Counter counter;
  const std::vector<char> binary = ToBinary(*counter.graph);
  const auto graph = context_->CreateGraph();
  const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  (*graph->CreateOperation<Wrapped>(&binary)).BindInput(x).BindOutput(y);
  Write<float>(x, {2});
  for (const float value : {0.f, 2.f, 4.f}) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(y)[0], value);
  }
  const std::vector<char> whole = ToBinary(*graph);
  LoadedBinary loaded(whole, *graph, context_->CreateGraph());
  EXPECT_EQ(RunOnce(loaded, 2), 6);
}

INSTANTIATE_TEST_SUITE_P(Devices, NbgState, ::testing::Values("host", "opencl"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tim::testing
