// Devices behind a network: how they are known, and what they are not taken to
// share with the host.  Check 27 of the plug-ins' specification, as far as it
// needs such a device, is skipped where there is none.
#include "device/opencl/driver/remote_device.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/aligned_memory.h"
#include "device/device.h"
#include "device/host/host_buffer.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

TEST(RemoteDevice, IsKnownByVersionOrName) {
  EXPECT_TRUE(IsRemote("OpenCL 3.0 PoCL-Remote HSTR: CUDA-sm_86", "RTX"));
  EXPECT_TRUE(IsRemote("OpenCL 3.0 PoCL", "pocl-remote: cpu-haswell"));
  EXPECT_FALSE(IsRemote("OpenCL 3.0 PoCL HSTR: pthread-x86_64",
                        "pthread-skylake-avx512"));
  EXPECT_FALSE(IsRemote("OpenCL 3.0 CUDA", "A remote control of PoCL"));
  EXPECT_FALSE(IsRemote("", ""));
}

// A CPU that says of itself what the CPU at the other end is.
ir::DeviceInfo Mirrored() {
  ir::DeviceInfo info;
  info.kind = "opencl";
  info.name = "pthread-skylake-avx512";
  info.driver = "6.0";
  info.device_class = ir::DeviceClass::kCpu;
  info.unified_memory = true;
  info.orders_stores = true;
  info.has_vnni = true;
  info.chains = true;
  info.chains_singles = true;
  info.has_fp16 = true;
  info.compute_units = 8;
  info.gflops = 800;
  info.launch_us = 5;
  return info;
}

TEST(RemoteDevice, SharesNothingWithTheHost) {
  ir::DeviceInfo info = Mirrored();
  AdaptToNetwork(&info);
  EXPECT_TRUE(info.remote);
  EXPECT_FALSE(info.unified_memory);
  EXPECT_FALSE(info.orders_stores);
  EXPECT_FALSE(info.has_vnni);
  EXPECT_FALSE(info.chains);
  EXPECT_FALSE(info.chains_singles);
  // A launch and a copy cost a way through the network.
  EXPECT_GT(info.launch_us, 50);
  EXPECT_GT(info.link_latency_us, 50);
  EXPECT_GT(info.link_gbytes_per_second, 0);
  EXPECT_LT(info.link_gbytes_per_second, 5);
  // All else is the hardware's.
  EXPECT_EQ(info.device_class, ir::DeviceClass::kCpu);
  EXPECT_EQ(info.gflops, 800);
  EXPECT_EQ(info.compute_units, 8);
  EXPECT_TRUE(info.has_fp16);
}

// Programs, figures and links are kept by name and driver.
TEST(RemoteDevice, IsNotTakenForTheSameHardwareHere) {
  ir::DeviceInfo info = Mirrored();
  AdaptToNetwork(&info);
  EXPECT_EQ(info.name, Mirrored().name);
  EXPECT_NE(info.driver, Mirrored().driver);
}

// Each device of this machine that is there, as it says of itself.
TEST(RemoteDevice, IsToldFromDevicesOfThisMachine) {
  const auto devices = EnumerateOpenClDevices();
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  for (const OpenClDeviceId& id : *devices) {
    EXPECT_EQ(QueryDeviceInfo(id, {}).remote, IsRemote(id.device));
  }
}

TEST(RemoteDevice, KeepsWhatItIsGiven) {
  const auto devices = EnumerateOpenClDevices();
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  int tried = 0;
  for (int i = 0; i < static_cast<int>(devices->size()); ++i) {
    if (!IsRemote((*devices)[static_cast<size_t>(i)].device)) continue;
    ++tried;
    const auto device = CreateOpenClDevice(i, {});
    ASSERT_OK(device);
    EXPECT_FALSE((*device)->info().unified_memory);
    EXPECT_FALSE((*device)->info().chains);
    constexpr int64_t kBytes = 1 << 20;
    const AlignedMemory from = AllocateAligned(kBytes, 64);
    const AlignedMemory to = AllocateAligned(kBytes, 64);
    std::memset(from.get(), 0x5A, kBytes);
    std::memset(to.get(), 0, kBytes);
    EXPECT_ERROR((*device)->Import(from.get(), kBytes),
                 "does not import host memory");
    const auto buffer = (*device)->Allocate(kBytes, ir::MemoryKind::kDevice);
    ASSERT_OK(buffer);
    const auto stream = (*device)->CreateStream();
    ASSERT_OK(stream);
    ExternalBuffer source(from.get(), kBytes);
    ExternalBuffer sink(to.get(), kBytes);
    ASSERT_OK(
        (*stream)->Copy({&source, 0, kBytes}, {buffer->get(), 0, kBytes}));
    ASSERT_OK((*stream)->Copy({buffer->get(), 0, kBytes}, {&sink, 0, kBytes}));
    const auto event = (*stream)->Record();
    ASSERT_OK(event);
    ASSERT_OK((*event)->Wait());
    EXPECT_EQ(std::memcmp(from.get(), to.get(), kBytes), 0);
  }
  if (tried == 0) {
    GTEST_SKIP() << "no OpenCL device of this machine is behind a network; "
                    "docs/distributed.md says how PoCL shows one";
  }
}

}  // namespace
}  // namespace tim::device
