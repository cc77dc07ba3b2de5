#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/cache/program_cache.h"
#include "runtime/cache/stored_programs.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/state_set.h"
#include "runtime/stored_plan.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/devices/kept_programs.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::CompilePlan;
using testing::CountingDevice;
using testing::Devices;
using testing::ExpectRun;
using testing::FakeDevice;
using testing::FloatLaunch;
using testing::Floats;
using testing::MakeContext;
using testing::PlanBuilder;

constexpr char kKernels[] =
    "__kernel void twice(__global const float* a, int a_0,\n"
    "                    __global float* b, int b_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) b[b_0 + i] = 2 * a[a_0 + i];\n"
    "}\n"
    "__kernel void add(__global const float* a, int a_0,\n"
    "                  __global const float* b, int b_0,\n"
    "                  __global float* c, int c_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) c[c_0 + i] = a[a_0 + i] + b[b_0 + i];\n"
    "}\n"
    "__kernel void count(__global float* a, int a_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) a[a_0 + i] += 1;\n"
    "}\n";

class OpenClExecutable : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    devices_ = {device::CreateHostDevice(),
                *device::CreateOpenClDevice(0, GetOptions().on_device)};
  }

  // input -> twice on OpenCL -> output, with `text` as the program.
  void BuildTwice(PlanBuilder& plan, const std::string& text = kKernels) {
    const int in = plan.Temporary(1);
    const int out = plan.Temporary(1);
    plan.Copy(1, plan.Input(), in);
    plan.Launch(1, FloatLaunch(text, "twice", plan.floats(), 2), {in, out});
    plan.Copy(1, out, plan.Output());
  }

  Devices devices_;
};

TEST_F(OpenClExecutable, RunsAKernelWithNewInputsEachTime) {
  PlanBuilder plan(devices_, 33);
  BuildTwice(plan);
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(33, 2), Floats(33, 4));
  ExpectRun(**context, Floats(33, 3), Floats(33, 6));
}

TEST_F(OpenClExecutable, ConstantsAndStatesMeetInKernels) {
  PlanBuilder plan(devices_, 4);
  const int state = plan.State(1);
  const int in = plan.Temporary(1);
  const int sum = plan.Temporary(1);
  const int constant = plan.Constant(1, {1, 2, 3, 4});
  const int next = plan.WriteState(state);
  plan.Copy(1, plan.Input(), in);
  plan.Launch(1, FloatLaunch(kKernels, "add", 4, 3), {in, constant, sum});
  plan.Launch(1, FloatLaunch(kKernels, "add", 4, 3),
              {sum, plan.ReadState(state), next});
  plan.Copy(1, next, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  const auto states = StateSet::Create(*executable);
  for (float run = 1; run < 4; ++run) {
    ExpectRun(**context, Floats(4, 0), {run, 2 * run, 3 * run, 4 * run},
              states->get());
  }
  // A new set at what may be the same addresses.
  const auto fresh = StateSet::Create(*executable);
  ExpectRun(**context, Floats(4, 0), {1, 2, 3, 4}, fresh->get());
}

TEST_F(OpenClExecutable, ThreeDevicesTakeTurns) {
  devices_.push_back(std::make_shared<FakeDevice>());
  PlanBuilder plan(devices_, 5);
  const int cl_in = plan.Temporary(1);
  const int cl_out = plan.Temporary(1);
  const int middle = plan.Temporary(0);
  const int fake_in = plan.Temporary(2);
  const int fake_out = plan.Temporary(2);
  plan.Copy(1, plan.Input(), cl_in);
  plan.Launch(1, FloatLaunch(kKernels, "twice", 5, 2), {cl_in, cl_out});
  const int down = plan.Copy(1, cl_out, middle);
  plan.Copy(2, middle, fake_in, {down});
  plan.Eval(2, AddTen, fake_in, fake_out);
  plan.Copy(2, fake_out, plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  for (float run = 0; run < 10; ++run) {
    ExpectRun(**context, Floats(5, run), Floats(5, 2 * run + 10));
  }
}

TEST_F(OpenClExecutable, UserKernelsDoNotRunBeforeRun) {
  for (const bool user : {false, true}) {
    PlanBuilder plan(devices_, 4);
    const int counter = plan.Temporary(1);
    ir::UserLaunch users;
    users.text = kKernels;
    users.function = "count";
    users.range.global = {4, 1, 1};
    users.arguments = {
        ir::UserTensorArg{
            0, ir::DataType::kFloat32, {4}, true, false, "output 0"},
        ir::UserScalarArg{int64_t{0}, "int", "scalar 0"},
        ir::UserScalarArg{int64_t{4}, "int", "scalar 1"}};
    const ir::KernelLaunch built_in = FloatLaunch(kKernels, "count", 4, 1);
    plan.Input();
    plan.Launch(1, user ? ir::Action(users) : ir::Action(built_in), {counter});
    plan.Copy(1, counter, plan.Output());
    const auto context = MakeContext(plan);
    ASSERT_OK(context);
    const float first = user ? 1 : 2;
    ExpectRun(**context, Floats(4), Floats(4, first));
    ExpectRun(**context, Floats(4), Floats(4, first + 1));
  }
}

TEST_F(OpenClExecutable, WarmUpLeavesTheStates) {
  PlanBuilder plan(devices_, 4);
  const int state = plan.State(1);
  const int next = plan.WriteState(state);
  plan.Launch(1, FloatLaunch(kKernels, "count", 4, 1), {next});
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto states = StateSet::Create(*executable);
  ASSERT_OK(ExecutionContext::Create(*executable));
  (*states)->Advance();
  Floats values(4, -1);
  ASSERT_OK((*states)->Read(0, values.data()));
  EXPECT_EQ(values, Floats(4, 0));
}

TEST_F(OpenClExecutable, ABuildFailureShowsTheLogAndTheNextPlanRuns) {
  PlanBuilder broken(devices_, 4);
  BuildTwice(broken, "__kernel void twice(int n) { undeclared = n; }");
  const auto failed = CompilePlan(broken);
  EXPECT_EQ(failed.status().code(), StatusCode::kBuildFailure);
  EXPECT_ERROR(failed, "undeclared");
  PlanBuilder plan(devices_, 4);
  BuildTwice(plan);
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(4, 2), Floats(4, 4));
}

TEST_F(OpenClExecutable, ContextsOfThreadsShareConstantsAndPrograms) {
  PlanBuilder plan(devices_, 64);
  const int in = plan.Temporary(1);
  const int out = plan.Temporary(1);
  plan.Copy(1, plan.Input(), in);
  plan.Launch(1, FloatLaunch(kKernels, "add", 64, 3),
              {in, plan.Constant(1, Floats(64, 5)), out});
  plan.Copy(1, out, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto context = ExecutionContext::Create(*executable);
      ASSERT_OK(context);
      for (int i = 0; i < 50; ++i) {
        const float value = 100.0f * t + i;
        ExpectRun(**context, Floats(64, value), Floats(64, value + 5));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Those that the device had built for another executable, too.
TEST_F(OpenClExecutable, ItsProgramsAreAllThatAnotherNeeds) {
  PlanBuilder first(devices_, 16);
  BuildTwice(first);
  const auto before = CompilePlan(first);
  ASSERT_OK(before);
  const auto counting = std::make_shared<CountingDevice>(devices_[1]);
  devices_[1] = counting;
  PlanBuilder second(devices_, 16);
  BuildTwice(second);
  const auto executable = CompilePlan(second);
  ASSERT_OK(executable);
  EXPECT_EQ(counting->prepares(), 1);
  const binary::Programs programs = ProgramsOf(**executable);
  EXPECT_EQ(counting->prepares(), 1);
  if (programs.empty()) GTEST_SKIP() << "the driver gives no binaries";
  EXPECT_EQ(programs.size(), 1u);

  std::map<std::string, std::span<const std::byte>> stored;
  for (const auto& [key, bytes] : programs) {
    stored[key] = std::as_bytes(std::span(bytes));
  }
  const auto none = std::make_shared<testing::EmptyStore>();
  devices_[1] = *device::CreateOpenClDevice(0, GetOptions().on_device);
  PlanBuilder third(devices_, 16);
  BuildTwice(third);
  const auto again = CompilePlan(
      third, std::make_shared<StoredPrograms>(stored, nullptr, none));
  ASSERT_OK(again);
  EXPECT_EQ(none->builds, 0);
  const auto context = ExecutionContext::Create(*again);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(16, 1), Floats(16, 2));
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(::testing::TempDir() + "timcl_executable_XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr char kFolderVariable[] = "TIMCL_TEST_CACHE_FOLDER";
constexpr char kBuildsVariable[] = "TIMCL_TEST_EXPECTED_BUILDS";

// Also run by the test below, in processes of its own.
TEST_F(OpenClExecutable, CountsBuildsOfItsCacheFolder) {
  const char* shared = std::getenv(kFolderVariable);
  const char* builds = std::getenv(kBuildsVariable);
  const int expected = builds != nullptr ? std::atoi(builds) : 1;
  const TemporaryFolder own;
  const auto cache =
      ProgramCache::Create({.folder = shared != nullptr ? shared : own.path()});
  PlanBuilder plan(devices_, 16);
  BuildTwice(plan);
  const auto executable = CompilePlan(plan, cache);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(16, 1), Floats(16, 2));
  const bool keeps = testing::DriverKeepsPrograms(*devices_[1]);
  EXPECT_EQ(cache->builds(), keeps ? 1 : expected);
  EXPECT_EQ(cache->disk_hits(), keeps ? 0 : 1 - expected);
}

// The exit status of this program running the test above.
int RunInProcess(const std::string& folder, const char* builds) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFolderVariable, folder.c_str(), 1);
    setenv(kBuildsVariable, builds, 1);
    execl("/proc/self/exe", "opencl_executable_test",
          "--gtest_filter=*CountsBuildsOfItsCacheFolder",
          static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(OpenClExecutable, ASecondProcessBuildsNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(RunInProcess(folder.path(), "1"), 0);
  EXPECT_EQ(RunInProcess(folder.path(), "0"), 0);
}

}  // namespace
}  // namespace tim::runtime
