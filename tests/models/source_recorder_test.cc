// SourceRecorder: graphs as programs.  tests/sdk/model_programs_test.cc
// compiles and runs one.
#include "models/build/source_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "models/build/graph_builder.h"
#include "tim/vx/context.h"
#include "tim/vx/ops.h"

namespace tim::models {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using vx::DataType;

TEST(Literal, WritesWhatReadsBackAsTheSameValue) {
  EXPECT_EQ(Literal(true), "true");
  EXPECT_EQ(Literal(int32_t{-3}), "-3");
  EXPECT_EQ(Literal(std::numeric_limits<int32_t>::min()), "(-2147483647 - 1)");
  EXPECT_EQ(Literal(uint32_t{3}), "3u");
  EXPECT_EQ(Literal(1.0f), "1.0f");
  EXPECT_EQ(Literal(0.1f), "0.1f");
  EXPECT_EQ(Literal(1e-10f), "1e-10f");
  EXPECT_EQ(Literal(-std::numeric_limits<float>::infinity()),
            "-std::numeric_limits<float>::infinity()");
  EXPECT_EQ(Literal(std::string("a\"\\\n?")), "\"a\\042\\134\\012\\077\"");
  EXPECT_EQ(Literal(std::vector<uint32_t>{1, 2}),
            "std::vector<uint32_t>{1u, 2u}");
  EXPECT_EQ(Literal(std::vector<int>()), "std::vector<int32_t>{}");
  EXPECT_EQ(Literal(std::array<uint32_t, 2>{1, 2}),
            "std::array<uint32_t, 2>{{1u, 2u}}");
}

TEST(Literal, NamesEnumerators) {
  EXPECT_EQ(Literal(vx::PadType::NONE), "PadType::NONE");
  EXPECT_EQ(Literal(vx::PadType::SAME), "PadType::SAME");
  EXPECT_EQ(Literal(vx::PoolType::AVG_PADDED), "PoolType::AVG_PADDED");
  EXPECT_EQ(Literal(vx::RoundType::FLOOR), "RoundType::FLOOR");
  EXPECT_EQ(Literal(vx::ResizeType::AREA), "ResizeType::AREA");
  EXPECT_EQ(Literal(vx::DataLayout::OcIcWHD), "DataLayout::OcIcWHD");
  EXPECT_EQ(Literal(DataType::UINT4), "DataType::UINT4");
  EXPECT_EQ(Literal(static_cast<DataType>(77)), "static_cast<DataType>(77)");
  EXPECT_EQ(Literal(vx::ops::GRUCell::ActivationType::kSIGMOID),
            "static_cast<ops::GRUCell::ActivationType>(6)");
}

TEST(Literal, WritesQuantization) {
  EXPECT_EQ(Literal(vx::Quantization()), "Quantization()");
  EXPECT_EQ(Literal(vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 3)),
            "Quantization(QuantType::ASYMMETRIC, -1, "
            "std::vector<float>{0.5f}, std::vector<int32_t>{3})");
  EXPECT_EQ(
      Literal(vx::Quantization(vx::QuantType::DYNAMIC_FIXED_POINT, int8_t{-2})),
      "Quantization(QuantType::DYNAMIC_FIXED_POINT, "
      "static_cast<int8_t>(-2))");
}

TEST(CallText, NamesTheClass) {
  EXPECT_EQ((CallText<vx::ops::Softmax>(1.0f, 0)), "ops::Softmax>(1.0f, 0)");
  EXPECT_EQ((CallText<vx::ops::Relu>()), "ops::Relu>()");
}

std::string Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class SourceRecorderTest : public testing::Test {
 protected:
  /// The program of the graph so far.
  std::string Program() {
    const Status written = recorder_.Write(path_);
    EXPECT_TRUE(written.ok()) << written.message();
    return Text(path_);
  }

  const std::string path_ = testing::TempDir() + "/model.cc";
  std::shared_ptr<vx::Context> context_ = vx::Context::Create();
  std::shared_ptr<vx::Graph> graph_ = context_->CreateGraph();
  SourceRecorder recorder_;
  GraphBuilder builder_{graph_, &recorder_};
};

TEST_F(SourceRecorderTest, WritesStatementsAndWeights) {
  const auto input = builder_.AddInput("in\"put", DataType::FLOAT32, {2, 3});
  ASSERT_TRUE(input.ok());
  const std::vector<float> numbers = {1, 2, 3};
  Value weights = builder_.ConstantOf(numbers, {3});
  weights.name = "line\nbreak";
  builder_.SetNode("sum\\");
  auto sum = builder_.Add<vx::ops::Add>({*input, weights}, Wanted::Any());
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  builder_.SetName(&*sum, "middle");
  ASSERT_TRUE(builder_.AddOutput("out", *sum).ok());
  const std::string program = Program();
  EXPECT_THAT(program, HasSubstr("t[0] = graph->CreateTensor(TensorSpec("
                                 "DataType::FLOAT32, {3, 2}, INPUT));\n"));
  EXPECT_THAT(program, HasSubstr("// line_break\n"));
  EXPECT_THAT(program, HasSubstr("{3}, CONSTANT), WeightsAt(0u));\n"));
  EXPECT_THAT(program, HasSubstr("// node sum_\n"
                                 "  graph->CreateOperation<ops::Add>()\n"
                                 "      ->BindInputs({t[0], t[1]})\n"
                                 "      .BindOutputs({t[2]});\n"));
  EXPECT_THAT(program, HasSubstr("// middle\n"));
  EXPECT_THAT(program, HasSubstr("{\"in\\042put\", 0}"));
  EXPECT_THAT(program, HasSubstr("kWeights[] = \"model.cc.weights\""));
  EXPECT_THAT(program, Not(HasSubstr("LayoutInference")));
  const std::string bytes = Text(path_ + ".weights");
  ASSERT_THAT(bytes, SizeIs(64));
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), 12), 0);
}

TEST_F(SourceRecorderTest, SharesEqualWeightsAndBoundsFunctions) {
  auto value = *builder_.AddInput("x", DataType::FLOAT32, {4});
  const Value weights = builder_.ConstantOf<float>({1, 2, 3, 4}, {4});
  for (int i = 0; i < 100; ++i) {
    value = *builder_.Add<vx::ops::Add>({value, weights}, Wanted::Any());
  }
  const Value other = *builder_.Reshape(weights, {1, 4});
  ASSERT_TRUE(builder_.AddOutput("y", value).ok());
  ASSERT_TRUE(builder_.AddOutput("z", other).ok());
  const std::string program = Program();
  EXPECT_THAT(Text(path_ + ".weights"), SizeIs(64));
  EXPECT_THAT(program, HasSubstr("void Build5() {"));
  EXPECT_THAT(program, HasSubstr("  Build5();\n"));
}

TEST_F(SourceRecorderTest, MayInferLayouts) {
  recorder_.UseLayoutInference();
  const auto input = builder_.AddInput("x", DataType::FLOAT32, {4});
  ASSERT_TRUE(builder_.AddOutput("y", *input).ok());
  EXPECT_THAT(Program(), HasSubstr("tim::transform::LayoutInference("));
}

TEST_F(SourceRecorderTest, SaysWhatCannotBeWritten) {
  const auto input = builder_.AddInput("x", DataType::FLOAT32, {4});
  Value supplied;
  supplied.type = DataType::FLOAT32;
  supplied.dims = {4};
  supplied.tensor = graph_->CreateTensor(
      vx::TensorSpec(DataType::FLOAT32, {4}, vx::TRANSIENT));
  graph_->CreateOperation<vx::ops::Relu>()
      ->BindInput(input->tensor)
      .BindOutput(supplied.tensor);
  ASSERT_TRUE(builder_.AddOutput("y", supplied).ok());
  EXPECT_THAT(recorder_.Write(path_).message(), HasSubstr("supplied"));
  SourceRecorder empty;
  EXPECT_FALSE(empty.Write("/nowhere/at/all.cc").ok());
}

}  // namespace
}  // namespace tim::models
