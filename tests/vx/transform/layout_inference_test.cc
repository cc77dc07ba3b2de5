// LayoutInference(): what the new graph holds and computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/inferred_graph.h"
#include "tim/vx/compile_option.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using vx::DataLayout;
using vx::ShapeType;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;
using Perm = std::vector<uint32_t>;
const Perm kCwhn = {1, 2, 0, 3};      // of C, W, H, N, to W, H, C, N
const Perm kToCwhn = {2, 0, 1, 3};    // and back
const Perm kToIcWhOc = {2, 0, 1, 3};  // of W, H, IC, OC

// x [W, H, 3, 1] -> 2x2 convolution to 5 channels -> y, in either layout.
struct ConvGraph {
  explicit ConvGraph(DataLayout layout, DataLayout kernel = DataLayout::WHIcOc,
                     const Perm& kernel_order = {0, 1, 2, 3},
                     vx::TensorAttribute weights_attribute = vx::CONSTANT)
      : graph(HostContext()->CreateGraph()) {
    const bool cwhn = layout == DataLayout::CWHN;
    const ShapeType in = {6, 4, 3, 1};
    const ShapeType out = {5, 3, 5, 1};
    x = graph->CreateTensor(
        Floats(cwhn ? Permuted(in, kToCwhn) : in, vx::INPUT));
    y = graph->CreateTensor(
        Floats(cwhn ? Permuted(out, kToCwhn) : out, vx::OUTPUT));
    const ShapeType w = {2, 2, 3, 5};
    const auto values = Permuted(Ramp(60), w, kernel_order);
    weights = graph->CreateTensor(
        Floats(Permuted(w, kernel_order), weights_attribute), values.data());
    const auto biases = Ramp(5, 1);
    bias = graph->CreateTensor(Floats({5}, vx::CONSTANT), biases.data());
    conv = graph->CreateOperation<ops::Conv2d>(vx::PadType::VALID, Pair{1, 1},
                                               Pair{1, 1}, 0, layout, kernel);
    (*conv).BindInputs({x, weights, bias}).BindOutput(y);
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr x, y, weights, bias;
  std::shared_ptr<ops::Conv2d> conv;
};

const ShapeType kIn = {6, 4, 3, 1};
const ShapeType kOut = {5, 3, 5, 1};

std::vector<float> DirectConv() {
  ConvGraph direct(DataLayout::WHCN);
  Write(direct.x, Ramp(72));
  EXPECT_TRUE(direct.graph->Run());
  return Read(direct.y);
}

TEST(LayoutInference, OfNativeLayoutsIsACopy) {
  ConvGraph source(DataLayout::WHCN);
  InferredGraph inferred(source.graph);
  EXPECT_THAT(inferred.graph().OpVector(), SizeIs(1));
  inferred.Write(source.x, Ramp(72));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), DirectConv());
}

TEST(LayoutInference, OfCwhnComputesTheSame) {
  ConvGraph source(DataLayout::CWHN);
  InferredGraph inferred(source.graph);
  EXPECT_EQ(inferred.transposes(), 2);
  EXPECT_EQ(inferred[source.x]->GetShape(), Permuted(kIn, kToCwhn));
  EXPECT_EQ(inferred[source.y]->GetShape(), Permuted(kOut, kToCwhn));
  inferred.Write(source.x, Permuted(Ramp(72), kIn, kToCwhn));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), Permuted(DirectConv(), kOut, kToCwhn));
}

TEST(LayoutInference, StatesTheNativeLayoutsAndKeepsOtherAttributes) {
  ConvGraph source(DataLayout::CWHN, DataLayout::IcWHOc, kToIcWhOc);
  source.conv->SetInstanceName("stem");
  source.conv->SetRoundingPolicy(vx::OverflowPolicy::WRAP);
  InferredGraph inferred(source.graph);
  std::shared_ptr<vx::Operation> conv;
  for (const auto& operation : inferred.graph().OpVector()) {
    if (operation->Name() == std::string("Conv2d")) conv = operation;
  }
  ASSERT_NE(conv, nullptr);
  EXPECT_NE(dynamic_cast<ops::Conv2d*>(conv.get()), nullptr);
  DataLayout layout{};
  EXPECT_TRUE(conv->GetAttribute("input_layout", &layout));
  EXPECT_EQ(layout, DataLayout::WHCN);
  EXPECT_TRUE(conv->GetAttribute("kernel_layout", &layout));
  EXPECT_EQ(layout, DataLayout::WHIcOc);
  vx::PadType padding{};
  EXPECT_TRUE(conv->GetAttribute("padding", &padding));
  EXPECT_EQ(padding, vx::PadType::VALID);
  vx::OverflowPolicy overflow{};
  EXPECT_TRUE(conv->GetAttribute("overflow_policy", &overflow));
  EXPECT_EQ(overflow, vx::OverflowPolicy::WRAP);
  EXPECT_EQ(conv->InstanceName(), "stem");
  EXPECT_EQ(conv->InputSpec(1).shape_, (ShapeType{2, 2, 3, 5}));
  EXPECT_EQ(conv->InputSpec(1).attr_, vx::CONSTANT);
  EXPECT_TRUE(source.conv->GetAttribute("input_layout", &layout));
  EXPECT_EQ(layout, DataLayout::CWHN) << "the source has changed";
}

struct KernelLayout {
  DataLayout layout;
  Perm order;  // of W, H, IC, OC
};
class KernelLayouts : public ::testing::TestWithParam<KernelLayout> {};

TEST_P(KernelLayouts, OfConstantsArePermutedAtOnce) {
  const auto& [layout, order] = GetParam();
  ConvGraph source(DataLayout::WHCN, layout, order);
  InferredGraph inferred(source.graph);
  EXPECT_THAT(inferred.graph().OpVector(), SizeIs(1));
  inferred.Write(source.x, Ramp(72));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), DirectConv());
}

TEST_P(KernelLayouts, OfInputsAreTransposed) {
  const auto& [layout, order] = GetParam();
  ConvGraph source(DataLayout::WHCN, layout, order, vx::INPUT);
  InferredGraph inferred(source.graph);
  EXPECT_EQ(inferred.transposes(), 1);
  inferred.Write(source.x, Ramp(72));
  inferred.Write(source.weights, Permuted(Ramp(60), {2, 2, 3, 5}, order));
  inferred.Run();
  EXPECT_EQ(inferred.Read(source.y), DirectConv());
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelLayouts,
    ::testing::Values(KernelLayout{DataLayout::IcWHOc, {2, 0, 1, 3}},
                      KernelLayout{DataLayout::OcIcWH, {3, 2, 0, 1}},
                      KernelLayout{DataLayout::IcOcWH, {2, 3, 0, 1}}));

TEST(LayoutInference, MovesTheChannelsOfQuantizedWeights) {
  auto graph = HostContext()->CreateGraph();
  const std::vector<float> scales = {0.5f, 0.25f};
  vx::TensorSpec weights_spec(
      vx::DataType::INT8, {3, 1, 1, 2}, vx::CONSTANT,
      vx::Quantization(vx::QuantType::SYMMETRIC_PER_CHANNEL, 3, scales,
                       {0, 0}));
  const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6};
  const vx::Quantization of_x(vx::QuantType::ASYMMETRIC, 1.0f, 0);
  auto x = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {3, 1, 1, 1}, vx::INPUT, of_x));
  auto y = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {2, 1, 1, 1}, vx::OUTPUT, of_x));
  (*graph->CreateOperation<ops::Conv2d>(vx::PadType::VALID, Pair{1, 1},
                                        Pair{1, 1}, 0, DataLayout::CWHN,
                                        DataLayout::IcWHOc))
      .BindInputs({x, graph->CreateTensor(weights_spec, weights.data())})
      .BindOutput(y);
  InferredGraph inferred(graph);
  for (const auto& operation : inferred.graph().OpVector()) {
    if (operation->Name() != std::string("Conv2d")) continue;
    const vx::TensorSpec spec = operation->InputSpec(1);
    EXPECT_EQ(spec.shape_, (ShapeType{1, 1, 3, 2}));
    EXPECT_EQ(spec.quantization_.ChannelDim(), 3);
    EXPECT_EQ(spec.quantization_.Scales(), scales);
  }
  Write<uint8_t>(inferred[x], {1, 2, 4});
  inferred.Run();
  // (1 + 4 + 12) / 2 and (4 + 10 + 24) / 4
  EXPECT_THAT(Read<uint8_t>(inferred[y]), ElementsAre(8, 10));
}

// Channels that are not the slowest axis.
TEST(LayoutInference, MovesTheChannelDimensionItself) {
  auto graph = HostContext()->CreateGraph();
  vx::TensorSpec spec(vx::DataType::INT8, {2, 1, 1, 2}, vx::CONSTANT,
                      vx::Quantization(vx::QuantType::SYMMETRIC_PER_CHANNEL, 0,
                                       {1.0f, 0.5f}, {0, 0}));
  const std::vector<int8_t> weights = {1, 2, 3, 4};  // OC fastest, then IC
  const vx::Quantization one(vx::QuantType::ASYMMETRIC, 1.0f, 0);
  // OcIcWH: OC 2, IC 1, W 1, H 2.
  auto x = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {1, 2, 1, 1}, vx::INPUT, one));
  auto y = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {1, 1, 2, 1}, vx::OUTPUT, one));
  (*graph->CreateOperation<ops::Conv2d>(vx::PadType::VALID, Pair{1, 1},
                                        Pair{1, 1}, 0, DataLayout::WHCN,
                                        DataLayout::OcIcWH))
      .BindInputs({x, graph->CreateTensor(spec, weights.data())})
      .BindOutput(y);
  InferredGraph inferred(graph);
  const vx::TensorSpec moved = inferred.graph().OpVector()[0]->InputSpec(1);
  EXPECT_EQ(moved.shape_, (ShapeType{1, 2, 1, 2}));
  EXPECT_EQ(moved.quantization_.ChannelDim(), 3);
  Write<uint8_t>(inferred[x], {10, 20});
  inferred.Run();
  EXPECT_THAT(Read<uint8_t>(inferred[y]), ElementsAre(70, 50));
}

// Parameters of fewer axes than the image follow its order from axis 0 on.
TEST(LayoutInference, ExtendsParametersThatAreBroadcast) {
  for (const auto attribute : {vx::CONSTANT, vx::INPUT}) {
    auto graph = HostContext()->CreateGraph();
    auto x = graph->CreateTensor(Floats({2, 3, 1, 1}, vx::INPUT));
    auto y = graph->CreateTensor(Floats({2, 3, 1, 1}, vx::OUTPUT));
    const auto pair = [&](float a, float b) {
      const std::vector<float> values = {a, b};
      return graph->CreateTensor(Floats({2, 1}, attribute), values.data());
    };
    (*graph->CreateOperation<ops::BatchNorm>(0.0f, DataLayout::CWHN))
        .BindInputs({x, pair(1, 2), pair(1, 4), pair(1, 6), pair(0, 1)})
        .BindOutput(y);
    InferredGraph inferred(graph);
    inferred.Write(x, {1, 2, 3, 4, 5, 6});
    inferred.Run();
    EXPECT_THAT(inferred.Read(y), ElementsAre(0, 1, 2, 7, 4, 13));
  }
}

// Operators were made for [C, W, H, N]; the data comes as [W, H, C, N].
TEST(LayoutInference, TakesInputsAsTheVectorsSay) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({2, 2, 3, 1}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({3, 2, 2, 1}, vx::OUTPUT));
  const std::vector<float> slopes = {1, 2, 3};
  auto alpha = graph->CreateTensor(Floats({3}, vx::CONSTANT), slopes.data());
  (*graph->CreateOperation<ops::Prelu>(0)).BindInputs({x, alpha}).BindOutput(y);
  InferredGraph inferred(graph, {{x, Pv({1, 2, 0, 3})}});
  EXPECT_EQ(inferred.transposes(), 1);
  EXPECT_EQ(inferred[x]->GetShape(), (ShapeType{2, 2, 3, 1}));
  inferred.Write(x, {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12});
  inferred.Run();
  EXPECT_THAT(inferred.Read(y), ElementsAre(-1, -10, -27, -2, -12, -30, -3, -14,
                                            -33, -4, -16, -36));
}

TEST(LayoutInference, IgnoresVectorsOfOutputs) {
  ReluGraph source({2, 3});
  InferredGraph inferred(source.graph, {{source.output, Pv({1, 0})}});
  EXPECT_EQ(inferred.transposes(), 0);
}

TEST(LayoutInference, KeepsInputsAndOutputsInTheirOrder) {
  auto graph = HostContext()->CreateGraph();
  std::vector<TensorPtr> inputs;
  std::vector<TensorPtr> outputs;
  for (uint32_t i = 0; i < 3; ++i) {
    outputs.push_back(
        graph->CreateTensor(Floats({i + 1}, vx::OUTPUT).SetName("out")));
    inputs.push_back(graph->CreateTensor(Floats({i + 1}, vx::INPUT)));
  }
  for (const size_t i : {1, 0}) {  // the last ones stay unused
    (*graph->CreateOperation<ops::Relu>())
        .BindInput(inputs[i])
        .BindOutput(outputs[i]);
  }
  InferredGraph inferred(graph);
  const auto in = inferred.graph().InputsTensor();
  const auto out = inferred.graph().OutputsTensor();
  ASSERT_THAT(in, SizeIs(3));
  ASSERT_THAT(out, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(inferred[inputs[i]], in[i]);
    EXPECT_EQ(inferred[outputs[i]], out[i]);
    EXPECT_TRUE(in[i]->GetSpec() == inputs[i]->GetSpec());
    EXPECT_TRUE(out[i]->GetSpec() == outputs[i]->GetSpec());
    EXPECT_EQ(out[i]->GetSpec().name_, "out");
  }
}

TEST(LayoutInference, TakesVariablesAsSourcesAndKeepsTheirContent) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const std::vector<float> start = {10, 20};
  auto state = graph->CreateTensor(Floats({2}, vx::VARIABLE), start.data());
  auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Add>())
      .BindInputs({x, state})
      .BindOutput(state);
  (*graph->CreateOperation<ops::Relu>()).BindInput(state).BindOutput(y);
  Write<float>(x, {1, 1});
  ASSERT_TRUE(graph->Run());
  InferredGraph inferred(graph);
  ASSERT_NE(inferred[state], nullptr);
  EXPECT_THAT(inferred.Read(state), ElementsAre(11, 21));
  inferred.Write(x, {1, 2});
  inferred.Run();
  inferred.Run();
  EXPECT_THAT(inferred.Read(state), ElementsAre(13, 25));
  EXPECT_THAT(Read(state), ElementsAre(11, 21)) << "the source's own";
}

TEST(LayoutInference, OfAVariableAloneWorks) {
  auto graph = HostContext()->CreateGraph();
  auto state = graph->CreateTensor(Floats({2, 3}, vx::VARIABLE));
  auto y = graph->CreateTensor(Floats({2, 3}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Relu>()).BindInput(state).BindOutput(y);
  InferredGraph inferred(graph);
  inferred.Write(state, {1, -2, 3, -4, 5, -6});
  inferred.Run();
  EXPECT_THAT(inferred.Read(y), ElementsAre(1, 0, 3, 0, 5, 0));
}

TEST(LayoutInference, PermutesAConstantForEachReaderInItsOrder) {
  auto graph = HostContext()->CreateGraph();
  const std::vector<float> values = Ramp(12);
  auto shared =
      graph->CreateTensor(Floats({3, 2, 2, 1}, vx::CONSTANT), values.data());
  auto a = graph->CreateTensor(Floats({2, 2, 3, 1}, vx::INPUT));
  auto b = graph->CreateTensor(Floats({3, 2, 2, 1}, vx::INPUT));
  auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  auto y = graph->CreateTensor(Floats({2, 2, 3, 1}, vx::OUTPUT));
  auto z = graph->CreateTensor(Floats({3, 2, 2, 1}, vx::OUTPUT));
  // Were the sum in the order of a, one Transpose less would do.
  (*graph->CreateOperation<ops::Add>()).BindInputs({a, shared}).BindOutput(sum);
  (*graph->CreateOperation<ops::Transpose>(kCwhn)).BindInput(sum).BindOutput(y);
  (*graph->CreateOperation<ops::Add>()).BindInputs({b, shared}).BindOutput(z);
  InferredGraph inferred(graph, {{a, Pv(kCwhn)}});
  EXPECT_EQ(inferred.transposes(), 0);
  inferred.Write(a, Permuted(Ramp(12, 2), {3, 2, 2, 1}, kCwhn));
  inferred.Write(b, Ramp(12, 3));
  inferred.Run();
  std::vector<float> of_a, of_b;
  for (size_t i = 0; i < 12; ++i) {
    of_a.push_back(Ramp(12, 2)[i] + values[i]);
    of_b.push_back(Ramp(12, 3)[i] + values[i]);
  }
  EXPECT_EQ(inferred.Read(y), Permuted(of_a, {3, 2, 2, 1}, kCwhn));
  EXPECT_EQ(inferred.Read(z), of_b);
}

TEST(LayoutInference, CarriesTheClientsMemoryOver) {
  alignas(64) float in[4] = {1, -2, 3, -4};
  alignas(64) float out[4] = {};
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateIOTensor(Floats({4}, vx::INPUT), in);
  auto y = graph->CreateIOTensor(Floats({4}, vx::OUTPUT), out);
  (*graph->CreateOperation<ops::Relu>()).BindInput(x).BindOutput(y);
  InferredGraph inferred(graph);
  EXPECT_EQ(inferred[x]->map(), in);
  inferred.Run();
  EXPECT_THAT(out, ElementsAre(1, 0, 3, 0));
}

TEST(LayoutInference, CarriesTheContentOfInputsOver) {
  ReluGraph source({4});
  Write<float>(source.input, {1, -2, 3, -4});
  InferredGraph inferred(source.graph);
  EXPECT_NE(inferred[source.input]->map(), source.input->map());
  inferred.Run();
  EXPECT_THAT(inferred.Read(source.output), ElementsAre(1, 0, 3, 0));
}

TEST(LayoutInference, InheritsTheCompileOptions) {
  vx::CompileOption options;
  options.setRelaxMode(true);
  ReluGraph source({4}, HostContext()->CreateGraph(options));
  InferredGraph inferred(source.graph);
  EXPECT_TRUE(vx::CoreOf(&inferred.graph())->options.isRelaxMode());
  source.graph->SetCompileOption(vx::CompileOption());
  InferredGraph again(source.graph);
  EXPECT_FALSE(vx::CoreOf(&again.graph())->options.isRelaxMode());
}

TEST(LayoutInference, OfItsOwnResultChangesNothing) {
  ConvGraph source(DataLayout::CWHN, DataLayout::IcWHOc, kToIcWhOc);
  InferredGraph once(source.graph);
  InferredGraph twice(once.shared());
  EXPECT_EQ(twice.graph().OpVector().size(), once.graph().OpVector().size());
  const TensorPtr x = twice[once[source.x]];
  Write(x, Permuted(Ramp(72), kIn, kToCwhn));
  twice.Run();
  EXPECT_EQ(Read(twice[once[source.y]]), Permuted(DirectConv(), kOut, kToCwhn));
}

TEST(LayoutInference, OfACompiledGraphWorks) {
  ConvGraph source(DataLayout::WHCN, DataLayout::IcWHOc, kToIcWhOc);
  // As it stands the weights do not fit: three input channels, not two.
  EXPECT_FALSE(source.graph->Compile());
  auto result = HostContext();
  const auto inferred = transform::LayoutInference(source.graph, result);
  Write(inferred.second.at(source.x), Ramp(72));
  ASSERT_TRUE(inferred.first->Run()) << vx::LastError();
  EXPECT_EQ(Read(inferred.second.at(source.y)), DirectConv());
}

TEST(LayoutInference, OfAnEmptyGraphIsEmpty) {
  auto graph = HostContext()->CreateGraph();
  const InferredGraph inferred(graph);
  EXPECT_TRUE(CompileFailsWith(inferred.graph(), "is empty"));
}

TEST(LayoutInference, OutlivesItsSourceAndContexts) {
  std::shared_ptr<vx::Graph> graph;
  TensorPtr y;
  {
    ConvGraph source(DataLayout::CWHN);
    Write(source.x, Permuted(Ramp(72), kIn, kToCwhn));
    auto context = HostContext();
    auto result = transform::LayoutInference(source.graph, context);
    graph = result.first;
    y = result.second.at(source.y);
  }
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Permuted(DirectConv(), kOut, kToCwhn));
}

}  // namespace
}  // namespace tim::testing
