// A node whose results are known, through eval and every kernel.
#ifndef TIM_TESTS_OPS_INDEXING_EVAL_AND_KERNELS_H_
#define TIM_TESTS_OPS_INDEXING_EVAL_AND_KERNELS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {

/// Output 0 of eval and of every kernel has these elements; there is a kernel.
template <typename T>
void ExpectResults(const Result<TestNode>& node,
                   const std::vector<TensorData>& inputs,
                   const std::vector<T>& expected) {
  ASSERT_OK(node);
  const auto y = Eval(*node, inputs);
  ASSERT_OK(y);
  EXPECT_EQ(Values<T>((*y)[0]), expected);
  const std::vector<std::string> kernels = SupportedKernels(*node);
  EXPECT_FALSE(kernels.empty()) << Refusals(*node);
  for (const std::string& kernel : kernels) {
    const auto found = RunKernel(*node, kernel, 0, inputs);
    ASSERT_OK(found);
    EXPECT_EQ(Values<T>((*found)[0]), expected) << kernel;
  }
}

/// Kernel `kernel`, lowered for CPUs and for GPUs, has the bits of eval.
inline void ExpectSameBits(const Result<TestNode>& node,
                           const std::string& kernel,
                           const std::vector<TensorData>& inputs) {
  ASSERT_OK(node);
  const auto expected = Eval(*node, inputs);
  ASSERT_OK(expected);
  for (const auto device_class :
       {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    const auto found =
        RunKernel(*node, kernel, 0, inputs, TestDevice(device_class));
    ASSERT_OK(found);
    EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]))
        << ir::ToString(device_class);
  }
}

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_INDEXING_EVAL_AND_KERNELS_H_
