#include <gtest/gtest.h>

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

constexpr char kKernel[] = "pool2d_nchw16c_codes";
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

// The kernel alone against eval, bit for bit, in every layout.
Status Compare(const TestNode& node, std::mt19937& rng) {
  const auto inputs = RandomInputs(node, rng);
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
  for (int layout = 0; layout < LayoutCount(node, kKernel); ++layout) {
    TIM_ASSIGN_OR_RETURN(const auto actual,
                         RunKernel(node, kKernel, layout, inputs));
    TIM_RETURN_IF_ERROR(CompareTensors(expected[0], actual[0])
                            .WithContext(StrCat("layout ", layout)));
  }
  return OkStatus();
}

TensorDesc Like(const TensorDesc& codes, Ints dims) {
  TensorDesc out = codes;
  out.shape = ir::Shape(std::move(dims));
  return out;
}

TensorDesc Quantized(DataType type, float scale, int32_t zero) {
  return Desc(type, {1}, scale, zero);
}

struct Codes2 {
  TensorDesc from;
  TensorDesc to;
};

// Equal codes, other zero points, extreme ones, a ratio above 1 and tiny ones,
// results that saturate, no quantization.
std::vector<Codes2> Quantizations() {
  const auto u8 = DataType::kUint8;
  const auto i8 = DataType::kInt8;
  return {
      {Quantized(u8, 0.05f, 131), Quantized(u8, 0.05f, 131)},
      {Quantized(i8, 0.05f, -128), Quantized(i8, 0.05f, -128)},
      {Quantized(u8, 0.05f, 0), Quantized(u8, 0.05f, 255)},
      {Quantized(i8, 0.05f, 127), Quantized(u8, 0.031f, 4)},
      {Quantized(u8, 0.3f, 255), Quantized(i8, 0.01f, -128)},
      {Quantized(u8, 1e-4f, 9), Quantized(u8, 2.0f, 10)},
      {Desc(u8, {1}), Desc(u8, {1})},
      {Desc(i8, {1}), Quantized(i8, 0.7f, 3)},
  };
}

TEST(Pool2dCodes, EqualEvalForEveryQuantization) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t type : kTypes) {
    for (const Codes2& codes : Quantizations()) {
      for (const int64_t channels : {16, 19}) {
        if (!sample.Takes()) continue;
        const auto node = Pool(Like(codes.from, {11, 6, channels, 2}), type,
                               {{3, 3}, {2, 2}, {1, 1, 1, 1}}, codes.to);
        ASSERT_OK(node);
        EXPECT_OK(Compare(*node, rng))
            << type << node->input(0).ToString() << node->output().ToString();
      }
    }
  }
}

TEST(Pool2dCodes, EqualEvalForEveryWindow) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(7);
  const Codes2 codes = {Quantized(DataType::kUint8, 0.05f, 121),
                        Quantized(DataType::kUint8, 0.04f, 3)};
  for (const int64_t type : kTypes) {
    for (const int64_t width : {1, 7, 8, 9, 24, 33}) {
      for (const Windows& windows :
           {Windows{{1, 1}, {1, 1}}, Windows{{2, 3}, {1, 2}, {1, 1, 2, 0}},
            Windows{{3, 3}, {1, 1}, {1, 1, 1, 1}},
            Windows{{5, 2}, {3, 1}, {4, 4, 1, 0}},
            Windows{{9, 4}, {4, 4}, {8, 3, 0, 3}}}) {
        if (!sample.Takes()) continue;
        const auto node =
            Pool(Like(codes.from, {width, 5, 17, 1}), type, windows, codes.to);
        ASSERT_OK(node);
        EXPECT_OK(Compare(*node, rng))
            << type << " width " << width << " size " << windows.ksize[0];
      }
    }
  }
}

// 112 * 112 codes of 255 do not fit 16 bits.
TEST(Pool2dCodes, EqualEvalForWholeImages) {
  std::mt19937 rng = SeededRng(3);
  for (const Ints& size : {Ints{7, 7}, Ints{1, 1}, Ints{112, 112}}) {
    for (const int64_t type : kTypes) {
      const auto node =
          Pool(Desc(DataType::kInt8, {size[0], size[1], 32, 2}, 0.02f, -128),
               type, {size, {1, 1}}, Quantized(DataType::kInt8, 0.01f, -77));
      ASSERT_OK(node);
      // The second is a dense output, which no reorder has to follow.
      EXPECT_EQ(LayoutCount(*node, kKernel), 2);
      EXPECT_OK(Compare(*node, rng)) << size[0] << " type " << type;
    }
  }
  const auto tail = Pool(Desc(DataType::kUint8, {7, 7, 31, 1}), kAvg,
                         {{7, 7}, {1, 1}}, Desc(DataType::kUint8, {1}));
  ASSERT_OK(tail);
  EXPECT_EQ(LayoutCount(*tail, kKernel), 1);
}

TEST(Pool2dCodes, EmptyWindowsKeepTailLanesZero) {
  // RunKernel fails where a tail lane is not the zero point.
  std::mt19937 rng = SeededRng(4);
  for (const int64_t type : kTypes) {
    const auto node = Pool(Desc(DataType::kUint8, {4, 4, 19, 2}, 0.1f, 200),
                           type, {{2, 2}, {2, 2}, {2, 4, 2, 4}},
                           Quantized(DataType::kInt8, 0.1f, -3));
    ASSERT_OK(node);
    EXPECT_OK(Compare(*node, rng));
  }
}

TEST(Pool2dCodes, Refusals) {
  const Windows one = {{1, 1}, {1, 1}};
  const auto u8 = Desc(DataType::kUint8, {4, 4, 16, 1}, 0.1f, 3);
  const auto refusal = [&](const TensorDesc& from, int64_t type,
                           const TensorDesc& to, const Windows& windows,
                           ir::DeviceClass device = ir::DeviceClass::kCpu) {
    const auto node = Pool(from, type, windows, to);
    if (!node.ok()) return node.status();
    return Supports(*node, kKernel, TestDevice(device));
  };
  EXPECT_OK(refusal(u8, kMax, u8, one));
  const auto f32 = Desc(DataType::kFloat32, {4, 4, 16, 1});
  EXPECT_ERROR(refusal(f32, kMax, f32, one),
               "float32, takes int8 and uint8 only");
  EXPECT_ERROR(refusal(u8, kMax, f32, one),
               "float32, takes int8 and uint8 only");
  EXPECT_ERROR(refusal(u8, kL2, u8, one), "takes no L2 pooling");
  EXPECT_ERROR(
      refusal(Desc(DataType::kUint8, {4, 4, 16}, 0.1f, 3), kMax, u8, one),
      "does not fit blocks of channels");
  EXPECT_ERROR(
      refusal(Like(Quantized(DataType::kUint8, 0.1f, -1), {4, 4, 3, 1}), kMax,
              u8, one),
      "a zero point, -1, that is no code");
  EXPECT_ERROR(
      refusal(u8, kAvg, u8, {{4096, 4096}, {1, 1}, {4096, 0, 4096, 0}}),
      "windows of 4096x4096, takes at most 4194304 cells");
  EXPECT_ERROR(refusal(u8, kMax, u8, one, ir::DeviceClass::kGpu),
               "for CPU devices; this one takes kernels of class gpu");
}

}  // namespace
}  // namespace tim::testing
