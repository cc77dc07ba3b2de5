// The tests' device, which does runs by itself, as the platform knows it.
#ifndef TIM_TESTS_SUPPORT_VX_FAKE_PLATFORM_H_
#define TIM_TESTS_SUPPORT_VX_FAKE_PLATFORM_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/devices/fake_device.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/platform/native_device.h"

namespace tim::testing {

/// A device of two cores, which are the same fake device; memory of its own,
/// work done later.  All nodes of graphs of its context run there.
struct FakePlatform {
  explicit FakePlatform(uint64_t seed = 1)
      : fake(std::make_shared<FakeDevice>(FakeOptions{.seed = seed})),
        device(vx::platform::MakeDevice(
            {.id = 0,
             .name = "fake",
             .cores = 2,
             .open = [fake =
                          fake](device::CoreRange) -> Result<device::Devices> {
               TIM_ASSIGN_OR_RETURN(device::Devices devices,
                                    runtime::SelectDevices("host"));
               devices.push_back(fake);
               return devices;
             }})) {
    device::Devices devices = *runtime::SelectDevices("host");
    devices.push_back(fake);
    context = vx::CreateContext(
        devices, {.placement = [](const ir::Node&) { return 1; }});
  }

  std::shared_ptr<vx::platform::IExecutor> Executor(int core = 0) const {
    return device->CreateExecutor(core, 1, context);
  }

  std::shared_ptr<FakeDevice> fake;
  std::shared_ptr<vx::platform::NativeDevice> device;
  std::shared_ptr<vx::Context> context;
};

/// y = relu(x) of three numbers for an executor, which has run once.
struct ReluRuns {
  explicit ReluRuns(const std::shared_ptr<vx::platform::IExecutor>& executor) {
    const ReluGraph source({3});
    executable = executor->Compile(source.graph);
    EXPECT_NE(executable, nullptr) << vx::LastError();
    input = executable->AllocateTensor(source.input->GetSpec());
    output = executable->AllocateTensor(source.output->GetSpec());
    executable->SetInput(input);
    executable->SetOutput(output);
    Write({0, 0, 0});
    EXPECT_TRUE(executable->Trigger()) << vx::LastError();
  }
  void Write(const std::vector<float>& values) const {
    EXPECT_TRUE(input->CopyDataToTensor(values.data(), 12));
  }
  std::vector<float> Read() const {
    std::vector<float> values(3, -1);
    EXPECT_TRUE(output->CopyDataFromTensor(values.data())) << vx::LastError();
    return values;
  }
  bool Submit() const { return executable->Submit(executable); }

  std::shared_ptr<vx::platform::IExecutable> executable;
  std::shared_ptr<vx::platform::ITensorHandle> input, output;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_FAKE_PLATFORM_H_
