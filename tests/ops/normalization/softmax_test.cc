#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/op_schema.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

ir::AttributeMap Attributes(double beta, int64_t axis) {
  return {{"beta", beta}, {"axis", axis}};
}

TensorDesc Undeclared(TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

Result<TestNode> Softmax(const TensorDesc& input, double beta, int64_t axis) {
  return MakeNode("tim.Softmax", Attributes(beta, axis), {input},
                  {Undeclared(input)});
}

// The recipe of ops/normalization/softmax.cc, its powers of two from long
// double.
std::vector<float> Recipe(const std::vector<float>& x,
                          const std::vector<int64_t>& dims, float beta,
                          int axis) {
  int64_t stride = 1;
  for (int i = 0; i < axis; ++i) stride *= dims[i];
  const int64_t count = dims[axis];
  const float k = beta * 1.44269504f;
  std::vector<float> y(x.size());
  for (int64_t first = 0; first < static_cast<int64_t>(x.size()); ++first) {
    if (first / stride % count != 0) continue;
    const auto at = [&](int64_t i) { return first + i * stride; };
    float largest = x[first];
    for (int64_t i = 1; i < count; ++i) {
      largest = std::max(largest, x[at(i)]);
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float d = x[at(i)] - largest;
      const float t = d * k;
      y[at(i)] = static_cast<float>(exp2l(static_cast<long double>(t)));
      sum += y[at(i)];
    }
    const float r = static_cast<float>(1.0L / sum);
    for (int64_t i = 0; i < count; ++i) y[at(i)] *= r;
  }
  return y;
}

TEST(Softmax, HandCheckedRow) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4});
  const auto node = Softmax(desc, 1.0, 0);
  ASSERT_OK(node);
  // Differences of ln 2 from the largest: powers 1/4, 1/2, 1, 1/4.
  const float ln2 = 0.693147182f;
  const std::vector<float> x = {ln2, 2 * ln2, 3 * ln2, ln2};
  const auto outputs = Eval(*node, {MakeTensor(desc, x)});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  const float expected[] = {0.125f, 0.25f, 0.5f, 0.125f};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-7f) << i;
  EXPECT_OK(CheckKernels(*node, {MakeTensor(desc, x)}));
}

TEST(Softmax, EqualInputsGiveEqualParts) {
  const TensorDesc desc = Desc(DataType::kFloat32, {8, 3});
  const auto node = Softmax(desc, 1.0, 0);
  ASSERT_OK(node);
  const auto outputs =
      Eval(*node, {MakeTensor(desc, std::vector<float>(24, -7.5f))});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]), std::vector<float>(24, 0.125f));
}

struct ExactCase {
  std::vector<int64_t> dims;
  int axis;
  float beta;
};

TEST(Softmax, Float32HasTheBitsOfTheRecipe) {
  const ExactCase cases[] = {
      {{5, 3}, 0, 1.0f},    {{5, 3}, 1, 1.0f},    {{3, 4, 2}, 0, 1.0f},
      {{3, 4, 2}, 1, 1.0f}, {{3, 4, 2}, 2, 1.0f}, {{100, 7}, 0, 0.5f},
      {{100, 7}, 1, 2.25f}, {{1000}, 0, 1.0f},    {{33, 17, 31}, 1, 3.0f}};
  std::mt19937 rng = SeededRng(1);
  for (const ExactCase& test : cases) {
    const TensorDesc desc = Desc(DataType::kFloat32, test.dims);
    const auto node = Softmax(desc, test.beta, test.axis);
    ASSERT_OK(node);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const TensorData input = RandomTensor(desc, rng);
      const auto outputs = Eval(*node, {input});
      ASSERT_OK(outputs);
      EXPECT_EQ(Values<float>((*outputs)[0]),
                Recipe(Values<float>(input), test.dims, test.beta, test.axis))
          << desc.ToString() << " axis " << test.axis;
      EXPECT_OK(CheckKernels(*node, {input}));
    }
  }
}

TEST(Softmax, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(2);
  const TensorDesc desc = Desc(DataType::kFloat32, {7, 33, 2});
  for (int axis = 0; axis < 3; ++axis) {
    const float beta = 1.5f;
    const auto node = Softmax(desc, beta, axis);
    ASSERT_OK(node);
    const TensorData input = RandomTensor(desc, rng);
    const auto outputs = Eval(*node, {input});
    ASSERT_OK(outputs);
    const std::vector<double> x = RealValues(input);
    const std::vector<double> y = RealValues((*outputs)[0]);
    const std::vector<int64_t> strides = ir::DenseStrides(desc.shape);
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t at = i / strides[axis] % desc.shape[axis];
      double sum = 0;
      for (int64_t j = 0; j < desc.shape[axis]; ++j) {
        sum += std::exp(beta * (x[i + (j - at) * strides[axis]] - x[i]));
      }
      // |t| < 32 is rounded twice, which the power turns into 32 * 2^-24.
      EXPECT_NEAR(y[i], 1 / sum, 4e-6 / sum) << "element " << i;
    }
  }
}

TensorDesc RandomLogits(DataType type, std::mt19937& rng) {
  const int64_t extents[] = {1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 40};
  std::vector<int64_t> dims(1 + rng() % 4);
  int64_t count = 1;
  for (int64_t& dim : dims) {
    dim = extents[rng() % std::size(extents)];
    if (count * dim > 20000) dim = 2;
    count *= dim;
  }
  return RandomDesc(type, dims, rng);
}

// An output of type `type` whose codes resolve [0, 1].
TensorDesc OutputDesc(DataType type, const ir::Shape& shape) {
  switch (type) {
    case DataType::kUint8:
      return Desc(type, shape.dims(), 1 / 256.0f, 0);
    case DataType::kInt8:
      return Desc(type, shape.dims(), 1 / 200.0f, -120);
    case DataType::kInt16:
      return DescFixed(type, shape.dims(), 14);
    default:
      return Desc(type, shape.dims());
  }
}

// Input and output types.
constexpr std::pair<DataType, DataType> kTypes[] = {
    {DataType::kFloat32, DataType::kFloat32},
    {DataType::kFloat16, DataType::kFloat16},
    {DataType::kUint8, DataType::kUint8},
    {DataType::kInt8, DataType::kInt8},
    {DataType::kInt16, DataType::kInt16},
    {DataType::kFloat32, DataType::kUint8},
    {DataType::kFloat16, DataType::kInt8},
    {DataType::kFloat32, DataType::kInt16},
    {DataType::kFloat16, DataType::kFloat32},
    {DataType::kUint8, DataType::kFloat32},
    {DataType::kInt8, DataType::kFloat16},
    {DataType::kInt16, DataType::kFloat32},
};

TEST(Softmax, KernelsEqualEvalOnRandomCases) {
  std::mt19937 rng = SeededRng(3);
  Sample sample(3);
  for (const auto& [in, out] : kTypes) {
    for (int i = 0; i < 20; ++i) {
      if (!sample.Takes()) continue;
      const TensorDesc desc = RandomLogits(in, rng);
      const int rank = desc.shape.rank();
      const double beta = 0.25 * (1 + rng() % 8);
      const auto axis = static_cast<int64_t>(rng() % (2 * rank)) - rank;
      const auto node = MakeNode("tim.Softmax", Attributes(beta, axis), {desc},
                                 {OutputDesc(out, desc.shape)});
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng))
          << desc.ToString() << " to " << ir::ToString(out) << " beta " << beta
          << " axis " << axis;
    }
  }
}

TEST(Softmax, NegativeAxisCountsFromEnd) {
  std::mt19937 rng = SeededRng(4);
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 5, 6});
  const TensorData input = RandomTensor(desc, rng);
  const auto last = Softmax(desc, 1.0, -1);
  const auto two = Softmax(desc, 1.0, 2);
  ASSERT_OK(last);
  ASSERT_OK(two);
  EXPECT_EQ((*Eval(*last, {input}))[0].bytes, (*Eval(*two, {input}))[0].bytes);
}

TEST(Softmax, NegativeAndZeroBeta) {
  std::mt19937 rng = SeededRng(5);
  const TensorDesc desc = Desc(DataType::kFloat32, {21, 3});
  const TensorData input = RandomTensor(desc, rng);
  const auto zero = Softmax(desc, 0.0, 0);
  ASSERT_OK(zero);
  const auto outputs = Eval(*zero, {input});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]),
            std::vector<float>(63, 1.0f * (1.0f / 21.0f)));
  EXPECT_OK(CheckKernels(*zero, {input}));

  const auto negative = Softmax(desc, -2.0, 0);
  ASSERT_OK(negative);
  EXPECT_EQ(Values<float>((*Eval(*negative, {input}))[0]),
            Recipe(Values<float>(input), desc.shape.dims(), -2.0f, 0));
  EXPECT_OK(CheckKernels(*negative, {input}));
}

TEST(Softmax, InfinitiesAndNaNFollowTheFormula) {
  const TensorDesc desc = Desc(DataType::kFloat32, {3, 5});
  const auto node = Softmax(desc, 1.0, 0);
  ASSERT_OK(node);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorData input =
      MakeTensor<float>(desc, {0, 0, -kInfinity,  // masked
                               1, nan, 2,         //
                               1, kInfinity, 2,   // infinity - infinity
                               -kInfinity, -kInfinity, -kInfinity,  //
                               0, -1e30f, -103.0f});  // subnormal power
  const auto outputs = Eval(*node, {input});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  EXPECT_EQ(y[0], 0.5f);
  EXPECT_EQ(y[2], 0.0f);
  for (int i = 3; i < 12; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[12], 1.0f);
  EXPECT_EQ(y[13], 0.0f);
  EXPECT_EQ(y[14], static_cast<float>(exp2l(-103.0f * 1.44269504f)));
  EXPECT_GT(y[14], 0.0f);
  EXPECT_OK(CheckKernels(*node, {input}));
}

TEST(Softmax, LargeRowsAndColumns) {
  std::mt19937 rng = SeededRng(6);
  for (const int axis : {0, 1}) {
    const auto node = Softmax(Desc(DataType::kFloat32, {1001, 301}), 1.0, axis);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng));
  }
}

// Few cores take rows by sixteens, many one by one: full and partial sixteens
// of full and partial vectors, with rows that are masked in parts.
TEST(Softmax, ManyRowsForFewAndManyCores) {
  std::mt19937 rng = SeededRng(7);
  for (const int units : {1, 1000}) {
    ir::DeviceInfo device = TestDevice();
    device.compute_units = units;
    for (const DataType type :
         {DataType::kFloat32, DataType::kFloat16, DataType::kUint8}) {
      for (const int64_t count : {64, 65, 300, 512}) {
        const TensorDesc desc = RandomDesc(type, {count, 133}, rng);
        const auto node =
            MakeNode("tim.Softmax", Attributes(1.0, 0), {desc},
                     {OutputDesc(DataType::kFloat32, desc.shape)});
        ASSERT_OK(node);
        TensorData input = RandomTensor(desc, rng);
        if (type == DataType::kFloat32) {
          std::vector<float> x = Values<float>(input);
          for (size_t i = 0; i < x.size(); i += 3) x[i] = -kInfinity;
          for (size_t i = 0; i < x.size(); i += 7) x[i] = -90.0f;
          // In a full sixteen, and in the one that is not.
          for (const int64_t row : {17, 130}) {
            std::fill_n(x.begin() + row * count, count, -kInfinity);
            x[(row + 1) * count + 5] = std::numeric_limits<float>::quiet_NaN();
            x[(row + 2) * count + 63] = kInfinity;
          }
          input = MakeTensor(desc, x);
        }
        const auto expected = Eval(*node, {input});
        ASSERT_OK(expected);
        const auto found = RunKernel(*node, "softmax", 0, {input}, device);
        ASSERT_OK(found);
        EXPECT_OK(CompareTensors((*expected)[0], (*found)[0], {}))
            << desc.ToString() << " for " << units << " cores";
      }
    }
  }
}

TEST(Softmax, FourBitAndPerChannelRunThroughEval) {
  TensorDesc desc = Desc(DataType::kUint8, {4, 2});
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = 1,
                       .scales = {0.5f, 0.25f},
                       .zero_points = {0, 4}};
  const auto node = MakeNode("tim.Softmax", Attributes(1.0, 0), {desc},
                             {Desc(DataType::kFloat32, {4, 2})});
  ASSERT_OK(node);
  EXPECT_TRUE(SupportedKernels(*node).empty());
  const auto outputs =
      Eval(*node, {MakeTensor<uint8_t>(desc, {2, 0, 0, 0, 8, 4, 4, 4})});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], y[i + 4]) << i;

  const TensorDesc nibbles = Desc(DataType::kInt4, {2}, 1.0f, 0);
  const auto packed = MakeNode("tim.Softmax", Attributes(1.0, 0), {nibbles},
                               {Desc(DataType::kFloat32, {2})});
  ASSERT_OK(packed);
  const auto halves = Eval(*packed, {MakeTensor<uint8_t>(nibbles, {0xff})});
  ASSERT_OK(halves);
  EXPECT_EQ(Values<float>((*halves)[0]), std::vector<float>(2, 0.5f));
}

TEST(Softmax, RejectsAxisOutsideOfTheRank) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 5});
  EXPECT_ERROR(Softmax(desc, 1.0, 2), "axis 2 is outside [-2, 2)");
  EXPECT_ERROR(Softmax(desc, 1.0, -3), "axis -3 is outside [-2, 2)");
}

TEST(Softmax, RejectsBooleans) {
  const TensorDesc flags = Desc(DataType::kBool8, {4});
  const TensorDesc real = Desc(DataType::kFloat32, {4});
  EXPECT_ERROR(MakeNode("tim.Softmax", Attributes(1.0, 0), {flags}, {real}),
               "the input is bool8, expected a float or integer type");
  EXPECT_ERROR(MakeNode("tim.Softmax", Attributes(1.0, 0), {real}, {flags}),
               "the output is bool8, expected a float or integer type");
}

TEST(Softmax, RejectsMissingAttributes) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4});
  EXPECT_ERROR(MakeNode("tim.Softmax", {{"beta", 1.0}}, {desc}, {desc}),
               "'axis' (int) is missing");
  EXPECT_ERROR(MakeNode("tim.Softmax", {{"axis", int64_t{0}}}, {desc}, {desc}),
               "'beta' (float) is missing");
}

TEST(Softmax, InfersWithUnknownRankAndExtents) {
  TensorDesc unknown = Desc(DataType::kFloat32, {});
  unknown.shape = ir::Shape();
  const auto unranked = Softmax(unknown, 1.0, 7);
  ASSERT_OK(unranked);
  EXPECT_FALSE(unranked->output().shape.ranked());

  TensorDesc open = Desc(DataType::kFloat16, {ir::kUnknownDim, 3});
  TensorDesc undeclared;
  const auto node =
      MakeNode("tim.Softmax", Attributes(1.0, -1), {open}, {undeclared});
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, open.shape);
  EXPECT_EQ(node->output().type, DataType::kFloat16);
}

}  // namespace
}  // namespace tim::testing
