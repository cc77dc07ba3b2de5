#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

constexpr char kKernel[] = "pool2d_nchw16c";
constexpr int64_t kMax = 0;
constexpr int64_t kAvg = 1;
constexpr int64_t kL2 = 2;
constexpr int64_t kAvgAndroid = 3;
constexpr int64_t kAvgPadded = 4;

Result<TestNode> Pool(const TensorDesc& input, int64_t type, const Ints& ksize,
                      const Ints& stride, const Ints& pad) {
  TensorDesc output = input;
  output.shape = ir::Shape();
  return MakeNode("tim.Pool2d",
                  {{"type", type},
                   {"ksize", ksize},
                   {"stride", stride},
                   {"pad", pad},
                   {ir::kRoundType, int64_t{0}}},
                  {input}, {output});
}

// The kernel alone against eval.
Status Compare(const TestNode& node, const TensorData& input,
               Tolerance tolerance, int layout = 0) {
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, {input}));
  TIM_ASSIGN_OR_RETURN(const auto actual,
                       RunKernel(node, kKernel, layout, {input}));
  return CompareTensors(expected[0], actual[0], tolerance);
}

TEST(Pool2dNchw16c, MaxEqualsEval) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t channels : {1, 15, 16, 17, 31, 32, 33}) {
    for (const int64_t width : {1, 7, 8, 9, 31, 33}) {
      if (!sample.Takes()) continue;
      const auto node = Pool(Desc(DataType::kFloat32, {width, 13, channels, 2}),
                             kMax, {3, 2}, {2, 1}, {1, 1, 0, 1});
      ASSERT_OK(node);
      for (int repeat = 0; repeat < 2; ++repeat) {
        EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng), {}))
            << node->input(0).ToString();
      }
    }
  }
}

TEST(Pool2dNchw16c, MaxOfFewColumnsWithPaddingEqualsEval) {
  std::mt19937 rng = SeededRng(4);
  Sample sample(5);
  for (const int64_t size : {1, 2, 3, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const Ints& pad : {Ints{0, 0, 0, 0}, Ints{2, 1, 1, 2}}) {
        for (const int64_t width : {5, 17, 24, 26}) {
          if (!sample.Takes()) continue;
          const auto node = Pool(Desc(DataType::kFloat32, {width, 6, 17, 1}),
                                 kMax, {size, 2}, {stride, 2}, pad);
          ASSERT_OK(node);
          EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng), {}))
              << node->input(0).ToString() << " size " << size << " stride "
              << stride;
        }
      }
    }
  }
}

TEST(Pool2dNchw16c, MeansAreWithinTwoRoundings) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t type : {kAvg, kAvgAndroid, kAvgPadded}) {
    for (const int64_t channels : {3, 16, 33}) {
      for (const Ints& ksize : {Ints{1, 1}, Ints{2, 3}, Ints{5, 5}}) {
        const auto node = Pool(Desc(DataType::kFloat32, {17, 9, channels, 1}),
                               type, ksize, {1, 2}, {2, 2, 2, 2});
        ASSERT_OK(node);
        for (int repeat = 0; repeat < 2; ++repeat) {
          EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng),
                            {.relative = 0x1p-22}))
              << node->input(0).ToString();
        }
      }
    }
  }
}

// Then no reorder has to follow.
TEST(Pool2dNchw16c, SinglePixelsOfWholeBlocksMayBeDense) {
  std::mt19937 rng = SeededRng(6);
  const auto pool = [](const Ints& size, int64_t channels) {
    return Pool(Desc(DataType::kFloat32, {size[0], size[1], channels, 2}), kAvg,
                size, {1, 1}, {0, 0, 0, 0});
  };
  for (const Ints& size : {Ints{1, 1}, Ints{7, 5}}) {
    const auto node = pool(size, 48);
    ASSERT_OK(node);
    for (const int layout : {0, 1}) {
      EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng),
                        {.relative = 0x1p-22}, layout))
          << size[0] << " x " << size[1] << ", layout " << layout;
    }
  }
  const auto tail = pool({7, 5}, 47);
  ASSERT_OK(tail);
  EXPECT_EQ(LayoutCount(*tail, kKernel), 1);
}

TEST(Pool2dNchw16c, EmptyWindowsKeepTailLanesZero) {
  // RunKernel fails where a tail lane is not 0.
  std::mt19937 rng = SeededRng(3);
  for (const int64_t type : {kMax, kAvg, kAvgAndroid, kAvgPadded}) {
    const auto node = Pool(Desc(DataType::kFloat32, {4, 4, 19, 2}), type,
                           {2, 2}, {2, 2}, {2, 4, 2, 4});
    ASSERT_OK(node);
    EXPECT_OK(Compare(*node, RandomTensor(node->input(0), rng),
                      {.relative = 0x1p-22}));
  }
}

TEST(Pool2dNchw16c, RankThreeAndNaN) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 1, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t type : {kMax, kAvg, kAvgAndroid, kAvgPadded}) {
    const auto node = Pool(desc, type, {2, 1}, {2, 1}, {0, 0, 0, 0});
    ASSERT_OK(node);
    EXPECT_OK(Compare(
        *node, MakeTensor<float>(desc, {1, nan, -INFINITY, INFINITY}), {}));
    EXPECT_OK(Compare(*node, MakeTensor<float>(desc, {nan, 1, -1, -2}), {}));
  }
}

TEST(Pool2dNchw16c, NaNReachesEveryWindowThatHasIt) {
  std::mt19937 rng = SeededRng(5);
  const auto node = Pool(Desc(DataType::kFloat32, {20, 5, 16, 1}), kMax, {3, 3},
                         {2, 2}, {1, 1, 1, 1});
  ASSERT_OK(node);
  for (int repeat = 0; repeat < 8; ++repeat) {
    std::vector<float> values(20 * 5 * 16);
    for (float& value : values) {
      value = rng() % 8 == 0 ? std::numeric_limits<float>::quiet_NaN()
                             : static_cast<float>(rng() % 100) - 50;
    }
    EXPECT_OK(Compare(*node, MakeTensor<float>(node->input(0), values), {}));
  }
}

TEST(Pool2dNchw16c, Refusals) {
  const Ints one = {1, 1};
  const Ints none = {0, 0, 0, 0};
  const auto half =
      Pool(Desc(DataType::kFloat16, {4, 4, 16, 1}), kMax, one, one, none);
  ASSERT_OK(half);
  EXPECT_ERROR(Supports(*half, kKernel), "float16, takes float32 only");
  const auto l2 =
      Pool(Desc(DataType::kFloat32, {4, 4, 16, 1}), kL2, one, one, none);
  ASSERT_OK(l2);
  EXPECT_ERROR(Supports(*l2, kKernel), "takes no L2 pooling");
  const auto large = Pool(Desc(DataType::kFloat32, {1 << 14, 1 << 14, 1, 1}),
                          kMax, one, one, none);
  ASSERT_OK(large);
  EXPECT_ERROR(Supports(*large, kKernel), "more elements than 32 bits count");
  EXPECT_ERROR(Supports(*l2, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

}  // namespace
}  // namespace tim::testing
