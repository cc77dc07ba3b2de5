#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/op_schema.h"
#include "tests/support/data/pool2d_reference.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

Result<TestNode> Pool(const TensorDesc& input, const AttributeMap& attributes) {
  return MakeNode("tim.Pool2d", attributes, {input}, {Undeclared(input)});
}

std::vector<float> EvalFloats(const Result<TestNode>& node,
                              const std::vector<float>& input) {
  const auto outputs = Eval(*node, {MakeTensor(node->input(0), input)});
  return outputs.ok() ? Values<float>((*outputs)[0]) : std::vector<float>();
}

constexpr PoolKind kTypes[] = {kMax, kAvg, kL2, kAvgAndroid, kAvgPadded};

TEST(Pool2d, HandCheckedWindows) {
  // 1 2 3
  // 4 5 6
  const TensorDesc desc = Desc(DataType::kFloat32, {3, 2, 1, 1});
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const auto check = [&](PoolKind type, const std::vector<float>& expected) {
    const auto node =
        Pool(desc, PoolAttributes(type, {2, 2}, {1, 1}, {1, 0, 0, 0}));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape({3, 1, 1, 1}));
    const std::vector<float> y = EvalFloats(node, x);
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_FLOAT_EQ(y[i], expected[i]) << type << " " << i;
    }
  };
  check(kMax, {4, 5, 6});
  check(kAvg, {1.25f, 3, 4});
  check(kAvgAndroid, {2.5f, 3, 4});
  check(kL2,
        {std::sqrt(17 / 2.0f), std::sqrt(46 / 4.0f), std::sqrt(74 / 4.0f)});
}

// Five columns in windows of 3 by 2 with a pad of 1 before and none, 1 and 2
// behind, all extents rounded up.
TEST(Pool2d, PaddedMeansLeaveOutWhatIsBeyondThePadding) {
  const TensorDesc desc = Desc(DataType::kFloat32, {5, 1, 1, 1});
  const auto check = [&](PoolKind type, int64_t back,
                         const std::vector<float>& expected) {
    AttributeMap attributes =
        PoolAttributes(type, {3, 1}, {2, 1}, {1, back, 0, 0});
    attributes.Set(ir::kRoundType, int64_t{0});
    const auto node = Pool(desc, attributes);
    ASSERT_OK(node);
    EXPECT_EQ(EvalFloats(node, {3, 6, 9, 12, 15}), expected) << back;
    std::mt19937 rng = SeededRng(6);
    EXPECT_OK(CheckKernels(*node, rng, {.relative = 3e-7}));
  };
  check(kAvg, 0, {3, 9, 9});
  check(kAvgPadded, 0, {3, 9, 13.5f});
  check(kAvgPadded, 1, {3, 9, 9});
  check(kAvgPadded, 2, {3, 9, 9, 0});
  check(kAvgAndroid, 1, {4.5f, 9, 13.5f});
}

TEST(Pool2d, ExtentsRoundDownOrUp) {
  const TensorDesc desc = Desc(DataType::kFloat32, {8, 7, 1, 1});
  AttributeMap attributes = PoolAttributes(kMax, {3, 3}, {2, 2}, {0, 1, 0, 1});
  EXPECT_EQ(Pool(desc, attributes)->output().shape, ir::Shape({4, 3, 1, 1}));
  attributes.Set(ir::kRoundType, int64_t{0});
  EXPECT_EQ(Pool(desc, attributes)->output().shape, ir::Shape({4, 4, 1, 1}));
}

TEST(Pool2d, PaddingModes) {
  const TensorDesc desc = Desc(DataType::kFloat32, {5, 6, 1, 1});
  const auto shape = [&](PaddingKind padding) {
    AttributeMap attributes =
        PoolAttributes(kMax, {3, 3}, {2, 2}, {1, 1, 1, 1});
    attributes.Set("padding", padding);
    return Pool(desc, attributes)->output().shape;
  };
  EXPECT_EQ(shape(kNone), ir::Shape({3, 3, 1, 1}));
  EXPECT_EQ(shape(kAuto), ir::Shape({3, 3, 1, 1}));
  EXPECT_EQ(shape(kValid), ir::Shape({2, 2, 1, 1}));
  EXPECT_EQ(shape(kSame), ir::Shape({3, 3, 1, 1}));
}

TEST(Pool2d, SamePutsTheLargerPadBehind) {
  // Width 4, windows of 3 by 2: one pad, behind.
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 1, 1, 1});
  AttributeMap attributes = PoolAttributes(kAvg, {3, 1}, {2, 1});
  attributes.Set("padding", kSame);
  const auto node = Pool(desc, attributes);
  ASSERT_OK(node);
  EXPECT_EQ(EvalFloats(node, {3, 6, 9, 12}), (std::vector<float>{6, 7}));
}

TEST(Pool2d, NegativeDataIsNotMixedWithPadding) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 4, 1, 1});
  AttributeMap attributes = PoolAttributes(kMax, {3, 3}, {2, 2}, {0, 1, 0, 1});
  attributes.Set(ir::kRoundType, int64_t{0});
  const auto node = Pool(desc, attributes);
  ASSERT_OK(node);
  std::vector<float> x(16);
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i - 100);
  EXPECT_EQ(EvalFloats(node, x), (std::vector<float>{-90, -89, -86, -85}));
  EXPECT_OK(CheckKernels(*node, {MakeTensor(desc, x)}));
}

TEST(Pool2d, WindowInThePaddingAlone) {
  const TensorDesc real = Desc(DataType::kFloat32, {2, 1, 17, 1});
  const TensorDesc half = Desc(DataType::kFloat16, {2, 1, 1, 1});
  const TensorDesc codes = Desc(DataType::kUint8, {2, 1, 1, 1}, 0.5f, 10);
  for (const PoolKind type : kTypes) {
    const AttributeMap attributes =
        PoolAttributes(type, {2, 1}, {2, 1}, {2, 2, 0, 0});
    const auto node = Pool(real, attributes);
    ASSERT_OK(node);
    const float empty = type == kMax ? kLowest : 0.0f;
    const std::vector<float> y = EvalFloats(node, std::vector<float>(34, 1.0f));
    EXPECT_EQ(y[0], empty);
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_EQ(y[2], empty);
    std::mt19937 rng(1);
    EXPECT_OK(CheckKernels(*node, rng, {.relative = 3e-7}));

    const auto halves = Pool(half, attributes);
    ASSERT_OK(halves);
    EXPECT_EQ(RealValues(
                  (*Eval(*halves, {MakeTensor<uint16_t>(half, {0, 0})}))[0])[0],
              type == kMax ? -65504.0 : 0.0);
    EXPECT_OK(CheckKernels(*halves, rng));

    const auto quantized = Pool(codes, attributes);
    ASSERT_OK(quantized);
    EXPECT_EQ(
        Codes((*Eval(*quantized, {MakeTensor<uint8_t>(codes, {9, 9})}))[0])[0],
        type == kMax ? 0 : 10);
    EXPECT_OK(CheckKernels(*quantized, rng));
  }
}

TEST(Pool2d, GlobalIsOneWindow) {
  std::mt19937 rng = SeededRng(1);
  const TensorDesc desc = Desc(DataType::kFloat32, {7, 5, 3, 2});
  const PoolAxis w{.input = 7, .kernel = 7, .stride = 7};
  const PoolAxis h{.input = 5, .kernel = 5, .stride = 5};
  for (const PoolKind type : kTypes) {
    const auto node = Pool(
        desc, {{"type", type}, {"mode", "global"}, {"input_size", Ints{7, 5}}});
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape({1, 1, 3, 2}));
    const TensorData input = RandomTensor(desc, rng);
    EXPECT_OK(CheckReal((*Eval(*node, {input}))[0],
                        PoolReference(type, w, h, RealValues(input), kLowest),
                        {.absolute = 1e-6}));
    EXPECT_OK(CheckKernels(*node, rng, {.relative = 3e-7}));
  }
}

TEST(Pool2d, AdaptiveWindowsCoverTheInput) {
  std::mt19937 rng = SeededRng(2);
  const TensorDesc desc = Desc(DataType::kFloat32, {7, 8, 2, 1});
  const PoolAxis w{.input = 7, .kernel = 3, .stride = 2, .output = 3};
  const PoolAxis h{.input = 8, .kernel = 2, .stride = 2, .output = 4};
  for (const PoolKind type : kTypes) {
    const auto node = Pool(desc, {{"type", type},
                                  {"mode", "adaptive"},
                                  {"input_size", Ints{7, 8}},
                                  {"output_size", Ints{3, 4}}});
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape({3, 4, 2, 1}));
    const TensorData input = RandomTensor(desc, rng);
    EXPECT_OK(CheckReal((*Eval(*node, {input}))[0],
                        PoolReference(type, w, h, RealValues(input), kLowest),
                        {.absolute = 1e-6}));
    EXPECT_OK(CheckKernels(*node, rng, {.relative = 3e-7}));
  }
}

TEST(Pool2d, RankThreeHasChannelsAndNoBatch) {
  const TensorDesc desc = Desc(DataType::kFloat32, {2, 2, 2});
  const auto node = Pool(desc, PoolAttributes(kMax, {2, 2}, {2, 2}));
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({1, 1, 2}));
  EXPECT_EQ(EvalFloats(node, {1, 2, 3, 4, 8, 7, 6, 5}),
            (std::vector<float>{4, 8}));
}

TEST(Pool2d, KernelLargerThanTheImage) {
  const TensorDesc desc = Desc(DataType::kFloat32, {3, 3, 1, 1});
  AttributeMap attributes = PoolAttributes(kAvgAndroid, {100, 100}, {2, 2});
  attributes.Set("padding", kSame);
  const auto node = Pool(desc, attributes);
  ASSERT_OK(node);
  std::vector<float> x(9);
  for (int i = 0; i < 9; ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(EvalFloats(node, x), std::vector<float>(4, 4.0f));
  EXPECT_OK(CheckKernels(*node, {MakeTensor(desc, x)}, {.relative = 3e-7}));
}

TEST(Pool2d, WideKernelWithWidePadding) {
  std::mt19937 rng = SeededRng(3);
  const TensorDesc desc = Desc(DataType::kFloat32, {13, 2, 1, 1});
  const auto node =
      Pool(desc, PoolAttributes(kAvg, {35, 1}, {1, 1}, {30, 30, 0, 0}));
  ASSERT_OK(node);
  const PoolAxis w{.input = 13, .kernel = 35, .front = 30, .output = 39};
  const PoolAxis h{.input = 2, .output = 2};
  EXPECT_EQ(node->output().shape, ir::Shape({39, 2, 1, 1}));
  const TensorData input = RandomTensor(desc, rng);
  EXPECT_OK(CheckReal((*Eval(*node, {input}))[0],
                      PoolReference(kAvg, w, h, RealValues(input), kLowest),
                      {.absolute = 1e-6}));
}

TEST(Pool2d, StrideZeroIsLegalForOneWindow) {
  const TensorDesc desc = Desc(DataType::kFloat32, {2, 2, 1, 1});
  const auto node = Pool(desc, PoolAttributes(kMax, {2, 2}, {0, 0}));
  ASSERT_OK(node);
  EXPECT_EQ(EvalFloats(node, {1, 4, 3, 2}), (std::vector<float>{4}));
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {1, 2}, {0, 1})),
               "along W: stride is 0, expected >= 1 (0 is legal only where the "
               "window, 1, is as large as the input, 2)");
  // A declared shape does not make it legal.
  EXPECT_ERROR(MakeNode("tim.Pool2d", PoolAttributes(kMax, {1, 1}, {0, 0}),
                        {desc}, {Desc(DataType::kFloat32, {3, 3, 1, 1})}),
               "along W: stride is 0");
}

TEST(Pool2d, NaNStays) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 1, 1, 1});
  for (const PoolKind type : kTypes) {
    const auto node = Pool(desc, PoolAttributes(type, {2, 1}, {2, 1}));
    ASSERT_OK(node);
    const std::vector<float> y = EvalFloats(node, {nan, 1, 2, 3});
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_FALSE(std::isnan(y[1]));
    EXPECT_OK(CheckKernels(
        *node, {MakeTensor<float>(desc, {1, nan, -INFINITY, INFINITY})},
        {.relative = 3e-7}));
  }
}

TEST(Pool2d, QuantizedMeanIsExactAndRoundsHalfToEven) {
  const TensorDesc desc = Desc(DataType::kUint8, {2, 5, 1, 1}, 0.1f, 7);
  const auto node = Pool(desc, PoolAttributes(kAvg, {2, 1}, {2, 1}));
  ASSERT_OK(node);
  const auto outputs =
      Eval(*node, {MakeTensor<uint8_t>(desc, {0, 1, 1, 2, 2, 3,  //
                                              255, 254, 9, 9})});
  ASSERT_OK(outputs);
  EXPECT_EQ(Codes((*outputs)[0]), (Ints{0, 2, 2, 254, 9}));
  // Every mean of up to 64 codes against integer arithmetic.
  std::mt19937 rng = SeededRng(4);
  for (int size = 1; size <= 8; ++size) {
    const TensorDesc square = Desc(DataType::kUint8, {size, size, 50, 1}, 0.1f,
                                   static_cast<int>(rng() % 256));
    const auto pool = Pool(square, PoolAttributes(kAvg, {size, size}, {1, 1}));
    ASSERT_OK(pool);
    const TensorData input = RandomTensor(square, rng);
    const Ints x = Codes(input);
    const Ints y = Codes((*Eval(*pool, {input}))[0]);
    const int64_t n = size * size;
    for (int64_t c = 0; c < 50; ++c) {
      int64_t sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += x[c * n + i];
      int64_t mean = (2 * sum + n) / (2 * n);  // half up
      if ((2 * sum + n) % (2 * n) == 0 && mean % 2 != 0) --mean;
      EXPECT_EQ(y[c], mean) << "size " << size << " channel " << c;
    }
  }
}

TEST(Pool2d, MaxOfEqualQuantizationCopiesCodes) {
  std::mt19937 rng = SeededRng(6);
  for (const DataType type : {DataType::kInt32, DataType::kUint4}) {
    const TensorDesc desc = Desc(type, {4, 4, 2, 1}, 0.3f, 5);
    const auto node = Pool(desc, PoolAttributes(kMax, {1, 1}, {1, 1}));
    ASSERT_OK(node);
    EXPECT_TRUE(SupportedKernels(*node).empty());
    const TensorData input = RandomTensor(desc, rng);
    EXPECT_EQ(Codes((*Eval(*node, {input}))[0]), Codes(input));
  }
}

TEST(Pool2d, PerChannelRunsThroughEval) {
  TensorDesc desc = Desc(DataType::kUint8, {2, 1, 2, 1});
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = 2,
                       .scales = {1.0f, 2.0f},
                       .zero_points = {0, 0}};
  const auto node =
      MakeNode("tim.Pool2d", PoolAttributes(kAvg, {2, 1}, {2, 1}), {desc},
               {Undeclared(Desc(DataType::kFloat32, {}))});
  ASSERT_OK(node);
  EXPECT_TRUE(SupportedKernels(*node).empty());
  const auto outputs = Eval(*node, {MakeTensor<uint8_t>(desc, {1, 2, 1, 2})});
  EXPECT_EQ(Values<float>((*outputs)[0]), (std::vector<float>{1.5f, 3.0f}));
}

TEST(Pool2d, DeclaredExtentsRule) {
  const TensorDesc input = Desc(DataType::kFloat32, {5, 5, 1, 1});
  const AttributeMap attributes = PoolAttributes(kAvgAndroid, {2, 2}, {2, 2});
  const auto node = MakeNode("tim.Pool2d", attributes, {input},
                             {Desc(DataType::kFloat32, {3, 3, 1, 1})});
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({3, 3, 1, 1}));
  std::vector<float> x(25);
  for (int i = 0; i < 25; ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(EvalFloats(node, x),
            (std::vector<float>{3, 5, 6.5f, 13, 15, 16.5f, 20.5f, 22.5f, 24}));
  EXPECT_OK(CheckKernels(*node, {MakeTensor(input, x)}, {.relative = 3e-7}));
}

TEST(Pool2d, InfersWithUnknownRankAndExtents) {
  TensorDesc input = Desc(DataType::kFloat16, {});
  input.shape = ir::Shape();
  const AttributeMap attributes = PoolAttributes(kMax, {2, 2}, {2, 2});
  const auto unranked =
      MakeNode("tim.Pool2d", attributes, {input}, {TensorDesc()});
  ASSERT_OK(unranked);
  EXPECT_FALSE(unranked->output().shape.ranked());
  EXPECT_EQ(unranked->output().type, DataType::kFloat16);

  input.shape = ir::Shape({ir::kUnknownDim, 8, 3, ir::kUnknownDim});
  const auto open = Pool(input, attributes);
  ASSERT_OK(open);
  EXPECT_EQ(open->output().shape,
            ir::Shape({ir::kUnknownDim, 4, 3, ir::kUnknownDim}));
}

TEST(Pool2d, RejectsBadAttributes) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 4, 1, 1});
  EXPECT_ERROR(
      Pool(desc, PoolAttributes(static_cast<PoolKind>(7), {2, 2}, {1, 1})),
      "attribute 'type' is 7, expected one of 0 (max), 1 (avg), 2 "
      "(l2), 3 (avg_android)");
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {2}, {1, 1})),
               "attribute 'ksize' has 1 elements, expected 2");
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {2, 0}, {1, 1})),
               "attribute 'ksize' is [2, 0], expected values from 1");
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {2, 2}, {1, -1})),
               "attribute 'stride' is [1, -1], expected values from 0");
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {2, 2}, {1, 1}, {0, 0, 0})),
               "attribute 'pad' has 3 elements, expected 4");
  EXPECT_ERROR(Pool(desc, PoolAttributes(kMax, {2, 2}, {1, 1}, {0, -1, 0, 0})),
               "attribute 'pad' is [0, -1, 0, 0], expected values from 0");
  EXPECT_ERROR(Pool(desc, {{"type", kMax}, {"mode", "local"}}),
               "attribute 'mode' is 'local', expected window, global or "
               "adaptive");
  EXPECT_ERROR(Pool(desc, {{"type", kMax}, {"mode", "global"}}),
               "attribute 'input_size' has 0 elements, expected 2");
  EXPECT_ERROR(Pool(desc, {{"type", kMax},
                           {"mode", "adaptive"},
                           {"input_size", Ints{4, 4}},
                           {"output_size", Ints{5, 1}}}),
               "output_size 5 exceeds input_size 4");
}

TEST(Pool2d, RejectsBadOperands) {
  const AttributeMap attributes = PoolAttributes(kMax, {2, 2}, {1, 1});
  EXPECT_ERROR(Pool(Desc(DataType::kFloat32, {4, 4}), attributes),
               "has rank 2, expected [W, H, C, N] or [W, H, C]");
  EXPECT_ERROR(Pool(Desc(DataType::kBool8, {4, 4, 1, 1}), attributes),
               "the input is bool8, expected a float type or an integer type");
  EXPECT_ERROR(
      MakeNode("tim.Pool2d", attributes, {Desc(DataType::kFloat32, {4, 4, 1})},
               {Undeclared(Desc(DataType::kInt64, {}))}),
      "the output is int64, expected a float type or an integer type");
  EXPECT_ERROR(Pool(Desc(DataType::kFloat32, {4, 1, 1, 1}), attributes),
               "along H: a window of 2 does not fit the input, 1");
}

TEST(Pool2d, PermutationMaySwapWidthAndHeight) {
  const auto node = Pool(Desc(DataType::kFloat32, {8, 9, 2, 3}),
                         PoolAttributes(kMax, {2, 3}, {1, 2}, {0, 1, 1, 2}));
  ASSERT_OK(node);
  const TensorDesc* operands[] = {&node->input(0)};
  const TensorDesc* results[] = {&node->output()};
  const ir::NodeView view{node->graph.node(node->node), operands, results};
  const ir::Permutation swapped = {1, 0, 3, 2};
  const auto answer = ir::PermuteNode(view, 0, swapped);
  ASSERT_OK(answer);
  EXPECT_EQ(answer->attributes.Ints("ksize"), (Ints{3, 2}));
  EXPECT_EQ(answer->attributes.Ints("stride"), (Ints{2, 1}));
  EXPECT_EQ(answer->attributes.Ints("pad"), (Ints{1, 2, 0, 1}));
  EXPECT_EQ(answer->outputs, std::vector<ir::Permutation>{swapped});
  const int nhwc[] = {2, 0, 1, 3};
  EXPECT_ERROR(ir::PermuteNode(view, 0, nhwc), "needs W and H");
}

}  // namespace
}  // namespace tim::testing
