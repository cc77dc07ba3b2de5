// What the library says of a device, against what OpenCL says.
#include "device/opencl/driver/opencl_info.h"

#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <string>

#include "tests/support/kernels/opencl_test.h"

namespace tim::device {
namespace {

using OpenClInfo = testing::OpenClTest;

TEST_F(OpenClInfo, TakesAssemblerOfTheProcessorOnPoclAlone) {
#if defined(__x86_64__)
  const cl::Platform platform(id_.getInfo<CL_DEVICE_PLATFORM>());
  const bool expected =
      platform.getInfo<CL_PLATFORM_NAME>() == "Portable Computing Language" &&
      id_.getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_CPU &&
      id_.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>() >= 16 &&
      __builtin_cpu_supports("avx512vnni") != 0;
#else
  const bool expected = false;
#endif
  EXPECT_EQ(device_->info().has_vnni, expected);
  EXPECT_LE(device_->info().has_amx, expected);
}

// A process that did not ask Linux for its tiles would end at the first one.
TEST_F(OpenClInfo, HasAmxWhereLinuxGrantsIt) {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kGetPermission = 0x1022;  // ARCH_GET_XCOMP_PERM
  unsigned long granted = 0;
  const bool known = syscall(SYS_arch_prctl, kGetPermission, &granted) == 0;
  if (device_->info().has_amx) {
    EXPECT_TRUE(known && (granted >> 18 & 1) != 0);
  }
#else
  EXPECT_FALSE(device_->info().has_amx);
#endif
  const auto without = CreateOpenClDevice(0, {.amx = false});
  ASSERT_OK(without);
  EXPECT_FALSE((*without)->info().has_amx);
  EXPECT_EQ((*without)->info().has_vnni, device_->info().has_vnni);
}

TEST(OpenClVersions, LlvmOfPlatforms) {
  EXPECT_EQ(LlvmOf("OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, "
                   "SPIR, LLVM 15.0.6, SLEEF, DISTRO, POCL_DEBUG"),
            15);
  EXPECT_EQ(LlvmOf("OpenCL 1.2 pocl 1.4 None+Asserts, LLVM 9.0.1, RELOC"), 9);
  EXPECT_EQ(LlvmOf("OpenCL 3.0 LINUX"), 0);
}

// llvmpipe says that it is a CPU, and that vectors of 1 float fit it.
TEST_F(OpenClInfo, GivesKernelsForGpusToCpusWithItemsInLanes) {
  const cl::Platform platform(id_.getInfo<CL_DEVICE_PLATFORM>());
  if (platform.getInfo<CL_PLATFORM_NAME>() != "rusticl") {
    EXPECT_EQ(device_->info().device_class == ir::DeviceClass::kCpu,
              id_.getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_CPU);
    return;
  }
  EXPECT_EQ(device_->info().device_class, ir::DeviceClass::kGpu);
  const auto device = CreateOpenClDevice(0, {.kernels = KernelSet::kCpu});
  ASSERT_OK(device);
  EXPECT_EQ((*device)->info().device_class, ir::DeviceClass::kCpu);
}

// Compilers have the functions in no earlier version of the language.
TEST_F(OpenClInfo, HasIntegerDotWhereOpenClC3HasIt) {
  const std::string extensions = id_.getInfo<CL_DEVICE_EXTENSIONS>();
  const std::string version = id_.getInfo<CL_DEVICE_VERSION>();
  const bool expected =
      version >= "OpenCL 3" &&
      extensions.find("cl_khr_integer_dot_product") != std::string::npos;
  ASSERT_EQ(device_->info().has_integer_dot, expected);
  if (!expected) return;
  cl::Program program(
      context_,
      std::string("__kernel void dot_of_bytes(__global int* out) {\n"
                  "#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed\n"
                  "  out[0] = dot_4x8packed_us_int(1u, 2u);\n"
                  "#else\n#error no packed bytes\n#endif\n}\n"));
  EXPECT_EQ(program.build("-cl-std=CL3.0"), CL_SUCCESS);
}

}  // namespace
}  // namespace tim::device
