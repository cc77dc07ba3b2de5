// Constructors of operations that throw: CreateOperation() passes it on, and
// the graph keeps nothing of what was not finished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "tests/support/vx/vx_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using vx::Graph;
using vx::Operation;
using vx::Tensor;
using vx::ops::Relu;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

class Sound : public vx::ops::CustomOpBase {
 public:
  explicit Sound(Graph* graph) : CustomOpBase(graph, 1, 1, 0, "Sound") {}
  void SetupShapeInfor() override {}
  void SetupParams(std::vector<vx::DataType>, std::string&) override {}
  void SetupEnqueue(uint32_t&, std::vector<size_t>&,
                    std::vector<size_t>&) override {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Sound>();
  }
};

class FailingCustom : public Sound {
 public:
  explicit FailingCustom(Graph* graph) : Sound(graph) {
    throw std::runtime_error("no kernel today");
  }
};

// out = relu(in), made by Wire().
class Inner : public vx::ComposedOp {
 public:
  explicit Inner(Graph* graph) : ComposedOp(graph, "user.Inner", 1, 1) {}
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    graph->CreateOperation<Relu>()->BindInput(inputs[0]).BindOutput(outputs[0]);
  }
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Inner>();
  }
};

// Two operations deep when it throws, all of them bound.
class FailingComposed : public Inner {
 public:
  FailingComposed(Graph* graph, std::shared_ptr<Tensor> a,
                  std::shared_ptr<Tensor> y)
      : Inner(graph) {
    const auto between = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
    graph->CreateOperation<Inner>()->BindInput(a).BindOutput(between);
    graph->CreateOperation<Relu>()->BindInput(between).BindOutput(y);
    throw std::runtime_error("not today");
  }
};

struct Example {
  std::shared_ptr<Graph> graph = HostGraph();
  std::array<float, 4> values = {1, -2, 3, -4};
  std::shared_ptr<Tensor> a =
      graph->CreateTensor(Floats({4}, vx::INPUT), values.data());
  std::shared_ptr<Tensor> y = graph->CreateTensor(Floats({4}, vx::OUTPUT));

  // Nothing is left, and the graph works.
  void ExpectUsable() {
    EXPECT_TRUE(graph->OpVector().empty());
    EXPECT_TRUE(graph->TensorConsumer().empty());
    EXPECT_TRUE(graph->TensorProducer().empty());
    const auto relu = graph->CreateOperation<Relu>();
    relu->BindInput(a).BindOutput(y);
    EXPECT_EQ(relu->impl()->owner, 0u);
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(y), ElementsAre(1, 0, 3, 0));
  }
};

TEST(ThrowingConstructor, OfACustomOperator) {
  Example g;
  EXPECT_THROW(g.graph->CreateOperation<FailingCustom>(), std::runtime_error);
  g.ExpectUsable();
}

TEST(ThrowingConstructor, OfAComposedOperatorTakesWhatItMadeAlong) {
  Example g;
  EXPECT_THROW(g.graph->CreateOperation<FailingComposed>(g.a, g.y),
               std::runtime_error);
  g.ExpectUsable();
}

TEST(ThrowingConstructor, KeepsWhatWasThereBefore) {
  Example g;
  const auto relu = g.graph->CreateOperation<Relu>();
  relu->BindInput(g.a).BindOutput(g.y);
  const auto other = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  EXPECT_THROW(g.graph->CreateOperation<FailingComposed>(g.a, other),
               std::runtime_error);
  EXPECT_THAT(g.graph->OpVector(), ElementsAre(relu));
  EXPECT_THAT(g.graph->GetConsumersOp(g.a), ElementsAre(relu));
  EXPECT_EQ(g.graph->GetProducerOp(g.y), relu);
  EXPECT_EQ(g.graph->GetProducerOp(other), nullptr);
}

TEST(ThrowingConstructor, InAReplacementThatFallsBackToAnother) {
  Example g;
  g.graph->CreateOperation<Relu>()->BindInput(g.a).BindOutput(g.y);
  g.graph->Override<Relu>([&g](Graph* graph, const Operation&) {
    std::shared_ptr<Operation> made;
    try {
      made = graph->CreateOperation<FailingComposed>(g.a, g.y);
    } catch (const std::runtime_error&) {
      made = graph->CreateOperation<vx::ops::Tanh>();
    }
    return made;
  });
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(::testing::FloatNear(0.76159416f, 1e-6f),
                                     ::testing::FloatNear(-0.96402758f, 1e-6f),
                                     ::testing::FloatNear(0.99505475f, 1e-6f),
                                     ::testing::FloatNear(-0.9993293f, 1e-6f)));
}

}  // namespace
}  // namespace tim::testing
