// Scalars of users' kernels in the types of the parameters.
#include "device/opencl/user/user_scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/half.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using kernels::ElementOfVector;
using kernels::FindCType;
using kernels::PlainTypeName;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kMax64 = std::numeric_limits<uint64_t>::max();

Result<std::vector<std::byte>> Bytes(
    std::variant<int64_t, uint64_t, double> value, const std::string& type) {
  return ScalarBytes({value, "its type", "scalar 0"}, *FindCType(type));
}

template <typename T>
T As(std::variant<int64_t, uint64_t, double> value, const std::string& type) {
  const auto bytes = Bytes(value, type);
  EXPECT_OK(bytes);
  T out = {};
  if (!bytes.ok() || bytes->size() != sizeof(T)) {
    ADD_FAILURE() << type << " has another size";
    return out;
  }
  std::memcpy(&out, bytes->data(), sizeof(T));
  return out;
}

template <typename T>
void ExpectRange(const std::string& type) {
  SCOPED_TRACE(type);
  using Limits = std::numeric_limits<T>;
  const int64_t min = static_cast<int64_t>(Limits::min());
  const uint64_t max = static_cast<uint64_t>(Limits::max());
  EXPECT_EQ(As<T>(min, type), Limits::min());
  EXPECT_EQ(As<T>(max, type), Limits::max());
  EXPECT_EQ(As<T>(int64_t{1}, type), T{1});
  EXPECT_EQ(As<T>(uint64_t{0}, type), T{0});
  if (min > std::numeric_limits<int64_t>::min()) {
    EXPECT_ERROR(Bytes(min - 1, type), "an integer that does not fit: ");
  }
  if (max < kMax64) {
    EXPECT_ERROR(Bytes(max + 1, type), "an integer that does not fit: ");
  }
  EXPECT_ERROR(Bytes(1.0, type), "a scalar of another type: its type");
}

TEST(UserScalar, IntegersGoToTypesThatHoldThem) {
  ExpectRange<int8_t>("char");
  ExpectRange<uint8_t>("uchar");
  ExpectRange<int16_t>("short");
  ExpectRange<uint16_t>("ushort");
  ExpectRange<int32_t>("int");
  ExpectRange<uint32_t>("uint");
  ExpectRange<int64_t>("long");
  ExpectRange<uint64_t>("ulong");
}

TEST(UserScalar, TheRangeIsNamed) {
  EXPECT_ERROR(Bytes(int64_t{-129}, "char"), "-129 in char [-128, 127]");
  EXPECT_ERROR(Bytes(int64_t{-1}, "ulong"),
               "-1 in ulong [0, 18446744073709551615]");
}

TEST(UserScalar, FloatingPointGoesToFloatingPoint) {
  EXPECT_EQ(As<double>(0.1, "double"), 0.1);
  EXPECT_EQ(As<float>(0.1, "float"), 0.1f);
  EXPECT_EQ(As<uint16_t>(0.1, "half"), FloatToHalf(0.1f));
  EXPECT_EQ(As<uint16_t>(-0.0, "half"), 0x8000);
  for (const char* type : {"half", "float", "double"}) {
    EXPECT_ERROR(Bytes(int64_t{1}, type), "a scalar of another type");
    EXPECT_ERROR(Bytes(uint64_t{1}, type), "does not go to ");
  }
}

TEST(UserScalar, HalfIsRoundedOnce) {
  // Just above the middle of two halves; as a float it is the middle.
  EXPECT_EQ(As<uint16_t>(1 + 0x1p-11 + 0x1p-40, "half"), 0x3c01);
  EXPECT_EQ(As<uint16_t>(1 + 0x1p-11, "half"), 0x3c00);
  EXPECT_EQ(As<uint16_t>(0x1p-25 + 0x1p-60, "half"), 0x0001);
  EXPECT_EQ(As<uint16_t>(0x1p-25, "half"), 0x0000);
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(As<uint16_t>(double{HalfToFloat(half)}, "half"), half);
  }
}

TEST(UserScalar, OverflowIsAnErrorInfinityAndNanPass) {
  EXPECT_EQ(As<uint16_t>(65519.0, "half"), 0x7bff);
  EXPECT_ERROR(Bytes(65520.0, "half"), "a number that overflows: 65520");
  EXPECT_ERROR(Bytes(-1e39, "float"), "a number that overflows: -1e+39");
  EXPECT_EQ(As<float>(kInfinity, "float"), INFINITY);
  EXPECT_EQ(As<uint16_t>(-kInfinity, "half"), 0xfc00);
  EXPECT_TRUE(std::isnan(As<float>(std::nan(""), "float")));
  EXPECT_TRUE(std::isnan(HalfToFloat(As<uint16_t>(std::nan(""), "half"))));
}

TEST(CType, NamesHaveOneSpelling) {
  EXPECT_EQ(PlainTypeName("unsigned int"), "uint");
  EXPECT_EQ(PlainTypeName("const unsigned char *"), "uchar*");
  EXPECT_EQ(PlainTypeName("unsigned *"), "uint*");
  EXPECT_EQ(PlainTypeName("signed char"), "char");
  EXPECT_EQ(PlainTypeName("unsigned long int"), "ulong");
  EXPECT_EQ(PlainTypeName("signed"), "int");
  EXPECT_EQ(PlainTypeName("struct pair*"), "pair*");
  EXPECT_EQ(ElementOfVector("float16"), "float");
  EXPECT_EQ(ElementOfVector("float6"), "float6");
  EXPECT_EQ(ElementOfVector("box4"), "box4");
}

}  // namespace
}  // namespace tim::device
