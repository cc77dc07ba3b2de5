// Runs that follow one another on the devices, without a thread and a wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/compiled_graph.h"
#include "tests/support/plans/pool_runs.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::Floats;
using testing::Gate;
using testing::InFlight;
using testing::PlanBuilder;
using testing::Pool;

Status AddTenToWhatIsNotNegative(std::span<const float> in,
                                 std::span<float> out) {
  if (in[0] < 0) return InvalidArgument("negative");
  return AddTen(in, out);
}

// Each of three reads what the one before has written.
TEST(FollowingRuns, StartWhenTheOneBeforeHasEnded) {
  Gate gate;
  Pool first(gate.Function());
  Pool second(gate.Function(), first.fake);
  second.MakeContexts(2, gate);
  InFlight a({1, 2});
  Floats b(2, -1), c(2, -1);
  ASSERT_OK(a.TryStart(*first.pool));
  ASSERT_NE(a.event, nullptr);
  const auto after_a =
      second.pool->TryEnqueue({{a.output.data()}, {b.data()}}, {a.event});
  ASSERT_OK(after_a);
  ASSERT_NE(*after_a, nullptr);
  const auto after_b =
      second.pool->TryEnqueue({{b.data()}, {c.data()}}, {*after_a});
  ASSERT_OK(after_b);
  ASSERT_NE(*after_b, nullptr);
  for (const auto& run : {a.event, *after_a, *after_b}) {
    EXPECT_FALSE(run->Ready());
  }
  gate.Open();
  EXPECT_OK((*after_b)->Wait());
  EXPECT_TRUE(a.event->Ready());
  EXPECT_EQ(c, (Floats{31, 32}));
}

TEST(FollowingRuns, StartHoweverTheOneBeforeHasEnded) {
  Gate gate;
  Pool pool(gate.Function(AddTenToWhatIsNotNegative));
  pool.MakeContexts(4, gate);
  InFlight held({0, 0}), bad({-1, 2}), good({1, 2}), last({3, 4});
  ASSERT_OK(held.TryStart(*pool.pool));
  ASSERT_OK(bad.TryStart(*pool.pool, {held.event}));
  ASSERT_OK(good.TryStart(*pool.pool, {bad.event}));
  ASSERT_OK(last.TryStart(*pool.pool, {good.event, held.event}));
  ASSERT_NE(last.event, nullptr);
  gate.Open();
  EXPECT_OK(last.event->Wait());
  EXPECT_EQ(last.output, (Floats{13, 14}));
  EXPECT_OK(good.event->Wait());
  EXPECT_EQ(good.output, (Floats{11, 12}));
  EXPECT_ERROR(bad.event->Wait(), "negative");
}

// The ends of runs are called in their order, whoever is waited for.
TEST(FollowingRuns, EndInTheirOrder) {
  Gate gate;
  Pool pool(gate.Function());
  pool.MakeContexts(4, gate);
  std::vector<InFlight> runs(4, InFlight({1, 2}));
  std::vector<int> ended;
  std::shared_ptr<RunEvent> last;
  for (int i = 0; i < 4; ++i) {
    std::vector<std::shared_ptr<RunEvent>> after;
    if (last != nullptr) after.push_back(last);
    ASSERT_OK(runs[i].TryStart(*pool.pool, after, {.end = [&, i](Status ran) {
      ended.push_back(i);
      return ran;
    }}));
    ASSERT_NE(runs[i].event, nullptr);
    last = runs[i].event;
  }
  gate.Open();
  EXPECT_OK(last->Wait());
  EXPECT_THAT(ended, ElementsAre(0, 1, 2, 3));
  pool.pool->Drain();
  EXPECT_EQ(ended.size(), 4u);
}

// Somebody waits for the first one the whole time.
TEST(FollowingRuns, AreStartedBesideThoseWhoWait) {
  Gate gate;
  Pool pool(gate.Function());
  pool.MakeContexts(2, gate);
  InFlight first({1, 2}), second({3, 4});
  ASSERT_OK(first.TryStart(*pool.pool));
  std::atomic<bool> waits = false;
  std::thread waiting([&] {
    waits = true;
    EXPECT_OK(first.event->Wait());
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(first.event->Ready());
  ASSERT_OK(second.TryStart(*pool.pool, {first.event}));
  ASSERT_NE(second.event, nullptr);
  gate.Open();
  EXPECT_OK(second.event->Wait());
  EXPECT_EQ(second.output, (Floats{13, 14}));
  waiting.join();
}

TEST(FollowingRuns, OfALostDeviceAreLost) {
  Gate gate;
  Pool pool(gate.Function());
  pool.MakeContexts(3, gate);
  InFlight held({0, 0}), lost({1, 2}), next({1, 2}), late({1, 2});
  ASSERT_OK(held.TryStart(*pool.pool));
  pool.fake->LoseAtStep(1);
  ASSERT_OK(lost.TryStart(*pool.pool, {held.event}));
  ASSERT_OK(next.TryStart(*pool.pool, {lost.event}));
  gate.Open();
  EXPECT_OK(held.event->Wait());
  EXPECT_EQ(next.event->Wait().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(lost.event->Wait().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(late.TryStart(*pool.pool).code(), StatusCode::kDeviceLost);
}

// Whoever asks goes on at once, and nothing has been done.  Contexts are not
// made either: that takes a run of the kernels.
TEST(FollowingRuns, AreNoneWhereAContextWouldHaveToBeMade) {
  Gate gate;
  Pool pool(gate.Function());
  InFlight first({1, 2}), second({1, 2});
  ASSERT_OK(first.TryStart(*pool.pool));
  ASSERT_NE(first.event, nullptr);
  ASSERT_OK(second.TryStart(*pool.pool));
  EXPECT_EQ(second.event, nullptr);
  EXPECT_EQ(pool.pool->contexts(), 1);
  gate.Open();
  EXPECT_OK(first.event->Wait());
}

TEST(FollowingRuns, AreNoneWhereSomebodyWouldHaveToWait) {
  Gate gate;
  Pool pool(gate.Function(), 1, 2);
  pool.MakeContexts(2, gate);
  std::vector<InFlight> runs(3, InFlight({1, 2}));
  ASSERT_OK(runs[0].TryStart(*pool.pool));
  ASSERT_OK(runs[1].TryStart(*pool.pool));
  ASSERT_OK(runs[2].TryStart(*pool.pool));
  EXPECT_NE(runs[1].event, nullptr);
  EXPECT_EQ(runs[2].event, nullptr);
  gate.Open();
  pool.pool->Drain();
  EXPECT_EQ(runs[2].output, (Floats{-1, -1}));
  ASSERT_OK(runs[2].TryStart(*pool.pool, {runs[0].event}));
  ASSERT_NE(runs[2].event, nullptr);
  EXPECT_OK(runs[2].event->Wait());
  EXPECT_EQ(runs[2].output, (Floats{11, 12}));
}

TEST(FollowingRuns, AreNoneBehindAThreadOrAnotherDevice) {
  Gate gate;
  Pool on_host(gate.Function(), 0);
  Pool elsewhere(gate.Function());
  Pool pool;
  InFlight host({1, 2}), other({1, 2}), run({1, 2});
  ASSERT_OK(host.TryStart(*on_host.pool));
  EXPECT_EQ(host.event, nullptr) << "a thread would have to do it";
  ASSERT_OK(host.Start(*on_host.pool));
  ASSERT_OK(other.TryStart(*elsewhere.pool));
  for (const auto& before : {host.event, other.event}) {
    ASSERT_NE(before, nullptr);
    ASSERT_OK(run.TryStart(*pool.pool, {before}));
    EXPECT_EQ(run.event, nullptr);
  }
  gate.Open();
  EXPECT_OK(host.event->Wait());
  EXPECT_OK(other.event->Wait());
  ASSERT_OK(run.TryStart(*pool.pool, {host.event, other.event}));
  ASSERT_NE(run.event, nullptr) << "they have ended";
  EXPECT_OK(run.event->Wait());
}

TEST(FollowingRuns, RefuseWrongMemory) {
  Pool pool;
  Floats output(2);
  EXPECT_ERROR(pool.pool->TryEnqueue({{nullptr}, {output.data()}}),
               "has no memory");
  EXPECT_EQ(pool.Run({1, 2}), (Floats{11, 12}));
}

// The pool of the first run is destroyed while the second one is in flight.
TEST(FollowingRuns, OutliveThePoolBefore) {
  Pool first;
  Pool second(AddTen, first.fake);
  InFlight a({1, 2}), b({3, 4});
  ASSERT_OK(a.TryStart(*first.pool));
  ASSERT_OK(b.TryStart(*second.pool, {a.event}));
  ASSERT_NE(b.event, nullptr);
  first.pool.reset();
  EXPECT_TRUE(a.event->Ready());
  EXPECT_OK(b.event->Wait());
  EXPECT_EQ(b.output, (Floats{13, 14}));
}

// A queue of two pools, fed by one thread and watched by others.
TEST(FollowingRuns, ManyOfThem) {
  Gate gate;
  Pool a(gate.Function());
  Pool b(gate.Function(), a.fake);
  for (const Pool* pool : {&a, &b}) pool->MakeContexts(3, gate);
  gate.Open();
  constexpr int kRuns = 2000;
  Floats value = {0, 0};
  std::shared_ptr<RunEvent> last;
  int refused = 0;
  std::mutex mutex;
  std::atomic<bool> done = false;
  std::vector<std::thread> watching;
  for (int t = 0; t < 2; ++t) {
    watching.emplace_back([&] {
      while (!done) {
        std::shared_ptr<RunEvent> event;
        {
          const std::lock_guard lock(mutex);
          event = last;
        }
        if (event == nullptr) continue;
        EXPECT_OK(event->Wait());
      }
    });
  }
  Floats other(2);
  for (int i = 0; i < kRuns; ++i) {
    Floats& from = i % 2 == 0 ? value : other;
    Floats& to = i % 2 == 0 ? other : value;
    Pool& pool = i % 2 == 0 ? a : b;
    while (true) {
      std::vector<std::shared_ptr<RunEvent>> after;
      if (last != nullptr) after.push_back(last);
      const auto made =
          pool.pool->TryEnqueue({{from.data()}, {to.data()}}, after);
      ASSERT_OK(made);
      if (*made != nullptr) {
        const std::lock_guard lock(mutex);
        last = *made;
        break;
      }
      ++refused;
      EXPECT_OK(last->Wait());
    }
  }
  EXPECT_OK(last->Wait());
  done = true;
  for (std::thread& thread : watching) thread.join();
  EXPECT_EQ(value, (Floats{10 * kRuns, 10 * kRuns}));
  EXPECT_LE(a.pool->contexts(), 3);
  EXPECT_LT(refused, kRuns);
}

// CompiledGraph: with states, and where memory would have to be copied.
class OfAGraph : public ::testing::Test {
 protected:
  std::unique_ptr<CompiledGraph> Make(PlanBuilder& plan) {
    auto executable = testing::CompilePlan(plan);
    EXPECT_OK(executable);
    auto graph = CompiledGraph::Of({*executable, nullptr});
    EXPECT_OK(graph);
    return *std::move(graph);
  }
  static constexpr int64_t kBytes = 2 * sizeof(float);

  std::shared_ptr<FakeDevice> fake_ = std::make_shared<FakeDevice>();
  PlanBuilder plan_{{device::CreateHostDevice(), fake_}, 2};
  alignas(64) float in_[32] = {0, 1, 2};
  alignas(64) float out_[32] = {};
};

TEST_F(OfAGraph, AlignedMemoryIsUsedAsItIs) {
  testing::BuildEval(plan_, 1);
  const auto graph = Make(plan_);
  const PortMemory in[] = {{in_, kBytes}};
  const PortMemory out[] = {{out_, kBytes}};
  Status ended = InvalidArgument("not yet");
  const auto run = graph->TryEnqueue(in, out, {}, [&](Status ran) {
    ended = ran;
    return ran;
  });
  ASSERT_OK(run);
  ASSERT_NE(*run, nullptr);
  EXPECT_OK((*run)->Wait());
  EXPECT_OK(ended);
  EXPECT_EQ(out_[1], 11);
}

TEST_F(OfAGraph, CopiesAreNotMade) {
  testing::BuildEval(plan_, 1);
  const auto graph = Make(plan_);
  const PortMemory in[] = {{in_, kBytes}}, unaligned[] = {{in_ + 1, kBytes}};
  const PortMemory out[] = {{out_, kBytes}}, beside[] = {{out_ + 1, kBytes}};
  struct Case {
    std::span<const PortMemory> inputs, outputs;
  };
  for (const Case& c : {Case{unaligned, out}, Case{in, beside}, Case{in, in}}) {
    const auto run = graph->TryEnqueue(c.inputs, c.outputs);
    ASSERT_OK(run);
    EXPECT_EQ(*run, nullptr);
  }
  const PortMemory small[] = {{out_, 4}};
  EXPECT_ERROR(graph->TryEnqueue(in, small), "takes 8 bytes, was given 4");
  EXPECT_EQ(out_[0], 0);
}

TEST_F(OfAGraph, StatesNeedAThread) {
  const int state = plan_.State(1);
  plan_.Input();
  plan_.Eval(1, AddTen, plan_.ReadState(state), plan_.WriteState(state));
  plan_.Copy(1, plan_.ReadState(state), plan_.Output());
  const auto graph = Make(plan_);
  const PortMemory in[] = {{in_, kBytes}};
  const PortMemory out[] = {{out_, kBytes}};
  const auto run = graph->TryEnqueue(in, out);
  ASSERT_OK(run);
  EXPECT_EQ(*run, nullptr);
}

}  // namespace
}  // namespace tim::runtime
