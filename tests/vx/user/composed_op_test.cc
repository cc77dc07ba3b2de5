// Composed operators: wiring, scopes, expansion, errors.
#include "tim/vx/composed_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/vx/vx_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::ComposedOp;
using vx::Graph;
using vx::Operation;
using vx::Tensor;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

template <typename Op>
class Composed : public ComposedOp {
 public:
  using ComposedOp::ComposedOp;
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Op>();
  }
};

// relu(a + b) (+ c where it is bound)
class ReluOfSum : public Composed<ReluOfSum> {
 public:
  explicit ReluOfSum(Graph* graph, const char* name = "user.ReluOfSum")
      : Composed(graph, name, 2, 1, 1) {}
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    ++wired;
    auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({inputs[0], inputs[1]})
        .BindOutput(sum);
    if (inputs[2]->IsPlaceHolder()) {
      graph->CreateOperation<vx::ops::Relu>()->BindInput(sum).BindOutput(
          outputs[0]);
      return;
    }
    auto result = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(sum).BindOutput(result);
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({result, inputs[2]})
        .BindOutput(outputs[0]);
  }
  int wired = 0;
};

// Two of them, the inner operation of the first made by the constructor.
class Twice : public Composed<Twice> {
 public:
  explicit Twice(Graph* graph) : Composed(graph, "user.Twice", 2, 1) {
    first_ = graph->CreateOperation<ReluOfSum>();
  }
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    auto between = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    first_->BindInputs({inputs[0], inputs[1]}).BindOutput(between);
    graph->CreateOperation<ReluOfSum>()
        ->BindInputs({between, inputs[1]})
        .BindOutput(outputs[0]);
  }

 private:
  std::shared_ptr<ReluOfSum> first_;
};

struct Example {
  std::shared_ptr<Graph> graph = HostGraph();
  std::shared_ptr<Tensor> a = Input({1, -2, 3, -4});
  std::shared_ptr<Tensor> b = Input({1, 1, -5, 5});
  std::shared_ptr<Tensor> y = graph->CreateTensor(Floats({4}, vx::OUTPUT));

  std::shared_ptr<Tensor> Input(const std::vector<float>& values) {
    return graph->CreateTensor(Floats({4}, vx::INPUT), values.data());
  }
  std::vector<float> Run() {
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(y);
  }
};

TEST(ComposedOp, IsWiredOnceWhenTheLastSlotIsBoundInAnyOrder) {
  for (const bool outputs_first : {false, true}) {
    Example g;
    const auto c = g.Input({10, 20, 30, 40});
    const auto op = g.graph->CreateOperation<ReluOfSum>();
    if (outputs_first) op->BindOutput(g.y);
    op->BindInputs({g.a, g.b});
    EXPECT_EQ(op->wired, 0);
    op->BindInput(c);
    if (!outputs_first) op->BindOutput(g.y);
    EXPECT_EQ(op->wired, 1);
    EXPECT_THAT(g.Run(), ElementsAre(12, 20, 30, 41));
    EXPECT_TRUE(g.graph->Run());
    EXPECT_EQ(op->wired, 1);
  }
}

TEST(ComposedOp, IsWiredAtCompileWhereAnOptionalInputIsUnbound) {
  Example g;
  const auto op = g.graph->CreateOperation<ReluOfSum>();
  op->BindInputs({g.a, g.b}).BindOutput(g.y);
  EXPECT_EQ(op->wired, 0);
  EXPECT_THAT(g.Run(), ElementsAre(2, 0, 0, 1));
  EXPECT_EQ(op->wired, 1);
}

TEST(ComposedOp, OwnsWhatItsConstructorAndWireCreate) {
  Example g;
  const auto twice = g.graph->CreateOperation<Twice>();
  const auto later = g.graph->CreateOperation<vx::ops::Relu>();
  twice->BindInputs({g.a, g.b}).BindOutput(g.y);
  EXPECT_EQ(later->impl()->owner, 0u);
  const auto& all = g.graph->OpVector();
  ASSERT_GE(all.size(), 4u);
  EXPECT_EQ(all[0]->impl()->owner, twice->uid());
  EXPECT_EQ(all[1], twice);
  EXPECT_EQ(all[2], later);
  EXPECT_EQ(all[3]->impl()->owner, twice->uid());
  auto z = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  later->BindInput(g.y).BindOutput(z);
  // relu(relu(a + b) + b)
  EXPECT_THAT(g.Run(), ElementsAre(3, 1, 0, 6));
  EXPECT_THAT(Read(z), ElementsAre(3, 1, 0, 6));
}

TEST(ComposedOp, HasAUidAndAName) {
  Example g;
  const auto op = g.graph->CreateOperation<ReluOfSum>();
  EXPECT_EQ(op->uid(), 1u);
  EXPECT_STREQ(op->Name(), "user.ReluOfSum");
}

TEST(ComposedOp, MayReadTensorsOfUnknownShapeAndCompileBeforeItsProducer) {
  Example g;
  auto between = g.graph->CreateTensor(Floats({}, vx::TRANSIENT));
  g.graph->CreateOperation<ReluOfSum>()
      ->BindInputs({between, g.b})
      .BindOutput(g.y);
  g.graph->CreateOperation<vx::ops::Relu>()->BindInput(g.a).BindOutput(between);
  EXPECT_THAT(g.Run(), ElementsAre(2, 1, 0, 5));
  EXPECT_THAT(between->GetShape(), ElementsAre(4u));
}

TEST(ComposedOp, IsOneNodeInTheDump) {
  Example g;
  g.graph->CreateOperation<ReluOfSum>()->BindInputs({g.a, g.b}).BindOutput(g.y);
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  const std::string dump = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(dump, HasSubstr("= user.ReluOfSum"));
  EXPECT_THAT(dump, HasSubstr("= tim.Relu@1"));
}

// Reads a tensor that is none of its inputs, and writes one that is read
// outside though it is none of its outputs.
class Entangled : public Composed<Entangled> {
 public:
  explicit Entangled(Graph* graph) : Composed(graph, "user.Entangled", 1, 1) {}
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({inputs[0], captured})
        .BindOutput(escaping);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(escaping).BindOutput(
        outputs[0]);
  }
  std::shared_ptr<Tensor> captured;
  std::shared_ptr<Tensor> escaping;
};

TEST(ComposedOp, MayReadAndWriteTensorsThatAreNotItsOperands) {
  Example g;
  auto z = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  const auto op = g.graph->CreateOperation<Entangled>();
  op->captured = g.b;
  op->escaping = g.graph->CreateTensor(Floats({}, vx::TRANSIENT));
  op->BindInput(g.a).BindOutput(g.y);
  g.graph->CreateOperation<vx::ops::Add>()
      ->BindInputs({op->escaping, g.b})
      .BindOutput(z);
  EXPECT_THAT(g.Run(), ElementsAre(2, 0, 0, 1));
  EXPECT_THAT(Read(z), ElementsAre(3, 0, -7, 6));
}

TEST(ComposedOp, KeepsAStateOfItsOwn) {
  Example g;
  const auto state = g.graph->CreateTensor(Floats({4}, vx::VARIABLE));
  const auto op = g.graph->CreateOperation<Entangled>();
  op->captured = op->escaping = state;  // state += input; y = relu(old state)
  op->BindInput(g.a).BindOutput(g.y);
  EXPECT_THAT(g.Run(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(g.Run(), ElementsAre(1, 0, 3, 0));
  EXPECT_THAT(Read(state), ElementsAre(2, -4, 6, -8));
}

class Throwing : public Composed<Throwing> {
 public:
  explicit Throwing(Graph* graph) : Composed(graph, "user.Throwing", 1, 1) {}
  void Wire(Graph*, const Tensors&, const Tensors&) override {
    throw std::runtime_error("no wire left");
  }
};

class Idle : public Composed<Idle> {
 public:
  explicit Idle(Graph* graph) : Composed(graph, "user.Idle", 1, 1) {}
  void Wire(Graph*, const Tensors&, const Tensors&) override {}
};

TEST(ComposedOpErrors, ExceptionInWire) {
  Example g;
  g.graph->CreateOperation<Throwing>()->BindInput(g.a).BindOutput(g.y);
  EXPECT_THAT(vx::LastError(), HasSubstr("no wire left"));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.Throwing#1"));
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(g.graph->ErrorMessage(), HasSubstr("no wire left"));
}

TEST(ComposedOpErrors, NamesThatAreNotTheUsers) {
  class Named : public ReluOfSum {
   public:
    Named(Graph* graph, const char* name) : ReluOfSum(graph, name) {}
  };
  for (const char* name : {"tim.Tanh", "nodot", "", "user.", "user.Comp#1"}) {
    Example g;
    g.graph->CreateOperation<Named>(name)
        ->BindInputs({g.a, g.b})
        .BindOutput(g.y);
    EXPECT_TRUE(CompileFailsWith(*g.graph, "the name must be user.<Class>"));
  }
}

TEST(ComposedOpErrors, OutputThatNothingWrites) {
  Example g;
  g.graph->CreateOperation<Idle>()->BindInput(g.a).BindOutput(g.y);
  EXPECT_TRUE(CompileFailsWith(
      *g.graph, "Wire() binds no operation that writes output 0"));
}

TEST(ComposedOpErrors, WrongCountOfOperands) {
  Example few;
  few.graph->CreateOperation<ReluOfSum>()->BindInput(few.a).BindOutput(few.y);
  EXPECT_TRUE(
      CompileFailsWith(*few.graph, "1 inputs are bound, expected 2 to 3"));
  Example many;
  many.graph->CreateOperation<Idle>()
      ->BindInputs({many.a, many.b})
      .BindOutput(many.y);
  EXPECT_TRUE(CompileFailsWith(*many.graph, "2 inputs are bound, expected 1"));
}

TEST(ComposedOpErrors, MistakeInsideNamesBothOperations) {
  Example g;
  const auto wrong = g.graph->CreateTensor(Floats({3}, vx::INPUT));
  g.graph->CreateOperation<ReluOfSum>()
      ->BindInputs({g.a, wrong})
      .BindOutput(g.y);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.ReluOfSum#1"));
  EXPECT_THAT(vx::LastError(), HasSubstr("Add#2"));
}

}  // namespace
}  // namespace tim::testing
