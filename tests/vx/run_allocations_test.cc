// Graph::Run() allocates nothing: memory, events and arguments are made by
// Compile() and the first run.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "tests/support/vx/vx_graph.h"

namespace {

thread_local bool counting = false;
thread_local int allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  if (counting) ++allocations;
  const size_t size = (bytes + alignment) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, size)) return memory;
  std::abort();
}

}  // namespace

void* operator new(size_t bytes) {
  return Allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace tim::testing {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;

int AllocationsOfARun(vx::Graph& graph) {
  allocations = 0;
  counting = true;
  const bool ok = graph.Run();
  counting = false;
  EXPECT_TRUE(ok) << graph.ErrorMessage();
  return allocations;
}

TEST(RunAllocations, TheCounterCounts) {
  allocations = 0;
  counting = true;
  const auto memory = std::make_unique<std::vector<int>>(3);
  counting = false;
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(memory->size(), 3u);
}

TEST(RunAllocations, ThereAreNoneAfterTheFirstRun) {
  const auto context = vx::Context::Create();
  ASSERT_NE(context, nullptr) << vx::LastError();
  const auto graph = context->CreateGraph();
  const auto transient = [&] {
    return graph->CreateTensor(Floats({0, 0, 0, 0}, vx::TRANSIENT));
  };
  const TensorPtr input = graph->CreateTensor(Floats({8, 8, 3, 1}, vx::INPUT));
  const TensorPtr output =
      graph->CreateTensor(Floats({6, 6, 16, 1}, vx::OUTPUT));
  const std::vector<float> weights(size_t{3} * 3 * 3 * 16, 0.5f);
  const TensorPtr kernel =
      graph->CreateTensor(Floats({3, 3, 3, 16}, vx::CONSTANT), weights.data());
  const TensorPtr convolved = transient();
  const TensorPtr limited = transient();
  graph
      ->CreateOperation<vx::ops::Conv2d>(
          16, vx::PadType::VALID, std::array<uint32_t, 2>{3, 3},
          std::array<uint32_t, 2>{1, 1}, std::array<uint32_t, 2>{1, 1})
      ->BindInputs({input, kernel})
      .BindOutput(convolved);
  graph->CreateOperation<vx::ops::Relu>()->BindInput(convolved).BindOutput(
      limited);
  // No part of the launch before it.
  graph->CreateOperation<vx::ops::Softmax>(1.0f, 2)
      ->BindInput(limited)
      .BindOutput(output);
  ASSERT_TRUE(graph->Compile()) << graph->ErrorMessage();
  Write(input, std::vector<float>(8 * 8 * 3, 1.0f));
  AllocationsOfARun(*graph);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(AllocationsOfARun(*graph), 0);
  EXPECT_NEAR(Read(output)[0], 1.0f / 16, 1e-6);
}

}  // namespace
}  // namespace tim::testing
