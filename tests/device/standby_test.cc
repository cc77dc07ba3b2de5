// Threads that wait awake come back when they are wanted, and hosts that do,
// for no longer than they may.
#include "device/opencl/driver/standby.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/driver/opencl_queue.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Longer than any test waits; a thread that nobody calls back is noticed.
constexpr microseconds kForever = seconds(60);
constexpr seconds kAtOnce(30);

constexpr int kBegun = 0;
constexpr int kWorkers = 2;
constexpr char kSource[] =
    "__kernel void count(volatile __global int* begun, __global int* runs) {\n"
    "  if (begun) atomic_inc(begun);\n"
    "  if (get_global_id(0) < 2) runs[get_global_id(0)] += 1;\n"
    "}\n";

// Of the calling thread.
double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

class StandbyTest : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    if (!IsPocl(cl::Platform(id_.getInfo<CL_DEVICE_PLATFORM>()))) {
      GTEST_SKIP() << "threads of " << device_->info().name
                   << " need no standby";
    }
    program_ = cl::Program(context_, kSource);
    ASSERT_EQ(program_.build(), CL_SUCCESS);
  }

  OpenClQueue Queue(microseconds standby) {
    auto queue = OpenClQueue::Create(
        context_, id_, {.keeps_events = true, .standby = standby});
    EXPECT_OK(queue);
    return *std::move(queue);
  }

  cl::Program program_;
};

// Chains of one queue, and how often each of their workers ran.
class Runs {
 public:
  Runs(const cl::Context& context, const cl::Program& program)
      : kernel_(program, "count"),
        runs_(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zeros_),
              zeros_) {
    EXPECT_EQ(kernel_.setArg(1, runs_), CL_SUCCESS);
  }

  void Launch(OpenClQueue& queue, int workers = kWorkers) {
    EXPECT_EQ(queue.LaunchChain(kernel_, kBegun, workers), CL_SUCCESS);
  }
  void Write(OpenClQueue& queue) {
    EXPECT_EQ(queue.Write(runs_, 0, sizeof(zeros_), zeros_), CL_SUCCESS);
  }
  void Run(OpenClQueue& queue) {
    Launch(queue);
    Finish(queue);
  }
  void Finish(OpenClQueue& queue) {
    EXPECT_OK(queue.SetFence(&fence_));
    EXPECT_EQ(fence_.Wait(), CL_SUCCESS);
  }
  std::vector<int32_t> Read(OpenClQueue& queue) {
    std::vector<int32_t> runs(kWorkers);
    EXPECT_EQ(queue.Read(runs_, 0, sizeof(zeros_), runs.data()), CL_SUCCESS);
    Finish(queue);
    return runs;
  }
  const QueueFence& fence() const { return fence_; }

 private:
  int32_t zeros_[kWorkers] = {};
  cl::Kernel kernel_;
  cl::Buffer runs_;
  QueueFence fence_;
};

// Runs on the first queue are followed for ever, if nobody calls.
class StandbyOfTwoQueues : public StandbyTest {
 protected:
  void SetUp() override {
    StandbyTest::SetUp();
    if (program_() == nullptr) return;
    runs_.emplace(context_, program_);
    others_.emplace(context_, program_);
    first_.emplace(Queue(kForever));
    second_.emplace(Queue(kForever));
    start_ = Clock::now();
  }
  void TearDown() override { EXPECT_LT(Clock::now() - start_, kAtOnce); }

  std::optional<Runs> runs_;
  std::optional<Runs> others_;
  std::optional<OpenClQueue> first_;
  std::optional<OpenClQueue> second_;
  Clock::time_point start_ = Clock::now();
};

TEST_F(StandbyTest, EveryRunIsDoneWhateverThePause) {
  OpenClQueue queue = Queue(microseconds(200));
  Runs runs(context_, program_);
  constexpr int kRuns = 300;
  for (int i = 0; i < kRuns; ++i) {
    runs.Run(queue);
    EXPECT_TRUE(runs.fence().fence.followed) << i;
    if (i % 3 == 0) std::this_thread::sleep_for(microseconds(i * 2));
  }
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, kRuns));
}

TEST_F(StandbyTest, SeveralChainsBeforeAWait) {
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 50; ++i) {
    for (int chain = 0; chain <= i % 3; ++chain) runs.Launch(queue);
    runs.Finish(queue);
    EXPECT_EQ(runs.fence().fence.followed, i % 3 == 0) << i;
  }
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 17 + 34 + 48));
  EXPECT_LT(Clock::now() - start, kAtOnce);
}

TEST_F(StandbyTest, SeveralRunsBeforeAWait) {
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  const Clock::time_point start = Clock::now();
  QueueFence fence;
  for (int i = 0; i < 100; ++i) {
    runs.Launch(queue);
    EXPECT_OK(queue.SetFence(&fence));
  }
  EXPECT_EQ(fence.Wait(), CL_SUCCESS);
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 100));
  EXPECT_LT(Clock::now() - start, kAtOnce);
}

TEST_F(StandbyTest, TheNextCommandEndsTheWait) {
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 100; ++i) runs.Run(queue);
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 100));
  EXPECT_LT(Clock::now() - start, kAtOnce);
}

TEST_F(StandbyOfTwoQueues, ACommandOfAnotherQueueEndsTheWait) {
  for (int i = 0; i < 20; ++i) {
    runs_->Run(*first_);
    others_->Run(*second_);
  }
  EXPECT_EQ(others_->Read(*first_), std::vector<int32_t>(kWorkers, 20));
}

TEST_F(StandbyTest, DestructionEndsTheWait) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 20; ++i) {
    OpenClQueue queue = Queue(kForever);
    Runs(context_, program_).Run(queue);
  }
  EXPECT_LT(Clock::now() - start, kAtOnce);
}

TEST_F(StandbyTest, QueuesOfTwoThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([this] {
      OpenClQueue queue = Queue(kForever);
      Runs runs(context_, program_);
      for (int i = 0; i < 200; ++i) runs.Run(queue);
      EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 200));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(StandbyTest, OnlyRunsOfOneChainAreFollowed) {
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  runs.Run(queue);
  EXPECT_TRUE(runs.fence().fence.followed);
  runs.Read(queue);
  EXPECT_FALSE(runs.fence().fence.followed);
  runs.Write(queue);
  runs.Run(queue);
  EXPECT_FALSE(runs.fence().fence.followed);
  runs.Run(queue);
  EXPECT_TRUE(runs.fence().fence.followed);
  runs.Finish(queue);  // a marker
  EXPECT_FALSE(runs.fence().fence.followed);
}

// Its second and third command are ready when the ones before are done, and
// nobody calls then.
TEST_F(StandbyOfTwoQueues, NoThreadWaitsWhileAnotherQueueHasWork) {
  for (int i = 0; i < 20; ++i) {
    for (int chain = 0; chain < 3; ++chain) others_->Launch(*second_);
    runs_->Run(*first_);
    EXPECT_FALSE(runs_->fence().fence.followed) << i;
    others_->Finish(*second_);
    runs_->Run(*first_);
    EXPECT_TRUE(runs_->fence().fence.followed) << i;
  }
  EXPECT_EQ(others_->Read(*second_), std::vector<int32_t>(kWorkers, 60));
}

// As those of users' kernels do.
TEST_F(StandbyOfTwoQueues, QueuesWithoutChainsEndTheWait) {
  for (int i = 0; i < 20; ++i) {
    runs_->Run(*first_);
    EXPECT_TRUE(runs_->fence().fence.followed) << i;
    for (int command = 0; command < 3; ++command) others_->Write(*second_);
    runs_->Run(*first_);
    EXPECT_FALSE(runs_->fence().fence.followed) << i;
    others_->Finish(*second_);
  }
}

TEST_F(StandbyOfTwoQueues, AMarkerOfAnotherQueueEndsTheWait) {
  others_->Run(*second_);
  for (int i = 0; i < 20; ++i) {
    runs_->Run(*first_);
    others_->Finish(*second_);
  }
}

TEST_F(StandbyTest, AMomentMayOutliveItsQueue) {
  QueueFence fence;
  {
    OpenClQueue queue = Queue(kForever);
    Runs runs(context_, program_);
    runs.Run(queue);
    fence = runs.fence();
  }
  EXPECT_EQ(fence.Wait(), CL_SUCCESS);
}

TEST_F(StandbyTest, AllThreadsWaitForTheNextRun) {
  const auto threads =
      static_cast<int>(id_.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  if (threads > 4) GTEST_SKIP() << "only some of " << threads << " wait";
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  const cl::CommandQueue other(context_, id_);
  for (int i = 0; i < 5; ++i) {
    runs.Launch(queue, threads);
    runs.Finish(queue);
    ASSERT_TRUE(runs.fence().fence.followed);
    cl::Event event;  // of a command that the library knows nothing of
    ASSERT_EQ(other.enqueueMarkerWithWaitList(nullptr, &event), CL_SUCCESS);
    other.flush();
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_NE(event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
    runs.Launch(queue, threads);
    runs.Finish(queue);
    EXPECT_EQ(event.wait(), CL_SUCCESS);
  }
}

TEST_F(StandbyTest, PoclsThreadsAreNotTheHosts) {
  EXPECT_TRUE(Standby::HasThreads(context_, id_));
}

// In a process of its own, as PoCL reads the variable once.
TEST(StandbyDeathTest, ADeviceOfTheHostsThreadHasNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("POCL_DEVICES", "basic", 1);
        const auto device = CreateOpenClDevice(0, GetOptions().on_device);
        // Newer versions of PoCL call it otherwise.
        const bool right = !device.ok() || !(*device)->info().chains_singles;
        std::exit(right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(StandbyTest, QueuesThatNeedNoneHaveNone) {
  OpenClQueue queue = Queue(microseconds(0));
  Runs runs(context_, program_);
  for (int i = 0; i < 10; ++i) runs.Run(queue);
  EXPECT_FALSE(runs.fence().fence.followed);
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 10));
}

// An event that another thread completes after `pause`.
class Later {
 public:
  Later(const cl::Context& context, milliseconds pause)
      : event_(context), thread_([this, pause] {
          std::this_thread::sleep_for(pause);
          event_.setStatus(CL_COMPLETE);
        }) {}
  ~Later() { thread_.join(); }
  const cl::Event& event() const { return event_; }

 private:
  cl::UserEvent event_;
  std::thread thread_;
};

class StandbyWait : public StandbyTest {
 protected:
  std::shared_ptr<Standby> Create(milliseconds limit) {
    return std::make_shared<Standby>(cl::CommandQueue(context_, id_), limit);
  }
  // Processor time that this thread spends on a wait.
  double Wait(Standby& standby, milliseconds pause, uint32_t launched = 0) {
    const Later later(context_, pause);
    const double start = CpuSeconds();
    EXPECT_EQ(
        standby.Wait(later.event(), {.followed = true, .launched = launched}),
        CL_SUCCESS);
    return CpuSeconds() - start;
  }
};

TEST_F(StandbyWait, SleepsAfterTheLimitAndAtOnceTheNextTime) {
  const auto standby = Create(milliseconds(100));
  EXPECT_LT(Wait(*standby, milliseconds(400)), 0.2);
  EXPECT_LT(Wait(*standby, milliseconds(400)), 0.02);
  // After a short one the next may be short, too.  Others may take all of the
  // processor for a while.
  double most = 0;
  for (int i = 0; i < 40 && most < 0.002; ++i) {
    Wait(*standby, milliseconds(1));
    most = std::max(most, Wait(*standby, milliseconds(50)));
  }
  EXPECT_GE(most, 0.002);
}

TEST_F(StandbyWait, SleepsWhereAChainDoesNotBegin) {
  const auto standby = Create(seconds(100));
  EXPECT_LT(Wait(*standby, milliseconds(300), kWorkers), 0.05);
}

TEST_F(StandbyWait, TellsOfAFailure) {
  const auto standby = Create(milliseconds(100));
  cl::UserEvent event(context_);
  event.setStatus(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(standby->Wait(event, {}),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace
}  // namespace tim::device
