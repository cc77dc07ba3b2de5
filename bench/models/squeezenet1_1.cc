// SqueezeNet 1.1 (Iandola et al. 2016, with the authors' later, cheaper plan).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window kPool = {.size = 3, .stride = 2};

// Squeeze to few channels, expand by 1x1 and 3x3 side by side.
int Fire(NetworkWriter& net, int x, uint32_t squeezed, uint32_t expanded) {
  x = net.Conv2dRelu(x, squeezed, {});
  const int one = net.Conv2dRelu(x, expanded, {});
  const int three = net.Conv2dRelu(x, expanded, {.size = 3, .pad = 1});
  return net.Concat({one, three});
}

}  // namespace

Network Squeezenet11(uint32_t size) {
  NetworkWriter net("squeezenet1_1");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2dRelu(x, 64, {.size = 3, .stride = 2});
  x = net.MaxPool(x, kPool);
  x = Fire(net, x, 16, 64);
  x = Fire(net, x, 16, 64);
  x = net.MaxPool(x, kPool);
  x = Fire(net, x, 32, 128);
  x = Fire(net, x, 32, 128);
  x = net.MaxPool(x, kPool);
  x = Fire(net, x, 48, 192);
  x = Fire(net, x, 48, 192);
  x = Fire(net, x, 64, 256);
  x = Fire(net, x, 64, 256);
  x = net.Conv2dRelu(x, 1000, {});
  net.GlobalAveragePool(x);
  return net.Finish();
}

}  // namespace tim::bench
