// Executables and graphs whose runs a device does by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/support/threads.h"
#include "tests/support/vx/fake_platform.h"
#include "vx/core/failure.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<float>;
using vx::platform::IExecutor;

// A device with work of its own, which a test pauses.
class DeviceRuns : public ::testing::Test {
 protected:
  using Relu = ReluRuns;

  // Ends a pause a little later.
  std::thread ResumeLater() {
    return std::thread([fake = fake_] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fake->Resume();
    });
  }
  // A graph on the device.
  std::unique_ptr<ReluGraph> SubmittedGraph(const Values& values) {
    auto made =
        std::make_unique<ReluGraph>(vx::ShapeType{3}, context_->CreateGraph());
    Write(made->input, values);
    EXPECT_TRUE(device_->Submit(made->graph)) << vx::LastError();
    EXPECT_TRUE(made->graph->Compile()) << vx::LastError();
    return made;
  }

  FakePlatform on_;
  std::shared_ptr<FakeDevice> fake_ = on_.fake;
  std::shared_ptr<vx::Context> context_ = on_.context;
  std::shared_ptr<vx::platform::NativeDevice> device_ = std::move(on_.device);
  std::shared_ptr<IExecutor> executor_ =
      device_->CreateExecutor(0, 1, context_);
};

// The second reads what the first writes, and runs once more.
TEST_F(DeviceRuns, FollowOneAnotherWithoutAThread) {
  const Relu a(executor_), b(executor_);
  alignas(64) float shared[16] = {5, 5, 5};
  ASSERT_TRUE(a.output->GetTensor()->SwapHandle(shared, false, nullptr));
  ASSERT_TRUE(b.input->GetTensor()->SwapHandle(shared, false, nullptr));
  a.Write({1, -1, 2});
  const int threads = CountThreads();
  fake_->Pause();
  ASSERT_TRUE(a.Submit()) << vx::LastError();
  ASSERT_TRUE(b.Submit()) << vx::LastError();
  ASSERT_TRUE(executor_->Trigger(true)) << vx::LastError();
  EXPECT_EQ(CountThreads(), threads);
  fake_->Resume();
  device_->WaitDeviceIdle();
  EXPECT_EQ(b.Read(), (Values{1, 0, 2}));
  EXPECT_EQ(CountThreads(), threads);
  // On the caller's thread.
  a.Write({3, -1, 4});
  ASSERT_TRUE(a.Submit());
  ASSERT_TRUE(b.Submit());
  ASSERT_TRUE(executor_->Trigger()) << vx::LastError();
  EXPECT_EQ(b.Read(), (Values{3, 0, 4}));
  EXPECT_EQ(CountThreads(), threads);
}

TEST_F(DeviceRuns, MembersOfASetFollowOneAnother) {
  const Relu a(executor_), b(executor_);
  const auto set =
      vx::platform::CreateExecutableSet({a.executable, b.executable});
  a.Write({1, -1, 2});
  b.Write({-3, 4, 5});
  const int threads = CountThreads();
  fake_->Pause();
  ASSERT_TRUE(set->Submit(set)) << vx::LastError();
  ASSERT_TRUE(executor_->Trigger(true));
  EXPECT_EQ(CountThreads(), threads);
  std::thread resuming = ResumeLater();
  EXPECT_EQ(a.Read(), (Values{1, 0, 2})) << "a copy waits for the run";
  EXPECT_EQ(b.Read(), (Values{0, 4, 5}));
  resuming.join();
}

TEST_F(DeviceRuns, MoreThanFitAreDone) {
  const Relu relu(executor_);
  relu.Write({1, -1, 2});
  std::atomic<int> calls = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(relu.Submit());
    ASSERT_TRUE(i % 10 == 9
                    ? executor_->Trigger(true,
                                         [&](const void* reason) {
                                           EXPECT_EQ(reason, nullptr);
                                           ++calls;
                                           return true;
                                         })
                    : relu.executable->Trigger(true) && executor_->Trigger());
  }
  device_->WaitDeviceIdle();
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(relu.Read(), (Values{1, 0, 2}));
}

TEST_F(DeviceRuns, OfOneExecutableOnTwoQueuesFollowOneAnother) {
  const auto other = device_->CreateExecutor(1, 1, context_);
  const Relu relu(executor_);
  relu.Write({1, -1, 2});
  const int steps = fake_->steps_run();
  fake_->Pause();
  for (const auto& executor : {executor_, other}) {
    ASSERT_TRUE(executor->Submit(relu.executable, relu.executable));
    ASSERT_TRUE(executor->Trigger(true)) << vx::LastError();
  }
  fake_->Resume();
  device_->WaitDeviceIdle();
  EXPECT_EQ(relu.Read(), (Values{1, 0, 2}));
  EXPECT_EQ(fake_->steps_run(), steps + 2);
}

TEST_F(DeviceRuns, FailuresAreKeptForWhoeverWaits) {
  const Relu relu(executor_);
  fake_->LoseAtStep(1);
  ASSERT_TRUE(relu.Submit());
  ASSERT_TRUE(executor_->Trigger(true)) << "it was queued";
  vx::Fail(NotFound("an older failure"));
  device_->WaitDeviceIdle();
  EXPECT_THAT(vx::LastError(), HasSubstr("lost"));
  Values values(3);
  EXPECT_FALSE(relu.output->CopyDataFromTensor(values.data()));
  EXPECT_THAT(vx::LastError(), HasSubstr("last Run() has failed"));
  vx::Fail(NotFound("a newer failure"));
  device_->WaitDeviceIdle();
  EXPECT_EQ(vx::LastError(), "a newer failure") << "told once";
  // Now at once.
  ASSERT_TRUE(relu.Submit());
  EXPECT_FALSE(executor_->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr("lost"));
}

TEST_F(DeviceRuns, AreNotCutShortByTheEndOfTheirObjects) {
  auto relu = std::make_unique<Relu>(executor_);
  relu->Write({1, -1, 2});
  const auto output = relu->output;
  fake_->Pause();
  ASSERT_TRUE(relu->Submit());
  ASSERT_TRUE(executor_->Trigger(true));
  std::thread resuming = ResumeLater();
  relu = nullptr;
  executor_ = nullptr;
  device_ = nullptr;
  Values values(3, -1);
  EXPECT_TRUE(output->CopyDataFromTensor(values.data())) << vx::LastError();
  EXPECT_EQ(values, (Values{1, 0, 2}));
  resuming.join();
}

TEST_F(DeviceRuns, SubmittedGraphsNeedNoThread) {
  const auto a = SubmittedGraph({1, -1, 2}), b = SubmittedGraph({-3, 4, 5});
  const int threads = CountThreads();
  fake_->Pause();
  ASSERT_TRUE(device_->Trigger(true)) << vx::LastError();
  EXPECT_EQ(CountThreads(), threads);
  fake_->Resume();
  device_->WaitDeviceIdle();
  EXPECT_THAT(Read(a->output), ElementsAre(1, 0, 2));
  EXPECT_THAT(Read(b->output), ElementsAre(0, 4, 5));
  ASSERT_TRUE(device_->Submit(a->graph));
  Write<float>(a->input, {7, 8, -9});
  ASSERT_TRUE(device_->Trigger()) << vx::LastError();
  EXPECT_THAT(Read(a->output), ElementsAre(7, 8, 0));
  EXPECT_EQ(CountThreads(), threads);
}

TEST_F(DeviceRuns, CallbacksOfGraphsComeInOrder) {
  const auto a = SubmittedGraph({1, -1, 2});
  std::vector<int> order;
  fake_->Pause();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(i == 0 || device_->Submit(a->graph));
    ASSERT_TRUE(device_->Trigger(true, [&, i](const void* reason) {
      EXPECT_EQ(reason, nullptr);
      order.push_back(i);
      return true;
    }));
  }
  fake_->Resume();
  device_->WaitDeviceIdle();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(DeviceRuns, FailuresOfGraphsAreKept) {
  const auto a = SubmittedGraph({1, -1, 2});
  fake_->LoseAtStep(1);
  ASSERT_TRUE(device_->Trigger(true));
  device_->WaitDeviceIdle();
  EXPECT_THAT(vx::LastError(), HasSubstr("lost"));
  EXPECT_EQ(a->graph->ErrorMessage(), vx::LastError());
}

// The callback holds the last references.
TEST_F(DeviceRuns, ACallbackMayDestroyEverything) {
  auto graph = SubmittedGraph({1, -1, 2});
  const std::weak_ptr<vx::Graph> gone = graph->graph;
  const std::weak_ptr<vx::platform::NativeDevice> device = device_;
  const auto output = graph->output;
  std::promise<void> done;
  std::shared_ptr<ReluGraph> last = std::move(graph);
  fake_->Pause();
  ASSERT_TRUE(device_->Trigger(
      true,
      [&done, held = device_, graph = std::move(last)](const void*) mutable {
        graph = nullptr;
        held = nullptr;
        done.set_value();
        return true;
      }));
  executor_ = nullptr;
  device_ = nullptr;
  fake_->Resume();
  done.get_future().wait();
  EXPECT_TRUE(gone.expired());
  EXPECT_TRUE(device.expired());
  EXPECT_THAT(Read(output), ElementsAre(1, 0, 2));
}

// The second executable reads what the first writes, time after time.
TEST(DeviceRunsOnOpenCl, FollowOneAnotherWithoutAThread) {
  const auto device = vx::platform::IDevice::Enumerate()[0];
  if (device->Name() == "host") GTEST_SKIP() << "no OpenCL device";
  const auto executor = device->CreateExecutor();
  ASSERT_NE(executor, nullptr) << vx::LastError();
  const ReluRuns a(executor), b(executor);
  alignas(64) float shared[16] = {};
  ASSERT_TRUE(a.output->GetTensor()->SwapHandle(shared, false, nullptr));
  ASSERT_TRUE(b.input->GetTensor()->SwapHandle(shared, false, nullptr));
  for (const auto& relu : {a, b}) ASSERT_TRUE(relu.executable->Trigger());
  const int threads = CountThreads();
  for (float value = 1; value <= 50; ++value) {
    a.Write({value, -value, 2 * value});
    ASSERT_TRUE(a.Submit());
    ASSERT_TRUE(b.Submit());
    ASSERT_TRUE(executor->Trigger(true)) << vx::LastError();
    EXPECT_EQ(b.Read(), (Values{value, 0, 2 * value}));
  }
  device->WaitDeviceIdle();
  EXPECT_EQ(CountThreads(), threads);
}

}  // namespace
}  // namespace tim::testing
