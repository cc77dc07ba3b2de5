// A feature pyramid (Lin et al. 2016) on ResNet-18, with the branch for
// segmentation of Panoptic FPN (Kirillov et al. 2019).
#include "bench/models/catalog.h"
#include "bench/networks/network_writer.h"

namespace tim::bench {
namespace {

constexpr Window k3x3 = {.size = 3, .pad = 1};
constexpr uint32_t kPyramid = 256;
constexpr uint32_t kSegmentation = 128;
constexpr uint32_t kClasses = 54;

int BasicBlock(NetworkWriter& net, int x, uint32_t channels, uint32_t stride) {
  int branch =
      net.Conv2dRelu(x, channels, {.size = 3, .stride = stride, .pad = 1});
  branch = net.Conv2d(branch, channels, k3x3, Gain::kResidual);
  const bool same = net.ShapeOf(x) == net.ShapeOf(branch);
  const int shortcut =
      same ? x : net.Conv2d(x, channels, {.stride = stride}, Gain::kLinear);
  return net.Relu(net.Add(branch, shortcut));
}

int Stage(NetworkWriter& net, int x, uint32_t channels, uint32_t stride) {
  x = BasicBlock(net, x, channels, stride);
  return BasicBlock(net, x, channels, 1);
}

// Maps of 1/4, 1/8, 1/16 and 1/32 of the image.
std::vector<int> Backbone(NetworkWriter& net, int x) {
  x = net.Conv2dRelu(x, 64, {.size = 7, .stride = 2, .pad = 3});
  x = net.MaxPool(x, {.size = 3, .stride = 2, .pad = 1});
  std::vector<int> maps = {Stage(net, x, 64, 1)};
  for (const uint32_t channels : {128, 256, 512}) {
    maps.push_back(Stage(net, maps.back(), channels, 2));
  }
  return maps;
}

// The same extents; every map has what the smaller ones say.
std::vector<int> Pyramid(NetworkWriter& net, std::vector<int> maps) {
  for (int& map : maps) map = net.Conv2d(map, kPyramid, {}, Gain::kLinear);
  for (size_t i = maps.size() - 1; i > 0; --i) {
    const int above = net.ResizeNearest(maps[i], net.ShapeOf(maps[i - 1]));
    maps[i - 1] = net.Add(maps[i - 1], above);
  }
  for (int& map : maps) map = net.Conv2d(map, kPyramid, k3x3, Gain::kLinear);
  return maps;
}

// A map at the extents of the largest, by one convolution for each doubling.
int Enlarged(NetworkWriter& net, const std::vector<int>& maps, size_t number) {
  int x = net.Conv2dRelu(maps[number], kSegmentation, k3x3);
  for (size_t i = number; i > 0; --i) {
    x = net.ResizeBilinear(x, net.ShapeOf(maps[i - 1]));
    if (i > 1) x = net.Conv2dRelu(x, kSegmentation, k3x3);
  }
  return x;
}

}  // namespace

Network FeaturePyramid(uint32_t size) {
  NetworkWriter net("feature_pyramid");
  const int image = net.Input({size, size, 3, 1});
  const std::vector<int> maps = Pyramid(net, Backbone(net, image));
  int x = Enlarged(net, maps, 0);
  for (size_t i = 1; i < maps.size(); ++i) {
    x = net.Add(x, Enlarged(net, maps, i));
  }
  x = net.Conv2d(x, kClasses, {}, Gain::kLinear);
  net.ResizeBilinear(x, net.ShapeOf(image));
  return net.Finish();
}

}  // namespace tim::bench
