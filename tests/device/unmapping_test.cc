// A driver that maps imported memory and fails to unmap it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>

#include "device/opencl/driver/opencl_stream.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/status_macros.h"

namespace {
bool unmapping_fails = false;
}  // namespace

// Stands before the loader's function.
extern "C" CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(
    cl_command_queue queue, cl_mem memory, void* mapped, cl_uint count,
    const cl_event* events, cl_event* event) {
  using Function = decltype(&clEnqueueUnmapMemObject);
  static const auto real =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clEnqueueUnmapMemObject"));
  const cl_int code = real(queue, memory, mapped, count, events, event);
  return unmapping_fails ? CL_OUT_OF_RESOURCES : code;
}

namespace tim::device {
namespace {

class Unmapping : public testing::OpenClTest {};

TEST_F(Unmapping, MessagesSayWhichOfTheTwoFailed) {
  if (!device_->info().unified_memory) {
    GTEST_SKIP() << device_->info().name << " does not import memory";
  }
  auto stream = OpenClStream::Create(context_, id_, StreamTraits{});
  ASSERT_OK(stream);
  alignas(64) std::array<float, 16> data = {};
  const auto imported = device_->Import(data.data(), sizeof(data));
  ASSERT_OK(imported);
  EXPECT_OK((*stream)->SynchronizeToDevice(**imported));
  unmapping_fails = true;
  const Status to_device = (*stream)->SynchronizeToDevice(**imported);
  const Status to_host = (*stream)->SynchronizeToHost(**imported);
  unmapping_fails = false;
  EXPECT_ERROR(to_device, "unmapping 64 bytes of imported memory: CL_OUT_OF");
  EXPECT_ERROR(to_host, "unmapping 64 bytes of imported memory: CL_OUT_OF");
}

}  // namespace
}  // namespace tim::device
