// Runs step by step: what an observer sees, when, and what ends the run.
#include "runtime/observed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/options.h"
#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "runtime/compiled_graph.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::CompilePlan;
using testing::Devices;
using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::Floats;
using ::testing::Pair;
using testing::PlanBuilder;

Floats ToFloats(const std::vector<std::byte>& bytes) {
  Floats floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

/// Calls a function behind every step.
class Observer final : public RunObserver {
 public:
  using Call = std::function<Status(const ObservedStep&)>;
  explicit Observer(Call after) : after_(std::move(after)) {}

  Status BeforeStep(const ObservedStep& step) override {
    EXPECT_EQ(step.time().nanoseconds, 0);
    before.push_back(step.index());
    return OkStatus();
  }
  Status AfterStep(const ObservedStep& step) override {
    after.push_back(step.index());
    return after_(step);
  }

  std::vector<int> before;
  std::vector<int> after;

 private:
  const Call after_;
};

// The operand that the step wrote last.
Result<Floats> Written(const ObservedStep& step) {
  const int last = static_cast<int>(step.step().operands.size()) - 1;
  TIM_ASSIGN_OR_RETURN(const auto bytes, step.Read(last));
  return ToFloats(bytes);
}

Result<Floats> RunOn(ObservedRun& run, const Floats& input,
                     RunObserver& observer, StateSet* states = nullptr) {
  Floats output(input.size());
  const std::vector<PortMemory> in = {PortMemory(input.data())};
  const std::vector<PortMemory> out = {PortMemory(output.data())};
  TIM_RETURN_IF_ERROR(run.Run(in, out, states, observer));
  return output;
}

// input -> a -> + 10 -> b -> + 10 -> output; the device reuses no memory here.
void BuildTwice(PlanBuilder& plan) {
  const int a = plan.Temporary(1);
  const int b = plan.Temporary(1);
  const int c = plan.Temporary(1);
  plan.Copy(1, plan.Input(), a);
  plan.Eval(1, AddTen, a, b);
  plan.Eval(1, AddTen, b, c);
  plan.Copy(1, c, plan.Output());
}

Devices WithFake() {
  return {device::CreateHostDevice(), std::make_shared<FakeDevice>()};
}

TEST(ObservedRun, ShowsEveryStepWhileNothingElseWorks) {
  PlanBuilder plan(WithFake(), 2);
  BuildTwice(plan);
  const auto run = ObservedRun::Create(*CompilePlan(plan));
  ASSERT_OK(run);
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::vector<Floats> written;
    Observer observer([&](const ObservedStep& step) -> Status {
      EXPECT_GT(step.time().nanoseconds, 0);
      EXPECT_EQ(step.time().clock, StepTime::Clock::kHost);
      EXPECT_EQ(step.value(0), nullptr);  // made by hand: nothing is noted
      EXPECT_EQ(step.value_offset(0), 0);
      TIM_ASSIGN_OR_RETURN(written.emplace_back(), Written(step));
      return OkStatus();
    });
    const auto output = RunOn(**run, {1, 2}, observer);
    ASSERT_OK(output);
    EXPECT_EQ(*output, (Floats{21, 22}));
    EXPECT_THAT(observer.before, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(observer.after, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(written, ElementsAre(Floats{1, 2}, Floats{11, 12},
                                     Floats{21, 22}, Floats{21, 22}));
  }
}

TEST(ObservedRun, EndsWithTheObserversFailure) {
  PlanBuilder plan(WithFake(), 1);
  const int state = plan.State(1);
  const int read = plan.ReadState(state);
  plan.Input();
  plan.Eval(1, AddTen, read, plan.WriteState(state));
  plan.Copy(1, read, plan.Output());
  const auto executable = CompilePlan(plan);
  const auto run = ObservedRun::Create(*executable);
  ASSERT_OK(run);
  const auto states = StateSet::Create(*executable);
  bool fails = false;
  Observer observer([&](const ObservedStep&) -> Status {
    return fails ? FailedPrecondition("the disk is full") : OkStatus();
  });
  ASSERT_OK(RunOn(**run, {0}, observer, states->get()));
  fails = true;
  EXPECT_ERROR(RunOn(**run, {0}, observer, states->get()), "the disk is full");
  EXPECT_THAT(observer.after, ElementsAre(0, 1, 0));
  Observer thrower([](const ObservedStep&) -> Status {
    throw std::runtime_error("no way");
  });
  EXPECT_ERROR(RunOn(**run, {0}, thrower, states->get()), "no way");
  fails = false;
  const auto output = RunOn(**run, {0}, observer, states->get());
  ASSERT_OK(output);
  EXPECT_EQ(*output, Floats{10});  // the failed run left the state
}

TEST(ObservedRun, RefusesWhatARunRefuses) {
  PlanBuilder plan(WithFake(), 1);
  BuildTwice(plan);
  const auto run = ObservedRun::Create(*CompilePlan(plan));
  ASSERT_OK(run);
  Observer observer([](const ObservedStep& step) -> Status {
    EXPECT_ERROR(step.Read(2), "operand 2 of 2");
    EXPECT_ERROR(step.Read(-1), "operand -1 of 2");
    return OkStatus();
  });
  EXPECT_ERROR((*run)->Run({}, {}, nullptr, observer), "a run was given 0");
  EXPECT_TRUE(observer.before.empty());
  EXPECT_OK(RunOn(**run, {1}, observer));

  PlanBuilder with_state(WithFake(), 1);
  const int state = with_state.State(1);
  with_state.Input();
  with_state.Copy(1, with_state.ReadState(state), with_state.Output());
  const auto other = ObservedRun::Create(*CompilePlan(with_state));
  ASSERT_OK(other);
  EXPECT_ERROR(RunOn(**other, {1}, observer), "was given none");
}

TEST(ObservedRun, NamesTheStepThatFails) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  BuildTwice(plan);
  const auto run = ObservedRun::Create(*CompilePlan(plan));
  ASSERT_OK(run);
  Observer observer([](const ObservedStep&) { return OkStatus(); });
  fake->LoseAtStep(2);  // step 2 of the plan: the copy before is none to it
  const auto failed = RunOn(**run, {1}, observer);
  EXPECT_EQ(failed.status().code(), StatusCode::kDeviceLost);
  EXPECT_ERROR(failed, "step '");
  EXPECT_THAT(observer.after, ElementsAre(0, 1));
  fake->ResetLost();
  EXPECT_EQ(RunOn(**run, {1}, observer).status().code(),
            StatusCode::kDeviceLost);
}

ir::ValueId AddSoftmax(ir::Graph* graph, ir::ValueId input,
                       const std::string& name) {
  const ir::ValueId output = graph->AddValue(
      graph->value(input).desc, ir::Role::kTransient, "of " + name);
  ir::Node node;
  node.name = name;
  node.schema = ops::BuiltinOperators().Find("tim.Softmax");
  node.attributes = {{"beta", 1.0f}, {"axis", int64_t{0}}};
  node.inputs = {input};
  node.outputs = {output};
  graph->AddNode(std::move(node));
  return output;
}

// x -> first -> second, of float32 [3, 2].
Result<std::unique_ptr<CompiledGraph>> CompileSoftmaxes(
    const Devices& devices) {
  ir::Graph graph("softmaxes");
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{3, 2};
  const ir::ValueId x = graph.AddValue(desc, ir::Role::kInput, "x");
  graph.AddInput(x);
  const ir::ValueId y = AddSoftmax(&graph, x, "first");
  graph.AddOutput(AddSoftmax(&graph, y, "second"));
  const compiler::CompileOptions options = CompileOptionsFor(devices);
  const auto registry =
      std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(const auto inferred,
                       compiler::Infer(graph, *registry, options));
  return CompiledGraph::Create(inferred, options,
                               {.devices = devices,
                                .store = ProgramCache::Create({}),
                                .operators = registry});
}

// Runs it both ways on memory that is aligned to floats only.
void CheckSoftmaxes(CompiledGraph& graph, StepTime::Clock clock) {
  const Floats input = {0, 1, 2, 3, 4, 5};
  Floats expected(6);
  Floats output(6);
  const std::vector<PortMemory> in = {PortMemory(input.data(), 24)};
  const std::vector<PortMemory> out = {PortMemory(output.data(), 24)};
  const std::vector<PortMemory> plain = {PortMemory(expected.data(), 24)};
  ASSERT_OK(graph.Run(in, plain));
  std::vector<std::pair<std::string, Floats>> written;
  Observer observer([&](const ObservedStep& step) -> Status {
    const std::string& label = step.step().label;
    EXPECT_GT(step.time().nanoseconds, 0);
    EXPECT_EQ(step.time().clock, clock) << label;
    for (size_t i = 0; i < step.step().operands.size(); ++i) {
      if (!step.step().written[i] || !label.starts_with("first")) continue;
      const auto* value = step.value(static_cast<int>(i));
      if (value == nullptr) continue;  // scratch
      EXPECT_EQ(value->desc.shape.ToString(), "[3, 2]");
      TIM_ASSIGN_OR_RETURN(const auto bytes, step.Read(static_cast<int>(i)));
      written.emplace_back(value->name, ToFloats(bytes));
    }
    return OkStatus();
  });
  ASSERT_OK(graph.RunObserved(in, out, observer));
  EXPECT_EQ(observer.after.size(), graph.plan().steps.size());
  EXPECT_EQ(output, expected);
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].first, "of first");
  for (const int row : {0, 3}) {
    EXPECT_NEAR(written[0].second[row], 0.09003057f, 1e-6f);
    EXPECT_NEAR(written[0].second[row + 1], 0.24472847f, 1e-6f);
    EXPECT_NEAR(written[0].second[row + 2], 0.66524096f, 1e-6f);
  }
  EXPECT_EQ(graph.plan().notes.work.at("first").op, "Softmax");
  EXPECT_GT(graph.plan().notes.work.at("first").operations, 0);
}

TEST(ObservedRun, TellsWhichTensorsStepsWrite) {
  const auto graph = CompileSoftmaxes({device::CreateHostDevice()});
  ASSERT_OK(graph);
  CheckSoftmaxes(**graph, StepTime::Clock::kHost);
}

TEST(ObservedRun, OpensChainsAndAsksTheDeviceForTimes) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const Devices devices = {
      device::CreateHostDevice(),
      *device::CreateOpenClDevice(0, GetOptions().on_device)};
  const auto graph = CompileSoftmaxes(devices);
  ASSERT_OK(graph);
  const bool timed = devices[1]->CreateTimedStream().ok();
  CheckSoftmaxes(**graph,
                 timed ? StepTime::Clock::kDevice : StepTime::Clock::kHost);
}

TEST(ObservedRun, TakesTheHostsClockWhereThereIsNoOther) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  // Forwards everything but timed streams.
  const Devices devices = {
      device::CreateHostDevice(),
      std::make_shared<testing::ForwardingDevice>(
          *device::CreateOpenClDevice(0, GetOptions().on_device))};
  const auto graph = CompileSoftmaxes(devices);
  ASSERT_OK(graph);
  CheckSoftmaxes(**graph, StepTime::Clock::kHost);
}

}  // namespace
}  // namespace tim::runtime
