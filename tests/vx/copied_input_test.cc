// Graphs without operations: each OUTPUT is a copy of an INPUT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "device/opencl/opencl_device.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/inferred_graph.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorSpec;
using Values = std::vector<float>;

struct CopyGraph {
  CopyGraph(const TensorSpec& spec, std::shared_ptr<vx::Graph> on)
      : graph(std::move(on)) {
    TensorSpec given = spec;
    input = graph->CreateTensor(given.SetAttribute(vx::INPUT));
    output = graph->CreateTensor(given.SetAttribute(vx::OUTPUT));
  }
  explicit CopyGraph(const vx::ShapeType& shape = {4})
      : CopyGraph(Floats(shape, vx::INPUT), HostGraph()) {}

  std::shared_ptr<vx::Graph> graph;
  TensorPtr input;
  TensorPtr output;
};

std::vector<std::shared_ptr<vx::Context>> Contexts() {
  std::vector<std::shared_ptr<vx::Context>> contexts = {HostContext()};
  if (device::CountOpenClDevices() > 0) {
    contexts.push_back(ContextOn("opencl"));
  }
  return contexts;
}

TEST(CopiedInput, FollowsTheInput) {
  for (const auto& context : Contexts()) {
    const CopyGraph g(Floats({2, 2}, vx::INPUT), context->CreateGraph());
    ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
    for (const float first : {1.f, -7.f}) {
      Write<float>(g.input, {first, 2, -3, 4});
      ASSERT_TRUE(g.graph->Run()) << vx::LastError();
      EXPECT_THAT(Read(g.output), ElementsAre(first, 2, -3, 4));
      EXPECT_THAT(Read(g.input), ElementsAre(first, 2, -3, 4));
    }
    g.graph->PrintGraph();
  }
}

TEST(CopiedInput, OfEveryType) {
  for (const auto& context : Contexts()) {
    for (const DataType type :
         {DataType::INT8, DataType::UINT8, DataType::INT16, DataType::UINT16,
          DataType::INT32, DataType::UINT32, DataType::INT64, DataType::FLOAT16,
          DataType::FLOAT32, DataType::BOOL8, DataType::INT4,
          DataType::UINT4}) {
      const CopyGraph g(TensorSpec(type, {3, 5}, vx::INPUT),
                        context->CreateGraph());
      std::vector<uint8_t> bytes(
          static_cast<size_t>(g.input->GetSpec().GetByteSize()));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 2;
      ASSERT_TRUE(g.input->CopyDataToTensor(bytes.data()));
      ASSERT_TRUE(g.graph->Run()) << vx::LastError();
      std::vector<uint8_t> copy(bytes.size(), 9);
      ASSERT_TRUE(g.output->CopyDataFromTensor(copy.data()));
      EXPECT_EQ(copy, bytes) << static_cast<int>(type);
    }
  }
}

TEST(CopiedInput, KeepsCodes) {
  const Quantization per_tensor(QuantType::ASYMMETRIC, 0.25f, 3);
  const Quantization per_channel(QuantType::SYMMETRIC_PER_CHANNEL, 1,
                                 {0.5f, 0.25f}, {0, 0});
  for (const Quantization& quantization : {per_tensor, per_channel}) {
    const CopyGraph g(
        TensorSpec(DataType::INT8, {2, 2}, vx::INPUT, quantization),
        HostGraph());
    Write<int8_t>(g.input, {-128, 127, 5, -6});
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_THAT(Read<int8_t>(g.output), ElementsAre(-128, 127, 5, -6));
  }
}

TEST(CopiedInput, SeveralByTheirPlaces) {
  const auto graph = HostGraph();
  const auto a = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto copy_of_a = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  const auto copy_of_b =
      graph->CreateTensor(TensorSpec(DataType::INT32, {3}, vx::OUTPUT));
  const auto b =
      graph->CreateTensor(TensorSpec(DataType::INT32, {3}, vx::INPUT));
  Write<float>(a, {1, 2});
  Write<int32_t>(b, {3, 4, 5});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(copy_of_a), ElementsAre(1, 2));
  EXPECT_THAT(Read<int32_t>(copy_of_b), ElementsAre(3, 4, 5));
}

TEST(CopiedInput, OutputTakesTheShape) {
  const auto graph = HostGraph();
  const auto input = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto output = graph->CreateTensor(Floats({}, vx::OUTPUT));
  Write<float>(input, {1, 2, 3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(output->GetShape(), ElementsAre(3u));
  EXPECT_THAT(Read(output), ElementsAre(1, 2, 3));
}

// Also where both lie on one memory of the client.
TEST(CopiedInput, OnMemoryOfTheClient) {
  alignas(64) std::array<float, 4> memory = {1, 2, 3, 4};
  const auto graph = HostGraph();
  graph->CreateIOTensor(Floats({4}, vx::INPUT), memory.data());
  graph->CreateIOTensor(Floats({4}, vx::OUTPUT), memory.data());
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(memory, ElementsAre(1, 2, 3, 4));
}

TEST(CopiedInput, MustBeAlike) {
  const auto refused = [](const TensorSpec& from, const TensorSpec& to,
                          const char* found) {
    const auto graph = HostGraph();
    graph->CreateTensor(from);
    graph->CreateTensor(to);
    EXPECT_TRUE(CompileFailsWith(*graph, "there are no operations"));
    EXPECT_THAT(vx::LastError(), HasSubstr("INPUT t0"));
    EXPECT_THAT(vx::LastError(), HasSubstr("OUTPUT t1"));
    EXPECT_THAT(vx::LastError(), HasSubstr(found));
    EXPECT_FALSE(graph->Run());
  };
  const auto of = [](DataType type, const vx::ShapeType& shape,
                     vx::TensorAttribute attribute, float scale = 0) {
    TensorSpec spec(type, shape, attribute);
    if (scale > 0) {
      spec.SetQuantization(Quantization(QuantType::ASYMMETRIC, scale, 0));
    }
    return spec;
  };
  refused(of(DataType::FLOAT32, {4}, vx::INPUT),
          of(DataType::FLOAT16, {4}, vx::OUTPUT), "float16");
  refused(of(DataType::FLOAT32, {4}, vx::INPUT),
          of(DataType::FLOAT32, {2, 2}, vx::OUTPUT), "[2, 2]");
  refused(of(DataType::INT8, {4}, vx::INPUT, 0.5f),
          of(DataType::INT8, {4}, vx::OUTPUT, 0.25f), "0.25");
  // Of floats it means nothing.
  const auto graph = HostGraph();
  graph->CreateTensor(of(DataType::FLOAT32, {4}, vx::INPUT, 0.5f));
  graph->CreateTensor(of(DataType::FLOAT32, {4}, vx::OUTPUT));
  EXPECT_TRUE(graph->Run()) << vx::LastError();
}

TEST(CopiedInput, MustBeAsManyAsOutputs) {
  const CopyGraph g;
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  g.graph->CreateTensor(Floats({4}, vx::INPUT));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "2 INPUT tensors for 1 OUTPUT"));
  const auto outputs = HostGraph();
  outputs->CreateTensor(Floats({4}, vx::OUTPUT));
  EXPECT_TRUE(CompileFailsWith(*outputs, "is empty"));
  EXPECT_TRUE(CompileFailsWith(*HostGraph(), "is empty"));
}

// Operations that come later replace the copy, tensors that come later join.
TEST(CopiedInput, IsCompiledAgain) {
  const CopyGraph g;
  Write<float>(g.input, {-1, 2, -3, 4});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  const auto second = g.graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto copy = g.graph->CreateTensor(Floats({1}, vx::OUTPUT));
  Write<float>(second, {6});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(copy), ElementsAre(6));
  (*g.graph->CreateOperation<vx::ops::Relu>())
      .BindInput(g.input)
      .BindOutput(g.output);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.output), ElementsAre(0, 2, 0, 4));
}

// As clients make it that have one tensor for both.
TEST(CopiedInput, MayBeTheOutputItself) {
  const auto graph = HostGraph();
  const auto tensor = graph->CreateTensor(Floats({2}, vx::INPUT));
  Write<float>(tensor, {1, -2});
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("has no operations and no OUTPUT"));
  EXPECT_THAT(Read(tensor), ElementsAre(1, -2));
  InferredGraph inferred(graph);
  inferred.Write(tensor, {3, 4});
  inferred.Run();
  EXPECT_THAT(inferred.Read(tensor), ElementsAre(3, 4));
  size_t size = 0;
  EXPECT_FALSE(graph->CompileToBinary(nullptr, &size));
  EXPECT_THAT(vx::LastError(), HasSubstr("no OUTPUT tensor"));
}

TEST(CopiedInput, IsWhatLayoutInferenceKeeps) {
  const CopyGraph g({3, 2});
  InferredGraph inferred(g.graph);
  inferred.Write(g.input, {1, 2, 3, 4, 5, 6});
  inferred.Run();
  EXPECT_THAT(inferred.Read(g.output), ElementsAre(1, 2, 3, 4, 5, 6));
  const CopyGraph square({2, 2});
  InferredGraph turned(square.graph, {{square.input, Pv({1, 0})}});
  turned.Write(square.input, {1, 2, 3, 4});
  turned.Run();
  EXPECT_THAT(turned.Read(square.output), ElementsAre(1, 3, 2, 4));
}

TEST(CopiedInput, IsABinaryGraph) {
  for (const auto& context : Contexts()) {
    const CopyGraph g(Floats({4}, vx::INPUT), context->CreateGraph());
    const std::vector<char> binary = ToBinary(*g.graph);
    const LoadedBinary loaded(binary, *g.graph, context->CreateGraph());
    Write<float>(loaded.inputs[0], {1, 2, 3, 4});
    ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(loaded.outputs[0]), ElementsAre(1, 2, 3, 4));
  }
}

TEST(CopiedInput, RunsInLiteExecutions) {
  const std::vector<char> binary = ToBinary(*CopyGraph().graph);
  const auto run = lite::Execution::Create(binary.data(), binary.size());
  ASSERT_NE(run, nullptr) << vx::LastError();
  alignas(64) std::array<float, 16> from = {1, 2, 3, 4};
  alignas(64) std::array<float, 16> to = {};
  run->BindInputs(
      {run->CreateInputHandle(0, reinterpret_cast<uint8_t*>(from.data()), 16)});
  run->BindOutputs(
      {run->CreateOutputHandle(0, reinterpret_cast<uint8_t*>(to.data()), 16)});
  ASSERT_TRUE(run->Trigger()) << vx::LastError();
  EXPECT_THAT(Values(to.begin(), to.begin() + 4), ElementsAre(1, 2, 3, 4));
}

TEST(CopiedInput, RunsInExecutables) {
  const CopyGraph g;
  const auto executor = DeviceWithCores(1)->CreateExecutor();
  const auto executable = executor->Compile(g.graph);
  ASSERT_NE(executable, nullptr) << vx::LastError();
  const auto input = executable->AllocateTensor(g.input->GetSpec());
  const auto output = executable->AllocateTensor(g.output->GetSpec());
  executable->SetInput(input);
  executable->SetOutput(output);
  const Values given = {1, 2, 3, 4};
  ASSERT_TRUE(input->CopyDataToTensor(given.data(), 16));
  ASSERT_TRUE(executable->Trigger()) << vx::LastError();
  EXPECT_EQ(Read(output->GetTensor()), given);
}

}  // namespace
}  // namespace tim::testing
