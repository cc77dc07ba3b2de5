// Matrix products of 8-bit codes, ops/gemm/gemm_i8.cl and gemm_i8_simt.cl,
// through Matmul and FullyConnected; the device of the tests runs them whatever
// its class.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

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

enum class Provider { kPanels, kTiles };

// In every form of the products, and in tiles of several sizes.
std::vector<ir::DeviceInfo> DevicesOf(Provider provider) {
  if (provider == Provider::kPanels) {
    std::vector<ir::DeviceInfo> cpus = {TestDevice(), TestDevice(),
                                        TestDeviceOfLanes(8)};
    cpus[1].has_amx = false;
    cpus[2].has_vnni = cpus[2].has_amx = false;
    return cpus;
  }
  std::vector<ir::DeviceInfo> gpus(2, TestDevice(ir::DeviceClass::kGpu));
  gpus[0].compute_units = 1;
  gpus[1].compute_units = 100;
  gpus[1].has_integer_dot = false;
  return gpus;
}

class GemmI8 : public ::testing::TestWithParam<Provider> {
 protected:
  std::string matmul() const { return StrCat("matmul_", Name()); }
  std::string fully_connected() const {
    return StrCat("fullyconnected_", Name());
  }
  Status Refusal(const TestNode& node, const std::string& kernel) const {
    return Supports(node, kernel, DevicesOf(GetParam())[0]);
  }

  Status Check(const TestNode& node, const std::string& kernel,
               std::mt19937& rng) const {
    for (const ir::DeviceInfo& device : DevicesOf(GetParam())) {
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

 private:
  const char* Name() const {
    return GetParam() == Provider::kPanels ? "gemm_i8" : "gemm_i8_simt";
  }
};

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

TEST_P(GemmI8, FullyConnectedOfAnyExtents) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(7);
  for (const int64_t depth : {1, 3, 4, 15, 64, 67}) {
    for (const int64_t outputs : {1, 16, 17, 67}) {
      for (const int64_t rows : {1, 2, 13}) {
        if (!sample.Takes()) continue;
        const auto node = FullyConnected(
            depth, outputs, rows, rows == 2 ? kSigned : kUnsigned,
            outputs == 17 ? Scales::kPerChannel : Scales::kPerTensor, rng);
        ASSERT_OK(node);
        EXPECT_OK(Check(*node, fully_connected(), rng))
            << depth << " to " << outputs << ", " << rows << " rows";
      }
    }
  }
}

TEST_P(GemmI8, ExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(5);
  const std::pair<DataType, int32_t> zeros[] = {{DataType::kUint8, 0},
                                                {DataType::kUint8, 255},
                                                {DataType::kInt8, -128},
                                                {DataType::kInt8, 127}};
  for (const auto& [a, a_zero] : zeros) {
    for (const auto& [b, b_zero] : zeros) {
      const Types types = {a, a_zero, b, b_zero, a, a_zero};
      SCOPED_TRACE(StrCat(ir::ToString(a), " ", a_zero, ", ", ir::ToString(b),
                          " ", b_zero));
      if (sample.Takes()) {
        const auto constant =
            FullyConnected(35, 20, 5, types, Scales::kPerTensor, rng);
        ASSERT_OK(constant);
        EXPECT_OK(Check(*constant, fully_connected(), rng));
      }
      if (!sample.Takes()) continue;
      const auto variable = MakeNode(
          "tim.Matmul", {},
          {Desc(a, {35, 5}, 0.01f, a_zero), Desc(b, {20, 35}, 0.01f, b_zero)},
          {ResultOf(types, 35)});
      ASSERT_OK(variable);
      EXPECT_OK(Check(*variable, matmul(), rng));
    }
  }
}

// Of constant and variable factors, transposed or not, batched or shared.
TEST_P(GemmI8, Matmul) {
  std::mt19937 rng = SeededRng(3);
  Sample sample(5);
  constexpr int64_t kDepth = 37;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const bool shared : {false, true}) {
        for (const bool constant : {false, true}) {
          if (constant && !shared) continue;
          for (const Types& types : {kUnsigned, kSigned}) {
            if (!sample.Takes()) continue;
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
            EXPECT_OK(Check(*node, matmul(), rng));
          }
        }
      }
    }
  }
}

TEST_P(GemmI8, BatchesThatBroadcastInPart) {
  std::mt19937 rng = SeededRng(8);
  const auto check = [&](const Ints& a, const Ints& b) {
    const auto node = MakeNode("tim.Matmul", {},
                               {Desc(kSigned.a, a, 0.01f, kSigned.a_zero),
                                Desc(kSigned.b, b, 0.01f, kSigned.b_zero)},
                               {ResultOf(kSigned, a[0])});
    ASSERT_OK(node);
    EXPECT_OK(Check(*node, matmul(), rng));
  };
  check({37, 18, 3, 1}, {41, 37, 1, 2});
  check({37, 18, 1, 2, 1}, {41, 37, 3, 2, 2});
}

TEST_P(GemmI8, FusedActivation) {
  std::mt19937 rng = SeededRng(4);
  auto node = FullyConnected(40, 20, 3, kUnsigned, Scales::kPerTensor, rng);
  ASSERT_OK(node);
  const TensorDesc output = node->output();
  node = Fuse(*node, "tim.Relu6", {}, {}, output);
  ASSERT_OK(node);
  EXPECT_OK(Check(*node, fully_connected(), rng));
}

TEST_P(GemmI8, RefusesWithReason) {
  const auto refusal = [&](const TensorDesc& a, const TensorDesc& b,
                           const TensorDesc& output) {
    const auto node = MakeNode("tim.Matmul", {}, {a, b}, {output});
    EXPECT_OK(node);
    return Refusal(*node, matmul());
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
  EXPECT_ERROR(Refusal(*node, fully_connected()),
               "a bias beside weights that are not constant");
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmI8,
                         ::testing::Values(Provider::kPanels, Provider::kTiles),
                         [](const auto& info) {
                           return info.param == Provider::kPanels ? "i8"
                                                                  : "i8_simt";
                         });

// Plain codes whose sums themselves are the result, as MatMulInteger has them.
TEST(GemmI8Totals, AreStoredAsTheyAre) {
  std::mt19937 rng = SeededRng(7);
  Sample sample(7);
  for (const ir::DeviceInfo& device : DevicesOf(Provider::kPanels)) {
    for (const DataType a : {DataType::kUint8, DataType::kInt8}) {
      for (const DataType b : {DataType::kUint8, DataType::kInt8}) {
        for (const bool constant : {false, true}) {
          for (const int64_t rows : {1, 14}) {
            if (!sample.Takes()) continue;
            SCOPED_TRACE(StrCat(ir::ToString(a), " ", ir::ToString(b), " ",
                                constant, " ", rows));
            const TensorDesc factor = Desc(b, {41, 37});
            std::map<int, TensorData> constants;
            if (constant) constants[1] = RandomTensor(factor, rng);
            const auto node =
                MakeNode("tim.Matmul", {}, {Desc(a, {37, rows}), factor},
                         {Inferred(DataType::kInt32)}, constants);
            ASSERT_OK(node);
            ASSERT_OK(Supports(*node, "matmul_gemm_i8", device));
            const std::vector<TensorData> inputs = RandomInputs(*node, rng);
            const auto expected = Eval(*node, inputs);
            ASSERT_OK(expected);
            const auto actual =
                RunKernel(*node, "matmul_gemm_i8", 0, inputs, device);
            ASSERT_OK(actual);
            EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0]));
          }
        }
      }
    }
  }
}

TEST(GemmI8Totals, RefusesWithReason) {
  const auto refusal = [](DataType a, int64_t depth, const char* kernel,
                          ir::DeviceClass device) {
    const auto node =
        MakeNode("tim.Matmul", {},
                 {Desc(a, {depth, 2}), Desc(DataType::kUint8, {2, depth})},
                 {Inferred(DataType::kInt32)});
    EXPECT_OK(node);
    return Supports(*node, kernel, TestDevice(device));
  };
  EXPECT_ERROR(
      refusal(DataType::kInt16, 4, "matmul_gemm_i8", ir::DeviceClass::kCpu),
      "factors must be int8 or uint8, not int16");
  EXPECT_ERROR(
      refusal(DataType::kUint8, 40000, "matmul_gemm_i8", ir::DeviceClass::kCpu),
      "sums of 40000 products may need more than 32 bits");
  EXPECT_ERROR(refusal(DataType::kUint8, 4, "matmul_gemm_i8_simt",
                       ir::DeviceClass::kGpu),
               "must be int8 or uint8, not int32");
}

// Rows and columns at both sides of tiles and slices.
TEST(GemmI8Simt, ExtentsThatDoNotFillATileOrASlice) {
  std::mt19937 rng = SeededRng(5);
  Sample sample(7);
  ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  gpu.compute_units = 1;
  for (const int64_t depth : {63, 64, 66, 130}) {
    for (const int64_t rows : {1, 31, 33, 65}) {
      for (const int64_t columns : {1, 32, 65}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(depth, ": ", rows, " x ", columns));
        const auto node = MakeNode(
            "tim.Matmul", {{"transpose_b", rows == 33}},
            {Desc(DataType::kUint8, {depth, rows}, 0.01f, 131),
             Desc(DataType::kInt8,
                  rows == 33 ? Ints{depth, columns} : Ints{columns, depth},
                  0.01f, -3)},
            {ResultOf(kUnsigned, depth)});
        ASSERT_OK(node);
        const std::vector<TensorData> inputs = RandomInputs(*node, rng);
        const auto expected = Eval(*node, inputs);
        ASSERT_OK(expected);
        const auto actual =
            RunKernel(*node, "matmul_gemm_i8_simt", 0, inputs, gpu);
        ASSERT_OK(actual);
        EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0]));
      }
    }
  }
}

TEST(GemmI8Simt, RefusesDevicesThatItIsNotFor) {
  std::mt19937 rng = SeededRng(6);
  const auto node = FullyConnected(8, 4, 2, kUnsigned, Scales::kPerTensor, rng);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, "fullyconnected_gemm_i8_simt",
                        TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  gpu.max_work_group_size = 64;
  EXPECT_ERROR(Supports(*node, "fullyconnected_gemm_i8_simt", gpu),
               "needs work-groups of 16 x 16 items, the device has 64");
  EXPECT_ERROR(Supports(*node, "fullyconnected_gemm_i8",
                        TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

}  // namespace
}  // namespace tim::testing
