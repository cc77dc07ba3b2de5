// Pools of dense planes by rows against eval: every window, edge and type.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "pool2d_rows";
constexpr int64_t kMax = 0;
constexpr int64_t kAvg = 1;
constexpr int64_t kL2 = 2;
constexpr int64_t kAvgAndroid = 3;
constexpr int64_t kAvgPadded = 4;
constexpr int64_t kTypes[] = {kMax, kAvg, kAvgAndroid, kAvgPadded};

struct Windows {
  Ints ksize;
  Ints stride;
  Ints pad = {0, 0, 0, 0};
};

Result<TestNode> Pool(const TensorDesc& input, int64_t type,
                      const Windows& windows, TensorDesc output) {
  output.shape = ir::Shape();
  return MakeNode("tim.Pool2d",
                  {{"type", type},
                   {"ksize", windows.ksize},
                   {"stride", windows.stride},
                   {"pad", windows.pad},
                   {ir::kRoundType, int64_t{0}}},
                  {input}, {output});
}

// The kernel alone against eval, bit for bit.
Status Compare(const TestNode& node, const std::vector<TensorData>& inputs) {
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
  TIM_ASSIGN_OR_RETURN(const auto actual, RunKernel(node, kKernel, 0, inputs));
  return CompareTensors(expected[0], actual[0]);
}

TensorDesc Like(const TensorDesc& codes, Ints dims) {
  TensorDesc out = codes;
  out.shape = ir::Shape(std::move(dims));
  return out;
}

TensorDesc Quantized(DataType type, float scale, int32_t zero) {
  return Desc(type, {1}, scale, zero);
}

struct Operands {
  TensorDesc from;
  TensorDesc to;
};

// Vectors that end with a row, rows shorter than one, windows in the padding
// alone, steps that leave columns out.
const Windows kWindows[] = {
    {{1, 1}, {1, 1}},
    {{1, 2}, {2, 1}, {1, 0, 0, 1}},
    {{2, 3}, {1, 2}, {1, 1, 2, 0}},
    {{3, 3}, {2, 2}, {1, 1, 1, 1}},
    {{16, 2}, {1, 3}, {15, 9, 1, 1}},
    {{15, 3}, {2, 1}, {0, 14, 2, 2}},
    {{9, 4}, {16, 4}, {8, 3, 0, 3}},
};

void ExpectEvalForEveryWindow(const Operands& operands, int64_t type,
                              std::mt19937& rng) {
  Sample sample(3);
  for (const Windows& windows : kWindows) {
    for (const int64_t width : {1, 7, 17, 33, 64}) {
      if (!sample.Takes()) continue;
      const auto node = Pool(Like(operands.from, {width, 5, 2, 2}), type,
                             windows, operands.to);
      ASSERT_OK(node);
      EXPECT_OK(Compare(*node, RandomInputs(*node, rng)))
          << "type " << type << " width " << width << " size "
          << windows.ksize[0] << " of " << node->input(0).ToString();
    }
  }
}

TEST(Pool2dRows, EqualsEvalForEveryWindow) {
  std::mt19937 rng = SeededRng(1);
  const Operands floats = {Desc(DataType::kFloat32, {1}),
                           Desc(DataType::kFloat32, {1})};
  const Operands codes = {Quantized(DataType::kUint8, 0.05f, 121),
                          Quantized(DataType::kUint8, 0.04f, 3)};
  ExpectEvalForEveryWindow(floats, kMax, rng);
  ExpectEvalForEveryWindow(floats, kAvgAndroid, rng);
  ExpectEvalForEveryWindow(codes, kMax, rng);
  ExpectEvalForEveryWindow(codes, kAvgPadded, rng);
}

// More neighbours than a work-item makes.
TEST(Pool2dRows, EqualsEvalForLongRows) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t width : {256, 258, 600}) {
    for (const int64_t stride : {1, 2, 3}) {
      const auto node = Pool(Desc(DataType::kFloat32, {width, 3, 3}), kAvg,
                             {{3, 3}, {stride, 1}, {1, 1, 1, 1}},
                             Desc(DataType::kFloat32, {1}));
      ASSERT_OK(node);
      EXPECT_OK(Compare(*node, RandomInputs(*node, rng)))
          << width << " by steps of " << stride;
    }
  }
}

// A work-item makes several rows of many planes.
TEST(Pool2dRows, EqualsEvalForManyPlanes) {
  std::mt19937 rng = SeededRng(5);
  const TensorDesc u8 = Desc(DataType::kUint8, {1}, 0.1f, 3);
  for (const TensorDesc& desc : {Desc(DataType::kFloat32, {1}), u8}) {
    const auto node = Pool(Like(desc, {21, 14, 150, 2}), kAvgAndroid,
                           {{3, 3}, {2, 2}, {1, 1, 1, 1}}, desc);
    ASSERT_OK(node);
    EXPECT_OK(Compare(*node, RandomInputs(*node, rng)));
  }
}

// Means of images that are one window: 16 of 16 cells, fewer of each, and what
// is no whole vector of either.
TEST(Pool2dRows, EqualsEvalForWholePlanes) {
  std::mt19937 rng = SeededRng(6);
  Sample sample(7);
  const Operands all[] = {
      {Desc(DataType::kFloat32, {1}), Desc(DataType::kFloat32, {1})},
      {Quantized(DataType::kUint8, 0.05f, 121),
       Quantized(DataType::kUint8, 0.04f, 3)},
      {Quantized(DataType::kInt8, 0.3f, -128),
       Quantized(DataType::kUint8, 0.001f, 255)}};
  const Ints shapes[] = {{4, 4, 16},    {7, 7, 17},  {16, 3, 13, 3},
                         {5, 4, 64},    {1, 16, 33}, {3, 6, 31, 2},
                         {8, 8, 40, 5}, {3, 5, 40},  {7, 7, 15}};
  for (const Operands& operands : all) {
    for (const int64_t type : kTypes) {
      for (const Ints& shape : shapes) {
        for (const Windows& windows :
             {Windows{{shape[0], shape[1]}, {1, 1}},
              Windows{{shape[0], shape[1]}, {2, 3}, {0, 1, 0, 2}}}) {
          if (!sample.Takes()) continue;
          const auto node =
              Pool(Like(operands.from, shape), type, windows, operands.to);
          ASSERT_OK(node);
          EXPECT_OK(Compare(*node, RandomInputs(*node, rng)))
              << "type " << type << " of " << node->input(0).ToString();
        }
      }
    }
  }
}

TEST(Pool2dRows, EqualsEvalForEveryQuantization) {
  std::mt19937 rng = SeededRng(3);
  const auto u8 = DataType::kUint8;
  const auto i8 = DataType::kInt8;
  // Equal codes, extreme zero points, a ratio above 1, one that no limit of
  // units holds, tiny ones, no quantization.
  const Operands all[] = {
      {Quantized(u8, 0.05f, 131), Quantized(u8, 0.05f, 131)},
      {Quantized(i8, 0.05f, -128), Quantized(i8, 0.05f, -128)},
      {Quantized(u8, 0.05f, 0), Quantized(u8, 0.05f, 255)},
      {Quantized(i8, 0.05f, 127), Quantized(u8, 0.031f, 4)},
      {Quantized(u8, 0.3f, 255), Quantized(i8, 0.01f, -128)},
      {Quantized(u8, 40.0f, 9), Quantized(i8, 0.001f, 5)},
      {Quantized(u8, 1e-4f, 9), Quantized(u8, 2.0f, 10)},
      {Desc(u8, {1}), Desc(u8, {1})},
      {Desc(i8, {1}), Quantized(i8, 0.7f, 3)},
  };
  int mean = 0;
  for (const Operands& codes : all) {
    mean = mean % 3 + 1;  // One kind after the other.
    for (const int64_t type : {kMax, kTypes[mean]}) {
      const auto node = Pool(Like(codes.from, {37, 6, 3, 2}), type,
                             {{2, 2}, {2, 2}, {2, 4, 2, 4}}, codes.to);
      ASSERT_OK(node);
      EXPECT_OK(Compare(*node, RandomInputs(*node, rng)))
          << type << node->input(0).ToString() << node->output().ToString();
    }
  }
}

TEST(Pool2dRows, NaNReachesEveryWindowThatHasIt) {
  std::mt19937 rng = SeededRng(4);
  for (const int64_t type : kTypes) {
    for (const int64_t stride : {1, 2, 3}) {
      const auto node = Pool(Desc(DataType::kFloat32, {41, 5, 4}), type,
                             {{3, 3}, {stride, 2}, {1, 1, 1, 1}},
                             Desc(DataType::kFloat32, {1}));
      ASSERT_OK(node);
      std::vector<float> values(41 * 5 * 4);
      for (float& value : values) {
        value = rng() % 8 == 0    ? std::numeric_limits<float>::quiet_NaN()
                : rng() % 16 == 0 ? -INFINITY
                                  : static_cast<float>(rng() % 100) - 50;
      }
      EXPECT_OK(Compare(*node, {MakeTensor<float>(node->input(0), values)}));
    }
  }
}

TEST(Pool2dRows, Refusals) {
  const Windows one = {{1, 1}, {1, 1}};
  const auto f32 = Desc(DataType::kFloat32, {40, 40, 2});
  const auto u8 = Desc(DataType::kUint8, {40, 40, 2}, 0.1f, 3);
  const auto refusal = [&](const TensorDesc& from, int64_t type,
                           const TensorDesc& to, const Windows& windows,
                           ir::DeviceClass device = ir::DeviceClass::kCpu) {
    const auto node = Pool(from, type, windows, to);
    if (!node.ok()) return node.status();
    return Supports(*node, kKernel, TestDevice(device));
  };
  EXPECT_OK(refusal(f32, kMax, f32, one));
  EXPECT_OK(refusal(u8, kMax, u8, one));
  EXPECT_ERROR(refusal(u8, kMax, f32, one),
               "float32, takes int8 and uint8 only");
  EXPECT_ERROR(refusal(f32, kMax, u8, one),
               "float32, takes int8 and uint8 only");
  EXPECT_ERROR(refusal(f32, kL2, f32, one), "takes no L2 pooling");
  EXPECT_ERROR(refusal(f32, kMax, f32, {{17, 1}, {1, 1}}),
               "windows 17 wide by steps of 1, takes at most 16 and 16");
  EXPECT_ERROR(refusal(f32, kMax, f32, {{1, 1}, {17, 1}}),
               "windows 1 wide by steps of 17, takes at most 16 and 16");
  EXPECT_ERROR(refusal(Like(Quantized(DataType::kUint8, 0.1f, -1), {4, 4, 3}),
                       kMax, u8, one),
               "a zero point, -1, that is no code");
  EXPECT_ERROR(
      refusal(u8, kAvg, u8, {{16, 1 << 20}, {1, 1}, {0, 0, 1 << 20, 0}}),
      "windows of 16x1048576, takes at most 4194304 cells");
  EXPECT_ERROR(refusal(f32, kMax, f32, one, ir::DeviceClass::kGpu),
               "for CPU devices; this one takes kernels of class gpu");
}

}  // namespace
}  // namespace tim::testing
