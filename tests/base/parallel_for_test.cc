#include "base/parallel_for.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/status_macros.h"

namespace tim {
namespace {

// No thread can be started while it lives: its stack would be larger than the
// address space.
class WithoutThreads {
 public:
  WithoutThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~WithoutThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

Status CallsEachOnce(size_t count) {
  std::vector<std::atomic<int>> calls(count);
  const Status status = ParallelFor(count, [&](size_t i) {
    ++calls[i];
    return OkStatus();
  });
  for (const auto& call : calls) EXPECT_EQ(call, 1);
  return status;
}

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const size_t count : {0, 1, 2, 1000}) EXPECT_OK(CallsEachOnce(count));
}

TEST(ParallelFor, GivesTheFirstFailureAndDoesTheRest) {
  std::atomic<int> calls = 0;
  const Status status = ParallelFor(1000, [&](size_t i) {
    ++calls;
    return i % 100 == 99 ? NotFound("number ", i) : OkStatus();
  });
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "number 99");
  EXPECT_EQ(calls, 1000);
}

TEST(ParallelFor, ExceptionsAreFailures) {
  std::atomic<int> calls = 0;
  const auto run = [&](const auto& thrown) {
    calls = 0;
    return ParallelFor(100, [&](size_t) -> Status {
      ++calls;
      throw thrown;
    });
  };
  EXPECT_EQ(run(std::bad_alloc()).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(calls, 100);
  const Status error = run(std::runtime_error("the reason"));
  EXPECT_EQ(error.code(), StatusCode::kInternal);
  EXPECT_ERROR(error, "an exception was thrown: the reason");
  EXPECT_ERROR(run(7), "an exception of unknown type");
  EXPECT_EQ(calls, 100);
}

// Objects of the call that threw are destroyed, on every thread.
TEST(ParallelFor, ExceptionsLeaveNothing) {
  const auto held = std::make_shared<int>(0);
  EXPECT_ERROR(ParallelFor(100,
                           [&](size_t) -> Status {
                             const std::vector<std::shared_ptr<int>> more(10,
                                                                          held);
                             throw std::bad_alloc();
                           }),
               "no memory left");
  EXPECT_EQ(held.use_count(), 1);
}

TEST(ParallelFor, DoesWithoutThreadsThatCannotBeStarted) {
  const WithoutThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  EXPECT_OK(CallsEachOnce(1000));
}

TEST(ParallelFor, MayBeCalledInItself) {
  std::atomic<int> calls = 0;
  EXPECT_OK(ParallelFor(8, [&](size_t) {
    return ParallelFor(8, [&](size_t) {
      ++calls;
      return OkStatus();
    });
  }));
  EXPECT_EQ(calls, 64);
}

}  // namespace
}  // namespace tim
