// What the networks compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::bench {
namespace {

using testing::ContextOn;
using testing::HostContext;
using testing::Read;

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

class NetworkRuns : public ::testing::TestWithParam<CatalogEntry> {};

TEST_P(NetworkRuns, GiveOnOpenClWhatTheHostGives) {
  const auto opencl = ContextOn("opencl");
  if (opencl == nullptr) GTEST_SKIP() << vx::LastError();
  const Network network = GetParam().make(32);
  std::vector<float> before;
  for (const uint64_t stream : {1000, 1001}) {
    const auto expected = Output(*HostContext(), network, stream);
    const auto found = Output(*opencl, network, stream);
    ASSERT_EQ(found.size(), expected.size());
    const auto [least, most] =
        std::minmax_element(expected.begin(), expected.end());
    const float greatest = std::max(std::fabs(*least), std::fabs(*most));
    EXPECT_GT(greatest, 0.1f) << "the values vanish";
    EXPECT_LT(greatest, 100.0f) << "the values explode";
    EXPECT_GT(*most - *least, 0.1f * greatest) << "the values are alike";
    EXPECT_NE(expected, before) << "the input does not matter";
    EXPECT_THAT(found, ::testing::Pointwise(
                           ::testing::FloatNear(1e-4f * greatest), expected));
    before = expected;
  }
}

// Together they have every kind of layer that the catalog has.
INSTANTIATE_TEST_SUITE_P(
    Catalog, NetworkRuns,
    ::testing::Values(
        CatalogEntry{"squeezenet1_1", Squeezenet11},
        CatalogEntry{"mobilenet_v2", MobilenetV2},
        CatalogEntry{"mobilenet_v3_small", MobilenetV3Small},
        CatalogEntry{"densenet121", Densenet121},
        CatalogEntry{"inception_v1", InceptionV1},
        CatalogEntry{"inception_v2", InceptionV2},
        CatalogEntry{"shufflenet_v2", ShufflenetV2},
        CatalogEntry{"yolo_head", YoloHead},
        CatalogEntry{"feature_pyramid", FeaturePyramid},
        CatalogEntry{"unet", Unet},
        CatalogEntry{"lstm", [](uint32_t) { return Lstm(); }},
        CatalogEntry{"gru", [](uint32_t) { return Gru(); }},
        CatalogEntry{"perceptron", [](uint32_t) { return Perceptron(); }},
        CatalogEntry{"transformer_encoder",
                     [](uint32_t) { return TransformerEncoder(); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::bench
