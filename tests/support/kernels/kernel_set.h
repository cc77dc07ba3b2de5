// Tests that speak of the kernels for one class of devices.
#ifndef TIM_TESTS_SUPPORT_KERNELS_KERNEL_SET_H_
#define TIM_TESTS_SUPPORT_KERNELS_KERNEL_SET_H_

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/options.h"
#include "device/opencl/opencl_device.h"

namespace tim::testing {

/// Skips every test of the program where the first OpenCL device takes kernels
/// of another class by itself.
class ForKernelsOf : public ::testing::EmptyTestEventListener {
 public:
  explicit ForKernelsOf(ir::DeviceClass device_class)
      : device_class_(device_class) {}

  void OnTestProgramStart(const ::testing::UnitTest&) override {
    const auto device = device::CreateOpenClDevice(0, GetOptions().on_device);
    if (device.ok()) info_ = (*device)->info();
  }
  void OnTestStart(const ::testing::TestInfo&) override {
    if (info_.name.empty() || info_.device_class == device_class_) return;
    GTEST_SKIP() << "of kernels for devices of class "
                 << ir::ToString(device_class_) << "; " << info_.name
                 << " takes those of class "
                 << ir::ToString(info_.device_class);
  }

 private:
  const ir::DeviceClass device_class_;
  ir::DeviceInfo info_;
};

}  // namespace tim::testing

/// Stands in namespace scope of a test of kernels for CPU devices.
#define TIM_FOR_CPU_KERNELS()                                            \
  [[maybe_unused]] static const bool kForKernels = [] {                  \
    ::testing::UnitTest::GetInstance()->listeners().Append(              \
        new ::tim::testing::ForKernelsOf(::tim::ir::DeviceClass::kCpu)); \
    return true;                                                         \
  }()

/// Devices of the process take kernels of this class, "cpu" or "gpu"
/// (TIMCL_KERNELS), whatever they would take by themselves.  Stands in
/// namespace scope.
#define TIM_FORCE_KERNELS(device_class)              \
  [[maybe_unused]] static const int kForcedKernels = \
      setenv("TIMCL_KERNELS", device_class, 1)

#endif  // TIM_TESTS_SUPPORT_KERNELS_KERNEL_SET_H_
