// Lazy mode: what is recorded, when it runs, and what Explain() tells of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

class Lazy : public ::testing::Test {
 protected:
  ~Lazy() override { SetLazyOptions(LazyOptions()); }
  const ModeScope scope_{Mode::kLazy};
};

TEST_F(Lazy, AllocatesNothingBeforeItIsAsked) {
  const Device device;
  const Value x = Floats({256}, std::vector<float>(256, 1));
  Value sum = x;
  const int64_t before = device.memory().in_use;
  for (int i = 0; i < 1000; ++i) sum = sum + x;
  EXPECT_TRUE(sum.pending());
  EXPECT_FALSE(sum.ready());
  EXPECT_EQ(sum.spec().shape.ToString(), "[256]");
  EXPECT_EQ(device.memory().in_use, before);
  EXPECT_EQ(sum.ToVector<float>()[9], 1001);
  EXPECT_FALSE(sum.pending());
}

TEST_F(Lazy, CompilesWhatComesAgain) {
  const Value x = Floats({2}, {1, 2});
  const CacheStats before = LazyStats();
  for (int i = 0; i < 100; ++i) {
    const Value y = Relu(x + static_cast<float>(i)) * 2.0f - x;
    EXPECT_EQ(y.ToVector<float>()[0], static_cast<float>(2 * (1 + i) - 1));
  }
  const CacheStats after = LazyStats();
  EXPECT_EQ(after.plans - before.plans, 1);
  EXPECT_GE(after.hits - before.hits, 97);
  LazyOptions never;
  never.compile_after = -1;
  ASSERT_TRUE(SetLazyOptions(never));
  for (int i = 0; i < 5; ++i) {
    const Value y = Tanh(x) + Sigmoid(x) * x;
    EXPECT_TRUE(y.Wait());
  }
  EXPECT_EQ(LazyStats().plans, after.plans);
}

TEST_F(Lazy, ComputesOnceWhatIsHeld) {
  const Value x = Floats({2}, {1, 2}) * 3.0f;
  const Value y = x + 1.0f;
  const Value unread = Call("tim.Exp", {y});
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(4, 7));
  EXPECT_FALSE(x.pending()) << "a handle refers to it";
  EXPECT_TRUE(unread.pending());
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(3, 6));
  EXPECT_EQ(Explain().find("flush of 1 nodes"), std::string::npos);
}

TEST_F(Lazy, GoesOnAfterTheScope) {
  Value y;
  {
    const ModeScope inner(Mode::kLazy);
    y = Floats({1}, {2}) * 2.0f;
  }
  {
    const ModeScope eager(Mode::kEager);
    EXPECT_EQ(CurrentMode(), Mode::kEager);
    EXPECT_TRUE(y.pending());
    const Value z = y + 1.0f;
    EXPECT_FALSE(y.pending());
    EXPECT_THAT(z.ToVector<float>(), ElementsAre(5));
  }
  EXPECT_EQ(CurrentMode(), Mode::kLazy);
}

TEST_F(Lazy, ExplainsWhatDiffers) {
  const auto run = [](int64_t columns, int64_t axis) {
    const Value x = Floats({16, columns}, std::vector<float>(16 * columns, 1));
    Softmax(Relu(x), 1, axis).Wait();
  };
  run(2, 1);
  run(3, 1);
  EXPECT_THAT(Explain(),
              HasSubstr("input 0: float32 [16, 3] was float32 [16, 2]"));
  run(3, 0);
  EXPECT_THAT(Explain(), HasSubstr("node 1: axis 0 was 1"));
}

TEST_F(Lazy, KeepsItsBudget) {
  LazyOptions options;
  options.max_pending_nodes = 10;
  ASSERT_TRUE(SetLazyOptions(options));
  Value x = Floats({1}, {0});
  for (int i = 0; i < 10; ++i) x = x + 1.0f;
  EXPECT_TRUE(x.pending());
  x = x + 1.0f;
  EXPECT_FALSE(x.pending());
  EXPECT_THAT(Explain(), HasSubstr("more than 10 nodes were pending"));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(11));
  options.max_pending_bytes = 100;
  ASSERT_TRUE(SetLazyOptions(options));
  const Value wide = Relu(Floats({100}, std::vector<float>(100, 1)));
  EXPECT_FALSE(wide.pending());
  options.max_plans = 0;
  EXPECT_FALSE(SetLazyOptions(options));
}

TEST_F(Lazy, FlushesOnRequest) {
  const Value x = Floats({1}, {1}) + 1.0f;
  const Value y = Floats({1}, {1}) + 2.0f;
  EXPECT_TRUE(Flush({x}).Wait());
  EXPECT_FALSE(x.pending());
  EXPECT_TRUE(y.pending());
  EXPECT_TRUE(FlushAll().Wait());
  EXPECT_FALSE(y.pending());
  EXPECT_FALSE(Flush({Value()}).Wait());
}

TEST_F(Lazy, TellsFailuresOfOneCall) {
  const Value wrong = Floats({2}, {1, 2}) + Floats({3}, {1, 2, 3});
  EXPECT_FALSE(wrong.ok()) << "shapes are checked when it is recorded";
  EXPECT_FALSE((wrong + 1.0f).ok());
}

TEST_F(Lazy, LetsLongChainsGo) {
  LazyOptions options;
  options.max_pending_nodes = 1 << 20;
  ASSERT_TRUE(SetLazyOptions(options));
  Value x = Floats({1}, {0});
  for (int i = 0; i < 20000; ++i) x = Relu(x);
  EXPECT_TRUE(x.pending());
}

// Each of three nodes is one call, at once and of the node alone.
TEST_F(Lazy, RunsNodesOnceForSeveralThreads) {
  LazyOptions options;
  options.compile_after = -1;
  ASSERT_TRUE(SetLazyOptions(options));
  constexpr int kRounds = 1000;
  constexpr int kThreads = 2;
  std::vector<Value> shared;
  for (int i = 0; i < kRounds; ++i) {
    shared.push_back(Floats({4}, {1, 2, 3, 4}) * 2.0f);
  }
  std::barrier round(kThreads);
  const CacheStats before = EagerStats();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const ModeScope lazy(Mode::kLazy);
      for (const Value& x : shared) {
        const Value y = x + static_cast<float>(t);
        round.arrive_and_wait();
        EXPECT_EQ(y.ToVector<float>()[1], static_cast<float>(4 + t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const CacheStats after = EagerStats();
  EXPECT_EQ(after.hits + after.misses - before.hits - before.misses,
            kRounds * (1 + kThreads));
  for (const Value& x : shared) EXPECT_FALSE(x.pending());
}

}  // namespace
}  // namespace tim::values
