// InferOutputs(): what Compile() would infer, one operation at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tim/vx/composed_op.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/infer.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

namespace tim::vx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TensorSpec Open() { return TensorSpec(DataType::UNKNOWN, {}, TRANSIENT); }

class InferOutputsTest : public testing::Test {
 protected:
  std::shared_ptr<Tensor> Input(const ShapeType& shape,
                                DataType type = DataType::FLOAT32) {
    return graph_->CreateTensor(TensorSpec(type, shape, INPUT));
  }
  std::shared_ptr<Tensor> Result() { return graph_->CreateTensor(Open()); }

  std::shared_ptr<Context> context_ = Context::Create();
  std::shared_ptr<Graph> graph_ = context_->CreateGraph();
};

TEST_F(InferOutputsTest, FollowsAChainOfOperations) {
  const auto input = Input({8, 8, 3, 1});
  const std::vector<float> data(3 * 3 * 3 * 4);
  const auto weights = graph_->CreateTensor(
      TensorSpec(DataType::FLOAT32, {3, 3, 3, 4}, CONSTANT), data.data());
  const auto features = Result();
  auto convolution = graph_->CreateOperation<ops::Conv2d>(
      PadType::VALID, std::array<uint32_t, 2>{1, 1},
      std::array<uint32_t, 2>{1, 1});
  convolution->BindInputs({input, weights}).BindOutput(features);
  ASSERT_TRUE(InferOutputs(convolution)) << LastError();
  EXPECT_THAT(features->GetShape(), ElementsAre(6, 6, 4, 1));
  EXPECT_EQ(features->GetDataType(), DataType::FLOAT32);

  const auto sum = Result();
  auto reduce = graph_->CreateOperation<ops::ReduceSum>(
      std::vector<int32_t>{0, 1}, false);
  reduce->BindInput(features).BindOutput(sum);
  ASSERT_TRUE(InferOutputs(reduce)) << LastError();
  EXPECT_THAT(sum->GetShape(), ElementsAre(4, 1));
}

// The specs that it fills say nothing that Compile() did not infer by itself.
TEST_F(InferOutputsTest, LeavesCompileFreeToInferAnew) {
  const auto input = Input({4, 2});
  const auto middle = Result();
  const auto output =
      graph_->CreateTensor(TensorSpec(DataType::FLOAT32, {2, 4}, OUTPUT));
  auto relu = graph_->CreateOperation<ops::Relu>();
  relu->BindInput(input).BindOutput(middle);
  ASSERT_TRUE(InferOutputs(relu)) << LastError();
  graph_->CreateOperation<ops::Transpose>(std::vector<uint32_t>{1, 0})
      ->BindInput(middle)
      .BindOutput(output);
  const std::vector<float> values = {-1, 2, -3, 4, 5, -6, 7, -8};
  ASSERT_TRUE(input->CopyDataToTensor(values.data()));
  ASSERT_TRUE(graph_->Compile() && graph_->Run()) << LastError();
  std::vector<float> results(8);
  ASSERT_TRUE(output->CopyDataFromTensor(results.data()));
  EXPECT_THAT(results, ElementsAre(0, 5, 2, 0, 0, 7, 4, 0));
}

TEST_F(InferOutputsTest, PassesQuantizationOn) {
  const auto input = graph_->CreateTensor(
      TensorSpec(DataType::INT8, {6}, INPUT,
                 Quantization(QuantType::ASYMMETRIC, 0.5f, 3)));
  const auto reshaped = Result();
  auto reshape =
      graph_->CreateOperation<ops::Reshape>(std::vector<uint32_t>{3, 2});
  reshape->BindInput(input).BindOutput(reshaped);
  ASSERT_TRUE(InferOutputs(reshape)) << LastError();
  EXPECT_EQ(reshaped->GetDataType(), DataType::INT8);
  EXPECT_EQ(reshaped->GetQuantization(), input->GetQuantization());
  const auto output =
      graph_->CreateTensor(TensorSpec(DataType::FLOAT32, {3, 2}, OUTPUT));
  graph_->CreateOperation<ops::DataConvert>()->BindInput(reshaped).BindOutput(
      output);
  const std::vector<int8_t> codes = {3, 5, 7, 1, -1, 3};
  ASSERT_TRUE(input->CopyDataToTensor(codes.data()));
  ASSERT_TRUE(graph_->Compile() && graph_->Run()) << LastError();
  std::vector<float> results(6);
  ASSERT_TRUE(output->CopyDataFromTensor(results.data()));
  EXPECT_THAT(results, ElementsAre(0, 1, 2, -1, -2, 0));
}

TEST_F(InferOutputsTest, TellsRankZero) {
  const auto input = Input({5, 2});
  const auto sum = Result();
  auto reduce = graph_->CreateOperation<ops::ReduceSum>(
      std::vector<int32_t>{0, 1}, false);
  reduce->BindInput(input).BindOutput(sum);
  ASSERT_TRUE(InferOutputs(reduce)) << LastError();
  EXPECT_THAT(sum->GetShape(), ElementsAre(1));
  EXPECT_TRUE(sum->IsScalar());
  const auto doubled = Result();
  auto add = graph_->CreateOperation<ops::Add>();
  add->BindInputs({sum, sum}).BindOutput(doubled);
  ASSERT_TRUE(InferOutputs(add)) << LastError();
  EXPECT_TRUE(doubled->IsScalar());
}

class Halved final : public ops::CustomOpBase {
 public:
  explicit Halved(Graph* graph)
      : CustomOpBase(graph, 1, 1, -1, "user.Halved") {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Halved>();
  }

 protected:
  void SetupShapeInfor() override {
    outputs_size_[0] = inputs_size_[0];
    outputs_size_[0][0] /= 2;
  }
  void SetupParams(std::vector<DataType>, std::string&) override {
    ADD_FAILURE() << "nothing is compiled";
  }
  void SetupEnqueue(uint32_t&, std::vector<size_t>&,
                    std::vector<size_t>&) override {
    ADD_FAILURE() << "nothing is compiled";
  }
};

TEST_F(InferOutputsTest, AsksCustomOperators) {
  const auto input = Input({8, 3});
  const auto result = Result();
  auto half = graph_->CreateOperation<Halved>();
  half->BindInput(input).BindOutput(result);
  ASSERT_TRUE(InferOutputs(half)) << LastError();
  EXPECT_THAT(result->GetShape(), ElementsAre(4, 3));
  EXPECT_EQ(result->GetDataType(), DataType::FLOAT32);
}

class Twice final : public ComposedOp {
 public:
  explicit Twice(Graph* graph) : ComposedOp(graph, "user.Twice", 1, 1) {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Twice>();
  }
  void Wire(Graph* graph, const std::vector<std::shared_ptr<Tensor>>& inputs,
            const std::vector<std::shared_ptr<Tensor>>& outputs) override {
    const auto middle = graph->CreateTensor(Open());
    graph->CreateOperation<ops::Transpose>(std::vector<uint32_t>{1, 0})
        ->BindInput(inputs[0])
        .BindOutput(middle);
    graph->CreateOperation<ops::Concat>(0u, 2)
        ->BindInputs({middle, middle})
        .BindOutput(outputs[0]);
  }
};

TEST_F(InferOutputsTest, LooksIntoComposedOperations) {
  const auto input = Input({8, 3});
  const auto result = Result();
  auto twice = graph_->CreateOperation<Twice>();
  twice->BindInput(input).BindOutput(result);
  const auto after = Result();
  graph_->CreateOperation<ops::Relu>()->BindInput(result).BindOutput(after);
  ASSERT_TRUE(InferOutputs(twice)) << LastError();
  EXPECT_THAT(result->GetShape(), ElementsAre(6, 8));
  EXPECT_THAT(after->GetShape(), IsEmpty());
}

TEST_F(InferOutputsTest, SaysWhatIsNotKnownYet) {
  const auto first = Result();
  const auto second = Result();
  graph_->CreateOperation<ops::Relu>()->BindInput(Input({4})).BindOutput(first);
  auto tanh = graph_->CreateOperation<ops::Tanh>();
  tanh->BindInput(first).BindOutput(second);
  EXPECT_FALSE(InferOutputs(tanh));
  EXPECT_THAT(LastError(), HasSubstr("Tanh#2"));
  EXPECT_THAT(LastError(), HasSubstr("input 0, tensor t0"));
  EXPECT_FALSE(InferOutputs(nullptr));
  EXPECT_THAT(LastError(), HasSubstr("needs an operation"));
}

TEST_F(InferOutputsTest, GivesTheReasonThatCompileGives) {
  const auto result = Result();
  auto add = graph_->CreateOperation<ops::Add>();
  add->BindInputs({Input({4}), Input({3})}).BindOutput(result);
  EXPECT_FALSE(InferOutputs(add));
  const std::string reason = LastError();
  EXPECT_THAT(reason, HasSubstr("Add#1"));
  EXPECT_FALSE(graph_->Compile());
  const size_t rule = reason.find("Add#1");
  EXPECT_THAT(LastError(), HasSubstr(reason.substr(rule, 40)));
}

TEST_F(InferOutputsTest, RefusesUnboundAndBinaryOperations) {
  auto add = graph_->CreateOperation<ops::Add>();
  add->BindInput(Input({4}));
  EXPECT_FALSE(InferOutputs(add));
  EXPECT_THAT(LastError(), HasSubstr("Add#1"));
  auto nbg = graph_->CreateOperation<ops::NBG>("", size_t{0}, size_t{0});
  EXPECT_FALSE(InferOutputs(nbg));
  EXPECT_THAT(LastError(), HasSubstr("binary graph"));
}

// Other operations are not looked at: the cost does not grow with the graph.
TEST_F(InferOutputsTest, LooksAtNoOtherOperation) {
  graph_->CreateOperation<ops::Add>()->BindInput(Input({4}));
  const auto result = Result();
  auto relu = graph_->CreateOperation<ops::Relu>();
  relu->BindInput(Input({4})).BindOutput(result);
  graph_->CreateOperation<ops::Tanh>()->BindOutput(result);
  graph_->OpVector().push_back(nullptr);
  ASSERT_TRUE(InferOutputs(relu)) << LastError();
  EXPECT_THAT(result->GetShape(), ElementsAre(4));
  EXPECT_FALSE(graph_->Compile());
}

}  // namespace
}  // namespace tim::vx
