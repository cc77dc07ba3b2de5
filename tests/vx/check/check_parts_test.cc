// The parts of the check of custom operators by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/cpp_literals.h"
#include "vx/check/check_case.h"
#include "vx/check/compare.h"
#include "vx/check/guard_message.h"
#include "vx/check/literals.h"

namespace tim::vx::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

ir::TensorDesc Floats(int64_t count,
                      ir::DataType type = ir::DataType::kFloat32) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = ir::Shape({count});
  return desc;
}

bool Agree(float actual, float expected, const Tolerance& tolerance = {}) {
  return !FindDifference(Floats(1), &actual, &expected, tolerance);
}

TEST(CheckCompare, UnitsInTheLastPlace) {
  const float next = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(UlpOf(1, ir::DataType::kFloat32), 0x1p-23);
  EXPECT_EQ(UlpOf(0, ir::DataType::kFloat32), 0x1p-149);
  EXPECT_EQ(UlpOf(1, ir::DataType::kFloat16), 0x1p-10);
  EXPECT_EQ(UlpOf(0x1p-20, ir::DataType::kFloat16), 0x1p-24);
  const Tolerance exact = {.ulps = 0};
  EXPECT_TRUE(Agree(1, 1, exact));
  EXPECT_FALSE(Agree(next, 1, exact));
  EXPECT_TRUE(Agree(next, 1, {.ulps = 1}));
  EXPECT_TRUE(Agree(1 + 4 * 0x1p-23f, 1));
  EXPECT_FALSE(Agree(1 + 5 * 0x1p-23f, 1));
}

TEST(CheckCompare, AbsoluteAndRelative) {
  EXPECT_FALSE(Agree(10.5f, 10));
  EXPECT_TRUE(Agree(10.5f, 10, {.absolute = 0.5}));
  EXPECT_TRUE(Agree(10.5f, 10, {.relative = 0.05}));
  EXPECT_TRUE(Agree(10.5f, 10, {.absolute = 0.25, .relative = 0.025}));
  EXPECT_FALSE(Agree(-10, 10, {.relative = 1}));
}

TEST(CheckCompare, WhatIsNotFinite) {
  const Tolerance wide = {.absolute = 1e30, .relative = 1e30};
  EXPECT_TRUE(Agree(NAN, NAN));
  EXPECT_FALSE(Agree(NAN, 0, wide));
  EXPECT_FALSE(Agree(0, NAN, wide));
  EXPECT_TRUE(Agree(kInfinity, kInfinity));
  EXPECT_FALSE(Agree(kInfinity, -kInfinity, wide));
  EXPECT_FALSE(Agree(1, kInfinity, wide));
  EXPECT_FALSE(Agree(kInfinity, 1, wide));
  EXPECT_TRUE(Agree(-0.0f, 0));
}

TEST(CheckCompare, CodesAreExactUnlessToldOtherwise) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t actual[] = {3, most, 5};
  const int64_t expected[] = {3, least, 6};
  const auto desc = Floats(3, ir::DataType::kInt64);
  const auto found = FindDifference(desc, actual, expected, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->element, 1);
  EXPECT_EQ(found->count, 2);
  EXPECT_EQ(found->actual, "9223372036854775807");
  EXPECT_EQ(found->expected, "-9223372036854775808");
  EXPECT_EQ(FindDifference(desc, actual, expected, {.codes = 1})->count, 1);
}

TEST(CheckCompare, PackedCodesAreComparedOneByOne) {
  const uint8_t actual[] = {0x21, 0x03};
  const uint8_t expected[] = {0x21, 0x04};
  const auto found =
      FindDifference(Floats(3, ir::DataType::kUint4), actual, expected, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->element, 2);
  EXPECT_EQ(found->expected, "4");
}

TEST(CheckCompare, Positions) {
  EXPECT_THAT(PositionOf(0, {3, 2}), ElementsAre(0, 0));
  EXPECT_THAT(PositionOf(5, {3, 2}), ElementsAre(2, 1));
}

TEST(CheckCase, LocalSizesDivideTheGlobalOnes) {
  EXPECT_THAT(LocalSizesFor({12, 5}, 1), ElementsAre(1, 1));
  EXPECT_THAT(LocalSizesFor({12, 5}, 8), ElementsAre(6, 1));
  EXPECT_THAT(LocalSizesFor({12, 5}, 64), ElementsAre(12, 5));
  EXPECT_THAT(LocalSizesFor({7}, 6), ElementsAre(1));
}

CheckedOperator TwoInputs() {
  CheckedOperator checked;
  checked.inputs.resize(2);
  checked.inputs[0].types = {DataType::INT8, DataType::FLOAT32};
  checked.inputs[0].least_rank = 2;
  checked.inputs[0].most_rank = 3;
  checked.inputs[0].extents = {{2, 9}, {3, 1000}};
  checked.inputs[1].like = 0;
  checked.outputs.resize(1);
  return checked;
}

TEST(CheckCase, StaysWithinTheRanges) {
  const CheckedOperator checked = TwoInputs();
  CheckOptions options;
  options.most_elements = 500;
  for (uint32_t number = 0; number < 100; ++number) {
    const auto drawn = DrawCase(checked, options, number);
    ASSERT_TRUE(drawn.ok()) << drawn.status().message();
    const TensorSpec& spec = drawn->operands.inputs[0];
    EXPECT_EQ(spec.datatype_,
              number % 2 == 0 ? DataType::INT8 : DataType::FLOAT32);
    EXPECT_TRUE(spec == drawn->operands.inputs[1]);
    ASSERT_GE(spec.shape_.size(), 2u);
    ASSERT_LE(spec.shape_.size(), 3u);
    EXPECT_LE(spec.GetElementNum(), 500);
    for (size_t i = 0; i < spec.shape_.size(); ++i) {
      EXPECT_GE(spec.shape_[i], ExtentsOf(checked.inputs[0], i).least);
      EXPECT_LE(spec.shape_[i], ExtentsOf(checked.inputs[0], i).most);
    }
    if (number == 0) {
      EXPECT_THAT(spec.shape_, ElementsAre(2, 3));
    }
  }
}

TEST(CheckCase, KeepsItsTypeWhereFitRefusesShapes) {
  CheckedOperator checked = TwoInputs();
  checked.fit = [](Operands* operands) {
    return operands->inputs[0].shape_[0] == 7;
  };
  for (uint32_t number = 0; number < 10; ++number) {
    const auto drawn = DrawCase(checked, {}, number);
    ASSERT_TRUE(drawn.ok()) << drawn.status().message();
    EXPECT_EQ(drawn->operands.inputs[0].datatype_,
              number % 2 == 0 ? DataType::INT8 : DataType::FLOAT32);
  }
}

TEST(CheckCase, ValuesAreThoseOfTheRange) {
  CheckedOperator checked = TwoInputs();
  checked.inputs[0].least_value = -2;
  checked.inputs[0].most_value = 3;
  Case tried = *DrawCase(checked, {}, 0);
  auto values = ValuesOf(checked, tried);
  ASSERT_TRUE(values.ok());
  for (const std::byte value : values->at(0)) {
    EXPECT_GE(static_cast<int8_t>(value), -2);
    EXPECT_LE(static_cast<int8_t>(value), 3);
  }
  EXPECT_EQ(*values, *ValuesOf(checked, tried)) << "the seed is the same";
  tried.simple = true;
  values = ValuesOf(checked, tried);
  const std::vector<int8_t> simple = {1, 2, 3, -2, -1, 0};
  EXPECT_EQ(std::memcmp(values->at(0).data(), simple.data(), 6), 0);
}

TEST(CheckCase, BoolsAndQuantizedCodes) {
  CheckedOperator checked = TwoInputs();
  checked.inputs.resize(1);
  checked.inputs[0].types = {DataType::BOOL8, DataType::UINT8};
  checked.inputs[0].quantizations = {
      Quantization(QuantType::ASYMMETRIC, 0.5f, 100)};
  checked.inputs[0].least_value = 1;
  checked.inputs[0].most_value = 1;
  Case tried = *DrawCase(checked, {}, 0);
  EXPECT_EQ(ValuesOf(checked, tried)->at(0)[0], std::byte{1});
  tried = *DrawCase(checked, {}, 1);
  EXPECT_EQ(ValuesOf(checked, tried)->at(0)[0], std::byte{102});
}

TEST(CheckGuardMessage, IsReadAsData) {
  const std::string head = "graph g1: step 's': user.output 7#1: kernel 'f' ";
  const std::string tail = " (found by TIMCL_GUARD)";
  GuardMessage read = ReadGuardMessage(
      head +
      "writes outside of output 1 '__global float* y' (float32 [4]): "
      "element -3, it has 0 to 3" +
      tail);
  EXPECT_EQ(read.kind, FaultKind::kWritesOutside);
  EXPECT_EQ(read.operand, "output 1");
  EXPECT_EQ(read.element, -3);
  read = ReadGuardMessage(
      head +
      "leaves 1 of 4 elements of scratch 0 'x' (float32 [2, 2]) "
      "unwritten, the first is element 3 at [1, 1]" +
      tail);
  EXPECT_EQ(read.kind, FaultKind::kUnwritten);
  EXPECT_EQ(read.operand, "scratch 0");
  EXPECT_EQ(read.element, 3);
  read = ReadGuardMessage(
      head +
      "reads output 0 'y' (float32 [4]) before it is written: element "
      "2; element 2 of output 0 'y' depends on it" +
      tail);
  EXPECT_EQ(read.kind, FaultKind::kReadsUnwritten);
  EXPECT_EQ(read.element, 2);
  read = ReadGuardMessage(head +
                          "writes to input 0 'x' (int8 [4]), which it "
                          "says is const: element 1" +
                          tail);
  EXPECT_EQ(read.kind, FaultKind::kWritesInput);
  EXPECT_EQ(read.operand, "input 0");
  EXPECT_EQ(ReadGuardMessage("writes outside of output 0").kind,
            FaultKind::kFails);
}

TEST(CheckLiterals, NumbersAreTheSameOnceRead) {
  EXPECT_EQ(FloatLiteral(1), "1.0f");
  EXPECT_EQ(FloatLiteral(-0.0f), "-0.0f");
  EXPECT_EQ(FloatLiteral(0.1f), "0.1f");
  EXPECT_EQ(FloatLiteral(1e30f), "1e+30f");
  EXPECT_EQ(FloatLiteral(-kInfinity),
            "-std::numeric_limits<float>::infinity()");
  EXPECT_EQ(FloatLiteral(NAN), "std::numeric_limits<float>::quiet_NaN()");
  EXPECT_EQ(DoubleLiteral(0.5), "0.5");
  EXPECT_EQ(Int64Literal(std::numeric_limits<int64_t>::min()),
            "std::numeric_limits<int64_t>::min()");
  EXPECT_EQ(Int64Literal(-5), "-5");
}

TEST(CheckLiterals, TextsMayHoldTheEndOfARawString) {
  EXPECT_EQ(RawString("a"), "R\"CL(a)CL\"");
  EXPECT_EQ(RawString("a)CL\""), "R\"CL0(a)CL\")CL0\"");
}

TEST(CheckLiterals, Elements) {
  const float floats[] = {1, 2.5f};
  EXPECT_EQ(Elements(ir::DataType::kFloat32, floats, sizeof(floats)),
            "{1.0f, 2.5f}");
  const int8_t codes[] = {-1, 127};
  EXPECT_EQ(Elements(ir::DataType::kInt8, codes, sizeof(codes)), "{-1, 127}");
  const uint16_t halves[] = {0x3c00, 0x0001};
  EXPECT_EQ(Elements(ir::DataType::kFloat16, halves, sizeof(halves)),
            "{0x3c00, 0x0001}");
  const uint64_t wide[] = {~uint64_t{0}};
  EXPECT_EQ(Elements(ir::DataType::kUint64, wide, sizeof(wide)),
            "{18446744073709551615u}");
  EXPECT_THAT(Elements(ir::DataType::kInt8, std::string(100, 'a').data(), 100),
              HasSubstr(",\n"));
}

TEST(CheckLiterals, ScalarsAndVectors) {
  std::vector<ops::Param> params;
  ops::param_transform(
      std::make_tuple(true, int8_t{-3}, uint32_t{7}, 1.5f, 2.5, Half(0.5f),
                      std::array<float, 2>{{1, 2}}, ~uint64_t{0}),
      params);
  EXPECT_THAT(
      ScalarLiterals(params),
      ElementsAre("true", "static_cast<int8_t>(-3)", "uint32_t{7u}", "1.5f",
                  "2.5", "Half(0.5f)", "std::array<float, 2>{{1.0f, 2.0f}}",
                  "uint64_t{18446744073709551615u}"));
}

TEST(CheckLiterals, Specs) {
  EXPECT_EQ(TypeLiteral(DataType::UINT4), "DataType::UINT4");
  EXPECT_EQ(ShapeLiteral({3, 2}), "{3, 2}");
  EXPECT_EQ(QuantizationLiteral(Quantization()), "Quantization()");
  EXPECT_EQ(QuantizationLiteral(
                Quantization(QuantType::DYNAMIC_FIXED_POINT, int8_t{-3})),
            "Quantization(QuantType::DYNAMIC_FIXED_POINT, "
            "static_cast<int8_t>(-3))");
  EXPECT_EQ(QuantizationLiteral(Quantization(QuantType::ASYMMETRIC, 0.5f, 3)),
            "Quantization(QuantType::ASYMMETRIC, -1, std::vector<float>{0.5f}, "
            "std::vector<int32_t>{3})");
}

}  // namespace
}  // namespace tim::vx::check
