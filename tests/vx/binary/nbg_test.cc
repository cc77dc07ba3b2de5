// Binary graphs as operations of other graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/child_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/transform/layout_inference.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<float>;

// (a + b) * 2, a - b; the inputs were made last first.
struct Pair {
  explicit Pair(std::shared_ptr<vx::Graph> on = HostGraph()) : graph(on) {
    second = graph->CreateTensor(Floats({3}, vx::OUTPUT));
    b = graph->CreateTensor(Floats({3}, vx::INPUT));
    a = graph->CreateTensor(Floats({3}, vx::INPUT));
    first = graph->CreateTensor(Floats({3}, vx::OUTPUT));
    const auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    const Values two = {2};
    const auto factor =
        graph->CreateTensor(Floats({1}, vx::CONSTANT), two.data());
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({a, b})
        .BindOutput(sum);
    (*graph->CreateOperation<vx::ops::Multiply>())
        .BindInputs({sum, factor})
        .BindOutput(first);
    (*graph->CreateOperation<vx::ops::Sub>())
        .BindInputs({a, b})
        .BindOutput(second);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> a, b, first, second;
};

void ExpectPair(LoadedBinary& loaded) {
  ASSERT_EQ(loaded.inputs.size(), 2u);
  Write<float>(loaded.inputs[0], {1, 2, 3});     // b
  Write<float>(loaded.inputs[1], {10, 20, 30});  // a
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{9, 18, 27}));
  EXPECT_EQ(Read(loaded.outputs[1]), (Values{22, 44, 66}));
}

TEST(Nbg, RunsWhatWasCompiledInTheOrderOfCreation) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  LoadedBinary loaded(binary, *pair.graph, HostGraph());
  ExpectPair(loaded);
  ExpectPair(loaded);
}

TEST(Nbg, CopiesTheBinary) {
  Pair pair;
  std::vector<char> binary = ToBinary(*pair.graph);
  LoadedBinary loaded(binary, *pair.graph, HostGraph());
  std::fill(binary.begin(), binary.end(), 'x');
  ExpectPair(loaded);
}

TEST(Nbg, WorksOnAnyAddress) {
  Pair pair;
  std::vector<char> binary = ToBinary(*pair.graph);
  std::vector<char> shifted(binary.size() + 1);
  std::copy(binary.begin(), binary.end(), shifted.begin() + 1);
  const auto graph = HostGraph();
  LoadedBinary loaded(std::vector<char>(shifted.begin() + 1, shifted.end()),
                      *pair.graph, graph);
  ExpectPair(loaded);
}

class NbgOn : public ::testing::TestWithParam<const char*> {};

// Compiled here, run there.
TEST_P(NbgOn, OtherDevices) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  const auto context = ContextOn(GetParam());
  if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
  LoadedBinary loaded(binary, *pair.graph, context->CreateGraph());
  ExpectPair(loaded);
  Pair there(context->CreateGraph());
  const std::vector<char> back = ToBinary(*there.graph);
  LoadedBinary here(back, *there.graph, HostGraph());
  ExpectPair(here);
}
INSTANTIATE_TEST_SUITE_P(Devices, NbgOn, ::testing::Values("host", "opencl"),
                         [](const auto& info) { return info.param; });

TEST(Nbg, RunsInAnotherProcess) {
  constexpr char kFile[] = "TIM_TEST_BINARY";
  Pair pair;
  if (IsChild()) {
    const auto context = vx::Context::Create();
    LoadedBinary loaded(BinaryFile::Read(std::getenv(kFile)), *pair.graph,
                        context->CreateGraph());
    ExpectPair(loaded);
    return;
  }
  for (const char* made_on : {"host", "opencl"}) {
    const auto context = ContextOn(made_on);
    if (context == nullptr) continue;
    Pair source(context->CreateGraph());
    const BinaryFile file(ToBinary(*source.graph));
    for (const char* device : {"host", "opencl"}) {
      if (ContextOn(device) == nullptr) continue;
      const ChildResult child =
          RunAsChild({{kFile, file.path()}, {"TIMCL_DEVICE", device}});
      EXPECT_EQ(child.exit_status, 0) << device << child.output;
    }
  }
}

TEST(Nbg, StandsBesideOtherOperationsAndItself) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto positive = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto difference = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  const auto z = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(positive);
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
      .BindInputs({x, positive})
      .BindOutputs({difference, sum});
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
      .BindInputs({difference, sum})
      .BindOutputs({y, z});
  Write<float>(x, {-1, 0, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  // sum = 2 (relu(x) + x), difference = relu(x) - x
  EXPECT_EQ(Read(y), (Values{-3, 0, 8}));
  EXPECT_EQ(Read(z), (Values{-2, 0, 16}));
}

TEST(Nbg, IsPartOfOtherBinaries) {
  Pair pair;
  const std::vector<char> inner = ToBinary(*pair.graph);
  LoadedBinary middle(inner, *pair.graph, HostGraph());
  const std::vector<char> outer = ToBinary(*middle.graph);
  LoadedBinary loaded(outer, *middle.graph, HostGraph());
  ExpectPair(loaded);
}

TEST(Nbg, CloneIsUnbound) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  LoadedBinary loaded(binary, *pair.graph, HostGraph());
  const auto to = HostGraph();
  auto target = to;
  const auto clone = loaded.nbg->Clone(target);
  const auto b = to->CreateTensor(Floats({3}, vx::INPUT));
  const auto a = to->CreateTensor(Floats({3}, vx::INPUT));
  const auto y = to->CreateTensor(Floats({3}, vx::OUTPUT));
  const auto z = to->CreateTensor(Floats({3}, vx::OUTPUT));
  (*clone).BindInputs({b, a}).BindOutputs({y, z});
  Write<float>(b, {1, 1, 1});
  Write<float>(a, {2, 3, 4});
  ASSERT_TRUE(to->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), (Values{1, 2, 3}));
}

// A Conv2d in a binary graph computes as it was compiled, whatever its layout
// argument says.
TEST(Nbg, LayoutInferenceLeavesItAsItIs) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  LoadedBinary loaded(binary, *pair.graph, HostGraph());
  auto context = HostContext();
  const auto [inferred, map] =
      transform::LayoutInference(loaded.graph, context);
  ASSERT_EQ(map.size(), 4u) << vx::LastError();
  Write<float>(map.at(loaded.inputs[0]), {1, 2, 3});
  Write<float>(map.at(loaded.inputs[1]), {10, 20, 30});
  ASSERT_TRUE(inferred->Run()) << vx::LastError();
  EXPECT_EQ(Read(map.at(loaded.outputs[1])), (Values{22, 44, 66}));
}

// The second input and the first output have no part in it.
TEST(Nbg, UnusedOperandsAreCounted) {
  const auto source = HostGraph();
  const auto x = source->CreateTensor(Floats({2}, vx::INPUT));
  source->CreateTensor(Floats({5}, vx::INPUT));
  source->CreateTensor(Floats({4}, vx::OUTPUT));
  const auto y = source->CreateTensor(Floats({2}, vx::OUTPUT));
  (*source->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(y);
  const std::vector<char> binary = ToBinary(*source);
  LoadedBinary loaded(binary, *source, HostGraph());
  Write<float>(loaded.outputs[0], {7, 7, 7, 7});
  Write<float>(loaded.inputs[0], {-1, 1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{7, 7, 7, 7}));
  EXPECT_EQ(Read(loaded.outputs[1]), (Values{0, 1}));
}

struct Mismatch {
  vx::TensorSpec input = Floats({3}, vx::INPUT);
  vx::TensorSpec output = Floats({3}, vx::OUTPUT);
  std::string text;
};

TEST(Nbg, OperandsMustBeThoseOfTheBinary) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  const vx::Quantization scaled(vx::QuantType::ASYMMETRIC, 0.5f, 3);
  const Mismatch mismatches[] = {
      {Floats({4}, vx::INPUT), Floats({3}, vx::OUTPUT),
       "input 1 is float32 [4]; the binary graph's is float32 [3]"},
      {vx::TensorSpec(vx::DataType::INT32, {3}, vx::INPUT),
       Floats({3}, vx::OUTPUT), "input 1 is int32 [3]"},
      {vx::TensorSpec(vx::DataType::UINT8, {3}, vx::INPUT, scaled),
       Floats({3}, vx::OUTPUT), "input 1 is uint8 [3] scale 0.5"},
      {Floats({3}, vx::INPUT), Floats({1, 3}, vx::OUTPUT),
       "output 1 is float32 [1, 3]; the binary graph's is float32 [3]"},
      {Floats({3}, vx::INPUT),
       vx::TensorSpec(vx::DataType::FLOAT16, {3}, vx::OUTPUT),
       "output 1 is float16 [3]"},
  };
  for (const Mismatch& mismatch : mismatches) {
    const auto graph = HostGraph();
    const auto b = graph->CreateTensor(Floats({3}, vx::INPUT));
    const auto a = graph->CreateTensor(mismatch.input);
    const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
    const auto z = graph->CreateTensor(mismatch.output);
    (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
        .BindInputs({b, a})
        .BindOutputs({y, z});
    EXPECT_TRUE(CompileFailsWith(*graph, mismatch.text));
  }
}

TEST(Nbg, AllOperandsMustBeBound) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  const auto graph = HostGraph();
  const auto b = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
      .BindInputs({b})
      .BindOutputs({y, graph->CreateTensorPlaceHolder()});
  EXPECT_TRUE(CompileFailsWith(
      *graph, "1 inputs are bound, its binary graph has 2: float32 [3]"));
  const auto other = HostGraph();
  const auto x = other->CreateTensor(Floats({3}, vx::INPUT));
  const auto z = other->CreateTensor(Floats({3}, vx::OUTPUT));
  (*other->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
      .BindInputs({x, other->CreateTensorPlaceHolder()})
      .BindOutputs({z, other->CreateTensorPlaceHolder()});
  EXPECT_TRUE(CompileFailsWith(*other, "input 1 is absent"));
}

TEST(Nbg, UnwantedOutputsMayBePlaceholders) {
  Pair pair;
  const std::vector<char> binary = ToBinary(*pair.graph);
  const auto graph = HostGraph();
  const auto b = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto a = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto z = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::NBG>(binary.data(), 2, 2))
      .BindInputs({b, a})
      .BindOutputs({graph->CreateTensorPlaceHolder(), z});
  Write<float>(b, {1, 2, 3});
  Write<float>(a, {1, 1, 1});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(z), (Values{4, 6, 8}));
}

void ExpectRefused(const char* binary, const std::string& text) {
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  const auto nbg = graph->CreateOperation<vx::ops::NBG>(binary, 1, 1);
  ASSERT_NE(nbg, nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr(text));
  (*nbg).BindInput(x).BindOutput(y);
  EXPECT_TRUE(CompileFailsWith(*graph, text));
}

TEST(Nbg, WhatIsNoBinaryIsRefused) {
  ExpectRefused(nullptr, "its address is null");
  ExpectRefused("", "no binary graph of this library");
  ExpectRefused("VPMN\x01\x02", "a binary graph of VeriSilicon's drivers");
  Pair pair;
  const std::vector<char> good = ToBinary(*pair.graph);
  ExpectRefused(good.data(), "the binary graph has 2 inputs and 2 outputs");
  std::vector<char> bad = good;
  bad[8] = 2;
  ExpectRefused(bad.data(), "format version 2, this library reads version 1");
  bad = good;
  bad[20] ^= 1;
  ExpectRefused(bad.data(), "header is damaged");
  bad = good;
  bad[good.size() / 2] ^= 1;
  ExpectRefused(bad.data(), "its checksum is wrong");
}

}  // namespace
}  // namespace tim::testing
