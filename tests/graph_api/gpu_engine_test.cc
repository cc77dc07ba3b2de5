// Gpu engines, asynchronous streams, and failures of devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/driver/cl_api.h"
#include "graph_api/gpu_ports.h"
#include "tests/graph_api/client_objects.h"
#include "tests/support/devices/fake_device.h"
#include "tim/graph/c_ocl.h"

namespace tim::graph {
namespace {

using testing::CompiledOp;
using testing::Described;
using testing::EngineHandle;
using testing::Execute;
using testing::HandleOf;
using testing::MakeEngine;
using testing::MakeStream;
using testing::MakeTensor;
using testing::StreamHandle;
using testing::TensorHandle;
using Floats = std::vector<float>;

constexpr int64_t kFloats = 32;

LogicalTensor Vector(size_t id, int64_t floats = kFloats) {
  return Described(id, {floats});
}

tim_graph_compiled_partition Twice(const EngineHandle& engine) {
  return testing::Twice(Vector(0), Vector(1), engine);
}

float* Values(const TensorHandle& tensor) {
  return static_cast<float*>(HandleOf(tensor));
}

Floats Read(const TensorHandle& from, int64_t floats = kFloats) {
  return {Values(from), Values(from) + floats};
}

class GpuEngines : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TIMCL_GRAPH_GPU", "all", 1);
    if (tim_graph_engine_get_count(tim_graph_gpu) == 0) {
      GTEST_SKIP() << "no OpenCL device";
    }
    engine_ = MakeEngine(tim_graph_gpu);
    if (HandleKindOf(*engine_) != HandleKind::kPointer) {
      GTEST_SKIP() << "no shared memory, which the host reads here";
    }
  }

  // Shared memory that the host reaches.
  TensorHandle Filled(const LogicalTensor& description, float value) const {
    TensorHandle made = MakeTensor(description, engine_);
    size_t bytes = 0;
    tim_graph_logical_tensor_get_mem_size(&description, &bytes);
    std::fill_n(Values(made), bytes / sizeof(float), value);
    return made;
  }
  void Wait(const StreamHandle& stream) const {
    EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
  }

  EngineHandle engine_;
};

TEST_F(GpuEngines, AreCountedAndRun) {
  EXPECT_EQ(engine_->kind(), tim_graph_gpu);
  const size_t count = tim_graph_engine_get_count(tim_graph_gpu);
  tim_graph_engine* none = nullptr;
  EXPECT_EQ(tim_graph_engine_create(&none, tim_graph_gpu, count),
            tim_graph_invalid_arguments);
  EXPECT_EQ(tim_graph_engine_create(&none, tim_graph_any_engine, 0),
            tim_graph_invalid_arguments);
  const StreamHandle stream = MakeStream(engine_);
  const TensorHandle in = Filled(Vector(0), 3), out = Filled(Vector(1), 0);
  EXPECT_EQ(Execute(Twice(engine_), stream, {in}, out), tim_graph_success);
  Wait(stream);
  EXPECT_EQ(Read(out), Floats(kFloats, 6));
}

// Each execute reads what the one before has written, and nobody waits in
// between.
TEST_F(GpuEngines, ExecutesAreInOrder) {
  const auto twice = Twice(engine_);
  const StreamHandle stream = MakeStream(engine_);
  const TensorHandle a = Filled(Vector(0), 1), b = Filled(Vector(1), 0);
  const TensorHandle a_out = MakeTensor(Vector(1), engine_, HandleOf(a));
  const TensorHandle b_in = MakeTensor(Vector(0), engine_, HandleOf(b));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(Execute(twice, stream, {a}, b), tim_graph_success);
    ASSERT_EQ(Execute(twice, stream, {b_in}, a_out), tim_graph_success);
  }
  Wait(stream);
  EXPECT_EQ(Read(a), Floats(kFloats, 1024));
  EXPECT_EQ(Read(b), Floats(kFloats, 512));
}

TEST_F(GpuEngines, TakePointersFromAnyElementOn) {
  const StreamHandle stream = MakeStream(engine_);
  const TensorHandle in = Filled(Vector(0, kFloats + 5), 4);
  const TensorHandle out = Filled(Vector(1, kFloats + 7), -1);
  EXPECT_EQ(Execute(Twice(engine_), stream,
                    {MakeTensor(Vector(0), engine_, Values(in) + 5)},
                    MakeTensor(Vector(1), engine_, Values(out) + 3)),
            tim_graph_success);
  Wait(stream);
  Floats expected(kFloats + 7, -1);
  std::fill_n(expected.begin() + 3, kFloats, 8.0f);
  EXPECT_EQ(Read(out, kFloats + 7), expected);
}

// Two engines of one device are two.
TEST_F(GpuEngines, StreamsAreOfTheirEngine) {
  const EngineHandle other = MakeEngine(tim_graph_gpu);
  const StreamHandle stream = MakeStream(other);
  EXPECT_EQ(Execute(Twice(engine_), stream, {Filled(Vector(0), 1)},
                    Filled(Vector(1), 0)),
            tim_graph_invalid_arguments);
  const TensorHandle in = MakeTensor(Vector(0), other);
  const TensorHandle out = MakeTensor(Vector(1), other);
  *Values(in) = 21;
  EXPECT_EQ(Execute(Twice(other), stream, {in}, out), tim_graph_success);
  Wait(stream);
  EXPECT_EQ(*Values(out), 42);
}

// Tensors and handles may go while runs are in flight; memory of the library
// stays until then.
TEST_F(GpuEngines, RunsKeepTheLibrarysMemory) {
  const StreamHandle stream = MakeStream(engine_);
  const TensorHandle out = Filled(Vector(1), 0);
  EXPECT_EQ(Execute(Twice(engine_), stream, {Filled(Vector(0), 7)}, out),
            tim_graph_success);
  Wait(stream);
  EXPECT_EQ(Read(out), Floats(kFloats, 14));
}

// Three long runs are in flight before the first has ended.
TEST_F(GpuEngines, ExecuteReturnsAtOnce) {
  constexpr int64_t kSize = 700;
  const auto matrix = [](size_t id) { return Described(id, {kSize, kSize}); };
  const auto product = CompiledOp("MatMul", {matrix(0), matrix(1)},
                                  {matrix(0), matrix(1)}, matrix(2), engine_);
  const TensorHandle a = Filled(matrix(0), 1);
  const TensorHandle b = Filled(matrix(1), 1.0f / kSize);
  const std::vector<TensorHandle> c = {
      Filled(matrix(2), 0), Filled(matrix(2), 0), Filled(matrix(2), 0)};
  const StreamHandle stream = MakeStream(engine_);
  // Three that cannot start, so that there is memory for as many.
  cl_context context = nullptr;
  tim_graph_ocl_interop_engine_get_context(engine_.get(), &context);
  cl::UserEvent hold(cl::Context(context, true));
  cl_event const deps = hold();
  const std::vector<const_tim_graph_tensor_t> in = {a.get(), b.get()};
  for (const auto& out : c) {
    std::vector<const_tim_graph_tensor_t> inputs = in;
    const_tim_graph_tensor_t output = out.get();
    EXPECT_EQ(tim_graph_ocl_interop_compiled_partition_execute(
                  &product, stream.get(), 2, inputs.data(), 1, &output, &deps,
                  1, nullptr),
              tim_graph_success)
        << tim_graph_last_message();
  }
  hold.setStatus(CL_COMPLETE);
  Wait(stream);

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const auto& out : c) {
    ASSERT_EQ(Execute(product, stream, {a, b}, out), tim_graph_success);
  }
  const auto enqueued = Clock::now() - start;
  Wait(stream);
  const auto done = Clock::now() - start;
  EXPECT_LT(enqueued * 2, done);
  for (const auto& out : c) EXPECT_NEAR(*Values(out), 1.0f, 1e-3f);
}

// A cpu engine of a device that fails when it is told to.
class FailingDevices : public ::testing::Test {
 protected:
  FailingDevices() {
    fake_ = std::make_shared<::tim::testing::FakeDevice>(
        ::tim::testing::FakeOptions{.max_delay_us = 0});
    EngineParts parts;
    parts.kind = tim_graph_cpu;
    parts.devices = {device::CreateHostDevice(), fake_};
    parts.allocator = OwnHostAllocator();
    parts.programs = ProgramsFor(*fake_);
    engine_ = testing::Own(tim_graph_engine::Make(std::move(parts)));
    in_.assign(kFloats, 1);
    out_.assign(kFloats, 0);
  }
  tim_graph_status_t Double(const tim_graph_compiled_partition& compiled,
                            const StreamHandle& stream) {
    return Execute(compiled, stream,
                   {MakeTensor(Vector(0), engine_, in_.data())},
                   MakeTensor(Vector(1), engine_, out_.data()));
  }

  std::shared_ptr<::tim::testing::FakeDevice> fake_;
  EngineHandle engine_;
  Floats in_;
  Floats out_;
};

TEST_F(FailingDevices, TellTheExecuteThatWaits) {
  const auto twice = Twice(engine_);
  const StreamHandle stream = MakeStream(engine_);
  EXPECT_EQ(Double(twice, stream), tim_graph_success);
  EXPECT_EQ(out_, Floats(kFloats, 2));
  fake_->LoseAtStep(1);
  EXPECT_EQ(Double(twice, stream), tim_graph_runtime_error);
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
}

// Executes return while the device begins nothing; its failure is told by the
// next wait, and by no later one.
TEST_F(FailingDevices, TellTheNextWaitOnce) {
  const auto twice = Twice(engine_);
  const StreamHandle stream =
      MakeStream(engine_, tim_graph_stream_asynchronous);
  fake_->Pause();
  EXPECT_EQ(Double(twice, stream), tim_graph_success);
  EXPECT_EQ(out_, Floats(kFloats, 0));
  fake_->Resume();
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
  EXPECT_EQ(out_, Floats(kFloats, 2));

  fake_->LoseAtStep(1);
  EXPECT_EQ(Double(twice, stream), tim_graph_success);
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_runtime_error);
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
}

}  // namespace
}  // namespace tim::graph
