#include "device/opencl/opencl_device.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/options.h"
#include "device/host/host_buffer.h"
#include "device/opencl/driver/opencl_info.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using testing::EmptyStore;
using testing::FloatLaunch;

constexpr char kScale[] =
    "__kernel void scale(__global const float* in, int in_0,\n"
    "                    __global float* out, int out_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) out[out_0 + i] = FACTOR * in[in_0 + i];\n"
    "}\n";

// Keeps binaries, and can hand out rubbish.
class MapStore final : public BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = binaries.find(std::string(key));
    if (it == binaries.end()) return std::nullopt;
    return it->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    binaries[std::string(key)] = bytes;
  }
  void CountBuild() override { ++builds; }
  void Use(std::string_view key, ProgramBinary binary) override {
    used[std::string(key)] = std::move(binary);
  }
  // Binaries of drivers that keep programs by themselves are stored, too.
  void StoreUsed() {
    for (const auto& [key, binary] : used) binaries[key] = *binary();
  }

  std::map<std::string, std::string> binaries;
  std::map<std::string, ProgramBinary> used;
  std::atomic<int> builds = 0;

 private:
  std::mutex mutex_;
};

ir::KernelLaunch Scale(const std::string& factor, int64_t floats) {
  ir::KernelLaunch launch = FloatLaunch(kScale, "scale", floats, 2);
  launch.options = "-DFACTOR=" + factor;
  return launch;
}

Result<std::unique_ptr<PreparedStep>> PrepareOne(Device& device,
                                                 const ir::Action& action,
                                                 BinaryStore& store) {
  const ir::Action* step = &action;
  TIM_ASSIGN_OR_RETURN(auto steps,
                       device.Prepare({&step, 1}, ir::OpRegistry(), store));
  return std::move(steps[0]);
}

class OpenClDevice : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    stream_ = *device_->CreateStream();
  }

  std::unique_ptr<Buffer> Allocate(int64_t bytes) {
    return *device_->Allocate(bytes, ir::MemoryKind::kDevice);
  }
  Status Write(std::vector<float>& values, BufferRange to) {
    ExternalBuffer host(values.data(), to.bytes);
    TIM_RETURN_IF_ERROR(stream_->Copy({&host, 0, to.bytes}, to));
    return Finish();
  }
  std::vector<float> Read(BufferRange from) {
    std::vector<float> values(from.bytes / 4, -1);
    ExternalBuffer host(values.data(), from.bytes);
    EXPECT_OK(stream_->Copy(from, {&host, 0, from.bytes}));
    EXPECT_OK(Finish());
    return values;
  }
  Status Finish() { return (*stream_->Record())->Wait(); }

  std::unique_ptr<Stream> stream_;
  MapStore store_;
};

TEST_F(OpenClDevice, FillsItsInfo) {
  const ir::DeviceInfo& info = device_->info();
  EXPECT_EQ(info.kind, "opencl");
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.driver.empty());
  EXPECT_GE(info.compute_units, 1);
  EXPECT_EQ(info.max_work_item_sizes.size(), 3u);
  EXPECT_GT(info.max_allocation_bytes, 0);
  EXPECT_GE(info.alignment, 64);
  EXPECT_GT(info.gflops, 0);
  EXPECT_NE(device_->NativeHandle("cl_context"), nullptr);
  EXPECT_NE(device_->NativeHandle("cl_device_id"), nullptr);
  EXPECT_EQ(device_->NativeHandle("something"), nullptr);
}

TEST_F(OpenClDevice, OrdersStoresWhereItIsAnX8664) {
#if defined(__x86_64__)
  const bool expected =
      id_.getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_CPU &&
      id_.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>() == CL_TRUE &&
      (id_.getInfo<CL_DEVICE_EXECUTION_CAPABILITIES>() &
       CL_EXEC_NATIVE_KERNEL) != 0;
#else
  const bool expected = false;
#endif
  EXPECT_EQ(device_->info().orders_stores, expected);
  const bool cpu = device_->info().device_class == ir::DeviceClass::kCpu;
  EXPECT_EQ(device_->info().chains, expected && cpu);
}

TEST_F(OpenClDevice, DoesWhatItsOptionsSay) {
  const DeviceOptions given{
      .kernels = KernelSet::kGpu, .chain = false, .winograd = false};
  const auto other = *CreateOpenClDevice(0, given);
  EXPECT_EQ(other->info().device_class, ir::DeviceClass::kGpu);
  EXPECT_FALSE(other->info().winograd);
  EXPECT_FALSE(other->info().chains);
  EXPECT_FALSE(other->info().chains_singles);
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  launch.function = "gemm";
  const ir::Action action = launch;
  const ChainLink link{.action = &action, .buffers = {}};
  EXPECT_ERROR(other->PrepareChain({&link, 1}, store_), "chains no steps");
}

TEST_F(OpenClDevice, ChainsNothingButKernels) {
  if (!device_->info().chains) GTEST_SKIP() << "the device runs no chains";
  const ir::Action actions[] = {ir::Copy{4}, ir::Gemm{}, ir::HostCall{},
                                ir::UserLaunch()};
  for (const ir::Action& action : actions) {
    const ChainLink link{.action = &action, .buffers = {}};
    EXPECT_FALSE(device_->PrepareChain({&link, 1}, store_).ok());
  }
}

TEST_F(OpenClDevice, IndexOutsideTheMachineIsAnError) {
  EXPECT_GE(CountOpenClDevices(), 1);
  EXPECT_ERROR(CreateOpenClDevice(CountOpenClDevices(), GetOptions().on_device),
               "numbered from 0");
  EXPECT_ERROR(CreateOpenClDevice(-1, GetOptions().on_device),
               "OpenCL device -1");
}

TEST_F(OpenClDevice, CopiesBetweenHostAndBuffers) {
  const auto a = Allocate(64);
  const auto b = Allocate(64);
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(Write(values, {a.get(), 8, 16}));
  ASSERT_OK(stream_->Copy({a.get(), 8, 16}, {b.get(), 32, 16}));
  ASSERT_OK(stream_->Copy({b.get(), 32, 16}, {b.get(), 32, 16}));
  ASSERT_OK(stream_->Copy({a.get(), 0, 0}, {b.get(), 0, 0}));
  EXPECT_EQ(Read({b.get(), 32, 16}), values);
}

// OpenCL makes no sub-buffers of sub-buffers.
TEST_F(OpenClDevice, AViewIsABufferInABuffer) {
  const int64_t apart = device_->info().alignment;
  const auto whole = Allocate(4 * apart);
  const auto view = *whole->View(apart, 3 * apart);
  const auto inner = *view->View(apart, 16);
  EXPECT_EQ(inner->bytes(), 16);
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(Write(values, {inner.get(), 0, 16}));
  EXPECT_EQ(Read({whole.get(), 2 * apart, 16}), values);
  ASSERT_OK(stream_->Copy({view.get(), apart, 16}, {view.get(), 0, 16}));
  EXPECT_EQ(Read({whole.get(), apart, 16}), values);
}

TEST_F(OpenClDevice, TooLargeABufferIsOutOfMemory) {
  EXPECT_EQ(device_->Allocate(int64_t{1} << 60, ir::MemoryKind::kDevice)
                .status()
                .code(),
            StatusCode::kOutOfMemory);
  EXPECT_OK(device_->Allocate(0, ir::MemoryKind::kDevice));
}

TEST_F(OpenClDevice, KernelSeesOffsetsAndChangedOperands) {
  auto step = PrepareOne(*device_, Scale("3", 4), store_);
  ASSERT_OK(step);
  const auto a = Allocate(128);
  const auto b = Allocate(128);
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(Write(values, {a.get(), 20, 16}));
  const BufferRange there[] = {{a.get(), 20, 16}, {b.get(), 4, 16}};
  const BufferRange back[] = {{b.get(), 4, 16}, {a.get(), 64, 16}};
  ASSERT_OK(stream_->Enqueue(**step, there));
  ASSERT_OK(stream_->Enqueue(**step, back));
  EXPECT_EQ(Read({b.get(), 4, 16}), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(Read({a.get(), 64, 16}), (std::vector<float>{9, 18, 27, 36}));
}

TEST_F(OpenClDevice, KernelsTakeScalarsAndLocalMemory) {
  ir::KernelLaunch launch;
  launch.text =
      "__kernel void add(__global int* a, int a_0, uint more, long much,\n"
      "                  float real, __local int* scratch) {\n"
      "  scratch[0] = (int)(more + much + real);\n"
      "  a[a_0] += scratch[0];\n"
      "}\n";
  launch.function = "add";
  launch.arguments = {ir::TensorArg{}, uint32_t{100}, int64_t{1000}, 10.5f,
                      ir::LocalArg{4}};
  launch.range.local = {1, 0, 0};
  auto step = PrepareOne(*device_, launch, store_);
  ASSERT_OK(step);
  const auto memory = Allocate(4);
  int value = 7;
  ExternalBuffer host(&value, 4);
  ASSERT_OK(stream_->Copy({&host, 0, 4}, {memory.get(), 0, 4}));
  const BufferRange operands[] = {{memory.get(), 0, 4}};
  ASSERT_OK(stream_->Enqueue(**step, operands));
  ASSERT_OK(stream_->Copy({memory.get(), 0, 4}, {&host, 0, 4}));
  ASSERT_OK(Finish());
  EXPECT_EQ(value, 1117);
}

ir::UserLaunch UserScale(int64_t floats) {
  ir::UserLaunch launch;
  launch.name = "user.Scale#1";
  launch.text =
      "__kernel void scale(__global const float* in, __global float* out,\n"
      "                    float factor) {\n"
      "  const int i = get_global_id(0);\n"
      "  out[i] = factor * in[i];\n"
      "}\n";
  launch.function = "scale";
  const auto type = ir::DataType::kFloat32;
  launch.arguments = {
      ir::UserTensorArg{0, type, {floats}, false, false, "input 0"},
      ir::UserTensorArg{1, type, {floats}, true, false, "output 0"},
      ir::UserScalarArg{3.0, "float", "scalar 0"}};
  launch.range.global = {floats, 1, 1};
  return launch;
}

TEST_F(OpenClDevice, UserPointersPointAtChangingOperands) {
  auto step = PrepareOne(*device_, UserScale(4), store_);
  ASSERT_OK(step);
  const int64_t offset = device_->info().alignment;
  const auto a = Allocate(2 * offset);
  const auto b = Allocate(16);
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(Write(values, {a.get(), offset, 16}));
  const BufferRange there[] = {{a.get(), offset, 16}, {b.get(), 0, 16}};
  const BufferRange back[] = {{b.get(), 0, 16}, {a.get(), 0, 16}};
  ASSERT_OK(stream_->Enqueue(**step, there));
  ASSERT_OK(stream_->Enqueue(**step, back));
  EXPECT_EQ(Read({b.get(), 0, 16}), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(Read({a.get(), 0, 16}), (std::vector<float>{9, 18, 27, 36}));
}

// Some drivers forget the parameters with the source: it is built again.
TEST_F(OpenClDevice, AStoredUserProgramIsStillChecked) {
  ASSERT_OK(PrepareOne(*device_, UserScale(4), store_));
  store_.StoreUsed();
  const auto second = *CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(PrepareOne(*second, UserScale(4), store_));
  ir::UserLaunch wrong = UserScale(4);
  std::get<ir::UserTensorArg>(wrong.arguments[0]).type = ir::DataType::kInt8;
  EXPECT_ERROR(
      PrepareOne(*second, wrong, store_),
      "user.Scale#1: kernel 'scale', parameter 0 "
      "'__global const float* in' with input 0 int8 [4]: a tensor type "
      "the kernel does not take");
}

TEST_F(OpenClDevice, TheNameIsNoPartOfAUserProgram) {
  const ir::UserLaunch first = UserScale(4);
  ir::UserLaunch other = UserScale(8);
  other.name = "user.Scale#2";
  const ir::Action actions[] = {first, other};
  const ir::Action* steps[] = {&actions[0], &actions[1]};
  ASSERT_OK(device_->Prepare(steps, ir::OpRegistry(), store_));
  EXPECT_EQ(store_.builds, 1);
}

TEST_F(OpenClDevice, EqualProgramsAreBuiltOncePerDevice) {
  const ir::Action actions[] = {Scale("5", 4), Scale("5", 8), Scale("6", 4),
                                ir::Copy{4}};
  const ir::Action* steps[] = {&actions[0], &actions[1], &actions[2],
                               &actions[3]};
  const auto prepared = device_->Prepare(steps, ir::OpRegistry(), store_);
  ASSERT_OK(prepared);
  EXPECT_NE((*prepared)[2], nullptr);
  EXPECT_EQ((*prepared)[3], nullptr);
  EXPECT_EQ(store_.builds, 2);
  EXPECT_EQ(store_.binaries.size(), KeepsPrograms(id_) ? 0u : 2u);
  ASSERT_OK(device_->Prepare(steps, ir::OpRegistry(), store_));
  EXPECT_EQ(store_.builds, 2);
}

TEST_F(OpenClDevice, AStoredBinaryIsUsedAndARefusedOneReplaced) {
  ASSERT_OK(PrepareOne(*device_, Scale("7", 4), store_));
  store_.StoreUsed();
  const auto second = *CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(PrepareOne(*second, Scale("7", 4), store_));
  EXPECT_EQ(store_.builds, 1);

  store_.binaries.begin()->second = "not a program";
  const auto third = *CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(PrepareOne(*third, Scale("7", 4), store_));
  EXPECT_EQ(store_.builds, 2);
  EXPECT_NE(store_.binaries.begin()->second, "not a program");
}

TEST_F(OpenClDevice, BuildFailureShowsTheLogAndIsNotKept) {
  ir::KernelLaunch broken = Scale("2", 4);
  broken.text = "#line 41 \"ops/broken.cl\"\n__kernel void scale( { }\n";
  const auto step = PrepareOne(*device_, broken, store_);
  EXPECT_EQ(step.status().code(), StatusCode::kBuildFailure);
  EXPECT_ERROR(step, "kernel 'scale'");
  EXPECT_ERROR(step, "-DFACTOR=2");
  EXPECT_ERROR(step, device_->info().name);
  EXPECT_ERROR(step, "ops/broken.cl:41");
  EXPECT_FALSE(PrepareOne(*device_, broken, store_).ok());
  EXPECT_EQ(store_.builds, 2);
  EXPECT_TRUE(store_.binaries.empty());
  EXPECT_OK(PrepareOne(*device_, Scale("2", 4), store_));
}

TEST_F(OpenClDevice, RefusesLaunchesThatTheKernelCannotTake) {
  ir::KernelLaunch launch = Scale("2", 4);
  launch.arguments.pop_back();
  EXPECT_ERROR(PrepareOne(*device_, launch, store_),
               "has 5 parameters, but 4 arguments");
  launch.arguments.emplace_back(ir::LocalArg{4});
  EXPECT_ERROR(PrepareOne(*device_, launch, store_), "int n");
  launch.arguments.back() = int64_t{4};
  EXPECT_ERROR(PrepareOne(*device_, launch, store_), "CL_INVALID_ARG_SIZE");
  launch = Scale("2", 4);
  launch.function = "scales";
  EXPECT_ERROR(PrepareOne(*device_, launch, store_),
               "has no kernel 'scales'; it has: scale");
  launch = Scale("2", 4);
  launch.range.local = {3, 0, 0};
  EXPECT_ERROR(PrepareOne(*device_, launch, store_), "does not divide");
  launch.range.local = {0, 0, 0};
  launch.range.global = {0, 1, 1};
  EXPECT_ERROR(PrepareOne(*device_, launch, store_), "global size 0");
}

TEST_F(OpenClDevice, RefusesMemoryOfTheHost) {
  EXPECT_EQ(device_->Allocate(4, ir::MemoryKind::kHost).status().code(),
            StatusCode::kUnimplemented);
}

TEST_F(OpenClDevice, ImportsHostMemoryWhereItIsUnified) {
  alignas(64) float memory[16] = {1, 2, 3};
  const auto imported = device_->Import(memory, sizeof(memory));
  if (!device_->info().unified_memory) {
    EXPECT_EQ(imported.status().code(), StatusCode::kUnimplemented);
    return;
  }
  ASSERT_OK(imported);
  auto step = PrepareOne(*device_, Scale("2", 16), store_);
  ASSERT_OK(step);
  const device::BufferRange range{imported->get(), 0, sizeof(memory)};
  auto stream = device_->CreateStream();
  ASSERT_OK(stream);
  for (const float expected : {2.0f, 20.0f}) {
    ASSERT_OK((*stream)->SynchronizeToDevice(**imported));
    ASSERT_OK((*stream)->Enqueue(**step, std::vector{range, range}));
    ASSERT_OK((*stream)->SynchronizeToHost(**imported));
    const auto event = (*stream)->Record();
    ASSERT_OK(event);
    ASSERT_OK((*event)->Wait());
    EXPECT_EQ(memory[0], expected);
    memory[0] = 10;
  }
}

TEST_F(OpenClDevice, StreamsWaitForEachOther) {
  auto step = PrepareOne(*device_, Scale("2", 4), store_);
  ASSERT_OK(step);
  const auto a = Allocate(16);
  const auto b = Allocate(16);
  std::vector<float> values = {1, 2, 3, 4};
  ASSERT_OK(Write(values, {a.get(), 0, 16}));
  const BufferRange operands[] = {{a.get(), 0, 16}, {b.get(), 0, 16}};
  auto other = *device_->CreateStream();
  ASSERT_OK(other->Enqueue(**step, operands));
  const auto event = *other->Record();
  ASSERT_OK(stream_->WaitFor(*event));
  EXPECT_EQ(Read({b.get(), 0, 16}), (std::vector<float>{2, 4, 6, 8}));
}

// Without memory where programs are kept.
class ThrowingStore final : public BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view) override {
    throw std::bad_alloc();
  }
  void Store(std::string_view, std::string_view) override {}
  void CountBuild() override {}
};

TEST_F(OpenClDevice, AnExceptionOfABuildIsAFailureOfThatBuildOnly) {
  const ir::Action actions[] = {Scale("12", 4), Scale("13", 4), Scale("14", 4)};
  const ir::Action* const steps[] = {&actions[0], &actions[1], &actions[2]};
  ThrowingStore none;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(device_->Prepare(steps, ir::OpRegistry(), none).status().code(),
              StatusCode::kOutOfMemory);
  }
  EXPECT_OK(device_->Prepare(steps, ir::OpRegistry(), store_));
  EXPECT_EQ(store_.builds, 3);
}

TEST_F(OpenClDevice, ThreadsShareOneBuild) {
  std::vector<std::thread> threads;
  std::vector<Status> results(4);
  for (Status& result : results) {
    threads.emplace_back([&] {
      result = PrepareOne(*device_, Scale("11", 4), store_).status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) EXPECT_OK(result);
  EXPECT_EQ(store_.builds, 1);
}

}  // namespace
}  // namespace tim::device
