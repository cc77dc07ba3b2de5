// Matrix products for GPUs, ops/gemm/gemm_simt.cl and CLBlast, through Matmul
// and FullyConnected; the device of the tests runs them whatever its class.
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

// Sums of up to 300 products, by multiply_add and in another order than eval's.
constexpr Tolerance kTolerance = {3e-5, 1e-5};

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }
TensorDesc Inferred() {
  TensorDesc desc = F32({});
  desc.shape = ir::Shape();
  return desc;
}

// With few compute units tiles are large, with many they are small.
ir::DeviceInfo Gpu(int units = 2) {
  ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  gpu.compute_units = units;
  return gpu;
}

void Check(const Result<TestNode>& node, const std::string& kernel,
           std::mt19937& rng, const ir::DeviceInfo& device = Gpu()) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kernel, device));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kernel, 0, inputs, device);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
  }
}

Result<TestNode> Matmul(const Ints& a, const Ints& b,
                        ir::AttributeMap attributes = {}) {
  return MakeNode("tim.Matmul", std::move(attributes), {F32(a), F32(b)},
                  {Inferred()});
}

// The two share their cases: "simt" and "clblast".
class GpuGemm : public ::testing::TestWithParam<const char*> {
 protected:
  std::string matmul() const { return StrCat("matmul_", GetParam()); }
  std::string fully_connected() const {
    return StrCat("fullyconnected_", GetParam());
  }
};

TEST_P(GpuGemm, RowsAndColumnsThatDoNotFillATile) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(3);
  for (const int64_t rows : {1, 31, 32, 33, 65}) {
    for (const int64_t columns : {1, 31, 32, 33, 65}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(rows, " x ", columns));
      Check(Matmul({17, rows}, {columns, 17}), matmul(), rng);
    }
  }
}

TEST_P(GpuGemm, DepthsThatDoNotFillASlice) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t depth : {1, 2, 15, 16, 17, 31, 32, 33, 65, 300}) {
    SCOPED_TRACE(depth);
    Check(Matmul({depth, 13}, {33, depth}), matmul(), rng);
  }
}

TEST_P(GpuGemm, TransposedFactorsAndVectors) {
  std::mt19937 rng = SeededRng(3);
  Sample sample(3);
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      SCOPED_TRACE(StrCat(a, " ", b));
      const ir::AttributeMap attributes = {{"transpose_a", a},
                                           {"transpose_b", b}};
      for (const int64_t rows : {1, 35}) {
        for (const int64_t columns : {1, 67}) {
          if (!sample.Takes()) continue;
          Check(Matmul(a ? Ints{rows, 19} : Ints{19, rows},
                       b ? Ints{19, columns} : Ints{columns, 19}, attributes),
                matmul(), rng);
        }
      }
    }
  }
  Check(Matmul({19}, {5, 19}), matmul(), rng);
  Check(Matmul({19, 5}, {19}), matmul(), rng);
  Check(Matmul({19}, {19}), matmul(), rng);
}

TEST_P(GpuGemm, Batches) {
  std::mt19937 rng = SeededRng(4);
  Sample sample(2);
  for (const bool transposed : {false, true}) {
    const ir::AttributeMap attributes = {{"transpose_a", transposed},
                                         {"transpose_b", transposed}};
    const auto a = [&](Ints shape) {
      if (transposed) std::swap(shape[0], shape[1]);
      return shape;
    };
    for (const auto& [left, right] :
         {std::pair(Ints{5, 13, 3, 2}, Ints{33, 5, 3, 2}),
          std::pair(Ints{5, 13, 3}, Ints{33, 5}),
          std::pair(Ints{5, 13}, Ints{33, 5, 4})}) {
      if (!sample.Takes()) continue;
      Check(Matmul(a(left), a(right), attributes), matmul(), rng);
    }
  }
}

TEST_P(GpuGemm, EpiloguesOfMatmul) {
  std::mt19937 rng = SeededRng(5);
  const TensorDesc output = F32({35, 13});
  for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
    for (const bool add : {false, true}) {
      SCOPED_TRACE(StrCat(activation, " ", add));
      auto node = Matmul({19, 13}, {35, 19});
      if (add) node = Fuse(*node, "tim.Add", {}, {F32({35})}, output);
      if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
      Check(node, matmul(), rng);
    }
  }
}

TEST_P(GpuGemm, FullyConnectedWithBiasAndFusedOperators) {
  std::mt19937 rng = SeededRng(6);
  const TensorDesc weights = F32({19, 35});
  const TensorDesc output = F32({35, 13});
  for (const bool bias : {false, true}) {
    for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
      for (const bool add : {false, true}) {
        SCOPED_TRACE(StrCat(bias, " ", activation, " ", add));
        std::vector<std::optional<TensorDesc>> inputs = {F32({19, 13}),
                                                         weights};
        if (bias) inputs.push_back(F32({35}));
        auto node =
            MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}}, inputs,
                     {output}, {{1, RandomTensor(weights, rng)}});
        if (add) node = Fuse(*node, "tim.Add", {}, {F32({35})}, output);
        if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
        Check(node, fully_connected(), rng);
      }
    }
  }
}

TEST_P(GpuGemm, RefusesWithReason) {
  const auto node = Matmul({4, 4}, {4, 4});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, matmul(), TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  const auto half =
      MakeNode("tim.Matmul", {},
               {Desc(DataType::kFloat16, {4, 4}), F32({4, 4})}, {Inferred()});
  ASSERT_OK(half);
  EXPECT_ERROR(Supports(*half, matmul(), Gpu()),
               "must be float32, not float16");
  const auto middle = Matmul({5, 4, 3, 1, 2}, {6, 5, 3, 2, 2});
  ASSERT_OK(middle);
  EXPECT_ERROR(Supports(*middle, matmul(), Gpu()),
               "broadcast along an axis between two others");
  const auto sub = Fuse(*node, "tim.Sub", {}, {F32({4})}, F32({4, 4}));
  ASSERT_OK(sub);
  EXPECT_ERROR(Supports(*sub, matmul(), Gpu()),
               "a fused Sub, which has no formula of one input");
  const auto layer =
      MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}},
               {Desc(DataType::kFloat16, {4, 4}), F32({4, 4})}, {Inferred()});
  ASSERT_OK(layer);
  EXPECT_ERROR(Supports(*layer, fully_connected(), Gpu()),
               "must be float32, not float16");
}

INSTANTIATE_TEST_SUITE_P(Kernels, GpuGemm, ::testing::Values("simt", "clblast"),
                         [](const auto& info) { return info.param; });

TEST(GemmSimt, BatchesThatBroadcastInPart) {
  std::mt19937 rng = SeededRng(8);
  const auto both = Matmul({5, 13, 3, 1}, {33, 5, 1, 2});
  Check(both, "matmul_simt", rng);
  Check(Matmul({5, 13, 3, 2}, {33, 5, 1, 2}), "matmul_simt", rng);
  Check(Matmul({5, 13, 1, 2, 1}, {33, 5, 3, 2, 2}), "matmul_simt", rng);
  ASSERT_OK(both);
  EXPECT_ERROR(Supports(*both, "matmul_clblast", Gpu()),
               "a batch of a factor is read by several products");
}

TEST(GemmSimt, TilesOfEverySize) {
  std::mt19937 rng = SeededRng(7);
  for (const int units : {1, 4, 8, 16, 100}) {
    for (const Ints& sizes : {Ints{70, 90}, Ints{20, 170}, Ints{170, 20}}) {
      SCOPED_TRACE(StrCat(units, " units, ", sizes[0], " x ", sizes[1]));
      Check(Matmul({21, sizes[0]}, {sizes[1], 21}), "matmul_simt", rng,
            Gpu(units));
    }
  }
}

TEST(GemmSimt, RefusesDevicesWithoutItsGroups) {
  const auto node = Matmul({4, 4}, {4, 4});
  ASSERT_OK(node);
  ir::DeviceInfo device = Gpu();
  device.max_work_group_size = 64;
  EXPECT_ERROR(Supports(*node, "matmul_simt", device),
               "needs work-groups of 16 x 16 items, the device has 64");
}

}  // namespace
}  // namespace tim::testing
