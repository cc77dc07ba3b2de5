// ShuffleNet-v2 1.0 (Ma et al. 2018).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window k3x3 = {.size = 3, .pad = 1};
constexpr Window kHalf = {.size = 3, .stride = 2, .pad = 1};

// 1x1, depthwise 3x3 without an activation behind it, 1x1.
int Branch(NetworkWriter& net, int x, uint32_t channels, const Window& window) {
  x = net.Conv2dRelu(x, channels, {});
  x = net.DepthwiseConv2d(x, window, Gain::kLinear);
  return net.Conv2dRelu(x, channels, {});
}

int Shuffled(NetworkWriter& net, int left, int right) {
  return net.ShuffleChannel(net.Concat({left, right}), 2);
}

// One half of the channels goes through the branch.
int Unit(NetworkWriter& net, int x) {
  const uint32_t half = net.ShapeOf(x)[2] / 2;
  const std::vector<int> halves = net.Split(x, {half, half});
  return Shuffled(net, halves[0], Branch(net, halves[1], half, k3x3));
}

// Both branches read all channels.
int HalvingUnit(NetworkWriter& net, int x, uint32_t channels) {
  const int left = net.DepthwiseConv2d(x, kHalf, Gain::kLinear);
  return Shuffled(net, net.Conv2dRelu(left, channels / 2, {}),
                  Branch(net, x, channels / 2, kHalf));
}

struct Stage {
  uint32_t channels = 0;
  int units = 0;
};

// Table 5 of the paper.
constexpr Stage kStages[] = {{116, 4}, {232, 8}, {464, 4}};

}  // namespace

Network ShufflenetV2(uint32_t size) {
  NetworkWriter net("shufflenet_v2");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2dRelu(x, 24, kHalf);
  x = net.MaxPool(x, kHalf);
  for (const Stage& stage : kStages) {
    x = HalvingUnit(net, x, stage.channels);
    for (int i = 1; i < stage.units; ++i) x = Unit(net, x);
  }
  x = net.Conv2dRelu(x, 1024, {});
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
