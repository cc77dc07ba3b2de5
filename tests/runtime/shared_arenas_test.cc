// Who gets arenas that runs share, and when: first come, first served.
#include "runtime/shared_arenas.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "runtime/ended_run.h"
#include "runtime/inside_run.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::FakeDevice;
using testing::FakeOptions;
using Ends = SharedArenas::Ends;
using Lease = std::unique_ptr<SharedArenas::Lease>;
using std::chrono::milliseconds;

constexpr int64_t kMemory = 1024;

ir::Plan PlanOf(const std::string& graph, std::vector<ir::Arena> arenas) {
  ir::Plan plan;
  plan.graph = graph;
  plan.arenas = std::move(arenas);
  return plan;
}

// Two devices with room for eight small arenas, or one large one.
class SharedArenasInTurn : public ::testing::Test {
 protected:
  Lease Take(const ir::Plan& plan) {
    auto taken = arenas_->Take(plan);
    EXPECT_OK(taken);
    return taken.ok() ? *std::move(taken) : nullptr;
  }
  std::future<Lease> TakeLater(const ir::Plan& plan) {
    return std::async(std::launch::async, [this, &plan] { return Take(plan); });
  }
  Lease TryTake(const ir::Plan& plan) {
    auto taken = arenas_->TryTake(plan);
    EXPECT_OK(taken);
    return taken.ok() ? *std::move(taken) : nullptr;
  }
  // Whether a small arena is not to be had, although there is memory: who takes
  // arenas right now keeps others out, too, but not for long.
  bool IsHeldUp() {
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
      if (TryTake(small_) != nullptr) return false;
    }
    return true;
  }
  void AwaitHeldUp() {
    for (int i = 0; i < 5000; ++i) {
      if (IsHeldUp()) return;
    }
    ADD_FAILURE() << "nobody waits";
  }
  static bool Waits(const std::future<Lease>& lease) {
    return lease.wait_for(milliseconds(30)) == std::future_status::timeout;
  }

  static std::shared_ptr<FakeDevice> NewDevice() {
    FakeOptions options;
    options.memory_bytes = kMemory;
    return std::make_shared<FakeDevice>(options);
  }
  const std::shared_ptr<SharedArenas> arenas_ = std::make_shared<SharedArenas>(
      device::Devices{device::CreateHostDevice(), NewDevice(), NewDevice()});
  const ir::Plan small_ = PlanOf("small", {{.device = 1, .bytes = 128}});
  const ir::Plan large_ = PlanOf("large", {{.device = 1, .bytes = kMemory}});
  const std::shared_ptr<RunEvent> run_ = std::make_shared<EndedRun>(OkStatus());
};

// There is always a small run, and room for the next one.
TEST_F(SharedArenasInTurn, SmallOnesDoNotOvertakeALargeOne) {
  Lease held = Take(small_);
  auto large = TakeLater(large_);
  int small_runs = 0;
  for (; small_runs < 1000 && !IsHeldUp(); ++small_runs) {
    if (Lease next = TryTake(small_)) held = std::move(next);
  }
  if (small_runs == 1000) {
    held.reset();
    FAIL() << "the large one waits as long as small ones come";
  }
  auto small = TakeLater(small_);
  EXPECT_TRUE(Waits(small));
  EXPECT_TRUE(Waits(large));
  held.reset();
  Lease taken = large.get();
  EXPECT_NE(taken, nullptr);
  EXPECT_TRUE(Waits(small));
  taken.reset();
  EXPECT_NE(small.get(), nullptr);
}

TEST_F(SharedArenasInTurn, OthersGoOnWhereTheyNeedNoneOfItsMemory) {
  Lease held = Take(small_);
  auto large = TakeLater(large_);
  AwaitHeldUp();
  const ir::Plan other = PlanOf(
      "other", {{.device = 1, .bytes = 0}, {.device = 2, .bytes = kMemory}});
  EXPECT_NE(TryTake(other), nullptr);
  EXPECT_NE(Take(other), nullptr);
  const ir::Plan both = PlanOf(
      "both", {{.device = 2, .bytes = 128}, {.device = 1, .bytes = 128}});
  EXPECT_EQ(TryTake(both), nullptr);
  held.reset();
  EXPECT_NE(large.get(), nullptr);
}

TEST_F(SharedArenasInTurn, ALargeOneThatFailsLetsOthersGoOn) {
  Lease held = Take(small_);
  auto large = std::async(std::launch::async,
                          [&] { return arenas_->Take(large_).status(); });
  AwaitHeldUp();
  held->SetRun(run_, Ends::kByClients);
  EXPECT_ERROR(large.get(), "an arena of 1024 bytes for graph 'large'");
  EXPECT_NE(TryTake(small_), nullptr);
}

// The run that has arenas comes back only when this one has.
TEST_F(SharedArenasInTurn, RunsInsideOfOthersDoNotWaitForTheirTurn) {
  Lease held = Take(small_);
  held->SetRun(run_, Ends::kByItself);
  auto large = TakeLater(large_);
  AwaitHeldUp();
  auto inner = std::async(std::launch::async, [&] {
    const InsideRun inside({.event = run_.get()});
    EXPECT_NE(TryTake(small_), nullptr);
    return Take(small_);
  });
  EXPECT_EQ(inner.wait_for(std::chrono::seconds(10)),
            std::future_status::ready);
  held.reset();
  EXPECT_NE(inner.get(), nullptr);
  EXPECT_NE(large.get(), nullptr);
}

// So may a thread that functions of clients wait for, which is not inside of
// the run: nothing tells that but that none of them ends.
TEST_F(SharedArenasInTurn, RunsThatMayBeWaitedForComeFirstAtAStandstill) {
  Lease held = Take(small_);
  auto large = TakeLater(large_);
  AwaitHeldUp();
  held->SetRun(run_, Ends::kByClients);
  Lease waited_for = Take(small_);
  EXPECT_NE(waited_for, nullptr);
  held->SetRun(run_, Ends::kByItself);
  waited_for.reset();
  AwaitHeldUp();
  EXPECT_TRUE(Waits(large));
  held.reset();
  EXPECT_NE(large.get(), nullptr);
}

}  // namespace
}  // namespace tim::runtime
