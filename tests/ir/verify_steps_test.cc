// ir::Verify refuses hostile steps and chains.
#include <gtest/gtest.h>

#include <limits>

#include "ir/graph.h"
#include "ir/plan.h"
#include "tests/support/plans/plan_mistakes.h"
#include "tests/support/plans/whole_plan.h"

namespace tim::ir {
namespace {

using namespace testing;  // the steps of WholePlan()

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(VerifySteps, RefusesHostileSteps) {
  ExpectRefused({
      {"step 1 'Conv#1': is on device 2 of 2",
       [](Plan& p) { p.steps[kKernel].device = 2; }},
      {"step 1 'Conv#1': on device 0 has operand 0 on device 1",
       [](Plan& p) { p.steps[kKernel].device = 0; }},
      {"step 0 'upload': on device 0 has operand 1 on device 1",
       [](Plan& p) { p.steps[kUpload].device = 0; }},
      {"step 1 'Conv#1': operand 2 is slot 11 of 11",
       [](Plan& p) { p.steps[kKernel].operands[2] = 11; }},
      {"operand 0 is slot -1 of 11",
       [](Plan& p) { p.steps[kKernel].operands[0] = -1; }},
      {"has 3 operands, and says of 2 whether they are written",
       [](Plan& p) { p.steps[kKernel].written.pop_back(); }},
      {"operand 0 writes slot 0, which is only read",
       [](Plan& p) { p.steps[kUpload].written[0] = true; }},
      {"operand 1 writes slot 2, which is only read",
       [](Plan& p) { p.steps[kKernel].written[1] = true; }},
      {"operand 1 writes slot 4, which is only read",
       [](Plan& p) { p.steps[kUser].written[1] = true; }},
      {"step 5 'Any#4': waits for step 5",
       [](Plan& p) { p.steps[kHost].waits = {kHost}; }},
      {"step 5 'Any#4': waits for step -1",
       [](Plan& p) { p.steps[kHost].waits = {-1}; }},
  });
}

// A change of a plan that the loop runs.
template <typename Change>
auto InInner(size_t index, Change change) {
  return [=](Plan& p) {
    auto& call = std::get<ControlCall>(p.steps.back().action);
    Plan inner = *call.plans[index];
    change(inner);
    call.plans[index] = std::make_shared<const Plan>(std::move(inner));
  };
}

TEST(VerifySteps, RefusesHostileLoops) {
  const auto call = [](auto change) {
    return
        [=](Plan& p) { change(std::get<ControlCall>(p.steps.back().action)); };
  };
  ExpectRefused({
      {"step 9 'While#6': runs 1 plans, expected 2",
       call([](ControlCall& c) { c.plans.pop_back(); })},
      {"is of kind 7",
       call([](ControlCall& c) { c.kind = static_cast<ControlKind>(7); })},
      {"runs 2 plans, expected 3",
       call([](ControlCall& c) { c.kind = ControlKind::kIf; })},
      {"plan 1: is absent", call([](ControlCall& c) { c.plans[1] = nullptr; })},
      {"makes -2 trips at most",
       call([](ControlCall& c) { c.max_trips = -2; })},
      {"has 1 inputs, 1 outputs and 1 scans",
       call([](ControlCall& c) { c.scans = 1; })},
      {"plan 0: is for other devices",
       InInner(0, [](Plan& p) { p.devices[1].name = "another"; })},
      {"plan 1: plan: step 0 'y': copies 65 bytes",
       InInner(1, [](Plan& p) { p.steps[0].action = Copy{65}; })},
      {"reads operand 1 behind its outputs",
       [](Plan& p) {
         p.steps.back().written = {true, false};
       }},
  });
}

TEST(VerifySteps, RefusesHostileLaunches) {
  ExpectRefused({
      {"expected 1 to 3 dimensions, found 0",
       [](Plan& p) {
         ActionOf<KernelLaunch>(p, kKernel).range.dimensions = 0;
       }},
      {"expected 1 to 3 dimensions, found 4",
       [](Plan& p) {
         ActionOf<KernelLaunch>(p, kKernel).range.dimensions = 4;
       }},
      {"8 arguments have 7 names",
       [](Plan& p) { ActionOf<KernelLaunch>(p, kKernel).names.pop_back(); }},
      {"step 3 'Keep#3': expected 1 to 3 dimensions, found 4",
       [](Plan& p) { ActionOf<UserLaunch>(p, kUser).range.dimensions = 4; }},
      {"is part -1", [](Plan& p) { ActionOf<UserLaunch>(p, kUser).part = -1; }},
      {"argument 0 names operand 3 of 3",
       [](Plan& p) { Argument<TensorArg>(p, kKernel, 0).operand = 3; }},
      {"argument 2 names operand -1 of 3",
       [](Plan& p) { Argument<TensorArg>(p, kKernel, 2).operand = -1; }},
      {"argument 1 counts elements of 0 bytes",
       [](Plan& p) { Argument<TensorArg>(p, kKernel, 1).element_bytes = 0; }},
      {"argument 1 counts elements of 48 bytes, operand 1 is at byte 64",
       [](Plan& p) { Argument<TensorArg>(p, kKernel, 1).element_bytes = 48; }},
      {"argument 7 is of type 'int n; int'",
       [](Plan& p) { Argument<StructArg>(p, kKernel, 7).type = "int n; int"; }},
      {"argument 7 is of type ''",
       [](Plan& p) { Argument<StructArg>(p, kKernel, 7).type.clear(); }},
      {"argument 7 has 0 fields, expected 1 to 64",
       [](Plan& p) { Argument<StructArg>(p, kKernel, 7).fields.clear(); }},
      {"argument 7 has 65 fields, expected 1 to 64",
       [](Plan& p) {
         auto& fields = Argument<StructArg>(p, kKernel, 7).fields;
         fields.resize(65, fields[0]);
       }},
      {"argument 7 has a field '2w'",
       [](Plan& p) {
         Argument<StructArg>(p, kKernel, 7).fields[0].name = "2w";
       }},
      {"argument 1 names operand 9 of 3",
       [](Plan& p) { UserArgument<UserTensorArg>(p, kUser, 1).operand = 9; }},
      {"argument 1 names operand -2 of 3",
       [](Plan& p) { UserArgument<UserTensorArg>(p, kUser, 1).operand = -2; }},
      {"argument 1 is of data type 200",
       [](Plan& p) {
         UserArgument<UserTensorArg>(p, kUser, 1).type = DataType(200);
       }},
      {"argument 1 is of float32 [4, 5], 80 bytes, operand 1 has 64",
       [](Plan& p) {
         UserArgument<UserTensorArg>(p, kUser, 1).dims = {4, 5};
       }},
      {"argument 1 shape [4, -7]",
       [](Plan& p) {
         UserArgument<UserTensorArg>(p, kUser, 1).dims = {4, -7};
       }},
      {"argument 3 is not written, unlike operand 2",
       [](Plan& p) {
         UserArgument<UserTensorArg>(p, kUser, 3).written = false;
       }},
      {"argument 4 is local memory of -1 bytes",
       [](Plan& p) { UserArgument<LocalArg>(p, kUser, 4).bytes = -1; }},
  });
}

TEST(VerifySteps, RefusesHostileCopiesAndProducts) {
  ExpectRefused({
      {"copies 65 bytes, operand 0 has 64",
       [](Plan& p) { ActionOf<Copy>(p, kUpload).bytes = 65; }},
      {"copies -1 bytes",
       [](Plan& p) { ActionOf<Copy>(p, kUpload).bytes = -1; }},
      {"has 1 operands, expected 2",
       [](Plan& p) {
         p.steps[kUpload].operands.pop_back();
         p.steps[kUpload].written.pop_back();
       }},
      {"operand 1 is not written",
       [](Plan& p) { p.steps[kUpload].written[1] = false; }},
      {"multiplies 0 x 2 by 2 x 2",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).m = 0; }},
      {"operand 0: 2 matrices of 3 x 2",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).m = 3; }},
      {"operand 1: 2 matrices of 9 x 2",
       [](Plan& p) {
         Gemm& gemm = ActionOf<Gemm>(p, kGemm);
         gemm.n = 9;
         gemm.ldc = 1;
       }},
      {"2 x 9223372036854775807",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).k = kMax; }},
      {"operand 2: 2 matrices of 2 x 2, rows 1",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).ldc = 1; }},
      {"rows 9223372036854775807",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).lda = kMax; }},
      {"-9223372036854775808 times",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).batches = kMin; }},
      {"9223372036854775807 matrices of",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).batches = kMax; }},
      {"matrices -1 apart",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).b_step = -1; }},
      {"matrices 13 apart, in 16 floats",
       [](Plan& p) { ActionOf<Gemm>(p, kGemm).a_step = 13; }},
      {"has 2 operands, expected 3",
       [](Plan& p) {
         p.steps[kGemm].operands = {3, 6};
         p.steps[kGemm].written = {false, true};
       }},
  });
}

TEST(VerifySteps, RefusesHostileHostCalls) {
  ExpectRefused({
      {"evaluates test.Any@1 on device 0, which runs no host references",
       [](Plan& p) { p.devices[0].runs_eval = false; }},
      {"names no operator",
       [](Plan& p) { ActionOf<HostCall>(p, kHost).op = ""; }},
      {"attribute 'g' is a graph",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).attributes.Set(
             "g", std::make_shared<const Graph>());
       }},
      {"attribute 't' has no data",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).attributes.Set(
             "t", std::shared_ptr<const ConstantData>());
       }},
      {"input 0 is of float32 [17], 68 bytes, operand 0 has 64",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[0]->desc.shape = Shape{17};
       }},
      {"output 0: shape [-3] has an extent of -3",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).outputs[0]->desc.shape = Shape{-3};
       }},
      {"input 2: channel dimension 5 is outside rank 2",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[2]->desc.quantization.axis = 5;
       }},
      {"input 2: 3 scales along axis 1 with 4 channels",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[2]->desc.quantization.scales = {
             1, 2, 3};
       }},
      {"input 2: layout blocked(axis 2, 8) does not fit",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[2]->desc.layout.axis = 2;
       }},
      {"input 2: layout any is none of a tensor",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[2]->desc.layout = Layout::Any();
       }},
      {"is none of a tensor",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[2]->desc.layout.block = kMax;
       }},
      {"input 2, operand 2, is written",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).inputs[1] =
             CallOperand{.desc = p.inputs[0].desc};
       }},
      {"output 0 has no operand",
       [](Plan& p) {
         p.steps[kHost].operands.pop_back();
         p.steps[kHost].written.pop_back();
       }},
      {"has 3 operands, inputs and outputs are 2",
       [](Plan& p) {
         ActionOf<HostCall>(p, kHost).outputs.clear();
         p.steps[kHost].written[2] = false;
       }},
      {"output 0, operand 2, is not written",
       [](Plan& p) { p.steps[kHost].written[2] = false; }},
      {"input 0, operand 0, is written",
       [](Plan& p) { p.steps[kHost].written[0] = true; }},
      {"writes an output that lies on another operand",
       [](Plan& p) { p.steps[kHost].operands[2] = 7; }},
  });
}

TEST(VerifySteps, RefusesHostileCallsOfDevices) {
  const auto change_part = [](Plan& p, auto change) {
    GraphCall& call = ActionOf<GraphCall>(p, kPart);
    Graph part = *call.part;
    change(part);
    call.part = std::make_shared<const Graph>(std::move(part));
  };
  ExpectRefused({
      {"names no kernel",
       [](Plan& p) { ActionOf<DeviceCall>(p, kDevice).name = ""; }},
      {"has a payload of 1048577 bytes; it may have 1048576",
       [](Plan& p) {
         ActionOf<DeviceCall>(p, kDevice).payload.resize(kMaxPayloadBytes + 1);
       }},
      {"has no part",
       [](Plan& p) { ActionOf<GraphCall>(p, kPart).part = nullptr; }},
      {"has 1 operands, its part 2",
       [](Plan& p) {
         p.steps[kPart].operands.pop_back();
         p.steps[kPart].written.pop_back();
       }},
      {"operand 1 is not written",
       [](Plan& p) { p.steps[kPart].written[1] = false; }},
      {"operand 0 is written",
       [](Plan& p) { p.steps[kPart].written[0] = true; }},
      {"input 0 is of float32 [17], 68 bytes, operand 0 has 64",
       [&](Plan& p) {
         change_part(p, [](Graph& part) {
           part.value(part.inputs()[0]).desc.shape = Shape{17};
         });
       }},
      {"output 0 is no value of its part",
       [&](Plan& p) {
         change_part(p, [](Graph& part) { part.SetGraphOutput(0, kNone); });
       }},
      {"a part with the state x",
       [&](Plan& p) {
         change_part(p, [](Graph& part) {
           part.value(part.inputs()[0]).role = Role::kState;
         });
       }},
      {"a part that updates states",
       [&](Plan& p) {
         change_part(p, [](Graph& part) {
           part.AddStateUpdate(part.inputs()[0], part.inputs()[0]);
         });
       }},
  });
}

TEST(VerifySteps, RefusesHostileChains) {
  ExpectRefused({
      {"chain 0 of 2 steps from step -1",
       [](Plan& p) { p.chains[0].first = -1; }},
      {"chain 0 of 2 steps from step 9 of 10",
       [](Plan& p) { p.chains[0].first = 9; }},
      {"chain 0 of 0 steps", [](Plan& p) { p.chains[0].count = 0; }},
      {"chain 0 of 2147483647 steps",
       [](Plan& p) { p.chains[0].count = std::numeric_limits<int>::max(); }},
      {"chain 1 of 1 steps from step 2 of 10, the one before ends at 3",
       [](Plan& p) {
         p.chains.push_back({2, 1});
       }},
      {"chain 0 has the copy 0", [](Plan& p) { p.chains[0].first = 0; }},
      {"chain 0 on device 1 has step 5 on device 0",
       [](Plan& p) {
         p.chains[0] = {kUser, 3};
         p.steps[kDownload].action = ActionOf<UserLaunch>(p, kUser);
         p.steps[kDownload].operands = p.steps[kUser].operands;
         p.steps[kDownload].written = p.steps[kUser].written;
       }},
      {"chain 0: step 5 waits for its step 1, not the last",
       [](Plan& p) { p.steps[kHost].waits = {kKernel}; }},
      {"chain 0: its step 6, not the first, waits for step 4",
       [](Plan& p) {
         p.chains[0] = {kHost, 2};
         p.steps[kResult] = p.steps[kHost];
       }},
      {"chain 0 works in more than 96 buffers",
       [](Plan& p) {
         Step& step = p.steps[kKernel];
         for (int i = 0; i < 100; ++i) {
           Slot slot = p.slots[2];
           slot.index = static_cast<int>(p.constants.size());
           p.constants.push_back(p.constants[0]);
           p.slots.push_back(slot);
           step.operands.push_back(static_cast<int>(p.slots.size()) - 1);
           step.written.push_back(false);
         }
       }},
  });
}

}  // namespace
}  // namespace tim::ir
