// Inception-v1, GoogLeNet (Szegedy et al. 2014), with local response
// normalisations and with pools that round up, as in Caffe.
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window k5x5 = {.size = 5, .pad = 2};
constexpr Window k3x3 = {.size = 3, .pad = 1};
constexpr Window kHalf = {.size = 3, .stride = 2, .rounding = Rounding::kCeil};

// Channels of the branches; `_before` of the 1x1 convolution in front.
struct Module {
  uint32_t one = 0;
  uint32_t three_before = 0;
  uint32_t three = 0;
  uint32_t five_before = 0;
  uint32_t five = 0;
  uint32_t pool = 0;
};

int Inception(NetworkWriter& net, int x, const Module& module) {
  const int one = net.Conv2dRelu(x, module.one, {});
  int three = net.Conv2dRelu(x, module.three_before, {});
  three = net.Conv2dRelu(three, module.three, k3x3);
  int five = net.Conv2dRelu(x, module.five_before, {});
  five = net.Conv2dRelu(five, module.five, k5x5);
  const int pool = net.Conv2dRelu(net.MaxPool(x, k3x3), module.pool, {});
  return net.Concat({one, three, five, pool});
}

int Normalize(NetworkWriter& net, int x) {
  constexpr uint32_t kChannels = 5;
  return net.LocalResponseNormalization(x, kChannels, 1e-4f / kChannels, 0.75f);
}

// Table 1 of the paper, by stage.
constexpr Module kStage3[] = {{64, 96, 128, 16, 32, 32},
                              {128, 128, 192, 32, 96, 64}};
constexpr Module kStage4[] = {{192, 96, 208, 16, 48, 64},
                              {160, 112, 224, 24, 64, 64},
                              {128, 128, 256, 24, 64, 64},
                              {112, 144, 288, 32, 64, 64},
                              {256, 160, 320, 32, 128, 128}};
constexpr Module kStage5[] = {{256, 160, 320, 32, 128, 128},
                              {384, 192, 384, 48, 128, 128}};

}  // namespace

Network InceptionV1(uint32_t size) {
  NetworkWriter net("inception_v1");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2dRelu(x, 64, {.size = 7, .stride = 2, .pad = 3});
  x = Normalize(net, net.MaxPool(x, kHalf));
  x = net.Conv2dRelu(x, 64, {});
  x = Normalize(net, net.Conv2dRelu(x, 192, k3x3));
  x = net.MaxPool(x, kHalf);
  for (const Module& module : kStage3) x = Inception(net, x, module);
  x = net.MaxPool(x, kHalf);
  for (const Module& module : kStage4) x = Inception(net, x, module);
  x = net.MaxPool(x, kHalf);
  for (const Module& module : kStage5) x = Inception(net, x, module);
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
