// GraphBuilder: values of a model as tensors and operations of a graph.
#include "models/build/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/build/value.h"
#include "tim/vx/context.h"
#include "tim/vx/error.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "vx/graph/graph_impl.h"

namespace tim::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using vx::DataType;

class GraphBuilderTest : public testing::Test {
 protected:
  Value Input(const std::string& name, DataType type, const Dims& dims) {
    auto value = builder_.AddInput(name, type, dims);
    EXPECT_TRUE(value.ok()) << value.status().message();
    return value.ok() ? *value : Value();
  }
  template <typename T>
  void Fill(size_t input, const std::vector<T>& elements) {
    EXPECT_TRUE(
        builder_.inputs()[input].tensor->CopyDataToTensor(elements.data()));
  }
  void Run() {
    ASSERT_TRUE(graph_->Compile() && graph_->Run()) << vx::LastError();
  }
  template <typename T>
  std::vector<T> Output(size_t output) {
    const Port& port = builder_.outputs()[output];
    std::vector<T> elements(
        static_cast<size_t>(ByteSizeOf(port.type, port.dims)) / sizeof(T));
    EXPECT_TRUE(port.tensor->CopyDataFromTensor(elements.data()));
    return elements;
  }

  std::shared_ptr<vx::Context> context_ = vx::Context::Create();
  std::shared_ptr<vx::Graph> graph_ = context_->CreateGraph();
  GraphBuilder builder_{graph_};
};

TEST_F(GraphBuilderTest, InfersWhatANodeMakes) {
  const Value input = Input("x", DataType::FLOAT32, {2, 3});
  const auto sum = builder_.Add<vx::ops::ReduceSum>(
      {input}, Wanted::Any(), std::vector<int32_t>{0}, false);
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  EXPECT_THAT(sum->dims, ElementsAre(2));
  EXPECT_EQ(sum->type, DataType::FLOAT32);
  ASSERT_TRUE(builder_.AddOutput("y", *sum).ok());
  Fill<float>(0, {1, 2, 3, 4, 5, 6});
  Run();
  EXPECT_THAT(Output<float>(0), ElementsAre(6, 15));
}

TEST_F(GraphBuilderTest, StatesBeyondAGibibyteAreRefused) {
  const int64_t most = int64_t{1} << 30;
  const auto large = builder_.AddState("h", DataType::INT8, {2, most / 2 + 1});
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.status().message(),
              HasSubstr("state 'h' has 1073741826 bytes, at most 1073741824"));
  EXPECT_TRUE(builder_.AddState("c", DataType::INT8, {2, 3}).ok());
}

TEST_F(GraphBuilderTest, ScalarsHaveNoDims) {
  const Value input = Input("x", DataType::FLOAT32, {3});
  const auto sum = builder_.Add<vx::ops::ReduceSum>(
      {input}, Wanted::Any(), std::vector<int32_t>{0}, false);
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  EXPECT_THAT(sum->dims, IsEmpty());
  const auto more = builder_.Add<vx::ops::Add>(
      {*sum, builder_.ConstantOf<float>({1}, {})}, Wanted::Any());
  ASSERT_TRUE(more.ok()) << more.status().message();
  EXPECT_THAT(more->dims, IsEmpty());
  ASSERT_TRUE(builder_.AddOutput("y", *more).ok());
  Fill<float>(0, {1, 2, 3});
  Run();
  EXPECT_THAT(Output<float>(0), ElementsAre(7));
  EXPECT_THAT(builder_.outputs()[0].dims, IsEmpty());
}

TEST_F(GraphBuilderTest, Int64IsNarrowInsideOfTheGraph) {
  const Value input = Input("x", DataType::INT64, {3});
  EXPECT_EQ(input.type, DataType::INT64);
  EXPECT_EQ(input.tensor->GetDataType(), DataType::INT32);
  const auto sum = builder_.Add<vx::ops::Add>(
      {input, builder_.ConstantOf<int64_t>({10, 20, 30}, {3})},
      Wanted::Like(input));
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  EXPECT_EQ(sum->type, DataType::INT64);
  ASSERT_TRUE(builder_.AddOutput("y", *sum).ok());
  EXPECT_EQ(builder_.outputs()[0].type, DataType::INT64);
  Fill<int64_t>(0, {1, -2, 3});
  Run();
  EXPECT_THAT(Output<int64_t>(0), ElementsAre(11, 18, 33));
}

TEST_F(GraphBuilderTest, ConstantsBeyond32BitsAreRefusedAsOperands) {
  const int64_t wide = int64_t{1} << 40;
  const Value input = Input("x", DataType::INT64, {2});
  Value constant = builder_.ConstantOf<int64_t>({0, wide}, {2});
  constant.name = "limits";
  const auto sum =
      builder_.Add<vx::ops::Add>({input, constant}, Wanted::Like(input));
  ASSERT_FALSE(sum.ok());
  EXPECT_THAT(sum.status().message(), HasSubstr("operand 1 'limits'"));
  EXPECT_THAT(sum.status().message(), HasSubstr("1099511627776"));
  ASSERT_TRUE(builder_.AddOutput("y", constant).ok());
  Run();
  EXPECT_THAT(Output<int64_t>(0), ElementsAre(0, wide));
}

TEST_F(GraphBuilderTest, OutputsMayBeInputsConstantsAndOneValueTwice) {
  const Value input = Input("x", DataType::FLOAT32, {2});
  const auto relu = builder_.Add<vx::ops::Relu>({input}, Wanted::Any());
  ASSERT_TRUE(relu.ok());
  ASSERT_TRUE(builder_.AddOutput("same", input).ok());
  ASSERT_TRUE(
      builder_.AddOutput("known", builder_.ConstantOf<float>({7}, {})).ok());
  ASSERT_TRUE(builder_.AddOutput("once", *relu).ok());
  ASSERT_TRUE(builder_.AddOutput("again", *relu).ok());
  Fill<float>(0, {-1, 2});
  Run();
  EXPECT_THAT(Output<float>(0), ElementsAre(-1, 2));
  EXPECT_THAT(Output<float>(1), ElementsAre(7));
  EXPECT_THAT(Output<float>(2), ElementsAre(0, 2));
  EXPECT_THAT(Output<float>(3), ElementsAre(0, 2));
}

// The operation that writes an output's tensor is none once it is compiled.
TEST_F(GraphBuilderTest, AnOutputCostsNoStep) {
  const Value input = Input("x", DataType::FLOAT32, {64});
  const auto tanh = builder_.Add<vx::ops::Tanh>({input}, Wanted::Any());
  ASSERT_TRUE(tanh.ok());
  ASSERT_TRUE(builder_.AddOutput("y", *tanh).ok());
  EXPECT_THAT(graph_->OpVector(), SizeIs(2));
  Run();
  const auto direct = context_->CreateGraph();
  direct->CreateOperation<vx::ops::Tanh>()
      ->BindInput(direct->CreateTensor(
          vx::TensorSpec(DataType::FLOAT32, {64}, vx::INPUT)))
      .BindOutput(direct->CreateTensor(
          vx::TensorSpec(DataType::FLOAT32, {64}, vx::OUTPUT)));
  ASSERT_TRUE(direct->Compile()) << vx::LastError();
  EXPECT_EQ(vx::CompiledPlan(*graph_)->steps.size(),
            vx::CompiledPlan(*direct)->steps.size());
}

TEST_F(GraphBuilderTest, OneTensorPerConstant) {
  const Value input = Input("x", DataType::FLOAT32, {2});
  const Value constant = builder_.ConstantOf<float>({1, 2}, {2});
  Value reshaped = *builder_.Reshape(constant, {1, 2});
  EXPECT_NE(reshaped.constant, nullptr);
  const auto first = builder_.TensorOf(constant);
  const auto second = builder_.TensorOf(constant);
  const auto third = builder_.TensorOf(reshaped);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, *third);
  EXPECT_THAT((*third)->GetShape(), ElementsAre(2, 1));
}

TEST_F(GraphBuilderTest, AFailedOperationLeavesNoTrace) {
  builder_.SetNode("sum of two");
  const Value a = Input("a", DataType::FLOAT32, {3});
  const Value b = Input("b", DataType::FLOAT32, {4});
  const auto sum = builder_.Add<vx::ops::Add>({a, b}, Wanted::Any());
  ASSERT_FALSE(sum.ok());
  EXPECT_THAT(sum.status().message(), HasSubstr("sum of two"));
  EXPECT_THAT(graph_->OpVector(), IsEmpty());
  EXPECT_THAT(graph_->TensorConsumer(), IsEmpty());
  EXPECT_THAT(graph_->TensorProducer(), IsEmpty());
  ASSERT_TRUE(builder_.AddOutput("y", a).ok());
  ASSERT_TRUE(builder_.AddOutput("z", b).ok());
  EXPECT_TRUE(graph_->Compile()) << vx::LastError();
}

TEST_F(GraphBuilderTest, TransposesInTheModelsOrder) {
  const Value input = Input("x", DataType::FLOAT32, {1, 2, 3});
  const auto moved = builder_.Transpose(input, {2, 0, 1});
  ASSERT_TRUE(moved.ok()) << moved.status().message();
  EXPECT_THAT(moved->dims, ElementsAre(3, 1, 2));
  const Value known = builder_.ConstantOf<float>({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  const auto folded = builder_.Transpose(known, {2, 0, 1});
  ASSERT_TRUE(folded.ok());
  ASSERT_NE(folded->constant, nullptr);
  const std::vector<float> expected = {1, 4, 2, 5, 3, 6};
  EXPECT_EQ(*Floats(*folded->constant), expected);
  ASSERT_TRUE(builder_.AddOutput("y", *moved).ok());
  Fill<float>(0, {1, 2, 3, 4, 5, 6});
  Run();
  EXPECT_EQ(Output<float>(0), expected);
  EXPECT_FALSE(builder_.Transpose(input, {0, 1}).ok());
  EXPECT_FALSE(builder_.Transpose(input, {0, 1, 1}).ok());
}

TEST_F(GraphBuilderTest, MovesChannelsOfQuantizationAlong) {
  const vx::Quantization quantization(vx::QuantType::SYMMETRIC_PER_CHANNEL, 1,
                                      {0.5f, 0.25f}, {0, 0});
  // {2, 3}: channel dimension 1, from the fastest, is the model's axis 0.
  const Value weights = builder_.Constant(
      ArrayOf<int8_t>({1, 2, 3, 4, 5, 6}, {2, 3}), "w", quantization);
  EXPECT_EQ(builder_.Transpose(weights, {1, 0})->quantization.ChannelDim(), 0);
  const auto wider = builder_.Reshape(weights, {2, 3, 1, 1});
  ASSERT_TRUE(wider.ok()) << wider.status().message();
  EXPECT_EQ(wider->quantization.ChannelDim(), 3);
  const auto mixed = builder_.Reshape(weights, {3, 2});
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.status().message(), HasSubstr("has no axis in [3,2]"));
}

TEST_F(GraphBuilderTest, ReshapesAndCastsKnowTheirLimits) {
  const Value input = Input("x", DataType::INT32, {2, 3});
  EXPECT_FALSE(builder_.Reshape(input, {7}).ok());
  EXPECT_FALSE(builder_.Reshape(input, {-2, -3}).ok());
  const auto wide = builder_.Cast(input, DataType::INT64);
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->tensor, input.tensor);
  const auto truth =
      builder_.Cast(builder_.ConstantOf<int64_t>({0, 5}, {2}), DataType::BOOL8);
  ASSERT_TRUE(truth.ok());
  ASSERT_NE(truth->constant, nullptr);
  EXPECT_THAT(*Integers(*truth->constant), ElementsAre(0, 1));
}

TEST_F(GraphBuilderTest, RefusesShapesThatNoTensorHas) {
  EXPECT_THAT(
      builder_.AddInput("x", DataType::FLOAT32, {2, 0}).status().message(),
      HasSubstr("an extent of 0"));
  EXPECT_THAT(
      builder_.AddInput("x", DataType::FLOAT32, {2, -1}).status().message(),
      HasSubstr("an extent of -1"));
  EXPECT_THAT(
      builder_.AddInput("x", DataType::FLOAT32, Dims(9, 1)).status().message(),
      HasSubstr("at most 8"));
  HostArray broken = ArrayOf<float>({1, 2}, {2});
  broken.dims = {3};
  EXPECT_THAT(builder_.TensorOf(builder_.Constant(broken)).status().message(),
              HasSubstr("8 bytes is not float32 [3]"));
  EXPECT_FALSE(builder_.TensorOf(Value()).ok());
}

TEST(Value, SizesDoNotWrap) {
  EXPECT_EQ(ByteSizeOf(DataType::FLOAT32, {}), 4);
  EXPECT_EQ(ByteSizeOf(DataType::INT4, {3, 5}), 9);
  EXPECT_EQ(ByteSizeOf(DataType::INT8, {int64_t{1} << 62, 4}), -1);
  EXPECT_EQ(ByteSizeOf(DataType::INT64, {int64_t{1} << 61}), -1);
  EXPECT_EQ(ByteSizeOf(DataType::FLOAT32, {-1, 4}), -1);
  EXPECT_EQ(ByteSizeOf(DataType::FLOAT32, {int64_t{1} << 62, 4, 0}), 0);
}

TEST(Value, BroadcastsAsNumpyDoes) {
  EXPECT_THAT(*BroadcastDims({2, 1, 3}, {4, 1}), ElementsAre(2, 4, 3));
  EXPECT_THAT(*BroadcastDims({}, {2}), ElementsAre(2));
  EXPECT_THAT(BroadcastDims({2}, {3}).status().message(),
              HasSubstr("[2] and [3]"));
  EXPECT_EQ(*PositiveAxis(-1, 3), 2);
  EXPECT_FALSE(PositiveAxis(3, 3).ok());
  EXPECT_FALSE(PositiveAxis(-4, 3).ok());
}

}  // namespace
}  // namespace tim::models
