// What the networks compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "tests/support/long_tests.h"
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

// Together they have every kind of layer that the catalog has.  In short runs
// those are left out whose kinds others have, or blocked_networks_test, which
// has blocks of ShuffleNet-v2 and MobileNet-v3-small.
std::vector<CatalogEntry> Networks() {
  std::vector<CatalogEntry> networks = {
      {"mobilenet_v2", MobilenetV2},
      {"inception_v1", InceptionV1},
      {"inception_v2", InceptionV2},
      {"yolo_head", YoloHead},
      {"feature_pyramid", FeaturePyramid},
      {"unet", Unet},
      {"lstm", [](uint32_t) { return Lstm(); }},
      {"gru", [](uint32_t) { return Gru(); }},
      {"perceptron", [](uint32_t) { return Perceptron(); }},
      {"transformer_encoder", [](uint32_t) { return TransformerEncoder(); }}};
  if (testing::RunsLongTests()) {
    const CatalogEntry more[] = {{"squeezenet1_1", Squeezenet11},
                                 {"mobilenet_v3_small", MobilenetV3Small},
                                 {"densenet121", Densenet121},
                                 {"shufflenet_v2", ShufflenetV2}};
    networks.insert(networks.end(), std::begin(more), std::end(more));
  }
  return networks;
}

INSTANTIATE_TEST_SUITE_P(Catalog, NetworkRuns, ::testing::ValuesIn(Networks()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::bench
