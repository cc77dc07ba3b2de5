// The live lists of a graph: operations, consumers and producers.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::TensorAttribute;
using Operations = std::vector<std::shared_ptr<vx::Operation>>;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

TEST(Graph, ConsumersAndProducers) {
  ReluGraph g({2});
  auto add = g.graph->CreateOperation<vx::ops::Add>();
  (*add).BindInputs({g.input, g.input});
  EXPECT_EQ(g.graph->GetConsumersOp(g.input), (Operations{g.relu, add, add}));
  EXPECT_EQ(g.graph->GetProducerOp(g.output), g.relu);
  EXPECT_EQ(g.graph->GetProducerOp(g.input), nullptr);
  EXPECT_TRUE(g.graph->GetConsumersOp(g.output).empty());
  EXPECT_TRUE(g.graph->GetConsumersOp(nullptr).empty());
  EXPECT_EQ(g.graph->TensorConsumer()[g.input].size(), 3u);
  EXPECT_EQ(g.graph->TensorProducer()[g.output], g.relu);
  EXPECT_EQ(g.graph->OpVector(), (Operations{g.relu, add}));
}

TEST(Graph, LastProducerWins) {
  ReluGraph g({2});
  auto other = g.graph->CreateOperation<vx::ops::Relu>();
  (*other).BindOutput(g.output);
  EXPECT_EQ(g.graph->GetProducerOp(g.output), other);
}

TEST(Graph, RenewTensorConsumersMapMovesOneOperation) {
  ReluGraph g({2});
  auto other = g.graph->CreateOperation<vx::ops::Relu>();
  (*other).BindInput(g.input);
  const auto replacement =
      g.graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  g.graph->RenewTensorConsumersMap(g.input, replacement, g.relu.get());
  EXPECT_EQ(g.graph->GetConsumersOp(g.input), Operations{other});
  EXPECT_EQ(g.graph->GetConsumersOp(replacement), Operations{g.relu});
}

TEST(Graph, OperationsOfOtherGraphsAreNotConsumers) {
  ReluGraph g({2});
  ReluGraph other({2});
  g.graph->UpdateTensorConsumersMap(g.output, other.relu.get());
  g.graph->UpdateTensorProducerMap(g.input, other.relu.get());
  EXPECT_TRUE(g.graph->GetConsumersOp(g.output).empty());
  EXPECT_EQ(g.graph->GetProducerOp(g.input), nullptr);
}

TEST(Graph, ConstantInputs) {
  const auto graph = HostGraph();
  const auto constant =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::CONSTANT));
  const auto other =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::CONSTANT));
  const auto in =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::INPUT));
  const std::array<uint32_t, 2> one = {1, 1};
  auto all = graph->CreateOperation<vx::ops::Add>();
  auto some = graph->CreateOperation<vx::ops::Add>();
  auto conv =
      graph->CreateOperation<vx::ops::Conv2d>(vx::PadType::VALID, one, one);
  auto unbound = graph->CreateOperation<vx::ops::Relu>();
  (*all).BindInputs({constant, other});
  (*some).BindInputs({constant, in});
  (*conv).BindInputs({other, constant});
  EXPECT_EQ(all->ConstantInputsTensor(), (Tensors{constant, other}));
  EXPECT_TRUE(some->ConstantInputsTensor().empty());
  EXPECT_EQ(conv->ConstantInputsTensor(), Tensors{other});
  EXPECT_TRUE(unbound->ConstantInputsTensor().empty());
  EXPECT_EQ(graph->GetConstantInputs(), (Tensors{constant, other, other}));
}

TEST(Graph, PrintGraphGoesToStderr) {
  ReluGraph g({2});
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("t0: float32 [2] input"), std::string::npos)
      << printed;
  EXPECT_NE(printed.find("Relu#1"), std::string::npos) << printed;
  HostGraph()->PrintGraph();
}

TEST(Graph, PrintGraphNamesTheValuesOfEnums) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({4, 4, 1, 1}, vx::INPUT));
  const auto out = graph->CreateTensor(Floats({2, 2, 1, 1}, vx::OUTPUT));
  const std::array<uint32_t, 2> two = {2, 2};
  graph
      ->CreateOperation<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::SAME,
                                         two, two)
      ->BindInput(in)
      .BindOutput(out);
  ::testing::internal::CaptureStderr();
  graph->PrintGraph();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  for (const char* const part :
       {"type: avg", "padding: same", "round_type: floor", "ksize: [2, 2]"}) {
    EXPECT_NE(printed.find(part), std::string::npos) << part << "\n" << printed;
  }
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// `make` makes the input of a Relu, in vain.
void ExpectOneError(
    const std::function<std::shared_ptr<vx::Tensor>(vx::Graph&)>& make) {
  ReluGraph g({2});
  ::testing::internal::CaptureStderr();
  g.graph->CreateOperation<vx::ops::Relu>()
      ->BindInput(make(*g.graph))
      .BindOutput(g.graph->CreateTensor(Floats({2}, vx::OUTPUT)));
  EXPECT_FALSE(g.graph->Compile());
  const std::string reason = vx::LastError();
  const std::string logged = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(Count(logged, "[error]"), 1) << logged;
  EXPECT_EQ(g.graph->ErrorMessage(), reason);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(g.graph->Run());
  EXPECT_EQ(Count(::testing::internal::GetCapturedStderr(), "[error]"), 1);
  EXPECT_NE(vx::LastError().find("Compile() failed before"), std::string::npos);
}

TEST(Graph, MistakesInBindingsAreLoggedOnce) {
  ExpectOneError([](vx::Graph&) { return nullptr; });
}

TEST(Graph, MistakesInTensorsAreLoggedOnce) {
  ExpectOneError([](vx::Graph& graph) {
    return graph.CreateTensor(Floats({0, 2}, vx::INPUT));
  });
}

// Replacements are made, and bound, while Compile() runs.
TEST(Graph, MistakesOfReplacementsAreLoggedOnce) {
  ReluGraph g({2});
  g.graph->Override<vx::ops::Relu>([](vx::Graph* graph, const vx::Operation&) {
    auto made = graph->CreateOperation<vx::ops::Relu6>();
    made->BindInput(nullptr);
    return made;
  });
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(g.graph->Compile());
  const std::string logged = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(Count(logged, "the tensor is null"), 1) << logged;
  EXPECT_EQ(Count(logged, "gave an operation that is bound"), 1) << logged;
}

// A client's class that binds in its constructor.
class Early : public vx::ops::Relu {
 public:
  Early(vx::Graph* graph, std::shared_ptr<vx::Tensor> in,
        std::shared_ptr<vx::Tensor> out)
      : Relu(graph) {
    BindInput(in);
    BindOutput(out);
  }
};

TEST(Graph, BindingInAConstructor) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  const auto out = graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto early = graph->CreateOperation<Early>(in, out);
  EXPECT_EQ(graph->GetConsumersOp(in), Operations{early});
  EXPECT_EQ(graph->GetProducerOp(out), early);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
}

TEST(Graph, ObjectsMayBeDestroyedInAnyOrder) {
  auto context = HostContext();
  auto g =
      std::make_unique<ReluGraph>(vx::ShapeType{2}, context->CreateGraph());
  context.reset();
  EXPECT_TRUE(g->graph->Run()) << vx::LastError();
  const auto relu = g->relu;
  const auto input = g->input;
  Write<float>(input, {1, 2});
  g.reset();
  EXPECT_EQ(Read(input), (std::vector<float>{1, 2}));
  (*relu).BindInput(input);  // harmless
  EXPECT_EQ(relu->uid(), 1u);
  auto next = HostGraph();
  EXPECT_NE(relu->Clone(next), nullptr);
}

}  // namespace
}  // namespace tim::testing
