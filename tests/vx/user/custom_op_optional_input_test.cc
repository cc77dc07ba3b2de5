// Custom operators with inputs that may be absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Tensors = std::vector<TensorPtr>;
using Values = std::vector<float>;

// y = x (+ bias) (* scale).
OpPlan AffinePlan() {
  OpPlan plan;
  plan.inputs = 3;
  plan.source =
      "__kernel void f(__global const float* x, __global const float* bias,\n"
      "                __constant float* scale, __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  float value = x[i];\n"
      "#if TIM_HAS_INPUT1\n"
      "  value += bias[i % TIM_SIZE_INPUT1_0];\n"
      "#endif\n"
      "  if (scale != 0) value *= scale[0];\n"
      "  y[i] = value;\n"
      "}\n";
  plan.construct = [](OpPlan::Op& op) {
    op.SetInputOptional(1);
    op.SetInputOptional(2);
  };
  plan.host = [](OpPlan::Op& op, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(op.HasInput(i), inputs[i].data != nullptr);
    }
    const auto* bias = static_cast<const float*>(inputs[1].data);
    const auto* scale = static_cast<const float*>(inputs[2].data);
    for (size_t i = 0; i < 4; ++i) {
      float value = inputs[0].Data<float>()[i];
      if (bias != nullptr) value += bias[i % 2];
      outputs[0].Data<float>()[i] = scale != nullptr ? value * *scale : value;
    }
  };
  return plan;
}

// What is bound of input 1 and 2.
enum class Bound { kNothing, kPlaceHolder, kTensor };

struct AffineGraph {
  AffineGraph(const std::string& device, Bound bias, Bound scale,
              const OpPlan& plan = AffinePlan())
      : graph(ContextOn(device)->CreateGraph()) {
    x = graph->CreateTensor(Floats({4}, vx::INPUT));
    y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    op = graph->CreateOperation<TestOp>(plan);
    op->BindInput(x).BindOutput(y);
    Bind(bias, {10, 20});
    Bind(scale, {3});
  }
  void Bind(Bound what, const Values& values) {
    if (what == Bound::kNothing) return;
    op->BindInput(
        what == Bound::kPlaceHolder
            ? graph->CreateTensorPlaceHolder()
            : graph->CreateTensor(
                  Floats({static_cast<uint32_t>(values.size())}, vx::CONSTANT),
                  values.data()));
  }
  Values Run() {
    Write<float>(x, {1, 2, 3, 4});
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(y);
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr x;
  TensorPtr y;
  std::shared_ptr<TestOp> op;
};

TEST(CustomOpOptionalInput, PresentAndAbsent) {
  for (const char* device : {"opencl", "host"}) {
    SCOPED_TRACE(device);
    EXPECT_THAT(AffineGraph(device, Bound::kTensor, Bound::kTensor).Run(),
                ElementsAre(33, 66, 39, 72));
    EXPECT_THAT(AffineGraph(device, Bound::kPlaceHolder, Bound::kTensor).Run(),
                ElementsAre(3, 6, 9, 12));
    EXPECT_THAT(AffineGraph(device, Bound::kTensor, Bound::kPlaceHolder).Run(),
                ElementsAre(11, 22, 13, 24));
    EXPECT_THAT(AffineGraph(device, Bound::kTensor, Bound::kNothing).Run(),
                ElementsAre(11, 22, 13, 24));
    EXPECT_THAT(AffineGraph(device, Bound::kNothing, Bound::kNothing).Run(),
                ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(
        AffineGraph(device, Bound::kPlaceHolder, Bound::kPlaceHolder).Run(),
        ElementsAre(1, 2, 3, 4));
  }
}

TEST(CustomOpOptionalInput, IsSeenByAllFunctions) {
  OpPlan plan = AffinePlan();
  int calls = 0;
  const auto check = [&](OpPlan::Op& op) {
    ++calls;
    EXPECT_TRUE(op.HasInput(0));
    EXPECT_FALSE(op.HasInput(1));
    EXPECT_TRUE(op.HasInput(2));
    EXPECT_EQ(op.InputSpec(1).datatype_, vx::DataType::UNKNOWN);
    EXPECT_TRUE(op.InputSpec(1).shape_.empty());
    EXPECT_THAT(op.InputSpec(2).shape_, ElementsAre(1u));
    EXPECT_THROW(op.HasInput(3), std::out_of_range);
    EXPECT_THROW(op.InputSpec(3), std::out_of_range);
  };
  plan.types = check;
  plan.shapes = [&](OpPlan::Op& op) {
    check(op);
    ASSERT_EQ(op.inputs_size_.size(), 3u);
    EXPECT_TRUE(op.inputs_size_[1].empty());
    op.outputs_size_[0] = op.inputs_size_[0];
  };
  plan.params = [&](OpPlan::Op& op, const std::vector<vx::DataType>& types,
                    std::string&) {
    check(op);
    EXPECT_THAT(types, ElementsAre(vx::DataType::FLOAT32, vx::DataType::UNKNOWN,
                                   vx::DataType::FLOAT32));
  };
  plan.enqueue = [&](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                     OpPlan::Sizes&) {
    check(op);
    dim = 1;
    global[0] = 4;
  };
  AffineGraph g("opencl", Bound::kPlaceHolder, Bound::kTensor, plan);
  EXPECT_TRUE(g.op->HasInput(2)) << "outside of Compile(), too";
  EXPECT_FALSE(g.op->HasInput(1));
  EXPECT_THAT(g.Run(), ElementsAre(3, 6, 9, 12));
  EXPECT_EQ(calls, 4);
}

TEST(CustomOpOptionalInput, CloneHasThem) {
  AffineGraph g("opencl", Bound::kNothing, Bound::kNothing);
  auto graph = OpenClGraph();
  const auto clone = g.op->Clone(graph);
  const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  clone->BindInput(x).BindOutput(y);
  Write<float>(x, {5, 6, 7, 8});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(5, 6, 7, 8));
}

// Its first input is the optional one.
TEST(CustomOpOptionalInput, BeforeARequiredOne) {
  OpPlan plan;
  plan.inputs = 2;
  plan.source =
      "__kernel void f(__global const float* a, __global const float* x,\n"
      "                __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  y[i] = a == 0 ? x[i] : x[i] - a[i];\n"
      "}\n";
  plan.construct = [](OpPlan::Op& op) { op.SetInputOptional(0); };
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {4}; };
  for (const bool bound : {false, true}) {
    const auto graph = OpenClGraph();
    const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
    const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)
        ->BindInputs({bound ? x : graph->CreateTensorPlaceHolder(), x})
        .BindOutput(y);
    Write<float>(x, {1, 2, 3, 4});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(y), bound ? Values(4) : (Values{1, 2, 3, 4}));
  }
}

TEST(CustomOpOptionalInput, AnAbsentImageIsATexelOfZero) {
  OpPlan plan;
  plan.inputs = 2;
  plan.source =
      "__kernel void f(__read_only image2d_t x, __read_only image2d_array_t "
      "a,\n"
      "                __write_only image2d_t y) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  const float4 more = read_imagef(a, (int4)(at, 0, 0));\n"
      "  write_imagef(y, at, read_imagef(x, at) + more);\n"
      "}\n";
  plan.construct = [](OpPlan::Op& op) { op.SetInputOptional(1); };
  plan.enqueue = Sizes(2, {2, 2}, {0, 0});
  for (const bool bound : {false, true}) {
    TestOpGraph g(plan, {2, 2});
    if (bound) g.op->BindInput(g.x);
    const float factor = bound ? 2 : 1;
    for (int run = 0; run < 2; ++run) {
      EXPECT_THAT(g.Run({1, 2, 3, 4}),
                  ElementsAre(factor, 2 * factor, 3 * factor, 4 * factor));
    }
  }
}

// The state's value before the run is one more input, behind the absent one.
TEST(CustomOpOptionalInput, BesideAStateThatIsKept) {
  OpPlan plan;
  plan.inputs = 2;
  plan.source =
      "__kernel void f(__global const float* x, __global const float* a,\n"
      "                __global float* s) {\n"
      "  s[1] += x[0] + (a == 0 ? 0 : a[0]);\n"
      "}\n";
  plan.construct = [](OpPlan::Op& op) { op.SetInputOptional(1); };
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {3}; };
  plan.enqueue = Sizes(1, {1}, {0});
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    const auto* a = static_cast<const float*>(inputs[1].data);
    outputs[0].Data<float>()[1] +=
        inputs[0].Data<float>()[0] + (a == nullptr ? 0 : *a);
  };
  for (const char* device : {"opencl", "host"}) {
    for (const bool bound : {false, true}) {
      const auto graph = ContextOn(device)->CreateGraph();
      const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
      const Values start = {7, 8, 9};
      const auto s =
          graph->CreateTensor(Floats({3}, vx::VARIABLE), start.data());
      const auto op = graph->CreateOperation<TestOp>(plan);
      op->BindInput(x).BindOutput(s);
      if (bound) op->BindInput(x);
      for (int run = 1; run <= 3; ++run) {
        Write<float>(x, {1});
        ASSERT_TRUE(graph->Run()) << vx::LastError();
        EXPECT_THAT(Read(s), ElementsAre(7, 8 + run * (bound ? 2 : 1), 9));
      }
    }
  }
}

// Hands its own optional operand on.
class AffineOfRelu : public vx::ComposedOp {
 public:
  explicit AffineOfRelu(vx::Graph* graph)
      : ComposedOp(graph, "user.AffineOfRelu", 1, 1, 2) {}
  void Wire(vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(inputs[0]).BindOutput(a);
    graph->CreateOperation<TestOp>(AffinePlan())
        ->BindInputs({a, inputs[1], inputs[2]})
        .BindOutput(outputs[0]);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<AffineOfRelu>();
  }
};

TEST(CustomOpOptionalInput, InAComposedOperator) {
  for (const char* device : {"opencl", "host"}) {
    for (const bool bound : {false, true}) {
      const auto graph = ContextOn(device)->CreateGraph();
      const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
      const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
      const auto op = graph->CreateOperation<AffineOfRelu>();
      op->BindInput(x).BindOutput(y);
      const Values scale = {3};
      if (bound) {
        op->BindInput(graph->CreateTensorPlaceHolder())
            .BindInput(
                graph->CreateTensor(Floats({1}, vx::CONSTANT), scale.data()));
      }
      Write<float>(x, {1, -2, 3, -4});
      ASSERT_TRUE(graph->Run()) << vx::LastError();
      const float factor = bound ? 3 : 1;
      EXPECT_THAT(Read(y), ElementsAre(factor, 0, 3 * factor, 0));
    }
  }
}

// An operator of the library is replaced by one that sees its operands.
TEST(CustomOpOptionalInput, OfAReplacement) {
  for (const bool bound : {false, true}) {
    const auto graph = OpenClGraph();
    graph->Override("FullyConnected", [](vx::Graph* on, const vx::Operation&) {
      OpPlan plan = AffinePlan();
      plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {4, 1}; };
      plan.source.replace(plan.source.find("scale[0]"), 8,
                          "scale[1] * TIM_HAS_INPUT2");
      return on->CreateOperation<TestOp>(plan);
    });
    const auto x = graph->CreateTensor(Floats({4, 1}, vx::INPUT));
    const auto y = graph->CreateTensor(Floats({4, 1}, vx::OUTPUT));
    const Values weights(16, 2);
    const Values bias = {5, 7, 0, 0};
    const auto op = graph->CreateOperation<vx::ops::FullyConnected>(0, 4);
    op->BindInput(x)
        .BindInput(
            graph->CreateTensor(Floats({4, 4}, vx::CONSTANT), weights.data()))
        .BindOutput(y);
    if (bound) {
      op->BindInput(
          graph->CreateTensor(Floats({4}, vx::CONSTANT), bias.data()));
    }
    Write<float>(x, {1, 2, 3, 4});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    const float factor = bound ? 7 : 1;
    EXPECT_THAT(Read(y),
                ElementsAre(3 * factor, 4 * factor, 5 * factor, 6 * factor));
  }
}

}  // namespace
}  // namespace tim::testing
