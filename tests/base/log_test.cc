// The log's sink: who gets a message, and what becomes of it if that fails.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class Log : public testing::Test {
 protected:
  void TearDown() override { SetLogSink(nullptr); }
};

TEST_F(Log, SinkTakesTheMessagesOfStderr) {
  std::vector<std::pair<Severity, std::string>> messages;
  SetLogSink([&](Severity severity, const char* text) {
    messages.emplace_back(severity, text);
  });
  CaptureStderr();
  TIM_LOG(kWarning, "tensor ", 3, " is never read");
  TIM_LOG(kError, "two\nlines");
  TIM_LOG(kDebug, "not at this level");
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_THAT(messages, ElementsAre(std::pair(Severity::kWarning,
                                              "tensor 3 is never read"),
                                    std::pair(Severity::kError, "two\nlines")));
}

TEST_F(Log, WithoutSinkTheyGoToStderr) {
  SetLogSink([](Severity, const char*) { FAIL() << "it was taken away"; });
  SetLogSink(nullptr);
  CaptureStderr();
  TIM_LOG(kWarning, "here");
  EXPECT_EQ(GetCapturedStderr(), "tim-cl [warning] here\n");
}

TEST_F(Log, WhatTheSinkThrowsEndsThere) {
  SetLogSink([](Severity, const char*) { throw std::runtime_error("full"); });
  CaptureStderr();
  TIM_LOG(kWarning, "one");
  TIM_LOG(kWarning, "two");
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("[error] the log callback failed: an exception "
                              "was thrown: full\ntim-cl [warning] one\n"));
  EXPECT_THAT(text, HasSubstr("tim-cl [warning] two\n"));
}

TEST_F(Log, SinkMayLogItself) {
  int calls = 0;
  SetLogSink([&](Severity, const char*) {
    ++calls;
    TIM_LOG(kWarning, "inner");
  });
  CaptureStderr();
  TIM_LOG(kWarning, "outer");
  EXPECT_EQ(GetCapturedStderr(), "tim-cl [warning] inner\n");
  EXPECT_EQ(calls, 1);
}

TEST_F(Log, SinkMayTakeItselfAway) {
  CaptureStderr();
  SetLogSink([](Severity, const char*) { SetLogSink(nullptr); });
  TIM_LOG(kWarning, "taken");
  TIM_LOG(kWarning, "printed");
  EXPECT_EQ(GetCapturedStderr(), "tim-cl [warning] printed\n");
}

TEST_F(Log, SinkMayChangeWhileOthersLog) {
  std::mutex mutex;
  int taken = 0;
  std::vector<std::thread> threads;
  CaptureStderr();
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) TIM_LOG(kWarning, "x");
    });
  }
  for (int i = 0; i < 100; ++i) {
    const auto owned = std::make_shared<int>(1);
    SetLogSink([&, owned](Severity, const char*) {
      const std::lock_guard lock(mutex);
      taken += *owned;
    });
  }
  for (std::thread& thread : threads) thread.join();
  SetLogSink(nullptr);
  const std::string text = GetCapturedStderr();
  const std::string line = "tim-cl [warning] x\n";
  EXPECT_EQ(taken * line.size() + text.size(), 400 * line.size());
}

}  // namespace
}  // namespace tim
