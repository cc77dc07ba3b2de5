// Devices in a client's context, and runs among its commands and memory.
#include "device/opencl/opencl_interop.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/client_queue.h"
#include "device/opencl/interop/client_run.h"
#include "device/opencl/interop/shared_memory.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using testing::EmptyStore;
using testing::FailsWith;
using testing::FloatLaunch;

constexpr int64_t kFloats = 16;
constexpr int64_t kBytes = kFloats * sizeof(float);
constexpr char kDouble[] =
    "__kernel void twice(__global const float* in, int in_0,\n"
    "                    __global float* out, int out_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) out[out_0 + i] = 2 * in[in_0 + i];\n"
    "}\n";

class OpenClInterop : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    context_ = cl::Context(id_);
    queue_ = cl::CommandQueue(context_, id_);
    auto device = CreateOpenClDevice(id_(), context_(), {});
    ASSERT_OK(device);
    device_ = *std::move(device);
    const ir::Action twice = FloatLaunch(kDouble, "twice", kFloats, 2);
    const ir::Action* step = &twice;
    auto prepared = device_->Prepare({&step, 1}, ir::OpRegistry(), store_);
    ASSERT_OK(prepared);
    step_ = std::move((*prepared)[0]);
    stream_ = *device_->CreateStream();
  }

  // Filled with `value` from the beginning.
  cl::Buffer Filled(int64_t floats, float value) {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, floats * sizeof(float));
    queue_.enqueueFillBuffer(buffer, value, 0, floats * sizeof(float));
    queue_.finish();
    return buffer;
  }
  std::vector<float> Read(const cl::Buffer& buffer, int64_t floats) {
    std::vector<float> values(floats);
    queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, floats * sizeof(float),
                             values.data());
    return values;
  }
  Status Twice(const BufferRange& in, const BufferRange& out) {
    TIM_RETURN_IF_ERROR(
        stream_->Enqueue(*step_, std::vector<BufferRange>{in, out}));
    return stream_->Record(nullptr).status();
  }

  cl::CommandQueue queue_;
  EmptyStore store_;
  std::unique_ptr<PreparedStep> step_;
  std::unique_ptr<Stream> stream_;
};

// Drivers' threads may let go of the last event a little later.
bool CountBecomes(const cl::Context& context, cl_uint count) {
  for (int i = 0; i < 200; ++i) {
    if (context.getInfo<CL_CONTEXT_REFERENCE_COUNT>() == count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_F(OpenClInterop, RunsInTheClientsContextAndLetsGoOfIt) {
  EXPECT_EQ(device_->NativeHandle("cl_context"), context_());
  EXPECT_EQ(device_->NativeHandle("cl_device_id"), id_());
  queue_.finish();
  const cl::Context other(id_);
  const auto before = other.getInfo<CL_CONTEXT_REFERENCE_COUNT>();
  {
    const auto device = CreateOpenClDevice(id_(), other(), {});
    ASSERT_OK(device);
    EXPECT_GT(other.getInfo<CL_CONTEXT_REFERENCE_COUNT>(), before);
    const auto stream = (*device)->CreateStream();
    ASSERT_OK(stream);
    const cl::Buffer memory(other, CL_MEM_READ_WRITE, kBytes);
    const auto wrapped = WrapMemObject(**device, memory(), 0, kBytes);
    ASSERT_OK(wrapped);
    const auto copy = (*device)->Allocate(kBytes, ir::MemoryKind::kDevice);
    ASSERT_OK(copy);
    ASSERT_OK((*stream)->Copy({copy->get(), 0, kBytes},
                              {wrapped->buffer.get(), 0, kBytes}));
    const auto event = (*stream)->Record();
    ASSERT_OK(event);
    ASSERT_OK((*event)->Wait());
  }
  EXPECT_TRUE(CountBecomes(other, before))
      << other.getInfo<CL_CONTEXT_REFERENCE_COUNT>() << " instead of "
      << before;
}

TEST_F(OpenClInterop, RefusesWhatDoesNotBelongTogether) {
  EXPECT_TRUE(FailsWith(CreateOpenClDevice(nullptr, context_(), {}),
                        "the cl_device_id is null"));
  EXPECT_TRUE(FailsWith(CreateOpenClDevice(id_(), nullptr, {}),
                        "the cl_context is null"));
  // Any other handle than those of the context's devices.
  EXPECT_TRUE(FailsWith(CreateOpenClDevice(&id_, context_(), {}),
                        "is none of the 1 devices of the cl_context"));

  const cl::Context other(id_);
  const cl::Buffer strange(other, CL_MEM_READ_WRITE, kBytes);
  EXPECT_TRUE(FailsWith(WrapMemObject(*device_, strange(), 0, kBytes),
                        "of another context"));
  EXPECT_TRUE(FailsWith(WrapMemObject(*device_, nullptr, 0, kBytes), "null"));
  const cl::Buffer own(context_, CL_MEM_READ_WRITE, kBytes);
  EXPECT_TRUE(FailsWith(WrapMemObject(*device_, own(), 4, kBytes),
                        "has 64 bytes; 64 from byte 4 are more"));
  EXPECT_TRUE(FailsWith(WrapMemObject(*device_, own(), -4, 4), "are more"));
  EXPECT_TRUE(FailsWith(WrapPointer(*device_, nullptr, kBytes), "null"));
  const auto host = CreateHostDevice();
  EXPECT_TRUE(FailsWith(WrapMemObject(*host, own(), 0, kBytes),
                        "host is no OpenCL device"));

  const cl::CommandQueue queue(other, id_);
  EXPECT_TRUE(FailsWith(ClientQueue::Of(*device_, queue()),
                        "of another context than the engine"));
  EXPECT_TRUE(FailsWith(ClientQueue::Of(*device_, nullptr), "null"));
  const cl::UserEvent event(other);
  EXPECT_TRUE(FailsWith(EventOf(*device_, event()), "of another context"));
  EXPECT_TRUE(FailsWith(EventOf(*device_, nullptr), "null"));
}

// Aligned memory is worked in, other memory is copied by the run's own queue;
// nothing beside it changes.
TEST_F(OpenClInterop, WorksInMemoryFromAnyByteOn) {
  const int64_t aligned = device_->info().alignment / 4;
  for (const int64_t first : {int64_t{0}, aligned, int64_t{1}, aligned + 3}) {
    SCOPED_TRACE(first);
    const int64_t floats = first + kFloats + 2;
    const cl::Buffer in = Filled(floats, 3.0f);
    const cl::Buffer out = Filled(floats, -1.0f);
    const auto from = WrapMemObject(*device_, in(), 4 * first, kBytes);
    const auto to = WrapMemObject(*device_, out(), 4 * first, kBytes);
    ASSERT_OK(from);
    ASSERT_OK(to);
    EXPECT_EQ(from->offset, first % aligned * 4);
    const auto run = ClientRun::Create(*device_);
    ASSERT_OK(run);
    const auto input = (*run)->Input(*from);
    const auto output = (*run)->Output(*to, {});
    ASSERT_OK(input);
    ASSERT_OK(output);
    EXPECT_EQ((*run)->End(), nullptr);
    {
      const RunOrder::Scope scope(&(*run)->order());
      ASSERT_OK(Twice(*input, *output));
    }
    const auto end = (*run)->End();
    ASSERT_NE(end, nullptr);
    ASSERT_OK(end->Wait());
    std::vector<float> expected(floats, -1.0f);
    std::fill_n(expected.begin() + first, kFloats, 6.0f);
    EXPECT_EQ(Read(out, floats), expected);
  }
}

TEST_F(OpenClInterop, TakesPartsOfBuffersAndReadOnlyOnes) {
  const int64_t aligned = device_->info().alignment;
  const std::vector<float> values(2 * aligned, 5.0f);
  cl::Buffer whole(context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                   8 * aligned, const_cast<float*>(values.data()));
  const cl_buffer_region region = {static_cast<size_t>(aligned),
                                   static_cast<size_t>(4 * aligned)};
  const cl::Buffer part = whole.createSubBuffer(
      CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region);
  const cl::Buffer out = Filled(kFloats, 0.0f);
  const auto to = WrapMemObject(*device_, out(), 0, kBytes);
  ASSERT_OK(to);
  for (const int64_t offset : {int64_t{0}, aligned}) {
    const auto from = WrapMemObject(*device_, part(), offset, kBytes);
    ASSERT_OK(from);
    EXPECT_EQ(from->offset, 0);
    ASSERT_OK(
        Twice({from->buffer.get(), 0, kBytes}, {to->buffer.get(), 0, kBytes}));
    ASSERT_OK((*stream_->Record())->Wait());
    EXPECT_EQ(Read(out, kFloats), std::vector<float>(kFloats, 10.0f));
  }
}

TEST_F(OpenClInterop, WorksInSharedMemory) {
  if (!HasSharedMemory(*device_)) GTEST_SKIP() << "no SVM";
  const auto memory = AllocateShared(*device_, 2 * kBytes + 64, 64);
  ASSERT_OK(memory);
  auto* const in = static_cast<float*>(*memory);
  float* const out = in + kFloats + 3;  // not aligned
  std::fill_n(in, kFloats, 7.0f);
  {
    const auto from = WrapPointer(*device_, in, kBytes);
    const auto to = WrapPointer(*device_, out, kBytes);
    ASSERT_OK(from);
    ASSERT_OK(to);
    const auto run = ClientRun::Create(*device_);
    ASSERT_OK(run);
    const RunOrder::Scope scope(&(*run)->order());
    ASSERT_OK(Twice(*(*run)->Input(*from), *(*run)->Output(*to, {})));
    ASSERT_OK((*run)->End()->Wait());
  }
  EXPECT_EQ(std::vector<float>(out, out + kFloats),
            std::vector<float>(kFloats, 14.0f));
  FreeShared(*device_, *memory);
  EXPECT_TRUE(FailsWith(AllocateShared(*device_, -1, 64), "-1 bytes"));
  EXPECT_TRUE(
      FailsWith(AllocateShared(*device_, int64_t{1} << 60, 64), "exceed"));
}

// The client's commands before and after the run, without a wait of the host:
// all is enqueued while the first of them cannot start.
TEST_F(OpenClInterop, IsOrderedByEvents) {
  const cl::Buffer in = Filled(kFloats, 1.0f);
  const cl::Buffer out = Filled(kFloats, 0.0f);
  cl::Buffer copy(context_, CL_MEM_READ_WRITE, kBytes);
  cl::CommandQueue clients(context_, id_);
  const auto queue = ClientQueue::Of(*device_, clients());
  ASSERT_OK(queue);
  EXPECT_EQ((*queue)->handle(), clients());
  cl::UserEvent start(context_);
  const std::vector<cl::Event> after_start = {start};
  clients.enqueueFillBuffer(in, 4.0f, 0, kBytes, &after_start);
  const auto mark = (*queue)->Mark();
  ASSERT_OK(mark);

  const auto from = WrapMemObject(*device_, in(), 0, kBytes);
  const auto to = WrapMemObject(*device_, out(), 0, kBytes);
  const auto run = ClientRun::Create(*device_);
  ASSERT_OK(run);
  ASSERT_OK((*run)->Await(**mark));
  {
    const RunOrder::Scope scope(&(*run)->order());
    ASSERT_OK(Twice(*(*run)->Input(*from), *(*run)->Output(*to, {})));
  }
  const auto end = (*run)->End();
  ASSERT_NE(end, nullptr);
  ASSERT_OK((*queue)->Await(*end));
  clients.enqueueCopyBuffer(out, copy, 0, 0, kBytes);
  clients.flush();
  EXPECT_FALSE(end->Ready());
  cl::Event handle(static_cast<cl_event>(RetainedHandle(*end)));
  EXPECT_GT(handle.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);

  start.setStatus(CL_COMPLETE);
  ASSERT_OK((*queue)->Finish());
  EXPECT_TRUE(end->Ready());
  EXPECT_EQ(Read(copy, kFloats), std::vector<float>(kFloats, 8.0f));
}

// Where a thread does the run it does what the device would have.
TEST_F(OpenClInterop, IsOrderedByAThread) {
  const cl::Buffer in = Filled(kFloats + 1, 2.5f);
  const cl::Buffer out = Filled(kFloats + 1, 0.0f);
  const auto from = WrapMemObject(*device_, in(), 4, kBytes);
  const auto to = WrapMemObject(*device_, out(), 4, kBytes);
  const auto user = UserEvent::Create(*device_);
  ASSERT_OK(user);
  const auto run = ClientRun::Create(*device_);
  ASSERT_OK(run);
  ASSERT_OK((*run)->Await((*user)->event()));
  const auto input = (*run)->Input(*from);
  const auto output = (*run)->Output(*to, {});
  EXPECT_FALSE((*user)->event().Ready());
  (*user)->Reach(OkStatus());
  ASSERT_OK((*run)->Begin());
  ASSERT_OK(Twice(*input, *output));
  ASSERT_OK((*stream_->Record())->Wait());
  ASSERT_OK((*run)->Finish());
  std::vector<float> expected(kFloats + 1, 5.0f);
  expected[0] = 0;
  EXPECT_EQ(Read(out, kFloats + 1), expected);
}

TEST_F(OpenClInterop, AnEventThatNobodyReachedLetsTheRunFail) {
  std::unique_ptr<UserEvent> user = *UserEvent::Create(*device_);
  const auto run = ClientRun::Create(*device_);
  ASSERT_OK(run);
  ASSERT_OK((*run)->Await(user->event()));
  const cl::Buffer memory = Filled(kFloats, 1.0f);
  const auto wrapped = WrapMemObject(*device_, memory(), 0, kBytes);
  ASSERT_OK(wrapped);
  {
    const RunOrder::Scope scope(&(*run)->order());
    ASSERT_OK(Twice(*(*run)->Input(*wrapped), *(*run)->Output(*wrapped, {})));
  }
  user = nullptr;
  const Status ended = (*run)->End()->Wait();
  if (IsCpu(id_)) {  // Takes no failure.
    EXPECT_OK(ended);
    EXPECT_EQ(Read(memory, kFloats), std::vector<float>(kFloats, 2.0f));
    return;
  }
  EXPECT_FALSE(ended.ok());
  EXPECT_TRUE(FailsWith((*run)->Begin(), "an event that the run awaits"));
}

// Scopes end, and hide outer ones.
TEST(RunOrders, AreTheThreads) {
  struct Order final : RunOrder {
  } one, two;
  EXPECT_EQ(RunOrder::Current(), nullptr);
  {
    const RunOrder::Scope outer(&one);
    EXPECT_EQ(RunOrder::Current(), &one);
    {
      const RunOrder::Scope none(nullptr);
      EXPECT_EQ(RunOrder::Current(), nullptr);
      const RunOrder::Scope inner(&two);
      EXPECT_EQ(RunOrder::Current(), &two);
    }
    std::thread([] { EXPECT_EQ(RunOrder::Current(), nullptr); }).join();
    EXPECT_EQ(RunOrder::Current(), &one);
  }
  EXPECT_EQ(RunOrder::Current(), nullptr);
}

TEST_F(OpenClInterop, NamesTheDevice) {
  const auto identity = OpenClIdentity(id_());
  ASSERT_OK(identity);
  EXPECT_EQ(*identity, *OpenClIdentity(id_()));
  EXPECT_NE(identity->find(device_->info().name), std::string::npos);
  EXPECT_FALSE(OpenClIdentity(nullptr).ok());
  EXPECT_FALSE(IsOpenClAccelerator(-1));
  EXPECT_FALSE(IsOpenClAccelerator(1 << 20));
}

}  // namespace
}  // namespace tim::device
