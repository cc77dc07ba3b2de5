// Parameters of users' kernels whose types are typedefs.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "kernels/text/typedef_names.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::UserKernel;

std::string Resolve(const std::string& program, const std::string& name) {
  return kernels::TypedefNames(program).Resolve(name);
}

TEST(TypedefNames, BuiltinTypesAreFound) {
  EXPECT_EQ(Resolve("typedef int num;", "num"), "int");
  EXPECT_EQ(Resolve("typedef unsigned char num;", "num"), "uchar");
  EXPECT_EQ(Resolve("typedef unsigned long int num;", "num"), "ulong");
  EXPECT_EQ(Resolve("typedef const float4 num;", "num"), "float4");
  EXPECT_EQ(Resolve("typedef bool num;", "num"), "bool");
  EXPECT_EQ(Resolve("typedef int num;", "other"), "other");
  EXPECT_EQ(Resolve("", "float"), "float");
}

TEST(TypedefNames, ChainsAreFollowed) {
  const std::string chain = "typedef half a;\ntypedef a b; typedef b c;\n";
  EXPECT_EQ(Resolve(chain, "c"), "half");
  EXPECT_EQ(Resolve("typedef box b;\ntypedef b c;\n", "c"), "c");
}

TEST(TypedefNames, CommentsLiteralsAndDirectivesAreNoCode) {
  EXPECT_EQ(Resolve("typedef /* ; */ int // float\n num\\\n;", "num"), "int");
  EXPECT_EQ(Resolve("// typedef int num;\n", "num"), "num");
  EXPECT_EQ(Resolve("// \\\ntypedef int num;\n", "num"), "num");
  EXPECT_EQ(Resolve("/* typedef int num; */", "num"), "num");
  EXPECT_EQ(Resolve("/* typedef int num;", "num"), "num");
  EXPECT_EQ(Resolve("\"\\\" typedef int num;\"", "num"), "num");
  EXPECT_EQ(Resolve(" # define X \\\n typedef int num;\n", "num"), "num");
  EXPECT_EQ(Resolve("#define X /*\n*/ typedef int num;\n", "num"), "num");
  EXPECT_EQ(Resolve("#define X 1\ntypedef int num;\n", "num"), "int");
  EXPECT_EQ(Resolve("typedef int", "int"), "int");
}

TEST(TypedefNames, OtherTypesStayAsTheyAre) {
  for (const char* program :
       {"typedef struct { int a; } num;", "typedef struct box num;",
        "typedef enum { A, B } num;", "typedef int* num;",
        "typedef float num[4];", "typedef sampler_t num;",
        "typedef int number; typedef struct number num;"}) {
    EXPECT_EQ(Resolve(program, "num"), "num") << program;
  }
}

TEST(TypedefNames, ANameOfSeveralTypesIsNone) {
  EXPECT_EQ(Resolve("#ifdef A\ntypedef int num;\n#else\n"
                    "typedef float num;\n#endif\n",
                    "num"),
            "num");
  EXPECT_EQ(Resolve("typedef int num; typedef struct { int num; } num;", "num"),
            "num");
  EXPECT_EQ(Resolve("typedef uint num; typedef unsigned num;", "num"), "uint");
}

class UserTypedefs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

// A kernel that stores its scalar `p`, of type num.
UserKernel Scalar(const std::string& head,
                  std::variant<int64_t, uint64_t, double> value,
                  const std::string& stored = "p") {
  UserKernel kernel(head + "__kernel void f(__global float* y, num p) {\n" +
                    "  y[0] = " + stored + ";\n}\n");
  return kernel.Out(DataType::kFloat32, {1}).Scalar(value, "a type");
}

float Stored(UserKernel kernel) {
  EXPECT_OK(kernel.Run());
  return kernel.Operand<float>(0)[0];
}

TEST_F(UserTypedefs, ScalarsHaveTheTypeBehindTheName) {
  EXPECT_EQ(Stored(Scalar("typedef float num;\n", 1.5)), 1.5f);
  EXPECT_EQ(Stored(Scalar("typedef unsigned char num;\n", int64_t{255})), 255);
  EXPECT_EQ(Stored(Scalar("#define num int\n", int64_t{-3})), -3);
}

TEST_F(UserTypedefs, ScalarsAreCheckedAgainstTheTypeBehindTheName) {
  const std::string small = "typedef unsigned char num;\n";
  EXPECT_ERROR(Scalar("typedef int num;\n", 1.5).Run(),
               "parameter 1 'num p' with scalar 0 a type: a scalar of another "
               "type: a type does not go to int");
  EXPECT_ERROR(Scalar("typedef float num;\n", int64_t{1}).Run(),
               "a scalar of another type");
  EXPECT_ERROR(Scalar("typedef float num;\n", 1e39).Run(),
               "a number that overflows");
  EXPECT_ERROR(Scalar(small, int64_t{256}).Run(), "256 in uchar [0, 255]");
  EXPECT_ERROR(Scalar(small, int64_t{-1}).Run(), "-1 in uchar [0, 255]");
  EXPECT_ERROR(Scalar("typedef float4 num;\n", 1.0, "p.x").Run(),
               "no scalar goes to num");
}

TEST_F(UserTypedefs, ScalarsDoNotGoToOtherTypes) {
  EXPECT_ERROR(
      Scalar("typedef struct { int a; } num;\n", int64_t{1}, "p.a").Run(),
      "no scalar goes to num, which is not a builtin type; write one, a "
      "typedef of one, or a #define");
  EXPECT_ERROR(Scalar("typedef enum { A } num;\n", int64_t{0}).Run(),
               "num, which is not a builtin type");
}

Status RunTensor(const std::string& head, const std::string& parameter) {
  UserKernel kernel(head + "__kernel void f(" + parameter + ") { }\n");
  return kernel.In<float>(DataType::kFloat32, {4}, {1, 2, 3, 4}).Run();
}

TEST_F(UserTypedefs, TensorsAreCheckedAgainstTheTypeBehindTheName) {
  EXPECT_OK(RunTensor("typedef float T;\n", "__global const T* x"));
  EXPECT_OK(RunTensor("typedef float4 T;\n", "__constant T* x"));
  EXPECT_OK(RunTensor("typedef void T;\n", "__global T* x"));
  EXPECT_ERROR(RunTensor("typedef int T;\n", "__global const T* x"),
               "a tensor type the kernel does not take: float32 fits float*, "
               "vectors of these or void*, not T*");
  EXPECT_ERROR(RunTensor("typedef int2 T;\n", "__global const T* x"),
               "a tensor type the kernel does not take");
}

TEST_F(UserTypedefs, TensorsDoNotGoToStructs) {
  EXPECT_ERROR(RunTensor("typedef struct { float a; } T;\n", "__global T* x"),
               "a tensor type the kernel does not take: float32 fits float*, "
               "vectors of these or void*, not T*");
  EXPECT_ERROR(RunTensor("struct T { float a; };\n", "__global struct T* x"),
               "a tensor type the kernel does not take");
}

}  // namespace
}  // namespace tim::device
