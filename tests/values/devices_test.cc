// Values on devices that are unlike the host: memory of their own, work that is
// done later, memory that runs out, a device that is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/devices/stream_counting_device.h"
#include "tests/values/fake_devices.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/value_state.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
