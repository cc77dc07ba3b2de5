// Users' kernels that write through pointers to their inputs.
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

class UserInputCopies : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

const Floats kInput = {1, 2, 3, 4, 5};

UserKernel Twice(const std::string& parameter) {
  UserKernel kernel("__kernel void f(" + parameter +
                    ", __global float* y) {\n"
                    "  const int i = get_global_id(0);\n"
                    "  x[i] *= 2;\n"
                    "  y[i] = x[i];\n"
                    "}\n");
  return kernel.In(DataType::kFloat32, {5}, kInput)
      .Out(DataType::kFloat32, {5})
      .Sizes({5});
}

// UserKernel::Run fails where an input changes.
TEST_F(UserInputCopies, WritingAnInputChangesACopy) {
  for (const char* parameter : {"__global float* x", "__global float* const x",
                                "__global volatile float* restrict x"}) {
    SCOPED_TRACE(parameter);
    UserKernel kernel = Twice(parameter);
    for (int run = 0; run < 2; ++run) {
      ASSERT_OK(kernel.Run());
      EXPECT_EQ(kernel.Operand<float>(0), kInput);
      EXPECT_EQ(kernel.Operand<float>(1), (Floats{2, 4, 6, 8, 10}));
    }
  }
}

TEST_F(UserInputCopies, PackedInputsAreCopiedWhole) {
  UserKernel kernel(
      "__kernel void f(__global uchar* x, __global uchar* y) {\n"
      "  const int i = get_global_id(0);\n"
      "  y[i] = x[i];\n"
      "  x[i] = 0;\n"
      "}\n");
  const std::vector<uint8_t> rows = {0x21, 0x03, 0x54, 0x06};  // 2 rows of 3
  kernel.In(DataType::kUint4, {3, 2}, rows).Out(DataType::kUint8, {4});
  ASSERT_OK(kernel.Sizes({4}).Run());
  EXPECT_EQ(kernel.Operand<uint8_t>(1), rows);
}

}  // namespace
}  // namespace tim::device
