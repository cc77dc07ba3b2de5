// Shapes, attributes and rejections of Pad and PadV2.
#include <gtest/gtest.h>

#include <limits>

#include "ir/op_schema.h"
#include "tests/support/data/pad_node.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

ir::NodeView ViewOf(const TestNode& node,
                    const ir::TensorDesc* const (&operands)[2]) {
  return {node.graph.node(node.node), {&operands[0], 1}, {&operands[1], 1}};
}

TEST(PadSchema, Identity) {
  const auto is_identity = [](const TestNode& node) {
    const ir::TensorDesc* const operands[] = {&node.input(0), &node.output()};
    const ir::NodeView view = ViewOf(node, operands);
    return view.node.schema->is_identity(view);
  };
  const auto f32 = Desc(DataType::kFloat32, {2, 3});
  const auto f16 = Desc(DataType::kFloat16, {});
  const PadCounts none = {{0, 0}, {0, 0}};
  EXPECT_TRUE(is_identity(*Pad(f32, none, int64_t{1}, kConstant, f32)));
  EXPECT_TRUE(is_identity(*Pad(f32, none, 1.0, kReflect, f32)));
  EXPECT_FALSE(is_identity(*Pad(f32, none, int64_t{1}, kConstant, f16)));
  EXPECT_FALSE(
      is_identity(*Pad(f32, {{0, 0}, {0, 1}}, int64_t{1}, kConstant, f32)));
  auto unknown = f32;
  unknown.shape = ir::Shape({2, ir::kUnknownDim});
  EXPECT_FALSE(
      is_identity(*Pad(unknown, {{0, 1}, {0, 0}}, 1.0, kConstant, f32)));
}

TEST(PadSchema, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  ir::TensorDesc x = Desc(DataType::kFloat32, {});
  const PadCounts counts = {{1, 2}, {0, 3}};
  const auto shape = [&](PadMode mode) {
    const auto node = Pad(x, counts, int64_t{0}, mode, ir::TensorDesc());
    EXPECT_OK(node);
    return node.ok() ? node->output().shape : ir::Shape();
  };
  x.shape = ir::Shape();
  EXPECT_EQ(shape(kReflect), ir::Shape({kAny, kAny}));
  x.shape = ir::Shape({kAny, 3});
  EXPECT_EQ(shape(kSymmetric), ir::Shape({kAny, 8}));
  x.shape.SetBound(0, 7);
  EXPECT_EQ(shape(kConstant).Bound(0), 8);
}

TEST(PadSchema, RejectedCounts) {
  const auto x = Desc(DataType::kFloat32, {2, 3});
  const auto error = [&](const PadCounts& counts, PadMode mode = kConstant) {
    return Pad(x, counts, int64_t{0}, mode, x).status();
  };
  EXPECT_ERROR(error({{0}, {0, 0}}),
               "'front_size' has 1 counts, the input [2, 3] has 2 axes");
  EXPECT_ERROR(error({{0, 0}, {0, 0, 0}}), "'back_size' has 3 counts");
  EXPECT_ERROR(error({{0, -1}, {0, 0}}),
               "'front_size' [0, -1] has a negative count");
  EXPECT_ERROR(error({Dims(9), Dims(9)}), "at most 8 are legal");
  EXPECT_ERROR(error({{0, 0}, {3, 0}}, kSymmetric),
               "'back_size' is 3 along axis 0, where an extent of 2 allows at "
               "most 2");
  EXPECT_ERROR(error({{0, 3}, {0, 0}}, kReflect),
               "'front_size' is 3 along axis 1, where an extent of 3 allows at "
               "most 2");
  EXPECT_OK(error({{2, 3}, {2, 3}}, kSymmetric));
  EXPECT_OK(error({{1, 2}, {1, 2}}, kReflect));
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_ERROR(error({{0, kMax - 1}, {0, 0}}),
               "the extent along axis 1 overflows 64 bits");
  ir::TensorDesc unranked = x;
  unranked.shape = ir::Shape();
  EXPECT_ERROR(Pad(unranked, {{1}, {1, 1}}, 0.0, kEdge, x),
               "'front_size' has 1 counts, attribute 'back_size' has 2");
}

TEST(PadSchema, RejectedAttributes) {
  const auto x = Desc(DataType::kFloat32, {2});
  const auto error = [&](const std::string& op, ir::Attribute constant,
                         int64_t mode) {
    return MakeNode(op,
                    {{"front_size", Dims{1}},
                     {"back_size", Dims{1}},
                     {"const_val", constant},
                     {"pad_mode", mode}},
                    {x}, {ir::TensorDesc()})
        .status();
  };
  EXPECT_OK(error("tim.Pad", int64_t{1}, 3));
  EXPECT_ERROR(error("tim.Pad", 1.5, 0),
               "attribute 'const_val' is of type float, expected int");
  EXPECT_ERROR(error("tim.PadV2", int64_t{1}, 0),
               "attribute 'const_val' is of type int, expected float");
  EXPECT_ERROR(error("tim.Pad", int64_t{1}, 4),
               "attribute 'pad_mode' is 4, expected one of 0 (constant), 1 "
               "(edge), 2 (symmetric), 3 (reflect)");
  EXPECT_ERROR(MakeNode("tim.Pad", {{"back_size", Dims{1}}}, {x}, {x}),
               "attribute 'front_size' (ints) is missing");
  EXPECT_ERROR(
      MakeNode("tim.Pad", {{"front_size", Dims{1}}, {"back_size", Dims{0}}},
               {x}, {x}),
      "declared as [2]");
  EXPECT_ERROR(Pad(ir::TensorDesc(), {{1}, {1}}, 0.0, kEdge, x),
               "input 0 has no data type");
}

}  // namespace
}  // namespace tim::testing
