// Streams of OpenCL do the same with and without events of their own, and
// whether imported memory is mapped or not.
#include "device/opencl/driver/opencl_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/host/host_buffer.h"
#include "device/opencl/driver/host_memory.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using testing::EmptyStore;
using testing::FloatLaunch;

constexpr int64_t kFloats = 16;
constexpr int64_t kBytes = kFloats * sizeof(float);
constexpr char kDouble[] =
    "__kernel void twice(__global const float* in, int in_0,\n"
    "                    __global float* out, int out_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) out[out_0 + i] = 2 * in[in_0 + i];\n"
    "}\n";

class OpenClStreams : public testing::OpenClTest,
                      public ::testing::WithParamInterface<StreamTraits> {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    if (GetParam().works_in_host_memory && !WorksInHostMemory(context_, id_)) {
      GTEST_SKIP() << device_->info().name << " needs mapping";
    }
    const ir::Action twice = FloatLaunch(kDouble, "twice", kFloats, 2);
    const ir::Action* step = &twice;
    auto prepared = device_->Prepare({&step, 1}, ir::OpRegistry(), store_);
    ASSERT_OK(prepared);
    step_ = std::move((*prepared)[0]);
    stream_ = NewStream();
  }

  std::unique_ptr<Stream> NewStream() {
    StreamTraits traits = GetParam();
    // Drivers that cannot queue a mapping are not asked to.
    if (traits.mapping == Mapping::kQueued) {
      traits.mapping = MappingOf(context_, id_);
    }
    return *OpenClStream::Create(context_, id_, traits);
  }
  std::unique_ptr<Buffer> Allocate() {
    return *device_->Allocate(kBytes, ir::MemoryKind::kDevice);
  }
  Status Twice(Stream& stream, Buffer& in, Buffer& out) {
    return stream.Enqueue(
        *step_, std::vector<BufferRange>{{&in, 0, kBytes}, {&out, 0, kBytes}});
  }
  Status Finish(Stream& stream) {
    TIM_ASSIGN_OR_RETURN(const auto event, stream.Record());
    return event->Wait();
  }

  EmptyStore store_;
  std::unique_ptr<PreparedStep> step_;
  std::unique_ptr<Stream> stream_;
};

TEST_P(OpenClStreams, AnEventOfAnIdleStreamIsReached) {
  EXPECT_OK(Finish(*stream_));
  EXPECT_OK(Finish(*stream_));
}

TEST_P(OpenClStreams, AnEventCoversCopiesAndKernels) {
  std::vector<float> in(kFloats, 3.0f);
  std::vector<float> out(kFloats);
  ExternalBuffer from(in.data(), kBytes);
  ExternalBuffer to(out.data(), kBytes);
  const auto a = Allocate();
  const auto b = Allocate();
  const auto c = Allocate();
  ASSERT_OK(stream_->Copy({&from, 0, kBytes}, {a.get(), 0, kBytes}));
  ASSERT_OK(Twice(*stream_, *a, *b));
  ASSERT_OK(stream_->Copy({b.get(), 0, kBytes}, {c.get(), 0, kBytes}));
  ASSERT_OK(stream_->Copy({c.get(), 0, kBytes}, {&to, 0, kBytes}));
  ASSERT_OK(Finish(*stream_));
  EXPECT_EQ(out, std::vector<float>(kFloats, 6.0f));
}

// Ranges that are and that are not multiples of words, in a buffer and in a
// part of one, between copies; nothing around them is written.
TEST_P(OpenClStreams, FillRanges) {
  constexpr int64_t kSize = 70'001;
  const int64_t alignment = device_->info().alignment;
  const auto whole =
      device_->Allocate(kSize + 2 * alignment, ir::MemoryKind::kDevice);
  ASSERT_OK(whole);
  const auto part = (*whole)->View(alignment, kSize);
  ASSERT_OK(part);
  for (Buffer* const buffer : {whole->get(), part->get()}) {
    std::vector<uint8_t> expected(kSize, 0x5A);
    std::vector<uint8_t> found(kSize);
    ExternalBuffer from(expected.data(), kSize);
    ExternalBuffer to(found.data(), kSize);
    ASSERT_OK(stream_->Copy({&from, 0, kSize}, {buffer, 0, kSize}));
    ASSERT_OK(Finish(*stream_));
    const std::pair<int64_t, int64_t> ranges[] = {
        {0, kSize},   {0, 0},         {4, 8},      {1, 1},
        {1023, 4097}, {8192, 32'768}, {16, 4 * 7}, {kSize - 1, 1}};
    uint8_t byte = 0;
    for (const auto& [first, bytes] : ranges) {
      const auto filled = stream_->Fill({buffer, first, bytes}, byte);
      ASSERT_OK(filled);
      ASSERT_EQ(*filled, !device_->info().remote);
      if (!*filled) GTEST_SKIP() << "zeros are copied to remote devices";
      std::fill_n(expected.begin() + first, bytes, byte);
      ASSERT_OK(stream_->Copy({buffer, 0, kSize}, {&to, 0, kSize}));
      ASSERT_OK(Finish(*stream_));
      ASSERT_EQ(found, expected) << bytes << " bytes from " << first;
      byte = static_cast<uint8_t>(byte + 0x91);
    }
  }
}

TEST_P(OpenClStreams, ImportedMemoryIsSeenByBothSides) {
  if (!device_->info().unified_memory) {
    GTEST_SKIP() << device_->info().name << " does not import memory";
  }
  alignas(64) std::array<float, kFloats + 1> in = {};
  alignas(64) std::array<float, kFloats + 1> out = {};
  for (const int first : {0, 1}) {  // aligned, and for floats only
    const auto imported_in = device_->Import(&in[first], kBytes);
    const auto imported_out = device_->Import(&out[first], kBytes);
    ASSERT_OK(imported_in);
    ASSERT_OK(imported_out);
    for (const float value : {1.0f, 20.0f, 300.0f}) {
      in.fill(value);
      ASSERT_OK(stream_->SynchronizeToDevice(**imported_in));
      ASSERT_OK(Twice(*stream_, **imported_in, **imported_out));
      ASSERT_OK(stream_->SynchronizeToHost(**imported_out));
      ASSERT_OK(Finish(*stream_));
      for (int64_t i = 0; i < kFloats; ++i) {
        EXPECT_EQ(out[first + i], 2 * value) << i;
      }
    }
  }
}

TEST_P(OpenClStreams, WaitForEachOther) {
  std::vector<float> in(kFloats, 1.0f);
  std::vector<float> out(kFloats);
  ExternalBuffer from(in.data(), kBytes);
  ExternalBuffer to(out.data(), kBytes);
  const auto a = Allocate();
  const auto b = Allocate();
  const auto other = NewStream();
  ASSERT_OK(other->Copy({&from, 0, kBytes}, {a.get(), 0, kBytes}));
  ASSERT_OK(Twice(*other, *a, *b));
  const auto event = other->Record();
  ASSERT_OK(event);
  ASSERT_OK(stream_->WaitFor(**event));
  ASSERT_OK(Finish(*stream_));  // of the wait alone
  ASSERT_OK(stream_->Copy({b.get(), 0, kBytes}, {&to, 0, kBytes}));
  ASSERT_OK(Finish(*stream_));
  EXPECT_EQ(out, std::vector<float>(kFloats, 2.0f));
}

// One command or several, at the first use of an event and when it is used
// again; a stream that is not asked for times gives none.
TEST_P(OpenClStreams, TellHowLongTheDeviceWorked) {
  const auto a = Allocate();
  const auto b = Allocate();
  std::unique_ptr<Event> event;
  for (const int commands : {1, 3, 0}) {
    for (int i = 0; i < commands; ++i) ASSERT_OK(Twice(*stream_, *a, *b));
    auto recorded = stream_->Record(std::move(event));
    ASSERT_OK(recorded);
    event = *std::move(recorded);
    ASSERT_OK(event->Wait());
    const std::optional<int64_t> time = event->DeviceTime();
    EXPECT_EQ(time.has_value(), GetParam().queue.timed) << commands;
    if (!time.has_value()) continue;
    EXPECT_GE(*time, commands == 0 ? 0 : 1) << commands;
    EXPECT_LT(*time, int64_t{10'000'000'000}) << commands;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traits, OpenClStreams,
    ::testing::Values(StreamTraits{},
                      StreamTraits{.queue = {}, .mapping = Mapping::kBlocking},
                      StreamTraits{.queue = {.keeps_events = true}},
                      StreamTraits{.queue = {.timed = true}},
                      StreamTraits{.queue = {.keeps_events = true},
                                   .works_in_host_memory = true}),
    [](const auto& info) {
      return std::string(info.param.queue.timed          ? "Timed"
                         : info.param.queue.keeps_events ? "Events"
                                                         : "Markers") +
             (info.param.works_in_host_memory            ? "Unmapped"
              : info.param.mapping == Mapping::kBlocking ? "MappedBlocking"
                                                         : "Mapped");
    });

using HostMemory = testing::OpenClTest;

// Of those that run functions of the host, which can tell.
TEST_F(HostMemory, CpusWorkInIt) {
  const cl_device_type type = id_.getInfo<CL_DEVICE_TYPE>();
  const bool tells = (id_.getInfo<CL_DEVICE_EXECUTION_CAPABILITIES>() &
                      CL_EXEC_NATIVE_KERNEL) != 0;
  EXPECT_EQ(WorksInHostMemory(context_, id_),
            tells && (type & CL_DEVICE_TYPE_CPU) != 0);
}

// Whatever was found out works: see ImportedMemoryIsSeenByBothSides.
TEST_F(HostMemory, IsMappedWithoutWaitingWhereThatWorks) {
  const cl::Platform platform(id_.getInfo<CL_DEVICE_PLATFORM>());
  const std::string name = platform.getInfo<CL_PLATFORM_NAME>();
  const std::string driver = id_.getInfo<CL_DRIVER_VERSION>();
  const bool waits = name == "rusticl" && driver.starts_with("22.");
  EXPECT_EQ(MappingOf(context_, id_),
            waits ? Mapping::kBlocking : Mapping::kQueued);
}

}  // namespace
}  // namespace tim::device
