#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kFullyConnected[] = "fullyconnected_gemm_i8";
constexpr char kMatmul[] = "matmul_gemm_i8";

struct Types {
  DataType a = DataType::kUint8;
  int32_t a_zero = 131;
  DataType b = DataType::kUint8;
  int32_t b_zero = 117;
  DataType output = DataType::kUint8;
  int32_t output_zero = 90;
};
constexpr Types kUnsigned = {};
constexpr Types kSigned = {.a = DataType::kInt8,
                           .a_zero = -5,
                           .b = DataType::kInt8,
                           .b_zero = 0,
                           .output = DataType::kInt8,
                           .output_zero = 3};

// Of sums of so many products of codes that spread over their range.
TensorDesc ResultOf(const Types& types, int64_t depth) {
  TensorDesc desc = Inferred(types.output);
  desc.quantization = ir::Quantization::PerTensor(
      static_cast<float>(1e-4 * 75 * 75 *
                         std::sqrt(static_cast<double>(depth)) / 60),
      types.output_zero);
  return desc;
}

// In every form of the products that the device has.
Status Check(const TestNode& node, const std::string& kernel,
             std::mt19937& rng) {
  std::vector<ir::DeviceInfo> devices = {TestDevice(), TestDeviceOfLanes(8)};
  devices[1].has_vnni = false;
  for (const ir::DeviceInfo& device : devices) {
    TIM_RETURN_IF_ERROR(Supports(node, kernel, device));
    for (int run = 0; run < 2; ++run) {
      const std::vector<TensorData> inputs = RandomInputs(node, rng);
      TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
      TIM_ASSIGN_OR_RETURN(const auto actual,
                           RunKernel(node, kernel, 0, inputs, device));
      TIM_RETURN_IF_ERROR(CompareTensors(expected[0], actual[0])
                              .WithContext(device.ToString()));
    }
  }
  return OkStatus();
}

enum class Scales { kPerTensor, kPerChannel };

Result<TestNode> FullyConnected(int64_t depth, int64_t outputs, int64_t rows,
                                const Types& types, Scales scales,
                                std::mt19937& rng) {
  TensorDesc weights = Desc(types.b, {depth, outputs}, 0.01f, types.b_zero);
  if (scales == Scales::kPerChannel) {
    weights.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                            .axis = 1};
    for (int64_t c = 0; c < outputs; ++c) {
      weights.quantization.scales.push_back(
          0.01f * (1.0f + 0.1f * static_cast<float>(c % 5)));
      weights.quantization.zero_points.push_back(types.b_zero);
    }
  }
  const TensorDesc bias = Desc(DataType::kInt32, {outputs});
  std::vector<int32_t> values(outputs);
  for (int32_t& value : values) value = static_cast<int32_t>(rng()) >> 16;
  return MakeNode(
      "tim.FullyConnected", {{"axis", int64_t{0}}},
      {Desc(types.a, {depth, rows}, 0.01f, types.a_zero), weights, bias},
      {ResultOf(types, depth)},
      {{1, RandomTensor(weights, rng)}, {2, MakeTensor(bias, values)}});
}

TEST(GemmI8, FullyConnectedOfAnyExtents) {
  std::mt19937 rng = SeededRng(1);
  for (const int64_t depth : {1, 3, 4, 15, 64, 67}) {
    for (const int64_t outputs : {1, 16, 17, 67}) {
      for (const int64_t rows : {1, 2, 13}) {
        const auto node = FullyConnected(
            depth, outputs, rows, rows == 2 ? kSigned : kUnsigned,
            outputs == 17 ? Scales::kPerChannel : Scales::kPerTensor, rng);
        ASSERT_OK(node);
        EXPECT_OK(Check(*node, kFullyConnected, rng))
            << depth << " to " << outputs << ", " << rows << " rows";
      }
    }
  }
}

TEST(GemmI8, ExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  const std::pair<DataType, int32_t> zeros[] = {{DataType::kUint8, 0},
                                                {DataType::kUint8, 255},
                                                {DataType::kInt8, -128},
                                                {DataType::kInt8, 127}};
  for (const auto& [a, a_zero] : zeros) {
    for (const auto& [b, b_zero] : zeros) {
      const Types types = {a, a_zero, b, b_zero, a, a_zero};
      SCOPED_TRACE(StrCat(ir::ToString(a), " ", a_zero, ", ", ir::ToString(b),
                          " ", b_zero));
      const auto constant =
          FullyConnected(35, 20, 5, types, Scales::kPerTensor, rng);
      ASSERT_OK(constant);
      EXPECT_OK(Check(*constant, kFullyConnected, rng));
      const auto variable = MakeNode(
          "tim.Matmul", {},
          {Desc(a, {35, 5}, 0.01f, a_zero), Desc(b, {20, 35}, 0.01f, b_zero)},
          {ResultOf(types, 35)});
      ASSERT_OK(variable);
      EXPECT_OK(Check(*variable, kMatmul, rng));
    }
  }
}

// Of constant and variable factors, transposed or not, batched or shared.
TEST(GemmI8, Matmul) {
  std::mt19937 rng = SeededRng(3);
  constexpr int64_t kDepth = 37;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const bool shared : {false, true}) {
        for (const bool constant : {false, true}) {
          if (constant && !shared) continue;
          for (const Types& types : {kUnsigned, kSigned}) {
            SCOPED_TRACE(StrCat(transpose_a, transpose_b, shared, constant));
            const Ints a =
                transpose_a ? Ints{18, kDepth, 3} : Ints{kDepth, 18, 3};
            Ints b = transpose_b ? Ints{kDepth, 41} : Ints{41, kDepth};
            if (!shared) b.push_back(3);
            const TensorDesc factor = Desc(types.b, b, 0.01f, types.b_zero);
            std::map<int, TensorData> constants;
            if (constant) constants[1] = RandomTensor(factor, rng);
            const auto node = MakeNode(
                "tim.Matmul",
                {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
                {Desc(types.a, a, 0.01f, types.a_zero), factor},
                {ResultOf(types, kDepth)}, constants);
            ASSERT_OK(node);
            EXPECT_OK(Check(*node, kMatmul, rng));
          }
        }
      }
    }
  }
}

TEST(GemmI8, FusedActivation) {
  std::mt19937 rng = SeededRng(4);
  auto node = FullyConnected(40, 20, 3, kUnsigned, Scales::kPerTensor, rng);
  ASSERT_OK(node);
  const TensorDesc output = node->output();
  node = Fuse(*node, "tim.Relu6", {}, {}, output);
  ASSERT_OK(node);
  EXPECT_OK(Check(*node, kFullyConnected, rng));
}

TEST(GemmI8, RefusesWithReason) {
  const auto refusal = [&](const TensorDesc& a, const TensorDesc& b,
                           const TensorDesc& output) {
    const auto node = MakeNode("tim.Matmul", {}, {a, b}, {output});
    EXPECT_OK(node);
    return Supports(*node, kMatmul);
  };
  const TensorDesc a = Desc(DataType::kUint8, {40000, 1}, 0.01f, 0);
  const TensorDesc b = Desc(DataType::kUint8, {2, 40000}, 0.01f, 0);
  EXPECT_ERROR(refusal(a, b, ResultOf(kUnsigned, 40000)),
               "sums of 40000 products may need more than 32 bits");
  EXPECT_ERROR(refusal(F32({4, 4}), F32({4, 4}), Inferred()),
               "must be int8 or uint8, not float32");
  EXPECT_ERROR(
      refusal(Desc(DataType::kInt8, {4, 4}), Desc(DataType::kInt8, {4, 4}),
              Inferred(DataType::kInt8)),
      "nothing is quantized");
  const auto node = MakeNode(
      "tim.FullyConnected", {{"axis", int64_t{0}}},
      {Desc(DataType::kUint8, {8, 2}, 0.01f, 3),
       Desc(DataType::kUint8, {8, 4}, 0.01f, 3), Desc(DataType::kInt32, {4})},
      {ResultOf(kUnsigned, 8)});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kFullyConnected),
               "a bias beside weights that are not constant");
}

}  // namespace
}  // namespace tim::testing
