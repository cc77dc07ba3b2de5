// A small detector with the stem, the neck and the decoding of YOLOv5: patches
// by strided slices, maps that are resized and concatenated, boxes from
// sigmoids.  Grids and anchors are seeded as other constants, in units of the
// image.
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr uint32_t kAnchors = 3;
constexpr uint32_t kClasses = 80;
constexpr uint32_t kNumbers = 5 + kClasses;  // Of a box.

// x * sigmoid(x), which halves small values as HardSwish.
int ConvSwish(NetworkWriter& net, int x, uint32_t channels,
              const Window& window) {
  x = net.Conv2d(x, channels, window, Gain::kHalved);
  return net.Multiply(x, net.Sigmoid(x));
}

// Every patch of 2x2 pixels becomes one with four times the channels.
int Stem(NetworkWriter& net, int x, uint32_t channels) {
  std::vector<int> parts;
  for (const int column : {0, 1}) {
    for (const int row : {0, 1}) {
      parts.push_back(net.StridedSlice(
          x, {.begin = {column, row, 0, 0}, .stride = {2, 2, 1, 1}}));
    }
  }
  return ConvSwish(net, net.Concat(parts), channels, {.size = 3, .pad = 1});
}

int Bottleneck(NetworkWriter& net, int x) {
  const uint32_t channels = net.ShapeOf(x)[2];
  const int narrow = ConvSwish(net, x, channels / 2, {});
  const int branch =
      net.Conv2d(narrow, channels, {.size = 3, .pad = 1}, Gain::kResidual);
  return net.Add(x, branch);
}

int Stage(NetworkWriter& net, int x, uint32_t channels) {
  x = ConvSwish(net, x, channels, {.size = 3, .stride = 2, .pad = 1});
  return Bottleneck(net, x);
}

// `above` at twice the size beside `x`.
int Merge(NetworkWriter& net, int above, int x) {
  const uint32_t channels = net.ShapeOf(x)[2];
  above = ConvSwish(net, above, channels, {});
  above = net.ResizeNearest(above, net.ShapeOf(x));
  return ConvSwish(net, net.Concat({above, x}), channels, {});
}

// [numbers, boxes, 1] of one map.
int Boxes(NetworkWriter& net, int x) {
  x = net.Conv2d(x, kAnchors * kNumbers, {}, Gain::kLinear);
  const uint32_t width = net.ShapeOf(x)[0];
  const uint32_t height = net.ShapeOf(x)[1];
  const float cell = 1.0f / static_cast<float>(width);
  x = net.Reshape(x, {width, height, kNumbers, kAnchors, 1});
  x = net.Sigmoid(net.Transpose(x, {2, 0, 1, 3, 4}));
  const std::vector<int> parts = net.Split(x, {2, 2, 1 + kClasses}, 0);
  const int grid = net.Constant({2, width, height, 1, 1}, 0.5f, 0.5f);
  const int centers =
      net.Add(net.Linear(parts[0], 2 * cell, -0.5f * cell), grid);
  const int twice = net.Linear(parts[1], 2, 0);
  const int anchors = net.Constant({2, 1, 1, kAnchors, 1}, 0.4f, 0.5f);
  const int sizes = net.Multiply(net.Multiply(twice, twice), anchors);
  x = net.Concat({centers, sizes, parts[2]}, 0);
  return net.Reshape(x, {kNumbers, width * height * kAnchors, 1});
}

}  // namespace

Network YoloHead(uint32_t size) {
  NetworkWriter net("yolo_head");
  int x = Stem(net, net.Input({size, size, 3, 1}), 32);
  x = Stage(net, x, 64);
  const int eighth = Stage(net, x, 128);
  const int sixteenth = Stage(net, eighth, 256);
  const int small = Stage(net, sixteenth, 512);
  const int middle = Merge(net, small, sixteenth);
  const int large = Merge(net, middle, eighth);
  net.Concat({Boxes(net, large), Boxes(net, middle), Boxes(net, small)}, 1);
  return net.Finish();
}

}  // namespace tim::bench
