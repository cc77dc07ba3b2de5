// Sums along an axis of which several neighbours are made together: few of
// them, many, and rows.
#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

Status CheckNode(Sample& sample, const std::string& op,
                 const ir::AttributeMap& attributes, const ir::TensorDesc& x,
                 ir::TensorDesc y) {
  if (!sample.Takes()) return OkStatus();
  y.shape = ir::Shape();
  TIM_ASSIGN_OR_RETURN(const TestNode node, MakeNode(op, attributes, {x}, {y}));
  std::mt19937 rng(13);
  return CheckKernels(node, rng);
}

ir::TensorDesc Codes(const Ints& shape) {
  ir::TensorDesc desc = Desc(DataType::kInt8, shape);
  desc.quantization = ir::Quantization::PerTensor(0.25f, -9);
  return desc;
}

TEST(Neighbours, FewAreReducedTogether) {
  Sample sample(4);
  for (const Ints& shape :
       {Ints{2, 1030}, {4, 17}, {4, 3100, 2}, {8, 1024, 3}, {8, 16}, {3, 40}}) {
    const ir::AttributeMap along = {{"axis", Ints{1}}, {"keep_dims", false}};
    const ir::TensorDesc f32 = Desc(DataType::kFloat32, shape);
    const ir::TensorDesc f16 = Desc(DataType::kFloat16, shape);
    EXPECT_OK(CheckNode(sample, "tim.ReduceMean", along, f32, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMax", along, f16, f16));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMin", along, f32, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceSum", along, Codes(shape), f32));
    EXPECT_OK(
        CheckNode(sample, "tim.ReduceMean", along, Codes(shape), Codes(shape)));
  }
}

// Rows of integers, as many as give every core several tiles of them, and some
// more.
TEST(Neighbours, RowsOfIntegersAreReducedTogether) {
  Sample sample(3);
  for (const Ints& shape : {Ints{16, 5003}, {49, 5008}, {1024, 5001}}) {
    const ir::AttributeMap along = {{"axis", Ints{0}}, {"keep_dims", false}};
    const ir::TensorDesc f32 = Desc(DataType::kFloat32, shape);
    const ir::TensorDesc i32 = Desc(DataType::kInt32, shape);
    const ir::TensorDesc b8 = Desc(DataType::kBool8, shape);
    EXPECT_OK(
        CheckNode(sample, "tim.ReduceMean", along, Codes(shape), Codes(shape)));
    EXPECT_OK(CheckNode(sample, "tim.ReduceSum", along, Codes(shape), f32));
    EXPECT_OK(
        CheckNode(sample, "tim.ReduceMin", along, Codes(shape), Codes(shape)));
    EXPECT_OK(
        CheckNode(sample, "tim.ReduceMax", along, Codes(shape), Codes(shape)));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMean", along, i32, i32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceProd", along, i32, i32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceAny", along, b8, b8));
  }
}

// Floats, and few rows, are reduced in the order of eval, whatever lies behind
// a row that is no whole number of vectors.
TEST(Neighbours, RowsOfFloatsAreReducedInTheirOrder) {
  Sample sample(5);
  for (const Ints& shape : {Ints{16, 5003},
                            {49, 5008},
                            {1023, 5001},
                            {17, 1},
                            {31, 3},
                            {1039, 5},
                            {2050, 2}}) {
    const ir::AttributeMap along = {{"axis", Ints{0}}, {"keep_dims", false}};
    const ir::TensorDesc f32 = Desc(DataType::kFloat32, shape);
    const ir::TensorDesc f16 = Desc(DataType::kFloat16, shape);
    EXPECT_OK(CheckNode(sample, "tim.ReduceMean", along, f32, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceSum", along, f16, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMax", along, f32, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMin", along, f16, f16));
    EXPECT_OK(CheckNode(sample, "tim.ReduceProd", along, f32, f32));
    EXPECT_OK(CheckNode(sample, "tim.ReduceMean", along, f32, Codes(shape)));
  }
}

TEST(Neighbours, ManyAreAddedUpTogether) {
  Sample sample(5);
  for (const Ints& shape : {Ints{1300, 5}, {300, 9}, {4096, 3, 2}, {100, 4}}) {
    for (const int64_t exclusive : {0, 1}) {
      for (const int64_t reverse : {0, 1}) {
        const ir::AttributeMap attributes = {{"axis", int64_t{1}},
                                             {"exclusive", exclusive},
                                             {"reverse", reverse}};
        const ir::TensorDesc f32 = Desc(DataType::kFloat32, shape);
        EXPECT_OK(CheckNode(sample, "tim.CumSum", attributes, f32, f32));
        EXPECT_OK(CheckNode(sample, "tim.CumSum", attributes, Codes(shape),
                            Codes(shape)));
      }
    }
  }
}

}  // namespace
}  // namespace tim::testing
