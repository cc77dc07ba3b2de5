// Compiled graphs on host memory and on devices: what is copied, what follows
// what, and what is refused.
#include "runtime/compiled_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "base/checked_math.h"
#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/stream_counting_device.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using compiler::Port;
using device::BufferRange;
using device::Devices;
using ir::Layout;
using testing::FakeDevice;
using ::testing::HasSubstr;
using Floats = std::vector<float>;

ir::TensorDesc FloatDesc(const ir::Shape& shape) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = shape;
  return desc;
}

/// y = op(x), relu for one.
ir::Graph ReluGraph(
    const ir::Shape& shape,
    const ir::OpSchema* op = ops::BuiltinOperators().Find("tim.Relu")) {
  ir::Graph graph("relu");
  const ir::ValueId x = graph.AddValue(FloatDesc(shape), ir::Role::kInput, "x");
  const ir::ValueId y = graph.AddValue(FloatDesc(shape));
  ir::Node relu;
  relu.name = "relu";
  relu.schema = op;
  relu.inputs = {x};
  relu.outputs = {y};
  graph.AddNode(std::move(relu));
  graph.AddInput(x);
  graph.AddOutput(y);
  return graph;
}

Result<std::unique_ptr<CompiledGraph>> Compile(
    const ir::Graph& graph, const Devices& devices, const Port& input,
    const Port& output,
    const std::shared_ptr<const ir::OpRegistry>& registry =
        std::make_shared<const ir::OpRegistry>(&ops::BuiltinOperators())) {
  compiler::CompileOptions options = CompileOptionsFor(devices);
  options.inputs = {input};
  options.outputs = {output};
  TIM_ASSIGN_OR_RETURN(const auto inferred,
                       compiler::Infer(graph, *registry, options));
  return CompiledGraph::Create(inferred, options,
                               {.devices = devices,
                                .store = ProgramCache::Create({}),
                                .operators = registry});
}

PortMemory Memory(Floats& values) {
  return {values.data(), static_cast<int64_t>(values.size() * sizeof(float))};
}

Status RunOn(CompiledGraph& graph, const PortMemory& input,
             const PortMemory& output) {
  return graph.Run(std::span(&input, 1), std::span(&output, 1));
}

const Port kHost = {};
const Port kOnDevice = {.device = 1};

/// A device with memory of its own.
class OnFakeDevice : public ::testing::Test {
 protected:
  OnFakeDevice()
      : fake_(std::make_shared<FakeDevice>()),
        counting_(
            std::make_shared<testing::StreamCountingDevice>(fake_, counts_)),
        devices_({device::CreateHostDevice(), counting_}) {}

  BufferRange Allocate(int64_t floats) {
    auto buffer = fake_->Allocate(floats * 4, ir::MemoryKind::kDevice);
    EXPECT_OK(buffer);
    buffers_.push_back(*std::move(buffer));
    return {buffers_.back().get(), 0, floats * 4};
  }

  std::shared_ptr<FakeDevice> fake_;
  testing::StreamCounts counts_;
  std::shared_ptr<device::Device> counting_;
  Devices devices_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

TEST_F(OnFakeDevice, OneGraphsOutputIsTheNextOnesInputWithoutACopy) {
  const ir::Graph graph = ReluGraph({64});
  const auto first = Compile(graph, devices_, kHost, kOnDevice);
  const auto middle = Compile(graph, devices_, kOnDevice, kOnDevice);
  const auto last = Compile(graph, devices_, kOnDevice, kHost);
  ASSERT_OK(first);
  ASSERT_OK(middle);
  ASSERT_OK(last);
  Floats x(64);
  std::iota(x.begin(), x.end(), -32.0f);
  Floats y(64, -1);
  const BufferRange a = Allocate(64);
  const BufferRange b = Allocate(64);
  EXPECT_OK(RunOn(**first, Memory(x), a));
  counts_.copies = 0;
  EXPECT_OK(RunOn(**middle, a, b));
  EXPECT_EQ(counts_.copies, 0);
  EXPECT_OK(RunOn(**last, b, Memory(y)));
  for (float& value : x) value = std::max(value, 0.0f);
  EXPECT_EQ(y, x);
}

TEST_F(OnFakeDevice, RunsInFlightFollowThoseTheyAwait) {
  const ir::Graph graph = ReluGraph({64});
  const auto up = Compile(graph, devices_, kHost, kOnDevice);
  const auto down = Compile(graph, devices_, kOnDevice, kHost);
  ASSERT_OK(up);
  ASSERT_OK(down);
  constexpr int kRuns = 20;
  std::vector<Floats> inputs;
  std::vector<Floats> outputs(kRuns, Floats(64, -1));
  std::vector<std::shared_ptr<RunEvent>> events;
  for (int i = 0; i < kRuns; ++i)
    inputs.emplace_back(64, static_cast<float>(i));
  for (int i = 0; i < kRuns; ++i) {
    const PortMemory x = Memory(inputs[i]);
    const PortMemory between = Allocate(64);
    const PortMemory y = Memory(outputs[i]);
    auto uploaded = (*up)->Enqueue(std::span(&x, 1), std::span(&between, 1));
    ASSERT_OK(uploaded);
    auto downloaded =
        (*down)->Enqueue(std::span(&between, 1), std::span(&y, 1), {*uploaded});
    ASSERT_OK(downloaded);
    events.push_back(*downloaded);
  }
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_OK(events[i]->Wait());
    EXPECT_EQ(outputs[i], inputs[i]);
  }
}

// A context each, of programs that are built once.
TEST_F(OnFakeDevice, OneExecutableRunsInSeveralGraphs) {
  const auto first = Compile(ReluGraph({4}), devices_, kHost, kHost);
  ASSERT_OK(first);
  const auto second = CompiledGraph::Of(
      {.executable = (*first)->executable(), .context = nullptr});
  ASSERT_OK(second);
  EXPECT_EQ(&(*second)->plan(), &(*first)->plan());
  for (CompiledGraph* graph : {first->get(), second->get()}) {
    Floats x = {-1, 2, -3, 4};
    Floats y(4, -1);
    EXPECT_OK(RunOn(*graph, Memory(x), Memory(y)));
    EXPECT_EQ(y, (Floats{0, 2, 0, 4}));
  }
}

TEST_F(OnFakeDevice, InputsAreCopiedWhenWhatIsAwaitedHasWrittenThem) {
  fake_ =
      std::make_shared<FakeDevice>(testing::FakeOptions{.max_delay_us = 20000});
  devices_ = {device::CreateHostDevice(), fake_};
  const auto graph = Compile(ReluGraph({64}), devices_, kHost, kHost);
  ASSERT_OK(graph);
  Floats x(64, 7);
  // It is not aligned, and so copied.
  Floats between(65, -1);
  Floats y(64, -1);
  const PortMemory in = Memory(x);
  const PortMemory middle = {between.data() + 1, 256};
  const PortMemory out = Memory(y);
  const auto first =
      (*graph)->Enqueue(std::span(&in, 1), std::span(&middle, 1));
  ASSERT_OK(first);
  const auto second =
      (*graph)->Enqueue(std::span(&middle, 1), std::span(&out, 1), {*first});
  ASSERT_OK(second);
  EXPECT_OK((*second)->Wait());
  EXPECT_EQ(y, x);
}

TEST_F(OnFakeDevice, RangesOfOneBuffer) {
  const auto graph = Compile(ReluGraph({16}), devices_, kOnDevice, kOnDevice);
  ASSERT_OK(graph);
  const BufferRange whole = Allocate(64);
  const BufferRange a = {whole.buffer, 64, 64};
  const BufferRange b = {whole.buffer, 128, 64};
  EXPECT_OK(RunOn(**graph, a, b));
  EXPECT_OK(RunOn(**graph, b, a));
}

TEST_F(OnFakeDevice, MemoryThatIsNotAsThePlanHasItIsRefused) {
  const ir::Graph relu = ReluGraph({16});
  const auto graph = Compile(relu, devices_, kOnDevice, kHost);
  ASSERT_OK(graph);
  const BufferRange range = Allocate(64);
  Floats host(16);
  const auto says = [&](const PortMemory& input, const PortMemory& output) {
    const Status status = RunOn(**graph, input, output);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  };
  EXPECT_THAT(says(Memory(host), Memory(host)),
              HasSubstr("input 0 'x' is on a device, and was given host"));
  EXPECT_THAT(says(range, range),
              HasSubstr("is on the host, and was given a device's memory"));
  EXPECT_THAT(says(range, PortMemory()), HasSubstr("has no memory"));
  EXPECT_THAT(says(range, PortMemory(host.data(), 60)),
              HasSubstr("output 0 '%1' takes 64 bytes, was given 60"));
  EXPECT_THAT(says(BufferRange{range.buffer, 0, 32}, Memory(host)),
              HasSubstr("takes 64 bytes, was given 32"));
  EXPECT_THAT(says(BufferRange{range.buffer, 224, 64}, Memory(host)),
              HasSubstr("of a buffer of 256"));
  EXPECT_THAT(says(BufferRange{range.buffer, -64, 64}, Memory(host)),
              HasSubstr("of a buffer of 256"));
  EXPECT_THAT(says(BufferRange{range.buffer, 4, 64}, Memory(host)),
              HasSubstr("no multiple of 64"));
  EXPECT_THAT((*graph)->Run({}, {}).message(), HasSubstr("was given 0 and 0"));

  const auto inside = Compile(relu, devices_, kOnDevice, kOnDevice);
  ASSERT_OK(inside);
  EXPECT_THAT(RunOn(**inside, range, range).message(),
              HasSubstr("output 0 '%1' overlaps another port"));
}

TEST_F(OnFakeDevice, TenThousandRunsOnFourThreadsDoNotGrow) {
  fake_ = std::make_shared<FakeDevice>(testing::FakeOptions{.max_delay_us = 0});
  devices_ = {device::CreateHostDevice(), fake_};
  const auto graph = Compile(ReluGraph({64}), devices_, kHost, kHost);
  ASSERT_OK(graph);
  int64_t most = 0;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Floats x(64);
        Floats y(64);
        for (int i = 0; i < 1250; ++i) {
          std::fill(x.begin(), x.end(), static_cast<float>(t * 10000 + i));
          const PortMemory in = Memory(x);
          const PortMemory out = Memory(y);
          auto run = (*graph)->Enqueue(std::span(&in, 1), std::span(&out, 1));
          if (!run.ok() || !(*run)->Wait().ok() || x != y) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    if (round == 0) most = fake_->live_bytes();
    EXPECT_LE(fake_->live_bytes(), most);
  }
}

// Strided memory of a caller, and the same elements dense.
struct Strided {
  Strided(const ir::Shape& dims, std::mt19937& rng) : shape(dims) {
    std::vector<int> order(shape.rank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    strides.resize(order.size());
    int64_t step = 1 + static_cast<int64_t>(rng() % 2);
    for (const int dim : order) {
      strides[dim] = step;
      step = step * shape[dim] + static_cast<int64_t>(rng() % 3);
    }
    ir::TensorDesc desc = FloatDesc(shape);
    desc.layout = Layout::Strided(strides);
    memory.assign(*ir::PhysicalElements(desc) + first, -99);
  }

  int64_t PositionOf(int64_t element) const {
    int64_t position = first;
    for (int i = 0; i < shape.rank(); ++i) {
      position += element % shape[i] * strides[i];
      element /= shape[i];
    }
    return position;
  }
  int64_t count() const { return *shape.NumElements(); }
  Port port() const { return {.layout = Layout::Strided(strides)}; }
  // It begins within a line.
  PortMemory ports() {
    return {memory.data() + first,
            static_cast<int64_t>((memory.size() - first) * sizeof(float))};
  }

  static constexpr int64_t first = 3;
  ir::Shape shape;
  std::vector<int64_t> strides;
  Floats memory;
};

void CheckStrided(const Devices& devices) {
  std::mt19937 rng(7);
  const ir::Shape shapes[] = {{1},       {5},          {4, 3},
                              {7, 1, 3}, {5, 4, 3, 2}, {3, 2, 2, 2, 2}};
  for (const ir::Shape& shape : shapes) {
    Strided from(shape, rng);
    Strided to(shape, rng);
    const auto graph =
        Compile(ReluGraph(shape), devices, from.port(), to.port());
    ASSERT_OK(graph);
    Floats expected = to.memory;
    for (int64_t i = 0; i < from.count(); ++i) {
      const float value = static_cast<float>(i) - 2;
      from.memory[from.PositionOf(i)] = value;
      expected[to.PositionOf(i)] = std::max(value, 0.0f);
    }
    ASSERT_OK(RunOn(**graph, from.ports(), to.ports()));
    EXPECT_EQ(to.memory, expected) << shape.ToString();
  }
}

TEST(StridedPorts, OnTheHost) { CheckStrided({device::CreateHostDevice()}); }

TEST(StridedPorts, BesideADeviceWithMemoryOfItsOwn) {
  CheckStrided({device::CreateHostDevice(), std::make_shared<FakeDevice>()});
}

TEST(StridedPorts, OfAnOpenClDevice) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(opencl);
  const Devices devices = {device::CreateHostDevice(), *opencl};
  CheckStrided(devices);
  std::mt19937 rng(1);
  Strided memory({5, 4, 3, 2}, rng);
  const auto graph =
      Compile(ReluGraph(memory.shape), devices, memory.port(), memory.port());
  ASSERT_OK(graph);
  if (!devices[1]->info().unified_memory) return;
  for (const ir::Step& step : (*graph)->plan().steps) {
    EXPECT_TRUE(std::holds_alternative<ir::KernelLaunch>(step.action))
        << step.label;
  }
}

TEST(StridedPorts, OutputsThatLieOnTheInputKeepTheirGaps) {
  const Devices devices = {device::CreateHostDevice()};
  const Port even = {.layout = Layout::Strided({2})};
  const auto graph = Compile(ReluGraph({4}), devices, even, even);
  ASSERT_OK(graph);
  Floats memory = {-1, 50, 2, 51, -3, 52, 4};
  ASSERT_OK(RunOn(**graph, Memory(memory), Memory(memory)));
  EXPECT_EQ(memory, (Floats{0, 50, 2, 51, 0, 52, 4}));
}

TEST(CompiledGraph, PortsOfAnOpenClDevice) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(opencl);
  const Devices devices = {device::CreateHostDevice(), *opencl};
  const auto up = Compile(ReluGraph({64}), devices, kHost, kOnDevice);
  const auto down = Compile(ReluGraph({64}), devices, kOnDevice, kHost);
  ASSERT_OK(up);
  ASSERT_OK(down);
  const int64_t step = AlignUp(256, (*opencl)->info().alignment);
  auto buffer = (*opencl)->Allocate(3 * step, ir::MemoryKind::kDevice);
  ASSERT_OK(buffer);
  for (const int64_t offset : {int64_t{0}, step, 2 * step}) {
    Floats x(64, static_cast<float>(offset - step));
    Floats y(64, -1);
    const BufferRange between = {buffer->get(), offset, 256};
    ASSERT_OK(RunOn(**up, Memory(x), between));
    ASSERT_OK(RunOn(**down, between, Memory(y)));
    EXPECT_EQ(y, Floats(64, std::max(x[0], 0.0f)));
  }
}

}  // namespace
}  // namespace tim::runtime
