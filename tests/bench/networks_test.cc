// The networks are those of the literature, and compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/networks/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::bench {
namespace {

using testing::ContextOn;
using testing::HostContext;
using testing::Read;

double Flops(const Network& network) {
  double flops = 0;
  for (const Layer& layer : network.layers) {
    flops += WorkOf(network, layer).flops;
  }
  return flops;
}

// Torchvision's counts less one number per channel of a batch normalisation,
// whose other one is the bias here: 25,557,032 - 26,560 and 3,504,872 - 17,056.
TEST(Networks, HaveTheKnownNumbersOfParameters) {
  EXPECT_EQ(ParameterCount(Resnet50(224)), 25530472);
  EXPECT_EQ(ParameterCount(MobilenetV2(224)), 3487816);
  EXPECT_EQ(ParameterCount(Squeezenet11(224)), 1235496);
  EXPECT_EQ(ParameterCount(Vgg16(224)), 138357544);
  EXPECT_EQ(ParameterCount(Perceptron()), 2 * (1024 * 1024 + 1024));
}

// 4.09, 0.30, 0.35 and 15.47 G multiply-adds in torchvision's tables.
TEST(Networks, HaveTheKnownAmountsOfWork) {
  EXPECT_NEAR(1e-9 * Flops(Resnet50(224)), 2 * 4.09, 0.01);
  EXPECT_NEAR(1e-9 * Flops(MobilenetV2(224)), 2 * 0.30, 0.01);
  EXPECT_NEAR(1e-9 * Flops(Squeezenet11(224)), 2 * 0.35, 0.01);
  EXPECT_NEAR(1e-9 * Flops(Vgg16(224)), 2 * 15.47, 0.01);
  EXPECT_EQ(Flops(Perceptron()), 2.0 * 2 * 8 * 1024 * 1024);
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

class NetworkGraphs : public ::testing::TestWithParam<const char*> {};

TEST_P(NetworkGraphs, CompileInfersTheShapesDescribed) {
  const auto made = MakeNetwork(GetParam(), 64);
  ASSERT_OK(made);
  const Network& network = *made;
  const NetworkGraph built = GraphOfNetwork(*HostContext(), network);
  EXPECT_EQ(built.graph->OpVector().size(), network.layers.size() - 1);
  ASSERT_TRUE(built.graph->Compile()) << vx::LastError();
  for (size_t i = 0; i < network.layers.size(); ++i) {
    EXPECT_EQ(built.results[i]->GetShape(), network.layers[i].shape)
        << "layer " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, NetworkGraphs,
                         ::testing::Values("resnet50", "mobilenet_v2",
                                           "squeezenet1_1", "vgg16",
                                           "perceptron", "one_relu"),
                         [](const auto& info) { return info.param; });

// Runs with an input that differs from stream to stream.
std::vector<float> Output(vx::Context& context, const Network& network,
                          uint64_t stream) {
  const NetworkGraph built = GraphOfNetwork(context, network);
  std::vector<float> input(Elements(network.layers[0].shape));
  FillValues(stream, 1.0f, input);
  testing::Write(built.results.front(), input);
  EXPECT_TRUE(built.graph->Run()) << vx::LastError();
  return Read(built.results.back());
}

TEST(Networks, GiveOnOpenClWhatTheHostGives) {
  const auto opencl = ContextOn("opencl");
  if (opencl == nullptr) GTEST_SKIP() << vx::LastError();
  for (const Network& network :
       {Squeezenet11(32), MobilenetV2(32), Perceptron()}) {
    for (const uint64_t stream : {1000, 1001}) {
      const auto expected = Output(*HostContext(), network, stream);
      const auto found = Output(*opencl, network, stream);
      ASSERT_EQ(found.size(), expected.size());
      float greatest = 0;
      for (const float value : expected) {
        greatest = std::max(greatest, std::fabs(value));
      }
      EXPECT_GT(greatest, 0.1f) << network.name << ": the values vanish";
      EXPECT_LT(greatest, 100.0f) << network.name << ": the values explode";
      EXPECT_THAT(found, ::testing::Pointwise(
                             ::testing::FloatNear(1e-4f * greatest), expected))
          << network.name;
    }
  }
}

}  // namespace
}  // namespace tim::bench
