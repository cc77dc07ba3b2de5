// What the functions of custom operators, their kernels and factories of
// Override know of operands: specs and quantization.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorSpec;

std::shared_ptr<vx::Tensor> Open(const std::shared_ptr<vx::Graph>& graph,
                                 DataType type = DataType::UNKNOWN) {
  return graph->CreateTensor(TensorSpec(type, {}, vx::TRANSIENT));
}

const Quantization kHalves(QuantType::ASYMMETRIC, 0.5f, -3);

// x, int8 of halves -> Relu -> a, open -> TestOp -> b, open -> Relu -> y.
struct Between {
  explicit Between(const OpPlan& plan, DataType result = DataType::INT8) {
    x = graph->CreateTensor(
        TensorSpec(DataType::INT8, {4}, vx::INPUT, kHalves));
    y = graph->CreateTensor(
        TensorSpec(result, {4}, vx::OUTPUT,
                   result == DataType::INT8 ? kHalves : Quantization()));
    const auto a = graph->CreateTensor(
        TensorSpec(DataType::INT8, {}, vx::TRANSIENT, kHalves));
    const auto b = Open(graph);
    // Created in another order than values flow.
    graph->CreateOperation<TestOp>(plan)->BindInput(a).BindOutput(b);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(b).BindOutput(y);
  }
  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
};

OpPlan CopyOfChars() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const char* x, __global char* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)];\n"
      "}\n";
  return plan;
}

TEST(CustomOpSpecs, AreFinalInEveryFunction) {
  OpPlan plan = CopyOfChars();
  std::vector<std::string> log;
  const auto see_input = [](const OpPlan::Op& op) {
    const TensorSpec spec = op.InputSpec(0);
    EXPECT_EQ(op.InputCount(), 1u);
    EXPECT_EQ(spec.datatype_, DataType::INT8);
    EXPECT_THAT(spec.shape_, ElementsAre(4u));
    EXPECT_EQ(spec.attr_, vx::TRANSIENT);
    EXPECT_TRUE(spec.quantization_ == kHalves);
  };
  const auto see_output = [](const OpPlan::Op& op) {
    const TensorSpec spec = op.OutputSpec(0);
    EXPECT_EQ(op.OutputCount(), 1u);
    EXPECT_EQ(spec.datatype_, DataType::INT8);
    EXPECT_THAT(spec.shape_, ElementsAre(2u, 2u));
    EXPECT_TRUE(spec.quantization_ == kHalves);
  };
  plan.types = [&](OpPlan::Op& op) {
    log.push_back("types");
    see_input(op);
    EXPECT_EQ(op.OutputSpec(0).datatype_, DataType::UNKNOWN);
    EXPECT_THAT(op.OutputSpec(0).shape_, IsEmpty());
  };
  plan.shapes = [&](OpPlan::Op& op) {
    log.push_back("shapes");
    see_input(op);
    EXPECT_THAT(op.OutputSpec(0).shape_, IsEmpty());
    op.outputs_size_[0] = {2, 2};
  };
  plan.params = [&](OpPlan::Op& op, auto&&...) {
    log.push_back("params");
    see_input(op);
    see_output(op);
  };
  plan.enqueue = [&](OpPlan::Op& op, uint32_t& dim, auto& global, auto&) {
    log.push_back("enqueue");
    see_input(op);
    see_output(op);
    dim = 1;
    global[0] = 4;
  };
  Between g(plan);
  Write<int8_t>(g.x, {-7, -3, 0, 5});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(log, ElementsAre("types", "shapes", "params", "enqueue"));
  EXPECT_THAT(Read<int8_t>(g.y), ElementsAre(-3, -3, 0, 5));
}

TEST(CustomOpSpecs, TypesThenShapesOfEachThenParametersOfAll) {
  std::vector<std::string> log;
  const auto recorded = [&log](const std::string& name) {
    OpPlan plan;
    plan.types = [=, &log](OpPlan::Op&) { log.push_back("types " + name); };
    plan.shapes = [=, &log](OpPlan::Op& op) {
      log.push_back("shapes " + name);
      op.outputs_size_[0] = op.InputSpec(0).shape_;
    };
    plan.params = [=, &log](auto&&...) { log.push_back("params " + name); };
    return plan;
  };
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  const auto a = Open(graph);
  graph->CreateOperation<TestOp>(recorded("1"))->BindInput(x).BindOutput(a);
  graph->CreateOperation<TestOp>(recorded("2"))->BindInput(a).BindOutput(y);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(log, ElementsAre("types 1", "shapes 1", "types 2", "shapes 2",
                               "params 1", "params 2"));
}

TEST(CustomOpSpecs, OutsideOfFunctionsAreWhatTheGraphDeclares) {
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto a = Open(graph, DataType::FLOAT32);
  const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
  const auto last = graph->CreateOperation<vx::ops::Relu>();
  (*last).BindInput(a).BindOutput(y);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(last->InputSpec(0).shape_, IsEmpty());
    EXPECT_EQ(last->InputSpec(0).datatype_, DataType::FLOAT32);
    EXPECT_THAT(last->OutputSpec(0).shape_, ElementsAre(3u));
    EXPECT_EQ(last->OutputSpec(0).attr_, vx::OUTPUT);
    ASSERT_TRUE(graph->Compile()) << vx::LastError();
  }
  EXPECT_THROW(last->InputSpec(1), std::out_of_range);
  EXPECT_THROW(last->OutputSpec(1), std::out_of_range);
}

TEST(CustomOpSpecs, FactoriesReadThoseOfTheOriginal) {
  ReluGraph g({2, 3});
  TensorSpec input;
  TensorSpec output;
  g.graph->Override<vx::ops::Relu>(
      [&](vx::Graph* graph, const vx::Operation& original) {
        input = original.InputSpec(0);
        output = original.OutputSpec(0);
        return graph->CreateOperation<vx::ops::Relu6>();
      });
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  EXPECT_EQ(input, Floats({2, 3}, vx::INPUT));
  EXPECT_EQ(output, Floats({2, 3}, vx::OUTPUT));
}

// y = (x - zero point) * scale, of int8.
OpPlan Dequantize() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const char* x, __global float* y) {\n"
      "  const float code = x[get_global_id(0)];\n"
      "  y[get_global_id(0)] =\n"
      "      TIM_SCALE_OUTPUT0 * (code - TIM_ZERO_POINT_INPUT0) *\n"
      "          TIM_SCALE_INPUT0 + TIM_ZERO_POINT_OUTPUT0;\n"
      "}\n";
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::FLOAT32); };
  return plan;
}

TEST(CustomOpSpecs, KernelsKnowTheQuantization) {
  Between g(Dequantize(), DataType::FLOAT32);
  Write<int8_t>(g.x, {-7, -3, 0, 5});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(0, 0, 1.5, 4));
}

std::vector<float> DequantizedWith(const Quantization& quantization) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(
      TensorSpec(DataType::INT8, {2}, vx::INPUT, quantization));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(Dequantize())->BindInput(x).BindOutput(y);
  Write<int8_t>(x, {-8, 16});
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(y);
}

TEST(CustomOpSpecs, EveryFormOfOneScaleIsAMacro) {
  EXPECT_THAT(DequantizedWith(Quantization()), ElementsAre(-8, 16));
  EXPECT_THAT(DequantizedWith(Quantization(QuantType::DYNAMIC_FIXED_POINT, 3)),
              ElementsAre(-1, 2));
  EXPECT_THAT(DequantizedWith(Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0,
                                           {0.25f}, {0})),
              ElementsAre(-2, 4));
  // No decimal text of nine digits or less is this number.
  const float third = 1.0f / 3;
  EXPECT_THAT(DequantizedWith(Quantization(QuantType::ASYMMETRIC, third, 0)),
              ElementsAre(-8 * third, 16 * third));
}

TEST(CustomOpSpecs, ScalesPerChannelAreNoMacroButInTheSpec) {
  OpPlan plan = CopyOfChars();
  plan.source =
      "#ifdef TIM_SCALE_INPUT0\n#error one scale\n#endif\n" + plan.source;
  std::vector<float> scales;
  plan.params = [&](OpPlan::Op& op, auto&&...) {
    scales = op.InputSpec(0).quantization_.Scales();
  };
  const auto graph = OpenClGraph();
  const TensorSpec spec(
      DataType::INT8, {2}, vx::INPUT,
      Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0, {0.5f, 2}, {0, 0}));
  TensorSpec out = spec;
  const auto x = graph->CreateTensor(spec);
  const auto y = graph->CreateTensor(out.SetAttribute(vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(scales, ElementsAre(0.5f, 2));
}

// Compile fails, names the operation and says `text`; a good graph works.
void ExpectRefused(const OpPlan& plan, const std::string& text,
                   DataType result = DataType::INT8) {
  Between g(plan, result);
  EXPECT_TRUE(CompileFailsWith(*g.graph, text));
  EXPECT_THAT(vx::LastError(), HasSubstr("operation user.TestOp#1"));
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(CustomOpSpecErrors, SpecsOutOfRange) {
  OpPlan plan = CopyOfChars();
  plan.types = [](OpPlan::Op& op) { op.InputSpec(1); };
  ExpectRefused(plan, "SetupTypes(): an exception was thrown: InputSpec(1) of");
  plan.types = nullptr;
  plan.shapes = [](OpPlan::Op& op) { op.OutputSpec(7); };
  ExpectRefused(plan,
                "SetupShapeInfor(): an exception was thrown: OutputSpec(7)");
  plan.shapes = nullptr;
  plan.params = [](OpPlan::Op& op, auto&&...) { op.InputSpec(~0u); };
  ExpectRefused(
      plan, "SetupParams(): an exception was thrown: InputSpec(4294967295)");
  plan.params = nullptr;
  plan.enqueue = [](OpPlan::Op& op, auto&&...) { op.OutputSpec(1); };
  ExpectRefused(plan, "SetupEnqueue(): an exception was thrown: OutputSpec(1)");
}

TEST(CustomOpSpecErrors, TypesThatCannotBe) {
  OpPlan plan = CopyOfChars();
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::UNKNOWN); };
  ExpectRefused(plan, "SetOutputType() of output 0: UNKNOWN is no type");
  plan.types = [](OpPlan::Op& op) {
    op.SetOutputType(0, static_cast<DataType>(77));
  };
  ExpectRefused(plan, "data type 77 does not exist");
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(1, DataType::INT8); };
  ExpectRefused(plan, "of output 1; the operation has 1");
  plan.types = nullptr;
  plan.shapes = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::INT8); };
  ExpectRefused(plan, "SetOutputType() is for SetupTypes()");
}

TEST(CustomOpSpecErrors, QuantizationThatDoesNotFit) {
  OpPlan plan = CopyOfChars();
  plan.types = [](OpPlan::Op& op) {
    op.SetOutputType(0, DataType::INT8,
                     Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0,
                                  {1, 2, 3}, {0, 0, 0}));
  };
  ExpectRefused(plan, "3 scales along axis 0 with 4 channels");
  plan.types = [](OpPlan::Op& op) {
    op.SetOutputType(0, DataType::INT8,
                     Quantization(QuantType::ASYMMETRIC, -1, 0));
  };
  ExpectRefused(plan, "scale");
}

TEST(CustomOpSpecErrors, TypeThatTheGraphDeclaresOtherwise) {
  OpPlan plan;
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::INT8); };
  TestOpGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "SetupTypes() made output 0 int8"));
  EXPECT_THAT(vx::LastError(), HasSubstr("declares float32"));
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::FLOAT32); };
  EXPECT_THAT(TestOpGraph(plan).Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace tim::testing
