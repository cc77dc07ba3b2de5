// Contexts with the same device, of which one launches kernels one by one.
#ifndef TIM_TESTS_SUPPORT_VX_CHAINED_KERNELS_H_
#define TIM_TESTS_SUPPORT_VX_CHAINED_KERNELS_H_

#include <gtest/gtest.h>

#include <memory>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/chain/chain_source.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/status_macros.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {

class ChainedKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
    ASSERT_OK(opencl);
    device_ = std::make_shared<CountingDevice>(*opencl);
    if (!device::RunsChains(device_->info())) {
      GTEST_SKIP() << "the device runs no chains";
    }
    chained_ = vx::CreateContext({device::CreateHostDevice(), device_},
                                 {.strict = true});
    single_ = vx::CreateContext(
        {device::CreateHostDevice(), std::make_shared<OneByOne>(*opencl)},
        {.strict = true});
  }

  std::shared_ptr<CountingDevice> device_;
  std::shared_ptr<vx::Context> chained_;
  std::shared_ptr<vx::Context> single_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_CHAINED_KERNELS_H_
