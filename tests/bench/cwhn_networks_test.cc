// Networks as clients of channels-last frameworks build them: every image is
// [C, W, H, N], operators say so, and LayoutInference() makes of them what the
// networks are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/layer_operations.h"
#include "bench/networks/values.h"
#include "tests/support/vx/inferred_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::bench {
namespace {

using testing::HostContext;
using testing::InferredGraph;
using testing::Permuted;
using testing::TensorPtr;
using vx::DataLayout;
using Perm = std::vector<uint32_t>;

const Perm kToCwhn = {2, 0, 1, 3};
const Perm kToIcWhOc = {2, 0, 1, 3};

Shape Cwhn(const Shape& shape) {
  return shape.size() == 4 ? Permuted(shape, kToCwhn) : shape;
}

// As GraphOfNetwork() does, in the other order.
class CwhnBuilder {
 public:
  CwhnBuilder(vx::Context& context, const Network& network)
      : network_(network) {
    made_.graph = context.CreateGraph();
  }

  NetworkGraph Build() {
    for (const Layer& layer : network_.layers) Add(layer);
    return std::move(made_);
  }

 private:
  void Add(const Layer& layer) {
    made_.results.push_back(Result(layer));
    if (layer.kind == LayerKind::kPart) {
      operations_.push_back(operations_[layer.inputs[0]]);
      operations_.back()->BindOutput(made_.results.back());
      return;
    }
    operations_.push_back(MakeOperation(*made_.graph, network_, layer));
    if (operations_.back() == nullptr) return;
    vx::Operation& operation = *operations_.back();
    const bool of_images = network_.layers[layer.inputs[0]].shape.size() == 4;
    if (of_images) SayLayouts(layer, operation);
    for (const int input : layer.inputs) {
      operation.BindInput(made_.results[input]);
    }
    for (size_t i = 0; i < layer.parameters.size(); ++i) {
      const bool kernel = layer.kind == LayerKind::kConv2d && i == 0;
      operation.BindInput(
          Constant(layer.parameters[i], kernel ? kToIcWhOc : Perm{}));
    }
    operation.BindOutput(made_.results.back());
  }

  TensorPtr Result(const Layer& layer) {
    if (layer.kind == LayerKind::kConstant) {
      return Constant(layer.parameters[0], kToCwhn);
    }
    vx::TensorSpec spec(vx::DataType::FLOAT32, {}, vx::TRANSIENT);
    if (layer.kind == LayerKind::kInput) {
      spec.SetShape(Cwhn(layer.shape)).SetAttribute(vx::INPUT);
    } else if (&layer == &network_.layers.back()) {
      spec.SetShape(Cwhn(layer.shape)).SetAttribute(vx::OUTPUT);
    }
    return made_.graph->CreateTensor(spec);
  }

  TensorPtr Constant(const Parameter& parameter, const Perm& order) {
    std::vector<float> values(static_cast<size_t>(Elements(parameter.shape)));
    FillValues(parameter.stream, parameter.bound, values);
    for (float& value : values) value += parameter.center;
    vx::TensorSpec spec(vx::DataType::FLOAT32, parameter.shape, vx::CONSTANT);
    if (parameter.shape.size() == order.size()) {
      values = Permuted(values, parameter.shape, order);
      spec.SetShape(Permuted(parameter.shape, order));
    }
    return made_.graph->CreateTensor(spec, values.data());
  }

  static void SayLayouts(const Layer& layer, vx::Operation& operation) {
    ir::AttributeMap& attributes = operation.impl()->attributes;
    const auto say = [&](const char* name, DataLayout layout) {
      attributes.Set(name, static_cast<int64_t>(layout));
    };
    const auto move_axis = [&](const char* name) {
      const auto at =
          std::find(kToCwhn.begin(), kToCwhn.end(), attributes.Int(name));
      attributes.Set(name, int64_t{at - kToCwhn.begin()});
    };
    switch (layer.kind) {
      case LayerKind::kConv2d:
        say("kernel_layout", DataLayout::IcWHOc);
        [[fallthrough]];
      case LayerKind::kDepthwiseConv2d:
      case LayerKind::kDeConv2d:
      case LayerKind::kBatchNorm:
        return say("input_layout", DataLayout::CWHN);
      case LayerKind::kMaxPool:
      case LayerKind::kAveragePool:
      case LayerKind::kGlobalAveragePool:
      case LayerKind::kResizeNearest:
      case LayerKind::kResizeBilinear:
        return say("layout", DataLayout::CWHN);
      case LayerKind::kConcat:
      case LayerKind::kSplit:
      case LayerKind::kLocalResponseNormalization:
        return move_axis("axis");
      case LayerKind::kShuffleChannel:
        return move_axis("index_axis");
      default:
        return;
    }
  }

  const Network& network_;
  NetworkGraph made_;
  std::vector<std::shared_ptr<vx::Operation>> operations_;
};

struct CwhnCase {
  CatalogEntry network;
  int transposes = 1;  ///< That of the image, and of a result that is one.
};

class CwhnNetworks : public ::testing::TestWithParam<CwhnCase> {};

TEST_P(CwhnNetworks, ComputeTheSameWithFewTransposes) {
  const Network network = GetParam().network.make(32);
  const Layer& first = network.layers.front();
  const Layer& last = network.layers.back();
  const auto context = HostContext();
  std::vector<float> image(static_cast<size_t>(Elements(first.shape)));
  FillValues(1000, 1.0f, image);

  const NetworkGraph direct = GraphOfNetwork(*context, network);
  testing::Write(direct.results.front(), image);
  ASSERT_TRUE(direct.graph->Run()) << vx::LastError();
  std::vector<float> expected = testing::Read(direct.results.back());
  if (last.shape.size() == 4) {
    expected = Permuted(expected, last.shape, kToCwhn);
  }

  const NetworkGraph cwhn = CwhnBuilder(*context, network).Build();
  InferredGraph inferred(cwhn.graph);
  EXPECT_EQ(inferred.transposes(), GetParam().transposes);
  inferred.Write(cwhn.results.front(), Permuted(image, first.shape, kToCwhn));
  inferred.Run();
  float greatest = 0;
  for (const float value : expected) {
    greatest = std::max(greatest, std::fabs(value));
  }
  EXPECT_THAT(
      inferred.Read(cwhn.results.back()),
      ::testing::Pointwise(::testing::FloatNear(1e-5f * greatest), expected));
}

INSTANTIATE_TEST_SUITE_P(
    Catalog, CwhnNetworks,
    ::testing::Values(CwhnCase{{"resnet50", Resnet50}},
                      CwhnCase{{"mobilenet_v2", MobilenetV2}},
                      CwhnCase{{"mobilenet_v3_small", MobilenetV3Small}},
                      CwhnCase{{"squeezenet1_1", Squeezenet11}},
                      CwhnCase{{"vgg16", Vgg16}},
                      CwhnCase{{"densenet121", Densenet121}},
                      CwhnCase{{"inception_v1", InceptionV1}},
                      CwhnCase{{"inception_v2", InceptionV2}},
                      CwhnCase{{"shufflenet_v2", ShufflenetV2}},
                      CwhnCase{{"feature_pyramid", FeaturePyramid}, 2},
                      CwhnCase{{"unet", Unet}, 2}),
    [](const auto& info) { return std::string(info.param.network.name); });

// Of an image as large as usual: the only one reads the input.
TEST(CwhnMobileNetV2, HasOneTransposeAtItsInput) {
  const auto context = HostContext();
  const Network network = MobilenetV2(kImageSize);
  const NetworkGraph cwhn = CwhnBuilder(*context, network).Build();
  InferredGraph inferred(cwhn.graph);
  EXPECT_EQ(inferred.transposes(), 1);
  const auto readers =
      inferred.graph().GetConsumersOp(inferred[cwhn.results.front()]);
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_STREQ(readers[0]->Name(), "Transpose");
}

// Without layout arguments the other networks are what they were.
class NativeNetworks : public ::testing::TestWithParam<CatalogEntry> {};

TEST_P(NativeNetworks, ComputeTheSame) {
  const Network network = GetParam().make(32);
  const auto context = HostContext();
  const NetworkGraph direct = GraphOfNetwork(*context, network);
  std::vector<float> input(
      static_cast<size_t>(Elements(network.layers[0].shape)));
  FillValues(1000, 1.0f, input);
  testing::Write(direct.results.front(), input);
  ASSERT_TRUE(direct.graph->Run()) << vx::LastError();
  const auto expected = testing::Read(direct.results.back());
  InferredGraph inferred(direct.graph);
  EXPECT_LE(inferred.transposes(), testing::Count(*direct.graph, "Transpose"));
  inferred.Write(direct.results.front(), input);
  inferred.Run();
  EXPECT_THAT(inferred.Read(direct.results.back()),
              ::testing::Pointwise(::testing::FloatNear(1e-4f), expected));
}

INSTANTIATE_TEST_SUITE_P(
    Catalog, NativeNetworks,
    ::testing::Values(
        CatalogEntry{"yolo_head", YoloHead},
        CatalogEntry{"transformer_encoder",
                     [](uint32_t) { return TransformerEncoder(); }},
        CatalogEntry{"lstm", [](uint32_t) { return Lstm(); }},
        CatalogEntry{"gru", [](uint32_t) { return Gru(); }},
        CatalogEntry{"perceptron", [](uint32_t) { return Perceptron(); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tim::bench
