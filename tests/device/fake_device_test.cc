#include "tests/support/devices/fake_device.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/host/host_buffer.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using device::BufferRange;
using device::ExternalBuffer;

Status Increment(std::span<const float> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 1;
  return OkStatus();
}

// A fake device with one buffer of four floats and a step that increments it.
struct Fixture {
  explicit Fixture(const FakeOptions& options = {}) : device(options) {
    stream = *device.CreateStream();
    buffer = *device.Allocate(16, ir::MemoryKind::kDevice);
    const ir::Action action = EvalCall(operators, "increment", 4, Increment);
    const ir::Action* pointer = &action;
    EmptyStore store;
    step = std::move((*device.Prepare({&pointer, 1}, operators, store))[0]);
  }

  Status Add() {
    const BufferRange operands[] = {{buffer.get(), 0, 16},
                                    {buffer.get(), 0, 16}};
    return stream->Enqueue(*step, operands);
  }
  Status Write(std::vector<float>& values) {
    ExternalBuffer host(values.data(), 16);
    return stream->Copy({&host, 0, 16}, {buffer.get(), 0, 16});
  }
  Status Read(std::vector<float>& values) {
    ExternalBuffer host(values.data(), 16);
    return stream->Copy({buffer.get(), 0, 16}, {&host, 0, 16});
  }
  Status Wait() { return (*stream->Record())->Wait(); }

  ir::OpRegistry operators;
  FakeDevice device;
  std::unique_ptr<device::Buffer> buffer;
  std::unique_ptr<device::PreparedStep> step;
  std::unique_ptr<device::Stream> stream;
};

TEST(FakeDevice, MemoryIsItsOwnAndPoisoned) {
  Fixture fake;
  EXPECT_EQ(fake.buffer->host_address(), nullptr);
  std::vector<uint8_t> bytes(16);
  ExternalBuffer host(bytes.data(), 16);
  ASSERT_OK(fake.stream->Copy({fake.buffer.get(), 0, 16}, {&host, 0, 16}));
  ASSERT_OK(fake.Wait());
  EXPECT_EQ(bytes, std::vector<uint8_t>(16, 0xCD));
}

TEST(FakeDevice, AViewIsAPartOfABuffer) {
  Fixture fake;
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(fake.Write(values));
  std::vector<float> part(2);
  ExternalBuffer host(part.data(), 8);
  {
    const auto view = *fake.buffer->View(4, 12);
    const auto inner = *view->View(4, 8);
    EXPECT_EQ(inner->bytes(), 8);
    ASSERT_OK(fake.stream->Copy({inner.get(), 0, 8}, {&host, 0, 8}));
    ASSERT_OK(fake.Wait());
  }
  EXPECT_EQ(part, (std::vector<float>{3, 4}));
  EXPECT_EQ(fake.device.live_bytes(), 16);
}

TEST(FakeDevice, WorksInOrderAndLater) {
  Fixture fake({.seed = 7, .max_delay_us = 500});
  std::vector<float> values = {1, 2, 3, 4};
  std::vector<float> result(4, -1);
  ASSERT_OK(fake.Write(values));
  for (int i = 0; i < 20; ++i) ASSERT_OK(fake.Add());
  ASSERT_OK(fake.Read(result));
  ASSERT_OK(fake.Wait());
  EXPECT_EQ(result, (std::vector<float>{21, 22, 23, 24}));
  EXPECT_EQ(fake.device.steps_run(), 20);
}

TEST(FakeDevice, StreamsWaitForEachOther) {
  Fixture fake({.seed = 3, .max_delay_us = 2000});
  std::vector<float> values = {1, 1, 1, 1};
  std::vector<float> result(4);
  ExternalBuffer host(result.data(), 16);
  ASSERT_OK(fake.Write(values));
  ASSERT_OK(fake.Add());
  auto event = *fake.stream->Record();
  auto other = *fake.device.CreateStream();
  ASSERT_OK(other->WaitFor(*event));
  ASSERT_OK(other->Copy({fake.buffer.get(), 0, 16}, {&host, 0, 16}));
  ASSERT_OK((*other->Record())->Wait());
  EXPECT_EQ(result[0], 2);
}

TEST(FakeDevice, RunsOutOfMemory) {
  FakeDevice device({.memory_bytes = 100});
  auto first = device.Allocate(60, ir::MemoryKind::kDevice);
  ASSERT_OK(first);
  EXPECT_EQ(device.Allocate(60, ir::MemoryKind::kDevice).status().code(),
            StatusCode::kOutOfMemory);
  first->reset();
  EXPECT_EQ(device.live_bytes(), 0);
  device.FailAllocationsAfter(1);
  EXPECT_OK(device.Allocate(1, ir::MemoryKind::kDevice));
  EXPECT_EQ(device.Allocate(1, ir::MemoryKind::kDevice).status().code(),
            StatusCode::kOutOfMemory);
}

TEST(FakeDevice, IsLostAtTheChosenStepUntilReset) {
  Fixture fake;
  fake.device.LoseAtStep(2);
  ASSERT_OK(fake.Add());
  ASSERT_OK(fake.Wait());
  ASSERT_OK(fake.Add());
  EXPECT_EQ(fake.Wait().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(fake.Add().code(), StatusCode::kDeviceLost);
  EXPECT_FALSE(fake.device.Allocate(1, ir::MemoryKind::kDevice).ok());
  fake.device.ResetLost();
  EXPECT_OK(fake.Add());
  EXPECT_OK(fake.Wait());
}

TEST(FakeDevice, FailsOneBuild) {
  FakeDevice device;
  EmptyStore store;
  const ir::Action copy = ir::Copy{4};
  const ir::Action* const steps[] = {&copy};
  device.FailNextPrepare();
  EXPECT_EQ(device.Prepare(steps, ir::OpRegistry(), store).status().code(),
            StatusCode::kBuildFailure);
  EXPECT_OK(device.Prepare(steps, ir::OpRegistry(), store));
}

TEST(FakeDevice, RunsTheKernelsThatItWasGivenWithinItsLimit) {
  FakeDevice device(
      {.kernels = {{"known", [](auto) {}}}, .work_group_limit = 32});
  ir::KernelLaunch small;
  small.function = "known";
  small.range.global = {64, 1, 1};
  small.range.local = {32, 0, 0};
  ir::KernelLaunch large = small;
  large.range.local = {64, 0, 0};
  ir::KernelLaunch unknown = small;
  unknown.function = "unknown";
  const ir::Action actions[] = {large, small, unknown};
  const ir::Action* const steps[] = {&actions[0], &actions[1], &actions[2]};
  EmptyStore store;
  const auto prepared = device.PrepareEach(steps, ir::OpRegistry(), store);
  ASSERT_EQ(prepared.size(), 3u);
  EXPECT_ERROR(prepared[0], "a work-group of 64 items exceeds the limit 32");
  EXPECT_OK(prepared[1]);
  EXPECT_EQ(prepared[2].status().code(), StatusCode::kBuildFailure);
  EXPECT_EQ(device.Prepare(steps, ir::OpRegistry(), store).status().message(),
            prepared[0].status().message());
}

}  // namespace
}  // namespace tim::testing
