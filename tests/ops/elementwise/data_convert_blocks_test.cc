#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;
using Dims = std::vector<int64_t>;

constexpr char kKernel[] = "data_convert_blocks";
const Dims kImage = {17, 3, 19, 2};

Result<TestNode> Convert(const TensorDesc& from, TensorDesc to) {
  to.shape = ir::Shape();
  return MakeNode("tim.DataConvert", {}, {from}, {to});
}

// Bit for bit in `layouts` layouts, codes in blocks on one side.
Status Compare(const TestNode& node, const TensorData& input, int layouts) {
  if (LayoutCount(node, kKernel) != layouts) {
    return InvalidArgument(LayoutCount(node, kKernel), " layouts");
  }
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, {input}));
  for (int layout = 0; layout < layouts; ++layout) {
    TIM_ASSIGN_OR_RETURN(const auto actual,
                         RunKernel(node, kKernel, layout, {input}));
    TIM_RETURN_IF_ERROR(CompareTensors(expected[0], actual[0])
                            .WithContext(StrCat("layout ", layout)));
  }
  return OkStatus();
}

struct Pair {
  TensorDesc from;
  TensorDesc to;
  int layouts = 1;
};

TEST(DataConvertBlocks, EqualsEvalForEveryType) {
  std::mt19937 rng = SeededRng(1);
  const auto f32 = Desc(DataType::kFloat32, kImage);
  const auto f16 = Desc(DataType::kFloat16, kImage);
  const auto codes = [](DataType type, float scale, int32_t zero) {
    return Desc(type, kImage, scale, zero);
  };
  const auto u8 = DataType::kUint8;
  const auto i8 = DataType::kInt8;
  const Pair pairs[] = {
      {f32, codes(u8, 0.02f, 128)},
      {f32, codes(u8, 1e-3f, 255)},
      {f32, codes(i8, 3.0f, -128)},
      {f32, Desc(u8, kImage)},
      {codes(u8, 0.02f, 0), f32},
      {codes(i8, 0.7f, 127), f32},
      {Desc(i8, kImage), f32},
      {f16, codes(i8, 0.02f, 3)},
      {codes(u8, 0.02f, 9), f16},
      {codes(u8, 0.02f, 9), codes(i8, 0.013f, -7), 2},
      {codes(u8, 0.02f, 9), codes(u8, 5.0f, 255), 2},
      {codes(DataType::kInt16, 1e-4f, 9), codes(u8, 0.013f, 7)},
      {codes(u8, 0.02f, 9), codes(DataType::kInt16, 1e-4f, -9)},
      // No code in blocks has the real value 0.
      {codes(u8, 0.02f, 300), codes(i8, 0.013f, -7)},
  };
  for (const Pair& pair : pairs) {
    const auto node = Convert(pair.from, pair.to);
    ASSERT_OK(node);
    for (int repeat = 0; repeat < 2; ++repeat) {
      EXPECT_OK(Compare(*node, RandomTensor(pair.from, rng), pair.layouts))
          << pair.from.ToString() << " to " << pair.to.ToString();
    }
  }
}

TEST(DataConvertBlocks, EqualsEvalForEverySize) {
  std::mt19937 rng = SeededRng(2);
  for (const Dims& size : {Dims{16, 1}, Dims{5, 7}, Dims{31, 2}, Dims{48, 1}}) {
    for (const int64_t channels : {1, 3, 16, 33}) {
      const Dims dims = {size[0], size[1], channels, 2};
      const auto f32 = Desc(DataType::kFloat32, dims);
      const auto i8 = Desc(DataType::kInt8, dims, 0.05f, -3);
      for (const auto& node : {Convert(f32, i8), Convert(i8, f32)}) {
        ASSERT_OK(node);
        EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng), 1))
            << node->input(0).ToString();
      }
    }
  }
}

TEST(DataConvertBlocks, TakesWhatIsNoNumber) {
  const auto f32 = Desc(DataType::kFloat32, {4, 4, 2, 1});
  std::vector<float> values(32, 0.24f);
  values[0] = NAN;
  values[1] = INFINITY;
  values[17] = -INFINITY;
  values[18] = 3e38f;
  for (const float scale : {0.5f, 1e-6f}) {
    for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
      const auto node = Convert(f32, Desc(type, {4, 4, 2, 1}, scale, 5));
      ASSERT_OK(node);
      EXPECT_OK(Compare(*node, MakeTensor<float>(f32, values), 1));
    }
  }
}

TEST(DataConvertBlocks, Refusals) {
  const auto refusal = [](const TensorDesc& from, const TensorDesc& to,
                          ir::DeviceClass device = ir::DeviceClass::kCpu) {
    const auto node = Convert(from, to);
    if (!node.ok()) return node.status();
    return Supports(*node, kKernel, TestDevice(device));
  };
  const auto f32 = Desc(DataType::kFloat32, kImage);
  const auto u8 = Desc(DataType::kUint8, kImage, 0.5f, 3);
  EXPECT_OK(refusal(f32, u8));
  EXPECT_ERROR(refusal(f32, u8, ir::DeviceClass::kGpu), "for CPU devices");
  EXPECT_ERROR(refusal(f32, Desc(DataType::kFloat16, kImage)),
               "takes 8-bit codes on one side");
  EXPECT_ERROR(refusal(f32, Desc(DataType::kUint8, kImage, 0.5f, 256)),
               "takes 8-bit codes on one side");
  EXPECT_ERROR(refusal(u8, u8), "takes no elements that stay as they are");
  EXPECT_ERROR(
      refusal(Desc(DataType::kUint8, kImage), Desc(DataType::kInt32, kImage)),
      "takes no elements that stay as they are");
  EXPECT_ERROR(refusal(u8, Desc(DataType::kBool8, kImage)), "takes no bool8");
  EXPECT_ERROR(refusal(Desc(DataType::kFloat32, {17, 3, 19}),
                       Desc(DataType::kUint8, {17, 3, 19}, 0.5f, 3)),
               "does not fit blocks of channels");
  EXPECT_ERROR(refusal(Desc(DataType::kFloat32, {5, 3, 19, 1}),
                       Desc(DataType::kUint8, {5, 3, 19, 1}, 0.5f, 3)),
               "images of 15 elements, takes 16 and more");
}

}  // namespace
}  // namespace tim::testing
