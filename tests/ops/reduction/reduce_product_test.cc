// The kernel reduce_product: the bits of a product and of its sum or mean.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "reduce_product";

TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

TensorDesc Inferred(ir::DataType type = ir::DataType::kFloat32) {
  TensorDesc desc = Desc(type, {});
  desc.shape = ir::Shape();
  return desc;
}

Result<TestNode> Reduced(const std::string& op, const TensorDesc& a,
                         const TensorDesc& b, const Ints& axes,
                         bool keep_dims = false, double scale = 1.0) {
  TIM_ASSIGN_OR_RETURN(
      TestNode product,
      MakeNode("tim.Multiply", {{"scale", scale}}, {a, b}, {Inferred(a.type)}));
  return Fuse(std::move(product), op,
              {{"axis", axes}, {"keep_dims", keep_dims}}, {}, Inferred(a.type));
}

struct Case {
  Ints shape;
  Ints factor;
  Ints axes;
};

class ReduceProduct : public ::testing::TestWithParam<Case> {};

// Forms of reduce.cl: rows, columns, narrow ones and what is gathered, in one
// chunk and in more, each with factors of its elements and with shared ones.
const Case kCases[] = {
    {{70}, {70}, {0}},
    {{1100000}, {1100000}, {0}},
    {{70, 3}, {70, 3}, {0}},
    {{3000, 5}, {3000, 5}, {0}},
    {{3000, 5}, {3000}, {0}},
    {{3000, 5}, {1, 5}, {0}},
    {{3000, 5}, {1}, {0}},
    {{40, 3000}, {40, 3000}, {1}},
    {{40, 3000, 2}, {40}, {1}},
    {{40, 3000, 2}, {1, 3000}, {1}},
    {{40, 50, 3}, {1, 50, 3}, {1}},
    {{40, 50, 3}, {40, 1, 3}, {1}},
    {{600, 1500}, {600, 1500}, {1}},
    {{4, 5000, 2}, {4, 5000, 2}, {1}},
    {{4, 5000, 2}, {4, 5000}, {1}},
    {{4, 5000, 2}, {1, 5000}, {1}},
    {{4, 5000, 2}, {4}, {1}},
    {{3, 5000, 2}, {3, 5000, 2}, {1}},
    {{3, 5000, 2}, {1, 5000, 2}, {1}},
    {{3, 5000, 2}, {3, 1, 2}, {1}},
    {{9, 7}, {9, 7}, {0}},
    {{9, 7}, {9}, {0}},
    {{13, 17, 2}, {13, 17, 2}, {0, 2}},
    {{5, 300, 7, 3}, {5, 300, 7, 3}, {0, 2}},
    {{5, 300, 7, 3}, {5}, {0, 2}},
    {{5, 300, 7, 3}, {5, 300}, {0}},
    {{20, 3, 7, 3}, {20, 1, 7}, {1}},
    {{5, 30, 7, 3}, {5, 30}, {0, 1}},
    {{1, 30, 1, 3}, {1, 30, 1, 3}, {0}},
};

INSTANTIATE_TEST_SUITE_P(Cases, ReduceProduct, ::testing::ValuesIn(kCases));

TEST_P(ReduceProduct, HasTheBitsOfBothOperators) {
  const auto& [shape, factor, axes] = GetParam();
  std::mt19937 rng = SeededRng(81);
  for (const char* op : {"tim.ReduceSum", "tim.ReduceMean"}) {
    for (const auto& node : {Reduced(op, F32(shape), F32(factor), axes),
                             Reduced(op, F32(factor), F32(shape), axes)}) {
      ASSERT_OK(node);
      ASSERT_OK(Supports(*node, kKernel));
      EXPECT_OK(CheckKernels(*node, rng)) << op;
    }
  }
}

TEST(ReduceProduct, OfAValueAndItself) {
  std::mt19937 rng = SeededRng(82);
  auto node = Reduced("tim.ReduceMean", F32({100, 3}), F32({100, 3}), {0});
  ASSERT_OK(node);
  std::vector<TensorData> inputs = RandomInputs(*node, rng);
  inputs[1] = inputs[0];
  EXPECT_OK(CheckKernels(*node, inputs));
}

struct Blocks {
  Ints factor;
  int layouts = 1;
};

// Dense, in blocks, from blocks to dense.
TEST(ReduceProduct, InBlocks) {
  std::mt19937 rng = SeededRng(83);
  const auto check = [&](const Ints& shape, const std::vector<Blocks>& factors,
                         bool keep_dims) {
    for (const auto& [factor, layouts] : factors) {
      SCOPED_TRACE(ir::Shape(factor).ToString());
      const auto node =
          Reduced("tim.ReduceMean", F32(shape), F32(factor), {0, 1}, keep_dims);
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, kKernel), layouts);
      EXPECT_OK(CheckKernels(*node, rng));
    }
  };
  check({9, 7, 20, 2},
        {{{9, 7, 20, 2}, 2},
         {{1, 1, 20, 2}, 2},
         {{1, 1, 20, 1}, 2},
         {{9, 7, 1, 1}, 1},
         {{1}, 1}},
        true);
  check({5, 4, 32, 3},
        {{{5, 4, 32, 3}, 3},
         {{1, 1, 32, 3}, 3},
         {{5, 4, 1, 1}, 3},
         {{5, 4}, 3},
         {{1}, 3},
         {{1, 1, 1, 1}, 3},
         {{1, 1, 32}, 1}},
        true);
  check({5, 4, 32, 3}, {{{5, 4, 32, 3}, 2}}, false);
}

TEST(ReduceProduct, Refusals) {
  const auto refusal = [](const Result<TestNode>& node) {
    return node.ok() ? Supports(*node, kKernel) : node.status();
  };
  const TensorDesc x = F32({40, 6, 5});
  const char kReader[] = "the ReduceSum or ReduceMean that reads it";
  EXPECT_ERROR(refusal(MakeNode("tim.Multiply", {}, {x, x}, {x})), kReader);
  EXPECT_ERROR(refusal(Reduced("tim.ReduceMax", x, x, {0})), kReader);
  EXPECT_ERROR(refusal(Reduced("tim.ReduceSum", x, x, {0}, false, 0.5)),
               "takes no scaled product");
  const TensorDesc half = Desc(ir::DataType::kFloat16, {40, 6, 5});
  EXPECT_ERROR(refusal(Reduced("tim.ReduceSum", half, half, {0})),
               "of float32, not of float16");
  EXPECT_ERROR(
      refusal(Reduced("tim.ReduceSum", F32({40, 1}), F32({1, 6}), {0})),
      "takes no factors of shapes");
  // Along some of the axes before, among or behind those that are summed.
  for (const Ints& axes : {Ints{2}, Ints{0, 1, 2}}) {
    EXPECT_ERROR(refusal(Reduced("tim.ReduceSum", x, F32({40, 1, 5}), axes)),
                 "takes no factors of shapes");
  }
  EXPECT_ERROR(refusal(Reduced("tim.ReduceSum", x, F32({40, 1, 5}), {0})),
               "takes no factors of shapes");
  EXPECT_ERROR(refusal(Reduced("tim.ReduceSum", x, F32({40}), {0, 1})),
               "takes no factors of shapes");
  EXPECT_OK(refusal(Reduced("tim.ReduceSum", x, F32({40, 1, 5}), {1})));
}

}  // namespace
}  // namespace tim::testing
