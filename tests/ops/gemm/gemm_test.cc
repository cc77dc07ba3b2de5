// The packed panels of ops/gemm/gemm.cl, through Matmul and FullyConnected.
#include <gtest/gtest.h>

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

constexpr Tolerance kTolerance = {1e-5, 1e-5};
// Sums of 1024 products of normal values with deviation 2, whose sums have 128.
constexpr Tolerance kDeepTolerance = {2e-4, 1e-5};

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }
TensorDesc Inferred() {
  TensorDesc desc = F32({});
  desc.shape = ir::Shape();
  return desc;
}

void Check(const Result<TestNode>& node, const char* kernel, std::mt19937& rng,
           Tolerance tolerance = kTolerance) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kernel));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kernel, 0, inputs);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], tolerance));
  }
}

enum Constants { kNone = 0, kA = 1, kB = 2 };

void CheckMatmul(ir::AttributeMap attributes, const Ints& a, const Ints& b,
                 int constants, std::mt19937& rng,
                 Tolerance tolerance = kTolerance) {
  std::map<int, TensorData> data;
  if (constants & kA) data[0] = RandomTensor(F32(a), rng);
  if (constants & kB) data[1] = RandomTensor(F32(b), rng);
  Check(MakeNode("tim.Matmul", std::move(attributes), {F32(a), F32(b)},
                 {Inferred()}, data),
        "matmul_gemm", rng, tolerance);
}

TEST(Gemm, RowsAndColumnsThatDoNotFillTheirPanels) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t rows : {1, 2, 11, 12, 13, 25}) {
    for (const int64_t columns : {1, 15, 16, 31, 32, 33, 65}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(rows, " x ", columns));
      CheckMatmul({}, {17, rows}, {columns, 17}, kNone, rng);
    }
  }
}

TEST(Gemm, DepthsThatDoNotFillAVector) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t depth : {1, 2, 15, 16, 17, 33, 100}) {
    SCOPED_TRACE(depth);
    CheckMatmul({}, {depth, 13}, {33, depth}, kNone, rng);
  }
}

TEST(Gemm, TransposedAndConstantFactors) {
  std::mt19937 rng = SeededRng(3);
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const int constants : {kNone + 0, kA + 0, kB + 0}) {
        SCOPED_TRACE(StrCat(a, " ", b, " ", constants));
        CheckMatmul({{"transpose_a", a}, {"transpose_b", b}},
                    a ? Ints{13, 19} : Ints{19, 13},
                    b ? Ints{19, 35} : Ints{35, 19}, constants, rng);
      }
    }
  }
}

TEST(Gemm, Batches) {
  std::mt19937 rng = SeededRng(4);
  for (const int constants : {kNone + 0, kA + 0, kB + 0}) {
    CheckMatmul({}, {5, 13, 3, 2}, {33, 5, 3, 2}, constants, rng);
    CheckMatmul({}, {5, 13, 3}, {33, 5}, constants, rng);
    CheckMatmul({}, {5, 13}, {33, 5, 4}, constants, rng);
  }
}

// Axes that a factor lacks lie before, behind and around those that it has.
TEST(Gemm, BatchesThatBroadcastInPart) {
  std::mt19937 rng = SeededRng(8);
  for (const int constants : {kNone + 0, kA + 0, kB + 0}) {
    SCOPED_TRACE(constants);
    CheckMatmul({}, {5, 13, 3, 1}, {33, 5, 1, 2}, constants, rng);
    CheckMatmul({}, {5, 13, 3, 2}, {33, 5, 1, 2}, constants, rng);
    CheckMatmul({}, {5, 13, 1, 2, 1}, {33, 5, 3, 2, 2}, constants, rng);
    CheckMatmul({{"transpose_a", true}}, {13, 5, 3}, {33, 5, 3, 2}, constants,
                rng);
  }
  // Rows that are copied.
  CheckMatmul({}, {1024, 25, 2, 1}, {260, 1024, 1, 2}, kNone, rng,
              kDeepTolerance);
}

// Rows 4 KiB apart; with fewer columns they are read where they are.
TEST(Gemm, RowsThatShareSetsOfTheCache) {
  std::mt19937 rng = SeededRng(7);
  for (const int64_t columns : {33, 260}) {
    for (const int64_t batches : {1, 2}) {
      SCOPED_TRACE(StrCat(columns, ", batches ", batches));
      const Ints a = {1024, 25, batches};
      CheckMatmul({}, a, {columns, 1024, batches}, kNone, rng, kDeepTolerance);
      CheckMatmul({}, a, {columns, 1024}, kB, rng, kDeepTolerance);
      CheckMatmul({}, {1024, 25}, {columns, 1024, batches}, kNone, rng,
                  kDeepTolerance);
    }
  }
}

TEST(Gemm, RefusesBatchesThatBroadcastInTheMiddle) {
  const auto node =
      MakeNode("tim.Matmul", {}, {F32({5, 4, 3, 1, 2}), F32({6, 5, 3, 2, 2})},
               {Inferred()});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, "matmul_gemm"),
               "broadcast along an axis between two others");
}

TEST(Gemm, RefusesOtherTypes) {
  const TensorDesc half = Desc(DataType::kFloat16, {4, 4});
  const auto node =
      MakeNode("tim.Matmul", {}, {half, F32({4, 4})}, {Inferred()});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, "matmul_gemm"), "must be float32, not float16");
}

TEST(Gemm, RefusesDevicesThatAreNoCpu) {
  const auto node =
      MakeNode("tim.Matmul", {}, {F32({4, 4}), F32({4, 4})}, {Inferred()});
  ASSERT_OK(node);
  EXPECT_ERROR(
      Supports(*node, "matmul_gemm", TestDevice(ir::DeviceClass::kGpu)),
      "for CPU devices; this one takes kernels of class gpu");
}

TEST(Gemm, NarrowVectorsHaveTilesOfTheirOwn) {
  std::mt19937 rng = SeededRng(5);
  for (const int64_t depth : {19, 1024}) {
    const auto node = MakeNode(
        "tim.Matmul", {}, {F32({depth, 13}), F32({131, depth})}, {Inferred()});
    ASSERT_OK(node);
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    ASSERT_OK(expected);
    for (const int width : {4, 8}) {
      SCOPED_TRACE(StrCat(depth, ", width ", width));
      const ir::DeviceInfo device = TestDeviceOfLanes(width);
      const auto actual = RunKernel(*node, "matmul_gemm", 0, inputs, device);
      ASSERT_OK(actual);
      EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0],
                               depth == 19 ? kTolerance : kDeepTolerance));
    }
  }
}

TEST(Gemm, FullyConnectedWithBiasAndFusedOperators) {
  std::mt19937 rng = SeededRng(6);
  const TensorDesc weights = F32({19, 35});
  const TensorDesc output = F32({35, 13});
  for (const bool constant : {false, true}) {
    for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
      for (const bool add : {false, true}) {
        SCOPED_TRACE(StrCat(constant, " ", activation, " ", add));
        std::map<int, TensorData> data;
        if (constant) data[1] = RandomTensor(weights, rng);
        auto node =
            MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}},
                     {F32({19, 13}), weights, F32({35})}, {output}, data);
        if (add) node = Fuse(*node, "tim.Add", {}, {F32({35})}, output);
        if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
        Check(node, "fullyconnected_gemm", rng);
      }
    }
  }
}

}  // namespace
}  // namespace tim::testing
