// Softmax of 8-bit codes, whose tables and shortcuts depend on the length of
// rows, on their maxima and on how many share a work-item: the bits of eval.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ops/normalization/softmax_node.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

ir::DeviceInfo DeviceOf(int units) {
  ir::DeviceInfo device = TestDevice();
  device.compute_units = units;
  return device;
}

Result<TestNode> Softmax(const TensorDesc& input, const TensorDesc& output,
                         double beta, int64_t axis) {
  return MakeNode("tim.Softmax", {{"beta", beta}, {"axis", axis}}, {input},
                  {output});
}

void CheckEqual(const TestNode& node, const TensorData& input, int units) {
  const auto expected = Eval(node, {input});
  const auto found = RunKernel(node, "softmax", 0, {input}, DeviceOf(units));
  ASSERT_OK(expected);
  ASSERT_OK(found);
  EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
}

int LeastCode(DataType type) { return type == DataType::kInt8 ? -128 : 0; }

// Rows of codes of the least and on: each has its own greatest, near which the
// codes of every second row lie.
TensorData RowsOfMaxima(const TensorDesc& desc, std::mt19937& rng) {
  const int64_t count = desc.shape[0];
  const int64_t rows = desc.shape.Product(1, desc.shape.rank());
  std::vector<std::byte> codes(count * rows);
  for (int64_t row = 0; row < rows; ++row) {
    const int greatest = static_cast<int>((row * 37 + rng() % 3) % 256);
    const int least = row % 2 == 0 ? 0 : std::max(greatest - 20, 0);
    for (int64_t i = 0; i < count; ++i) {
      codes[row * count + i] = static_cast<std::byte>(
          least + static_cast<int>(rng() % (greatest - least + 1)) +
          LeastCode(desc.type));
    }
    codes[row * count + rng() % count] =
        static_cast<std::byte>(greatest + LeastCode(desc.type));
  }
  return {desc, codes};
}

// Vectors, the part of a row that is held, the shortest rows with tables and
// with estimates, and the vectors of look-ups, with one more and one less.
TEST(SoftmaxBytes, LengthsOfRows) {
  std::mt19937 rng = SeededRng(1);
  for (const int64_t count :
       {1,   2,   15,  16,  17,  31,  33,  63,  64,  65,  127,
        128, 129, 160, 255, 256, 257, 288, 321, 512, 513, 1000}) {
    for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
      const TensorDesc input = Desc(type, {count, 19}, 0.05f, 100);
      const TensorDesc output =
          Desc(type, {count, 19}, 1.0f / 2048, LeastCode(type));
      SCOPED_TRACE(input.ToString());
      const auto node = Softmax(input, output, 1.0, 0);
      ASSERT_OK(node);
      CheckEqual(*node, RowsOfMaxima(input, rng), 1);
    }
  }
}

// Every core has its part of few rows, and more than sixteen of many.
TEST(SoftmaxBytes, RowsForFewAndManyCores) {
  std::mt19937 rng = SeededRng(2);
  for (const int units : {1, 3, 1000}) {
    for (const int64_t rows : {1, 2, 15, 16, 17, 47, 259, 300}) {
      for (const int64_t count : {10, 70, 130, 260}) {
        const TensorDesc input =
            Desc(DataType::kInt8, {count, rows}, 0.0213f, -7);
        const TensorDesc output =
            Desc(DataType::kUint8, {count, rows}, 1.0f / 256, 0);
        SCOPED_TRACE(StrCat(input.ToString(), " for ", units, " cores"));
        const auto node = Softmax(input, output, 1.0, 0);
        ASSERT_OK(node);
        CheckEqual(*node, RowsOfMaxima(input, rng), units);
      }
    }
  }
}

// A row for each maximum, then the same again in another order: tables are
// found, made and replaced.
TEST(SoftmaxBytes, EveryMaximum) {
  std::mt19937 rng = SeededRng(3);
  constexpr int64_t kCount = 270;
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const TensorDesc input = Desc(type, {kCount, 512}, 0.037f, 11);
    const TensorDesc output = Desc(type, {kCount, 512}, 1.0f / 512, 3);
    std::vector<int> maxima(512);
    for (int i = 0; i < 512; ++i) maxima[i] = i % 256;
    std::shuffle(maxima.begin() + 256, maxima.end(), rng);
    std::vector<std::byte> codes;
    for (const int greatest : maxima) {
      for (int64_t i = 0; i < kCount; ++i) {
        const int code =
            i == 5 ? greatest : static_cast<int>(rng() % (greatest + 1));
        codes.push_back(static_cast<std::byte>(code + LeastCode(type)));
      }
    }
    const auto node = Softmax(input, output, 1.0, 0);
    ASSERT_OK(node);
    CheckEqual(*node, {input, codes}, 1);
  }
}

// Of both types, with results beyond all codes, of zero points at both ends,
// and with powers that are infinite, equal or none.
TEST(SoftmaxBytes, QuantizationsAndBetas) {
  std::mt19937 rng = SeededRng(4);
  struct Numbers {
    float in_scale;
    int in_zero;  // From the least code, as the next one.
    float out_scale;
    int out_zero;
    double beta;
  };
  const Numbers cases[] = {
      {0.05f, 0, 1.0f / 256, 0, 1.0},     {1.0f, 255, 1.0f / 256, 255, 1.0},
      {0.0039f, 128, 1e-5f, 17, 1.0},     {3.7f, 13, 1.0f, 128, 1.0},
      {1e-6f, 100, 1.0f / 128, 100, 1.0}, {0.05f, 90, 0.0007f, 40, 0.0},
      {0.05f, 90, 0.0007f, 40, -1.0},     {100.0f, 90, 0.0007f, 40, -1.0},
      {0.5f, 200, 1e-9f, 0, 2.5},         {1e30f, 1, 0.01f, 9, 1e30}};
  for (const DataType from : {DataType::kUint8, DataType::kInt8}) {
    for (const DataType to : {DataType::kUint8, DataType::kInt8}) {
      for (const Numbers& numbers : cases) {
        for (const int64_t count : {100, 200, 300}) {
          const TensorDesc input = Desc(from, {count, 17}, numbers.in_scale,
                                        numbers.in_zero + LeastCode(from));
          const TensorDesc output = Desc(to, {count, 17}, numbers.out_scale,
                                         numbers.out_zero + LeastCode(to));
          SCOPED_TRACE(StrCat(input.ToString(), " to ", output.ToString(),
                              ", beta ", numbers.beta));
          const auto node = Softmax(input, output, numbers.beta, 0);
          ASSERT_OK(node);
          CheckEqual(*node, RowsOfMaxima(input, rng), 1);
        }
      }
    }
  }
}

// Columns, and short rows of other types, below and above what is held.
TEST(SoftmaxBytes, ColumnsAndManyShortRows) {
  std::mt19937 rng = SeededRng(5);
  struct Shape {
    std::vector<int64_t> dims;
    int axis;
  };
  const Shape shapes[] = {{{33, 255}, 1}, {{16, 256}, 1},   {{7, 257, 2}, 1},
                          {{300, 3}, 1},  {{3, 5, 260}, 2}, {{10, 100}, 0},
                          {{1, 40}, 0},   {{63, 70, 2}, 0}};
  for (const Shape& shape : shapes) {
    for (const DataType to :
         {DataType::kUint8, DataType::kInt8, DataType::kFloat16}) {
      const TensorDesc input = Desc(DataType::kInt8, shape.dims, 0.05f, -3);
      const TensorDesc output = to == DataType::kFloat16
                                    ? Desc(to, shape.dims)
                                    : Desc(to, shape.dims, 1.0f / 700, 5);
      SCOPED_TRACE(StrCat(input.ToString(), " to ", output.ToString(),
                          ", axis ", shape.axis));
      const auto node = Softmax(input, output, 1.25, shape.axis);
      ASSERT_OK(node);
      CheckEqual(*node, RandomTensor(input, rng), 2);
    }
  }
}

// 512 results of exactly half a code, in every third of rows that share a
// work-item with others.
TEST(SoftmaxBytes, ResultsBetweenTwoCodes) {
  std::mt19937 rng = SeededRng(7);
  constexpr int64_t kCount = 512;
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const TensorDesc input = Desc(type, {kCount, 100}, 0.05f, 3);
    const TensorDesc output = Desc(type, {kCount, 100}, 1.0f / 256, 2);
    TensorData codes = RowsOfMaxima(input, rng);
    for (int64_t row = 0; row < 100; row += 3) {
      std::fill_n(codes.bytes.begin() + row * kCount, kCount,
                  static_cast<std::byte>(row));
    }
    const auto node = Softmax(input, output, 1.0, 0);
    ASSERT_OK(node);
    for (const int units : {1, 3}) CheckEqual(*node, codes, units);
  }
}

// 4095 powers of less than 2^-25 each change nothing in a sum that begins with
// 1, but would change the result of the greatest code if they were added first.
TEST(SoftmaxBytes, SumsThatSmallPowersDoNotReach) {
  constexpr int64_t kCount = 4096;
  constexpr int kGreatest = 220;
  const TensorDesc input =
      Desc(DataType::kUint8, {kCount}, 25.05f / 1.442695f / 200, 0);
  const TensorDesc output = Desc(DataType::kUint8, {kCount}, 1 / 254.505f, 0);
  std::vector<std::byte> codes(kCount, std::byte{kGreatest - 200});
  codes[0] = std::byte{kGreatest};
  const auto node = Softmax(input, output, 1.0, 0);
  ASSERT_OK(node);
  const auto found =
      RunKernel(*node, "softmax", 0, {{input, codes}}, DeviceOf(1));
  ASSERT_OK(found);
  EXPECT_EQ((*found)[0].bytes[0], std::byte{255});
  CheckEqual(*node, {input, codes}, 1);
}

TEST(SoftmaxBytes, ToleranceGrowsWithRowsAndEnds) {
  const auto tolerance = [](int64_t count, float k, float scale, float out,
                            int zero = 0) {
    return ops::SoftmaxTolerance({.count = count, .k = k},
                                 Desc(DataType::kUint8, {count}, scale, zero),
                                 Desc(DataType::kUint8, {count}, out, zero));
  };
  // At least what count - 1 roundings of the sum may be.
  EXPECT_GT(tolerance(64, 1.4f, 0.05f, 0.004f), 64 * 0x1p-24f);
  EXPECT_GT(tolerance(4096, 1.4f, 0.05f, 0.004f), 4096 * 0x1p-24f);
  EXPECT_EQ(tolerance(10000, 1.4f, 0.05f, 0.004f), 0);
  EXPECT_EQ(tolerance(64, -1.4f, 0.05f, 0.004f), 0);
  EXPECT_EQ(tolerance(64, 1.4f, 2.0f, 0.004f), 0);
  EXPECT_EQ(tolerance(64, 1.4f, 0.05f, 1e-10f), 0);
  EXPECT_EQ(tolerance(64, 1.4f, 0.05f, 0.004f, 256), 0);
}

TEST(SoftmaxBytes, ResultsLieWhereCodesLay) {
  std::mt19937 rng = SeededRng(6);
  const TensorDesc input = Desc(DataType::kUint8, {280, 20}, 0.05f, 3);
  const TensorDesc output = Desc(DataType::kInt8, {280, 20}, 0.003f, -128);
  const auto node = Softmax(input, output, 1.0, 0);
  ASSERT_OK(node);
  const TensorData codes = RowsOfMaxima(input, rng);
  const auto expected = Eval(*node, {codes});
  ASSERT_OK(expected);
  const auto pairs = InPlacePairs(*node, "softmax", 0);
  ASSERT_OK(pairs);
  ASSERT_EQ(pairs->size(), 1u);
  const auto found =
      RunKernel(*node, "softmax", 0, {codes},
                {.device = DeviceOf(1), .in_place = pairs->front()});
  ASSERT_OK(found);
  EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
}

}  // namespace
}  // namespace tim::testing
