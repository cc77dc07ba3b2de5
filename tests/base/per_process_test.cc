#include "base/fork/per_process.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/log_once.h"
#include "tests/support/forked_process.h"

namespace tim {
namespace {

using testing::Fork;

TEST(Forks, DiffersBetweenGenerations) {
  const uint32_t own = Forks();
  EXPECT_PASSES(Fork([own] {
    const uint32_t child = Forks();
    EXPECT_NE(child, own);
    EXPECT_PASSES(Fork([own, child] {
      EXPECT_NE(Forks(), own);
      EXPECT_NE(Forks(), child);
    }));
    EXPECT_EQ(Forks(), child);
  }));
  EXPECT_EQ(Forks(), own);
}

// Threads take it all the time, and leave what it guards half done.
TEST(ForkMutex, IsFreeInTheChildAndItsDataWhole) {
  std::atomic<bool> ends = false;
  int first = 0;
  int second = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        {
          const std::lock_guard lock(ForkMutex());
          ++first;
          for (volatile int wait = 0; wait < 1000;) wait = wait + 1;
          ++second;
        }
        LogLineOnce(Severity::kOff, "a line of the threads");
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const testing::Forked forked = Fork([&] {
      LogLineOnce(Severity::kOff, "a line of the child");
      const std::lock_guard lock(ForkMutex());
      EXPECT_EQ(first, second);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    });
    ASSERT_EQ(forked.signal, 0) << "fork " << i;
    ASSERT_EQ(forked.exit_status, 0) << forked.output;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

struct Counted {
  Counted() { ++made; }
  ~Counted() { ++destroyed; }
  static inline std::atomic<int> made = 0;
  static inline std::atomic<int> destroyed = 0;
};

TEST(PerProcess, IsMadeAtFirstUseAndOnce) {
  Counted::made = Counted::destroyed = 0;
  {
    PerProcess<Counted> unused;
    PerProcess<Counted> used;
    EXPECT_EQ(Counted::made, 0);
    EXPECT_EQ(&used.Get(), &used.Get());
    EXPECT_EQ(Counted::made, 1);
  }
  EXPECT_EQ(Counted::destroyed, 1);
}

TEST(PerProcess, IsOneForAllThreads) {
  for (int round = 0; round < 100; ++round) {
    Counted::made = Counted::destroyed = 0;
    {
      PerProcess<Counted> shared;
      std::vector<Counted*> seen(4);
      std::vector<std::thread> threads;
      for (Counted*& one : seen) {
        threads.emplace_back([&] { one = &shared.Get(); });
      }
      for (std::thread& thread : threads) thread.join();
      for (const Counted* one : seen) EXPECT_EQ(one, seen[0]);
    }
    EXPECT_EQ(Counted::made, Counted::destroyed);
  }
}

TEST(PerProcess, LeavesTheParentsAsItIs) {
  Counted::made = Counted::destroyed = 0;
  {
    PerProcess<Counted> object;
    Counted* const parents = &object.Get();
    EXPECT_PASSES(Fork([&] {
      Counted::destroyed = 0;
      EXPECT_NE(&object.Get(), parents);
      EXPECT_EQ(Counted::destroyed, 0);
      object.~PerProcess();
      EXPECT_EQ(Counted::destroyed, 1);
      new (&object) PerProcess<Counted>();
    }));
    EXPECT_EQ(&object.Get(), parents);
  }
  EXPECT_EQ(Counted::destroyed, 1);
}

TEST(PerProcess, MutexHeldByAThreadIsFreeInTheChild) {
  PerProcess<std::mutex> mutex;
  mutex.Get().lock();
  EXPECT_PASSES(Fork([&] { EXPECT_TRUE(mutex.Get().try_lock()); }));
  EXPECT_FALSE(mutex.Get().try_lock());
  mutex.Get().unlock();
}

}  // namespace
}  // namespace tim
