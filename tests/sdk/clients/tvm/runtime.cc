// A program in the form of TVM's runtime: a binary that works in memory of its
// own, by address and by descriptor, with flush and invalidate around each run.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/ops/nbg.h"

namespace {

using tim::vx::TensorAttribute;
constexpr size_t kCount = 16;

tim::vx::TensorSpec SpecOf(TensorAttribute attribute) {
  return {tim::vx::DataType::FLOAT32, {kCount}, attribute};
}

// y = |x|; empty on failure.
std::vector<char> BuildBinary() {
  auto graph = tim::vx::Context::Create()->CreateGraph();
  auto x = graph->CreateTensor(SpecOf(TensorAttribute::INPUT));
  auto y = graph->CreateTensor(SpecOf(TensorAttribute::OUTPUT));
  (*graph->CreateOperation<tim::vx::ops::Abs>()).BindInput(x).BindOutput(y);
  size_t size = 0;
  if (!graph->CompileToBinary(nullptr, &size)) return {};
  std::vector<char> binary(size);
  if (!graph->CompileToBinary(binary.data(), &size)) return {};
  return binary;
}

// The binary in a graph, on tensors that `make` makes.
template <typename Make>
bool Runs(const char* name, const std::vector<char>& binary, float* in,
          const float* out, const Make& make) {
  auto context = tim::vx::Context::Create();
  auto graph = context->CreateGraph();
  auto x = make(*graph, TensorAttribute::INPUT);
  auto y = make(*graph, TensorAttribute::OUTPUT);
  auto nbg = graph->CreateOperation<tim::vx::ops::NBG>(binary.data(), 1, 1);
  (*nbg).BindInputs({x}).BindOutputs({y});
  bool good = graph->Compile();
  for (int run = 1; good && run <= 2; ++run) {
    for (size_t i = 0; i < kCount; ++i) {
      in[i] = static_cast<float>(run) * (i % 2 == 0 ? 1.0f : -1.0f);
    }
    good = x->FlushCacheForHandle() && graph->Run() &&
           y->InvalidateCacheForHandle();
    for (size_t i = 0; i < kCount; ++i) {
      good = good && out[i] == static_cast<float>(run);
    }
  }
  std::printf("%s: %s\n", name, good ? "ok" : "FAILED");
  if (!good) std::printf("%s\n", tim::vx::LastError().c_str());
  return good;
}

struct SharedMemory {
  SharedMemory() {
    fd = memfd_create("tvm", 0);
    if (ftruncate(fd, 4096) != 0) return;
    memory = static_cast<float*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  }
  int fd = -1;
  float* memory = nullptr;
};

}  // namespace

int main() {
  const std::vector<char> binary = BuildBinary();
  if (binary.empty()) return std::puts(tim::vx::LastError().c_str()), 1;
  alignas(64) static float in[kCount], out[kCount];
  const bool by_address = Runs(
      "memory of the caller", binary, in, out,
      [](tim::vx::Graph& graph, TensorAttribute attribute) {
        return graph.CreateIOTensor(
            SpecOf(attribute), attribute == TensorAttribute::INPUT ? in : out);
      });
  SharedMemory shared_in, shared_out;
  const bool by_descriptor = Runs(
      "memory of a descriptor", binary, shared_in.memory, shared_out.memory,
      [&](tim::vx::Graph& graph, TensorAttribute attribute) {
        const bool input = attribute == TensorAttribute::INPUT;
        return graph.CreateTensor(
            SpecOf(attribute),
            tim::vx::DmaBufferDesc{.fd = input ? shared_in.fd : shared_out.fd});
      });
  return by_address && by_descriptor ? 0 : 1;
}
