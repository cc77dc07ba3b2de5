// FullyConnected of few rows for GPUs, which the device of the tests runs
// whatever its class.
#include <gtest/gtest.h>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr char kKernel[] = "fullyconnected_dot_simt";
// Sums of up to 300 products in another order than eval's.
constexpr Tolerance kTolerance = {3e-5, 1e-5};

TensorDesc F32(std::vector<int64_t> shape) {
  return Desc(DataType::kFloat32, std::move(shape));
}

ir::DeviceInfo Gpu() { return TestDevice(ir::DeviceClass::kGpu); }

Result<TestNode> Layer(int64_t depth, int64_t rows, int64_t outputs,
                       bool bias) {
  std::vector<std::optional<TensorDesc>> inputs = {F32({depth, rows}),
                                                   F32({depth, outputs})};
  if (bias) inputs.push_back(F32({outputs}));
  return MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}}, inputs,
                  {F32({outputs, rows})});
}

void Check(const Result<TestNode>& node, std::mt19937& rng) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kKernel, Gpu()));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kKernel, 0, inputs, Gpu());
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
  }
}

TEST(FullyConnectedDotSimt, DepthsRowsAndOutputs) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t depth : {1, 31, 32, 33, 63, 64, 65, 300}) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 33}) {
      for (const int64_t outputs : {1, 33}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(depth, " ", rows, " ", outputs));
        Check(Layer(depth, rows, outputs, depth % 2 == 0), rng);
      }
    }
  }
}

TEST(FullyConnectedDotSimt, FusedOperators) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t rows : {1, 5}) {
    const TensorDesc output = F32({35, rows});
    for (const bool bias : {false, true}) {
      for (const bool add : {false, true}) {
        for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
          SCOPED_TRACE(StrCat(rows, " ", bias, " ", add, " ", activation));
          auto node = Layer(19, rows, 35, bias);
          if (add) node = Fuse(*node, "tim.Add", {}, {F32({35})}, output);
          if (*activation != '\0') {
            node = Fuse(*node, activation, {}, {}, output);
          }
          Check(node, rng);
        }
      }
    }
  }
}

TEST(FullyConnectedDotSimt, RefusesWithReason) {
  const auto node = Layer(4, 1, 4, false);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  EXPECT_ERROR(Supports(*node, "fullyconnected_f32", Gpu()),
               "for CPU devices; this one takes kernels of class gpu");
  ir::DeviceInfo small = Gpu();
  small.max_work_group_size = 32;
  EXPECT_ERROR(Supports(*node, kKernel, small),
               "needs work-groups of 64 items, the device has 32");
  const auto half =
      MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}},
               {Desc(DataType::kFloat16, {4, 4}), F32({4, 4})}, {F32({4, 4})});
  ASSERT_OK(half);
  EXPECT_ERROR(Supports(*half, kKernel, Gpu()), "must be float32, not float16");
}

}  // namespace
}  // namespace tim::testing
