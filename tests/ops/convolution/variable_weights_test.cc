// Convolutions with weights that are no constants: the kernels that pack them
// in every run give the bits that constant ones do.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::TensorDesc;
using Constants = std::map<int, TensorData>;
/// A node whose operands in the map are constants, the others inputs.
using Make = std::function<Result<TestNode>(const Constants&)>;

// `weights`: operands of the node that are packed, ascending.
void Check(const Make& make, const std::vector<int>& weights,
           const char* kernel, std::mt19937& rng) {
  const auto variable = make({});
  ASSERT_OK(variable);
  ASSERT_OK(Supports(*variable, kernel));
  const std::vector<TensorData> inputs = RandomInputs(*variable, rng);
  Constants constants;
  std::vector<TensorData> others;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const bool is_weights =
        std::find(weights.begin(), weights.end(), i) != weights.end();
    if (is_weights) {
      constants.emplace(i, inputs[i]);
    } else {
      others.push_back(inputs[i]);
    }
  }
  const auto constant = make(constants);
  ASSERT_OK(constant);
  const int layouts = LayoutCount(*constant, kernel);
  ASSERT_EQ(LayoutCount(*variable, kernel), layouts);
  for (int layout = 0; layout < layouts; ++layout) {
    const auto expected = RunKernel(*constant, kernel, layout, others);
    const auto actual = RunKernel(*variable, kernel, layout, inputs);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], {}));
  }
}

TEST(VariableWeights, OfOneGroup) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t ic : {3, 16, 33}) {
    for (const int64_t oc : {1, 16, 40, 65}) {
      for (const int64_t side : {1, 3}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(ic, " to ", oc, " channels, side ", side));
        const Make make = [&](const Constants& constants) {
          return MakeNode(
              "tim.Conv2d", Conv2dAttributes(kSame),
              {F32({9, 5, ic, 2}), F32({side, side, ic, oc}), F32({oc})},
              {Inferred()}, constants);
        };
        Check(make, {1}, "conv2d_nchw16c", rng);
      }
    }
  }
}

TEST(VariableWeights, OfKernelsThatAreNotSquare) {
  std::mt19937 rng = SeededRng(2);
  const Make make = [](const Constants& constants) {
    return MakeNode(
        "tim.Conv2d", Conv2dAttributes(kSame, {0, 0, 0, 0}, {2, 1}, {1, 2}),
        {F32({13, 11, 20, 1}), F32({5, 2, 20, 17})}, {Inferred()}, constants);
  };
  Check(make, {1}, "conv2d_nchw16c", rng);
}

TEST(VariableWeights, OfDepthwiseAndNarrowGroups) {
  std::mt19937 rng = SeededRng(3);
  for (const int64_t channels : {8, 16, 40}) {
    for (const int64_t group : {1, 2, 4}) {
      SCOPED_TRACE(StrCat(channels, " channels, groups of ", group));
      const Make make = [&](const Constants& constants) {
        const TensorDesc weights = group == 1 ? F32({3, 5, channels, 1})
                                              : F32({3, 5, group, channels});
        return MakeNode("tim.Conv2d",
                        Conv2dAttributes(kSame, {0, 0, 0, 0}, {1, 1}, {1, 1},
                                         group == 1 ? 1 : 0),
                        {F32({7, 6, channels, 2}), weights, F32({channels})},
                        {Inferred()}, constants);
      };
      Check(make, {1}, "conv2d_depthwise_nchw16c", rng);
    }
  }
}

TEST(VariableWeights, OfAPointwiseConvolutionAndADepthwiseOne) {
  std::mt19937 rng = SeededRng(4);
  for (const int64_t channels : {17, 48}) {
    const Make make = [&](const Constants& constants) -> Result<TestNode> {
      Constants of_inner = constants;
      of_inner.erase(2);
      Constants of_outer;
      const auto taps = constants.find(2);
      if (taps != constants.end()) of_outer.emplace(0, taps->second);
      TIM_ASSIGN_OR_RETURN(
          const TestNode inner,
          MakeNode("tim.Conv2d", Conv2dAttributes(kAuto),
                   {F32({9, 8, 24, 1}), F32({1, 1, 24, channels})},
                   {Inferred()}, of_inner));
      return Fuse(inner, "tim.Conv2d",
                  Conv2dAttributes(kSame, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1),
                  {F32({3, 3, channels, 1})}, Inferred(), of_outer);
    };
    Check(make, {1, 2}, "conv2d_1x1_depthwise_nchw16c", rng);
  }
}

// Taps stand in another order there, by phases.
TEST(VariableWeights, OfTransposedConvolutions) {
  std::mt19937 rng = SeededRng(5);
  Sample sample(2);
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t side : {2, 3, 5}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat("stride ", stride, ", side ", side));
      const Make make = [&](const Constants& constants) {
        return MakeNode(
            "tim.DeConv2d",
            {{"stride", std::vector<int64_t>{stride, stride}},
             {"pad", std::vector<int64_t>{0, 0, 0, 0}}},
            {F32({6, 5, 20, 1}), F32({side, side, 20, 37}), F32({37})},
            {Inferred()}, constants);
      };
      Check(make, {1}, "deconv_nchw16c", rng);
    }
  }
}

}  // namespace
}  // namespace tim::testing
