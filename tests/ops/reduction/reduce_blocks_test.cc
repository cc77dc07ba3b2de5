// Reductions of tensors in blocks of channels: the same bits as of dense ones.
#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

Result<TestNode> Reduce(const std::string& op, const Ints& axes, bool keep_dims,
                        const ir::TensorDesc& x, ir::TensorDesc y) {
  y.shape = ir::Shape();
  return MakeNode(op, {{"axis", axes}, {"keep_dims", keep_dims}}, {x}, {y});
}

ir::TensorDesc Codes(const Ints& shape, int32_t zero_point = 77) {
  ir::TensorDesc desc = Desc(DataType::kUint8, shape);
  desc.quantization = ir::Quantization::PerTensor(0.25f, zero_point);
  return desc;
}

struct Case {
  Ints shape;
  Ints axes;
  bool keep_dims = true;
  int layouts = 2;  ///< Dense, in blocks, from blocks to dense.
};

const Case kCases[] = {
    {{9, 7, 20, 2}, {0, 1}},
    {{9, 7, 20, 2}, {1}},
    {{9, 7, 20, 2}, {-4}},
    {{40, 41, 33, 1}, {0, 1}},  // more than a chunk
    {{5, 4, 32, 3}, {1, 0}, true, 3},
    {{5, 4, 32, 3}, {0, 1}, false, 2},  // to dense
    {{1, 6, 48, 1}, {1, 3}, false, 2},
    {{1, 6, 48, 1}, {1, 3}, true, 3},
    {{5, 4, 20, 1}, {0, 1}, false, 1},  // a tail
    {{5, 4, 32, 3}, {2}, true, 1},
    {{5, 4, 32, 3}, {0, 1, 3}, true, 1},
};

class ReduceBlocks : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, ReduceBlocks, ::testing::ValuesIn(kCases));

TEST_P(ReduceBlocks, HaveTheBitsOfEval) {
  const Case& c = GetParam();
  const ir::TensorDesc f32 = Desc(DataType::kFloat32, c.shape);
  const auto check = [&](const std::string& op, const std::string& kernel,
                         const ir::TensorDesc& x, const ir::TensorDesc& y) {
    const auto node = Reduce(op, c.axes, c.keep_dims, x, y);
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, kernel), c.layouts) << op;
    std::mt19937 rng(11);
    EXPECT_OK(CheckKernels(*node, rng)) << op;
  };
  check("tim.ReduceMean", "reducemean", f32, f32);
  check("tim.ReduceMax", "reducemax", f32, f32);
  check("tim.ReduceMean", "reducemean", Codes(c.shape), Codes({}, 31));
  check("tim.ReduceProd", "reduceprod", Codes(c.shape), f32);
  check("tim.ReduceAny", "reduceany", Desc(DataType::kBool8, c.shape),
        Desc(DataType::kBool8, {}));
}

// Lanes behind the last channel could not hold the real value 0.
TEST(ReduceBlocksRefused, WhereNoCodeIsZero) {
  const Ints shape = {4, 4, 16, 1};
  const auto node =
      Reduce("tim.ReduceMax", {0, 1}, true, Codes(shape), Codes({}, 300));
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "reducemax"), 1);
}

}  // namespace
}  // namespace tim::testing
