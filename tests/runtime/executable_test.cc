#include "runtime/executable.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/execution_context.h"
#include "runtime/program_cache.h"
#include "runtime/state_set.h"
#include "tests/support/fake_device.h"
#include "tests/support/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::EmptyStore;
using testing::FakeDevice;
using testing::FakeOptions;
using testing::FloatLaunch;
using testing::PlanBuilder;
using Floats = std::vector<float>;
using Devices = std::vector<std::shared_ptr<device::Device>>;

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

Status AddTen(std::span<const float> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 10;
  return OkStatus();
}

Result<std::shared_ptr<const Executable>> Compile(
    PlanBuilder& plan, std::shared_ptr<device::BinaryStore> store = nullptr) {
  if (store == nullptr) store = std::make_shared<EmptyStore>();
  return Executable::Create(plan.plan(), plan.devices(), std::move(store));
}

Result<std::unique_ptr<ExecutionContext>> MakeContext(PlanBuilder& plan) {
  TIM_ASSIGN_OR_RETURN(auto executable, Compile(plan));
  return ExecutionContext::Create(std::move(executable));
}

Result<Floats> RunOnce(ExecutionContext& context, const Floats& input,
                       StateSet* states = nullptr) {
  Floats output(input.size(), -1);
  const void* const inputs[] = {input.data()};
  void* const outputs[] = {output.data()};
  TIM_RETURN_IF_ERROR(context.Run(inputs, outputs, states));
  return output;
}

void ExpectRun(ExecutionContext& context, const Floats& input,
               const Floats& expected, StateSet* states = nullptr) {
  const auto output = RunOnce(context, input, states);
  ASSERT_OK(output);
  EXPECT_EQ(*output, expected);
}

// input -> AddTen on `device` -> output.
void BuildAddTen(PlanBuilder& plan, int device,
                 testing::FloatFunction function = AddTen) {
  const int in = plan.Temporary(device);
  const int out = plan.Temporary(device);
  plan.Copy(device, plan.Input(), in);
  plan.Eval(device, std::move(function), in, out);
  plan.Copy(device, out, plan.Output());
}

TEST(Executable, RunsOnTheHostInTheCallersMemory) {
  PlanBuilder plan({device::CreateHostDevice()}, 3);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
  ExpectRun(**context, {4, 5, 6}, {14, 15, 16});
}

TEST(Executable, WaitsForAnAsynchronousDevice) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.max_delay_us = 1000});
  PlanBuilder plan({device::CreateHostDevice(), fake}, 3);
  BuildAddTen(plan, 1);
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  EXPECT_EQ(fake->steps_run(), 0);
  ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
  ExpectRun(**context, {4, 5, 6}, {14, 15, 16});
}

TEST(Executable, ChecksItsArguments) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  EXPECT_ERROR(Executable::Create(plan.plan(), {}, nullptr),
               "the plan is for 1 devices, found 0");
  EXPECT_ERROR(Executable::Create(plan.plan(), {std::make_shared<FakeDevice>()},
                                  nullptr),
               "device 0 of the plan is of kind 'host', found 'fake'");
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  float value = 0;
  const void* const inputs[] = {nullptr};
  void* const outputs[] = {&value};
  EXPECT_ERROR((*context)->Run({}, outputs, nullptr),
               "has 1 inputs and 1 outputs, a run was given 0 and 1");
  EXPECT_ERROR((*context)->Run(inputs, outputs, nullptr),
               "graph 'test graph': input 0 'input0' has no memory");
}

TEST(Executable, AnErrorOfARunDoesNotLatch) {
  const auto fake = std::make_shared<FakeDevice>();
  const auto refuse_negative = [](std::span<const float> in,
                                  std::span<float> out) -> Status {
    if (in[0] < 0) return InvalidArgument("a negative value");
    return AddTen(in, out);
  };
  for (const int device : {0, 1}) {
    PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
    BuildAddTen(plan, device, refuse_negative);
    const auto context = MakeContext(plan);
    ASSERT_OK(context);
    EXPECT_ERROR(RunOnce(**context, {-1}), "a negative value");
    ExpectRun(**context, {1}, {11});
  }
}

TEST(Executable, AStepThatFailsAtOnceIsNamed) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(
      0,
      [](std::span<const float>, std::span<float>) {
        return Unimplemented("not today");
      },
      plan.Input(), plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  EXPECT_ERROR(RunOnce(**context, {1}), "step 'step0': eval: not today");
}

TEST(Executable, DeviceLossLatchesInTheContext) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  BuildAddTen(plan, 1);
  const auto executable = Compile(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  EXPECT_OK(RunOnce(**context, {1}));
  fake->LoseAtStep(1);
  EXPECT_EQ(RunOnce(**context, {1}).status().code(), StatusCode::kDeviceLost);
  fake->ResetLost();
  EXPECT_EQ(RunOnce(**context, {1}).status().code(), StatusCode::kDeviceLost);
  const auto again = ExecutionContext::Create(*executable);
  ASSERT_OK(again);
  ExpectRun(**again, {1}, {11});
}

TEST(Executable, OutOfMemoryIsAnErrorAndLeavesNothing) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.memory_bytes = 200});
  PlanBuilder plan({device::CreateHostDevice(), fake}, 32);
  BuildAddTen(plan, 1);
  const auto context = MakeContext(plan);
  EXPECT_EQ(context.status().code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(context, "an arena of 256 bytes for graph 'test graph'");
  EXPECT_EQ(fake->live_bytes(), 0);

  PlanBuilder constant({device::CreateHostDevice(), fake}, 64);
  constant.Constant(1, Floats(64, 1));
  EXPECT_ERROR(Compile(constant), "constant 0");
  EXPECT_EQ(fake->live_bytes(), 0);
}

TEST(Executable, AFailedBuildLeavesTheDeviceUsable) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  BuildAddTen(plan, 1);
  fake->FailNextPrepare();
  EXPECT_EQ(Compile(plan).status().code(), StatusCode::kBuildFailure);
  EXPECT_OK(Compile(plan));
}

TEST(Executable, EqualConstantsOfADeviceShareTheirBuffer) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 2);
  plan.Constant(1, {1, 2});
  plan.Constant(1, {1, 2});
  plan.Constant(1, {3, 4});
  plan.Constant(0, {1, 2});
  const auto executable = Compile(plan);
  ASSERT_OK(executable);
  EXPECT_EQ(fake->live_bytes(), 16);
  EXPECT_EQ(&(*executable)->constant(0), &(*executable)->constant(1));
  EXPECT_NE(&(*executable)->constant(0), &(*executable)->constant(2));
  const auto& host = (*executable)->constant(3);
  EXPECT_EQ(host.host_address(),
            (*executable)->plan().constants[3].data->bytes.data());
}

// state' = state + 10 on `device`; the output is the state before the run.
void CheckStates(const Devices& devices, int device) {
  PlanBuilder plan(devices, 2);
  const int state = plan.State(device);
  const int read = plan.ReadState(state);
  plan.Input();
  plan.Eval(device, AddTen, read, plan.WriteState(state));
  plan.Copy(device, read, plan.Output());
  const auto executable = Compile(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*executable);
  const auto others = StateSet::Create(*executable);
  ASSERT_OK(context);
  EXPECT_ERROR(RunOnce(**context, {0, 0}), "was given none");
  for (int run = 0; run < 5; ++run) {
    const float before = 10.0f * run;
    ExpectRun(**context, {0, 0}, {before, before}, states->get());
  }
  ExpectRun(**context, {0, 0}, {0, 0}, others->get());
  Floats value(2);
  ASSERT_OK((*states)->Read(0, value.data()));
  EXPECT_EQ(value, (Floats{50, 50}));
}

TEST(Executable, StatesAreReadBeforeAndWrittenAfterTheRun) {
  const Devices devices = {device::CreateHostDevice(),
                           std::make_shared<FakeDevice>()};
  CheckStates(devices, 0);
  CheckStates(devices, 1);
}

TEST(Executable, AFailedRunLeavesTheStates) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  const int state = plan.State(0);
  const int in = plan.Input();
  plan.Eval(0, AddTen, in, plan.WriteState(state));
  plan.Eval(
      0,
      [](std::span<const float> from, std::span<float>) -> Status {
        if (from[0] < 0) return InvalidArgument("negative");
        return OkStatus();
      },
      in, plan.Output());
  const auto executable = Compile(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*executable);
  float value = 7;
  ASSERT_OK((*states)->Write(0, &value));
  EXPECT_FALSE(RunOnce(**context, {-1}, states->get()).ok());
  ASSERT_OK((*states)->Read(0, &value));
  EXPECT_EQ(value, 7);
  EXPECT_OK(RunOnce(**context, {1}, states->get()));
  ASSERT_OK((*states)->Read(0, &value));
  EXPECT_EQ(value, 11);
}

TEST(Executable, StatesOfAnotherExecutableAreRefused) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  const auto executable = Compile(plan);
  const auto other = Compile(plan);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*other);
  ASSERT_OK(states);
  EXPECT_ERROR(RunOnce(**context, {1}, states->get()),
               "belong to another executable");
}

// Two fake devices and the host: fork, join on the host, then back.
TEST(Executable, DevicesWaitForEachOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto a = std::make_shared<FakeDevice>(
        FakeOptions{.seed = seed, .max_delay_us = 300});
    const auto b = std::make_shared<FakeDevice>(
        FakeOptions{.seed = seed + 100, .max_delay_us = 300});
    PlanBuilder plan({device::CreateHostDevice(), a, b}, 4);
    const int in = plan.Input();
    const int a_in = plan.Temporary(1);
    const int a_out = plan.Temporary(1);
    const int b_in = plan.Temporary(2);
    const int b_out = plan.Temporary(2);
    const int host_a = plan.Temporary(0);
    const int host_sum = plan.Temporary(0);
    plan.Copy(1, in, a_in);
    plan.Eval(1, AddTen, a_in, a_out);
    const int down = plan.Copy(1, a_out, host_a);
    const int sum = plan.Eval(0, AddTen, host_a, host_sum, {down});
    plan.Copy(2, host_sum, b_in, {sum});
    plan.Eval(2, AddTen, b_in, b_out);
    plan.Copy(2, b_out, plan.Output());
    const auto context = MakeContext(plan);
    ASSERT_OK(context);
    for (float run = 0; run < 5; ++run) {
      ExpectRun(**context, {run, 1, 2, 3}, {run + 30, 31, 32, 33});
    }
  }
}

TEST(Executable, ContextsRunSideBySide) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 4);
  BuildAddTen(plan, 1);
  const auto executable = Compile(plan);
  ASSERT_OK(executable);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto context = ExecutionContext::Create(*executable);
      ASSERT_OK(context);
      const float base = 100.0f * t;
      for (int i = 0; i < 20; ++i) {
        ExpectRun(**context, Floats(4, base + i), Floats(4, base + i + 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class OpenClExecutable : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    devices_ = {device::CreateHostDevice(), *device::CreateOpenClDevice(0)};
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
  const auto executable = Compile(plan);
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
    ir::KernelLaunch launch = FloatLaunch(kKernels, "count", 4, 1);
    launch.user_kernel = user;
    plan.Input();
    plan.Launch(1, launch, {counter});
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
  const auto executable = Compile(plan);
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
  const auto failed = Compile(broken);
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
  const auto executable = Compile(plan);
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

constexpr char kFolderVariable[] = "TIMCL_TEST_CACHE_FOLDER";
constexpr char kBuildsVariable[] = "TIMCL_TEST_EXPECTED_BUILDS";

// Run by the test below, in a process of its own.
TEST_F(OpenClExecutable, DISABLED_ProcessWithACacheFolder) {
  const char* folder = std::getenv(kFolderVariable);
  const char* builds = std::getenv(kBuildsVariable);
  if (folder == nullptr || builds == nullptr) GTEST_SKIP() << "a helper";
  const auto cache = ProgramCache::Create({.folder = folder});
  PlanBuilder plan(devices_, 16);
  BuildTwice(plan);
  const auto executable = Compile(plan, cache);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(16, 1), Floats(16, 2));
  EXPECT_EQ(cache->builds(), std::atoi(builds));
  EXPECT_EQ(cache->disk_hits(), 1 - std::atoi(builds));
}

int RunHelper(const std::string& folder, const char* builds) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFolderVariable, folder.c_str(), 1);
    setenv(kBuildsVariable, builds, 1);
    execl("/proc/self/exe", "executable_test",
          "--gtest_also_run_disabled_tests",
          "--gtest_filter=*DISABLED_ProcessWithACacheFolder",
          static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(OpenClExecutable, ASecondProcessBuildsNothing) {
  std::string folder = ::testing::TempDir() + "timcl_executable_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(RunHelper(folder, "1"), 0);
  EXPECT_EQ(RunHelper(folder, "0"), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tim::runtime
