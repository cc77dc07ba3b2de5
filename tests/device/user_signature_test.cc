// Arguments of users' operators against the parameters of their kernels.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/kernels/test_launcher.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::TestDevice;
using testing::UserKernel;

class UserSignature : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

UserKernel TwoTensors(const std::string& text) {
  UserKernel kernel(text, "hswish");
  kernel.In<float>(DataType::kFloat32, {2, 2}, {1, 2, 3, 4});
  kernel.Out(DataType::kFloat32, {2, 2});
  return kernel;
}

constexpr char kHSwish[] =
    "__kernel void hswish(__global const float* in, __global float* out,\n"
    "                     float scale, int n, uchar flag) {\n"
    "  const int i = get_global_id(0);\n"
    "  out[i] = in[i] * scale + n + flag;\n"
    "}\n";

TEST_F(UserSignature, ArgumentsArriveInOrder) {
  UserKernel kernel = TwoTensors(kHSwish);
  kernel.Scalar(0.5, "float").Scalar(int64_t{-2}, "int32_t");
  kernel.Scalar(uint64_t{1}, "bool").Sizes({4});
  ASSERT_OK(kernel.Run());
  EXPECT_EQ(kernel.Operand<float>(1), (std::vector<float>{-.5, 0, .5, 1}));
}

TEST_F(UserSignature, OneArgumentTooFewOrTooMany) {
  UserKernel few = TwoTensors(kHSwish);
  few.Scalar(0.5, "float").Scalar(int64_t{1}, "int32_t");
  EXPECT_ERROR(
      few.Run(),
      "user.Test#1: kernel 'hswish' takes 5 parameters, the operator gives 4\n"
      "  kernel:   hswish(__global const float* in, __global float* out, "
      "float scale, int n, uchar flag)\n"
      "  operator: (input 0 float32 [2, 2], output 0 float32 [2, 2], "
      "scalar 0 float, scalar 1 int32_t)");
  UserKernel many = few;
  many.Scalar(uint64_t{1}, "bool").Scalar(uint64_t{1}, "bool");
  EXPECT_ERROR(many.Run(), "takes 5 parameters, the operator gives 6");
}

TEST_F(UserSignature, ParameterAndRuleAreNamed) {
  UserKernel kernel = TwoTensors(kHSwish);
  kernel.Scalar(0.5, "float").Scalar(int64_t{1}, "int32_t");
  kernel.Scalar(int64_t{300}, "int32_t");
  EXPECT_ERROR(kernel.Run(),
               "kernel 'hswish', parameter 4 'uchar flag' with scalar 2 "
               "int32_t: an integer that does not fit: 300 in uchar [0, 255]\n"
               "  kernel:   hswish(");
}

TEST_F(UserSignature, ScalarsSwappedAreOfAnotherType) {
  UserKernel kernel = TwoTensors(kHSwish);
  kernel.Scalar(int64_t{1}, "int32_t").Scalar(0.5, "float");
  kernel.Scalar(uint64_t{1}, "bool");
  EXPECT_ERROR(kernel.Run(),
               "parameter 2 'float scale' with scalar 0 int32_t: "
               "a scalar of another type: int32_t does not go "
               "to float");
}

Status RunWith(const std::string& parameter, const std::string& head = "") {
  UserKernel kernel(head + "__kernel void f(" + parameter + ") { }\n");
  kernel.In<float>(DataType::kFloat32, {4}, {1, 2, 3, 4});
  return kernel.Run();
}

Status RunScalar(const std::string& parameter,
                 std::variant<int64_t, uint64_t, double> value,
                 const std::string& head = "") {
  UserKernel kernel(head + "__kernel void f(" + parameter + ") { }\n");
  return kernel.Scalar(value, "a type").Run();
}

TEST_F(UserSignature, TensorsGoToPointersAndImages) {
  EXPECT_OK(RunWith("__constant float* p"));
  EXPECT_OK(RunWith("__global const float4* restrict p"));
  EXPECT_OK(RunWith("__global volatile void* p"));
  EXPECT_OK(RunWith("__read_only image2d_t p"));
  EXPECT_ERROR(RunWith("float p"), "a tensor for a value");
  EXPECT_ERROR(RunWith("__local float* p"),
               "the operator gives no local memory for it");
  EXPECT_ERROR(RunWith("__global int* p"),
               "a tensor type the kernel does not take: float32 fits float*, "
               "vectors of these or void*, not int*");
}

TEST_F(UserSignature, OtherImagesAndSamplersAreRefused) {
  EXPECT_ERROR(RunWith("__read_only image1d_t p"),
               "write __global T*, image2d_t or image2d_array_t");
  EXPECT_ERROR(RunScalar("sampler_t s", int64_t{0}),
               "no scalar goes to sampler_t");
}

TEST_F(UserSignature, ScalarsGoToValues) {
  EXPECT_ERROR(RunScalar("__global float* p", 1.0),
               "a scalar for a pointer or an image");
  EXPECT_ERROR(RunScalar("__read_only image2d_t p", 1.0),
               "a scalar for a pointer or an image");
  EXPECT_ERROR(RunScalar("float4 p", 1.0), "no scalar goes to float4");
}

// The kernel stores its scalar's bits in an INT64.
int64_t Echo(const std::string& type, const std::string& bits,
             std::variant<int64_t, uint64_t, double> value) {
  UserKernel kernel(
      "__kernel void f(__global long* out, T x) {\n"
      "  out[0] = BITS(x);\n"
      "}\n");
  kernel.Out(DataType::kInt64, {1}).Scalar(value, "a type");
  EXPECT_OK(kernel.Options("-DT=" + type + " -DBITS=" + bits).Run()) << type;
  return kernel.Operand<int64_t>(0)[0];
}

TEST_F(UserSignature, EveryIntegerTypeArrives) {
  for (const char* type : {"char", "short", "int", "long"}) {
    EXPECT_EQ(Echo(type, "(long)", int64_t{-100}), -100) << type;
  }
  for (const char* type : {"uchar", "ushort", "uint", "ulong"}) {
    EXPECT_EQ(Echo(type, "(long)", uint64_t{200}), 200) << type;
  }
  EXPECT_EQ(Echo("ulong", "(long)", ~uint64_t{0}), -1);
}

TEST_F(UserSignature, EveryFloatingPointTypeArrives) {
  EXPECT_EQ(Echo("float", "as_int", 1.5), 0x3fc00000);
  if (TestDevice().has_fp64) {
    EXPECT_EQ(Echo("double", "as_long", 1.5), 0x3ff8000000000000);
  }
  if (TestDevice().has_fp16) {
    EXPECT_EQ(Echo("half", "as_short", 1.5), 0x3e00);
  }
}

TEST_F(UserSignature, NoneToEightScalarsArriveInOrder) {
  for (int count = 0; count <= 8; ++count) {
    std::string parameters;
    std::string body;
    for (int i = 0; i < count; ++i) {
      parameters += StrCat(", ", i % 2 == 0 ? "float" : "short", " s", i);
      body += StrCat("  out[", i, "] = s", i, ";\n");
    }
    UserKernel kernel("__kernel void f(__global float* out" + parameters +
                      ") {\n" + body + "}\n");
    kernel.Out(DataType::kFloat32, {9});
    for (int i = 0; i < count; ++i) {
      if (i % 2 == 0) {
        kernel.Scalar(i + 0.5, "float");
      } else {
        kernel.Scalar(int64_t{-i}, "int16_t");
      }
    }
    ASSERT_OK(kernel.Run()) << count;
    const std::vector<float> out = kernel.Operand<float>(0);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(out[i], i % 2 == 0 ? i + 0.5f : -i) << i << " of " << count;
    }
  }
}

// One program with a kernel for every pointee.
const std::vector<std::string> kPointees = {
    "char",  "uchar", "short", "ushort", "int",    "uint", "long",   "ulong",
    "float", "half",  "bool",  "void",   "float4", "int2", "uchar16"};

std::string PointeeKernels() {
  std::string text;
  for (const std::string& name : kPointees) {
    text += StrCat("__kernel void k_", name, "(__global ", name, "* p) { }\n");
  }
  return text;
}

std::set<std::string> PointeesOf(DataType type) {
  std::set<std::string> accepted;
  for (const std::string& name : kPointees) {
    UserKernel kernel(PointeeKernels(), "k_" + name);
    const Status status = kernel.Out(type, {16}).Run();
    if (status.ok()) {
      accepted.insert(name);
    } else {
      EXPECT_ERROR(status, "a tensor type the kernel does not take: ");
      EXPECT_ERROR(status, ToString(type));
    }
  }
  return accepted;
}

TEST_F(UserSignature, EveryTensorTypeHasItsPointers) {
  using Names = std::set<std::string>;
  const std::map<DataType, Names> expected = {
      {DataType::kInt4, {"uchar", "uchar16", "void"}},
      {DataType::kUint4, {"uchar", "uchar16", "void"}},
      {DataType::kInt8, {"char", "void"}},
      {DataType::kUint8, {"uchar", "uchar16", "void"}},
      {DataType::kInt16, {"short", "void"}},
      {DataType::kUint16, {"ushort", "void"}},
      {DataType::kInt32, {"int", "int2", "void"}},
      {DataType::kUint32, {"uint", "void"}},
      {DataType::kInt64, {"long", "void"}},
      {DataType::kUint64, {"ulong", "void"}},
      {DataType::kBool8, {"bool", "char", "uchar", "uchar16", "void"}},
      {DataType::kFloat16, {"half", "ushort", "void"}},
      {DataType::kFloat32, {"float", "float4", "void"}},
      {DataType::kFloat64, {"void"}},  // and double, which devices may not have
  };
  for (int i = 1; i < ir::kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    const auto it = expected.find(type);
    EXPECT_EQ(PointeesOf(type), it != expected.end() ? it->second : Names())
        << ToString(type);
  }
}

}  // namespace
}  // namespace tim::device
