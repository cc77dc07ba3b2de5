// MobileNet-v2 1.0 (Sandler et al. 2018).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

int ConvRelu6(NetworkWriter& net, int x, uint32_t channels,
              const Window& window) {
  return net.Relu6(net.Conv2d(x, channels, window, Gain::kRelu));
}

// Expand, filter each channel, project; no activation behind the projection.
int InvertedResidual(NetworkWriter& net, int x, uint32_t expansion,
                     uint32_t channels, uint32_t stride) {
  const uint32_t inputs = net.ShapeOf(x)[2];
  int branch = x;
  if (expansion > 1) branch = ConvRelu6(net, x, expansion * inputs, {});
  branch = net.Relu6(net.DepthwiseConv2d(
      branch, {.size = 3, .stride = stride, .pad = 1}, Gain::kRelu));
  const bool residual = stride == 1 && inputs == channels;
  branch = net.Conv2d(branch, channels, {},
                      residual ? Gain::kResidual : Gain::kLinear);
  return residual ? net.Add(x, branch) : branch;
}

struct Stage {
  uint32_t expansion = 6;
  uint32_t channels = 0;
  int blocks = 1;
  uint32_t stride = 1;
};

// Table 2 of the paper.
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                             {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                             {6, 320, 1, 1}};

}  // namespace

Network MobilenetV2(uint32_t size) {
  NetworkWriter net("mobilenet_v2");
  int x = net.Input({size, size, 3, 1});
  x = ConvRelu6(net, x, 32, {.size = 3, .stride = 2, .pad = 1});
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      x = InvertedResidual(net, x, stage.expansion, stage.channels,
                           i == 0 ? stage.stride : 1);
    }
  }
  x = ConvRelu6(net, x, 1280, {});
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
