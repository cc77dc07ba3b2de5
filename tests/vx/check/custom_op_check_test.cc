// CheckCustomOp finds planted mistakes, and passes what has none.
#include "tim/vx/custom_op_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "base/str_cat.h"
#include "tests/support/child_process.h"
#include "tests/support/kernels/test_launcher.h"
#include "tests/support/vx/planted_ops.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using vx::DataType;
using vx::check::CheckCustomOp;
using vx::check::CheckedOperator;
using vx::check::CheckOptions;
using vx::check::CheckResult;
using vx::check::FaultKind;

class CheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ContextOn("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  }
};

using PlantedFault = CheckTest;

const planted::Fault& FaultNamed(const std::string& name) {
  for (const planted::Fault& fault : planted::Faults()) {
    if (fault.name == name) return fault;
  }
  ADD_FAILURE() << name;
  return planted::Faults()[0];
}

// The fault that the check finds on the first device.
vx::check::Fault Find(const std::string& name) {
  const planted::Fault& fault = FaultNamed(name);
  CheckOptions options = planted::Options();
  options.devices = {0};
  const CheckResult result = CheckCustomOp(planted::Checked(fault), options);
  EXPECT_THAT(result.mistake, IsEmpty());
  EXPECT_FALSE(result.passed());
  if (result.faults.size() != 1) {
    ADD_FAILURE() << name << ": " << result.text;
    return {};
  }
  EXPECT_EQ(result.faults[0].kind, fault.kind) << result.text;
  EXPECT_THAT(result.faults[0].text, HasSubstr(ToString(fault.kind)));
  EXPECT_THAT(result.text, HasSubstr(result.faults[0].text));
  EXPECT_THAT(result.faults[0].program, HasSubstr("int main() {"));
  return result.faults[0];
}

TEST_F(PlantedFault, WriteOutOfBounds) {
  const auto fault = Find("WritesOutside");
  EXPECT_EQ(fault.operand, "output 0");
  EXPECT_EQ(fault.element, 1);
  EXPECT_THAT(fault.position, IsEmpty());
  EXPECT_THAT(fault.operands.inputs[0].shape_, ElementsAre(1));
  EXPECT_THAT(fault.text,
              HasSubstr("writes outside of output 0 '__global float* y'"));
}

TEST_F(PlantedFault, ReadOutOfBounds) {
  const auto fault = Find("ReadsOutside");
  EXPECT_EQ(fault.operand, "input 0");
  EXPECT_EQ(fault.element, 1);
  EXPECT_THAT(fault.operands.inputs[0].shape_, ElementsAre(1));
}

TEST_F(PlantedFault, UnwrittenTail) {
  const auto fault = Find("UnwrittenTail");
  EXPECT_EQ(fault.operand, "output 0");
  EXPECT_EQ(fault.element, 4);
  EXPECT_THAT(fault.operands.inputs[0].shape_, ElementsAre(5));
}

// Items in the lanes of a vector race where a group has more than one vector.
TEST_F(PlantedFault, RaceWithALargerLocalSize) {
  const auto fault = Find("Race");
  EXPECT_EQ(fault.operand, "output 0");
  const auto& shape = fault.operands.inputs[0].shape_;
  EXPECT_THAT(fault.local_sizes, ElementsAre(ElementsAre(shape[0])));
  EXPECT_NE(fault.actual, fault.expected);  // Or what lies in local memory.
  if (TestDevice().device_class == ir::DeviceClass::kCpu) {
    EXPECT_THAT(shape, ElementsAre(2));
    EXPECT_EQ(fault.element, 0);
    EXPECT_EQ(fault.expected, "3");
  }
  EXPECT_THAT(fault.text,
              HasSubstr(StrCat("work-groups of kernel 'f': [", shape[0], "]")));
  EXPECT_THAT(fault.text, HasSubstr("with the operator's own local sizes the "
                                    "case is right"));
}

TEST_F(PlantedFault, SwappedAxis) {
  const auto fault = Find("SwappedAxis");
  EXPECT_EQ(fault.operand, "output 0");
  EXPECT_THAT(fault.operands.inputs[0].shape_, ElementsAre(2, 2));
  EXPECT_EQ(fault.element, 1);
  EXPECT_THAT(fault.position, ElementsAre(1, 0));
  EXPECT_EQ(fault.actual, "3");
  EXPECT_EQ(fault.expected, "2");
}

TEST_F(PlantedFault, WrongScalar) {
  const auto fault = Find("WrongScalar");
  EXPECT_EQ(fault.operand, "output 0");
  EXPECT_EQ(fault.element, 0);
  EXPECT_THAT(fault.position, ElementsAre(0));
  EXPECT_EQ(fault.actual, "2.5");
  EXPECT_EQ(fault.expected, "2");
  EXPECT_THAT(fault.text,
              HasSubstr("element 0 of output 0 is 2.5, expected 2; 1 of 1 "
                        "elements are wrong\n  input 0: float32 [1]\n"));
}

// y = x of float32 tensors.
CheckedOperator Copies(const OpPlan& plan = {}) {
  CheckedOperator checked;
  checked.create = [plan](vx::Graph* graph, const vx::check::Operands&) {
    return graph->CreateOperation<TestOp>(plan);
  };
  checked.inputs.resize(1);
  checked.outputs.resize(1);
  checked.reference = [](const auto& inputs, const auto& outputs) {
    std::memcpy(outputs[0].data, inputs[0].data,
                static_cast<size_t>(outputs[0].spec.GetByteSize()));
  };
  return checked;
}

CheckOptions FewCases() {
  CheckOptions options;
  options.cases = 3;
  return options;
}

using Check = CheckTest;

TEST_F(Check, PassesAnOperatorWithoutMistakes) {
  const CheckResult result = CheckCustomOp(Copies(), FewCases());
  EXPECT_TRUE(result.passed()) << result.text;
  EXPECT_GE(result.cases, 6u);
  EXPECT_GE(result.local_cases, 3u);
  EXPECT_THAT(result.text, HasSubstr("no fault"));
}

TEST_F(Check, TheSameSeedFindsTheSame) {
  CheckOptions options = planted::Options();
  options.devices = {0};
  for (const char* name : {"SwappedAxis", "WritesOutside"}) {
    const CheckedOperator checked = planted::Checked(FaultNamed(name));
    const CheckResult one = CheckCustomOp(checked, options);
    const CheckResult other = CheckCustomOp(checked, options);
    ASSERT_THAT(one.faults, SizeIs(1));
    EXPECT_EQ(one.text, other.text);
    EXPECT_EQ(one.faults[0].program, other.faults[0].program);
  }
}

TEST_F(Check, HostEvalIsTheReferenceWhereThereIsNoOther) {
  OpPlan plan;
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    for (int64_t i = 0; i < outputs[0].spec.GetElementNum(); ++i) {
      outputs[0].Data<float>()[i] = inputs[0].Data<float>()[i] + 1;
    }
  };
  CheckedOperator checked = Copies(plan);
  checked.reference = nullptr;
  const CheckResult wrong = CheckCustomOp(checked, FewCases());
  ASSERT_THAT(wrong.faults, SizeIs(1)) << wrong.text;
  EXPECT_EQ(wrong.faults[0].kind, FaultKind::kWrongValue);
  checked.outputs[0].tolerance.absolute = 1.001;
  EXPECT_TRUE(CheckCustomOp(checked, FewCases()).passed());
}

TEST_F(Check, HostEvalIsCheckedWhereThereIsAnother) {
  OpPlan plan;
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs&, const OpPlan::Outputs&) {};
  const CheckResult result = CheckCustomOp(Copies(plan), FewCases());
  ASSERT_THAT(result.faults, SizeIs(1)) << result.text;
  EXPECT_EQ(result.faults[0].device_name, "host");
  EXPECT_EQ(result.faults[0].kind, FaultKind::kWrongValue);
  EXPECT_THAT(result.faults[0].program, IsEmpty());
}

TEST_F(Check, WhatDoesNotBuildIsAFailure) {
  OpPlan plan;
  plan.source = "__kernel void f(__global const float* x) { no_such; }";
  CheckOptions options = FewCases();
  options.devices = {0};
  const CheckResult result = CheckCustomOp(Copies(plan), options);
  ASSERT_THAT(result.faults, SizeIs(1)) << result.text;
  EXPECT_EQ(result.faults[0].kind, FaultKind::kFails);
  EXPECT_THAT(result.text, HasSubstr("no_such"));
}

TEST_F(Check, OptionalInputsAreAbsentInSomeCases) {
  OpPlan plan;
  plan.inputs = 2;
  plan.construct = [](OpPlan::Op& op) { op.SetInputOptional(1); };
  plan.source =
      "__kernel void f(__global const float* x, __global const float* bias,\n"
      "                __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  y[i] = TIM_HAS_INPUT1 ? x[i] + bias[0] : x[i];\n"
      "}\n";
  CheckedOperator checked = Copies(plan);
  checked.inputs.resize(2);
  checked.inputs[0].most_rank = 1;
  checked.inputs[1].optional = true;
  checked.inputs[1].most_rank = 1;
  checked.inputs[1].extents = {{1, 1}};
  int absent = 0;
  checked.reference = [&](const auto& inputs, const auto& outputs) {
    absent += inputs[1].data == nullptr;
    const float bias =
        inputs[1].data == nullptr ? 0 : inputs[1].template Data<float>()[0];
    for (int64_t i = 0; i < outputs[0].spec.GetElementNum(); ++i) {
      outputs[0].template Data<float>()[i] =
          inputs[0].template Data<float>()[i] + bias;
    }
  };
  CheckOptions options;
  options.cases = 6;
  options.local_sizes = vx::check::LocalSizes::kOwn;
  options.devices = {0};
  const CheckResult result = CheckCustomOp(checked, options);
  EXPECT_TRUE(result.passed()) << result.text;
  EXPECT_GT(absent, 0);
  EXPECT_LT(absent, 12);
}

TEST_F(Check, MistakesOfTheReferenceAreToldApart) {
  CheckedOperator checked = Copies();
  CheckOptions options = FewCases();
  options.devices = {0};
  checked.reference = [](const auto&, const auto&) {
    throw std::runtime_error("no idea");
  };
  CheckResult result = CheckCustomOp(checked, options);
  ASSERT_THAT(result.faults, SizeIs(1));
  EXPECT_EQ(result.faults[0].kind, FaultKind::kReference);
  EXPECT_THAT(
      result.text,
      HasSubstr("fault of the reference: an exception was thrown: no idea"));
  checked.reference = [](const auto& inputs, const auto& outputs) {
    outputs[0].template Data<float>()[0] = inputs[0].template Data<float>()[0];
  };
  result = CheckCustomOp(checked, options);
  ASSERT_THAT(result.faults, SizeIs(1));
  EXPECT_EQ(result.faults[0].kind, FaultKind::kReference);
  EXPECT_EQ(result.faults[0].element, 1);
  EXPECT_THAT(result.text, HasSubstr("leaves element 1 of output 0 unwritten"));
}

// A state that the positive elements of the input are added to; `statement` is
// the kernel for an element.
CheckedOperator Accumulates(const char* statement) {
  OpPlan plan;
  plan.source =
      StrCat("__kernel void f(__global const float* x, __global float* y) {",
             "  const size_t i = get_global_id(0);", statement, "}");
  CheckedOperator checked = Copies(plan);
  checked.inputs[0].most_rank = 1;
  checked.outputs[0].variable = true;
  checked.reference = [](const auto& inputs, const auto& outputs) {
    for (int64_t i = 0; i < outputs[0].spec.GetElementNum(); ++i) {
      const float x = inputs[0].template Data<float>()[i];
      if (x > 0) outputs[0].template Data<float>()[i] += x;
    }
  };
  return checked;
}

TEST_F(Check, VariableOutputsHoldAValueBeforeTheRun) {
  const CheckedOperator checked = Accumulates("if (x[i] > 0) y[i] += x[i];");
  CheckResult result = CheckCustomOp(checked, FewCases());
  EXPECT_TRUE(result.passed()) << result.text;
  EXPECT_GE(result.cases, 3u);
}

TEST_F(Check, FaultsOfVariableOutputsAreFound) {
  CheckOptions options = FewCases();
  options.devices = {0};
  // Forgets what was there.
  CheckResult result =
      CheckCustomOp(Accumulates("if (x[i] > 0) y[i] = x[i];"), options);
  ASSERT_THAT(result.faults, SizeIs(1)) << result.text;
  EXPECT_EQ(result.faults[0].kind, FaultKind::kWrongValue);
  EXPECT_EQ(result.faults[0].actual, "1");
  EXPECT_EQ(result.faults[0].expected, "2");
  EXPECT_THAT(result.text, HasSubstr("output 0: float32 [1], a VARIABLE"));
  EXPECT_THAT(result.faults[0].program,
              AllOf(HasSubstr("VARIABLE"),
                    HasSubstr("y0->CopyDataToTensor(before0.data())"),
                    Not(HasSubstr("Poison(*y0"))));
  // Changes what is to stay.
  result = CheckCustomOp(Accumulates("y[i] += x[i];"), options);
  ASSERT_THAT(result.faults, SizeIs(1)) << result.text;
  EXPECT_EQ(result.faults[0].kind, FaultKind::kWrongValue);
}

TEST_F(Check, HostEvalFindsTheValueOfAVariable) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] += x[get_global_id(0)];\n"
      "}\n";
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    for (int64_t i = 0; i < outputs[0].spec.GetElementNum(); ++i) {
      outputs[0].Data<float>()[i] += inputs[0].Data<float>()[i];
    }
  };
  CheckedOperator checked = Copies(plan);
  checked.reference = nullptr;
  checked.outputs[0].variable = true;
  const CheckResult result = CheckCustomOp(checked, FewCases());
  EXPECT_TRUE(result.passed()) << result.text;
}

TEST_F(Check, FitMakesShapesThatBelongTogether) {
  CheckedOperator checked = Copies();
  checked.fit = [](vx::check::Operands* operands) {
    operands->inputs[0].shape_ = {7};
    return true;
  };
  checked.reference = [](const auto& inputs, const auto& outputs) {
    EXPECT_THAT(inputs[0].spec.shape_, ElementsAre(7));
    std::memcpy(outputs[0].data, inputs[0].data, 28);
  };
  EXPECT_TRUE(CheckCustomOp(checked, FewCases()).passed());
}

// What cannot be checked, and what to change.
std::string MistakeOf(const CheckedOperator& checked,
                      const CheckOptions& options = FewCases()) {
  const CheckResult result = CheckCustomOp(checked, options);
  EXPECT_FALSE(result.passed());
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_THAT(result.text, HasSubstr(result.mistake));
  return result.mistake;
}

TEST_F(Check, ImpossibleRangesAreMistakes) {
  CheckedOperator checked = Copies();
  checked.create = nullptr;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("create is null"));
  checked = Copies();
  checked.outputs.clear();
  EXPECT_THAT(MistakeOf(checked), HasSubstr("outputs is empty"));
  checked = Copies();
  checked.inputs[0].types.clear();
  EXPECT_THAT(MistakeOf(checked), HasSubstr("inputs[0]: types is empty"));
  checked.inputs[0].types = {DataType::UNKNOWN};
  EXPECT_THAT(MistakeOf(checked), HasSubstr("is no type of a tensor"));
  checked = Copies();
  checked.inputs[0].least_rank = 5;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("ranks from 5 to 4"));
  checked = Copies();
  checked.inputs[0].extents = {{0, 3}};
  EXPECT_THAT(MistakeOf(checked), HasSubstr("extents from 0 to 3"));
  checked = Copies();
  checked.inputs[0].least_value = 9;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("values from 9 to 8"));
  checked = Copies();
  checked.inputs[0].like = 0;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("like is 0"));
  checked = Copies();
  checked.outputs[0].variable = true;
  checked.outputs[0].least_value = 9;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("outputs[0]: values from 9 to 8"));
  checked = Copies();
  checked.reference = nullptr;
  EXPECT_THAT(MistakeOf(checked), HasSubstr("give a reference"));
  checked = Copies();
  checked.fit = [](vx::check::Operands*) { return false; };
  EXPECT_THAT(MistakeOf(checked), HasSubstr("fit() refuses all"));
  checked.fit = [](vx::check::Operands*) -> bool {
    throw std::runtime_error("no idea");
  };
  EXPECT_THAT(MistakeOf(checked),
              HasSubstr("fit(): an exception was thrown: no idea"));
  checked.fit = [](vx::check::Operands* operands) {
    operands->inputs.clear();
    return true;
  };
  EXPECT_THAT(MistakeOf(checked), HasSubstr("how many operands"));
}

TEST_F(Check, ImpossibleOptionsAreMistakes) {
  CheckOptions options;
  options.cases = 0;
  EXPECT_THAT(MistakeOf(Copies(), options), HasSubstr("cases is 0"));
  options = FewCases();
  options.devices = {77};
  EXPECT_THAT(MistakeOf(Copies(), options),
              HasSubstr("device 77 does not exist"));
}

TEST_F(Check, TheVariableForADeviceWins) {
  if (IsChild()) {
    CheckOptions options = FewCases();
    options.devices = {0};
    EXPECT_THAT(MistakeOf(Copies(), options),
                HasSubstr("no device to check on"));
    return;
  }
  const ChildResult child = RunAsChild({{"TIMCL_DEVICE", "host"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

TEST_F(Check, WhatCreateThrowsOrLeavesOutIsTold) {
  CheckedOperator checked = Copies();
  CheckOptions options = FewCases();
  options.devices = {0};
  checked.create =
      [](vx::Graph*,
         const vx::check::Operands&) -> std::shared_ptr<vx::ops::CustomOpBase> {
    throw std::runtime_error("no idea");
  };
  EXPECT_THAT(CheckCustomOp(checked, options).text,
              HasSubstr("create(): an exception was thrown: no idea"));
  checked.create = [](vx::Graph*, const vx::check::Operands&) {
    return std::shared_ptr<vx::ops::CustomOpBase>();
  };
  EXPECT_THAT(CheckCustomOp(checked, options).text,
              HasSubstr("create() must give an operation"));
}

}  // namespace
}  // namespace tim::testing
