// Loops and host steps on threads that a client lends.
#include "base/client_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "base/parallel_for.h"
#include "device/host/host_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim {
namespace {

// Each call on a new thread, or none at all.
class FakeThreads final : public ClientThreads {
 public:
  enum class Work { kDoes, kRefuses };
  explicit FakeThreads(int count, Work work = Work::kDoes)
      : count_(count), work_(work) {}

  int count() const override { return count_; }
  void Run(int calls, const std::function<void(int)>& body) override {
    calls_ += calls;
    if (work_ == Work::kRefuses) return;
    std::vector<std::thread> threads;
    for (int i = 0; i < calls; ++i) threads.emplace_back(body, i);
    for (std::thread& thread : threads) thread.join();
  }
  int calls() const { return calls_; }

 private:
  const int count_;
  const Work work_;
  int calls_ = 0;
};

TEST(ClientThreads, DoTheCallsOfALoopEachOnce) {
  for (const auto work :
       {FakeThreads::Work::kDoes, FakeThreads::Work::kRefuses}) {
    FakeThreads threads(3, work);
    const ClientThreads::Scope scope(&threads);
    std::vector<std::atomic<int>> done(20);
    EXPECT_OK(ParallelFor(20, [&](size_t i) {
      ++done[i];
      return OkStatus();
    }));
    for (const auto& times : done) EXPECT_EQ(times, 1);
    EXPECT_EQ(threads.calls(), 3);
  }
}

TEST(ClientThreads, GiveTheFirstFailure) {
  FakeThreads threads(2);
  const ClientThreads::Scope scope(&threads);
  EXPECT_TRUE(testing::FailsWith(
      ParallelFor(9,
                  [](size_t i) {
                    return i < 4 ? OkStatus() : InvalidArgument("call ", i);
                  }),
      "call 4"));
}

TEST(ClientThreads, AreThoseOfTheInnermostScope) {
  FakeThreads outer(1);
  FakeThreads inner(1);
  EXPECT_EQ(ClientThreads::Current(), nullptr);
  {
    const ClientThreads::Scope one(&outer);
    {
      const ClientThreads::Scope two(&inner);
      EXPECT_EQ(ClientThreads::Current(), &inner);
    }
    EXPECT_EQ(ClientThreads::Current(), &outer);
  }
  EXPECT_EQ(ClientThreads::Current(), nullptr);
}

// A host step, on whose thread, and what it returns.
TEST(ClientThreads, DoTheStepsOfTheHost) {
  const auto host = device::CreateHostDevice();
  ir::OpRegistry operators;
  std::thread::id where;
  const ir::Action call = testing::EvalCall(
      operators, "test", 1,
      [&](std::span<const float> in, std::span<float> out) {
        where = std::this_thread::get_id();
        out[0] = in[0] + 1;
        return in[0] < 0 ? InvalidArgument("negative") : OkStatus();
      });
  const ir::Action* step = &call;
  testing::EmptyStore store;
  const auto prepared = host->Prepare({&step, 1}, operators, store);
  ASSERT_OK(prepared);
  const auto stream = *host->CreateStream();
  const auto in = *host->Allocate(4, ir::MemoryKind::kDevice);
  const auto out = *host->Allocate(4, ir::MemoryKind::kDevice);
  auto* const value = static_cast<float*>(in->host_address());
  const auto* const result = static_cast<const float*>(out->host_address());
  const std::vector<device::BufferRange> operands = {{in.get(), 0, 4},
                                                     {out.get(), 0, 4}};
  const auto run = [&] { return stream->Enqueue(*(*prepared)[0], operands); };

  *value = 1;
  ASSERT_OK(run());
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(*result, 2);
  for (const auto work :
       {FakeThreads::Work::kDoes, FakeThreads::Work::kRefuses}) {
    FakeThreads threads(4, work);
    const ClientThreads::Scope scope(&threads);
    *value += 1;
    ASSERT_OK(run());
    EXPECT_EQ(*result, *value + 1);
    EXPECT_EQ(where != std::this_thread::get_id(),
              work == FakeThreads::Work::kDoes);
    EXPECT_EQ(threads.calls(), 1);
  }
  FakeThreads threads(4);
  const ClientThreads::Scope scope(&threads);
  *value = -1;
  EXPECT_TRUE(testing::FailsWith(run(), "negative"));
}

}  // namespace
}  // namespace tim
