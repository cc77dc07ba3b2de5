// Image parameters of users' kernels, lowered to bounds-checked memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/kernels/test_launcher.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::DataType;
using testing::UserKernel;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

class UserImages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  }
};

// A kernel over (in, out) whose body knows x, y and the coordinate p.
std::string PlaneKernel(const std::string& body) {
  return "__kernel void f(__read_only image2d_t in,\n"
         "                __write_only image2d_t out) {\n"
         "  const int x = get_global_id(0), y = get_global_id(1);\n"
         "  const int2 p = (int2)(x, y);\n" +
         body + "}\n";
}

// What `body` makes of a float image, over a range that overruns it.
Floats RunPlane(const std::string& body, const std::vector<int64_t>& dims,
                const Floats& in) {
  UserKernel kernel(PlaneKernel(body));
  kernel.In(DataType::kFloat32, dims, in).Out(DataType::kFloat32, dims);
  EXPECT_OK(kernel.Sizes({8, 8}, {4, 4}).Run());
  return kernel.Operand<float>(1);
}

const Floats kSix = {1, 2, 3, 4, 5, 6};

TEST_F(UserImages, GlobalSizesMayOverrun) {
  EXPECT_EQ(RunPlane("  write_imagef(out, p, read_imagef(in, p) * 2);\n",
                     {3, 2}, kSix),
            (Floats{2, 4, 6, 8, 10, 12}));
}

TEST_F(UserImages, ReadsClampToTheEdge) {
  EXPECT_EQ(RunPlane("  write_imagef(out, p, read_imagef(in, p - 1));\n",
                     {3, 2}, kSix),
            (Floats{1, 1, 2, 1, 1, 2}));
  EXPECT_EQ(RunPlane("  write_imagef(out, p,\n"
                     "      read_imagef(in, (int2)(INT_MAX, INT_MIN)));\n",
                     {3, 2}, kSix),
            Floats(6, 3));
}

TEST_F(UserImages, WritesOutsideAreDropped) {
  EXPECT_EQ(RunPlane("  write_imagef(out, p, 0.0f);\n"
                     "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
                     "  write_imagef(out, p + (int2)(1, 0), (float4)(x + 1));\n"
                     "  write_imagef(out, (int2)(-1, 0), (float4)(9));\n"
                     "  write_imagef(out, (int2)(0, INT_MIN), (float4)(9));\n",
                     {3, 1}, {1, 2, 3}),
            (Floats{0, 1, 2}));
}

TEST_F(UserImages, ReadsGiveOneElementAndAlphaOne) {
  EXPECT_EQ(RunPlane("  const float4 v = read_imagef(in, p);\n"
                     "  write_imagef(out, p, v.x + v.y * 10 + v.z * 100 + \n"
                     "                           v.w * 1000);\n",
                     {3, 2}, kSix),
            (Floats{1001, 1002, 1003, 1004, 1005, 1006}));
}

TEST_F(UserImages, WriteOnlyImagesCanBeRead) {
  EXPECT_EQ(RunPlane("  write_imagef(out, p, read_imagef(in, p));\n"
                     "  write_imagef(out, p, read_imagef(out, p) + 1);\n",
                     {3, 2}, kSix),
            (Floats{2, 3, 4, 5, 6, 7}));
}

TEST_F(UserImages, ScalarsCanBeWritten) {
  EXPECT_EQ(RunPlane("  write_imagef(out, p, 1.5f);\n"
                     "  if (x == 1) write_imagef(out, p, 2);\n"
                     "  if (x == 2) write_imagef(out, p, 3u);\n"
                     "  if (x == 3) write_imagei(out, p, -4);\n"
                     "  if (x == 4) write_imageui(out, p, 5);\n",
                     {5, 1}, {0, 0, 0, 0, 0}),
            (Floats{1.5, 2, 3, -4, 5}));
}

TEST_F(UserImages, CoordinatesOfFourIgnoreTheLayer) {
  EXPECT_EQ(RunPlane("  const int4 q = (int4)(x, y, 7, 9);\n"
                     "  write_imagef(out, q, read_imagef(in, q));\n",
                     {3, 2}, kSix),
            kSix);
}

TEST_F(UserImages, SamplersTakeTheTexelThatHoldsTheCoordinate) {
  const std::string sampler =
      "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE |\n"
      "                      CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n";
  EXPECT_EQ(RunPlane(sampler + "  write_imagef(out, p, read_imagef(in, s, p));",
                     {3, 2}, kSix),
            kSix);
  EXPECT_EQ(
      RunPlane(sampler + "  const float2 q = (float2)(x - 0.1f, y + 0.9f);\n"
                         "  write_imagef(out, p, read_imagef(in, s, q));\n",
               {3, 2}, kSix),
      (Floats{1, 1, 2, 4, 4, 5}));
}

TEST_F(UserImages, ExtentsCanBeAsked) {
  EXPECT_EQ(RunPlane("  const int2 d = get_image_dim(in);\n"
                     "  write_imagef(out, p, get_image_width(in) +\n"
                     "      10 * get_image_height(out) + 100 * d.x +\n"
                     "      1000 * d.y);\n",
                     {3, 2}, kSix),
            Floats(6, 2323));
}

TEST_F(UserImages, HelpersMacrosAndCommentsMayNameImages) {
  UserKernel kernel(
      "// image2d_t and __read_only in a comment\n"
      "#define IMAGE __read_only image2d_t\n"
      "float4 twice(IMAGE in, const int2 p) { return read_imagef(in, p) * 2; "
      "}\n"
      "static void put(write_only image2d_t out, int2 p, float4 v) {\n"
      "  write_imagef(out, p, v);\n"
      "}\n"
      "kernel void f(IMAGE in, write_only image2d_t out) {\n"
      "  const int2 p = {get_global_id(0), get_global_id(1)};\n"
      "  put(out, p, twice(in, p));\n"
      "}\n");
  kernel.In(DataType::kFloat32, {3, 2}, kSix).Out(DataType::kFloat32, {3, 2});
  ASSERT_OK(kernel.Sizes({4, 4}).Run());
  EXPECT_EQ(kernel.Operand<float>(1), (Floats{2, 4, 6, 8, 10, 12}));
}

TEST_F(UserImages, OptionsMayNameThem) {
  UserKernel kernel(
      "__kernel void f(T in, T out) {\n"
      "  const int2 p = (int2)(get_global_id(0), 0);\n"
      "  write_imagef(out, p, read_imagef(in, p));\n"
      "}\n");
  kernel.In(DataType::kFloat32, {3}, Floats{1, 2, 3});
  kernel.Out(DataType::kFloat32, {3}).Options("-DT=image2d_array_t");
  ASSERT_OK(kernel.Sizes({4}).Run());
  EXPECT_EQ(kernel.Operand<float>(1), (Floats{1, 2, 3}));
}

TEST_F(UserImages, MixWithPointersAndScalars) {
  UserKernel kernel(
      "__kernel void f(image2d_t in, __global const float* b,\n"
      "                __global float* out, float scale) {\n"
      "  const int x = get_global_id(0);\n"
      "  out[x] = read_imagef(in, (int2)(x, 0)).x * scale + b[x];\n"
      "}\n");
  kernel.In(DataType::kFloat32, {3}, Floats{1, 2, 3});
  kernel.In(DataType::kFloat32, {3}, Floats{10, 20, 30});
  kernel.Out(DataType::kFloat32, {3}).Scalar(2.0, "float");
  ASSERT_OK(kernel.Sizes({3}).Run());
  EXPECT_EQ(kernel.Operand<float>(2), (Floats{12, 24, 36}));
}

// Codes of a type written by one value through each write function.
template <typename T>
std::vector<T> Written(DataType type, const std::string& write,
                       const std::string& values, int64_t count) {
  UserKernel kernel(
      "__kernel void f(__write_only image2d_t out) {\n"
      "  const int x = get_global_id(0);\n" +
      values + "  " + write + "(out, (int2)(x, 0), values[x]);\n}\n");
  kernel.Out(type, {count});
  EXPECT_OK(kernel.Sizes({count}).Run());
  return kernel.Operand<T>(0);
}

TEST_F(UserImages, WrittenFloatsRoundToEvenAndSaturate) {
  const std::string values =
      "  const float values[5] = {2.5f, 3.5f, -1.5f, 1e30f, -1e30f};\n";
  EXPECT_EQ(Written<int8_t>(DataType::kInt8, "write_imagef", values, 5),
            (std::vector<int8_t>{2, 4, -2, 127, -128}));
  EXPECT_EQ(Written<uint8_t>(DataType::kUint8, "write_imagef", values, 5),
            (std::vector<uint8_t>{2, 4, 0, 255, 0}));
  EXPECT_EQ(Written<int16_t>(DataType::kInt16, "write_imagef", values, 5),
            (std::vector<int16_t>{2, 4, -2, 32767, -32768}));
  EXPECT_EQ(Written<uint16_t>(DataType::kUint16, "write_imagef", values, 5),
            (std::vector<uint16_t>{2, 4, 0, 65535, 0}));
  EXPECT_EQ(Written<int32_t>(DataType::kInt32, "write_imagef", values, 5),
            (Ints{2, 4, -2, INT32_MAX, INT32_MIN}));
  EXPECT_EQ(Written<uint32_t>(DataType::kUint32, "write_imagef", values, 5),
            (std::vector<uint32_t>{2, 4, 0, UINT32_MAX, 0}));
  EXPECT_EQ(Written<int64_t>(DataType::kInt64, "write_imagef", values, 5),
            (std::vector<int64_t>{2, 4, -2, INT64_MAX, INT64_MIN}));
  EXPECT_EQ(Written<uint8_t>(DataType::kBool8, "write_imagef", values, 5),
            (std::vector<uint8_t>{1, 1, 1, 1, 1}));
}

TEST_F(UserImages, WrittenIntegersSaturate) {
  const std::string ints =
      "  const int values[5] = {0, -5, 200, 70000, INT_MIN};\n";
  EXPECT_EQ(Written<int8_t>(DataType::kInt8, "write_imagei", ints, 5),
            (std::vector<int8_t>{0, -5, 127, 127, -128}));
  EXPECT_EQ(Written<uint16_t>(DataType::kUint16, "write_imagei", ints, 5),
            (std::vector<uint16_t>{0, 0, 200, 65535, 0}));
  EXPECT_EQ(Written<float>(DataType::kFloat32, "write_imagei", ints, 5),
            (Floats{0, -5, 200, 70000, -0x1p31f}));
  EXPECT_EQ(Written<uint8_t>(DataType::kBool8, "write_imagei", ints, 5),
            (std::vector<uint8_t>{0, 1, 1, 1, 1}));
  const std::string uints = "  const uint values[3] = {0, 200, UINT_MAX};\n";
  EXPECT_EQ(Written<int8_t>(DataType::kInt8, "write_imageui", uints, 3),
            (std::vector<int8_t>{0, 127, 127}));
  EXPECT_EQ(Written<uint32_t>(DataType::kUint32, "write_imageui", uints, 3),
            (std::vector<uint32_t>{0, 200, UINT32_MAX}));
  // 65520 is the first number that rounds to the half infinity.
  EXPECT_EQ(Written<uint16_t>(DataType::kFloat16, "write_imageui", uints, 3),
            (std::vector<uint16_t>{0, 0x5a40, 0x7c00}));
}

TEST_F(UserImages, ReadsConvertCodes) {
  UserKernel kernel(
      "__kernel void f(image2d_t bytes, image2d_t wide, image2d_t reals,\n"
      "                __global float* out, __global int* codes) {\n"
      "  const int2 p = (int2)(get_global_id(0), 0);\n"
      "  out[p.x] = read_imagef(bytes, p).x;\n"
      "  codes[p.x] = read_imagei(wide, p).x;\n"
      "  codes[p.x + 3] = read_imagei(reals, p).x;\n"
      "  codes[p.x + 6] = read_imageui(reals, p).x;\n"
      "}\n");
  const int64_t big = int64_t{1} << 40;
  kernel.In(DataType::kUint8, {3}, std::vector<uint8_t>{0, 128, 255});
  kernel.In(DataType::kInt64, {3}, std::vector<int64_t>{big, -big, -7});
  kernel.In(DataType::kFloat32, {3}, Floats{2.5f, -3.5f, 1e20f});
  kernel.Out(DataType::kFloat32, {3}).Out(DataType::kInt32, {9});
  ASSERT_OK(kernel.Sizes({3}).Run());
  EXPECT_EQ(kernel.Operand<float>(3), (Floats{0, 128, 255}));
  EXPECT_EQ(kernel.Operand<int32_t>(4),
            (Ints{INT32_MAX, INT32_MIN, -7, 2, -4, INT32_MAX, 2, 0, -1}));
}

TEST_F(UserImages, WhatNoImageShowsIsRefused) {
  const std::string text = "__kernel void f(image2d_t p) { }\n";
  EXPECT_ERROR(UserKernel(text).Out(DataType::kFloat32, {2, 2, 2}).Run(),
               "kernel 'f', parameter 0 'image2d_t p' with output 0 float32 "
               "[2, 2, 2]: an image2d_t has one layer, the tensor 2; write "
               "image2d_array_t\n  kernel:   f(image2d_t p)");
  EXPECT_OK(UserKernel(text).Out(DataType::kFloat32, {2, 2, 1, 1}).Run());
  EXPECT_ERROR(UserKernel(text).Out(DataType::kInt4, {2, 2}).Run(),
               "images have no elements of int4");
  EXPECT_ERROR(UserKernel(text).Out(DataType::kFloat32, {2, 0}).Run(),
               "an image has 1 to 2147483647 columns, rows and layers");
}

TEST_F(UserImages, ImagesThatOverflowAreRefused) {
  const std::string text = "__kernel void f(image2d_array_t p) { }\n";
  const int64_t big = int64_t{1} << 31;
  ir::UserLaunch launch = UserKernel(text).Out(DataType::kInt8, {1}).launch();
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{big},
                                           {1, 1, big / 2, 2},
                                           {big - 1, big - 1, big - 1}}) {
    std::get<ir::UserTensorArg>(launch.arguments[0]).dims = dims;
    std::vector<std::byte> bytes(1);
    EXPECT_ERROR(testing::RunLaunch(launch, {{&bytes, true}}),
                 "an image has 1 to 2147483647 columns, rows and layers");
  }
}

}  // namespace
}  // namespace tim::device
