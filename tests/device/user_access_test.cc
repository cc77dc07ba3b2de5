// Kernels of users that say what they only read or only write.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::UserKernel;
using Floats = std::vector<float>;

constexpr char kOrder[] =
    "; inputs come first, then outputs, then "
    "what the operator adds, then scalars";

class UserAccess : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

// One input, then one output.
Status RunText(const std::string& text, const std::string& options = "") {
  UserKernel kernel(text);
  kernel.In(DataType::kFloat32, {2, 2}, Floats{1, 2, 3, 4});
  return kernel.Out(DataType::kFloat32, {2, 2}).Options(options).Run();
}

Status RunWith(const std::string& parameters, const std::string& head = "",
               const std::string& options = "") {
  return RunText(head + "__kernel void f(" + parameters + ") {}\n", options);
}

TEST_F(UserAccess, AnOutputCannotBeConst) {
  EXPECT_ERROR(
      RunWith("__global float* y, __global const float* x"),
      StrCat("user.Test#1: kernel 'f', parameter 1 '__global const float* x' "
             "with output 0 float32 [2, 2]: an output cannot be const",
             kOrder,
             "\n  kernel:   f(__global float* y, __global const float* x)\n"
             "  operator: (input 0 float32 [2, 2], output 0 float32 [2, 2])"));
  for (const char* parameter :
       {"const __global float* x", "__global float const* restrict x",
        "__global const float4* x", "P x"}) {
    EXPECT_ERROR(RunWith(StrCat("__global float* y, ", parameter),
                         "typedef __global const float* P;\n"),
                 StrCat("an output cannot be const", kOrder));
  }
  EXPECT_ERROR(RunWith("__global float* y, __constant float* x"),
               StrCat("an output cannot be __constant", kOrder));
}

TEST_F(UserAccess, OtherPointersGoEitherWay) {
  EXPECT_OK(RunWith("__global float* x, __global float* y"));
  EXPECT_OK(RunWith("__global float* x, __global float* const y"));
  EXPECT_OK(RunWith("__constant float* x, __global volatile float* y"));
}

TEST_F(UserAccess, ImagesTheWrongWayRoundAreRefused) {
  EXPECT_ERROR(
      RunWith("__write_only image2d_t y, __read_only image2d_t x"),
      StrCat("parameter 0 '__write_only image2d_t y' with input 0 float32 "
             "[2, 2]: an input cannot be __write_only",
             kOrder,
             "\n  kernel:   f(__write_only image2d_t y, __read_only image2d_t "
             "x)\n"));
  EXPECT_ERROR(RunWith("image2d_t x, read_only image2d_array_t y"),
               StrCat("parameter 1 '__read_only image2d_array_t y' with output "
                      "0 float32 [2, 2]: an output cannot be __read_only",
                      kOrder));
  EXPECT_ERROR(RunWith("image2d_t x, image2d_t __read_only y"),
               "an output cannot be __read_only");
}

TEST_F(UserAccess, ImagesThatSayNothingGoEitherWay) {
  EXPECT_OK(RunWith("image2d_t x, image2d_t y"));
  EXPECT_OK(RunWith("__read_only image2d_t x, __write_only image2d_t y"));
  EXPECT_OK(RunWith("__read_write image2d_t x, read_write image2d_t y"));
  EXPECT_OK(RunWith("__read_only image2d_t x, image2d_t y"));
}

TEST_F(UserAccess, MacrosSayIt) {
  const std::string macros =
      "#define IN __read_only\n"
      "#  define OUT(T) \\\n  write_only T\n"
      "#define SOURCE IN /* of f */ image2d_t\n";
  EXPECT_OK(RunWith("SOURCE x, OUT(image2d_t) y", macros));
  EXPECT_ERROR(RunWith("image2d_t x, SOURCE y", macros),
               "an output cannot be __read_only");
  EXPECT_ERROR(RunWith("OUT(image2d_t) x, image2d_t y", macros),
               "an input cannot be __write_only");
  EXPECT_ERROR(RunWith("image2d_t x, IN image2d_t y", "", "-DIN=__read_only"),
               "an output cannot be __read_only");
  EXPECT_ERROR(RunWith("image2d_t x, IN image2d_t y", "", "-D IN=read_only"),
               "an output cannot be __read_only");
}

// Of what only the preprocessor knows nothing is said.
TEST_F(UserAccess, InDoubtImagesGoEitherWay) {
  EXPECT_OK(RunWith("image2d_t x, IMAGE y",
                    "#ifdef READ\n#define IMAGE __read_only image2d_t\n"
                    "#else\n#define IMAGE __write_only image2d_t\n#endif\n"));
  EXPECT_OK(
      RunText("#ifdef READ\n"
              "__kernel void f(image2d_t x, __read_only image2d_t y) {}\n"
              "#else\n"
              "__kernel void f(image2d_t x, __write_only image2d_t y) {}\n"
              "#endif\n"));
  EXPECT_OK(RunWith("BOTH",
                    "#define BOTH image2d_t x, __read_only image2d_t y"
                    "\n"));
  EXPECT_OK(
      RunText("#define NAME f\n"
              "void g(__read_only image2d_t f) {}\n"
              "__kernel void NAME(image2d_t x, __read_only image2d_t y) "
              "{}\n"));
}

TEST_F(UserAccess, AWriteOnlyOutputCanBeReadThroughHelpers) {
  UserKernel kernel(
      "float4 load(image2d_t a, int2 p) { return read_imagef(a, p); }\n"
      "__kernel void f(__read_only image2d_t x, __write_only image2d_t y) {\n"
      "  const int2 p = (int2)(get_global_id(0), 0);\n"
      "  write_imagef(y, p, load(x, p));\n"
      "  write_imagef(y, p, load(y, p) * 2);\n"
      "}\n");
  kernel.In(DataType::kFloat32, {2}, Floats{1, 2});
  kernel.Out(DataType::kFloat32, {2}).Sizes({2});
  ASSERT_OK(kernel.Run());
  EXPECT_EQ(kernel.Operand<float>(1), (Floats{2, 4}));
}

TEST_F(UserAccess, SignaturesKeepQualifiers) {
  UserKernel kernel(
      "__kernel void f(__global const volatile float* restrict a,\n"
      "                __constant float* b, image2d_t c,\n"
      "                write_only image2d_array_t d, const int n) {}\n");
  EXPECT_ERROR(kernel.Out(DataType::kFloat32, {1}).Run(),
               "kernel:   f(__global const volatile float* restrict a, "
               "__constant float* b, image2d_t c, __write_only image2d_array_t "
               "d, int n)\n");
}

}  // namespace
}  // namespace tim::device
