// VGG-16 (Simonyan and Zisserman 2014, configuration D).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {

Network Vgg16(uint32_t size) {
  struct Stage {
    uint32_t channels = 0;
    int convolutions = 0;
  };
  constexpr Stage kStages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  NetworkWriter net("vgg16");
  int x = net.Input({size, size, 3, 1});
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.convolutions; ++i) {
      x = net.Conv2dRelu(x, stage.channels, {.size = 3, .pad = 1});
    }
    x = net.MaxPool(x, {.size = 2, .stride = 2});
  }
  x = net.Relu(net.FullyConnected(x, 4096, Gain::kRelu));
  x = net.Relu(net.FullyConnected(x, 4096, Gain::kRelu));
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
