// Clients that bind what TFLite has as inputs and TIM-VX as attributes.
#include <gtest/gtest.h>

#include "runtime/device_pool.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/inferred_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::ShapeType;
using vx::TensorAttribute;
using vx::TensorSpec;
using Ints = std::vector<int32_t>;

TensorPtr Constant(vx::Graph& graph, const ShapeType& shape, Ints values) {
  return graph.CreateTensor(
      TensorSpec(DataType::INT32, shape, TensorAttribute::CONSTANT),
      values.data());
}

std::shared_ptr<vx::Graph> StrictGraph() {
  auto devices = runtime::SelectDevices("host");
  vx::ContextOptions options;
  options.lenient = false;
  return vx::CreateContext(*std::move(devices), options)->CreateGraph();
}

// Space2Batch with the block and the paddings of TFLite as inputs 1 and 2.
struct BlocksAndPads {
  explicit BlocksAndPads(const std::shared_ptr<vx::Graph>& on,
                         TensorAttribute of_pads = TensorAttribute::CONSTANT)
      : graph(on) {
    input = graph->CreateTensor(Floats({2, 2, 1, 1}, TensorAttribute::INPUT));
    output = graph->CreateTensor(Floats({2, 1, 1, 4}, TensorAttribute::OUTPUT));
    const TensorPtr block = Constant(*graph, {2}, {2, 2});
    const TensorPtr pads =
        of_pads == TensorAttribute::CONSTANT
            ? Constant(*graph, {2, 2}, {0, 0, 1, 1})
            : graph->CreateTensor(TensorSpec(DataType::INT32, {2, 2}, of_pads));
    operation = graph->CreateOperation<vx::ops::Space2Batch>(
        std::vector<int>{2, 2}, std::vector<int>{1, 1, 0, 0});
    operation->BindInputs({input, block, pads}).BindOutput(output);
    Write<float>(input, {1, 2, 3, 4});
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr input, output;
  std::shared_ptr<vx::ops::Space2Batch> operation;
};

const std::vector<float> kBatches = {0, 2, 1, 0, 0, 4, 3, 0};

TEST(SurplusInputs, ThatAreConstantAreAWarning) {
  BlocksAndPads three(HostGraph());
  ::testing::internal::CaptureStderr();
  const bool compiled = three.graph->Compile();
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(compiled) << vx::LastError();
  EXPECT_NE(log.find("Space2Batch#1"), std::string::npos) << log;
  EXPECT_NE(log.find("3 inputs are bound, expected 1: nothing reads t2, t3,"),
            std::string::npos)
      << log;
  ASSERT_TRUE(three.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(three.output), kBatches);
}

TEST(SurplusInputs, AreAnErrorWhereNothingIsDoubtful) {
  EXPECT_TRUE(CompileFailsWith(*BlocksAndPads(StrictGraph()).graph,
                               "3 inputs are bound, expected 1"));
  BlocksAndPads three(StrictGraph());
  auto context = HostContext();
  EXPECT_TRUE(
      CompileFailsWith(*transform::LayoutInference(three.graph, context).first,
                       "3 inputs are bound, expected 1"));
}

TEST(SurplusInputs, ThatAreNotConstantAreRefused) {
  EXPECT_TRUE(CompileFailsWith(
      *BlocksAndPads(HostGraph(), TensorAttribute::INPUT).graph,
      "3 inputs are bound, expected 1"));
}

TEST(SurplusInputs, AreGoneBehindLayoutInference) {
  BlocksAndPads three(HostGraph());
  const InferredGraph inferred(three.graph);
  for (const auto& operation : inferred.graph().OpVector()) {
    EXPECT_EQ(operation->InputCount(), 1u);
  }
  InferredGraph runs(three.graph);
  runs.Write(three.input, {1, 2, 3, 4});
  runs.Run();
  EXPECT_EQ(runs.Read(three.output), kBatches);
}

// The bytes of the constants are in no binary graph.
TEST(SurplusInputs, AreNotInBinaryGraphs) {
  BlocksAndPads three(HostGraph());
  const std::vector<char> binary = ToBinary(*three.graph);
  auto big = HostGraph();
  const auto input =
      big->CreateTensor(Floats({2, 2, 1, 1}, TensorAttribute::INPUT));
  const auto output =
      big->CreateTensor(Floats({2, 1, 1, 4}, TensorAttribute::OUTPUT));
  auto operation = big->CreateOperation<vx::ops::Space2Batch>(
      std::vector<int>{2, 2}, std::vector<int>{1, 1, 0, 0});
  operation
      ->BindInputs({input, Constant(*big, {1 << 18}, Ints(1 << 18, 7)),
                    Constant(*big, {2, 2}, {0, 0, 1, 1})})
      .BindOutput(output);
  EXPECT_LT(ToBinary(*big).size(), binary.size() + 1024);
  LoadedBinary loaded(binary, *three.graph, HostGraph());
  Write<float>(loaded.inputs[0], {1, 2, 3, 4});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), kBatches);
}

TEST(SurplusInputs, OneHotTakesThatOfTflite) {
  const auto graph = HostGraph();
  const auto indices = graph->CreateTensor(
      TensorSpec(DataType::INT32, {2}, TensorAttribute::INPUT));
  const auto output =
      graph->CreateTensor(Floats({3, 2}, TensorAttribute::OUTPUT));
  const float on = 5, off = -1;
  const auto scalar = [&](const float& value) {
    return graph->CreateTensor(Floats({1}, TensorAttribute::CONSTANT), &value);
  };
  auto one_hot = graph->CreateOperation<vx::ops::OneHot>(3, on, off, 0);
  one_hot
      ->BindInputs(
          {indices, Constant(*graph, {1}, {3}), scalar(on), scalar(off)})
      .BindOutput(output);
  Write<int32_t>(indices, {2, 0});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), (std::vector<float>{-1, -1, 5, 5, -1, -1}));
}

// ONNX leaves the first ones out.
TEST(SurplusInputs, MayBePlaceholders) {
  const auto graph = HostGraph();
  const auto input =
      graph->CreateTensor(Floats({2, 1, 1, 1}, TensorAttribute::INPUT));
  const auto output =
      graph->CreateTensor(Floats({4, 1, 1, 1}, TensorAttribute::OUTPUT));
  auto resize = graph->CreateOperation<vx::ops::Resize>(
      vx::ResizeType::NEAREST_NEIGHBOR, 0.0f, false, false, 1, 4);
  resize
      ->BindInputs({input, graph->CreateTensorPlaceHolder(),
                    graph->CreateTensorPlaceHolder(),
                    Constant(*graph, {4}, {1, 1, 1, 4})})
      .BindOutput(output);
  Write<float>(input, {1, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), (std::vector<float>{1, 1, 2, 2}));
}

// Its form in TFLite and ONNX has no such operand.
TEST(SurplusInputs, OfOtherOperatorsAreRefused) {
  ReluGraph g({4});
  g.relu->BindInput(Constant(*g.graph, {1}, {0}));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "2 inputs are bound, expected 1"));
}

}  // namespace
}  // namespace tim::testing
