// Plain values: specs, quantizations, compile options; and MD5.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/compile_option.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorAttribute;
using vx::TensorSpec;

TEST(TensorSpec, DefaultsAndSetters) {
  TensorSpec spec;
  EXPECT_EQ(spec.datatype_, DataType::UNKNOWN);
  EXPECT_EQ(spec.attr_, TensorAttribute::TRANSIENT);
  spec.SetDataType(DataType::INT8)
      .SetShape({2, 3})
      .SetAttribute(vx::INPUT)
      .SetQuantization(Quantization(QuantType::ASYMMETRIC, 0.5f, 1));
  EXPECT_EQ(spec.GetDataType(), DataType::INT8);
  EXPECT_EQ(spec.GetShapeType(), (vx::ShapeType{2, 3}));
  EXPECT_EQ(spec.GetTensorAttribute(), vx::INPUT);
  EXPECT_EQ(spec.GetQuantization().Scales(), std::vector<float>{0.5f});
  const TensorSpec transient = spec.AsTransientSpec();
  EXPECT_EQ(transient.attr_, vx::TRANSIENT);
  EXPECT_TRUE(transient.shape_.empty());
  EXPECT_TRUE(transient.quantization_ == spec.quantization_);
  EXPECT_FALSE(transient == spec);
}

TEST(TensorSpec, Sizes) {
  const auto spec = [](DataType type, vx::ShapeType shape) {
    return TensorSpec(type, shape, TensorAttribute::INPUT);
  };
  EXPECT_EQ(spec(DataType::FLOAT32, {}).GetElementNum(), 1);
  EXPECT_EQ(spec(DataType::FLOAT32, {3, 5}).GetByteSize(), 60);
  EXPECT_EQ(spec(DataType::INT64, {3}).GetElementByteSize(), 8);
  EXPECT_EQ(spec(DataType::FLOAT16, {3}).GetByteSize(), 6);
  EXPECT_EQ(spec(DataType::BOOL8, {3}).GetByteSize(), 3);
  EXPECT_EQ(spec(DataType::UINT4, {3, 5}).GetElementByteSize(), 1);
  EXPECT_EQ(spec(DataType::UINT4, {3, 5}).GetByteSize(), 10);
  EXPECT_EQ(spec(DataType::UNKNOWN, {3}).GetElementByteSize(), 1);
  const vx::ShapeType huge(8, 0xFFFFFFFF);
  EXPECT_EQ(spec(DataType::INT8, huge).GetElementNum(), -1);
  EXPECT_EQ(spec(DataType::INT8, huge).GetByteSize(), -1);
}

TEST(Quantization, Equality) {
  const Quantization scaled(QuantType::ASYMMETRIC, 0.5f, 1);
  EXPECT_TRUE(scaled == Quantization(QuantType::ASYMMETRIC, 0.5f, 1));
  EXPECT_FALSE(scaled == Quantization(QuantType::ASYMMETRIC, 0.5f, 2));
  EXPECT_FALSE(scaled == Quantization());
  const Quantization fixed(QuantType::DYNAMIC_FIXED_POINT, int8_t{0});
  EXPECT_FALSE(fixed == Quantization());
  EXPECT_FALSE(Quantization() == fixed);
  EXPECT_TRUE(Quantization().SetType(QuantType::DYNAMIC_FIXED_POINT).SetFl(0) ==
              fixed);
}

TEST(CompileOption, CopiesAreIndependent) {
  vx::CompileOption copy = vx::CompileOption::DefaultOptions;
  EXPECT_FALSE(copy.isRelaxMode());
  EXPECT_TRUE(copy.setRelaxMode(true));
  EXPECT_FALSE(vx::CompileOption::DefaultOptions.isRelaxMode());
  EXPECT_FALSE(copy.setRelaxMode());
  copy.setDeviceId(2);
  EXPECT_EQ(copy.getDeviceId(), 2u);
}

// The test suite of RFC 1321, and lengths around a block's end (md5sum).
TEST(Md5, KnownDigests) {
  using vx::calculateMd5Secret32;
  EXPECT_EQ(calculateMd5Secret32(""), "D41D8CD98F00B204E9800998ECF8427E");
  EXPECT_EQ(calculateMd5Secret32("abc"), "900150983CD24FB0D6963F7D28E17F72");
  EXPECT_EQ(calculateMd5Secret32("message digest"),
            "F96B697D7CB7938D525A2F31AAF161D0");
  EXPECT_EQ(calculateMd5Secret32(
                "1234567890123456789012345678901234567890123456789012345678901"
                "2345678901234567890"),
            "57EDF4A22BE3C955AC49DA2E2107B67A");
  EXPECT_EQ(calculateMd5Secret32(std::string(55, 'a')),
            "EF1772B6DFF9A122358552954AD0DF65");
  EXPECT_EQ(calculateMd5Secret32(std::string(56, 'a')),
            "3B0C8AC703F828B04C6C197006D17218");
  EXPECT_EQ(calculateMd5Secret32(std::string(64, 'a')),
            "014842D480B571495A4A0363793F7367");
}

}  // namespace
}  // namespace tim::testing
