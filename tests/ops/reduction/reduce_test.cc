#include <gtest/gtest.h>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc Inferred(TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

Result<TestNode> Reduce(const std::string& op, const TensorDesc& input,
                        const TensorDesc& output, const Ints& axis) {
  return MakeNode(op, {{"axis", axis}, {"keep_dims", false}}, {input},
                  {Inferred(output)});
}

// Two of the three sums are ties, which go to the even code once the odd zero
// point has been added.
TEST(ReduceSum, AddsTheZeroPointBeforeRounding) {
  const auto node = Reduce(
      "tim.ReduceSum", Desc(DataType::kUint8, {2, 3}, 0.00784313772f, 127),
      Desc(DataType::kUint8, {}, 0.01568627544f, 127), {0});
  ASSERT_OK(node);
  const auto x =
      MakeTensor<uint8_t>(node->input(0), {178, 152, 165, 178, 191, 204});
  const auto outputs = Eval(*node, {x});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<uint8_t>((*outputs)[0]),
            (std::vector<uint8_t>{165, 172, 198}));
}

TEST(ReduceMean, OfPlainIntegersIsRoundedHalfToEven) {
  const auto desc = Desc(DataType::kInt32, {2, 4});
  const auto node = Reduce("tim.ReduceMean", desc, desc, {0});
  ASSERT_OK(node);
  const auto x = MakeTensor<int32_t>(desc, {1, 2, 3, 4, -1, -2, 2147483647, 1});
  const auto outputs = Eval(*node, {x});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<int32_t>((*outputs)[0]),
            (std::vector<int32_t>{2, 4, -2, 1073741824}));
}

// Runs of one chunk, of some, and of so many that their results are cut into
// chunks again, in every form of the kernel: the same bits.
TEST(ReduceSum, FloatKernelsKeepTheOrderOfEval) {
  struct Case {
    Ints shape;
    Ints axis;
  };
  std::mt19937 rng = SeededRng(71);
  for (const Case& c : {Case{{1100000}, {0}},
                        {{3000, 5}, {0}},
                        {{40, 3000}, {1}},
                        {{3, 5000}, {1}},
                        {{600, 1500}, {1}},
                        {{1300, 17, 2}, {0, 2}},
                        {{5, 300, 7, 3}, {0, 2}}}) {
    const auto desc = Desc(DataType::kFloat32, c.shape);
    const auto node = Reduce("tim.ReduceSum", desc, desc, c.axis);
    ASSERT_OK(node);
    const auto inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    ASSERT_OK(expected);
    for (const std::string& kernel : SupportedKernels(*node)) {
      const auto actual = RunKernel(*node, kernel, 0, inputs);
      ASSERT_OK(actual);
      EXPECT_EQ((*actual)[0].bytes, (*expected)[0].bytes)
          << kernel << " of " << desc.ToString();
    }
  }
}

}  // namespace
}  // namespace tim::testing
