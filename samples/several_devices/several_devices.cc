// One graph on every device and on every core at the same time: images are
// dealt out to queues, each with a thread of its own.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/platform/native.h"

using namespace tim::vx;

namespace {

constexpr uint32_t kSize = 32;
constexpr uint32_t kPixels = kSize * kSize;
constexpr int kRounds = 5;

using Image = std::vector<float>;

// Edges of an image: a convolution with Laplace's operator.
std::shared_ptr<Graph> BuildEdges(const std::shared_ptr<Context>& context) {
  const std::vector<float> laplace = {0, 1, 0, 1, -4, 1, 0, 1, 0};
  auto graph = context->CreateGraph();
  auto image =
      graph->CreateTensor({DataType::FLOAT32, {kSize, kSize, 1, 1}, INPUT});
  auto weights = graph->CreateTensor(
      {DataType::FLOAT32, {3, 3, 1, 1}, CONSTANT}, laplace.data());
  auto edges =
      graph->CreateTensor({DataType::FLOAT32, {kSize, kSize, 1, 1}, OUTPUT});
  const std::array<uint32_t, 2> one = {{1, 1}};
  (*graph->CreateOperation<ops::Conv2d>(PadType::SAME, one, one))
      .BindInputs({image, weights})
      .BindOutput(edges);
  return graph;
}

Image MakeImage(int number) {
  Image image(kPixels);
  for (uint32_t i = 0; i < kPixels; ++i) {
    image[i] = static_cast<float>((i * 7 + static_cast<uint32_t>(number)) % 16);
  }
  return image;
}

// What the graph computes, by its formula.
Image EdgesOf(const Image& image) {
  const int size = static_cast<int>(kSize);
  const auto at = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < size && y < size;
    return inside ? image[static_cast<size_t>(y * size + x)] : 0.0f;
  };
  Image edges;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      edges.push_back(at(x - 1, y) + at(x + 1, y) + at(x, y - 1) +
                      at(x, y + 1) - 4 * at(x, y));
    }
  }
  return edges;
}

// A core, the graph compiled for it, and the image that it works on.
struct Lane {
  std::shared_ptr<platform::IExecutor> executor;
  std::shared_ptr<platform::IExecutable> executable;
  std::shared_ptr<platform::ITensorHandle> image, edges;
  int number = 0;
};

bool AddLane(const std::shared_ptr<platform::IDevice>& device, int32_t core,
             std::vector<Lane>* lanes) {
  Lane lane;
  lane.executor = device->CreateExecutor(core, 1);
  if (lane.executor == nullptr) return false;
  // The graph is needed only until it is compiled.
  auto graph = BuildEdges(lane.executor->Contex());
  lane.executable = lane.executor->Compile(graph);
  if (lane.executable == nullptr) return false;
  lane.image =
      lane.executable->AllocateTensor(graph->InputsTensor()[0]->GetSpec());
  lane.edges =
      lane.executable->AllocateTensor(graph->OutputsTensor()[0]->GetSpec());
  lane.executable->SetInput(lane.image);
  lane.executable->SetOutput(lane.edges);
  lanes->push_back(lane);
  return true;
}

// Queues an image; the call returns before it is done.
bool Start(Lane* lane, int number, std::atomic<int>* done) {
  lane->number = number;
  const Image image = MakeImage(number);
  return lane->image->CopyDataToTensor(image.data(), 0) &&
         lane->executable->Submit(lane->executable) &&
         lane->executor->Trigger(true, [done](const void* failure) {
           if (failure == nullptr) ++*done;
           return true;
         });
}

bool Check(const Lane& lane) {
  Image edges(kPixels);
  return lane.edges->CopyDataFromTensor(edges.data()) &&
         edges == EdgesOf(MakeImage(lane.number));
}

int Fail() {
  std::printf("FAILED: %s\n", LastError().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto devices = platform::IDevice::Enumerate();
  std::vector<Lane> lanes;
  for (const auto& device : devices) {
    std::printf("device %u, %s: %u core(s)\n", device->Id(),
                device->Name().c_str(), device->CoreCount());
    for (uint32_t core = 0; core < device->CoreCount(); ++core) {
      if (!AddLane(device, static_cast<int32_t>(core), &lanes)) return Fail();
    }
  }
  std::atomic<int> done{0};
  int number = 0, right = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (Lane& lane : lanes) {
      if (!Start(&lane, number++, &done)) return Fail();
    }
    for (const auto& device : devices) device->WaitDeviceIdle();
    for (const Lane& lane : lanes) right += Check(lane) ? 1 : 0;
  }
  std::printf("%d images on %zu queues: %d done, %d right\n", number,
              lanes.size(), done.load(), right);
  return right == number && done == number ? 0 : Fail();
}
