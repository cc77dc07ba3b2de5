// Devices behind a network: how they are known, what they are not taken to
// share with the host, and how their kernels get parts of a buffer.  What needs
// such a device is skipped where there is none; tools/pocl_remote.sh starts
// two.
#include "device/opencl/driver/remote_device.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/aligned_memory.h"
#include "device/device.h"
#include "device/host/host_buffer.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "device/opencl/launch/kernel_step.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
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
  info.has_amx = true;
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
  EXPECT_FALSE(info.has_amx);
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

// ---- parts of buffers -------------------------------------------------------

constexpr char kTwice[] =
    "__kernel void twice(__global const float* in, int in_0,\n"
    "                    __global float* out, int out_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) out[out_0 + i] = 2 * in[in_0 + i];\n"
    "}\n"
    "__kernel void thrice(__global const float* in, __global float* out) {\n"
    "  const int i = get_global_id(0);\n"
    "  out[i] = 3 * in[i];\n"
    "}\n"
    "__kernel void odd(__global const float* in, __global float* out) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i % 2 == 1) out[i] = 3 * in[i];\n"
    "}\n"
    "__kernel void add(__global float* in, __global float* out) {\n"
    "  const int i = get_global_id(0);\n"
    "  in[i] += 1;\n"
    "  out[i] += in[i];\n"
    "}\n";

constexpr int64_t kFloats = 1027;
constexpr int64_t kBytes = kFloats * sizeof(float);
// A multiple of what buffers are aligned to.
constexpr int64_t kPlace = 8192;
constexpr float kRest = 7;  // what the buffer holds around the input

// A device of this machine, used as one whose kernels get no sub-buffers.
class PartsOfBuffers : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    info_ = device_->info();
    info_.remote = true;
    program_ = cl::Program(context_, kTwice);
    ASSERT_EQ(program_.build("-cl-kernel-arg-info"), CL_SUCCESS);
    ASSERT_EQ(kPlace % info_.alignment, 0);
    whole_ = *OpenClBuffer::Create(context_, info_, 4 * kPlace);
    in_ = *whole_->View(kPlace, kBytes);
    out_ = *whole_->View(3 * kPlace, kBytes);
    stream_ = *device_->CreateStream();
    content_.assign(4 * kPlace / sizeof(float), kRest);
    for (int64_t i = 0; i < kFloats; ++i) {
      content_[kPlace / sizeof(float) + i] = In(i);
    }
    ExternalBuffer from(content_.data(), 4 * kPlace);
    ASSERT_OK(
        stream_->Copy({&from, 0, 4 * kPlace}, {whole_.get(), 0, 4 * kPlace}));
    ASSERT_OK((*stream_->Record())->Wait());
  }

  static float In(int64_t i) { return static_cast<float>(i + 1); }

  ir::UserLaunch Users(const std::string& function) const {
    ir::UserLaunch launch;
    launch.name = "user." + function + "#1";
    launch.text = kTwice;
    launch.function = function;
    const auto type = ir::DataType::kFloat32;
    launch.arguments = {
        ir::UserTensorArg{0, type, {kFloats}, false, false, "input 0"},
        ir::UserTensorArg{1, type, {kFloats}, true, false, "output 0"}};
    launch.range.global = {kFloats, 1, 1};
    return launch;
  }

  // Runs the step: element i of its output is `expected(i)`, and all else in
  // the buffer is what it was.
  template <typename Function>
  void Check(PreparedStep& step, const Function& expected) {
    const BufferRange operands[] = {{in_.get(), 0, kBytes},
                                    {out_.get(), 0, kBytes}};
    EXPECT_OK(stream_->Enqueue(step, operands));
    std::vector<float> found(content_.size());
    ExternalBuffer to(found.data(), 4 * kPlace);
    EXPECT_OK(
        stream_->Copy({whole_.get(), 0, 4 * kPlace}, {&to, 0, 4 * kPlace}));
    EXPECT_OK((*stream_->Record())->Wait());
    for (int64_t i = 0; i < kFloats; ++i) {
      content_[3 * kPlace / sizeof(float) + i] = expected(i);
    }
    EXPECT_EQ(found, content_);
  }

  // The same of a user's kernel.
  template <typename Function>
  void CheckUsers(const ir::UserLaunch& launch, const Function& expected) {
    auto step =
        KernelStep::Create(program_, id_, info_, {}, launch, 0, nullptr);
    ASSERT_OK(step);
    Check(**step, expected);
  }

  ir::DeviceInfo info_;
  cl::Program program_;
  std::unique_ptr<Buffer> whole_;
  std::unique_ptr<Buffer> in_;
  std::unique_ptr<Buffer> out_;
  std::unique_ptr<Stream> stream_;
  std::vector<float> content_;  // of the whole buffer
};

TEST_F(PartsOfBuffers, AreTheWholeAndAnOffset) {
  const auto whole = AsOpenCl({whole_.get(), 0, kBytes});
  const auto part = AsOpenCl({out_.get(), 8, 8});
  ASSERT_OK(part);
  EXPECT_EQ(part->handle()(), whole->handle()());
  EXPECT_EQ(part->offset, 3 * kPlace + 8);
  const auto of_part = (*whole_->View(info_.alignment, 2 * info_.alignment))
                           ->View(info_.alignment, kBytes);
  ASSERT_OK(of_part);
  EXPECT_EQ(AsOpenCl({of_part->get(), 0, kBytes})->offset, 2 * info_.alignment);
  EXPECT_ERROR(whole->buffer->SubBuffer(info_.alignment, kBytes),
               "does not reach kernels of remote devices");
  EXPECT_ERROR(part->buffer->SubBuffer(0, kBytes),
               "does not reach kernels of remote devices");
}

TEST_F(PartsOfBuffers, ReachKernels) {
  auto step = KernelStep::Create(
      program_, id_, info_, testing::FloatLaunch(kTwice, "twice", kFloats, 2));
  ASSERT_OK(step);
  Check(**step, [](int64_t i) { return 2 * In(i); });
}

TEST_F(PartsOfBuffers, ReachUsersKernelsAsCopies) {
  CheckUsers(Users("thrice"), [](int64_t i) { return 3 * In(i); });
}

// An element that a kernel does not write keeps its value, or is 0 where the
// operator wants that; what it reads and writes is read as it was; an input
// that it writes, though it is none of its outputs, stays as it was.
TEST_F(PartsOfBuffers, KeepWhatUsersKernelsDoNotWrite) {
  CheckUsers(Users("odd"),
             [](int64_t i) { return i % 2 == 1 ? 3 * In(i) : kRest; });
  ir::UserLaunch zeroed = Users("odd");
  std::get<ir::UserTensorArg>(zeroed.arguments[1]).zeroed = true;
  CheckUsers(zeroed, [](int64_t i) { return i % 2 == 1 ? 3 * In(i) : 0.0f; });
  const std::vector<float> before(content_.end() - kPlace / sizeof(float),
                                  content_.end());
  CheckUsers(Users("add"), [&](int64_t i) { return before[i] + In(i) + 1; });
}

TEST_F(PartsOfBuffers, AreNotGuarded) {
  DeviceOptions options;
  options.guard = true;
  GuardedContents guards;
  EXPECT_ERROR(KernelStep::Create(program_, id_, info_, options,
                                  Users("thrice"), 0, &guards),
               "TIMCL_GUARD gives kernels sub-buffers");
}

}  // namespace
}  // namespace tim::device
