#include "bench/operators/cases.h"

#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window k3x3 = {.size = 3, .pad = 1};

OperatorCase Conv3x3() {
  NetworkWriter net("conv2d_3x3_64_56");
  net.Conv2dRelu(net.Input({56, 56, 64, 1}), 64, k3x3);
  return {.name = "conv2d_3x3_64_56", .network = net.Finish(), .repeats = 16};
}

OperatorCase Resnet50Convolutions() {
  return {.name = "conv2d_resnet50_float32", .network = Resnet50(kImageSize)};
}

OperatorCase Matmul() {
  NetworkWriter net("matmul_768x1024x768");
  const int a = net.Input({1024, 768});
  net.Matmul(a, net.Input({768, 1024}));
  return {.name = "matmul_768x1024x768",
          .network = net.Finish(),
          .kind = LayerKind::kMatmul,
          .repeats = 4};
}

OperatorCase FullyConnected() {
  NetworkWriter net("fully_connected_1024_1000_batch1");
  net.FullyConnected(net.Input({1024, 1}), 1000, Gain::kLinear);
  return {.name = "fully_connected_1024_1000_batch1",
          .network = net.Finish(),
          .kind = LayerKind::kFullyConnected,
          .repeats = 64};
}

OperatorCase Depthwise() {
  NetworkWriter net("conv2d_depthwise_3x3_32_112");
  net.DepthwiseConv2d(net.Input({112, 112, 32, 1}), k3x3, Gain::kLinear);
  return {.name = "conv2d_depthwise_3x3_32_112",
          .network = net.Finish(),
          .kind = LayerKind::kDepthwiseConv2d,
          .repeats = 64};
}

OperatorCase MaxPool() {
  NetworkWriter net("max_pool_3x3_64_112");
  const int x = net.Input({224, 224, 3, 1});
  const int y =
      net.Conv2d(x, 64, {.size = 7, .stride = 2, .pad = 3}, Gain::kLinear);
  net.MaxPool(y, {.size = 3, .stride = 2, .pad = 1});
  return {.name = "max_pool_3x3_64_112",
          .network = net.Finish(),
          .kind = LayerKind::kMaxPool,
          .repeats = 64};
}

}  // namespace

std::vector<OperatorCase> OperatorCases() {
  return {Conv3x3(),   Resnet50Convolutions(),
          Matmul(),    FullyConnected(),
          Depthwise(), MaxPool()};
}

Work WorkOf(const OperatorCase& operator_case) {
  Work sum;
  for (const Layer& layer : operator_case.network.layers) {
    if (layer.kind != operator_case.kind) continue;
    const Work work = WorkOf(operator_case.network, layer);
    sum.flops += work.flops;
    sum.bytes += work.bytes;
  }
  return sum;
}

}  // namespace tim::bench
