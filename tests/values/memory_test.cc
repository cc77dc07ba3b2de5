// Memory of programs on a device: what their arenas have, and what was
// estimated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_count.h"
#include "base/options.h"
#include "base/trace.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/status_macros.h"
#include "tests/support/trace_events.h"
#include "tests/values/fake_devices.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/conversion.h"
#include "values/program_plan.h"
#include "values/program_state.h"

namespace tim::values {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

std::vector<float> Numbers(int64_t count) {
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i) {
    data.push_back(static_cast<float>(i * 7 % 23 - 11) / 8);
  }
  return data;
}

// Rows of what is wide in between: the arena is most of the memory.
Graph Wide(const Shape& rows) {
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values {
        const Value wide = Concat(Values(128, in[0]), 0);
        return {ReduceSum(wide + Relu(wide), {0})};
      },
      {Spec(Type::kFloat32, rows)}, "wide");
  EXPECT_TRUE(graph.ok()) << graph.error();
  return graph;
}

Value Rows(int64_t rows) {
  return Floats({4, rows}, std::vector<float>(static_cast<size_t>(4 * rows),
                                              static_cast<float>(rows)));
}

void ExpectSums(const Value& sums, int64_t rows) {
  ASSERT_THAT(
      sums.ToVector<float>(),
      ElementsAreArray(std::vector<float>(
          static_cast<size_t>(rows), static_cast<float>(rows * 2 * 4 * 128))))
      << sums.error();
}

// Check 14 of the specification.
TEST(Arenas, AreOneForAllSizesWithinBounds) {
  const Fake fake;
  const Graph graph = Wide(Shape({4, Shape::kUnknown}).SetBound(1, 64));
  Program program = fake.Compile(graph);
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  ASSERT_NE(arenas, nullptr);
  EXPECT_EQ(arenas->bytes(), 0);
  std::vector<int64_t> sizes;
  for (int64_t rows = 3; rows <= 60; rows += 3) sizes.push_back(rows);
  ASSERT_EQ(sizes.size(), 20u);
  for (const int64_t rows : sizes) {
    ASSERT_TRUE(program.Prepare({Spec(Type::kFloat32, {4, rows})}))
        << LastError();
  }
  const int64_t bytes = arenas->bytes();
  EXPECT_GE(bytes, 64 * 4 * 128 * 4);  // the bound's, from the first one on
  Program largest = fake.Compile(graph);
  ASSERT_TRUE(largest.Prepare({Spec(Type::kFloat32, {4, 64})})) << LastError();
  EXPECT_EQ(bytes, internal::Access::StateOf(largest)->arenas()->bytes());
  ExpectSums(program.Run({Rows(60)})[0], 60);  // memory of results
  const int64_t held = fake.device->live_bytes();
  const int64_t counted = CountedMemory();
  fake.device->FailAllocationsAfter(0);
  for (int pass = 0; pass < 2; ++pass) {
    for (const int64_t rows : sizes)
      ExpectSums(program.Run({Rows(rows)})[0], rows);
  }
  EXPECT_EQ(fake.device->live_bytes(), held);
  EXPECT_EQ(CountedMemory(), counted);
  EXPECT_EQ(arenas->bytes(), bytes);
  EXPECT_EQ(program.stats().plans, 20);
  EXPECT_THAT(program.Run({Rows(65)})[0].error(),
              HasSubstr("axis 1: 65 is more than its bound 64"));
}

// Without bounds the arena grows with the sizes.
TEST(Arenas, AreAsLargeAsTheLargestSize) {
  const Fake fake;
  const Program program = fake.Compile(Wide({4, Shape::kUnknown}));
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  int64_t largest = 0;
  for (const int64_t rows : {8, 2, 32, 16}) {
    ExpectSums(program.Run({Rows(rows)})[0], rows);
    EXPECT_GE(arenas->bytes(), rows * 4 * 128 * 4);
    if (rows < 32 && largest != 0) {
      EXPECT_EQ(arenas->bytes(), largest);
    }
    largest = arenas->bytes();
  }
}

// Memory that one run cannot have is not asked for by the next.
TEST(Arenas, OfARunThatFailsAreForgotten) {
  const Fake fake;
  const Program program = fake.Compile(Wide({4, Shape::kUnknown}));
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  ExpectSums(program.Run({Rows(8)})[0], 8);
  const int64_t bytes = arenas->bytes();
  int failed = 0;
  for (int allowed = 0; allowed < 8; ++allowed) {
    fake.device->FailAllocationsAfter(allowed);
    const bool ran = program.Run({Rows(512)})[0].Wait();
    fake.device->FailAllocationsAfter(-1);
    if (ran) break;
    ++failed;
    ExpectSums(program.Run({Rows(8)})[0], 8);
    EXPECT_EQ(arenas->bytes(), bytes) << allowed;
  }
  EXPECT_GT(failed, 0);
}

TEST(Arenas, AreOfOpenClToo) {
  if (!Device("opencl:0").ok()) GTEST_SKIP() << "no OpenCL device";
  ProgramOptions options;
  options.devices = "opencl:0";
  options.max_plans = 8;
  const Program program =
      Wide(Shape({4, Shape::kUnknown}).SetBound(1, 64)).Compile(options);
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  ExpectSums(program.Run({Rows(5)})[0], 5);
  const int64_t bytes = arenas->bytes();
  EXPECT_GT(bytes, 0);
  for (int pass = 0; pass < 2; ++pass) {
    Values results;
    for (const int64_t rows : {64, 7, 33}) {
      results.push_back(program.Run({Rows(rows)})[0]);
    }
    ExpectSums(results[0], 64);
    ExpectSums(results[1], 7);
    ExpectSums(results[2], 33);
  }
  ExpectSums(program.Run({Rows(9)})[0], 9);
  EXPECT_EQ(program.stats().plans, 5);
}

// Runs in flight at the same time have arenas of their own.
TEST(Arenas, AreOfOneRunAtATime) {
  const Fake fake({.max_delay_us = 200});
  const Program program =
      fake.Compile(Wide(Shape({4, Shape::kUnknown}).SetBound(1, 64)));
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  const std::vector<int64_t> sizes = {5, 64, 7, 33, 12, 40, 3};
  for (const int64_t rows : sizes) {
    ASSERT_TRUE(program.Run({Rows(rows)})[0].Wait());
  }
  const int64_t one = arenas->bytes();
  fake.device->Pause();
  Values results;
  for (const int64_t rows : sizes)
    results.push_back(program.Run({Rows(rows)})[0]);
  EXPECT_GE(arenas->bytes(), 7 * one);
  fake.device->Resume();
  for (size_t i = 0; i < sizes.size(); ++i) ExpectSums(results[i], sizes[i]);
  results.clear();
  ASSERT_TRUE(program.Run({Rows(5)})[0].Wait());
  for (int i = 0; i < 1000 && arenas->bytes() != one; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(arenas->bytes(), one);
}

// The plans that the graph "wide" was compiled to, as `function` calls.
int CompiledBy(const std::function<void()>& function) {
  const std::string path = ::testing::TempDir() + "memory_test_trace.json";
  EXPECT_OK(StartTrace(path));
  function();
  StopTrace();
  const auto spans = testing::SpansOf(testing::ReadTrace(path), "compile");
  return static_cast<int>(std::count_if(
      spans.begin(), spans.end(),
      [](const auto& span) { return span.name == "passes of wide"; }));
}

TEST(Arenas, AreOfThePlanItselfAtTheBounds) {
  const Fake fake;
  const Graph graph = Wide(Shape({4, Shape::kUnknown}).SetBound(1, 64));
  for (const int64_t rows : {64, 5}) {
    Program program = fake.Compile(graph);
    const auto prepare = [&] {
      EXPECT_TRUE(program.Prepare({Spec(Type::kFloat32, {4, rows})}));
    };
    EXPECT_EQ(CompiledBy(prepare), rows == 64 ? 1 : 2);
    EXPECT_GE(internal::Access::StateOf(program)->arenas()->bytes(),
              64 * 4 * 128 * 4);
    EXPECT_EQ(CompiledBy(prepare), 0);
  }
}

// Bytes of zeros are copied in pieces of a megabyte.
TEST(Arenas, AreZeroedAsFarAsTheFirstUseNeedsThem) {
  const Fake fake;
  Program program =
      fake.Compile(Wide(Shape({4, Shape::kUnknown}).SetBound(1, 16384)));
  const int before = fake.device->copies();
  ASSERT_TRUE(program.Prepare({Spec(Type::kFloat32, {4, 5})})) << LastError();
  EXPECT_GE(internal::Access::StateOf(program)->arenas()->bytes(), 32 << 20);
  EXPECT_LT(fake.device->copies() - before, 8);
  std::vector<Value> rows(4, Device(fake.front).Move(Rows(5)));
  ExpectSums(program.Run({rows[0]})[0], 5);
  const int prepared = fake.device->copies();
  fake.device->Pause();
  Values results;
  for (const Value& row : rows) results.push_back(program.Run({row})[0]);
  fake.device->Resume();
  for (const Value& result : results) EXPECT_TRUE(result.Wait());
  EXPECT_EQ(fake.device->copies(), prepared);
}

// A run that finds no memory for its arena takes that of one before it, of
// another plan, too.
TEST(Arenas, AreWaitedFor) {
  const Fake fake;
  const Program program =
      fake.Compile(Wide(Shape({4, Shape::kUnknown}).SetBound(1, 64)));
  const auto& arenas = internal::Access::StateOf(program)->arenas();
  const std::vector<int64_t> sizes = {5, 5, 64, 7, 5, 64};
  for (const int64_t rows : sizes)
    ExpectSums(program.Run({Rows(rows)})[0], rows);
  const int64_t one = arenas->bytes();
  fake.device->FailAllocationsAfter(0);
  fake.device->Pause();
  std::thread resume([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fake.device->Resume();
  });
  Values results;
  for (const int64_t rows : sizes) {
    results.push_back(program.Run({Rows(rows)})[0]);
  }
  ExpectSums(program.Run({Rows(33)})[0], 33);  // a plan that is made meanwhile
  EXPECT_EQ(arenas->bytes(), one);
  for (size_t i = 0; i < sizes.size(); ++i) ExpectSums(results[i], sizes[i]);
  resume.join();
}

// A stream of small runs from several threads, of which there are always some
// in flight.
class SmallRuns {
 public:
  SmallRuns(const Program& program, const Value& rows) {
    for (std::thread& thread : threads_) {
      thread = std::thread([this, program, rows] {
        Value last = program.Run({rows})[0];
        while (!ends_ && count_ < kMost) {
          Value next = program.Run({rows})[0];
          EXPECT_TRUE(last.Wait()) << last.error();
          last = std::move(next);
          ++count_;
        }
      });
    }
  }
  ~SmallRuns() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  int count() const { return count_; }
  static constexpr int kMost = 1000;

 private:
  std::atomic<bool> ends_ = false;
  std::atomic<int> count_ = 0;
  std::array<std::thread, 3> threads_;
};

// The device has room for many small arenas, or one large one.
TEST(Arenas, OfALargeRunAreNotTakenByAStreamOfSmallOnes) {
  int64_t bytes = int64_t{1} << 30;
  for (int pass = 0; pass < 2; ++pass) {
    testing::FakeOptions options;
    options.memory_bytes = bytes;
    options.step_us = 1000;  // long beside what starts the next run
    const Fake fake(options);
    const Program program = fake.Compile(Wide({4, Shape::kUnknown}));
    const Value few = Device(fake.front).Move(Rows(64));
    const Value many = Device(fake.front).Move(Rows(4096));
    ExpectSums(program.Run({few})[0], 64);
    if (pass == 0) {
      ExpectSums(program.Run({many})[0], 4096);
      bytes = fake.device->live_bytes();
      continue;
    }
    const SmallRuns small(program, few);
    while (small.count() < 10) std::this_thread::yield();
    const int before = small.count();
    ExpectSums(program.Run({many})[0], 4096);
    EXPECT_LT(small.count() - before, SmallRuns::kMost / 10);
  }
}

// Memory that nobody has any more is not waited for.
TEST(Arenas, FailWhereNobodyHasThem) {
  const Fake fake;
  const Program program = fake.Compile(Wide({4, Shape::kUnknown}));
  ExpectSums(program.Run({Rows(5)})[0], 5);
  ExpectSums(program.Run({Rows(64)})[0], 64);
  fake.device->FailAllocationsAfter(0);
  const Value failed = program.Run({Rows(65)})[0];
  EXPECT_THAT(failed.error(), HasSubstr("for graph 'wide'"));
  EXPECT_THAT(failed.error(), HasSubstr("an arena of"));
}

// An OpenCL device that may be told to have no memory.
class FullDevice final : public testing::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  Result<std::unique_ptr<device::Buffer>> Allocate(
      int64_t bytes, ir::MemoryKind kind) override {
    if (is_full) return OutOfMemory("full");
    return ForwardingDevice::Allocate(bytes, kind);
  }
  std::atomic<bool> is_full = false;
};

// Runs that start inside of the one that has the arena, and those of threads
// that it waits for, fail.
TEST(Arenas, AreNotWaitedForInsideOfTheirRun) {
  auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  if (!opencl.ok()) GTEST_SKIP() << "no OpenCL device";
  const auto full = std::make_shared<FullDevice>(*std::move(opencl));
  const Device front = TestDevices::Get().Add(full);
  Program program;
  enum class Call { kNone, kInside, kOnThread } call = Call::kNone;
  const HolderFunction again = [&](const std::vector<Plain>&,
                                   std::vector<Plain>* out, std::string*) {
    const float zero = 0;
    (*out)[0] = MakePlain(Spec(Type::kFloat32, {1}), &zero);
    const auto run = [&] {
      const Value inner = program.Run({Rows(5)})[0];
      EXPECT_FALSE(inner.Wait());
      EXPECT_THAT(inner.error(), HasSubstr("an arena of"));
    };
    const Call made = std::exchange(call, Call::kNone);
    full->is_full = made != Call::kNone;
    if (made == Call::kInside) run();
    if (made == Call::kOnThread) std::thread(run).join();
    full->is_full = false;
    return true;
  };
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value zero =
            Holder("acme.Again", in, {Spec(Type::kFloat32, {1})}, again);
        const Value wide = Concat(Values(128, in[0] + zero), 0);
        return {ReduceSum(wide + Relu(wide), {0})};
      },
      {Spec(Type::kFloat32, {4, Shape::kUnknown})});
  ASSERT_TRUE(graph.ok()) << graph.error();
  ProgramOptions options;
  options.devices = front.spec();
  program = graph.Compile(options);
  ExpectSums(program.Run({Rows(5)})[0], 5);
  for (const Call made : {Call::kInside, Call::kOnThread}) {
    call = made;
    ExpectSums(program.Run({Rows(5)})[0], 5);
    EXPECT_EQ(call, Call::kNone);
  }
}

// The device has what the estimate says, once a plan is made.
TEST(Estimates, AreWhatTheDeviceHas) {
  const Fake fake({.max_delay_us = 0});
  const Device before;
  ASSERT_TRUE(Device::SetDefault(fake.front));
  const Spec rows(Type::kFloat32, {256, 64});
  const std::vector<float> data = Numbers(256 * 256);
  const Value w =
      Value::Constant(Spec(Type::kFloat32, {256, 256}), data.data());
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value x = Matmul(in[0], w);
        return {ReduceSum(Tanh(x) * Matmul(Relu(x), w), {0})};
      },
      {rows});
  const MemoryEstimate estimate = graph.EstimateMemory();
  EXPECT_EQ(estimate.inputs, 256 * 64 * 4);
  EXPECT_EQ(estimate.outputs, 64 * 4);
  const int64_t empty = fake.device->live_bytes();
  Program program = fake.Compile(graph);
  ASSERT_TRUE(program.Prepare({rows})) << LastError();
  EXPECT_EQ(fake.device->live_bytes() - empty, estimate.scratch);
  const auto plan = internal::ProgramPlan::Compile(
      *internal::Access::StateOf(graph)->Snapshot(),
      {{internal::ToTensorSpec(rows).value(), {}}},
      internal::OutputPlace::kDevice, {},
      *internal::Access::StateOf(fake.front), nullptr);
  ASSERT_OK(plan);
  ASSERT_TRUE(plan->has_value());
  int64_t constants = 0;
  for (const auto& block : (*plan)->constants) constants += block.bytes;
  EXPECT_GT((*plan)->memory.peak, 0);
  EXPECT_GT(constants, 0);
  EXPECT_EQ((*plan)->memory.peak + constants, estimate.scratch);
  EXPECT_TRUE(Device::SetDefault(before));
}

}  // namespace
}  // namespace tim::values
