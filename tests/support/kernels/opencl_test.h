// What tests of one OpenCL device begin with.
#ifndef TIM_TESTS_SUPPORT_KERNELS_OPENCL_TEST_H_
#define TIM_TESTS_SUPPORT_KERNELS_OPENCL_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/options.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/status_macros.h"

namespace tim::testing {

/// The first device, as the SDK and as OpenCL knows it.  Skips where there is
/// none: device_ is then null.
class OpenClTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto created = device::CreateOpenClDevice(0, GetOptions().on_device);
    if (created.status().code() == StatusCode::kNotFound) {
      GTEST_SKIP() << created.status().message();
    }
    ASSERT_OK(created);
    device_ = *std::move(created);
    context_ = cl::Context(
        static_cast<cl_context>(device_->NativeHandle("cl_context")), true);
    id_ = cl::Device(
        static_cast<cl_device_id>(device_->NativeHandle("cl_device_id")), true);
  }

  std::shared_ptr<device::Device> device_;
  cl::Context context_;
  cl::Device id_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_KERNELS_OPENCL_TEST_H_
