// Graph inputs and outputs on devices, in blocks and in strided memory.
#include "compiler/ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using compiler::Port;
using ir::Layout;
using testing::CountKernels;
using ::testing::HasSubstr;
using testing::ToyGraph;
using testing::ToyOptions;

const ir::Shape kImage = {8, 8, 32, 1};
const Port kOnDevice = {.device = 1};
const Port kBlocked = {.device = 1, .layout = Layout::Blocked(2, 16)};
const Port kFree = {.free = true};

compiler::CompileOptions Options(std::vector<Port> inputs,
                                 std::vector<Port> outputs) {
  compiler::CompileOptions options = ToyOptions();
  options.inputs = std::move(inputs);
  options.outputs = std::move(outputs);
  return options;
}

ToyGraph Unary(const std::string& op, const ir::Shape& shape = {16}) {
  ToyGraph toy;
  toy.Output(toy.Op(op, {toy.Input(shape)}));
  return toy;
}

int CountCopies(const ir::Plan& plan) {
  return static_cast<int>(std::count_if(
      plan.steps.begin(), plan.steps.end(), [](const ir::Step& step) {
        return std::holds_alternative<ir::Copy>(step.action);
      }));
}

// The slots that a step reads and writes, of a step with one of each.
const ir::Slot& From(const ir::Plan& plan, size_t step) {
  return plan.slots[plan.steps[step].operands.front()];
}
const ir::Slot& To(const ir::Plan& plan, size_t step) {
  return plan.slots[plan.steps[step].operands.back()];
}

bool IsHostReorder(const ir::Step& step) {
  const auto* call = std::get_if<ir::HostCall>(&step.action);
  return step.device == 0 && call != nullptr &&
         call->op.starts_with("tim.Reorder");
}

TEST(Ports, OnADeviceNeedNoCopies) {
  const auto plan = Unary("Twice").Compile(Options({kOnDevice}, {kOnDevice}));
  ASSERT_OK(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->inputs[0].device, 1);
  EXPECT_EQ(plan->outputs[0].device, 1);
  EXPECT_EQ(From(*plan, 0).kind, ir::SlotKind::kInput);
  EXPECT_EQ(From(*plan, 0).device, 1);
  EXPECT_EQ(To(*plan, 0).kind, ir::SlotKind::kOutput);
  EXPECT_EQ(To(*plan, 0).device, 1);
  EXPECT_THAT(ir::Dump(*plan), HasSubstr("float32 [16] on device 1\n"));
}

TEST(Ports, OneSideOnADevice) {
  const auto in = Unary("Twice").Compile(Options({kOnDevice}, {}));
  ASSERT_OK(in);
  EXPECT_EQ(CountCopies(*in), 1);
  EXPECT_EQ(in->outputs[0].device, 0);
  const auto out = Unary("Twice").Compile(Options({}, {kOnDevice}));
  ASSERT_OK(out);
  EXPECT_EQ(CountCopies(*out), 1);
  EXPECT_EQ(out->inputs[0].device, 0);
}

TEST(Ports, BlocksThatTheKernelTakesAreKept) {
  const ToyGraph toy = Unary("Heavy", kImage);
  const auto plan = toy.Compile(Options({kBlocked}, {kBlocked}));
  ASSERT_OK(plan);
  EXPECT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 1);
  EXPECT_EQ(plan->inputs[0].desc.layout, kBlocked.layout);
  EXPECT_EQ(plan->outputs[0].desc.layout, kBlocked.layout);
}

TEST(Ports, ABlockedInputBecomesDenseForTheHost) {
  const auto plan = Unary("Twice", kImage).Compile(Options({kBlocked}, {}));
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
  EXPECT_EQ(plan->inputs[0].desc.layout, kBlocked.layout);
  EXPECT_TRUE(plan->outputs[0].desc.layout.dense());
}

TEST(Ports, AFreeOutputStaysAsItIsMade) {
  const auto blocked =
      Unary("Heavy", kImage).Compile(Options({kBlocked}, {kFree}));
  ASSERT_OK(blocked);
  EXPECT_EQ(blocked->steps.size(), 1u);
  EXPECT_EQ(blocked->outputs[0].device, 1);
  EXPECT_EQ(blocked->outputs[0].desc.layout, kBlocked.layout);
  const auto on_host = Unary("Slow").Compile(Options({}, {kFree}));
  ASSERT_OK(on_host);
  EXPECT_EQ(on_host->outputs[0].device, 0);
  EXPECT_TRUE(on_host->outputs[0].desc.layout.dense());
}

// Host memory in blocks, which a device of unified memory imports.
const Port kHostBlocked = {.layout = Layout::Blocked(2, 16)};
const Port kHostAny = {.layout = Layout::Any()};

compiler::CompileOptions UnifiedOptions(std::vector<Port> inputs,
                                        std::vector<Port> outputs) {
  auto options = Options(std::move(inputs), std::move(outputs));
  options.devices[1].unified_memory = true;
  return options;
}

TEST(Ports, BlocksInHostMemoryAreImported) {
  const ToyGraph toy = Unary("Heavy", kImage);
  for (const Port& output : {kHostBlocked, kHostAny}) {
    const auto plan = toy.Compile(UnifiedOptions({kHostBlocked}, {output}));
    ASSERT_OK(plan);
    EXPECT_EQ(plan->steps.size(), 1u);
    EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 1);
    for (const ir::PlanTensor* port : {&plan->inputs[0], &plan->outputs[0]}) {
      EXPECT_EQ(port->desc.layout, kHostBlocked.layout);
      EXPECT_EQ(port->device, 0);
    }
    EXPECT_EQ(From(*plan, 0).kind, ir::SlotKind::kInput);
    EXPECT_EQ(From(*plan, 0).device, 1);
    EXPECT_EQ(To(*plan, 0).kind, ir::SlotKind::kOutput);
    EXPECT_EQ(To(*plan, 0).device, 1);
  }
}

TEST(Ports, BlocksInHostMemoryAreCopiedToOtherDevices) {
  const ToyGraph toy = Unary("Heavy", kImage);
  const auto plan = toy.Compile(Options({kHostBlocked}, {kHostAny}));
  ASSERT_OK(plan);
  EXPECT_TRUE(IsHostReorder(plan->steps[0]));
  EXPECT_EQ(plan->inputs[0].desc.layout, kHostBlocked.layout);
  EXPECT_EQ(plan->outputs[0].device, 0);
  EXPECT_EQ(CountKernels(*plan, "heavy_blocked"), 1);
  const size_t last = plan->steps.size() - 1;
  EXPECT_EQ(To(*plan, last).kind, ir::SlotKind::kOutput);
  EXPECT_EQ(To(*plan, last).device, 0);
  EXPECT_EQ(To(*plan, last).bytes, 8 * 8 * 32 * 4);
}

TEST(Ports, OutputsOfTheHostThatAreAnyAreDenseWhereTheyAreMadeSo) {
  for (const char* op : {"Twice", "Slow"}) {
    const auto plan = Unary(op).Compile(UnifiedOptions({}, {kHostAny}));
    ASSERT_OK(plan);
    EXPECT_TRUE(plan->outputs[0].desc.layout.dense()) << op;
    EXPECT_EQ(plan->outputs[0].device, 0) << op;
  }
  ToyGraph constant;
  constant.Output(constant.Constant({16}, 3));
  constant.Output(constant.Op("Twice", {constant.Input({16})}));
  const auto plan = constant.Compile(UnifiedOptions({}, {kHostAny, kHostAny}));
  ASSERT_OK(plan);
  EXPECT_TRUE(plan->outputs[0].desc.layout.dense());
}

TEST(Ports, DenseKernelsReadAndWriteBlocksInHostMemory) {
  const auto plan =
      Unary("Twice", kImage)
          .Compile(UnifiedOptions({kHostBlocked}, {kHostBlocked}));
  ASSERT_OK(plan);
  EXPECT_EQ(CountKernels(*plan, "twice"), 1);
  EXPECT_EQ(plan->inputs[0].desc.layout, kHostBlocked.layout);
  EXPECT_EQ(plan->outputs[0].desc.layout, kHostBlocked.layout);
}

TEST(Ports, OneValueAsTwoOutputs) {
  ToyGraph toy;
  const ir::ValueId twice = toy.Op("Twice", {toy.Input({16})});
  toy.Output(twice);
  toy.Output(twice);
  toy.Output(twice);
  const auto plan =
      toy.Compile(Options({kOnDevice}, {kOnDevice, {}, kOnDevice}));
  ASSERT_OK(plan);
  EXPECT_EQ(plan->steps.size(), 3u);
  EXPECT_EQ(CountCopies(*plan), 2);
  for (const int index : {0, 1, 2}) {
    EXPECT_EQ(plan->outputs[index].device, index == 1 ? 0 : 1) << index;
  }
}

TEST(Ports, AConstantAndAnInputAsOutputs) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input({16});
  toy.Output(toy.Constant({16}, 3));
  toy.Output(x);
  toy.Output(toy.Op("Twice", {x}));
  for (const Port& input : {Port(), kOnDevice}) {
    for (const Port& output : {Port(), kOnDevice, kFree}) {
      const auto plan = toy.Compile(Options({input}, {output, output, output}));
      ASSERT_OK(plan);
      EXPECT_EQ(plan->outputs[0].device, output.device);
      EXPECT_EQ(plan->outputs[1].device,
                output.free ? input.device : output.device);
    }
  }
}

TEST(Ports, StridedMemoryIsReadAndWrittenInPlace) {
  // Rows of 8 floats in rows of 10.
  const Port rows = {.layout = Layout::Strided({1, 10, 80, 2560})};
  const auto plan = Unary("Twice", kImage).Compile(Options({rows}, {rows}));
  ASSERT_OK(plan);
  EXPECT_EQ(plan->inputs[0].desc.layout, rows.layout);
  EXPECT_EQ(plan->outputs[0].desc.layout, rows.layout);
  const size_t last = plan->steps.size() - 1;
  EXPECT_TRUE(IsHostReorder(plan->steps[0]));
  EXPECT_EQ(From(*plan, 0).kind, ir::SlotKind::kInput);
  EXPECT_EQ(From(*plan, 0).bytes, (7 + 7 * 10 + 31 * 80 + 1) * 4);
  EXPECT_TRUE(IsHostReorder(plan->steps[last]));
  EXPECT_EQ(To(*plan, last).kind, ir::SlotKind::kOutput);
}

TEST(Ports, TwoStridedOutputsOfOneValueAreWrittenEach) {
  ToyGraph toy;
  const ir::ValueId twice = toy.Op("Twice", {toy.Input({8, 4})});
  toy.Output(twice);
  toy.Output(twice);
  const Port rows = {.layout = Layout::Strided({1, 10})};
  const auto plan = toy.Compile(Options({}, {rows, rows}));
  ASSERT_OK(plan);
  EXPECT_EQ(
      std::count_if(plan->steps.begin(), plan->steps.end(), IsHostReorder), 2);
}

TEST(Ports, AStridedConstantOutputLeavesItsGaps) {
  ToyGraph toy;
  toy.Output(toy.Constant({8, 4}, 3));
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  const Port rows = {.layout = Layout::Strided({1, 10})};
  const auto plan = toy.Compile(Options({}, {rows}));
  ASSERT_OK(plan);
  EXPECT_TRUE(
      std::any_of(plan->steps.begin(), plan->steps.end(), IsHostReorder));
}

TEST(Ports, MistakesAreNamed) {
  const auto says = [](std::vector<Port> inputs, std::vector<Port> outputs) {
    const auto plan =
        Unary("Twice", {8, 4})
            .Compile(Options(std::move(inputs), std::move(outputs)));
    EXPECT_FALSE(plan.ok());
    return std::string(plan.status().message());
  };
  EXPECT_THAT(says({{.device = 2}}, {}),
              HasSubstr("graph 'toy': input 0 is to be on device 2 of 2"));
  EXPECT_THAT(says({}, {{.device = -1}}), HasSubstr("output 0"));
  EXPECT_THAT(says({kHostAny}, {}),
              HasSubstr("ports are dense, blocked or strided"));
  EXPECT_THAT(says({}, {{.device = 1, .layout = Layout::Strided({1, 8})}}),
              HasSubstr("on device 1, which has no kernel for it"));
  EXPECT_THAT(says({{.layout = Layout::Strided({1})}}, {}),
              HasSubstr("does not fit shape"));
  EXPECT_THAT(says({{.layout = Layout::Strided({1, -8})}}, {}),
              HasSubstr("does not fit shape"));
  EXPECT_THAT(says({kFree}, {}), HasSubstr("only outputs are free"));
  EXPECT_THAT(says({{}, {}}, {}), HasSubstr("ports were given for 2"));
  EXPECT_THAT(says({}, {{.layout = Layout::Strided({1, 7})}}),
              HasSubstr("lie on each other"));
  // Reading elements twice is fine.
  EXPECT_OK(Unary("Twice", {8, 4})
                .Compile(Options({{.layout = Layout::Strided({1, 0})}}, {})));
}

TEST(Ports, OfTooManyDifferentStridesAreRefused) {
  ToyGraph toy;
  std::vector<Port> ports;
  for (int64_t i = 0; i < 100; ++i) {
    toy.Output(toy.Op("Twice", {toy.Input({4, 2})}));
    ports.push_back({.layout = Layout::Strided({1, 5 + i})});
  }
  EXPECT_ERROR(toy.Compile(Options(ports, {})),
               "ports of 100 different strides, at most 96");
  ports.resize(96);
  EXPECT_OK(toy.Compile(Options(ports, {})));
}

}  // namespace
}  // namespace tim
