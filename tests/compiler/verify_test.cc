// Every rule of the verify pass, by the message that its violation gives.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::ToyGraph;

ir::TensorDesc Desc(ir::DataType type, ir::Shape shape) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = std::move(shape);
  return desc;
}

// An input of this desc, read by one operation.
Result<ir::Plan> CompileWithInput(const ir::TensorDesc& desc) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input({1});
  toy.graph().value(x).desc = desc;
  toy.Output(toy.Op("Twice", {x}));
  return toy.Compile();
}

TEST(Verify, TooFewAndTooManyOperands) {
  ToyGraph few;
  few.Output(few.Op("Sum", {few.Input({4})}));
  EXPECT_ERROR(few.Compile(), "1 inputs are bound, expected 2");
  ToyGraph many;
  const ir::ValueId x = many.Input({4});
  many.Output(many.Op("Twice", {x, x}));
  EXPECT_ERROR(many.Compile(), "2 inputs are bound, expected 1");
}

TEST(Verify, SurplusConstantsAreDropped) {
  const auto bound = [](std::vector<ir::ValueId> surplus, ToyGraph& toy,
                        bool lenient = true) {
    surplus.insert(surplus.begin(), toy.Input({4}));
    toy.Output(toy.Op("Slow", surplus));
    compiler::CompileOptions options = testing::ToyOptions();
    options.lenient = lenient;
    return toy.Compile(options);
  };
  for (const bool both : {false, true}) {
    ToyGraph toy;
    const ir::ValueId constant = toy.Constant({2}, 7);
    const auto plan = bound({both ? constant : ir::kNone, constant}, toy);
    ASSERT_OK(plan);
    EXPECT_TRUE(plan->constants.empty());
  }
  ToyGraph strict;
  EXPECT_ERROR(bound({strict.Constant({2}, 7)}, strict, false),
               "2 inputs are bound, expected 1: nothing reads %0");
  ToyGraph absent;
  EXPECT_OK(bound({ir::kNone}, absent, false));
  ToyGraph variable;
  EXPECT_ERROR(bound({variable.Input({2})}, variable),
               "2 inputs are bound, expected 1");
  ToyGraph many;
  const ir::ValueId constant = many.Constant({2}, 7);
  EXPECT_ERROR(bound({constant, constant, constant}, many),
               "4 inputs are bound, expected 1");
}

TEST(Verify, PlaceholderInARequiredSlot) {
  ToyGraph toy;
  toy.Output(toy.Op("Sum", {toy.Input({4}), ir::kNone}));
  EXPECT_ERROR(toy.Compile(), "input 1 is required");
}

TEST(Verify, UnknownOperator) {
  ToyGraph toy("g");
  toy.Output(toy.Op("NoSuchThing", {toy.Input({4})}));
  EXPECT_ERROR(toy.Compile(),
               "operation NoSuchThing#0 of graph 'g': unknown operator");
}

TEST(Verify, AttributeOfUnknownNameOrType) {
  ToyGraph unknown;
  unknown.Output(
      unknown.Op("Bump", {unknown.Input({4})}, {{"size", int64_t{1}}}));
  EXPECT_ERROR(unknown.Compile(), "Bump has no attribute 'size'");
  ToyGraph type;
  type.Output(type.Op("Bump", {type.Input({4})}, {{"by", int64_t{1}}}));
  EXPECT_ERROR(type.Compile(), "'by' is of type int, expected float");
}

TEST(Verify, RoundingPolicyOutsideItsEnum) {
  ToyGraph toy;
  toy.Output(
      toy.Op("Twice", {toy.Input({4})}, {{ir::kRoundingPolicy, int64_t{7}}}));
  EXPECT_ERROR(toy.Compile(), "'rounding_policy' is 7, expected one of");
}

TEST(Verify, ZeroExtentRankNineAndUnknownType) {
  EXPECT_ERROR(CompileWithInput(Desc(ir::DataType::kFloat32, {4, 0})),
               "shape [4, 0] has an extent of 0");
  EXPECT_ERROR(CompileWithInput(
                   Desc(ir::DataType::kFloat32, {1, 1, 1, 1, 1, 1, 1, 1, 1})),
               "rank 9 exceeds 8");
  EXPECT_ERROR(CompileWithInput(Desc(ir::DataType::kUnknown, {4})),
               "the data type is unknown");
}

TEST(Verify, ScaleMustBePositive) {
  ir::TensorDesc desc = Desc(ir::DataType::kUint8, {4});
  for (const float scale : {0.0f, -1.0f, std::nanf(""), INFINITY}) {
    desc.quantization = ir::Quantization::PerTensor(scale, 0);
    EXPECT_ERROR(CompileWithInput(desc), "is not a positive number");
  }
  desc.type = ir::DataType::kFloat32;  // quantization of floats is ignored
  EXPECT_OK(CompileWithInput(desc));
}

TEST(Verify, ZeroPointMustLeaveRoomForCodes) {
  ir::TensorDesc desc = Desc(ir::DataType::kUint8, {4});
  for (const int32_t zero : {INT32_MIN, INT32_MAX, (1 << 30) + 1}) {
    desc.quantization = ir::Quantization::PerTensor(1.0f, zero);
    EXPECT_ERROR(CompileWithInput(desc),
                 "is outside of -1073741824 to 1073741824");
  }
  desc.quantization = ir::Quantization::PerTensor(1.0f, -(1 << 30));
  EXPECT_OK(CompileWithInput(desc));
}

TEST(Verify, PerChannelScalesAreOneOrAsManyAsChannels) {
  ir::TensorDesc desc = Desc(ir::DataType::kInt8, {2, 3});
  desc.quantization.kind = ir::QuantizationKind::kPerChannel;
  desc.quantization.axis = 1;
  desc.quantization.scales = {1, 1};
  EXPECT_ERROR(CompileWithInput(desc),
               "2 scales along axis 1 with 3 channels; expected 1 or 3");
  desc.quantization.scales = {1, 1, 1};
  desc.quantization.zero_points = {0, 0};
  EXPECT_ERROR(CompileWithInput(desc), "2 zero points along axis 1");
  desc.quantization.axis = 2;
  EXPECT_ERROR(CompileWithInput(desc), "channel dimension 2 is outside rank 2");
  desc.shape = {2, 1};
  desc.quantization.axis = 1;
  desc.quantization.scales = {1, 1};
  EXPECT_TRUE(CompileWithInput(desc).status().message().ends_with(
      "2 scales along axis 1 with 1 channels; expected 1"));
  desc.quantization.scales = {1};
  EXPECT_TRUE(CompileWithInput(desc).status().message().ends_with(
      "2 zero points along axis 1 with 1 channels; expected 0 or 1"));
}

TEST(Verify, ConstantOfTheWrongSize) {
  ToyGraph toy;
  const ir::ValueId w = toy.Constant({4}, 1);
  toy.graph().value(w).desc.shape = {5};
  toy.Output(toy.Op("Sum", {toy.Input({5}), w}));
  EXPECT_ERROR(toy.Compile(), "16 bytes of data, expected 20");
}

TEST(Verify, TensorThatNothingProduces) {
  ToyGraph toy;
  const ir::ValueId loose =
      toy.graph().AddValue(Desc(ir::DataType::kFloat32, {4}));
  toy.Output(toy.Op("Twice", {loose}));
  EXPECT_ERROR(toy.Compile(), "no operation writes it");
}

TEST(Verify, OutputOfAnOperationThatIsAnInput) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input({4});
  toy.Op("Twice", {x});
  toy.graph().SetOutput(0, 0, toy.Input({4}));
  EXPECT_ERROR(toy.Compile(), "cannot be the output of Twice#0");
}

TEST(Verify, CycleIsNamed) {
  ToyGraph toy;
  const ir::ValueId a = toy.Op("Twice", {toy.Input({4})});
  const ir::ValueId b = toy.Op("Bump", {a});
  toy.graph().SetInput(0, 0, b);
  EXPECT_ERROR(toy.Compile(), "cycle");
  EXPECT_ERROR(toy.Compile(), "Twice#0, Bump#1");
}

}  // namespace
}  // namespace tim
