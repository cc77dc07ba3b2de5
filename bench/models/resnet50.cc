// ResNet-50 v1.5 (He et al. 2015; the stride moved to the 3x3 convolution).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

// 1x1, 3x3 and 1x1 with four times the channels, added to the shortcut.
int Bottleneck(NetworkWriter& net, int x, uint32_t channels, uint32_t stride) {
  const uint32_t expanded = 4 * channels;
  int branch = net.Conv2dRelu(x, channels, {});
  branch =
      net.Conv2dRelu(branch, channels, {.size = 3, .stride = stride, .pad = 1});
  branch = net.Conv2d(branch, expanded, {}, Gain::kResidual);
  const bool same = net.ShapeOf(x) == net.ShapeOf(branch);
  const int shortcut =
      same ? x : net.Conv2d(x, expanded, {.stride = stride}, Gain::kLinear);
  return net.Relu(net.Add(branch, shortcut));
}

int Stage(NetworkWriter& net, int x, uint32_t channels, uint32_t stride,
          int blocks) {
  x = Bottleneck(net, x, channels, stride);
  for (int i = 1; i < blocks; ++i) x = Bottleneck(net, x, channels, 1);
  return x;
}

}  // namespace

Network Resnet50(uint32_t size) {
  NetworkWriter net("resnet50");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2dRelu(x, 64, {.size = 7, .stride = 2, .pad = 3});
  x = net.MaxPool(x, {.size = 3, .stride = 2, .pad = 1});
  x = Stage(net, x, 64, 1, 3);
  x = Stage(net, x, 128, 2, 4);
  x = Stage(net, x, 256, 2, 6);
  x = Stage(net, x, 512, 2, 3);
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
