#include "device/host/host_device.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "device/host/host_buffer.h"
#include "ir/graph.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using testing::EmptyStore;
using testing::EvalCall;

Result<std::unique_ptr<PreparedStep>> PrepareOne(
    Device& device, const ir::Action& action,
    const ir::OpRegistry& operators = ir::OpRegistry()) {
  EmptyStore store;
  const ir::Action* step = &action;
  TIM_ASSIGN_OR_RETURN(auto steps,
                       device.Prepare({&step, 1}, operators, store));
  return std::move(steps[0]);
}

Status Twice(std::span<const float> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
  return OkStatus();
}

TEST(HostDevice, SaysWhatItIs) {
  const auto device = CreateHostDevice();
  EXPECT_EQ(device->info().kind, "host");
  EXPECT_TRUE(device->info().runs_eval);
  EXPECT_GT(device->info().global_memory_bytes, 0);
  EXPECT_NE(device->domain(), CreateHostDevice()->domain());
}

TEST(HostDevice, DoesNoStepsOfOtherDevices) {
  const auto device = CreateHostDevice();
  EXPECT_ERROR(
      PrepareOne(*device, ir::DeviceCall{.name = "acme.scale", .payload = ""}),
      "the host cannot run 'call acme.scale");
  EXPECT_ERROR(PrepareOne(*device, ir::GraphCall{.part = nullptr,
                                                 .name = "part.acme.0",
                                                 .options = {}}),
               "the host cannot run 'graph part.acme.0");
}

TEST(HostDevice, HasTheProcessorsThatItMayUse) {
  std::thread([] {
    const int own = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(own, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(CreateHostDevice()->info().compute_units, 1);
  }).join();
}

TEST(HostDevice, AViewIsAPartOfABuffer) {
  const auto device = CreateHostDevice();
  const auto buffer = *device->Allocate(256, ir::MemoryKind::kHost);
  const auto view = *buffer->View(64, 128);
  const auto inner = *view->View(64, 10);
  EXPECT_EQ(inner->bytes(), 10);
  EXPECT_EQ(inner->host_address(),
            static_cast<std::byte*>(buffer->host_address()) + 128);
}

TEST(HostDevice, BuffersAreAlignedAndReachable) {
  const auto device = CreateHostDevice();
  for (const int64_t bytes : {0, 1, 63, 64, 65, 1 << 20}) {
    const auto buffer = device->Allocate(bytes, ir::MemoryKind::kHost);
    ASSERT_OK(buffer);
    EXPECT_EQ((*buffer)->bytes(), bytes);
    const auto address = reinterpret_cast<uintptr_t>((*buffer)->host_address());
    EXPECT_NE(address, 0u);
    EXPECT_EQ(address % 64, 0u);
  }
}

TEST(HostDevice, ImpossibleSizesAreErrors) {
  const auto device = CreateHostDevice();
  EXPECT_EQ(device->Allocate(-1, ir::MemoryKind::kHost).status().code(),
            StatusCode::kInvalidArgument);
  const auto huge = device->Allocate(int64_t{1} << 60, ir::MemoryKind::kHost);
  EXPECT_EQ(huge.status().code(), StatusCode::kOutOfMemory);
}

TEST(HostDevice, ImportWrapsTheCallersMemory) {
  const auto device = CreateHostDevice();
  std::vector<float> memory(4);
  const auto buffer = device->Import(memory.data(), 16);
  ASSERT_OK(buffer);
  EXPECT_EQ((*buffer)->host_address(), memory.data());
}

TEST(HostDevice, RunsEval) {
  const auto device = CreateHostDevice();
  ir::OpRegistry operators;
  auto step =
      PrepareOne(*device, EvalCall(operators, "twice", 3, Twice), operators);
  ASSERT_OK(step);
  std::vector<float> in = {1, 2, 3};
  std::vector<float> out(3);
  ExternalBuffer a(in.data(), 12);
  ExternalBuffer b(out.data(), 12);
  const BufferRange operands[] = {{&a, 0, 12}, {&b, 0, 12}};
  auto stream = *device->CreateStream();
  EXPECT_OK(stream->Enqueue(**step, operands));
  EXPECT_OK((*stream->Record())->Wait());
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
}

TEST(HostDevice, AbsentOperandsTakeNoRange) {
  const auto device = CreateHostDevice();
  ir::OpRegistry operators;
  ir::HostCall call = EvalCall(operators, "twice", 2, Twice);
  call.inputs.emplace_back();
  auto step = PrepareOne(*device, call, operators);
  ASSERT_OK(step);
  float in[] = {1, 2};
  float out[] = {0, 0};
  ExternalBuffer a(in, 8);
  ExternalBuffer b(out, 8);
  const BufferRange operands[] = {{&a, 0, 8}, {&b, 0, 8}};
  EXPECT_OK((*device->CreateStream())->Enqueue(**step, operands));
  EXPECT_EQ(out[1], 4);
}

TEST(HostDevice, AnErrorIsReturnedAndBelongsToTheNextEventOnly) {
  const auto device = CreateHostDevice();
  ir::OpRegistry operators;
  const ir::HostCall call = EvalCall(
      operators, "broken", 1, [](std::span<const float>, std::span<float>) {
        return InvalidArgument("bad index");
      });
  auto step = PrepareOne(*device, call, operators);
  ASSERT_OK(step);
  float value = 0;
  ExternalBuffer buffer(&value, 4);
  const BufferRange operands[] = {{&buffer, 0, 4}, {&buffer, 0, 4}};
  auto stream = *device->CreateStream();
  EXPECT_ERROR(stream->Enqueue(**step, operands), "broken: bad index");
  EXPECT_ERROR((*stream->Record())->Wait(), "bad index");
  EXPECT_OK((*stream->Record())->Wait());
}

TEST(HostDevice, CopiesWithOffsetsAndOntoItself) {
  const auto device = CreateHostDevice();
  std::vector<int> memory = {1, 2, 3, 4};
  ExternalBuffer buffer(memory.data(), 16);
  auto stream = *device->CreateStream();
  EXPECT_OK(stream->Copy({&buffer, 0, 16}, {&buffer, 0, 16}));
  EXPECT_OK(stream->Copy({&buffer, 4, 8}, {&buffer, 8, 8}));
  EXPECT_EQ(memory, (std::vector<int>{1, 2, 2, 3}));
}

TEST(HostDevice, RefusesKernels) {
  const auto device = CreateHostDevice();
  EXPECT_EQ(PrepareOne(*device, ir::KernelLaunch{}).status().code(),
            StatusCode::kUnimplemented);
}

// A call of the operator that EvalCall makes, and its registry.
struct Call {
  Call() { call = EvalCall(operators, "twice#1", 3, Twice); }
  Status Prepare() {
    const Status status =
        PrepareOne(*CreateHostDevice(), call, operators).status();
    EXPECT_NE(status.code(), StatusCode::kInternal);
    return status;
  }
  ir::OpRegistry operators;
  ir::HostCall call;
};

TEST(HostDevice, RefusesOperatorsThatItDoesNotKnow) {
  Call c;
  c.call.op = "tim.Mystery@1";
  EXPECT_ERROR(c.Prepare(), "twice#1: there is no operator tim.Mystery@1");
  ir::OpSchema schema;
  schema.name = "Mystery";
  schema.infer_shapes = [](ir::InferContext&) { return OkStatus(); };
  c.operators.Add(std::move(schema));
  EXPECT_ERROR(c.Prepare(), "'twice#1' has no host reference");
}

TEST(HostDevice, RefusesCallsThatTheirOperatorsDoNotTake) {
  Call a;
  a.call.attributes.Set("axis", int64_t{1});
  EXPECT_ERROR(a.Prepare(), "has no attribute 'axis'");
  Call b;
  b.call.inputs.clear();
  EXPECT_ERROR(b.Prepare(), "0 inputs are bound, expected 1 to 2");
  Call c;
  c.call.inputs[0].reset();
  EXPECT_ERROR(c.Prepare(), "input 0 is required");
  Call d;
  d.call.outputs[0]->desc.shape = ir::Shape{4};
  EXPECT_ERROR(d.Prepare(),
               "output 0 is float32 [4], the operation gives float32 [3]");
  Call e;
  e.call.outputs.push_back(e.call.outputs[0]);
  EXPECT_ERROR(e.Prepare(), "2 outputs are bound, expected 1");
}

// A body of an input, an output and a node, which is the call's operator.
std::shared_ptr<ir::Graph> BodyOf(const Call& c, int64_t floats) {
  auto body = std::make_shared<ir::Graph>("body");
  const ir::TensorDesc desc = testing::FloatDesc(floats);
  const ir::ValueId x = body->AddValue(desc, ir::Role::kInput);
  const ir::ValueId y = body->AddValue(desc);
  body->AddInput(x);
  body->AddOutput(y);
  ir::Node node;
  node.name = "inner#2";
  node.schema = c.operators.Find(c.call.op);
  node.inputs = {x};
  node.outputs = {y};
  body->AddNode(std::move(node));
  return body;
}

TEST(HostDevice, RunsBodies) {
  Call c;
  c.call.body = BodyOf(c, 3);
  c.call.op = "test.Whole";
  const auto device = CreateHostDevice();
  // The operators of a body are in it.
  const auto step = PrepareOne(*device, c.call);
  ASSERT_OK(step);
  std::vector<float> in = {1, 2, 3};
  std::vector<float> out(3);
  ExternalBuffer a(in.data(), 12);
  ExternalBuffer b(out.data(), 12);
  const BufferRange operands[] = {{&a, 0, 12}, {&b, 0, 12}};
  EXPECT_OK((*device->CreateStream())->Enqueue(**step, operands));
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
}

TEST(HostDevice, RefusesBodiesOfOtherOperands) {
  Call a;
  a.call.body = BodyOf(a, 4);
  EXPECT_ERROR(a.Prepare(),
               "twice#1: input 0 is float32 [3], in the body float32 [4]");
  Call b;
  auto body = BodyOf(b, 3);
  body->AddInput(body->inputs()[0]);
  b.call.body = body;
  EXPECT_ERROR(b.Prepare(), "the body has 2 inputs, the operation 1");
  Call c;
  body = BodyOf(c, 3);
  body->node(0).outputs.clear();
  c.call.body = body;
  EXPECT_ERROR(c.Prepare(), "inner#2: ");
}

}  // namespace
}  // namespace tim::device
