#include "runtime/context_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "device/device_pools.h"
#include "device/host/host_device.h"
#include "runtime/compiled_graph.h"
#include "tests/support/plans/pool_runs.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::Floats;
using testing::Gate;
using testing::InFlight;
using testing::PlanBuilder;
using testing::Pool;

// On devices the run ends by itself, on the host on a thread of the pool.
class OnDevice : public ::testing::TestWithParam<int> {};

TEST_P(OnDevice, EnqueueReturnsBeforeTheRunEnds) {
  Gate gate;
  Pool pool(gate.Function(), GetParam());
  InFlight run({1, 2});
  ASSERT_OK(run.Start(*pool.pool));
  EXPECT_FALSE(run.event->Ready());
  EXPECT_EQ(run.output, (Floats{-1, -1}));
  gate.Open();
  EXPECT_OK(run.event->Wait());
  EXPECT_TRUE(run.event->Ready());
  EXPECT_OK(run.event->Wait());
  EXPECT_EQ(run.output, (Floats{11, 12}));
}

TEST_P(OnDevice, RunsInFlightHaveTheirOwnInputs) {
  Gate gate;
  Pool pool(gate.Function(), GetParam());
  std::vector<InFlight> runs;
  for (float i = 0; i < 3; ++i) runs.emplace_back(Floats{i, 100 * i});
  for (InFlight& run : runs) ASSERT_OK(run.Start(*pool.pool));
  EXPECT_EQ(pool.pool->contexts(), 3);
  gate.Open();
  for (float i = 2; i >= 0; --i) {
    InFlight& run = runs[static_cast<size_t>(i)];
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{i + 10, 100 * i + 10}));
  }
}

TEST_P(OnDevice, AnErrorBelongsToItsRun) {
  Pool pool(
      [](std::span<const float> in, std::span<float> out) -> Status {
        if (in[0] < 0) return InvalidArgument("negative");
        return AddTen(in, out);
      },
      GetParam());
  std::vector<InFlight> runs;
  for (const float first : {1.0f, -1.0f, 3.0f}) {
    runs.emplace_back(Floats{first, 0});
  }
  for (InFlight& run : runs) ASSERT_OK(run.Start(*pool.pool));
  EXPECT_OK(runs[0].event->Wait());
  EXPECT_ERROR(runs[1].event->Wait(), "negative");
  EXPECT_ERROR(runs[1].event->Wait(), "negative");
  EXPECT_OK(runs[2].event->Wait());
  EXPECT_EQ(runs[2].output, (Floats{13, 10}));
  EXPECT_EQ(pool.Run({5, 6}), (Floats{15, 16}));
}

TEST_P(OnDevice, DestructorWaitsForTheRun) {
  Gate gate;
  Pool pool(gate.Function(), GetParam());
  InFlight run({1, 2});
  ASSERT_OK(run.Start(*pool.pool));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.Open();
  });
  pool.pool.reset();
  EXPECT_TRUE(run.event->Ready());
  EXPECT_OK(run.event->Wait());
  EXPECT_EQ(run.output, (Floats{11, 12}));
  opener.join();
}

TEST_P(OnDevice, DroppedEventsLetTheRunGoOn) {
  Pool pool(AddTen, GetParam());
  std::vector<InFlight> runs;
  for (float i = 0; i < 20; ++i) runs.emplace_back(Floats{i, i});
  for (InFlight& run : runs) {
    ASSERT_OK(run.Start(*pool.pool));
    run.event.reset();
  }
  pool.pool->Drain();
  for (float i = 0; i < 20; ++i) {
    EXPECT_EQ(runs[static_cast<size_t>(i)].output, (Floats{i + 10, i + 10}));
  }
}

TEST_P(OnDevice, CallbacksComeExactlyOnce) {
  Pool pool(AddTen, GetParam());
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  const auto count = [&](const Status& status) {
    ++calls;
    if (!status.ok()) ++failures;
  };
  std::vector<InFlight> runs;
  for (float i = 0; i < 50; ++i) runs.emplace_back(Floats{i, i});
  for (InFlight& run : runs) {
    ASSERT_OK(run.Start(*pool.pool));
    run.event->Then(count);
    run.event->Then(count);
  }
  pool.pool->Drain();
  for (InFlight& run : runs) run.event->Then(count);
  pool.pool.reset();  // makes the calls that are still to come
  EXPECT_EQ(calls, 150);
  EXPECT_EQ(failures, 0);
}

TEST_P(OnDevice, ACallbackMayRunAndDestroyThePool) {
  Pool pool(AddTen, GetParam());
  InFlight first({1, 1});
  InFlight second({2, 2});
  InFlight third({3, 3});
  std::promise<void> done;
  ASSERT_OK(first.Start(*pool.pool));
  first.event->Then([&](const Status&) {
    EXPECT_OK(second.Start(*pool.pool));
    EXPECT_OK(second.event->Wait());
    EXPECT_OK(third.Start(*pool.pool));
    pool.pool.reset();
    done.set_value();
  });
  done.get_future().wait();
  EXPECT_EQ(second.output, (Floats{12, 12}));
  EXPECT_TRUE(third.event->Ready());
  EXPECT_EQ(third.output, (Floats{13, 13}));
}

TEST_P(OnDevice, AtMostSoManyRunsAreInFlight) {
  Gate gate;
  Pool pool(gate.Function(), GetParam(), 2);
  std::vector<InFlight> runs(5, InFlight({1, 2}));
  ASSERT_OK(runs[0].Start(*pool.pool));
  ASSERT_OK(runs[1].Start(*pool.pool));
  std::atomic<bool> started = false;
  std::thread more([&] {
    for (int i = 2; i < 5; ++i) EXPECT_OK(runs[i].Start(*pool.pool));
    started = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(started);
  EXPECT_EQ(pool.pool->contexts(), 2);
  gate.Open();
  more.join();
  for (InFlight& run : runs) {
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{11, 12}));
  }
  EXPECT_LE(pool.pool->contexts(), 2);
}

TEST_P(OnDevice, RunsMayAskForFreeContexts) {
  Gate gate;
  Pool pool(gate.Function(), GetParam(), 2);
  std::vector<InFlight> runs;
  for (float i = 0; i < 3; ++i) runs.emplace_back(Floats{i, i});
  const auto starts = [&](InFlight& run) {
    auto made = pool.pool->EnqueueIfFree(
        {{run.input.data()}, {run.output.data()}}, nullptr);
    EXPECT_OK(made);
    run.event = *made;
    return run.event != nullptr;
  };
  ASSERT_TRUE(starts(runs[0]));
  EXPECT_FALSE(starts(runs[1]));
  EXPECT_OK(pool.pool->WaitForContext());  // given back at once
  EXPECT_EQ(pool.pool->contexts(), 2);
  ASSERT_TRUE(starts(runs[1]));
  EXPECT_FALSE(starts(runs[2]));
  auto freed = std::async(std::launch::async,
                          [&] { return pool.pool->WaitForContext(); });
  EXPECT_EQ(freed.wait_for(std::chrono::milliseconds(20)),
            std::future_status::timeout);
  gate.Open();
  EXPECT_OK(freed.get());
  ASSERT_TRUE(starts(runs[2]));
  for (float i = 0; i < 3; ++i) {
    InFlight& run = runs[static_cast<size_t>(i)];
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{i + 10, i + 10}));
  }
}

TEST_P(OnDevice, AReservedContextIsNobodyElses) {
  Gate gate;
  Pool pool(gate.Function(), GetParam(), 1);
  InFlight run({1, 2});
  const auto starts = [&](ContextPool::Reservation reserved) {
    auto made =
        pool.pool->EnqueueIfFree({{run.input.data()}, {run.output.data()}},
                                 nullptr, {}, {}, std::move(reserved));
    EXPECT_OK(made);
    run.event = *made;
    return run.event != nullptr;
  };
  for (const bool is_used : {false, true, true}) {
    auto reserved = pool.pool->WaitForContext();
    ASSERT_OK(reserved);
    EXPECT_FALSE(starts({}));
    if (!is_used) continue;
    EXPECT_TRUE(starts(*std::move(reserved)));
    gate.Open();
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{11, 12}));
  }
}

TEST_P(OnDevice, ContextsThatNoRunNeedsAreFreed) {
  Gate gate;
  Pool pool(gate.Function(), GetParam());
  EXPECT_EQ(pool.pool->contexts(), 1);
  const int64_t of_one = pool.fake->live_bytes();
  std::vector<InFlight> runs(4, InFlight({1, 2}));
  for (InFlight& run : runs) ASSERT_OK(run.Start(*pool.pool));
  EXPECT_EQ(pool.pool->contexts(), 4);
  // The first has memory of its own, and two floats take an alignment's bytes.
  device::Device& device = pool.executable->device(GetParam());
  const auto in_use = [&] {
    return device.pools().Of(ir::MemoryKind::kDevice).stats().in_use;
  };
  EXPECT_EQ(in_use(), 3 * 2 * device.info().alignment);
  gate.Open();
  pool.pool->Drain();
  EXPECT_EQ(pool.pool->contexts(), 4) << "four were needed";
  EXPECT_EQ(pool.Run({1, 2}), (Floats{11, 12}));
  EXPECT_EQ(pool.pool->contexts(), 1);
  EXPECT_EQ(in_use(), 0);
  pool.fake->pools().Trim(0);
  EXPECT_EQ(pool.fake->live_bytes(), of_one);
}

// The second run of four reads what the first has written.
TEST_P(OnDevice, ARunStartsAfterThoseItWaitsFor) {
  Gate gate;
  Pool pool(gate.Function(), GetParam());
  InFlight first({1, 2});
  ASSERT_OK(first.Start(*pool.pool));
  Floats result(2, -1);
  auto second = pool.pool->Enqueue({{first.output.data()}, {result.data()}},
                                   nullptr, {first.event});
  ASSERT_OK(second);
  gate.Open();
  EXPECT_OK((*second)->Wait());
  EXPECT_EQ(result, (Floats{21, 22}));
}

TEST_P(OnDevice, ARunFailsWithThoseItWaitsFor) {
  Pool pool(
      [](std::span<const float> in, std::span<float> out) -> Status {
        if (in[0] < 0) return InvalidArgument("negative");
        return AddTen(in, out);
      },
      GetParam());
  InFlight first({-1, 2});
  InFlight second({1, 2});
  ASSERT_OK(first.Start(*pool.pool));
  ASSERT_OK(second.Start(*pool.pool, nullptr, {first.event}));
  EXPECT_ERROR(second.event->Wait(), "a run that this one awaits");
  EXPECT_ERROR(second.event->Wait(), "negative");
  EXPECT_EQ(second.output, (Floats{-1, -1}));
}

TEST_P(OnDevice, WrongArgumentsAreNoRun) {
  Pool pool(AddTen, GetParam());
  Floats output(2);
  EXPECT_ERROR(pool.pool->Enqueue({{}, {output.data()}}, nullptr),
               "has 1 inputs and 1 outputs, a run was given 0 and 1");
  EXPECT_ERROR(pool.pool->Enqueue({{nullptr}, {output.data()}}, nullptr),
               "has no memory");
  EXPECT_EQ(pool.Run({1, 2}), (Floats{11, 12}));
}

TEST_P(OnDevice, TheLastWordIsTheCallers) {
  Pool pool(AddTen, GetParam());
  InFlight run({1, 2});
  const auto made =
      pool.pool->Enqueue({{run.input.data()}, {run.output.data()}}, nullptr, {},
                         {.end = [&](Status ran) {
                           EXPECT_OK(ran);
                           run.output[0] = 77;
                           return InvalidArgument("refused");
                         }});
  ASSERT_OK(made);
  EXPECT_ERROR((*made)->Wait(), "refused");
  EXPECT_EQ(run.output, (Floats{77, 12}));
}

// A seeded mixture: every result is right, and nothing grows.
TEST_P(OnDevice, ManyRunsOfManyThreads) {
  Pool pool(AddTen, GetParam());
  constexpr int kThreads = 4;
  constexpr int kRuns = 2500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRuns; ++i) {
        const float value = static_cast<float>(t * kRuns + i);
        InFlight run({value, -value});
        ASSERT_OK(run.Start(*pool.pool));
        ASSERT_OK(run.event->Wait());
        ASSERT_EQ(run.output, (Floats{value + 10, 10 - value}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.pool->contexts(), ContextPool::kMaxInFlight);
  EXPECT_EQ(pool.Run({1, 2}), (Floats{11, 12}));
  pool.pool.reset();
  pool.executable.reset();
  pool.fake->pools().Trim(0);
  EXPECT_EQ(pool.fake->live_bytes(), 0);
}

INSTANTIATE_TEST_SUITE_P(ContextPool, OnDevice, ::testing::Values(0, 1),
                         [](const auto& info) {
                           return info.param == 0 ? "Host" : "Fake";
                         });

TEST(ContextPool, ALostDeviceEndsAllLaterRuns) {
  Pool pool;
  pool.fake->LoseAtStep(2);
  std::vector<InFlight> runs(3, InFlight({1, 2}));
  ASSERT_OK(runs[0].Start(*pool.pool));
  EXPECT_OK(runs[0].event->Wait());
  ASSERT_OK(runs[1].Start(*pool.pool));
  EXPECT_EQ(runs[1].event->Wait().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(runs[2].Start(*pool.pool).code(), StatusCode::kDeviceLost);
  EXPECT_EQ(runs[1].event->Wait().code(), StatusCode::kDeviceLost);
}

// Each of the runs copies its input and its output, and no more is copied.
TEST(ContextPool, FurtherContextsWriteNoZeros) {
  Gate gate;
  Pool pool(gate.Function());
  const int copies = pool.fake->copies();
  const int steps = pool.fake->steps_run();
  pool.MakeContexts(4, gate);
  EXPECT_EQ(pool.fake->copies() - copies, 4 * 2);
  EXPECT_EQ(pool.fake->steps_run() - steps, 4);
  const int before = pool.fake->copies();
  ASSERT_OK(CompiledGraph::Of({pool.executable, nullptr}));
  EXPECT_EQ(pool.fake->copies(), before);
}

TEST(ContextPool, WithoutMemoryForAnotherContextRunsWait) {
  Gate gate;
  Pool pool(gate.Function());
  std::vector<InFlight> runs(3, InFlight({1, 2}));
  ASSERT_OK(runs[0].Start(*pool.pool));
  pool.fake->FailAllocationsAfter(0);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.Open();
  });
  for (int i : {1, 2}) ASSERT_OK(runs[i].Start(*pool.pool));
  for (InFlight& run : runs) {
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{11, 12}));
  }
  EXPECT_EQ(pool.pool->contexts(), 1);
  opener.join();
}

// state' = state + 10, slowly; the output is the state before the run.
TEST(ContextPool, RunsOfOneStateFollowOneAnother) {
  for (const int device : {0, 1}) {
    SCOPED_TRACE(device);
    Pool pool;
    PlanBuilder plan({device::CreateHostDevice(), pool.fake}, 2);
    const int state = plan.State(device);
    const int read = plan.ReadState(state);
    plan.Input();
    plan.Eval(
        device,
        [](std::span<const float> in, std::span<float> out) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          return AddTen(in, out);
        },
        read, plan.WriteState(state));
    plan.Copy(device, read, plan.Output());
    pool.Make(plan, ContextPool::kMaxInFlight);
    auto made = StateSet::Create(pool.executable);
    ASSERT_OK(made);
    const std::shared_ptr<StateSet> states = *std::move(made);
    std::vector<InFlight> runs(10, InFlight({0, 0}));
    for (InFlight& run : runs) ASSERT_OK(run.Start(*pool.pool, states));
    Floats value(2);
    ASSERT_OK(states->Read(0, value.data()));  // waits for all of them
    EXPECT_EQ(value, (Floats{100, 100}));
    for (size_t i = 0; i < runs.size(); ++i) {
      EXPECT_OK(runs[i].event->Wait());
      const float before = 10.0f * static_cast<float>(i);
      EXPECT_EQ(runs[i].output, (Floats{before, before}));
    }
  }
}

}  // namespace
}  // namespace tim::runtime
