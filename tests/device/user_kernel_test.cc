// Programs, functions and work sizes of users' kernels.
#include "tests/support/kernels/user_kernel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/kernels/test_launcher.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::TestDevice;
using testing::UserKernel;
using Ints = std::vector<int32_t>;
using Sizes = std::vector<int64_t>;

class UserKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

// Counts each item at its index; then get_work_dim and the local sizes.
constexpr char kCount[] =
    "__kernel void f(__global int* count, __global int* shape) {\n"
    "  const size_t i = get_global_id(0) + get_global_size(0) *\n"
    "      (get_global_id(1) + get_global_size(1) * get_global_id(2));\n"
    "  atomic_inc(&count[i]);\n"
    "  shape[0] = get_work_dim();\n"
    "  for (int d = 0; d < 3; ++d) shape[d + 1] = get_local_size(d);\n"
    "}\n";

// Checks that each item runs once, and returns what the kernel says.
Ints ShapeOf(const Sizes& global, const Sizes& local) {
  int64_t items = 1;
  for (const int64_t size : global) items *= size;
  UserKernel kernel(kCount);
  kernel.Out(DataType::kInt32, {items}).Out(DataType::kInt32, {4});
  EXPECT_OK(kernel.Sizes(global, local).Run());
  // Operands start as bytes 0xAA.
  EXPECT_EQ(kernel.Operand<int32_t>(0),
            Ints(items, static_cast<int32_t>(0xAAAAAAABu)));
  return kernel.Operand<int32_t>(1);
}

TEST_F(UserKernels, EachItemRunsOnceInOneToThreeDimensions) {
  EXPECT_EQ(ShapeOf({37}, {})[0], 1);
  EXPECT_EQ(ShapeOf({7, 5}, {0, 0})[0], 2);
  EXPECT_EQ(ShapeOf({6, 4, 2}, {0, 0, 0})[0], 3);
}

TEST_F(UserKernels, LocalSizesAreAsGivenAndZeroBesideOthersIsOne) {
  EXPECT_EQ(ShapeOf({8}, {4}), (Ints{1, 4, 1, 1}));
  EXPECT_EQ(ShapeOf({6, 4}, {3, 2}), (Ints{2, 3, 2, 1}));
  EXPECT_EQ(ShapeOf({6, 4}, {0, 2}), (Ints{2, 1, 2, 1}));
  EXPECT_EQ(ShapeOf({6, 4}, {3, 0}), (Ints{2, 3, 1, 1}));
  EXPECT_EQ(ShapeOf({6, 4, 2}, {3, 2, 2}), (Ints{3, 3, 2, 2}));
  EXPECT_EQ(ShapeOf({6, 4, 2}, {0, 0, 2}), (Ints{3, 1, 1, 2}));
}

TEST_F(UserKernels, WrongWorkSizesAreRefused) {
  UserKernel kernel("__kernel void f(__global int* p) { }\n");
  kernel.Out(DataType::kInt32, {16});
  EXPECT_ERROR(UserKernel(kernel).Sizes({0}).Run(),
               "user.Test#1: kernel 'f' (global [0], local [0]): global size 0 "
               "of dimension 0 must be at least 1");
  EXPECT_ERROR(UserKernel(kernel).Sizes({16, 8}, {4, 3}).Run(),
               "local size 3 does not divide global size 8 of dimension 1");
  const int64_t large = 2 * TestDevice().max_work_group_size;
  EXPECT_ERROR(UserKernel(kernel).Sizes({large}, {large}).Run(), "exceeds");
  EXPECT_ERROR(UserKernel(kernel).Sizes({}).Run(),
               "expected 1 to 3 dimensions, found 0");
}

TEST_F(UserKernels, ARequiredWorkGroupSizeIsTakenWhereNoneIsGiven) {
  UserKernel kernel(
      "__kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
      "void f(__global int* p) {\n"
      "  p[get_global_id(0)] = 10 * get_local_size(0) + get_local_size(1);\n"
      "}\n");
  kernel.Out(DataType::kInt32, {8});
  UserKernel open = kernel;
  ASSERT_OK(open.Sizes({8, 2}, {0, 0}).Run());
  EXPECT_EQ(open.Operand<int32_t>(0), Ints(8, 42));
  EXPECT_ERROR(UserKernel(kernel).Sizes({6, 2}, {0, 0}).Run(),
               "local size 4 does not divide global size 6 of dimension 0");
  EXPECT_ERROR(UserKernel(kernel).Sizes({8, 2}, {2, 2}).Run(),
               "reqd_work_group_size is [4, 2, 1]");
  EXPECT_ERROR(UserKernel(kernel).Sizes({8}).Run(),
               "reqd_work_group_size is [4, 2, 1]");
}

TEST_F(UserKernels, LocalMemoryBeyondTheDeviceIsRefused) {
  const int64_t limit = TestDevice().local_memory_bytes;
  UserKernel kernel(
      "__kernel void f(__global int* p) {\n"
      "  __local int shared[N];\n"
      "  shared[get_local_id(0)] = 7;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  p[get_global_id(0)] = shared[get_local_id(0)];\n"
      "}\n");
  kernel.Out(DataType::kInt32, {2}).Sizes({2}, {2});
  UserKernel small = kernel;
  ASSERT_OK(small.Options(StrCat("-DN=", limit / 8)).Run());
  EXPECT_EQ(small.Operand<int32_t>(0), Ints(2, 7));
  EXPECT_ERROR(kernel.Options(StrCat("-DN=", limit)).Run(),
               StrCat("kernel 'f' (global [2], local [2]): ", 4 * limit,
                      " bytes of local memory exceed the ", limit, " of "));
}

UserKernel Store(int value) {
  UserKernel kernel(
      StrCat("__kernel void f(__global int* out) { out[0] = ", value, "; }\n"));
  return kernel.Out(DataType::kInt32, {1});
}

TEST_F(UserKernels, EqualFunctionNamesInTwoSourcesAreTwoPrograms) {
  UserKernel one = Store(1);
  UserKernel two = Store(2);
  ASSERT_OK(one.Run());
  ASSERT_OK(two.Run());
  EXPECT_EQ(one.Operand<int32_t>(0), Ints{1});
  EXPECT_EQ(two.Operand<int32_t>(0), Ints{2});
}

TEST_F(UserKernels, OptionsArePartOfTheProgram) {
  for (const int value : {3, 4}) {
    UserKernel kernel("__kernel void f(__global int* out) { out[0] = V; }\n");
    kernel.Out(DataType::kInt32, {1}).Options(StrCat("-DV=", value));
    ASSERT_OK(kernel.Run());
    EXPECT_EQ(kernel.Operand<int32_t>(0), Ints{value});
  }
}

TEST_F(UserKernels, AnUnknownFunctionListsTheKernels) {
  const std::string text =
      "__kernel void first(__global int* p) { }\n"
      "__kernel void second(__global int* p) { }\n";
  const Status status =
      UserKernel(text, "third").Out(DataType::kInt32, {1}).Run();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_ERROR(status,
               "user.Test#1: the program has no kernel 'third'; it has:");
  // Drivers list them in any order.
  EXPECT_TRUE(testing::FailsWith(status, "it has: first, second") ||
              testing::FailsWith(status, "it has: second, first"))
      << status.message();
}

TEST_F(UserKernels, BuildErrorsShowTheUsersLine) {
  for (const std::string image : {"", "// image2d_t\n"}) {
    SCOPED_TRACE(image);
    const Status status = UserKernel(image +
                                     "__kernel void f(__global int* p) {\n"
                                     "  p[0] = missing;\n"
                                     "}\n")
                              .Out(DataType::kInt32, {1})
                              .Options("-DX=1")
                              .Run();
    EXPECT_EQ(status.code(), StatusCode::kBuildFailure);
    EXPECT_ERROR(status, "building user.Test#1 with options '");
    EXPECT_ERROR(status, "-DX=1");
    EXPECT_ERROR(status, TestDevice().name);
    EXPECT_ERROR(status, image.empty() ? "user.Test#1:2:" : "user.Test#1:3:");
    EXPECT_ERROR(status, "missing");
  }
}

TEST_F(UserKernels, AMissingFeatureIsNamedInTheLog) {
  UserKernel kernel(
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "__kernel void f(__global half* p) { half h = p[0]; p[0] = h * h; }\n");
  const Status status = kernel.Out(DataType::kFloat16, {1}).Run();
  if (TestDevice().has_fp16) {
    EXPECT_OK(status);
  } else {
    EXPECT_EQ(status.code(), StatusCode::kBuildFailure);
    EXPECT_ERROR(status, "cl_khr_fp16");
  }
}

TEST_F(UserKernels, TheNameMayHoldAnything) {
  ir::UserLaunch launch = Store(1).launch();
  launch.name = "user.\"odd\\name\n#2";
  std::vector<std::byte> bytes(4);
  EXPECT_OK(testing::RunLaunch(launch, {{&bytes, true}}));
}

}  // namespace
}  // namespace tim::device
