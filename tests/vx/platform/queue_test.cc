// The queues of executors: order, threads, callbacks and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/core/failure.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vx::platform::IExecutable;
using vx::platform::IExecutor;
using vx::platform::NativeExecutor;

using ExecutablePtr = std::shared_ptr<CallingExecutable>;

class Queue : public ::testing::Test {
 protected:
  // One that notes its number.
  ExecutablePtr Numbered(int number) {
    return std::make_shared<CallingExecutable>(executor_, [this, number] {
      order_.push_back(number);
      return true;
    });
  }
  ExecutablePtr Failing(const std::string& reason) {
    return std::make_shared<CallingExecutable>(
        executor_, [reason] { return vx::Fail(InvalidArgument(reason)); });
  }

  std::shared_ptr<vx::platform::NativeDevice> device_ = DeviceWithCores(2);
  std::shared_ptr<IExecutor> executor_ = device_->CreateExecutor();
  std::vector<int> order_;
};

TEST_F(Queue, RunsInTheOrderOfSubmission) {
  const auto a = Numbered(1), b = Numbered(2), c = Numbered(3);
  for (const auto& executable : {a, b, c}) {
    ASSERT_TRUE(executor_->Submit(executable, executable)) << vx::LastError();
  }
  EXPECT_THAT(order_, IsEmpty());
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_THAT(order_, ElementsAre(1, 2, 3));
}

TEST_F(Queue, InsertsBeforeAndAfterAReference) {
  const auto a = Numbered(1), b = Numbered(2), c = Numbered(3), d = Numbered(4);
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(b->Submit(b));
  ASSERT_TRUE(c->Submit(a, true));
  ASSERT_TRUE(d->Submit(b, false));
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_THAT(order_, ElementsAre(1, 3, 4, 2));
}

TEST_F(Queue, OneExecutableMayBeSubmittedTwice) {
  const auto a = Numbered(1), b = Numbered(2);
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(b->Submit(b));
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_THAT(order_, ElementsAre(1, 2, 1));
}

TEST_F(Queue, TriggerEmptiesIt) {
  const auto a = Numbered(1), b = Numbered(2);
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_FALSE(executor_->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr("nothing was submitted"));
  EXPECT_FALSE(executor_->Trigger(true));
  EXPECT_FALSE(b->Submit(a)) << "a was submitted before the last Trigger()";
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(Queue, ReferencesThatWereNotSubmittedAreRefused) {
  const auto a = Numbered(1), b = Numbered(2);
  for (const bool after : {true, false}) {
    EXPECT_FALSE(executor_->Submit(a, b, after));
    EXPECT_THAT(vx::LastError(),
                HasSubstr(after ? "Submit() after an" : "Submit() before an"));
  }
  EXPECT_FALSE(executor_->Trigger()) << "nothing was queued";
  EXPECT_THAT(order_, IsEmpty());
}

TEST_F(Queue, NullsAreRefused) {
  const auto a = Numbered(1);
  EXPECT_FALSE(executor_->Submit(nullptr, nullptr));
  EXPECT_FALSE(executor_->Submit(nullptr, a));
  EXPECT_FALSE(executor_->Submit(a, nullptr));
  EXPECT_THAT(vx::LastError(), HasSubstr("Submit() needs an executable"));
  EXPECT_FALSE(executor_->Trigger());
}

TEST_F(Queue, WhatDoesNotVerifyIsNotSubmitted) {
  const auto a = Numbered(1);
  a->FailVerify();
  EXPECT_FALSE(a->Submit(a));
  EXPECT_FALSE(executor_->Trigger());
  EXPECT_THAT(order_, IsEmpty());
}

TEST_F(Queue, StopsAtWhatWasDestroyed) {
  const auto a = Numbered(1), c = Numbered(3);
  auto b = Numbered(2);
  for (const auto& executable : {a, b, c}) {
    ASSERT_TRUE(executable->Submit(executable));
  }
  b = nullptr;
  EXPECT_FALSE(executor_->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr("destroyed between Submit()"));
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(Queue, AFailureDoesNotStopTheOthers) {
  const auto a = Failing("first"), b = Failing("second");
  const auto c = Numbered(3);
  for (const auto& executable : {a, b, c}) {
    ASSERT_TRUE(executable->Submit(executable));
  }
  EXPECT_FALSE(executor_->Trigger());
  EXPECT_EQ(vx::LastError(), "first") << "of the thread that triggers";
  EXPECT_THAT(order_, ElementsAre(3));
}

TEST_F(Queue, AsynchronousWorkRunsOnAThreadOfItsOwn) {
  Meeting begun(2), released(2);
  std::thread::id thread;
  const auto a = std::make_shared<CallingExecutable>(executor_, [&] {
    thread = std::this_thread::get_id();
    return begun.Join() && released.Join();
  });
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true)) << vx::LastError();
  EXPECT_TRUE(begun.Join()) << "it runs while this thread goes on";
  EXPECT_TRUE(released.Join());
  device_->WaitDeviceIdle();
  EXPECT_NE(thread, std::thread::id());
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(Queue, AsynchronousWorkKeepsItsOrder) {
  const auto a = Numbered(1), b = Numbered(2), c = Numbered(3);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(a->Submit(a));
    ASSERT_TRUE(b->Submit(b));
    ASSERT_TRUE(executor_->Trigger(true)) << vx::LastError();
  }
  // Behind all of it.
  ASSERT_TRUE(c->Submit(c));
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  ASSERT_EQ(order_.size(), 21u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order_[i], 1 + i % 2);
  EXPECT_EQ(order_[20], 3);
}

TEST_F(Queue, AsynchronousWorkKeepsWhatItRuns) {
  auto a = Numbered(1);
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true));
  a = nullptr;
  device_->WaitDeviceIdle();
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(Queue, AsynchronousFailuresAreToldToWhoeverWaits) {
  const auto a = Failing("the reason"), b = Failing("a later one");
  for (const auto& executable : {a, b}) {
    ASSERT_TRUE(executable->Submit(executable));
    ASSERT_TRUE(executor_->Trigger(true)) << "it was queued";
  }
  vx::Fail(NotFound("an older failure"));
  device_->WaitDeviceIdle();
  EXPECT_EQ(vx::LastError(), "the reason");
  vx::Fail(NotFound("a newer failure"));
  device_->WaitDeviceIdle();
  EXPECT_EQ(vx::LastError(), "a newer failure") << "told once";
}

TEST_F(Queue, CallbacksComeOnceWithTheReason) {
  struct Told {
    int calls = 0;
    std::string reason;
  };
  for (const bool async : {false, true}) {
    Told good, bad, none;
    const auto note = [](Told* told) {
      return [told](const void* data) {
        ++told->calls;
        if (data != nullptr) told->reason = static_cast<const char*>(data);
        return true;
      };
    };
    const auto a = Numbered(1), b = Failing("it did not work");
    ASSERT_TRUE(a->Submit(a));
    EXPECT_TRUE(executor_->Trigger(async, note(&good)));
    ASSERT_TRUE(b->Submit(b));
    ASSERT_TRUE(a->Submit(a));
    EXPECT_EQ(executor_->Trigger(async, note(&bad)), async);
    EXPECT_FALSE(executor_->Trigger(async, note(&none))) << "an empty queue";
    if (async) device_->WaitDeviceIdle();
    EXPECT_EQ(good.calls, 1);
    EXPECT_EQ(good.reason, "");
    EXPECT_EQ(bad.calls, 1);
    EXPECT_EQ(bad.reason, "it did not work");
    EXPECT_EQ(none.calls, 0);
  }
}

TEST_F(Queue, CallbacksMaySubmitAndTriggerMore) {
  const auto a = Numbered(1);
  int calls = 0;
  std::function<bool(const void*)> again = [&](const void*) {
    if (++calls < 5) {
      EXPECT_TRUE(a->Submit(a));
      EXPECT_TRUE(executor_->Trigger(true, again));
    }
    return true;
  };
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true, again));
  for (int i = 0; i < 5; ++i) device_->WaitDeviceIdle();
  EXPECT_EQ(calls, 5);
  EXPECT_THAT(order_, ElementsAre(1, 1, 1, 1, 1));
}

TEST_F(Queue, CallbacksThatWaitForThemselvesAreRefused) {
  const auto a = Numbered(1);
  std::string trigger, wait, get;
  const auto inside = [&](const void*) {
    EXPECT_TRUE(a->Submit(a));
    EXPECT_FALSE(executor_->Trigger(false));
    trigger = vx::LastError();
    device_->WaitDeviceIdle();
    wait = vx::LastError();
    a->GetOutput({});
    get = vx::LastError();
    return true;
  };
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true, inside));
  device_->WaitDeviceIdle();
  EXPECT_THAT(trigger, HasSubstr("trigger with async = true"));
  EXPECT_THAT(wait, HasSubstr("would never end"));
  EXPECT_THAT(get, HasSubstr("would never end"));
}

TEST_F(Queue, CallbacksMayThrow) {
  const auto a = Numbered(1);
  ASSERT_TRUE(a->Submit(a));
  EXPECT_TRUE(executor_->Trigger(false, [](const void*) -> bool {
    throw std::runtime_error("thrown by a callback");
  }));
  ASSERT_TRUE(a->Submit(a));
  EXPECT_TRUE(executor_->Trigger()) << "the queue goes on";
}

TEST_F(Queue, GetOutputWaitsForTheQueue) {
  std::atomic<bool> done = false;
  const auto a = std::make_shared<CallingExecutable>(executor_, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return done = true;
  });
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true));
  a->GetOutput({});
  EXPECT_TRUE(done);
}

// Each waits within its run until both run.
TEST_F(Queue, TwoExecutorsRunAtTheSameTime) {
  Meeting meeting(2);
  std::vector<std::shared_ptr<IExecutor>> executors;
  std::vector<ExecutablePtr> executables;
  std::atomic<int> met = 0;
  for (int core = 0; core < 2; ++core) {
    executors.push_back(device_->CreateExecutor(core, 1));
    ASSERT_NE(executors[core], nullptr) << vx::LastError();
    executables.push_back(
        std::make_shared<CallingExecutable>(executors[core], [&] {
          if (meeting.Join()) ++met;
          return true;
        }));
    ASSERT_TRUE(executables[core]->Submit(executables[core]));
  }
  for (const auto& executor : executors) ASSERT_TRUE(executor->Trigger(true));
  device_->WaitDeviceIdle();
  EXPECT_EQ(met, 2);
}

TEST_F(Queue, TheEndOfAnExecutorWaitsForItsWork) {
  const auto a = Numbered(1);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a->Submit(a));
    ASSERT_TRUE(executor_->Trigger(true));
  }
  executor_ = nullptr;
  EXPECT_EQ(order_.size(), 20u);
  EXPECT_FALSE(a->Submit(a));
}

// The callback holds the last references to everything.
TEST_F(Queue, ACallbackMayDestroyItsExecutor) {
  // The thread may be the last to leave.
  const auto ended = std::make_shared<Meeting>(2);
  const auto released = std::make_shared<Meeting>(2);
  const auto a = Numbered(1);
  ASSERT_TRUE(a->Submit(a));
  ASSERT_TRUE(executor_->Trigger(true, [ended, released, held = executor_,
                                        device = device_](const void*) mutable {
    EXPECT_TRUE(released->Join());
    held = nullptr;
    device = nullptr;
    EXPECT_TRUE(ended->Join());
    return true;
  }));
  executor_ = nullptr;
  device_ = nullptr;
  EXPECT_TRUE(released->Join());
  EXPECT_TRUE(ended->Join());
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(Queue, ASetRunsItsMembersInOrder) {
  const auto set = vx::platform::CreateExecutableSet(
      {Numbered(1), Numbered(2), Numbered(3)});
  ASSERT_NE(set, nullptr) << vx::LastError();
  EXPECT_EQ(set->Executor(), executor_);
  const auto last = Numbered(4);
  ASSERT_TRUE(set->Submit(set)) << vx::LastError();
  ASSERT_TRUE(last->Submit(set)) << vx::LastError();
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_THAT(order_, ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(set->Trigger()) << vx::LastError();
  ASSERT_TRUE(set->Trigger(true)) << vx::LastError();
  set->GetOutput({});
  EXPECT_EQ(order_.size(), 10u);
}

TEST_F(Queue, ASetTellsWhatFails) {
  const auto set = vx::platform::CreateExecutableSet(
      {Failing("the first"), Numbered(2), Failing("the third")});
  EXPECT_FALSE(set->Trigger());
  EXPECT_EQ(vx::LastError(), "the first");
  EXPECT_THAT(order_, ElementsAre(2));
  const auto unfit = Numbered(1);
  unfit->FailVerify();
  const auto refused = vx::platform::CreateExecutableSet({unfit});
  EXPECT_FALSE(refused->Submit(refused));
}

TEST_F(Queue, SetsOfNothingAreRefused) {
  EXPECT_EQ(vx::platform::CreateExecutableSet({}), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("there are none"));
  EXPECT_EQ(vx::platform::CreateExecutableSet({Numbered(1), nullptr}), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("one is null"));
  const auto set = vx::platform::CreateExecutableSet({Numbered(1)});
  set->SetInput(nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("belong to its members"));
  EXPECT_EQ(set->AllocateTensor(Floats({1}, vx::TensorAttribute::INPUT)),
            nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("AllocateTensor() of a set"));
}

}  // namespace
}  // namespace tim::testing
