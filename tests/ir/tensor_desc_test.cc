#include "ir/tensor_desc.h"

#include <gtest/gtest.h>

#include "tests/support/status_macros.h"

namespace tim::ir {
namespace {

TensorDesc Desc(DataType type, Shape shape, Layout layout = {}) {
  TensorDesc desc;
  desc.type = type;
  desc.shape = std::move(shape);
  desc.layout = layout;
  return desc;
}

TEST(Shape, UnknownRankIsNotAScalar) {
  EXPECT_FALSE(Shape().ranked());
  EXPECT_TRUE(Shape({}).ranked());
  EXPECT_NE(Shape(), Shape({}));
  EXPECT_EQ(Shape().ToString(), "[...]");
  EXPECT_EQ(Shape({}).NumElements(), 1);
}

TEST(Shape, BoundedExtent) {
  Shape shape = {4, kUnknownDim};
  EXPECT_EQ(shape.Bound(1), kUnknownDim);
  shape.SetBound(1, 64);
  EXPECT_EQ(shape.Bound(0), 4);
  EXPECT_EQ(shape.Bound(1), 64);
  EXPECT_EQ(shape.ToString(), "[4, ?<=64]");
  EXPECT_FALSE(shape.NumElements());
}

TEST(Shape, BoundsEndWithTheirExtents) {
  Shape shape = {4, kUnknownDim};
  shape.SetBound(1, 64);
  EXPECT_NE(shape, Shape({4, kUnknownDim}));
  Shape other = shape;
  other.TightenBound(1, 80);
  EXPECT_EQ(other, shape);
  other.TightenBound(1, kUnknownDim);
  EXPECT_EQ(other, shape);
  other.TightenBound(1, 8);
  EXPECT_EQ(other.Bound(1), 8);
  shape.set_dim(1, 3);
  EXPECT_EQ(shape, Shape({4, 3}));
  shape.set_dim(1, kUnknownDim);
  EXPECT_EQ(shape, Shape({4, kUnknownDim}));
}

TEST(ByteSize, OfEveryWidth) {
  EXPECT_EQ(*ByteSize(Desc(DataType::kFloat32, {3, 5})), 60);
  EXPECT_EQ(*ByteSize(Desc(DataType::kInt64, {3})), 24);
  EXPECT_EQ(*ByteSize(Desc(DataType::kBool8, {3})), 3);
  // Rows of 4-bit elements are padded to whole bytes.
  EXPECT_EQ(*ByteSize(Desc(DataType::kInt4, {3, 5})), 10);
  EXPECT_EQ(*ByteSize(Desc(DataType::kUint4, {4, 5})), 10);
}

TEST(ByteSize, BlockedRoundsChannelsUp) {
  EXPECT_EQ(*ByteSize(Desc(DataType::kFloat32, {2, 2, 17, 1},
                           Layout::Blocked(2, 16))),
            2 * 2 * 32 * 4);
}

TEST(ByteSize, LayoutMustFitTheShape) {
  for (const Layout& layout : {Layout::Blocked(2, 16), Layout::Blocked(-1, 16),
                               Layout::Blocked(0, 0)}) {
    const TensorDesc desc = Desc(DataType::kFloat32, {3, 5}, layout);
    EXPECT_ERROR(ByteSize(desc), "does not fit shape [3, 5]");
    EXPECT_EQ(PhysicalDims(desc), (std::vector<int64_t>{3, 5}));
  }
}

TEST(ByteSize, FailsOnUnknownAndOverflow) {
  EXPECT_ERROR(ByteSize(Desc(DataType::kUnknown, {1})), "type is unknown");
  EXPECT_ERROR(ByteSize(Desc(DataType::kInt8, {kUnknownDim})),
               "not completely");
  const int64_t big = int64_t{1} << 62;
  EXPECT_ERROR(ByteSize(Desc(DataType::kInt8, {big, 4})), "overflows");
  EXPECT_ERROR(ByteSize(Desc(DataType::kFloat32, {big})), "overflows");
}

TEST(Quantization, ShortZeroPointVectorIsBroadcast) {
  Quantization q;
  q.kind = QuantizationKind::kPerChannel;
  q.axis = 0;
  q.scales = {1, 2, 3};
  q.zero_points = {7};
  EXPECT_EQ(q.Scale(2), 3);
  EXPECT_EQ(q.ZeroPoint(2), 7);
}

TEST(Quantization, FixedPointScaleIsAPowerOfTwo) {
  Quantization q;
  q.kind = QuantizationKind::kFixedPoint;
  q.fl = 7;
  EXPECT_EQ(q.Scale(), 1.0f / 128);
  q.fl = -2;
  EXPECT_EQ(q.Scale(), 4.0f);
}

TEST(SameElements, QuantizationOfFloatsDoesNotCount) {
  TensorDesc a = Desc(DataType::kFloat32, {1});
  TensorDesc b = a;
  b.quantization = Quantization::PerTensor(0.0f, 3);
  EXPECT_TRUE(SameElements(a, b));
  a.type = b.type = DataType::kUint8;
  b.quantization = Quantization::PerTensor(0.5f, 3);
  EXPECT_FALSE(SameElements(a, b));
}

}  // namespace
}  // namespace tim::ir
