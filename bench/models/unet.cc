// U-Net (Ronneberger, Fischer, Brox 2015) of a quarter of the channels, with
// padded convolutions: what goes up joins what went down at the same size.
#include <vector>

#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr uint32_t kChannels = 16;  // Doubled at every level.
constexpr int kLevels = 4;
constexpr uint32_t kClasses = 2;
constexpr Window k3x3 = {.size = 3, .pad = 1};
constexpr Window kHalf = {.size = 2, .stride = 2};

int Twice(NetworkWriter& net, int x, uint32_t channels) {
  x = net.Conv2dRelu(x, channels, k3x3);
  return net.Conv2dRelu(x, channels, k3x3);
}

// At twice the size, beside `left`.
int Up(NetworkWriter& net, int x, int left) {
  const uint32_t channels = net.ShapeOf(left)[2];
  x = net.DeConv2d(x, channels, kHalf, Gain::kLinear);
  return Twice(net, net.Concat({left, x}), channels);
}

}  // namespace

Network Unet(uint32_t size) {
  NetworkWriter net("unet");
  int x = net.Input({size, size, 3, 1});
  uint32_t channels = kChannels;
  std::vector<int> left;
  for (int level = 0; level < kLevels; ++level) {
    left.push_back(Twice(net, x, channels));
    x = net.MaxPool(left.back(), kHalf);
    channels *= 2;
  }
  x = Twice(net, x, channels);
  for (; !left.empty(); left.pop_back()) x = Up(net, x, left.back());
  net.Conv2d(x, kClasses, {}, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
