// DenseNet-121 (Huang et al. 2016), with batch normalisations before Relus and
// convolutions, where they cannot be folded.
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr uint32_t kGrowth = 32;

int ReluConv(NetworkWriter& net, int x, uint32_t channels,
             const Window& window) {
  x = net.Relu(net.BatchNorm(x));
  return net.Conv2d(x, channels, window, Gain::kRelu, Bias::kNone);
}

// Every layer reads all before it.
int Block(NetworkWriter& net, int x, int layers) {
  for (int i = 0; i < layers; ++i) {
    const int narrow = ReluConv(net, x, 4 * kGrowth, {});
    const int grown = ReluConv(net, narrow, kGrowth, {.size = 3, .pad = 1});
    x = net.Concat({x, grown});
  }
  return x;
}

}  // namespace

Network Densenet121(uint32_t size) {
  NetworkWriter net("densenet121");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2d(x, 64, {.size = 7, .stride = 2, .pad = 3}, Gain::kRelu,
                 Bias::kNone);
  x = net.Relu(net.BatchNorm(x));
  x = net.MaxPool(x, {.size = 3, .stride = 2, .pad = 1});
  for (const int layers : {6, 12, 24}) {
    x = Block(net, x, layers);
    x = ReluConv(net, x, net.ShapeOf(x)[2] / 2, {});
    x = net.AveragePool(x, {.size = 2, .stride = 2});
  }
  x = Block(net, x, 16);
  x = net.Relu(net.BatchNorm(x));
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
