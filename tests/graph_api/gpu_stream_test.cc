// Runs of a gpu engine's stream: their order among each other and among a
// client's commands, and what becomes of failures.
#include "graph_api/gpu_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/opencl_interop.h"
#include "runtime/cache/program_cache.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

using device::ClientQueue;
using device::Event;
using runtime::CompiledGraph;
using testing::FailsWith;
using testing::PlanBuilder;
using Floats = std::vector<float>;
using Waits = std::vector<std::unique_ptr<Event>>;

constexpr int64_t kFloats = 8;
constexpr int64_t kBytes = kFloats * sizeof(float);
constexpr char kDouble[] =
    "__kernel void twice(__global const float* in, int in_0,\n"
    "                    __global float* out, int out_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) out[out_0 + i] = 2 * in[in_0 + i];\n"
    "}\n";

class GpuStreams : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    context_ = cl::Context(id_);
    clients_ = cl::CommandQueue(context_, id_);
    auto device = device::CreateOpenClDevice(id_(), context_(), {});
    ASSERT_OK(device);
    device_ = *std::move(device);
  }

  // From an input to an output on the device.
  std::shared_ptr<CompiledGraph> Prepared(PlanBuilder builder) {
    for (auto& slot : builder.plan().slots) {
      if (slot.kind != ir::SlotKind::kArena) slot.device = 1;
    }
    builder.plan().inputs[0].device = 1;
    builder.plan().outputs[0].device = 1;
    auto graph = CompiledGraph::Load(
        std::move(builder.plan()), {.devices = builder.devices(),
                                    .store = runtime::ProgramCache::Create({}),
                                    .operators = builder.operators()});
    EXPECT_OK(graph);
    return graph.ok() ? std::shared_ptr<CompiledGraph>(*std::move(graph))
                      : nullptr;
  }
  std::shared_ptr<CompiledGraph> Twice() {
    PlanBuilder builder({device::CreateHostDevice(), device_}, kFloats);
    const int in = builder.Input();
    const int out = builder.Output();
    builder.Launch(1, testing::FloatLaunch(kDouble, "twice", kFloats, 2),
                   {in, out});
    return Prepared(std::move(builder));
  }
  // The host's part between two copies.
  std::shared_ptr<CompiledGraph> OnHost(testing::FloatFunction function) {
    PlanBuilder builder({device::CreateHostDevice(), device_}, kFloats);
    const int in = builder.Input();
    const int out = builder.Output();
    const int before = builder.Temporary(0);
    const int after = builder.Temporary(0);
    const int read = builder.Copy(1, in, before);
    const int eval =
        builder.Eval(0, std::move(function), before, after, {read});
    builder.Copy(1, after, out, {eval});
    return Prepared(std::move(builder));
  }

  cl::Buffer Filled(float value, int64_t floats = kFloats) {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, floats * sizeof(float));
    clients_.enqueueFillBuffer(buffer, value, 0, floats * sizeof(float));
    clients_.finish();
    return buffer;
  }
  Floats Read(const cl::Buffer& buffer, int64_t floats = kFloats) {
    Floats values(floats);
    clients_.enqueueReadBuffer(buffer, CL_TRUE, 0, floats * sizeof(float),
                               values.data());
    return values;
  }
  GpuPort Port(const cl::Buffer& buffer, int64_t offset = 0) {
    auto memory = device::WrapMemObject(*device_, buffer(), offset, kBytes);
    EXPECT_OK(memory);
    return {.memory = std::make_shared<const device::ClientMemory>(
                *std::move(memory))};
  }
  Waits After(const cl::Event& event) {
    Waits waits;
    waits.push_back(*device::EventOf(*device_, event()));
    return waits;
  }

  cl::CommandQueue clients_;
};

Status Execute(GpuStream& stream, const std::shared_ptr<CompiledGraph>& graph,
               const GpuPort& in, const GpuPort& out, const Waits& waits = {}) {
  return stream.Execute(graph, {&in, 1}, {&out, 1}, waits).status();
}

// Three runs are in flight before the first can start.
TEST_F(GpuStreams, RunsAreInOrderWithoutAWait) {
  const auto graph = Twice();
  ASSERT_NE(graph, nullptr);
  GpuStream stream(device_, nullptr);
  const GpuPort a = Port(Filled(1));
  const cl::Buffer last = Filled(0);
  const GpuPort b = Port(Filled(0)), c = Port(last);
  cl::UserEvent start(context_);
  ASSERT_OK(Execute(stream, graph, a, b, After(start)));
  ASSERT_OK(Execute(stream, graph, b, a));
  const auto end = stream.Execute(graph, {&a, 1}, {&c, 1});
  ASSERT_OK(end);
  EXPECT_FALSE((*end)->Ready());
  EXPECT_EQ(Read(last), Floats(kFloats, 0));
  start.setStatus(CL_COMPLETE);
  EXPECT_OK(stream.Wait());
  EXPECT_EQ(Read(last), Floats(kFloats, 8));
  EXPECT_OK(stream.Wait());
}

TEST_F(GpuStreams, RunsAreAmongTheCommandsOfAQueue) {
  const auto graph = Twice();
  ASSERT_NE(graph, nullptr);
  for (const bool made_here : {false, true}) {
    SCOPED_TRACE(made_here);
    auto own = made_here ? nullptr : *ClientQueue::Of(*device_, clients_());
    GpuStream stream(device_, std::move(own));
    const auto queue = stream.Queue();
    ASSERT_OK(queue);
    EXPECT_EQ(*stream.Queue(), *queue);
    const cl::CommandQueue commands(
        static_cast<cl_command_queue>((*queue)->handle()), true);
    EXPECT_EQ(commands() == clients_(), !made_here);

    const cl::Buffer in = Filled(0), out = Filled(0), copy = Filled(0);
    cl::UserEvent start(context_);
    const std::vector<cl::Event> after = {start};
    commands.enqueueFillBuffer(in, 3.0f, 0, kBytes, &after);
    ASSERT_OK(Execute(stream, graph, Port(in), Port(out)));
    commands.enqueueCopyBuffer(out, copy, 0, 0, kBytes);
    start.setStatus(CL_COMPLETE);
    ASSERT_OK(stream.Wait());
    EXPECT_EQ(Read(copy), Floats(kFloats, 6));
  }
}

TEST_F(GpuStreams, StreamsDoNotWaitForEachOther) {
  const auto graph = Twice();
  ASSERT_NE(graph, nullptr);
  GpuStream held(device_, nullptr), free(device_, nullptr);
  const cl::Buffer out = Filled(0);
  cl::UserEvent start(context_);
  ASSERT_OK(
      Execute(held, graph, Port(Filled(1)), Port(Filled(0)), After(start)));
  ASSERT_OK(Execute(free, graph, Port(Filled(5)), Port(out)));
  EXPECT_OK(free.Wait());
  EXPECT_EQ(Read(out), Floats(kFloats, 10));
  start.setStatus(CL_COMPLETE);
  EXPECT_OK(held.Wait());
}

// Memory that is not aligned is copied, by the device and by a thread.
TEST_F(GpuStreams, TakesMemoryFromAnyElementOn) {
  const auto half = [](std::span<const float> in, std::span<float> out) {
    for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] / 2;
    return OkStatus();
  };
  for (const bool on_host : {false, true}) {
    SCOPED_TRACE(on_host);
    const auto graph = on_host ? OnHost(half) : Twice();
    ASSERT_NE(graph, nullptr);
    GpuStream stream(device_, nullptr);
    const cl::Buffer out = Filled(-1, kFloats + 2);
    ASSERT_OK(
        Execute(stream, graph, Port(Filled(4, kFloats + 1), 4), Port(out, 4)));
    ASSERT_OK(stream.Wait());
    Floats expected(kFloats + 2, on_host ? 2.0f : 8.0f);
    expected.front() = expected.back() = -1;
    EXPECT_EQ(Read(out, kFloats + 2), expected);
  }
}

// The client's queue goes on when the thread has done the run.
TEST_F(GpuStreams, WorkOfTheHostIsDoneByAThread) {
  std::atomic<std::thread::id> where;
  const auto graph =
      OnHost([&](std::span<const float> in, std::span<float> out) {
        where = std::this_thread::get_id();
        for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 1;
        return OkStatus();
      });
  ASSERT_NE(graph, nullptr);
  GpuStream stream(device_, *ClientQueue::Of(*device_, clients_()));
  const cl::Buffer in = Filled(0), out = Filled(0), copy = Filled(0);
  cl::UserEvent start(context_);
  const std::vector<cl::Event> after = {start};
  clients_.enqueueFillBuffer(in, 3.0f, 0, kBytes, &after);
  ASSERT_OK(Execute(stream, graph, Port(in), Port(out)));
  ASSERT_OK(Execute(stream, graph, Port(out), Port(in)));
  clients_.enqueueCopyBuffer(in, copy, 0, 0, kBytes);
  start.setStatus(CL_COMPLETE);
  ASSERT_OK(stream.Wait());
  EXPECT_EQ(Read(copy), Floats(kFloats, 5));
  EXPECT_NE(where.load(), std::this_thread::get_id());
}

TEST_F(GpuStreams, AFailureIsToldOnce) {
  const auto graph =
      OnHost([](std::span<const float> in, std::span<float> out) {
        if (in[0] < 0) return InvalidArgument("negative");
        out[0] = in[0];
        return OkStatus();
      });
  ASSERT_NE(graph, nullptr);
  GpuStream stream(device_, nullptr);
  ASSERT_OK(Execute(stream, graph, Port(Filled(-1)), Port(Filled(0))));
  EXPECT_TRUE(FailsWith(stream.Wait(), "negative"));
  EXPECT_OK(stream.Wait());
  const cl::Buffer out = Filled(0);
  ASSERT_OK(Execute(stream, graph, Port(Filled(7)), Port(out)));
  EXPECT_OK(stream.Wait());
  EXPECT_EQ(Read(out)[0], 7);
  // Also one that nobody has waited for before the next.
  ASSERT_OK(Execute(stream, graph, Port(Filled(-1)), Port(out)));
  graph->Drain();
  ASSERT_OK(Execute(stream, graph, Port(Filled(7)), Port(Filled(0))));
  EXPECT_FALSE(stream.Wait().ok());
  EXPECT_OK(stream.Wait());
  // Settle() leaves it.
  ASSERT_OK(Execute(stream, graph, Port(Filled(-1)), Port(out)));
  EXPECT_FALSE(stream.Settle());
  EXPECT_FALSE(stream.Settle());
  EXPECT_TRUE(FailsWith(stream.Wait(), "negative"));
  EXPECT_TRUE(stream.Settle());
}

TEST_F(GpuStreams, RunsOfNothingAreInOrder) {
  GpuStream stream(device_, nullptr);
  cl::UserEvent start(context_);
  ASSERT_OK(stream.Execute(nullptr, {}, {}, After(start)));
  const auto end = stream.Execute(nullptr, {}, {});
  ASSERT_OK(end);
  EXPECT_FALSE((*end)->Ready());
  start.setStatus(CL_COMPLETE);
  EXPECT_OK(stream.Wait());
}

// Tensors and the stream may go while a run is in flight.
TEST_F(GpuStreams, RunsKeepWhatTheyNeed) {
  const cl::Buffer out = Filled(0);
  cl::UserEvent start(context_);
  std::thread starts;
  {
    GpuStream stream(device_, nullptr);
    ASSERT_OK(
        Execute(stream, Twice(), Port(Filled(9)), Port(out), After(start)));
    starts = std::thread([&] { start.setStatus(CL_COMPLETE); });
  }
  starts.join();
  EXPECT_EQ(Read(out), Floats(kFloats, 18));
}

}  // namespace
}  // namespace tim::graph
