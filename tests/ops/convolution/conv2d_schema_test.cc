// What Conv2d infers and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc I8(Ints shape, float scale, int32_t zero) {
  return Desc(DataType::kInt8, std::move(shape), scale, zero);
}
TensorDesc PerChannel(TensorDesc desc, int axis, std::vector<float> scales) {
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = axis,
                       .scales = std::move(scales),
                       .zero_points = {}};
  return desc;
}

TEST(Conv2dSchema, InfersWithUnknownExtents) {
  const auto shape_of = [](AttributeMap attributes, ir::Shape input,
                           ir::Shape kernel, ir::Shape declared = {}) {
    TensorDesc x = F32({});
    TensorDesc w = F32({});
    x.shape = std::move(input);
    w.shape = std::move(kernel);
    TensorDesc y;
    y.shape = std::move(declared);
    const auto node =
        MakeNode("tim.Conv2d", std::move(attributes), {x, w}, {y});
    EXPECT_OK(node);
    if (!node.ok()) return std::string();
    EXPECT_EQ(node->output().type, DataType::kFloat32);
    return node->output().shape.ToString();
  };
  EXPECT_EQ(shape_of({}, {}, {}), "[?, ?, ?, ?]");
  EXPECT_EQ(shape_of({}, {}, {3, 3, 4, 8}), "[?, ?, 8, ?]");
  EXPECT_EQ(shape_of({}, {9, 7, 4, 2}, {}), "[?, ?, ?, 2]");
  EXPECT_EQ(
      shape_of(Conv2dAttributes(kSame, {0, 0, 0, 0}, {2, 1}), {9, 7, 4, 2}, {}),
      "[5, 7, ?, 2]");
  EXPECT_EQ(shape_of({}, {9, -1, 4, -1}, {3, 3, -1, 8}), "[7, ?, 8, ?]");
  EXPECT_EQ(shape_of(Conv2dAttributes(kValid, {0, 0, 0, 0}, {1, 1}, {1, 1}, 2),
                     {9, 7, -1, 1}, {3, 3, -1, 1}),
            "[7, 5, ?, 1]");
  EXPECT_EQ(shape_of({}, {9, 7, 4, 2}, {3, 3, 4, 8}, {20, 1, 8, 2}),
            "[20, 1, 8, 2]");
}

struct Rejection {
  AttributeMap attributes = {};
  TensorDesc input = F32({5, 5, 4, 1});
  TensorDesc kernel = F32({3, 3, 4, 6});
  std::optional<TensorDesc> bias = {};
  TensorDesc output = [] {
    TensorDesc desc = F32({});
    desc.shape = ir::Shape();
    return desc;
  }();
  Status status() const {
    return MakeNode("tim.Conv2d", attributes, {input, kernel, bias}, {output})
        .status();
  }
};

TEST(Conv2dSchema, RejectsBadShapes) {
  EXPECT_OK(Rejection{}.status());
  EXPECT_ERROR(Rejection{.input = F32({5, 5, 4})}.status(),
               "input 0 [5, 5, 4] has rank 3, expected 4");
  EXPECT_ERROR(Rejection{.kernel = F32({3, 3, 4})}.status(),
               "the kernel (input 1) [3, 3, 4] has rank 3, expected 4");
  EXPECT_ERROR(Rejection{.kernel = F32({3, 3, 3, 6})}.status(),
               "the kernel reads 3 channels, which does not divide the "
               "input's 4");
  EXPECT_ERROR(Rejection{.kernel = F32({3, 3, 2, 5})}.status(),
               "5 output channels are not a multiple of the 2 groups");
  const Rejection depthwise = {.attributes = {{"multiplier", int64_t{2}}}};
  EXPECT_ERROR(depthwise.status(),
               "must end in [8, 1] or [1, 8], not in [4, 6]");
  EXPECT_ERROR(Rejection{.kernel = F32({6, 3, 4, 6})}.status(),
               "along W the kernel (6) does not fit the input (5)");
  EXPECT_ERROR(Rejection{.kernel = F32({3, 6, 4, 6})}.status(),
               "along H the kernel (6) does not fit the input (5)");
  EXPECT_ERROR(Rejection{.bias = F32({5})}.status(),
               "the bias [5] has 5 elements, expected 6");
  EXPECT_ERROR(Rejection{.output = F32({3, 3, 5, 1})}.status(),
               "declared as [3, 3, 5, 1]");
}

TEST(Conv2dSchema, RejectsBadAttributes) {
  const auto with = [](const char* name, ir::Attribute value) {
    return Rejection{.attributes = {{name, std::move(value)}}}.status();
  };
  EXPECT_ERROR(with("padding", int64_t{3}), "attribute 'padding' is 3");
  EXPECT_ERROR(with("pad", Ints{1, 1}),
               "attribute 'pad' has 2 elements, expected 4");
  EXPECT_ERROR(with("stride", Ints{1}), "attribute 'stride' has 1 elements");
  EXPECT_ERROR(with("dilation", Ints{}), "attribute 'dilation' has 0 elements");
  EXPECT_ERROR(with("stride", Ints{0, 1}), "along W: stride is 0");
  EXPECT_ERROR(with("dilation", Ints{1, -1}), "along H: dilation is -1");
  EXPECT_ERROR(with("pad", Ints{0, 0, 0, -2}), "along H: pad is 0 and -2");
  EXPECT_ERROR(with("pad", Ints{4294967295, 0, 0, 0}),
               "along W: stride 1, dilation 1, pad 4294967295 and 0: expected "
               "at most 2147483647");
  EXPECT_ERROR(with("multiplier", int64_t{-1}),
               "multiplier is -1, expected >= 0");
  EXPECT_ERROR(with("group", int64_t{1}), "has no attribute 'group'");
}

TEST(Conv2dSchema, RejectsBadTypes) {
  EXPECT_ERROR(
      Rejection{.input = Desc(DataType::kInt32, {5, 5, 4, 1})}.status(),
      "input 0 is int32, expected one of int4, uint4, int8");
  EXPECT_ERROR(
      Rejection{.kernel = Desc(DataType::kBool8, {3, 3, 4, 6})}.status(),
      "input 1 is bool8, expected one of");
  EXPECT_ERROR(Rejection{.bias = Desc(DataType::kInt16, {6})}.status(),
               "the bias is int16, expected one of int32, int64");
  TensorDesc wide = Rejection{}.output;
  wide.type = DataType::kInt64;
  EXPECT_ERROR(Rejection{.output = wide}.status(),
               "the output is int64, expected one of");
}

TEST(Conv2dSchema, RejectsBadQuantization) {
  const std::vector<float> six(6, 0.5f);
  const TensorDesc kernel = I8({3, 3, 4, 6}, 1, 0);
  EXPECT_OK(Rejection{.kernel = PerChannel(kernel, 3, six)}.status());
  EXPECT_ERROR(Rejection{.kernel = PerChannel(kernel, 2, six)}.status(),
               "per channel along axis 2, expected axis 3");
  EXPECT_ERROR(
      Rejection{.kernel = PerChannel(kernel, 3, {1.0f, 2.0f})}.status(),
      "input 1 has 2 scales, expected 6");
  EXPECT_ERROR(
      Rejection{.input = PerChannel(I8({5, 5, 4, 1}, 1, 0), 2, {1, 2, 3, 4})}
          .status(),
      "input 0 is quantized per channel");
  TensorDesc output = PerChannel(I8({}, 1, 0), 2, six);
  output.shape = ir::Shape();
  EXPECT_ERROR(Rejection{.output = output}.status(),
               "the output is quantized per channel");
  const TensorDesc bias = Desc(DataType::kInt32, {6});
  EXPECT_ERROR(Rejection{.bias = PerChannel(bias, 1, six)}.status(),
               "the bias is quantized per channel along axis 1");
  EXPECT_ERROR(Rejection{.bias = PerChannel(bias, 0, {1, 2})}.status(),
               "the bias has 2 scales, expected 6");
}

}  // namespace
}  // namespace tim::testing
