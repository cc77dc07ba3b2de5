// Programs on devices that are unlike the host: what waits for what, what is
// copied and allocated, and who takes which node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/typed_kernel.h"
#include "ops/registered.h"
#include "tests/values/fake_devices.h"
#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using tim::testing::FakeOptions;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_STRICT", "0", 1);  // holders are steps of the host
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

Graph Affine(float scale, float offset) {
  return Graph::Capture(
      [=](const Values& in) -> Values { return {in[0] * scale + offset}; },
      {Spec()}, "affine");
}

// A result that a program makes on the host is taken from there by the next.
TEST(Holders, AreFollowedWithoutAWait) {
  std::atomic<bool> open = false;
  const Spec two(Type::kFloat32, {2});
  const HolderFunction slow = [&](const std::vector<Plain>& in,
                                  std::vector<Plain>* out, std::string*) {
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (*out)[0] = MakePlain(in[0].spec, in[0].data.get());
    return true;
  };
  const Fake fake;
  for (const std::string& device :
       {fake.front.spec(), std::string("opencl:0")}) {
    if (!Device(device).ok()) continue;
    SCOPED_TRACE(device);
    ProgramOptions options;
    options.devices = device;
    const Program first =
        Graph::Capture(
            [&](const Values& in) -> Values {
              return {Holder("acme.Slow", {Relu(in[0])}, {two}, slow)};
            },
            {two})
            .Compile(options);
    const Program second = Affine(2, 1).Compile(options);
    for (const float x : {1.0f, 5.0f}) {
      open = false;
      // Ends the test where something waits.
      std::thread opener([&] {
        for (int i = 0; i < 20000 && !open; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        open = true;
      });
      const Value y = first.Run({Floats({2}, {x, -1})})[0];
      const Value z = second.Run({y})[0];
      EXPECT_FALSE(open.exchange(true)) << "a run waited for the other one";
      EXPECT_THAT(z.ToVector<float>(), ElementsAre(2 * x + 1, 1)) << z.error();
      EXPECT_EQ(z.device().spec(), device);
      opener.join();
    }
    EXPECT_EQ(second.stats().plans, 1);
  }
}

// A kernel for what is called acme.Claimed.
const bool g_claims = [] {
  ops::RegisterOperators("acme.Claimed", [](ir::OpRegistry& registry) {
    ir::PlainKernel kernel;
    kernel.op = "acme.Claimed";
    kernel.name = "claimed";
    kernel.device_kind = "fake";
    kernel.analyze = [](const ir::KernelNode& node, const ir::DeviceInfo&) {
      return node.epilogue.empty() ? OkStatus() : Unimplemented("an epilogue");
    };
    kernel.cost = [](const ir::KernelNode&, const ir::DeviceInfo&) {
      return 1.0;
    };
    kernel.lower = [](const ir::KernelNode&,
                      const ir::DeviceInfo&) -> Result<ir::Lowering> {
      using Kind = ir::LoweredOperand::Kind;
      ir::KernelLaunch launch;
      launch.source = "claimed.cl";
      launch.function = "claimed";
      launch.arguments = {ir::TensorArg{.operand = 0},
                          ir::TensorArg{.operand = 1}};
      launch.range.global = {1, 1, 1};
      ir::LoweredStep step;
      step.operands = {{Kind::kInput, 0}, {Kind::kOutput, 0}};
      step.written = {false, true};
      step.action = std::move(launch);
      ir::Lowering lowering;
      lowering.steps.push_back(std::move(step));
      return lowering;
    };
    registry.Add(std::move(kernel));
  });
  return true;
}();

// Devices that take it: it adds 1 to a number.
FakeOptions Claiming(std::atomic<int>* launches) {
  FakeOptions options;
  options.max_delay_us = 0;
  options.kernels["claimed"] = [launches](std::span<std::byte* const> x) {
    ++*launches;
    float y = 0;
    std::memcpy(&y, x[0], sizeof(y));
    y += 1;
    std::memcpy(x[1], &y, sizeof(y));
  };
  return options;
}

Graph AddsOne(const std::string& name) {
  return Graph::Capture(
      [](const Values& in) -> Values { return {in[0] + 1.0f}; },
      {Spec(Type::kFloat32, {1})}, name);
}

// Whoever takes it again takes the copy on the device, by the plan for that.
TEST(Holders, AreCopiedOnce) {
  const Spec one(Type::kFloat32, {1});
  std::atomic<int> launches = 0;
  FakeOptions options = Claiming(&launches);
  options.runs_eval = false;
  const Fake fake(options);
  const Program first = fake.Compile(Graph::Capture(
      [&](const Values& in) -> Values {
        return {Holder("acme.Pass", {in[0]}, {one},
                       [](const std::vector<Plain>& x, std::vector<Plain>* y,
                          std::string*) { return *y = x, true; })};
      },
      {one}));
  const Graph block = AddsOne("acme.Claimed");
  Program second = fake.Compile(Graph::Capture(
      [&](const Values& in) -> Values { return {Value(block.Call(in))}; },
      {one}));
  ASSERT_TRUE(second.Prepare({one})) << LastError();
  const Value y = first.Run({Floats({1}, {4})})[0];
  ASSERT_TRUE(y.Wait()) << y.error();
  EXPECT_EQ(y.device().spec(), "host");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(second.Run({y})[0].Wait());
  EXPECT_EQ(second.stats().plans, 2);
  const int before = fake.device->copies();
  Value z;
  for (int i = 0; i < 5; ++i) {
    z = second.Run({y})[0];
    ASSERT_TRUE(z.Wait()) << z.error();
  }
  EXPECT_EQ(fake.device->copies(), before);
  EXPECT_THAT(z.ToVector<float>(), ElementsAre(5));
}

// Threads with other shapes, whose operands the host is still to make or not.
TEST(Programs, HaveAPlanForEachShapeOnSeveralThreads) {
  const Fake fake({.max_delay_us = 50});
  const Program first = fake.Compile(Graph::Capture(
      [](const Values& in) -> Values {
        return {Holder("acme.Pass", {in[0]}, {Spec(Type::kFloat32, {3})},
                       [](const std::vector<Plain>& x, std::vector<Plain>* y,
                          std::string*) {
                         (*y)[0] = MakePlain(x[0].spec, x[0].data.get());
                         return true;
                       })};
      },
      {Spec(Type::kFloat32, {3})}));
  const Program second = fake.Compile(Affine(2, 1));
  ASSERT_TRUE(first.ok() && second.ok()) << LastError();
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Shape shape = t % 2 == 0 ? Shape({3}) : Shape({1, 3});
      for (int i = 0; i < 40; ++i) {
        const auto from = static_cast<float>(i);
        const Value x = Floats({3}, {from, from + 1, from + 2});
        const Value y = first.Run({x})[0];
        if (i % 3 == 0) y.Wait();
        const Value z = second.Run({t % 2 == 0 ? y : Reshape(x, {1, 3})})[0];
        EXPECT_EQ(z.spec().shape, shape);
        EXPECT_THAT(z.ToVector<float>(),
                    ElementsAre(2 * from + 1, 2 * from + 3, 2 * from + 5))
            << z.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(second.stats().plans, 2);
  EXPECT_EQ(second.stats().misses, 2);
  EXPECT_EQ(first.stats().misses, 1);
}

TEST(Holders, KeepTheirOrderOnStreams) {
  const Fake fake({.max_delay_us = 300});
  std::mutex mutex;
  std::vector<int> seen;
  const Spec one(Type::kFloat32, {1});
  const auto append = [&](const Value& x, int what) -> Value {
    Effects ordered;
    ordered.ordered = true;
    return Holder(
        "acme.Append", {x}, {one},
        [&, what](const std::vector<Plain>& in, std::vector<Plain>* out,
                  std::string*) {
          const std::lock_guard<std::mutex> lock(mutex);
          seen.push_back(what);
          (*out)[0] = in[0];
          return true;
        },
        ordered);
  };
  // The second holder's operand is there long before the first one's.
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        Value late = in[0];
        for (int i = 0; i < 4; ++i) late = late + 1.0f;
        const Value first = append(late, 1);
        const Value second = append(in[0] * 2.0f, 2);
        return {first + second};
      },
      {one});
  ASSERT_TRUE(graph.ok()) << graph.error();
  const Program program = fake.Compile(graph, "streams=2");
  ASSERT_TRUE(program.ok()) << program.error();
  Values results;
  for (int i = 0; i < 100; ++i) {
    results.push_back(program.Run({Floats({1}, {1})})[0]);
  }
  for (const Value& y : results) {
    ASSERT_THAT(y.ToVector<float>(), ElementsAre(7)) << y.error();
  }
  ASSERT_EQ(seen.size(), 200u);
  for (size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], static_cast<int>(i % 2) + 1) << i;
  }
}

// Kernels take graphs by their names; without one they are opened.
TEST(CalledGraphs, AreClaimedByName) {
  ASSERT_TRUE(g_claims);
  std::atomic<int> launches = 0;
  const Fake fake(Claiming(&launches));
  const Spec one(Type::kFloat32, {1});
  const Value x = Floats({1}, {3});
  for (const bool claimed : {true, false}) {
    const std::string name = claimed ? "acme.Claimed" : "acme.Opened";
    const Graph block = AddsOne(name);
    const Graph graph = Graph::Capture(
        [&](const Values& in) -> Values {
          return {block.Call({Value(block.Call(in))})};
        },
        {one});
    EXPECT_EQ(graph.FindAll(Pattern::Op(name)).size(), 2u);
    Program program = fake.Compile(graph);
    // Kernels are tried before the first run.
    ASSERT_TRUE(program.Prepare({one})) << LastError();
    launches = 0;
    const Value y = program.Run({x})[0];
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(5)) << y.error();
    EXPECT_EQ(launches, claimed ? 2 : 0);
    for (const char* node : {"#0", "#1"}) {
      EXPECT_THAT(program.Explain(),
                  HasSubstr(name + node + (claimed ? ": fake:claimed" : "/")));
    }
  }
}
}  // namespace
}  // namespace tim::values
