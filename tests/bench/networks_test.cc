// The networks are those of the literature, and compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::bench {
namespace {

using testing::HostContext;

double Flops(const Network& network) {
  double flops = 0;
  for (const Layer& layer : network.layers) {
    flops += WorkOf(network, layer).flops;
  }
  return flops;
}

// Counts of torchvision, less one number per channel of a batch normalisation,
// whose other one is the bias here: 25,557,032 - 26,560, 3,504,872 - 17,056,
// 2,278,604 - 8,090 and 2,542,856 - 6,056.
TEST(Networks, HaveTheKnownNumbersOfParameters) {
  EXPECT_EQ(ParameterCount(Resnet50(224)), 25530472);
  EXPECT_EQ(ParameterCount(MobilenetV2(224)), 3487816);
  EXPECT_EQ(ParameterCount(ShufflenetV2(224)), 2270514);
  EXPECT_EQ(ParameterCount(MobilenetV3Small(224)), 2536800);
  EXPECT_EQ(ParameterCount(Squeezenet11(224)), 1235496);
  EXPECT_EQ(ParameterCount(Vgg16(224)), 138357544);
  EXPECT_EQ(ParameterCount(InceptionV1(224)), 6998552);
  EXPECT_EQ(ParameterCount(Perceptron()), 2 * (1024 * 1024 + 1024));
}

// Keras counts means and variances of DenseNet, too; the published Inception-v2
// has 11,295,240 with a bias in each convolution and without these: two numbers
// more and one less for each of 10,016 channels.
TEST(Networks, OfBatchNormalisationsHaveTheirFourParameters) {
  EXPECT_EQ(ParameterCount(Densenet121(224)), 8062504);
  EXPECT_EQ(ParameterCount(InceptionV2(224)), 11295240 + 10016);
}

TEST(Networks, TransformerEncoderHasTheParametersOfItsMatrices) {
  constexpr int64_t kWidth = 256;
  constexpr int64_t kInner = 1024;
  constexpr int64_t kNormalization = 2 * kWidth;
  constexpr int64_t kAttention = 4 * (kWidth * kWidth + kWidth);
  constexpr int64_t kDense = 2 * kWidth * kInner + kInner + kWidth;
  EXPECT_EQ(ParameterCount(TransformerEncoder()),
            (8193 + 128) * kWidth + kNormalization +
                4 * (kAttention + kDense + 2 * kNormalization));
}

// PyTorch's counts, less one of the two biases of LSTM; U-Net's of 31,030,658
// with a quarter of the channels.
TEST(Networks, RecurrentLayersAndUnetHaveTheParametersOfTheirFormulas) {
  EXPECT_EQ(ParameterCount(Lstm()), 526336 - 4 * 256);
  EXPECT_EQ(ParameterCount(Gru()), 394752);
  int64_t count = 0;
  const auto add = [&](int64_t window, int64_t from, int64_t to) {
    count += (window * from + 1) * to;
  };
  for (const int64_t channels : {16, 32, 64, 128, 256}) {
    add(9, channels == 16 ? 3 : channels / 2, channels);
    add(9, channels, channels);
    if (channels == 256) continue;
    add(4, 2 * channels, channels);
    add(9, 2 * channels, channels);
    add(9, channels, channels);
  }
  add(1, 16, 2);
  EXPECT_EQ(ParameterCount(Unet(224)), count);
}

// Multiply-adds in torchvision's tables; those of the Inceptions and of
// MobileNet-v3 and ShuffleNet-v2 in tables of papers.
TEST(Networks, HaveTheKnownAmountsOfWork) {
  EXPECT_NEAR(1e-9 * Flops(Resnet50(224)), 2 * 4.09, 0.01);
  EXPECT_NEAR(1e-9 * Flops(MobilenetV2(224)), 2 * 0.30, 0.01);
  EXPECT_NEAR(1e-9 * Flops(Squeezenet11(224)), 2 * 0.35, 0.01);
  EXPECT_NEAR(1e-9 * Flops(Vgg16(224)), 2 * 15.47, 0.01);
  EXPECT_NEAR(1e-9 * Flops(Densenet121(224)), 2 * 2.83, 0.01);
  EXPECT_NEAR(1e-9 * Flops(InceptionV1(224)), 2 * 1.58, 0.01);
  EXPECT_NEAR(1e-9 * Flops(InceptionV2(224)), 2 * 2.03, 0.01);
  EXPECT_NEAR(1e-9 * Flops(ShufflenetV2(224)), 2 * 0.146, 0.005);
  EXPECT_NEAR(1e-9 * Flops(MobilenetV3Small(224)), 2 * 0.056, 0.005);
  EXPECT_EQ(Flops(Perceptron()), 2.0 * 2 * 8 * 1024 * 1024);
}

TEST(Networks, RecurrentLayersHaveTheWorkOfTheirProducts) {
  constexpr double kProducts = 50 * 8 * 256 * 512.0;
  EXPECT_EQ(Flops(Lstm()), 2 * 4 * kProducts);
  EXPECT_EQ(Flops(Gru()), 2 * 3 * kProducts);
}

// Four projections, two products of heads and two inner matrices per layer.
TEST(Networks, TransformerEncoderHasTheWorkOfItsProducts) {
  constexpr double kRow = 4.0 * 256 * 256 + 2 * 128 * 256 + 2 * 256 * 1024;
  EXPECT_EQ(Flops(TransformerEncoder()), 2 * 4 * 128 * kRow);
}

TEST(Networks, LayersReadEarlierLayersOnly) {
  for (const CatalogEntry& entry : Catalog()) {
    const Network network = entry.make(64);
    EXPECT_EQ(network.name, entry.name);
    for (size_t i = 0; i < network.layers.size(); ++i) {
      for (const int input : network.layers[i].inputs) {
        EXPECT_LT(input, static_cast<int>(i)) << entry.name;
      }
    }
  }
}

TEST(Networks, UnknownNameIsAnErrorThatListsThem) {
  for (const char* name : {"alexnet", "residuals_", "residuals_0",
                           "residuals_8x", "residuals_99999999999"}) {
    EXPECT_ERROR(
        MakeNetwork(name, 224),
        StrCat("no network '", name, "'; there are resnet50 mobilenet_v2"));
  }
}

TEST(Networks, ResidualsHaveAtLeastTheOperationsAskedFor) {
  const auto made = MakeNetwork("residuals_10", 224);
  ASSERT_OK(made);
  EXPECT_EQ(made->name, "residuals_10");
  const NetworkGraph built = GraphOfNetwork(*HostContext(), *made);
  EXPECT_EQ(built.graph->OpVector().size(), 12u);
  EXPECT_TRUE(built.graph->Compile()) << built.graph->ErrorMessage();
}

int64_t Operations(const Network& network) {
  return std::count_if(network.layers.begin(), network.layers.end(),
                       [](const Layer& layer) {
                         return layer.kind != LayerKind::kInput &&
                                layer.kind != LayerKind::kConstant &&
                                layer.kind != LayerKind::kPart;
                       });
}

class NetworkGraphs : public ::testing::TestWithParam<CatalogEntry> {};

TEST_P(NetworkGraphs, CompileInfersTheShapesDescribed) {
  const Network network = GetParam().make(64);
  const NetworkGraph built = GraphOfNetwork(*HostContext(), network);
  EXPECT_EQ(std::ssize(built.graph->OpVector()), Operations(network));
  ASSERT_TRUE(built.graph->Compile()) << vx::LastError();
  for (size_t i = 0; i < network.layers.size(); ++i) {
    EXPECT_EQ(built.results[i]->GetShape(), network.layers[i].shape)
        << "layer " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, NetworkGraphs,
                         ::testing::ValuesIn(Catalog().begin(),
                                             Catalog().end()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::bench
