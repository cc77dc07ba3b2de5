// What OpenCL's bindings and devices do in a process that was forked off one
// that had used them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "base/options.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/forked_process.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ::testing::Each;
using testing::EmptyStore;
using testing::Fork;
using ::testing::Ge;
using ::testing::HasSubstr;

class OpenClProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  }
};

// Asked of the driver, which PoCL and Intel's can still answer.
template <typename Handle, typename Query>
cl_uint References(Query query, Handle handle, cl_uint what) {
  cl_uint count = 0;
  EXPECT_EQ(query(handle, what, sizeof(count), &count, nullptr), CL_SUCCESS);
  return count;
}

TEST_F(OpenClProcess, ForkedProcessesReleaseNothing) {
  const auto found = EnumerateOpenClDevices();
  ASSERT_OK(found);
  std::optional<cl::Context> context(std::in_place, (*found)[0].device);
  std::optional<cl::CommandQueue> queue(std::in_place, *context);
  std::optional<cl::Buffer> buffer(std::in_place, *context, CL_MEM_READ_WRITE,
                                   size_t{64});
  std::optional<cl::Program> program(std::in_place, *context,
                                     "__kernel void f() {}", true);
  std::optional<cl::Kernel> kernel(std::in_place, *program, "f");
  // No thread of the driver is to touch what is counted.
  std::optional<cl::UserEvent> event(std::in_place, *context);
  const auto counts = [context = (*context)(), queue = (*queue)(),
                       buffer = (*buffer)(), program = (*program)(),
                       kernel = (*kernel)(), event = (*event)()] {
    return std::vector<cl_uint>{
        References(clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT),
        References(clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT),
        References(clGetMemObjectInfo, buffer, CL_MEM_REFERENCE_COUNT),
        References(clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT),
        References(clGetKernelInfo, kernel, CL_KERNEL_REFERENCE_COUNT),
        References(clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT)};
  };
  const std::vector<cl_uint> before = counts();
  EXPECT_THAT(before, Each(Ge(1u)));
  EXPECT_PASSES(Fork([&] {
    event.reset();
    kernel.reset();
    program.reset();
    buffer.reset();
    queue.reset();
    context.reset();
    EXPECT_EQ(counts(), before);
  }));
  EXPECT_EQ(counts(), before);
  // The process itself does.
  ASSERT_EQ(clRetainMemObject((*buffer)()), CL_SUCCESS);
  const cl_mem kept = (*buffer)();
  buffer.reset();
  EXPECT_EQ(References(clGetMemObjectInfo, kept, CL_MEM_REFERENCE_COUNT), 1u);
  EXPECT_EQ(clReleaseMemObject(kept), CL_SUCCESS);
}

TEST_F(OpenClProcess, EverythingOfADeviceFails) {
  const auto device = CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(device);
  const auto stream = (*device)->CreateStream();
  ASSERT_OK(stream);
  const auto buffer = (*device)->Allocate(64, ir::MemoryKind::kDevice);
  ASSERT_OK(buffer);
  const auto other = (*device)->Allocate(64, ir::MemoryKind::kDevice);
  ASSERT_OK(other);
  const BufferRange range = {.buffer = buffer->get(), .bytes = 64};
  const BufferRange to = {.buffer = other->get(), .bytes = 64};
  ASSERT_OK((*stream)->Copy(range, to));
  const auto event = (*stream)->Record();
  ASSERT_OK(event);
  EXPECT_OK((*device)->CheckUsable());
  EXPECT_PASSES(Fork([&] {
    const auto lost = [](const Status& status) {
      EXPECT_EQ(status.code(), StatusCode::kDeviceLost) << status.ToString();
      EXPECT_THAT(status.message(), HasSubstr("was forked off"));
    };
    EmptyStore store;
    alignas(64) std::array<char, 64> memory = {};
    lost((*device)->CheckUsable());
    lost((*device)->Allocate(64, ir::MemoryKind::kDevice).status());
    lost((*device)->Import(memory.data(), 64).status());
    lost((*device)->CreateStream().status());
    const ir::Action action = ir::KernelLaunch();
    const ir::Action* const actions[] = {&action};
    lost((*device)->Prepare(actions, ir::OpRegistry(), store).status());
    lost((*device)->PrepareChain({}, store).status());
    lost((*stream)->Copy(range, to));
    lost((*stream)->Record().status());
    lost((*stream)->WaitFor(**event));
    lost((*stream)->SynchronizeToDevice(**buffer));
    lost((*stream)->SynchronizeToHost(**buffer));
    lost((*event)->Wait());
    lost(CreateOpenClDevice(0, GetOptions().on_device).status());
    lost(EnumerateOpenClDevices().status());
    lost(CheckOpenClProcess());
    // What was found before is known.
    EXPECT_GE(CountOpenClDevices(), 1);
  }));
  EXPECT_OK((*event)->Wait());
  EXPECT_OK((*stream)->Copy(range, to));
}

}  // namespace
}  // namespace tim::device
