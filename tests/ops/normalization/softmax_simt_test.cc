// Softmax for GPUs, which the device of the tests runs whatever its class; it
// makes the bits of eval.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr char kKernel[] = "softmax_simt";

ir::DeviceInfo Gpu() { return TestDevice(ir::DeviceClass::kGpu); }

Result<TestNode> Softmax(const TensorDesc& input, const TensorDesc& output,
                         double beta, int64_t axis) {
  TensorDesc undeclared = output;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.Softmax", {{"beta", beta}, {"axis", axis}}, {input},
                  {undeclared});
}

void CheckEqual(const TestNode& node, const TensorData& input) {
  const auto expected = Eval(node, {input});
  const auto found = RunKernel(node, kKernel, 0, {input}, Gpu());
  ASSERT_OK(expected);
  ASSERT_OK(found);
  EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
}

// Rows around the lengths at which one work-group makes a row, has more than an
// element for each item, and has more than a part of the sum.
TEST(SoftmaxSimt, RowsAndColumnsEqualEval) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t count :
       {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000}) {
    for (const int64_t other : {1, 3, 33}) {
      for (const int64_t axis : {0, 1}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(count, " of ", other, ", axis ", axis));
        const TensorDesc desc =
            Desc(DataType::kFloat32,
                 axis == 0 ? std::vector<int64_t>{count, other, 2}
                           : std::vector<int64_t>{other, count, 2});
        const auto node = Softmax(desc, desc, 1.5, axis);
        ASSERT_OK(node);
        CheckEqual(*node, RandomTensor(desc, rng));
      }
    }
  }
}

TEST(SoftmaxSimt, EveryTypeEqualsEval) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(7);
  const std::vector<int64_t> shape = {37, 5};
  const TensorDesc descs[] = {Desc(DataType::kFloat32, shape),
                              Desc(DataType::kFloat16, shape),
                              Desc(DataType::kUint8, shape, 0.05f, 120),
                              Desc(DataType::kInt8, shape, 1.0f / 256, -128),
                              Desc(DataType::kInt16, shape, 0.001f, 3)};
  for (const TensorDesc& input : descs) {
    for (const TensorDesc& output : descs) {
      for (const int64_t axis : {0, 1}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(input.ToString(), " to ", output.ToString()));
        const auto node = Softmax(input, output, 1.0, axis);
        ASSERT_OK(node);
        CheckEqual(*node, RandomTensor(input, rng));
      }
    }
  }
}

TEST(SoftmaxSimt, InfinitiesAndNaNFollowEval) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const TensorDesc desc = Desc(DataType::kFloat32, {40});
  const auto node = Softmax(desc, desc, 1.0, 0);
  ASSERT_OK(node);
  for (const float special : {kInfinity, -kInfinity, kNaN}) {
    for (const int at : {0, 39}) {
      std::vector<float> x(40, 0.5f);
      x[at] = special;
      CheckEqual(*node, MakeTensor(desc, x));
    }
    CheckEqual(*node, MakeTensor(desc, std::vector<float>(40, special)));
  }
}

TEST(SoftmaxSimt, RefusesWithReason) {
  const TensorDesc desc = Desc(DataType::kFloat32, {40});
  const auto node = Softmax(desc, desc, 1.0, 0);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  ir::DeviceInfo small = Gpu();
  small.max_work_group_size = 32;
  EXPECT_ERROR(Supports(*node, kKernel, small),
               "needs work-groups of 64 items, the device has 32");
  const auto fused = Fuse(*node, "tim.Relu", {}, {}, desc);
  ASSERT_OK(fused);
  EXPECT_ERROR(Supports(*fused, kKernel, Gpu()), "takes no fused operators");
  const auto wide = Softmax(Desc(DataType::kFloat64, {4}), desc, 1.0, 0);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kKernel, Gpu()), "float64 has no kernel");
}

}  // namespace
}  // namespace tim::testing
