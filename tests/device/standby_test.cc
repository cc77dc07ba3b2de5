// Threads that wait awake come back when they are wanted, and hosts that do,
// for no longer than they may.
#include "device/opencl/standby.h"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "device/opencl/opencl_info.h"
#include "device/opencl/opencl_queue.h"
#include "tests/support/opencl_test.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Longer than any test waits; a thread that nobody calls back is noticed.
constexpr microseconds kForever = seconds(600);
constexpr seconds kAtOnce(60);

constexpr int kBegun = 0;
constexpr int kWorkers = 2;
constexpr char kSource[] =
    "__kernel void count(volatile __global int* begun, __global int* runs) {\n"
    "  if (begun) atomic_inc(begun);\n"
    "  runs[get_global_id(0)] += 1;\n"
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

  void Launch(OpenClQueue& queue) {
    EXPECT_EQ(queue.LaunchChain(kernel_, kBegun, kWorkers), CL_SUCCESS);
  }
  void Run(OpenClQueue& queue) {
    Launch(queue);
    Finish(queue);
  }
  void Finish(OpenClQueue& queue) {
    EXPECT_OK(queue.Mark(&moment_));
    EXPECT_EQ(moment_.Wait(), CL_SUCCESS);
  }
  std::vector<int32_t> Read(OpenClQueue& queue) {
    std::vector<int32_t> runs(kWorkers);
    EXPECT_EQ(queue.Read(runs_, 0, sizeof(zeros_), runs.data()), CL_SUCCESS);
    Finish(queue);
    return runs;
  }
  const Moment& moment() const { return moment_; }

 private:
  int32_t zeros_[kWorkers] = {};
  cl::Kernel kernel_;
  cl::Buffer runs_;
  Moment moment_;
};

TEST_F(StandbyTest, EveryRunIsDoneWhateverThePause) {
  OpenClQueue queue = Queue(microseconds(200));
  Runs runs(context_, program_);
  constexpr int kRuns = 300;
  for (int i = 0; i < kRuns; ++i) {
    runs.Run(queue);
    EXPECT_NE(runs.moment().standby, nullptr);
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
    EXPECT_EQ(runs.moment().standby != nullptr, i % 3 == 0) << i;
  }
  EXPECT_EQ(runs.Read(queue), std::vector<int32_t>(kWorkers, 17 + 34 + 48));
  EXPECT_LT(Clock::now() - start, kAtOnce);
}

TEST_F(StandbyTest, SeveralRunsBeforeAWait) {
  OpenClQueue queue = Queue(kForever);
  Runs runs(context_, program_);
  const Clock::time_point start = Clock::now();
  Moment moment;
  for (int i = 0; i < 100; ++i) {
    runs.Launch(queue);
    EXPECT_OK(queue.Mark(&moment));
  }
  EXPECT_EQ(moment.Wait(), CL_SUCCESS);
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

TEST_F(StandbyTest, ACommandOfAnotherQueueEndsTheWait) {
  OpenClQueue first = Queue(kForever);
  OpenClQueue second = Queue(kForever);
  Runs runs(context_, program_);
  Runs others(context_, program_);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 20; ++i) {
    runs.Run(first);
    others.Run(second);
  }
  EXPECT_EQ(others.Read(first), std::vector<int32_t>(kWorkers, 20));
  EXPECT_LT(Clock::now() - start, kAtOnce);
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

TEST_F(StandbyTest, OnlyRunsThatEndWithAChainAreFollowed) {
  OpenClQueue queue = Queue(microseconds(200));
  Runs runs(context_, program_);
  runs.Run(queue);
  EXPECT_NE(runs.moment().standby, nullptr);
  runs.Read(queue);
  EXPECT_EQ(runs.moment().standby, nullptr);
}

TEST_F(StandbyTest, QueuesThatNeedNoneHaveNone) {
  OpenClQueue queue = Queue(microseconds(0));
  Runs runs(context_, program_);
  for (int i = 0; i < 10; ++i) runs.Run(queue);
  EXPECT_EQ(runs.moment().standby, nullptr);
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
    return Standby::Create(cl::CommandQueue(context_, id_), limit);
  }
  // Processor time that this thread spends on a wait.
  double Wait(Standby& standby, milliseconds pause) {
    const Later later(context_, pause);
    const double start = CpuSeconds();
    EXPECT_EQ(standby.Wait(later.event()), CL_SUCCESS);
    return CpuSeconds() - start;
  }
};

TEST_F(StandbyWait, SleepsAfterTheLimitAndAtOnceTheNextTime) {
  const auto standby = Create(milliseconds(100));
  EXPECT_LT(Wait(*standby, milliseconds(400)), 0.2);
  EXPECT_LT(Wait(*standby, milliseconds(400)), 0.02);
  // A short one: the next may be short, too.
  Wait(*standby, milliseconds(1));
  EXPECT_GT(Wait(*standby, milliseconds(50)), 0.002);
}

TEST_F(StandbyWait, SleepsWhereAChainDoesNotBegin) {
  const auto standby = Create(seconds(100));
  standby->Chained(kWorkers);  // and nobody counts
  EXPECT_LT(Wait(*standby, milliseconds(300)), 0.05);
}

TEST_F(StandbyWait, TellsOfAFailure) {
  const auto standby = Create(milliseconds(100));
  cl::UserEvent event(context_);
  event.setStatus(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(standby->Wait(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace
}  // namespace tim::device
