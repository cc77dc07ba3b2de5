// MobileNet-v3 small 1.0 (Howard et al. 2019).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

enum class Gate : uint8_t { kNone, kSqueezeAndExcite };
enum class Activation : uint8_t { kRelu, kHardSwish };

// A row of Table 2 of the paper.
struct Block {
  uint32_t kernel = 3;
  uint32_t expanded = 0;
  uint32_t channels = 0;
  Gate gate = Gate::kNone;
  Activation activation = Activation::kRelu;
  uint32_t stride = 1;
};

constexpr Block kBlocks[] = {
    {3, 16, 16, Gate::kSqueezeAndExcite, Activation::kRelu, 2},
    {3, 72, 24, Gate::kNone, Activation::kRelu, 2},
    {3, 88, 24, Gate::kNone, Activation::kRelu, 1},
    {5, 96, 40, Gate::kSqueezeAndExcite, Activation::kHardSwish, 2},
    {5, 240, 40, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1},
    {5, 240, 40, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1},
    {5, 120, 48, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1},
    {5, 144, 48, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1},
    {5, 288, 96, Gate::kSqueezeAndExcite, Activation::kHardSwish, 2},
    {5, 576, 96, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1},
    {5, 576, 96, Gate::kSqueezeAndExcite, Activation::kHardSwish, 1}};

Gain GainOf(Activation activation) {
  return activation == Activation::kRelu ? Gain::kRelu : Gain::kHalved;
}

int Activate(NetworkWriter& net, int x, Activation activation) {
  return activation == Activation::kRelu ? net.Relu(x) : net.HardSwish(x);
}

// A quarter of the channels, as the next multiple of 8.
uint32_t Squeezed(uint32_t channels) { return (channels / 4 + 4) / 8 * 8; }

// Every channel times a number that follows from the means of all.
int SqueezeAndExcite(NetworkWriter& net, int x) {
  const uint32_t channels = net.ShapeOf(x)[2];
  int gate = net.GlobalAveragePool(x);
  gate = net.Conv2dRelu(gate, Squeezed(channels), {});
  gate = net.HardSigmoid(net.Conv2d(gate, channels, {}, Gain::kLinear));
  return net.Multiply(x, gate);
}

int InvertedResidual(NetworkWriter& net, int x, const Block& block) {
  const uint32_t inputs = net.ShapeOf(x)[2];
  const Gain gain = GainOf(block.activation);
  int branch = x;
  if (block.expanded != inputs) {
    branch = net.Conv2d(x, block.expanded, {}, gain);
    branch = Activate(net, branch, block.activation);
  }
  branch = net.DepthwiseConv2d(
      branch,
      {.size = block.kernel, .stride = block.stride, .pad = block.kernel / 2},
      gain);
  branch = Activate(net, branch, block.activation);
  const bool gated = block.gate == Gate::kSqueezeAndExcite;
  if (gated) branch = SqueezeAndExcite(net, branch);
  const bool residual = block.stride == 1 && inputs == block.channels;
  branch = net.Conv2d(branch, block.channels, {},
                      residual ? Gain::kResidual
                      : gated  ? Gain::kHalved
                               : Gain::kLinear);
  return residual ? net.Add(x, branch) : branch;
}

}  // namespace

Network MobilenetV3Small(uint32_t size) {
  NetworkWriter net("mobilenet_v3_small");
  int x = net.Input({size, size, 3, 1});
  x = net.Conv2d(x, 16, {.size = 3, .stride = 2, .pad = 1}, Gain::kHalved);
  x = net.HardSwish(x);
  for (const Block& block : kBlocks) x = InvertedResidual(net, x, block);
  x = net.HardSwish(net.Conv2d(x, 576, {}, Gain::kHalved));
  x = net.GlobalAveragePool(x);
  x = net.HardSwish(net.FullyConnected(x, 1024, Gain::kHalved));
  net.FullyConnected(x, 1000, Gain::kLinear);
  return net.Finish();
}

}  // namespace tim::bench
