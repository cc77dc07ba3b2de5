// Images and pointers show the same elements, for all types and ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/half.h"
#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/long_tests.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::UserKernel;

struct ElementType {
  DataType type;
  const char* name;    ///< Of the elements behind a pointer.
  const char* suffix;  ///< Of the image functions.
};

constexpr ElementType kTypes[] = {
    {DataType::kFloat32, "float", "f"}, {DataType::kFloat16, "ushort", "f"},
    {DataType::kInt8, "char", "i"},     {DataType::kUint8, "uchar", "ui"},
    {DataType::kInt16, "short", "i"},   {DataType::kUint16, "ushort", "ui"},
    {DataType::kInt32, "int", "i"},     {DataType::kUint32, "uint", "ui"},
    {DataType::kInt64, "long", "i"},    {DataType::kBool8, "bool", "ui"},
};

// Turned by 180 degrees in every plane and through the layers.
constexpr char kPointers[] =
    "__kernel void f(__global const T* in, __global T* out, int width,\n"
    "                int height, int layers) {\n"
    "  const int x = get_global_id(0), y = get_global_id(1);\n"
    "  const int z = get_global_id(2);\n"
    "  if (x >= width || y >= height || z >= layers) return;\n"
    "  const int i = (z * height + y) * width + x;\n"
    "  out[width * height * layers - 1 - i] = in[i];\n"
    "}\n";
constexpr char kImages[] =
    "__kernel void f(__read_only image2d_array_t in,\n"
    "                __write_only image2d_array_t out, int width,\n"
    "                int height, int layers) {\n"
    "  const int4 p = (int4)(get_global_id(0), get_global_id(1),\n"
    "                        get_global_id(2), 0);\n"
    "  const int4 last = (int4)(get_image_dim(in) - 1,\n"
    "                           (int)get_image_array_size(in) - 1, 0);\n"
    "  WRITE(out, last - p, READ(in, p));\n"
    "}\n";

std::vector<uint8_t> RandomBytes(DataType type, int64_t elements,
                                 std::mt19937& random) {
  const int64_t bytes = elements * ir::Info(type).bits / 8;
  std::vector<uint8_t> out(bytes);
  for (uint8_t& byte : out) byte = random() % 256;
  for (int64_t i = 0; i < elements; ++i) {
    const float real = static_cast<int>(random() % 2000) * 0.25f - 250;
    const uint16_t half = FloatToHalf(real);
    const int64_t wide = static_cast<int32_t>(random());
    if (type == DataType::kFloat32) std::memcpy(&out[4 * i], &real, 4);
    if (type == DataType::kFloat16) std::memcpy(&out[2 * i], &half, 2);
    if (type == DataType::kInt64) std::memcpy(&out[8 * i], &wide, 8);
    if (type == DataType::kBool8) out[i] %= 2;
  }
  return out;
}

void ExpectSame(const ElementType& type, const std::vector<int64_t>& dims,
                std::mt19937& random) {
  int64_t extents[3] = {1, 1, 1};
  for (size_t i = 0; i < dims.size(); ++i) {
    extents[std::min<size_t>(i, 2)] *= dims[i];
  }
  const auto bytes =
      RandomBytes(type.type, extents[0] * extents[1] * extents[2], random);
  std::vector<std::vector<uint8_t>> outputs;
  for (const char* text : {kPointers, kImages}) {
    UserKernel kernel(text);
    kernel.In(type.type, dims, bytes).Out(type.type, dims);
    for (const int64_t extent : extents) kernel.Scalar(extent, "int");
    kernel.Options(StrCat("-DT=", type.name, " -DREAD=read_image", type.suffix,
                          " -DWRITE=write_image", type.suffix));
    // Past the end in every dimension; one local size, so that drivers that
    // compile for each do it once.
    kernel.Sizes({extents[0] + 3, extents[1] + 2, extents[2] + 1}, {1, 1, 1});
    ASSERT_OK(kernel.Run()) << ToString(type.type);
    outputs.push_back(kernel.Operand<uint8_t>(1));
  }
  EXPECT_EQ(outputs[0], outputs[1])
      << ToString(type.type) << " [" << StrJoin(dims, ", ") << "]";
}

class UserImageTypes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

TEST_F(UserImageTypes, ImagesEqualPointersInEveryTypeAndRank) {
  testing::Sample sample(3);
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  SCOPED_TRACE(StrCat("seed ", kSeed));
  for (const ElementType& type : kTypes) {
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{1},
                                           {33},
                                           {31, 3},
                                           {5, 1},
                                           {7, 4, 3},
                                           {3, 2, 2, 2},
                                           {2, 3, 1, 2, 2}}) {
      if (!sample.Takes()) continue;
      ExpectSame(type, dims, random);
    }
  }
}

TEST_F(UserImageTypes, PreparedStepsDoNotShareAnImage) {
  constexpr int kFloats = 1000;
  const auto opencl = CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(opencl);
  testing::PlanBuilder plan({CreateHostDevice(), *opencl}, kFloats);
  UserKernel kernel(
      "__kernel void f(image2d_t in, image2d_t out) {\n"
      "  const int2 p = (int2)(get_global_id(0), 0);\n"
      "  write_imagef(out, p, read_imagef(in, p) + 1);\n"
      "}\n");
  const testing::Floats nothing(kFloats);
  kernel.In(DataType::kFloat32, {kFloats}, nothing);
  kernel.Out(DataType::kFloat32, {kFloats}).Sizes({kFloats});
  const int in = plan.Temporary(1);
  const int middle = plan.Temporary(1);
  const int out = plan.Temporary(1);
  plan.Copy(1, plan.Input(), in);
  plan.Launch(1, kernel.launch(), {in, middle});
  plan.Launch(1, kernel.launch(), {middle, out});
  plan.Copy(1, out, plan.Output());
  const auto executable = testing::CompilePlan(plan);
  ASSERT_OK(executable);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const auto context = runtime::ExecutionContext::Create(*executable);
      ASSERT_OK(context);
      for (int run = 0; run < 20; ++run) {
        const auto value = static_cast<float>(100 * i + run);
        testing::ExpectRun(**context, testing::Floats(kFloats, value),
                           testing::Floats(kFloats, value + 2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tim::device
