// Kernels that a device can neither build nor launch: others take their place.
#include "runtime/ready_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/host/host_device.h"
#include "ir/typed_kernel.h"
#include "runtime/compile_options.h"
#include "runtime/step_estimates.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::runtime {
namespace {

using ::testing::ElementsAre;
using testing::EmptyStore;
using testing::FakeDevice;
using testing::FakeOptions;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToyGraph;

constexpr int64_t kFloats = 64;
constexpr int kLimit = 32;
using Values = std::vector<float>;

// y = 2 x.
void Double(std::span<std::byte* const> operands) {
  const auto* x = reinterpret_cast<const float*>(operands[0]);
  auto* y = reinterpret_cast<float*>(operands[1]);
  for (int i = 0; i < kFloats; ++i) y[i] = 2 * x[i];
}

// toy.Twice by work-groups of so many items.
ir::PlainKernel Twice(const std::string& name, double cost, int64_t items) {
  ir::PlainKernel kernel;
  kernel.op = "toy.Twice";
  kernel.name = name;
  kernel.device_kind = "fake";
  kernel.analyze = [](const ir::KernelNode& node, const ir::DeviceInfo&) {
    return node.node->composite ? Unimplemented("fused") : OkStatus();
  };
  kernel.cost = [cost](const ir::KernelNode&, const ir::DeviceInfo&) {
    return cost;
  };
  kernel.lower = [name, items](const ir::KernelNode&,
                               const ir::DeviceInfo&) -> Result<ir::Lowering> {
    ir::KernelLaunch launch;
    launch.source = "toy.cl";
    launch.function = name;
    launch.range.global = {kFloats, 1, 1};
    launch.range.local = {items, 0, 0};
    using Kind = ir::LoweredOperand::Kind;
    ir::Lowering lowering;
    lowering.steps.push_back(
        {.action = launch,
         .operands = {{Kind::kInput, 0}, {Kind::kOutput, 0}},
         .written = {false, true}});
    return lowering;
  };
  return kernel;
}

// What differs between the two: a kernel that only even nodes are large for.
ir::KernelDef LargeAtEvenNodes() {
  ir::PlainKernel kernel = Twice("adaptive", 1, kLimit);
  const auto small = kernel.lower;
  kernel.lower = [small, large = Twice("adaptive", 1, 2 * kLimit).lower](
                     const ir::KernelNode& node, const ir::DeviceInfo& device) {
    return (node.node->name == "Twice#0" ? large : small)(node, device);
  };
  return kernel;
}

struct Outcome {
  Result<ReadyGraph> ready = OutOfMemory("not made");
  std::string log;

  const ir::Plan& plan() const { return ready->executable->plan(); }
};

class RefusedKernels : public ::testing::Test {
 protected:
  RefusedKernels() {
    options_.runs_eval = false;
    options_.work_group_limit = kLimit;
    for (const char* name : {"wide", "narrow", "adaptive"}) {
      options_.kernels.emplace(name, Double);
    }
    graph_.Output(
        graph_.Op("Twice", {graph_.Op("Twice", {graph_.Input({kFloats})})}));
  }

  void Add(ir::KernelDef kernel) { registry_->Add(std::move(kernel)); }

  Outcome Make() {
    device_ = std::make_shared<FakeDevice>(options_);
    if (full_) device_->FailAllocationsAfter(0);
    const std::vector<std::shared_ptr<device::Device>> devices = {
        device::CreateHostDevice(), device_};
    compiler::CompileOptions options = CompileOptionsFor(devices);
    options.strict = strict_;
    compiled_ = 0;
    options.dump_sink = [this](const std::string& pass, const ir::Graph&) {
      if (pass == "lower") ++compiled_;
    };
    ::testing::internal::CaptureStderr();
    Outcome outcome;
    const auto inferred = compiler::Infer(graph_.graph(), *registry_, options);
    EXPECT_OK(inferred);
    outcome.ready =
        CompileAndPrepare(*inferred, options,
                          {devices, std::make_shared<EmptyStore>(), registry_});
    outcome.log = ::testing::internal::GetCapturedStderr();
    return outcome;
  }

  static void ExpectRuns(const Outcome& outcome) {
    const Values in(kFloats, 3);
    Values out(kFloats);
    const void* const inputs[] = {in.data()};
    void* const outputs[] = {out.data()};
    ASSERT_OK(outcome.ready->context->Run(inputs, outputs, nullptr));
    EXPECT_EQ(out, Values(kFloats, 12));
  }

  static std::vector<std::string> KernelsOf(const Outcome& outcome) {
    std::vector<std::string> kernels;
    for (const ir::Step& step : outcome.plan().steps) {
      if (!step.kernel.empty()) kernels.push_back(step.kernel);
    }
    return kernels;
  }

  FakeOptions options_;
  bool full_ = false;  // others have all of the device's memory
  bool strict_ = false;
  int compiled_ = 0;  // how often, by the last Make()
  ToyGraph graph_{"refused"};
  std::shared_ptr<FakeDevice> device_;
  std::shared_ptr<ir::OpRegistry> registry_ =
      std::make_shared<ir::OpRegistry>(&testing::ToyOperators());
};

TEST_F(RefusedKernels, WhereThereAreNoneAllIsDoneOnce) {
  Add(Twice("narrow", 1, kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(device_->prepares(), 1);
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, TheNextCandidateTakesTheirPlace) {
  Add(Twice("wide", 1, 2 * kLimit));
  Add(Twice("narrow", 5, kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_THAT(KernelsOf(outcome), ElementsAre("narrow", "narrow"));
  EXPECT_EQ(compiled_, 2);
  EXPECT_EQ(device_->prepares(), 2);
  const std::string reason =
      "a work-group of 64 items exceeds the limit 32 of fake device";
  for (const ir::Decision& decision : outcome.plan().decisions) {
    EXPECT_EQ(decision.chosen, "fake:narrow, 5 us");
    ASSERT_FALSE(decision.refused.empty());
    EXPECT_THAT(decision.refused[0],
                HasSubstr("fake:wide: it cannot run here"));
    EXPECT_THAT(decision.refused[0], HasSubstr(reason));
  }
  EXPECT_THAT(outcome.log, HasSubstr("[warning] fake device cannot run the "
                                     "kernel wide, and another takes its"));
  EXPECT_THAT(outcome.log, HasSubstr(reason));
  EXPECT_EQ(outcome.log.find("kernel wide"), outcome.log.rfind("kernel wide"));
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, WhatDoesNotBuildIsOneAndItsLogIsInTheWarning) {
  Add(Twice("missing", 1, 1));
  Add(Twice("narrow", 5, kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_THAT(KernelsOf(outcome), ElementsAre("narrow", "narrow"));
  const std::string& refused = outcome.plan().decisions[0].refused[0];
  EXPECT_THAT(refused, HasSubstr("has no kernel missing"));
  EXPECT_THAT(refused, Not(HasSubstr("second line")));
  EXPECT_THAT(outcome.log, HasSubstr("second line of the log"));
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, WhatFailsWhenItIsLaunchedIsOne) {
  options_.work_group_limit = 1024;
  options_.launch_limit = kLimit;
  Add(Twice("wide", 1, 2 * kLimit));
  Add(Twice("narrow", 5, kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_THAT(KernelsOf(outcome), ElementsAre("narrow", "narrow"));
  EXPECT_THAT(outcome.plan().decisions[0].refused[0],
              HasSubstr("too few registers for 64 items"));
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, WhereTheyRunTheyAreKept) {
  Add(LargeAtEvenNodes());
  Add(Twice("narrow", 5, kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_THAT(KernelsOf(outcome), ElementsAre("narrow", "adaptive"));
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, OneAfterTheOtherDownToTheHost) {
  Add(Twice("missing", 1, 1));
  Add(Twice("wide", 2, 2 * kLimit));
  const Outcome outcome = Make();
  ASSERT_OK(outcome.ready);
  EXPECT_TRUE(KernelsOf(outcome).empty());
  const ir::Decision& decision = outcome.plan().decisions[0];
  EXPECT_THAT(decision.chosen, HasSubstr("host:eval"));
  // What keeps operations from the host is no time that it takes.
  const auto us = CostOf(decision);
  ASSERT_TRUE(us.has_value()) << decision.chosen;
  EXPECT_LT(*us, 1000) << decision.chosen;
  ExpectRuns(outcome);
}

TEST_F(RefusedKernels, WithoutAHostStepTheErrorNamesTheReasons) {
  Add(Twice("missing", 1, 1));
  Add(Twice("wide", 2, 2 * kLimit));
  strict_ = true;
  const Outcome outcome = Make();
  EXPECT_ERROR(outcome.ready, "Twice#0 of graph 'refused': no device can run");
  EXPECT_ERROR(outcome.ready,
               "fake:missing: it cannot run here: kernel build failure");
  EXPECT_ERROR(outcome.ready,
               "fake:wide: it cannot run here: invalid argument");
  EXPECT_ERROR(outcome.ready, "strict mode allows no host step");
}

TEST_F(RefusedKernels, AUsersKernelIsAnErrorAndNamedFirst) {
  Add(Twice("wide", 1, 2 * kLimit));
  Add(Twice("narrow", 5, kLimit));
  ir::PlainKernel users = Twice("users", 0.5, 2 * kLimit);
  users.analyze = [](const ir::KernelNode& node, const ir::DeviceInfo&) {
    return node.node->name == "Twice#1" ? OkStatus() : Unimplemented("other");
  };
  users.lower = [lower = users.lower](
                    const ir::KernelNode& node,
                    const ir::DeviceInfo& device) -> Result<ir::Lowering> {
    TIM_ASSIGN_OR_RETURN(ir::Lowering lowering, lower(node, device));
    const auto& launch = std::get<ir::KernelLaunch>(lowering.steps[0].action);
    ir::UserLaunch users;
    users.text = "the user's";
    users.function = launch.function;
    users.range = launch.range;
    lowering.steps[0].action = users;
    return lowering;
  };
  Add(users);
  const Outcome outcome = Make();
  EXPECT_ERROR(outcome.ready, "has no kernel users");
  EXPECT_EQ(device_->prepares(), 1);
  EXPECT_EQ(outcome.log, "");
}

TEST_F(RefusedKernels, WantOfMemoryRefusesNone) {
  full_ = true;
  Add(Twice("narrow", 1, kLimit));
  const Outcome outcome = Make();
  EXPECT_EQ(outcome.ready.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(device_->prepares(), 1);
}

}  // namespace
}  // namespace tim::runtime
