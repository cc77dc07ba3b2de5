// Memory of INPUT and OUTPUT tensors: zero copy and swaps, on every device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::TensorAttribute;
using Values = std::vector<float>;

class Handles : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    if (context_ == nullptr) GTEST_SKIP() << "no device " << GetParam();
  }
  std::shared_ptr<vx::Context> context_;
};

void Store(void* memory, const Values& values) {
  std::copy(values.begin(), values.end(), static_cast<float*>(memory));
}
Values Load(const void* memory, size_t count) {
  const auto* values = static_cast<const float*>(memory);
  return Values(values, values + count);
}

// Input and output on memory of the client, at `offset` from 64-byte alignment.
void RunOnClientMemory(vx::Context& context, size_t offset) {
  alignas(64) char in_block[128] = {};
  alignas(64) char out_block[128] = {};
  auto* in_memory = reinterpret_cast<float*>(in_block + offset);
  auto* out_memory = reinterpret_cast<float*>(out_block + offset);
  const auto graph = context.CreateGraph();
  const auto in =
      graph->CreateIOTensor(Floats({3}, TensorAttribute::INPUT), in_memory);
  const auto out =
      graph->CreateIOTensor(Floats({3}, TensorAttribute::OUTPUT), out_memory);
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  for (const float value : {1.0f, 2.0f}) {
    Store(in_memory, {value, -value, value});
    EXPECT_TRUE(in->FlushCacheForHandle());
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_TRUE(out->InvalidateCacheForHandle());
    EXPECT_EQ(Load(out_memory, 3), (Values{value, 0, value}));
  }
  EXPECT_EQ(in->map(), in_memory);
  EXPECT_EQ(out->map(true), out_memory);
  EXPECT_EQ(Read(out), (Values{2, 0, 2}));
  EXPECT_TRUE(std::all_of(out_block + offset + 12, out_block + 128,
                          [](char c) { return c == 0; }));
}

TEST_P(Handles, ClientMemoryIsUsedInPlace) { RunOnClientMemory(*context_, 0); }
TEST_P(Handles, ClientMemoryNeedsNoAlignment) {
  RunOnClientMemory(*context_, 4);
}

TEST_P(Handles, MappedMemoryIsTheTensor) {
  ReluGraph g({2}, context_->CreateGraph());
  Store(g.input->map(), {3, -3});
  g.input->unmap();
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Load(g.output->map(true), 2), (Values{3, 0}));
}

TEST_P(Handles, SwappedInMemoryIsUsedByTheNextRun) {
  ReluGraph g({2}, context_->CreateGraph());
  Write<float>(g.input, {1, -1});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  alignas(64) float mine[16] = {5, -5};
  void* old = nullptr;
  void* const first = g.input->map();
  ASSERT_TRUE(g.input->SwapHandle(mine, false, &old));
  EXPECT_EQ(old, first);
  EXPECT_EQ(g.input->map(), mine);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{5, 0}));
  // Back again: the first memory still has its content.
  ASSERT_TRUE(g.input->SwapHandle(old, true, &old));
  EXPECT_EQ(old, mine);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{1, 0}));
}

TEST_P(Handles, PingPong) {
  ReluGraph g({2}, context_->CreateGraph());
  Write<float>(g.input, {1, -1});
  Write<float>(g.output, {8, -8});
  ASSERT_TRUE(g.input->SwapHandle(g.output));
  EXPECT_EQ(Read(g.input), (Values{8, -8}));
  EXPECT_EQ(Read(g.output), (Values{1, -1}));
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{8, 0}));
  ASSERT_TRUE(g.input->SwapHandleWithCache(g.output));
  EXPECT_EQ(Read(g.input), (Values{8, 0}));
}

TEST_P(Handles, OutputOnTheMemoryOfAnInput) {
  const auto graph = context_->CreateGraph();
  alignas(64) float memory[16] = {2, -2};
  const auto in =
      graph->CreateIOTensor(Floats({2}, TensorAttribute::INPUT), memory);
  const auto out =
      graph->CreateIOTensor(Floats({2}, TensorAttribute::OUTPUT), memory);
  auto add = graph->CreateOperation<vx::ops::Add>();
  (*add).BindInputs({in, in}).BindOutput(out);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Load(memory, 2), (Values{4, -4}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Handles, ::testing::Values("host", "opencl"));

TEST(SwapHandle, MistakesAreRefused) {
  ReluGraph g({2});
  ReluGraph other({2});
  const auto wide = g.graph->CreateTensor(Floats({3}, TensorAttribute::OUTPUT));
  EXPECT_FALSE(g.input->SwapHandle(nullptr, false, nullptr));
  EXPECT_NE(vx::LastError().find("the new memory is null"), std::string::npos);
  EXPECT_FALSE(g.input->SwapHandle(std::shared_ptr<vx::Tensor>()));
  EXPECT_FALSE(g.input->SwapHandle(other.input));
  EXPECT_NE(vx::LastError().find("of the same graph"), std::string::npos);
  EXPECT_FALSE(g.input->SwapHandle(wide));
  EXPECT_NE(vx::LastError().find("12 bytes, this one has 8"),
            std::string::npos);
  EXPECT_FALSE(g.input->SwapHandle(g.graph->CreateTensorPlaceHolder()));
}

TEST(SwapHandle, GivenMemoryIsFreedOnce) {
  ReluGraph g({2});
  for (int i = 0; i < 3; ++i) {
    void* block = std::malloc(64);
    Store(block, {1, 2});
    EXPECT_TRUE(g.input->SwapHandle(block, true, nullptr));
    EXPECT_TRUE(g.input->SwapHandle(block, true, nullptr));  // itself
  }
  EXPECT_EQ(Read(g.input), (Values{1, 2}));
  // One block in two tensors.
  EXPECT_TRUE(g.output->SwapHandle(g.input->map(), false, nullptr));
  EXPECT_TRUE(g.input->SwapHandle(std::malloc(64), true, nullptr));
  EXPECT_EQ(Read(g.output), (Values{1, 2}));
}

}  // namespace
}  // namespace tim::testing
