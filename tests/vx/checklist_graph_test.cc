// What clients rely on, by the numbers of the checklist in the API's
// specification: the part about graphs.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::PadType;
using vx::PoolType;
using vx::TensorAttribute;
using vx::TensorSpec;

TEST(Checklist, N04OutputIsConsumedToo) {
  ReluGraph g({2});
  const auto last = g.graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto add = g.graph->CreateOperation<vx::ops::Add>();
  (*add).BindInputs({g.output, g.input}).BindOutput(last);
  Write<float>(g.input, {3, -3});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (std::vector<float>{3, 0}));
  EXPECT_EQ(Read(last), (std::vector<float>{6, -3}));
}

TEST(Checklist, N04OutputThatNothingWritesIsReadAsItIs) {
  const auto graph = HostGraph();
  const auto source = graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  const auto out = graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(source).BindOutput(out);
  Write<float>(source, {4, -4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{4, 0}));
}

TEST(Checklist, N04InputThatAnOperationWritesReceivesTheResult) {
  ReluGraph g({2});
  const auto written =
      g.graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  const auto last = g.graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto first = g.graph->CreateOperation<vx::ops::Relu>();
  auto second = g.graph->CreateOperation<vx::ops::Add>();
  (*first).BindInput(g.input).BindOutput(written);
  (*second).BindInputs({written, written}).BindOutput(last);
  Write<float>(g.input, {3, -3});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(written), (std::vector<float>{3, 0}));
  EXPECT_EQ(Read(last), (std::vector<float>{6, 0}));
}

TEST(Checklist, N04UnusedInputsAndOutputsAreNoError) {
  ReluGraph g({2});
  g.graph->CreateTensor(Floats({9}, TensorAttribute::INPUT));
  g.graph->CreateTensor(Floats({9}, TensorAttribute::OUTPUT));
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(g.graph->InputsTensor().size(), 2u);
  EXPECT_EQ(g.graph->OutputsTensor().size(), 2u);
}

TEST(Checklist, N04OperationsThatReachNothingAreAnError) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  const auto kept = graph->CreateTensor(Floats({2}, TensorAttribute::VARIABLE));
  const auto last =
      graph->CreateTensor(Floats({2}, TensorAttribute::TRANSIENT));
  graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));  // not bound
  auto add = graph->CreateOperation<vx::ops::Add>();
  (*add).BindInputs({in, kept}).BindOutput(last);
  EXPECT_TRUE(CompileFailsWith(
      *graph,
      "none of its 1 operations reaches an OUTPUT or a VARIABLE tensor, so "
      "that none would run; create the tensors that you read as OUTPUT"));
}

TEST(Checklist, N04OperationsThatReachAStateOnlyRun) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  const auto kept = graph->CreateTensor(Floats({2}, TensorAttribute::VARIABLE));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(kept);
  Write<float>(in, {3, -3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(kept), (std::vector<float>{3, 0}));
}

// What is created after the operations, an OUTPUT for example, counts.
TEST(Checklist, N04OutputDeclaredLast) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in);
  const auto out = graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  (*relu).BindOutput(out);
  Write<float>(in, {3, -3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{3, 0}));
}

TEST(Checklist, N05InputsAndOutputsAreInOrderOfCreation) {
  const auto graph = HostGraph();
  const auto out1 = graph->CreateTensor(Floats({1}, TensorAttribute::OUTPUT));
  const auto in1 = graph->CreateTensor(Floats({1}, TensorAttribute::INPUT));
  graph->CreateTensor(Floats({1}, TensorAttribute::VARIABLE));
  const auto in2 = graph->CreateIOTensor(Floats({1}, TensorAttribute::INPUT));
  const auto out2 = graph->CreateTensor(Floats({1}, TensorAttribute::OUTPUT));
  auto second = graph->CreateOperation<vx::ops::Relu>();
  auto first = graph->CreateOperation<vx::ops::Relu>();
  (*first).BindInput(in2).BindOutput(out2);
  (*second).BindInput(in1).BindOutput(out1);
  using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;
  EXPECT_EQ(graph->InputsTensor(), (Tensors{in1, in2}));
  EXPECT_EQ(graph->OutputsTensor(), (Tensors{out1, out2}));
  Write<float>(in1, {1});
  Write<float>(in2, {2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out1), std::vector<float>{1});
  EXPECT_EQ(Read(out2), std::vector<float>{2});
}

TEST(Checklist, N06RunWithoutCompile) {
  ReluGraph g({2});
  Write<float>(g.input, {1, -1});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (std::vector<float>{1, 0}));
}

TEST(Checklist, N07PlaceholderInAnOptionalSlot) {
  const auto graph = HostGraph();
  const auto in =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::INPUT));
  const float three = 3;
  const auto kernel = graph->CreateTensor(
      Floats({1, 1, 1, 1}, TensorAttribute::CONSTANT), &three);
  const auto out =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::OUTPUT));
  const std::array<uint32_t, 2> one = {1, 1};
  auto conv = graph->CreateOperation<vx::ops::Conv2d>(PadType::VALID, one, one);
  const auto absent = graph->CreateTensorPlaceHolder();
  (*conv).BindInputs({in, kernel, absent}).BindOutput(out);
  Write<float>(in, {2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), std::vector<float>{6});
  EXPECT_EQ(absent, graph->CreateTensorPlaceHolder());
}

TEST(Checklist, N08BindingAfterAllOperationsInAnyOrder) {
  const auto graph = HostGraph();
  auto last = graph->CreateOperation<vx::ops::Relu>();
  auto first = graph->CreateOperation<vx::ops::Add>();
  const auto out = graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  const auto middle =
      graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  const auto in = graph->CreateTensor(Floats({2}, TensorAttribute::INPUT));
  (*last).BindOutput(out).BindInput(middle);
  (*first).BindOutput(middle).BindInputs({in, in});
  Write<float>(in, {1, -1});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{2, 0}));
}

TEST(Checklist, N09LayoutArgumentsAreInert) {
  const auto graph = HostGraph();
  const auto in =
      graph->CreateTensor(Floats({2, 1, 1, 1}, TensorAttribute::INPUT));
  const float weights[] = {1, 10};
  const auto kernel = graph->CreateTensor(
      Floats({2, 1, 1, 1}, TensorAttribute::CONSTANT), weights);
  const auto out =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::OUTPUT));
  const std::array<uint32_t, 2> one = {1, 1};
  auto conv = graph->CreateOperation<vx::ops::Conv2d>(PadType::VALID, one, one,
                                                      0, vx::DataLayout::CWHN,
                                                      vx::DataLayout::IcWHOc);
  (*conv).BindInputs({in, kernel}).BindOutput(out);
  Write<float>(in, {1, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), std::vector<float>{21});
  EXPECT_EQ(conv->KernelDataLayout(), vx::DataLayout::IcWHOc);
}

TEST(Checklist, N11WeightsMayBeConstantOrInput) {
  for (const auto attribute :
       {TensorAttribute::CONSTANT, TensorAttribute::INPUT}) {
    const auto graph = HostGraph();
    const auto in = graph->CreateTensor(Floats({2, 1}, TensorAttribute::INPUT));
    const float values[] = {1, 2, 3, 4};
    const auto weights = graph->CreateTensor(Floats({2, 2}, attribute), values);
    const auto out =
        graph->CreateTensor(Floats({2, 1}, TensorAttribute::OUTPUT));
    auto full = graph->CreateOperation<vx::ops::FullyConnected>(0);
    (*full).BindInputs({in, weights}).BindOutput(out);
    Write<float>(in, {1, 1});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(out), (std::vector<float>{3, 7}));
  }
}

TEST(Checklist, N12PoolTakesPadTypeNone) {
  const auto graph = HostGraph();
  const auto in =
      graph->CreateTensor(Floats({2, 2, 1, 1}, TensorAttribute::INPUT));
  const auto out =
      graph->CreateTensor(Floats({1, 1, 1, 1}, TensorAttribute::OUTPUT));
  const std::array<uint32_t, 2> two = {2, 2};
  auto pool = graph->CreateOperation<vx::ops::Pool2d>(PoolType::MAX,
                                                      PadType::NONE, two, two);
  (*pool).BindInput(in).BindOutput(out);
  Write<float>(in, {1, 9, 3, 4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), std::vector<float>{9});
}

TEST(Checklist, N15OneGraphPerThreadAndSeveralContexts) {
  const auto shared = HostContext();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([n, shared] {
      const auto own = HostContext();
      for (int i = 0; i < 8; ++i) {
        ReluGraph g({4}, (n % 2 == 0 ? shared : own)->CreateGraph());
        const auto value = static_cast<float>(10 * n + i);
        Write<float>(g.input, {value, -value, value, -value});
        ASSERT_TRUE(g.graph->Run()) << vx::LastError();
        EXPECT_EQ(Read(g.output), (std::vector<float>{value, 0, value, 0}));
        // An error of one thread is not seen by the others.
        EXPECT_FALSE(g.input->CopyDataToTensor(nullptr));
        EXPECT_EQ(vx::LastError(), g.graph->ErrorMessage());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Compiled in this file, which includes nothing but gtest and the API.
TEST(Checklist, N19HeadersReachableThroughTheApi) {
  const std::map<std::string, std::vector<std::shared_ptr<int>>> all;
  EXPECT_TRUE(all.empty());
  EXPECT_TRUE(std::cerr.good());
}

TEST(Checklist, N20Macros) {
#ifndef DirectMapOp
  FAIL() << "DirectMapOp is not defined";
#endif
#ifdef VSI_FEAT_OP_CUSTOM_TINY_YOLOV4_POSTPROCESS
  FAIL() << "public headers must not define VSI_FEAT_OP_*";
#endif
}

}  // namespace
}  // namespace tim::testing
