// Values on devices that are unlike the host: memory of their own, work that is
// done later, memory that runs out, a device that is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/devices/stream_counting_device.h"
#include "tests/values/fake_devices.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/value_state.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using tim::testing::FakeDevice;

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

TEST(Fakes, ComputeAsTheHost) {
  const Fake fake;
  const ModeScope scope(Mode::kEager, fake.front);
  const Value x = Floats({3, 2}, {0.5f, -2, 3, 4, 5, -6});
  const Value y = Relu(x + Floats({3}, {-1, 0, 1}));
  ASSERT_TRUE(y.ok()) << y.error();
  EXPECT_EQ(y.device().spec(), fake.front.spec());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(0, 0, 4, 3, 5, 0));
}

TEST(Fakes, RefuseOperandsOfAnother) {
  const Fake one;
  const Fake other;
  const Value x = one.front.Move(Floats({2}, {1, 2}));
  const Value y = other.front.Move(Floats({2}, {3, 4}));
  const Value sum = x + y;
  EXPECT_THAT(sum.error(), HasSubstr(one.front.spec()));
  EXPECT_THAT(sum.error(), HasSubstr(other.front.spec()));
  EXPECT_THAT(sum.error(), HasSubstr("Device::Move"));
  EXPECT_THAT((x + one.front.Move(y)).ToVector<float>(), ElementsAre(4, 6));
}

TEST(Copies, AreNotMadeBetweenPrograms) {
  const Fake fake;
  const Program first = fake.Compile(Affine(2, 1));
  const Program second = fake.Compile(Affine(3, 0));
  const Value x = fake.front.Move(Floats({2}, {1, 2}));
  ASSERT_TRUE(x.Wait()) << x.error();
  // Plans and their constants are there, and what they copy has been.
  ASSERT_TRUE(second.Run(first.Run({x}))[0].Wait());
  const int before = fake.device->copies();
  const Value y = first.Run({x})[0];
  const Value z = second.Run({y})[0];
  const ModeScope scope(Mode::kEager, fake.front);
  const Value eager = Relu(z + y);
  ASSERT_TRUE(eager.Wait()) << eager.error();
  EXPECT_EQ(fake.device->copies(), before);
  EXPECT_THAT(eager.ToVector<float>(), ElementsAre(12, 20));
  EXPECT_EQ(fake.device->copies(), before + 1);
  EXPECT_THAT(z.ToVector<float>(), ElementsAre(9, 15));
}

std::vector<float> Numbers(int64_t count) {
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i) {
    data.push_back(static_cast<float>(i * 7 % 23 - 11) / 8);
  }
  return data;
}

TEST(Copies, AreNotMadeOnOpenCl) {
  const Device open("opencl:0");
  if (!open.ok()) GTEST_SKIP() << "no OpenCL device: " << LastError();
  // The process keeps the device.
  static auto* const counts = new tim::testing::StreamCounts();
  const auto device = std::make_shared<tim::testing::StreamCountingDevice>(
      internal::DeviceState::Find("opencl:0")->stream().shared_device(),
      *counts);
  const Device front = TestDevices::Get().Add(device);
  ASSERT_TRUE(front.ok()) << LastError();
  const Spec weights(Type::kFloat32, {3, 3, 16, 16});
  const Value w = Value::Constant(weights, Numbers(3 * 3 * 16 * 16).data());
  ProgramOptions options;
  options.devices = front.spec();
  const Graph conv = Graph::Capture(
      [&](const Values& in) -> Values { return {Conv2d(in[0], w)}; }, {Spec()},
      "conv");
  const Program first = conv.Compile(options);
  const Program second = conv.Compile(options);
  const Value host = Floats({12, 12, 16, 1}, Numbers(12 * 12 * 16));
  const Value x = front.Move(host);
  ASSERT_TRUE(second.Run(first.Run({x}))[0].Wait()) << LastError();
  const int before = counts->copies;
  const Value y = first.Run({x})[0];
  const Value z = second.Run({y})[0];
  ASSERT_TRUE(z.Wait()) << z.error();
  EXPECT_EQ(counts->copies, before);
  // Blocks that one has made the other takes as they are: nothing is converted.
  const ir::Layout made = internal::StateOf(y)->home().layout;
  if (made.kind == ir::LayoutKind::kBlocked) {
    EXPECT_THAT(second.Explain(), HasSubstr(made.ToString()));
  }
  const Node node("tim.Conv2d");
  const Plain between = node.Eval({host.ToPlain(), w.ToPlain()})[0];
  const Plain expected = node.Eval({between, w.ToPlain()})[0];
  const std::vector<float> found = z.ToVector<float>();
  ASSERT_EQ(found.size() * sizeof(float), expected.bytes);
  for (size_t i = 0; i < found.size(); ++i) {
    const float wanted = expected.As<float>()[i];
    ASSERT_NEAR(found[i], wanted, 1e-3 * (1 + std::abs(wanted))) << i;
  }
}

// What a program's last step makes on the host the next one takes from there.
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
      // With the same plan, now that there is nothing to wait for.
      EXPECT_THAT(second.Run({y})[0].ToVector<float>(),
                  ElementsAre(2 * x + 1, 1));
    }
    EXPECT_EQ(second.stats().plans, 1);
  }
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

TEST(Programs, AllocateNothingInRuns) {
  const Fake fake({.max_delay_us = 0});
  const Spec bounded(Type::kFloat32,
                     Shape({16, Shape::kUnknown}).SetBound(1, 64));
  Program program = fake.Compile(Graph::Capture(
      [](const Values& in) -> Values {
        return {ReduceSum(Tanh(in[0] * 2.0f) * in[0], {0})};
      },
      {bounded}));
  ASSERT_TRUE(program.ok()) << program.error();
  std::vector<int64_t> sizes(20);
  std::iota(sizes.begin(), sizes.end(), 45);
  const auto input = [](int64_t rows) {
    return Floats({16, rows}, Numbers(16 * rows));
  };
  for (const int64_t rows : sizes) {
    ASSERT_TRUE(program.Run({input(rows)})[0].Wait()) << LastError();
  }
  const int64_t misses = program.stats().misses;
  fake.device->FailAllocationsAfter(0);
  for (const int64_t rows : sizes) {
    const Value x = input(rows);
    const Value y = program.Run({x})[0];
    const Value expected = ReduceSum(Tanh(x * 2.0f) * x, {0});
    ASSERT_THAT(y.ToVector<float>(),
                ElementsAreArray(expected.ToVector<float>()))
        << LastError();
  }
  EXPECT_EQ(program.stats().misses, misses);
  const Value y = program.Run({input(65)})[0];
  EXPECT_THAT(y.error(), HasSubstr("axis 1: 65 is more than its bound 64"));
}

TEST(Devices, AreLostInTheMiddle) {
  const Fake fake;
  const Device& device = fake.front;
  const Program program = fake.Compile(Affine(2, 1));
  const Value host = Floats({2}, {1, 2});
  const Value kept = device.ToHost(program.Run({host})[0]);
  ASSERT_THAT(kept.ToVector<float>(), ElementsAre(3, 5));
  Value pending;
  {
    const ModeScope lazy(Mode::kLazy, device);
    pending = Relu(host) + 1.0f;
  }
  const ModeScope scope(Mode::kEager, device);
  fake.device->LoseAtStep(2);
  Value y = host;
  for (int i = 0; i < 4; ++i) y = y + 1.0f;
  const Value run = program.Run({y})[0];
  EXPECT_FALSE(y.Wait());
  EXPECT_FALSE(y.ok());
  EXPECT_THAT(y.error(), HasSubstr("lost"));
  EXPECT_FALSE(run.Wait());
  EXPECT_THAT(run.error(), HasSubstr("lost"));
  EXPECT_FALSE(pending.Wait());
  EXPECT_THAT(pending.error(), HasSubstr("lost"));
  const Value later = Relu(host);
  EXPECT_FALSE(later.Wait());
  EXPECT_THAT(later.error(), HasSubstr("lost"));
  EXPECT_FALSE(program.Run({host})[0].Wait());
  EXPECT_THAT(LastError(), HasSubstr("lost"));
  EXPECT_THAT(host.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(kept.ToVector<float>(), ElementsAre(3, 5));
  const ModeScope there(Mode::kEager, Device("host"));
  EXPECT_THAT((kept + host).ToVector<float>(), ElementsAre(4, 7));
}

// Calls, and runs of programs, find that a device is lost.
TEST(Devices, AreOpenedAgain) {
  const Device before;
  for (const bool in_program : {false, true}) {
    SCOPED_TRACE(in_program);
    const Fake fake;
    const std::string spec = fake.front.spec();
    ASSERT_TRUE(Device::SetDefault(fake.front));
    const Value host = Floats({2}, {1, 2});
    const Value there = fake.front.Move(host);
    EXPECT_THAT(there.ToVector<float>(), ElementsAre(1, 2));
    const Value only = Relu(there);
    EXPECT_TRUE(only.Wait());
    Program program = fake.Compile(Affine(2, 1));
    ASSERT_TRUE(program.Prepare({host.spec()}));
    fake.device->LoseAtStep(1);
    EXPECT_FALSE((in_program ? program.Run({host})[0] : Relu(host)).Wait());
    const auto next = std::make_shared<FakeDevice>();
    TestDevices::Get().Replace(spec, next);
    const Device again(spec);
    ASSERT_TRUE(again.ok()) << LastError();
    // The default is the device, too.
    EXPECT_THAT(Relu(host).ToVector<float>(), ElementsAre(1, 2)) << LastError();
    EXPECT_GT(next->steps_run(), 0);
    const ModeScope scope(Mode::kEager, again);
    EXPECT_THAT(Relu(there).ToVector<float>(), ElementsAre(1, 2));
    EXPECT_THAT(Relu(only).error(),
                HasSubstr("input 0 is on " + spec + ", which was lost"));
    EXPECT_EQ(only.device().spec(), spec);
    // What was made for the lost device stays so.
    EXPECT_FALSE(program.Run({host})[0].Wait());
    EXPECT_THAT(fake.Compile(Affine(2, 1)).Run({host})[0].ToVector<float>(),
                ElementsAre(3, 5));
    EXPECT_TRUE(Device::SetDefault(before));
  }
}

TEST(Devices, RunOutOfMemory) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  const Fake fake({.max_delay_us = 0, .memory_bytes = 16 * kMiB});
  const ModeScope scope(Mode::kEager, fake.front);
  const int64_t count = 2 * kMiB / 4;
  const Value host = Floats({count}, std::vector<float>(count, 1));
  Values held;
  Value failed;
  for (int i = 0; i < 20 && failed.error() == "no value"; ++i) {
    const Value y = host + static_cast<float>(i);
    if (y.ok()) {
      held.push_back(y);
    } else {
      failed = y;
    }
  }
  ASSERT_GE(held.size(), 4u);
  ASSERT_LT(held.size(), 9u);
  EXPECT_THAT(failed.error(), HasSubstr("memory pool of fake"));
  EXPECT_THAT(failed.error(), HasSubstr("in use"));
  EXPECT_FALSE((failed + 1.0f).ok());
  EXPECT_EQ((failed + 1.0f).error(), failed.error());
  EXPECT_EQ(held[1].ToVector<float>()[5], 2);
  // Memory that is let go can be used, in pieces of another size, too.
  held.clear();
  const Value wide =
      Floats({2 * count}, std::vector<float>(2 * count, 1)) * 2.0f;
  ASSERT_TRUE(wide.Wait()) << wide.error();
  EXPECT_EQ(wide.ToVector<float>()[7], 2);
}

}  // namespace
}  // namespace tim::values
