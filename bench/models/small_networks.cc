#include "base/str_cat.h"
#include "bench/models/catalog.h"
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

Network Residuals(int nodes) {
  NetworkWriter net(StrCat("residuals_", nodes));
  int x = net.Input({8, 8, 16, 1});
  for (int i = 0; i < nodes; i += 4) {
    const int y = net.Conv2dRelu(x, 16, {});
    x = net.Add(net.Conv2d(y, 16, {}, Gain::kResidual), x);
  }
  return net.Finish();
}

}  // namespace tim::bench
