#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/data/sum_types.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

AttributeMap Transposed(bool a, bool b) {
  return {{"transpose_a", a}, {"transpose_b", b}};
}
TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }
TensorDesc Inferred(TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

template <typename T>
TensorData Multiply(AttributeMap attributes, const TensorDesc& a,
                    std::vector<T> a_values, const TensorDesc& b,
                    std::vector<T> b_values, TensorDesc output) {
  const auto node = MakeNode("tim.Matmul", std::move(attributes), {a, b},
                             {Inferred(std::move(output))});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const std::vector<TensorData> inputs = {MakeTensor(a, a_values),
                                          MakeTensor(b, b_values)};
  EXPECT_OK(CheckKernels(*node, inputs, {1e-6, 1e-6}));
  const auto result = Eval(*node, inputs);
  EXPECT_OK(result);
  return (*result)[0];
}

TEST(Matmul, MultipliesRowsByColumns) {
  const TensorData out =
      Multiply<float>({}, F32({3, 2}), {1, 2, 3, 4, 5, 6}, F32({2, 3}),
                      {1, 10, 2, 20, 3, 30}, F32({}));
  EXPECT_EQ(out.desc.shape, ir::Shape({2, 2}));
  EXPECT_THAT(Values<float>(out), ElementsAre(14, 140, 32, 320));
}

TEST(Matmul, TransposedOperands) {
  // The same matrices, stored transposed.
  EXPECT_THAT(Values<float>(Multiply<float>(
                  Transposed(true, false), F32({2, 3}), {1, 4, 2, 5, 3, 6},
                  F32({2, 3}), {1, 10, 2, 20, 3, 30}, F32({}))),
              ElementsAre(14, 140, 32, 320));
  EXPECT_THAT(Values<float>(Multiply<float>(
                  Transposed(false, true), F32({3, 2}), {1, 2, 3, 4, 5, 6},
                  F32({3, 2}), {1, 2, 3, 10, 20, 30}, F32({}))),
              ElementsAre(14, 140, 32, 320));
  EXPECT_THAT(Values<float>(Multiply<float>(Transposed(true, true), F32({2, 3}),
                                            {1, 4, 2, 5, 3, 6}, F32({3, 2}),
                                            {1, 2, 3, 10, 20, 30}, F32({}))),
              ElementsAre(14, 140, 32, 320));
}

TEST(Matmul, AdjointFlagsHaveNoEffect) {
  EXPECT_THAT(Values<float>(Multiply<float>(
                  {{"adjoint_a", true}, {"adjoint_b", true}}, F32({2, 1}),
                  {1, 2}, F32({1, 2}), {3, 4}, F32({}))),
              ElementsAre(11));
}

TEST(Matmul, VectorsDropTheirDimension) {
  const TensorData row = Multiply<float>({}, F32({2}), {1, 2}, F32({3, 2}),
                                         {1, 2, 3, 10, 20, 30}, F32({}));
  EXPECT_EQ(row.desc.shape, ir::Shape({3}));
  EXPECT_THAT(Values<float>(row), ElementsAre(21, 42, 63));
  const TensorData column = Multiply<float>(
      {}, F32({2, 2, 2}), {1, 2, 3, 4, 5, 6, 7, 8}, F32({2}), {1, 10}, F32({}));
  EXPECT_EQ(column.desc.shape, ir::Shape({2, 2}));
  EXPECT_THAT(Values<float>(column), ElementsAre(21, 43, 65, 87));
  const TensorData dot =
      Multiply<float>({}, F32({3}), {1, 2, 3}, F32({3}), {4, 5, 6}, F32({}));
  EXPECT_EQ(dot.desc.shape, ir::Shape({1}));
  EXPECT_THAT(Values<float>(dot), ElementsAre(32));
}

TEST(Matmul, BatchesBroadcast) {
  const TensorData out = Multiply<float>(
      {}, F32({1, 1, 2, 1}), {1, 2}, F32({1, 1, 1, 3}), {10, 20, 30}, F32({}));
  EXPECT_EQ(out.desc.shape, ir::Shape({1, 1, 2, 3}));
  EXPECT_THAT(Values<float>(out), ElementsAre(10, 20, 20, 40, 30, 60));
}

TEST(Matmul, PlainIntegersAreExactAndSaturate) {
  const TensorDesc a = Desc(DataType::kInt32, {2, 1});
  const TensorDesc b = Desc(DataType::kInt32, {1, 2});
  const TensorDesc out = Desc(DataType::kInt32, {});
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  // 16777217 is no float32.
  EXPECT_THAT(
      Values<int32_t>(Multiply<int32_t>({}, a, {16777217, 0}, b, {1, 0}, out)),
      ElementsAre(16777217));
  // The sum of the products is 2^63, beyond 64 bits, and 2^62 - 2^62.
  EXPECT_THAT(Values<int32_t>(
                  Multiply<int32_t>({}, a, {kMin, kMin}, b, {kMin, kMin}, out)),
              ElementsAre(kMax));
  EXPECT_THAT(Values<int32_t>(
                  Multiply<int32_t>({}, a, {kMax, kMin}, b, {kMin, kMax}, out)),
              ElementsAre(kMin));
  EXPECT_THAT(Values<int32_t>(
                  Multiply<int32_t>({}, a, {kMax, kMax}, b, {kMin, kMax}, out)),
              ElementsAre(kMin + 1));
  EXPECT_THAT(
      Values<int32_t>(Multiply<int32_t>({{"overflow_policy", int64_t{0}}}, a,
                                        {kMax, 0}, b, {2, 0}, out)),
      ElementsAre(-2));
}

TEST(Matmul, QuantizedResultIsOneRequantize) {
  // (3 - 1) * 0.5 * (10 - 4) * 0.25 + ... = 1.5 -> 1.5 / 0.5 + 7 = 10.
  const TensorDesc a = Desc(DataType::kUint8, {2, 1}, 0.5f, 1);
  const TensorDesc b = Desc(DataType::kUint8, {1, 2}, 0.25f, 4);
  const TensorDesc out = Desc(DataType::kUint8, {}, 0.5f, 7);
  EXPECT_THAT(
      Values<uint8_t>(Multiply<uint8_t>({}, a, {3, 1}, b, {10, 200}, out)),
      ElementsAre(10));
}

TEST(Matmul, InfersWithUnknownExtents) {
  const auto shape_of = [](AttributeMap attributes, ir::Shape a, ir::Shape b) {
    TensorDesc x = F32({});
    TensorDesc y = F32({});
    x.shape = std::move(a);
    y.shape = std::move(b);
    const auto node =
        MakeNode("tim.Matmul", std::move(attributes), {x, y}, {TensorDesc()});
    EXPECT_OK(node);
    return node.ok() ? node->output().shape.ToString() : "";
  };
  EXPECT_EQ(shape_of({}, {}, {}), "[...]");
  EXPECT_EQ(shape_of({}, {2, 3}, {}), "[...]");
  EXPECT_EQ(shape_of({}, {-1, 3}, {4, 7}), "[4, 3]");
  EXPECT_EQ(shape_of({}, {2, -1, -1}, {-1, 2, 5}), "[?, ?, 5]");
  EXPECT_EQ(shape_of(Transposed(true, true), {5, -1}, {3, 4}), "[4, 5]");
}

TEST(Matmul, RejectsBadOperands) {
  const auto make = [](AttributeMap attributes, TensorDesc a, TensorDesc b,
                       TensorDesc out) {
    return MakeNode("tim.Matmul", std::move(attributes), {a, b},
                    {Inferred(out)})
        .status();
  };
  const TensorDesc f = F32({});
  EXPECT_ERROR(make({}, F32({3, 2}), F32({2, 2}), f),
               "A [3, 2] gives 3 values for each product, B [2, 2] takes 2");
  EXPECT_ERROR(make(Transposed(true, false), F32({3, 2}), F32({2, 3}), f),
               "A [3, 2] transposed gives 2");
  EXPECT_ERROR(make(Transposed(true, false), F32({3}), F32({2, 3}), f),
               "A [3] has rank 1 and cannot be transposed");
  EXPECT_ERROR(make(Transposed(false, true), F32({3, 2}), F32({3}), f),
               "B [3] has rank 1 and cannot be transposed");
  EXPECT_ERROR(make({}, F32({3, 2, 2}), F32({2, 3, 3}), f),
               "batch dimensions (axis 2 and up): shapes [2] and [3]");
  EXPECT_ERROR(make({}, Desc(DataType::kInt64, {3, 2}), F32({2, 3}), f),
               "input 0 is int64, expected one of");
  EXPECT_ERROR(make({}, F32({3, 2}), Desc(DataType::kBool8, {2, 3}), f),
               "input 1 is bool8, expected one of");
  TensorDesc channels = Desc(DataType::kInt8, {2, 3});
  channels.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                           .axis = 1,
                           .scales = {1, 2, 3},
                           .zero_points = {}};
  EXPECT_ERROR(make({}, Desc(DataType::kInt8, {3, 2}, 1, 0), channels, f),
               "input 1 is quantized per channel along axis 1, which is not");
}

// ----------------------------------------------------------------- all types

struct Extents {
  Ints a;
  Ints b;
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t depth = 1;
};

Extents RandomExtents(std::mt19937& rng) {
  const Ints sizes = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 40};
  const auto pick = [&] { return sizes[rng() % sizes.size()]; };
  Extents out;
  out.depth = pick();
  const int64_t m = pick();
  const int64_t n = pick();
  if (rng() % 8 == 0) {
    out.a = {out.depth};
  } else {
    out.transpose_a = rng() % 2 == 0;
    out.a = out.transpose_a ? Ints{m, out.depth} : Ints{out.depth, m};
  }
  if (rng() % 8 == 0) {
    out.b = {out.depth};
  } else {
    out.transpose_b = rng() % 2 == 0;
    out.b = out.transpose_b ? Ints{out.depth, n} : Ints{n, out.depth};
  }
  const int batches = static_cast<int>(rng() % 3);
  for (int i = 0; i < batches; ++i) {
    const int64_t extent = 1 + static_cast<int64_t>(rng() % 3);
    if (out.a.size() > 1) out.a.push_back(rng() % 3 == 0 ? 1 : extent);
    if (out.b.size() > 1) out.b.push_back(rng() % 3 == 0 ? 1 : extent);
  }
  while (out.a.size() > 2 && rng() % 4 == 0 && out.a.back() == 1) {
    out.a.pop_back();
  }
  return out;
}

// Index of element (inner, outer, batch...) where `batch` counts through the
// dims from 2 on of `shape` and broadcasts.
RealSums Reference(const Extents& e, const ir::Shape& output,
                   const std::vector<double>& a, const std::vector<double>& b) {
  const auto index = [](const Ints& shape, const Ints& at) {
    int64_t out = 0;
    int64_t stride = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      out += shape[axis] == 1 ? 0 : at[axis] * stride;
      stride *= shape[axis];
    }
    return out;
  };
  const bool row = e.a.size() == 1;
  const bool column = e.b.size() == 1;
  RealSums out;
  const int64_t count = *output.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    Ints at;
    int64_t rest = i;
    for (const int64_t extent : output.dims()) {
      at.push_back(rest % extent);
      rest /= extent;
    }
    if (column) at.insert(at.begin(), 0);
    if (row) at.insert(at.begin() + 1, 0);
    at.resize(10, 0);
    double sum = 0;
    double magnitude = 0;
    for (int64_t k = 0; k < e.depth; ++k) {
      Ints at_a = at;
      Ints at_b = at;
      at_a[0] = e.transpose_a ? at[1] : k;
      at_a[1] = e.transpose_a ? k : at[1];
      at_b[0] = e.transpose_b || column ? k : at[0];
      at_b[1] = e.transpose_b ? at[0] : k;
      const double product = a[index(e.a, at_a)] * b[index(e.b, at_b)];
      sum += product;
      magnitude += std::abs(product);
    }
    out.Add(sum, magnitude);
  }
  return out;
}

std::vector<SumTypes> WithoutChannels(std::vector<SumTypes> types) {
  std::erase_if(types, [](const SumTypes& t) {
    return t.weights.quantized == Quantized::kPerChannel;
  });
  for (SumTypes& t : types) t.biases.clear();
  return types;
}

std::vector<SumTypes> MatmulKernelTypes() {
  std::vector<SumTypes> out = WithoutChannels(KernelSumTypes());
  const SumType f32 = {DataType::kFloat32, Quantized::kNo};
  const SumType f16 = {DataType::kFloat16, Quantized::kNo};
  const SumType i32 = {DataType::kInt32, Quantized::kNo};
  const SumType i16 = {DataType::kInt16, Quantized::kNo};
  const SumType u8 = {DataType::kUint8, Quantized::kPerTensor};
  const SumType i8_fixed = {DataType::kInt8, Quantized::kFixed};
  const SumType i16_fixed = {DataType::kInt16, Quantized::kFixed};
  out.push_back({"i32", i32, i32, i32});
  out.push_back({"i32_i16", i32, i16, i32});
  out.push_back({"f32_i32", f32, i32, f32});
  out.push_back({"f32_i8_fixed", f32, i8_fixed, f32});
  out.push_back({"f32_i16_fixed", f32, i16_fixed, f32});
  out.push_back({"f16_u8", f16, u8, f16});

  return out;
}

struct Drawn {
  Extents extents;
  SumOperands operands;
};
Drawn Draw(const SumTypes& types, std::mt19937& rng) {
  Drawn out;
  out.extents = RandomExtents(rng);
  out.operands = RandomSumOperands(
      types, {out.extents.a, out.extents.b, 0, 1, out.extents.depth}, rng);
  return out;
}

Result<TestNode> NodeOf(const Drawn& drawn) {
  return MakeNode(
      "tim.Matmul",
      Transposed(drawn.extents.transpose_a, drawn.extents.transpose_b),
      {drawn.operands.input, drawn.operands.weights}, {drawn.operands.output});
}

class MatmulEval : public ::testing::TestWithParam<SumTypes> {};

TEST_P(MatmulEval, FollowsFormula) {
  std::mt19937 rng = SeededRng(31);
  for (int i = 0; i < 30; ++i) {
    const Drawn drawn = Draw(GetParam(), rng);
    SCOPED_TRACE(drawn.operands.input.ToString() + " " +
                 drawn.operands.weights.ToString());
    const auto node = NodeOf(drawn);
    ASSERT_OK(node);
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto result = Eval(*node, inputs);
    ASSERT_OK(result);
    EXPECT_OK(
        CheckRealSums(drawn.operands,
                      Reference(drawn.extents, node->output().shape,
                                RealValues(inputs[0]), RealValues(inputs[1])),
                      (*result)[0]));
  }
}

class MatmulKernels : public ::testing::TestWithParam<SumTypes> {};

TEST_P(MatmulKernels, EqualEval) {
  std::mt19937 rng = SeededRng(32);
  const int cases = RunsLongTests() ? 25 : 5;
  for (int i = 0; i < cases; ++i) {
    const Drawn drawn = Draw(GetParam(), rng);
    SCOPED_TRACE(drawn.operands.input.ToString() + " " +
                 drawn.operands.weights.ToString());
    const auto node = NodeOf(drawn);
    ASSERT_OK(node);
    // f32 * i32 has values of 1e9.
    EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
  }
}

std::vector<SumTypes> AllTypes() {
  std::vector<SumTypes> out = MatmulKernelTypes();
  for (SumTypes& types : WithoutChannels(EvalSumTypes())) {
    out.push_back(std::move(types));
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, MatmulEval, ::testing::ValuesIn(AllTypes()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(All, MatmulKernels,
                         ::testing::ValuesIn(MatmulKernelTypes()),
                         [](const auto& info) { return info.param.name; });

TEST(MatmulKernel, FusedEpilogueEqualsBody) {
  std::mt19937 rng = SeededRng(33);
  const TensorDesc out = F32({17, 3, 2});
  auto node = MakeNode("tim.Matmul", {}, {F32({5, 3, 2}), F32({17, 5})},
                       {Inferred(out)});
  ASSERT_OK(node);
  node = Fuse(*node, "tim.Add", {}, {F32({17})}, out);
  ASSERT_OK(node);
  node = Fuse(*node, "tim.Relu6", {}, {}, out);
  ASSERT_OK(node);
  EXPECT_OK(CheckKernels(*node, rng, {1e-5, 1e-5}));
}

}  // namespace
}  // namespace tim::testing
