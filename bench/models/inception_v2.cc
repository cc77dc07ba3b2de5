// Inception-v2 (Ioffe and Szegedy 2015, "Batch Normalization"), with batch
// normalisations of their own; channels and pools are those of the published
// Caffe model.
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window k3x3 = {.size = 3, .pad = 1};
constexpr Window kHalf = {.size = 3, .stride = 2, .rounding = Rounding::kCeil};

// Channels of the branches; `_before` of the 1x1 convolution in front, `twice`
// of the two 3x3 convolutions in a row.
struct Module {
  uint32_t one = 0;
  uint32_t three_before = 0;
  uint32_t three = 0;
  uint32_t twice_before = 0;
  uint32_t twice = 0;
  uint32_t pool = 0;
};

int ConvRelu(NetworkWriter& net, int x, uint32_t channels,
             const Window& window) {
  x = net.Conv2d(x, channels, window, Gain::kRelu, Bias::kNone);
  return net.Relu(net.BatchNorm(x));
}

int Three(NetworkWriter& net, int x, const Module& module, uint32_t stride) {
  x = ConvRelu(net, x, module.three_before, {});
  return ConvRelu(net, x, module.three,
                  {.size = 3, .stride = stride, .pad = 1});
}

int Twice(NetworkWriter& net, int x, const Module& module, uint32_t stride) {
  x = ConvRelu(net, x, module.twice_before, {});
  x = ConvRelu(net, x, module.twice, k3x3);
  return ConvRelu(net, x, module.twice,
                  {.size = 3, .stride = stride, .pad = 1});
}

int Inception(NetworkWriter& net, int x, const Module& module, int pool) {
  const int one = ConvRelu(net, x, module.one, {});
  const int three = Three(net, x, module, 1);
  const int twice = Twice(net, x, module, 1);
  return net.Concat({one, three, twice, ConvRelu(net, pool, module.pool, {})});
}

int WithAveragePool(NetworkWriter& net, int x, const Module& module) {
  return Inception(net, x, module, net.AveragePool(x, k3x3));
}

// Half the extents; there is no branch `one`, and the pool has no convolution.
int Reduction(NetworkWriter& net, int x, const Module& module) {
  const int three = Three(net, x, module, 2);
  const int twice = Twice(net, x, module, 2);
  return net.Concat({three, twice, net.MaxPool(x, kHalf)});
}

constexpr Module kStage3[] = {{64, 64, 64, 64, 96, 32},
                              {64, 64, 96, 64, 96, 64}};
constexpr Module kReduction3 = {0, 128, 160, 64, 96, 0};
constexpr Module kStage4[] = {{224, 64, 96, 96, 128, 128},
                              {192, 96, 128, 96, 128, 128},
                              {160, 128, 160, 128, 160, 128},
                              {96, 128, 192, 160, 192, 128}};
constexpr Module kReduction4 = {0, 128, 192, 192, 256, 0};
constexpr Module kModule5a = {352, 192, 320, 160, 224, 128};
constexpr Module kModule5b = {352, 192, 320, 192, 224, 128};

}  // namespace

Network InceptionV2(uint32_t size) {
  NetworkWriter net("inception_v2");
  int x = net.Input({size, size, 3, 1});
  x = ConvRelu(net, x, 64, {.size = 7, .stride = 2, .pad = 3});
  x = net.MaxPool(x, kHalf);
  x = ConvRelu(net, x, 64, {});
  x = ConvRelu(net, x, 192, k3x3);
  x = net.MaxPool(x, kHalf);
  for (const Module& module : kStage3) x = WithAveragePool(net, x, module);
  x = Reduction(net, x, kReduction3);
  for (const Module& module : kStage4) x = WithAveragePool(net, x, module);
  x = Reduction(net, x, kReduction4);
  x = WithAveragePool(net, x, kModule5a);
  x = Inception(net, x, kModule5b, net.MaxPool(x, k3x3));
  x = net.GlobalAveragePool(x);
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
