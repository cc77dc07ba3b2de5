#include "base/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/forked_process.h"
#include "tests/support/status_macros.h"

namespace tim {
namespace {

// Opened once.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(Worker, CallsInOrderOnOneOtherThread) {
  Worker worker;
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(worker.Post([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    }));
  }
  ASSERT_OK(worker.Wait());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(order[i], i);
    EXPECT_EQ(threads[i], threads[0]);
  }
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_FALSE(worker.IsCalling());
}

TEST(Worker, IsIdleBetweenItsCalls) {
  Worker worker;
  EXPECT_TRUE(worker.IsIdle());
  Gate gate;
  bool in_call = true;
  ASSERT_OK(worker.Post([&] {
    gate.Pass();
    in_call = worker.IsIdle();
  }));
  EXPECT_FALSE(worker.IsIdle());
  gate.Open();
  ASSERT_OK(worker.Wait());
  EXPECT_TRUE(worker.IsIdle());
  EXPECT_FALSE(in_call);
}

TEST(Worker, WaitReturnsWhereNothingWasPosted) {
  Worker worker;
  EXPECT_OK(worker.Wait());
  EXPECT_FALSE(worker.IsCalling());
}

// Neither returns before both have begun.
TEST(Worker, TwoWorkSideBySide) {
  Gate first, second;
  Worker a, b;
  ASSERT_OK(a.Post([&] {
    first.Open();
    second.Pass();
  }));
  ASSERT_OK(b.Post([&] {
    second.Open();
    first.Pass();
  }));
  EXPECT_OK(a.Wait());
  EXPECT_OK(b.Wait());
}

TEST(Worker, ManyThreadsMayPostAndWait) {
  Worker worker;
  int calls = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_OK(worker.Post([&] { ++calls; }));
        if (i % 10 != 0) continue;
        EXPECT_OK(worker.Wait());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(worker.Wait());
  EXPECT_EQ(calls, 400);
}

TEST(Worker, WaitDoesNotWaitForLaterCalls) {
  Gate gate;
  Worker worker;
  std::thread waiting;
  std::atomic<bool> waited = false;
  ASSERT_OK(worker.Post([] {}));
  ASSERT_OK(worker.Wait());
  ASSERT_OK(worker.Post([&] { gate.Pass(); }));
  waiting = std::thread([&] {
    EXPECT_OK(worker.Wait());
    waited = true;
  });
  EXPECT_FALSE(waited);
  gate.Open();
  waiting.join();
  EXPECT_TRUE(waited);
}

TEST(Worker, ItsEndWaitsForAllCalls) {
  int calls = 0;
  {
    Worker worker;
    for (int i = 0; i < 50; ++i) ASSERT_OK(worker.Post([&] { ++calls; }));
  }
  EXPECT_EQ(calls, 50);
}

TEST(Worker, CallsAreDestroyedBeforeWaitReturns) {
  Worker worker;
  const auto held = std::make_shared<int>(0);
  ASSERT_OK(worker.Post([held] {}));
  ASSERT_OK(worker.Wait());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Worker, ACallMayPostButNotWait) {
  Worker worker;
  Status status;
  bool second = false;
  ASSERT_OK(worker.Post([&] {
    EXPECT_TRUE(worker.IsCalling());
    status = worker.Wait();
    EXPECT_OK(worker.Post([&] { second = true; }));
  }));
  ASSERT_OK(worker.Wait());
  ASSERT_OK(worker.Wait());
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_ERROR(status, "would never end");
  EXPECT_TRUE(second);
}

// The last reference to it is one of its own calls, and more calls wait.  The
// thread may be the last to leave.
TEST(Worker, MayBeDestroyedByItsOwnCall) {
  struct Shared {
    Gate released, done;
    std::atomic<int> calls = 0;
  };
  const auto shared = std::make_shared<Shared>();
  auto worker = std::make_shared<Worker>();
  ASSERT_OK(worker->Post([shared, held = worker]() mutable {
    shared->released.Pass();
    held = nullptr;
  }));
  ASSERT_OK(worker->Post([shared] { ++shared->calls; }));
  ASSERT_OK(worker->Post([shared] { shared->done.Open(); }));
  worker = nullptr;
  shared->released.Open();
  shared->done.Pass();
  EXPECT_EQ(shared->calls, 1);
}

TEST(Worker, OutlivesWhatItsCallsThrow) {
  Worker worker;
  bool called = false;
  ASSERT_OK(worker.Post([] { throw std::runtime_error("thrown"); }));
  ASSERT_OK(worker.Post([&] { called = true; }));
  ASSERT_OK(worker.Wait());
  EXPECT_TRUE(called);
}

// A stack larger than the address space: no thread can be started.
TEST(Worker, TellsThatThereIsNoThread) {
  pthread_attr_t before, huge;
  pthread_getattr_default_np(&before);
  pthread_getattr_default_np(&huge);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 60), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  Worker worker;
  bool called = false;
  const Status status = worker.Post([&] { called = true; });
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  pthread_attr_destroy(&before);
  pthread_attr_destroy(&huge);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(status, "no thread");
  EXPECT_OK(worker.Wait());
  EXPECT_FALSE(called);
  ASSERT_OK(worker.Post([&] { called = true; }));
  ASSERT_OK(worker.Wait());
  EXPECT_TRUE(called);
}

// One call runs for ever, as far as a forked process knows, and one waits.
TEST(Worker, ForkedProcessHasAThreadOfItsOwn) {
  Worker worker;
  Gate begun;
  Gate gate;
  std::atomic<int> calls = 0;
  ASSERT_OK(worker.Post([&] {
    begun.Open();
    gate.Pass();
  }));
  ASSERT_OK(worker.Post([&] { ++calls; }));
  begun.Pass();
  EXPECT_PASSES(testing::Fork([&] {
    EXPECT_FALSE(worker.IsCalling());
    EXPECT_OK(worker.Wait());
    EXPECT_EQ(calls, 0);
    EXPECT_OK(worker.Post([&] { calls += 10; }));
    EXPECT_OK(worker.Wait());
    EXPECT_EQ(calls, 10);
    worker.~Worker();
    new (&worker) Worker();
  }));
  gate.Open();
  EXPECT_OK(worker.Wait());
  EXPECT_EQ(calls, 1);
}

TEST(Worker, ForkedProcessDestroysItsParentsWorker) {
  auto worker = std::make_unique<Worker>();
  Gate gate;
  ASSERT_OK(worker->Post([&] { gate.Pass(); }));
  EXPECT_PASSES(testing::Fork([&] { worker.reset(); }));
  gate.Open();
  EXPECT_OK(worker->Wait());
}

}  // namespace
}  // namespace tim
