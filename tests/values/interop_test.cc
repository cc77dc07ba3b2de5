// Values from and to tensors of DLPack, and memory of OpenCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/opencl/driver/cl_api.h"
#include "tim/values/values.h"
#include "values/access.h"
#include "values/device_state.h"

// The declarations of dlpack.h, which come behind ours here.
typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

// A tensor of a producer, who counts what is given back.
struct Lender {
  explicit Lender(std::vector<int64_t> shape_, std::vector<float> data_ = {})
      : shape(std::move(shape_)), data(std::move(data_)) {
    if (data.empty()) {
      data.resize(24);
      std::iota(data.begin(), data.end(), 0.0f);
    }
    managed.dl_tensor = {.data = data.data(),
                         .device = {1, 0},
                         .ndim = static_cast<int32_t>(shape.size()),
                         .dtype = {2, 32, 1},
                         .shape = shape.data(),
                         .strides = nullptr,
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Lender*>(self->manager_ctx)->returned;
    };
  }
  void SetStrides(std::vector<int64_t> strides_) {
    strides = std::move(strides_);
    managed.dl_tensor.strides = strides.data();
  }

  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<float> data;
  DLManagedTensor managed = {};
  std::atomic<int> returned{0};
};

TEST(FromDlpack, UsesDenseMemoryOfTheHostWhereItIs) {
  Lender lender({2, 3});
  {
    Value copy;
    {
      const Value value = FromDlpack(&lender.managed);
      ASSERT_TRUE(value.ok()) << value.error();
      EXPECT_EQ(value.spec().shape, Shape({3, 2}));
      EXPECT_EQ(value.ToPlain().data.get(), lender.data.data());
      copy = value + 1.0f;
      EXPECT_THAT(copy.ToVector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
      EXPECT_EQ(lender.returned, 0);
    }
    EXPECT_EQ(lender.returned, 1);
  }
  EXPECT_EQ(lender.returned, 1);
}

TEST(FromDlpack, TakesOffsetsAndAxesOfOneElement) {
  Lender lender({1, 4});
  lender.SetStrides({77, 1});
  lender.managed.dl_tensor.byte_offset = 3 * sizeof(float);
  const Value value = FromDlpack(&lender.managed);
  EXPECT_EQ(value.ToPlain().data.get(), lender.data.data() + 3);
  EXPECT_THAT(value.ToVector<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(FromDlpack, CopiesWhatIsStridedOnce) {
  Lender lender({3, 2});  // a transposed view of [2, 3]
  lender.SetStrides({1, 3});
  const Value value = FromDlpack(&lender.managed);
  EXPECT_EQ(lender.returned, 1);
  lender.data.assign(24, -1);
  EXPECT_EQ(value.spec().shape, Shape({2, 3}));
  EXPECT_THAT(value.ToVector<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(FromDlpack, CopiesRowsGapsRepeatsAndReversals) {
  Lender gaps({2, 2, 3});
  gaps.SetStrides({12, 4, 1});
  EXPECT_THAT(FromDlpack(&gaps.managed).ToVector<float>(),
              ElementsAre(0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18));
  Lender repeats({2, 3});
  repeats.SetStrides({0, 1});
  EXPECT_THAT(FromDlpack(&repeats.managed).ToVector<float>(),
              ElementsAre(0, 1, 2, 0, 1, 2));
  Lender reversed({4});
  reversed.SetStrides({-1});
  reversed.managed.dl_tensor.byte_offset = 3 * sizeof(float);
  EXPECT_THAT(FromDlpack(&reversed.managed).ToVector<float>(),
              ElementsAre(3, 2, 1, 0));
}

TEST(FromDlpack, CopiesWhatIsNotAligned) {
  std::vector<char> bytes(9);
  const float x[] = {1.5f, -2};
  std::memcpy(bytes.data() + 1, x, sizeof(x));
  Lender lender({2});
  lender.managed.dl_tensor.data = bytes.data() + 1;
  const Value value = FromDlpack(&lender.managed);
  EXPECT_EQ(lender.returned, 1);
  EXPECT_THAT(value.ToVector<float>(), ElementsAre(1.5f, -2));
}

TEST(FromDlpack, TakesScalarsAndNoDeleter) {
  Lender lender({});
  lender.managed.dl_tensor.shape = nullptr;
  lender.managed.deleter = nullptr;
  const Value value = FromDlpack(&lender.managed);
  EXPECT_EQ(value.spec().shape, Shape::Scalar());
  EXPECT_THAT(value.ToVector<float>(), ElementsAre(0));
}

std::string ErrorAfter(const std::function<void(DLTensor&)>& spoil) {
  Lender lender({2, 3});
  spoil(lender.managed.dl_tensor);
  const Value value = FromDlpack(&lender.managed);
  EXPECT_FALSE(value.ok());
  EXPECT_EQ(value.error(), LastError());
  EXPECT_EQ(lender.returned, 0) << "it stays the caller's";
  return value.error();
}

TEST(FromDlpack, RefusesWhatValuesDoNotHave) {
  const auto expect = [](const std::function<void(DLTensor&)>& spoil,
                         const std::string& text) {
    EXPECT_THAT(ErrorAfter(spoil), HasSubstr(text));
  };
  expect([](DLTensor& t) { t.dtype = {5, 64, 1}; }, "complex of 64 bits");
  expect([](DLTensor& t) { t.dtype = {0, 4, 1}; }, "int of 4 bits");
  expect([](DLTensor& t) { t.dtype = {9, 8, 1}; }, "code 9 of 8 bits");
  expect([](DLTensor& t) { t.dtype.lanes = 4; }, "4 lanes");
  expect([](DLTensor& t) { t.device.device_type = 2; }, "device of type 2");
  expect([](DLTensor& t) { t.data = nullptr; }, "data is null");
  expect([](DLTensor& t) { t.shape = nullptr; }, "shape is null");
  expect([](DLTensor& t) { t.ndim = 9; }, "9 axes");
  expect([](DLTensor& t) { t.ndim = -1; }, "-1 axes");
  expect([](DLTensor& t) { t.shape[1] = 0; }, "extent 0 of axis 1");
  expect([](DLTensor& t) { t.shape[0] = -2; }, "extent -2 of axis 0");
  expect([](DLTensor& t) { t.shape[0] = t.shape[1] = INT64_MAX; },
         "has an extent");
  static int64_t far[] = {INT64_MIN, 1};
  expect([](DLTensor& t) { t.strides = far; }, "out of all memory");
  expect([](DLTensor& t) { t.device = {4, 77}; }, "OpenCL");
  EXPECT_THAT(FromDlpack(nullptr).error(), HasSubstr("null"));
}

TEST(ToDlpack, GivesTheBytesAndKeepsThem) {
  DLManagedTensor* tensor = nullptr;
  {
    const Value value =
        Value::Of<float>({3, 2}, {0, 1, 2, 3, 4, 5}).Named("x") + 1.0f;
    const Plain plain = value.ToPlain();
    tensor = ToDlpack<DLManagedTensor>(value);
    ASSERT_NE(tensor, nullptr) << LastError();
    EXPECT_EQ(tensor->dl_tensor.data, plain.data.get());
  }
  const DLTensor& given = tensor->dl_tensor;
  EXPECT_EQ(given.device.device_type, 1);
  EXPECT_EQ(given.byte_offset, 0u);
  ASSERT_EQ(given.ndim, 2);
  EXPECT_THAT(std::vector<int64_t>(given.shape, given.shape + 2),
              ElementsAre(2, 3));
  EXPECT_THAT(std::vector<int64_t>(given.strides, given.strides + 2),
              ElementsAre(3, 1));
  const auto* data = static_cast<const float*>(given.data);
  EXPECT_THAT(std::vector<float>(data, data + 6),
              ElementsAre(1, 2, 3, 4, 5, 6));
  std::thread([&] { tensor->deleter(tensor); }).join();
}

TEST(ToDlpack, BringsEveryTypeBack) {
  const std::vector<std::pair<Type, std::pair<int, int>>> types = {
      {Type::kInt8, {0, 8}},      {Type::kUint8, {1, 8}},
      {Type::kInt16, {0, 16}},    {Type::kUint16, {1, 16}},
      {Type::kInt32, {0, 32}},    {Type::kUint32, {1, 32}},
      {Type::kInt64, {0, 64}},    {Type::kUint64, {1, 64}},
      {Type::kBool8, {6, 8}},     {Type::kFloat16, {2, 16}},
      {Type::kBFloat16, {4, 16}}, {Type::kFloat32, {2, 32}},
      {Type::kFloat64, {2, 64}},
  };
  const std::vector<uint8_t> bytes = {1, 0, 1, 1, 0, 0, 1, 0,
                                      1, 1, 1, 0, 0, 1, 0, 1};
  for (const auto& [type, expected] : types) {
    SCOPED_TRACE(static_cast<int>(type));
    const Value value = Value::Constant(Spec(type, {2}), bytes.data());
    auto* const tensor = ToDlpack(value);
    ASSERT_NE(tensor, nullptr) << LastError();
    EXPECT_EQ(tensor->dl_tensor.dtype.code, expected.first);
    EXPECT_EQ(tensor->dl_tensor.dtype.bits, expected.second);
    EXPECT_EQ(tensor->dl_tensor.dtype.lanes, 1);
    const Value back = FromDlpack(tensor);
    ASSERT_TRUE(back.ok()) << back.error();
    EXPECT_EQ(back.spec().type, type);
    const Plain plain = back.ToPlain();
    EXPECT_EQ(std::memcmp(plain.data.get(), bytes.data(), plain.bytes), 0);
  }
}

TEST(ToDlpack, RefusesWhatDlpackCannotSay) {
  Spec codes(Type::kUint8, {2});
  codes.quantization.kind = 1;
  codes.quantization.scales = {0.5f};
  codes.quantization.zero_points = {3};
  const uint8_t bytes[] = {1, 2};
  EXPECT_EQ(ToDlpack(Value::FromHost(codes, bytes)), nullptr);
  EXPECT_THAT(LastError(), HasSubstr("quantized"));
  EXPECT_EQ(ToDlpack(Value::FromHost(Spec(Type::kInt4, {4}), bytes)), nullptr);
  EXPECT_THAT(LastError(), HasSubstr("int4"));
  EXPECT_EQ(ToDlpack(Value()), nullptr);
  EXPECT_THAT(LastError(), HasSubstr("no value"));
  const Graph graph = Graph::Capture(
      [](const std::vector<Value>& in) -> std::vector<Value> {
        EXPECT_EQ(ToDlpack(in[0]), nullptr);
        return {in[0]};
      },
      {Spec(Type::kFloat32, {2})});
  EXPECT_THAT(graph.error(), HasSubstr("must not look at data"));
}

TEST(OpenCl, IsNotTheHost) {
  const Device host("host");
  EXPECT_EQ(OpenClContext(host), nullptr);
  EXPECT_EQ(OpenClDeviceId(host), nullptr);
  EXPECT_FALSE(ToOpenCl(Value(1.0f)));
  EXPECT_THAT(LastError(), HasSubstr("not on an OpenCL device"));
  int dummy = 0;
  const auto memory = reinterpret_cast<cl_mem>(&dummy);
  EXPECT_THAT(FromOpenCl(host, Spec(Type::kFloat32, {2}), memory).error(),
              HasSubstr("host is no OpenCL device"));
  EXPECT_FALSE(OpenClDevice(nullptr, nullptr).ok());
}

class OnOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_.ok()) GTEST_SKIP() << "no OpenCL: " << LastError();
    id_ = cl::Device(OpenClDeviceId(device_), true);
    context_ = cl::Context(OpenClContext(device_), true);
    queue_ = cl::CommandQueue(context_, id_);
  }

  // 0, 1, 2, ...
  cl::Buffer Counting(size_t floats) {
    std::vector<float> data(floats);
    std::iota(data.begin(), data.end(), 0.0f);
    return cl::Buffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                      floats * sizeof(float), data.data());
  }
  static cl_uint References(const cl::Buffer& buffer) {
    return buffer.getInfo<CL_MEM_REFERENCE_COUNT>();
  }

  const Device device_{"opencl:0"};
  cl::Device id_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

// Half of a buffer begins where Mesa lets memory begin, too.
constexpr int64_t kFloats = 128;
const Spec kVector(Type::kFloat32, {kFloats});

std::vector<float> From(float first) {
  std::vector<float> data(kFloats);
  std::iota(data.begin(), data.end(), first);
  return data;
}

TEST_F(OnOpenCl, BuffersBecomeValuesAndComeBack) {
  cl::Buffer buffer = Counting(2 * kFloats);
  const cl_uint before = References(buffer);
  std::atomic<int> released{0};
  {
    const Value whole =
        FromOpenCl(device_, kVector, buffer(), 0, {}, [&] { ++released; });
    ASSERT_TRUE(whole.ok()) << whole.error();
    EXPECT_EQ(whole.device().spec(), device_.spec());
    const OpenClMemory same = ToOpenCl(whole);
    EXPECT_EQ(same.memory, buffer());
    EXPECT_EQ(same.bytes, kFloats * sizeof(float));
    EXPECT_THAT(whole.ToVector<float>(), ElementsAreArray(From(0)));
    const size_t half = kFloats * sizeof(float);
    const Value part =
        FromOpenCl(device_, kVector, buffer(), half, {}, [&] { ++released; });
    EXPECT_THAT(part.ToVector<float>(), ElementsAreArray(From(kFloats)));
    // A copy: the device wants another beginning.
    const Value odd =
        FromOpenCl(device_, kVector, buffer(), 12, {}, [&] { ++released; });
    EXPECT_THAT(odd.ToVector<float>(), ElementsAreArray(From(3)));
    EXPECT_LT(released, 2);
  }
  device_.Trim();
  EXPECT_EQ(released, 3);
  EXPECT_EQ(References(buffer), before);
}

TEST_F(OnOpenCl, WorkWaitsForEventsAndResultsAreBuffers) {
  cl::Buffer buffer(context_, CL_MEM_READ_WRITE, kFloats * sizeof(float));
  cl::UserEvent begin(context_);
  cl::Event filled;
  const std::vector<cl::Event> after = {begin};
  ASSERT_EQ(queue_.enqueueFillBuffer(buffer, 2.0f, 0, kFloats * sizeof(float),
                                     &after, &filled),
            CL_SUCCESS);
  queue_.flush();
  const Value value = FromOpenCl(device_, kVector, buffer(), 0, {filled()});
  ASSERT_TRUE(value.ok()) << value.error();
  EXPECT_FALSE(value.ready());
  const Value sum = value + value;
  begin.setStatus(CL_COMPLETE);
  const OpenClMemory given = ToOpenCl(sum);
  ASSERT_TRUE(given) << LastError();
  std::vector<float> data(kFloats);
  ASSERT_EQ(clEnqueueReadBuffer(queue_(), given.memory, CL_TRUE, given.offset,
                                given.bytes, data.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_THAT(data, ElementsAreArray(std::vector<float>(kFloats, 4.0f)));
}

TEST_F(OnOpenCl, RefusesWhatDoesNotFit) {
  cl::Buffer buffer = Counting(kFloats);
  int released = 0;
  const auto error = [&](const Spec& spec, cl_mem memory, size_t offset) {
    return FromOpenCl(device_, spec, memory, offset, {}, [&] { ++released; })
        .error();
  };
  EXPECT_THAT(error(kVector, buffer(), 4), HasSubstr("has 512 bytes"));
  EXPECT_THAT(error(kVector, buffer(), SIZE_MAX), HasSubstr("behind the end"));
  EXPECT_THAT(error(kVector, nullptr, 0), HasSubstr("null"));
  EXPECT_THAT(error(Spec(), buffer(), 0), HasSubstr("known extents"));
  cl::Buffer foreign(cl::Context(id_), CL_MEM_READ_WRITE, 512);
  EXPECT_THAT(error(kVector, foreign(), 0), HasSubstr("another context"));
  EXPECT_EQ(released, 0);
}

TEST_F(OnOpenCl, DevicesWorkInContextsOfClients) {
  const cl::Context context(id_);
  const Device device = OpenClDevice(id_(), context());
  ASSERT_TRUE(device.ok()) << LastError();
  EXPECT_EQ(OpenClContext(device), context());
  EXPECT_EQ(OpenClDevice(id_(), context()).spec(), device.spec());
  EXPECT_EQ(OpenClDevice(id_(), context_()).spec(), device_.spec());
  std::vector<float> data = From(-3);
  cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                    kFloats * sizeof(float), data.data());
  const Value negated = Relu(FromOpenCl(device, kVector, buffer()));
  EXPECT_EQ(negated.device().spec(), device.spec());
  data[0] = data[1] = data[2] = 0;
  EXPECT_THAT(negated.ToVector<float>(), ElementsAreArray(data));
}

// The context is the client's: a device that was lost there is opened in it.
TEST_F(OnOpenCl, DevicesAreOpenedAgainInContextsOfClients) {
  const Device before;
  const cl::Context context(id_);
  const Device device = OpenClDevice(id_(), context());
  ASSERT_TRUE(device.ok()) << LastError();
  const std::string spec = device.spec();
  const Value x = Value::Of<float>(Shape({kFloats}), From(1));
  ASSERT_TRUE(Relu(device.Move(x)).Wait());
  ASSERT_TRUE(Device::SetDefault(device));
  const int64_t calls = EagerStats().misses;
  internal::Access::StateOf(device)->SetLost();
  const Device again(spec);
  ASSERT_TRUE(again.ok()) << LastError();
  EXPECT_EQ(EagerStats().misses, calls) << "of the lost device";
  EXPECT_EQ(again.spec(), spec);
  EXPECT_EQ(OpenClContext(again), context());
  EXPECT_EQ(OpenClDevice(id_(), context()).spec(), spec);
  EXPECT_EQ(Relu(x).ToVector<float>(), From(1));
  EXPECT_EQ(Relu(x).device().spec(), spec) << "the default is the device, too";
  internal::Access::StateOf(again)->SetLost();
  EXPECT_EQ(OpenClDevice(id_(), context()).spec(), spec);
  EXPECT_TRUE(Device::SetDefault(before));
}

TEST_F(OnOpenCl, MemoryGoesThroughDlpack) {
  const Value value = device_.Move(Value::Of<float>(Shape({kFloats}), From(1)));
  auto* const tensor = ToDlpack(value);
  ASSERT_NE(tensor, nullptr) << LastError();
  EXPECT_EQ(tensor->dl_tensor.device.device_type, dlpack::kOpenCl);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 0);
  const Value back = FromDlpack(tensor);
  ASSERT_TRUE(back.ok()) << back.error();
  EXPECT_EQ(back.device().spec(), device_.spec());
  EXPECT_THAT((back + value).ToVector<float>()[1], 4.0f);
  auto* const host = ToDlpack(device_.ToHost(value));
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->dl_tensor.device.device_type, dlpack::kCpu);
  host->deleter(host);
}

}  // namespace
}  // namespace tim::values
