// The helpers of kernel tests see what a wrong kernel does.
#include "tests/support/kernels/kernel_runner.h"

#include <gtest/gtest.h>

#include "tests/support/kernels/test_launcher.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Bytes = std::vector<std::byte>;

// Runs a kernel `f(x, x_offset, y, y_offset, n)` on two operands of 4 floats.
Status RunText(const std::string& body, Bytes* x, Bytes* y) {
  ir::KernelLaunch launch;
  launch.text =
      "__kernel void f(__global float* x, int xo, __global float* y, int yo,\n"
      "                int n) {\n  x += xo;\n  y += yo;\n" +
      body + "\n}\n";
  launch.function = "f";
  launch.arguments = {ir::TensorArg{.operand = 0}, ir::TensorArg{.operand = 1},
                      int32_t{4}};
  return RunLaunch(launch, {{x, false}, {y, true}});
}

TEST(RunLaunch, ReadsWrittenOperandsBack) {
  const auto desc = Desc(DataType::kFloat32, {4});
  TensorData x = MakeTensor<float>(desc, {1, 2, 3, 4});
  TensorData y = MakeTensor<float>(desc, {0, 0, 0, 0});
  ASSERT_OK(RunText("for (int i = 0; i < n; ++i) y[i] = 2 * x[i];", &x.bytes,
                    &y.bytes));
  EXPECT_EQ(Values<float>(y), (std::vector<float>{2, 4, 6, 8}));
}

TEST(RunLaunch, SeesWritesOutside) {
  Bytes x(16), y(16);
  EXPECT_ERROR(RunText("y[n] = 1;", &x, &y), "writes outside of operand 1");
  EXPECT_ERROR(RunText("y[-1] = 1;", &x, &y), "writes outside of operand 1");
  EXPECT_ERROR(RunText("x[n] = 1;", &x, &y), "writes outside of operand 0");
}

TEST(RunLaunch, SeesChangedInputs) {
  Bytes x(16), y(16);
  EXPECT_ERROR(RunText("x[0] = 1;", &x, &y), "changes operand 0");
}

TEST(RunLaunch, SeesBuildErrorsAndWarnings) {
  Bytes x(16), y(16);
  EXPECT_ERROR(RunText("y[0] = no_such_name;", &x, &y), "no_such_name");
  EXPECT_FALSE(RunText("int unused = 1.5f;", &x, &y).ok());
}

TEST(Layouts, BlocksAndBack) {
  const auto desc = Desc(DataType::kUint8, {2, 1, 3, 1}, 0.5f, 9);
  const TensorData dense = MakeTensor<uint8_t>(desc, {1, 2, 3, 4, 5, 6});
  auto blocked = ToLayout(dense, ir::Layout::Blocked(2, 4));
  ASSERT_OK(blocked);
  const auto codes = Values<uint8_t>({desc, *blocked});
  EXPECT_EQ(codes, (std::vector<uint8_t>{1, 3, 5, 9, 2, 4, 6, 9}));
  ir::TensorDesc laid_out = desc;
  laid_out.layout = ir::Layout::Blocked(2, 4);
  const auto back = FromLayout(*blocked, laid_out);
  ASSERT_OK(back);
  EXPECT_EQ(back->bytes, dense.bytes);
  (*blocked)[7] = std::byte{8};
  EXPECT_ERROR(FromLayout(*blocked, laid_out),
               "the tail lane at 7 of uint8 [2, 1, 3, 1]");
}

TEST(CompareTensors, NamesTheFirstDifference) {
  const auto f32 = Desc(DataType::kFloat32, {2});
  const auto expected = MakeTensor<float>(f32, {1, 2});
  const auto actual = MakeTensor<float>(f32, {1, 2.5f});
  EXPECT_ERROR(CompareTensors(expected, actual),
               "element 1 of float32 [2] is 2.5, expected 2");
  EXPECT_OK(CompareTensors(expected, actual, {.absolute = 0.5}));
  EXPECT_OK(CompareTensors(expected, actual, {.relative = 0.25}));
  const auto u8 = Desc(DataType::kUint8, {1}, 0.5f, 0);
  EXPECT_ERROR(CompareTensors(MakeTensor<uint8_t>(u8, {3}),
                              MakeTensor<uint8_t>(u8, {4}), {.absolute = 9}),
               "(code 4), expected 1.5 (code 3)");
}

TEST(CheckReal, AcceptsBothCodesOfATie) {
  const auto u8 = Desc(DataType::kUint8, {1}, 1.0f, 0);
  EXPECT_OK(CheckReal(MakeTensor<uint8_t>(u8, {2}), {2.5}));
  EXPECT_OK(CheckReal(MakeTensor<uint8_t>(u8, {3}), {2.5}));
  EXPECT_ERROR(CheckReal(MakeTensor<uint8_t>(u8, {4}), {2.5}), "has code 4");
  EXPECT_OK(CheckReal(MakeTensor<uint8_t>(u8, {255}), {1000}));
}

}  // namespace
}  // namespace tim::testing
