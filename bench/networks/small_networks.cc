#include "bench/networks/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {

Network Perceptron() {
  NetworkWriter net("perceptron");
  int x = net.Input({1024, 8});
  x = net.Relu(net.FullyConnected(x, 1024, Gain::kRelu));
  net.FullyConnected(x, 1024, Gain::kLinear);
  return net.Finish();
}

Network OneRelu() {
  NetworkWriter net("one_relu");
  net.Relu(net.Input({16}));
  return net.Finish();
}

}  // namespace tim::bench
