// LayoutInference() of custom, composed and overridden operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/inferred_graph.h"
#include "tests/support/vx/test_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataLayout;
using vx::ShapeType;
using vx::ops::Permutation;
using vx::ops::PermutedOperands;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;
using Perm = std::vector<uint32_t>;
using Tensors = std::vector<TensorPtr>;

// y = 2 x on the host, of any shape; `rule`: every axis may move.
class Doubling : public TestOp {
 public:
  explicit Doubling(vx::Graph* graph, bool rule)
      : TestOp(graph, Plan()), rule_(rule) {}

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Doubling>(rule_);
  }

  bool PermuteAxes(uint32_t, const Permutation& perm,
                   PermutedOperands* operands) const override {
    operands->outputs[0] = perm;
    return rule_;
  }

 private:
  static OpPlan Plan() {
    OpPlan plan;
    plan.host = [](OpPlan::Op&, const OpPlan::Inputs& in,
                   const OpPlan::Outputs& out) {
      for (int64_t i = 0; i < in[0].spec.GetElementNum(); ++i) {
        out[0].Data<float>()[i] = 2 * in[0].Data<float>()[i];
      }
    };
    return plan;
  }

  bool rule_;
};

// x -> Pool (CWHN) -> Doubling -> Pool (CWHN) -> y
struct DoublingGraph {
  explicit DoublingGraph(bool rule) : graph(HostContext()->CreateGraph()) {
    x = graph->CreateTensor(Floats({3, 8, 8, 1}, vx::INPUT));
    y = graph->CreateTensor(Floats({3, 2, 2, 1}, vx::OUTPUT));
    auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    auto b = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    Pool(x, a);
    (*graph->CreateOperation<Doubling>(rule)).BindInput(a).BindOutput(b);
    Pool(b, y);
  }

  void Pool(const TensorPtr& from, const TensorPtr& to) {
    (*graph->CreateOperation<ops::Pool2d>(
         vx::PoolType::MAX, vx::PadType::VALID, Pair{2, 2}, Pair{2, 2},
         vx::RoundType::FLOOR, DataLayout::CWHN))
        .BindInput(from)
        .BindOutput(to);
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr x, y;
};

// The largest of each channel in its quarter of the image, twice.
std::vector<float> ExpectedOfDoubling(const std::vector<float>& x) {
  std::vector<float> out;
  for (const size_t h : {3, 7}) {
    for (const size_t w : {3, 7}) {
      for (size_t c = 0; c < 3; ++c) out.push_back(2 * x[c + 3 * (w + 8 * h)]);
    }
  }
  return out;
}

TEST(LayoutInferenceOfUsers, CustomOperatorsAreABarrier) {
  DoublingGraph source(false);
  InferredGraph inferred(source.graph);
  EXPECT_EQ(inferred.transposes(), 4);
  inferred.Write(source.x, Ramp(192));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), ExpectedOfDoubling(Ramp(192)));
}

TEST(LayoutInferenceOfUsers, CustomOperatorsWithARuleAreNone) {
  DoublingGraph source(true);
  InferredGraph inferred(source.graph);
  EXPECT_EQ(inferred.transposes(), 2);
  inferred.Write(source.x, Ramp(192));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), ExpectedOfDoubling(Ramp(192)));
}

// What it keeps in a VARIABLE is kept in place: no Transpose gets between.
TEST(LayoutInferenceOfUsers, CustomOperatorsWriteTheirStatesThemselves) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  auto state = graph->CreateTensor(Floats({2, 3}, vx::VARIABLE));
  (*graph->CreateOperation<Doubling>(true)).BindInput(x).BindOutput(state);
  InferredGraph inferred(graph, {{x, Pv({1, 0})}});
  EXPECT_EQ(inferred.transposes(), 1);
  inferred.Write(x, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(inferred[x]->GetShape(), (ShapeType{2, 3}));
}

// relu(a + b) * a, the sum in CWHN's own order.
class Gate : public vx::ComposedOp {
 public:
  static const char* OpName() { return "user.Gate"; }
  explicit Gate(vx::Graph* graph) : ComposedOp(graph, OpName(), 2, 1) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Gate>();
  }
  void Wire(vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    auto positive = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    (*graph->CreateOperation<ops::Add>()).BindInputs(inputs).BindOutput(sum);
    (*graph->CreateOperation<ops::Relu>()).BindInput(sum).BindOutput(positive);
    (*graph->CreateOperation<ops::Multiply>())
        .BindInputs({positive, inputs[0]})
        .BindOutputs(outputs);
  }
};

struct GateGraph {
  GateGraph() : graph(HostContext()->CreateGraph()) {
    x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
    auto t = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    auto u = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    y = graph->CreateTensor(Floats({2, 3}, vx::OUTPUT));
    const std::vector<float> ones(6, 1);
    auto one = graph->CreateTensor(Floats({3, 2}, vx::CONSTANT), ones.data());
    (*graph->CreateOperation<ops::Transpose>(Perm{1, 0}))
        .BindInput(x)
        .BindOutput(t);
    gate = graph->CreateOperation<Gate>();
    (*gate).BindInputs({t, one}).BindOutput(u);
    (*graph->CreateOperation<ops::Transpose>(Perm{1, 0}))
        .BindInput(u)
        .BindOutput(y);
  }
  std::shared_ptr<vx::Graph> graph;
  TensorPtr x, y;
  std::shared_ptr<Gate> gate;
};

TEST(LayoutInferenceOfUsers, ComposedOperatorsAreRecursedInto) {
  GateGraph source;
  InferredGraph inferred(source.graph);
  EXPECT_EQ(inferred.transposes(), 0);
  EXPECT_EQ(Count(inferred.graph(), "user.Gate"), 0);
  EXPECT_EQ(Count(inferred.graph(), "Multiply"), 1);
  inferred.Write(source.x, {-2, -1, 0, 1, 2, 3});
  inferred.Run();
  EXPECT_THAT(inferred.Read(source.y), ElementsAre(0, 0, 0, 2, 6, 12));
}

// The library's own, which TIM-VX takes for an Add.
TEST(LayoutInferenceOfUsers, ComposedOperatorsOfTheLibraryAre) {
  auto graph = HostContext()->CreateGraph();
  const auto constant = [&](const ShapeType& shape) {
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    const std::vector<float> values = Ramp(count);
    return graph->CreateTensor(Floats(shape, vx::CONSTANT), values.data());
  };
  auto x = graph->CreateTensor(Floats({2, 3, 4}, vx::INPUT));
  auto last = graph->CreateTensor(Floats({5, 3, 1}, vx::OUTPUT));
  auto all = graph->CreateTensor(Floats({5, 1, 3, 4}, vx::OUTPUT));
  (*graph->CreateOperation<ops::UnidirectionalSequenceRnnExt>(
       ops::UnidirectionalSequenceRnn::ActivationType::kTANH))
      .BindInputs({x, constant({2, 5, 1}), constant({5, 5, 1}),
                   constant({10, 1}), constant({5, 3, 1})})
      .BindOutputs({last, all});
  Write(x, Ramp(24));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  InferredGraph inferred(graph);
  EXPECT_EQ(inferred.transposes(), 0);
  inferred.Write(x, Ramp(24));
  inferred.Run();
  EXPECT_EQ(inferred.Read(last), Read(last));
  EXPECT_EQ(inferred.Read(all), Read(all));
}

TEST(LayoutInferenceOfUsers, OverriddenComposedOperatorsStayWhole) {
  GateGraph source;
  source.graph->Override<Gate>([](vx::Graph* graph, const vx::Operation&) {
    return graph->CreateOperation<ops::Sub>();
  });
  InferredGraph inferred(source.graph);
  EXPECT_EQ(Count(inferred.graph(), "user.Gate"), 1);
  EXPECT_EQ(inferred.transposes(), 2);
  inferred.Write(source.x, {-2, -1, 0, 1, 2, 3});
  inferred.Run();
  EXPECT_THAT(inferred.Read(source.y), ElementsAre(-3, -2, -1, 0, 1, 2));
}

// A replacement was made for the axes of the original.
TEST(LayoutInferenceOfUsers, OverriddenOperatorsKeepTheirAxes) {
  for (const bool of_context : {false, true}) {
    auto context = HostContext();
    auto graph = context->CreateGraph();
    auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
    auto y = graph->CreateTensor(Floats({3, 2}, vx::OUTPUT));
    (*graph->CreateOperation<ops::Softmax>(1.0f, 0)).BindInput(x).BindOutput(y);
    int axis = -1;
    const auto factory = [&](vx::Graph* on, const vx::Operation& original) {
      original.GetAttribute("axis", &axis);
      return on->CreateOperation<ops::Relu>();
    };
    if (of_context) {
      context->Override<ops::Softmax>(factory);
    } else {
      graph->Override<ops::Softmax>(factory);
    }
    InferredGraph inferred(graph, {{x, Pv({1, 0})}}, context);
    EXPECT_EQ(inferred.transposes(), 1);
    inferred.Write(x, {1, 2, 3, -4, 5, 6});
    inferred.Run();
    EXPECT_EQ(axis, 0);
    EXPECT_THAT(inferred.Read(y), ElementsAre(1, 3, 5, 2, 0, 6));
  }
}

// Clone() is the user's code.
class Mistaken : public Doubling {
 public:
  using Cloner =
      std::function<std::shared_ptr<vx::Operation>(std::shared_ptr<vx::Graph>)>;
  Mistaken(vx::Graph* graph, Cloner clone)
      : Doubling(graph, false), clone_(std::move(clone)) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return clone_(graph);
  }

 private:
  Cloner clone_;
};

std::string ErrorOf(const Mistaken::Cloner& clone) {
  auto context = HostContext();
  auto graph = context->CreateGraph();
  auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  (*graph->CreateOperation<Mistaken>(clone)).BindInput(x).BindOutput(y);
  const auto inferred = transform::LayoutInference(graph, context);
  EXPECT_FALSE(inferred.first->Compile());
  return vx::LastError();
}

TEST(LayoutInferenceOfUsers, ClonesThatAreNoneAreRefused) {
  EXPECT_THAT(ErrorOf([](auto) { return nullptr; }),
              HasSubstr("operation user.TestOp#1: Clone() gave no operation "
                        "of the graph"));
  EXPECT_THAT(
      ErrorOf([](auto) { return HostGraph()->CreateOperation<ops::Relu>(); }),
      HasSubstr("Clone() gave no operation of the graph"));
  EXPECT_THAT(ErrorOf([](auto graph) {
                auto relu = graph->template CreateOperation<ops::Relu>();
                relu->BindInput(graph->CreateTensor(Floats({4}, vx::INPUT)));
                return relu;
              }),
              HasSubstr("Clone() gave an operation that is bound"));
  EXPECT_THAT(ErrorOf([](auto) -> std::shared_ptr<vx::Operation> {
                throw std::runtime_error("no twin");
              }),
              HasSubstr("no twin"));
}

}  // namespace
}  // namespace tim::testing
