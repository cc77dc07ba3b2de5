// One queue: what it hands over, what its thread does, and in which order.
#include "vx/platform/run_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <thread>

#include "tests/support/threads.h"
#include "tim/vx/error.h"
#include "vx/core/failure.h"

namespace tim::vx::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A run that the test ends.
class ManualRun final : public runtime::RunEvent {
 public:
  Status Wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return status_;
  }
  bool Ready() override {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  void Then(Call) override { ADD_FAILURE() << "nobody asks for it"; }

  void End(Status status = OkStatus()) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  Status status_;
};

/// What the queue has asked for, in order.
struct Record {
  struct Started {
    std::shared_ptr<ManualRun> run = std::make_shared<ManualRun>();
    EventPtr after;
  };

  /// One that the devices do.
  QueuedRun OnDevices() {
    return {.run =
                [this] {
                  const std::lock_guard lock(mutex);
                  calls.push_back("device's run on the thread");
                  return OkStatus();
                },
            .try_start = [this](const EventPtr& after) -> EventPtr {
              const std::lock_guard lock(mutex);
              started.push_back({.after = after});
              return started.back().run;
            }};
  }
  /// One that the thread does.
  QueuedRun OnThread(const std::string& name, Status status = OkStatus()) {
    return {.run = [this, name, status] {
      const std::lock_guard lock(mutex);
      calls.push_back(name);
      thread = std::this_thread::get_id();
      return status;
    }};
  }
  IDevice::async_callback Callback() {
    return [this](const void* reason) {
      const std::lock_guard lock(mutex);
      calls.push_back(
          reason == nullptr
              ? "callback: well"
              : StrCat("callback: ", static_cast<const char*>(reason)));
      return true;
    };
  }
  std::vector<std::string> Calls() {
    const std::lock_guard lock(mutex);
    return calls;
  }

  std::mutex mutex;
  std::vector<Started> started;
  std::vector<std::string> calls;
  std::thread::id thread;
};

class RunQueueTest : public ::testing::Test {
 protected:
  bool Launch(std::vector<QueuedRun> runs, Mode mode = Mode::kReturn,
              IDevice::async_callback callback = nullptr) {
    return queue_->Launch(std::move(runs), mode, std::move(callback));
  }
  /// Ends what was handed over, a little later.
  std::thread EndLater(Status status = OkStatus()) {
    return std::thread([this, status] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (auto& started : record_.started) started.run->End(status);
    });
  }

  Record record_;
  std::shared_ptr<Queues> queues_ = std::make_shared<Queues>();
  std::shared_ptr<RunQueue> queue_ = queues_->Add();
};

TEST_F(RunQueueTest, HandsOverWithoutAThread) {
  const int threads = testing::CountThreads();
  ASSERT_TRUE(Launch({record_.OnDevices(), record_.OnDevices()}));
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  EXPECT_EQ(testing::CountThreads(), threads);
  ASSERT_EQ(record_.started.size(), 3u);
  EXPECT_EQ(record_.started[0].after, nullptr);
  EXPECT_EQ(record_.started[1].after, record_.started[0].run);
  EXPECT_EQ(record_.started[2].after, record_.started[1].run);
  std::thread ends = EndLater();
  EXPECT_TRUE(queue_->Wait().ok());
  for (const auto& started : record_.started) EXPECT_TRUE(started.run->Ready());
  EXPECT_EQ(record_.started[2].run.use_count(), 2) << "only as the last one";
  ends.join();
  EXPECT_THAT(record_.calls, IsEmpty());
}

TEST_F(RunQueueTest, FollowsNothingThatHasEnded) {
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  record_.started[0].run->End(InvalidArgument("a failure"));
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  ASSERT_EQ(record_.started.size(), 2u);
  EXPECT_EQ(record_.started[1].after, nullptr);
  record_.started[1].run->End();
  queues_->Wait();
  EXPECT_EQ(LastError(), "a failure");
}

TEST_F(RunQueueTest, TheThreadDoesTheRestInOrder) {
  ASSERT_TRUE(Launch({record_.OnDevices(), record_.OnThread("a"),
                      record_.OnDevices(), record_.OnThread("b")}));
  EXPECT_EQ(record_.started.size(), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(record_.Calls(), IsEmpty()) << "the first is at work";
  record_.started[0].run->End(InvalidArgument("however it ends"));
  queues_->Wait();
  EXPECT_EQ(LastError(), "however it ends");
  EXPECT_THAT(record_.calls,
              ElementsAre("a", "device's run on the thread", "b"));
  EXPECT_NE(record_.thread, std::this_thread::get_id());
  EXPECT_EQ(record_.started.size(), 1u);
}

// A callback may read what its runs have written.
TEST_F(RunQueueTest, NothingOvertakesTheThread) {
  ASSERT_TRUE(Launch({record_.OnDevices()}, Mode::kReturn, record_.Callback()));
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  EXPECT_EQ(record_.started.size(), 1u);
  EXPECT_THAT(record_.Calls(), IsEmpty());
  record_.started[0].run->End();
  ASSERT_TRUE(queue_->Wait().ok());
  EXPECT_THAT(record_.calls,
              ElementsAre("callback: well", "device's run on the thread"));
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  EXPECT_EQ(record_.started.size(), 2u) << "the thread has nothing to do";
  record_.started[1].run->End();
}

TEST_F(RunQueueTest, CallbacksAreToldTheFirstFailure) {
  for (const Mode mode : {Mode::kReturn, Mode::kWait}) {
    record_.started.clear();
    record_.calls.clear();
    std::thread ends;
    if (mode == Mode::kReturn) {
      EXPECT_TRUE(Launch({record_.OnDevices(), record_.OnDevices(),
                          record_.OnThread("a", InvalidArgument("third"))},
                         mode, record_.Callback()));
      record_.started[0].run->End();
      record_.started[1].run->End(InvalidArgument("second"));
      queues_->Wait();
    } else {
      EXPECT_FALSE(Launch({record_.OnThread("a", InvalidArgument("second")),
                           record_.OnThread("b", InvalidArgument("third"))},
                          mode, record_.Callback()));
    }
    EXPECT_EQ(LastError(), "second");
    EXPECT_THAT(record_.calls.back(), "callback: second");
    Fail(NotFound("later"));
    queues_->Wait();
    EXPECT_EQ(LastError(), "later") << "told once";
  }
}

TEST_F(RunQueueTest, WaitsOnTheCallersThread) {
  const int threads = testing::CountThreads();
  std::thread ends([this] {
    while (true) {
      const std::lock_guard lock(record_.mutex);
      if (record_.started.size() < 2) continue;
      record_.started[0].run->End(InvalidArgument("the reason"));
      record_.started[1].run->End(InvalidArgument("a later one"));
      return;
    }
  });
  EXPECT_FALSE(Launch({record_.OnDevices(), record_.OnDevices()}, Mode::kWait));
  ends.join();
  EXPECT_EQ(LastError(), "the reason");
  EXPECT_EQ(testing::CountThreads(), threads);
  Fail(NotFound("later"));
  queues_->Wait();
  EXPECT_EQ(LastError(), "later") << "its caller knows of it";
}

TEST_F(RunQueueTest, NothingRunsBehindWhatIsGone) {
  QueuedRun gone = record_.OnThread("gone", InvalidArgument("it is gone"));
  gone.is_end = true;
  EXPECT_FALSE(Launch({record_.OnThread("a"), gone, record_.OnThread("b")},
                      Mode::kWait));
  EXPECT_EQ(LastError(), "it is gone");
  EXPECT_THAT(record_.calls, ElementsAre("a", "gone"));
}

TEST_F(RunQueueTest, ItsEndWaitsAndKeepsTheFailure) {
  ASSERT_TRUE(Launch({record_.OnDevices(), record_.OnDevices()}));
  std::thread ends = EndLater(InvalidArgument("the reason"));
  queue_ = nullptr;
  for (const auto& started : record_.started) EXPECT_TRUE(started.run->Ready());
  ends.join();
  queues_->Wait();
  EXPECT_EQ(LastError(), "the reason");
}

TEST_F(RunQueueTest, SeveralThreadsWait) {
  ASSERT_TRUE(Launch({record_.OnDevices()}));
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([this] {
      EXPECT_TRUE(queue_->Wait().ok());
      EXPECT_TRUE(record_.started[0].run->Ready());
    });
  }
  record_.started[0].run->End(InvalidArgument("the reason"));
  for (std::thread& thread : waiting) thread.join();
  queues_->Wait();
  EXPECT_EQ(LastError(), "the reason");
  Fail(NotFound("later"));
  queues_->Wait();
  EXPECT_EQ(LastError(), "later");
}

TEST_F(RunQueueTest, ACallbackMayNotWait) {
  std::string launch, wait;
  ASSERT_TRUE(Launch({record_.OnDevices()}, Mode::kReturn, [&](const void*) {
    EXPECT_TRUE(queue_->IsCalling());
    EXPECT_FALSE(Launch({record_.OnDevices()}, Mode::kWait));
    launch = LastError();
    queues_->Wait();
    wait = LastError();
    return true;
  }));
  record_.started[0].run->End();
  ASSERT_TRUE(queue_->Wait().ok());
  EXPECT_THAT(launch, HasSubstr("trigger with async = true"));
  EXPECT_THAT(wait, HasSubstr("would never end"));
  EXPECT_EQ(record_.started.size(), 1u);
}

}  // namespace
}  // namespace tim::vx::platform
