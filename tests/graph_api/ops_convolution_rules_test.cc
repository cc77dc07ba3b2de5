// Convolution and ConvTranspose of a few cells, and what they refuse.
#include <gtest/gtest.h>

#include <string>

#include "evaluated_op.h"

namespace tim::graph {
namespace {

void ExpectBoth(const Array& found, const Array& expected) {
  EXPECT_EQ(found.dims, expected.dims);
  ExpectNear(found.values, expected.values, 0);
}

// A row of 3 cells and a kernel of 2, 1-D.
EvaluatedOp Small(tim_graph_op_kind_t kind,
                  tim_graph_data_type_t type = tim_graph_f32) {
  EvaluatedOp op(kind);
  op.Input({{1, 1, 3}, {1, 2, 3}, type})
      .Input({{1, 1, 2}, {10, 1}, type})
      .Output(type)
      .Set(tim_graph_op_attr_strides, Dims{1})
      .Set(tim_graph_op_attr_dilations, Dims{1})
      .Set(tim_graph_op_attr_pads_begin, Dims{})
      .Set(tim_graph_op_attr_pads_end, Dims{})
      .Set(tim_graph_op_attr_data_format, std::string("NCX"))
      .Set(tim_graph_op_attr_weights_format,
           std::string(kind == tim_graph_op_convolution ? "OIX" : "IOX"));
  return op;
}

TEST(GraphConvolution, CountsByHand) {
  for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
    ExpectBoth(Small(tim_graph_op_convolution, type).First(),
               {{1, 1, 2}, {12, 23}});
    ExpectBoth(Small(tim_graph_op_conv_transpose, type).First(),
               {{1, 1, 4}, {10, 21, 32, 3}});
  }
}

TEST(GraphConvolution, InfersShapesOfNoImages) {
  for (const auto kind :
       {tim_graph_op_convolution, tim_graph_op_conv_transpose}) {
    const Array found =
        EvaluatedOp(kind)
            .Input({{0, 3, 8}, {}})
            .Input(Random({3, 3, 2}, 1))
            .Output()
            .Set(tim_graph_op_attr_strides, Dims{2})
            .Set(tim_graph_op_attr_dilations, Dims{1})
            .Set(tim_graph_op_attr_pads_begin, Dims{})
            .Set(tim_graph_op_attr_pads_end, Dims{})
            .Set(tim_graph_op_attr_data_format, std::string("NCX"))
            .Set(tim_graph_op_attr_weights_format,
                 std::string(kind == tim_graph_op_convolution ? "OIX" : "IOX"))
            .First();
    const int64_t extent = kind == tim_graph_op_convolution ? 4 : 16;
    EXPECT_EQ(found.dims, (Dims{0, 3, extent}));
  }
}

TEST(GraphConvolution, RefusesShapesThatDoNotFit) {
  for (const auto kind :
       {tim_graph_op_convolution, tim_graph_op_conv_transpose}) {
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_groups, int64_t{0}).Run().status(),
        "groups");
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_groups, int64_t{2}).Run().status(),
        "divisor of src's 1 channels");
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_strides, Dims{1, 1}).Run().status(),
        "'strides'");
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_strides, Dims{0}).Run().status(),
        "'strides'");
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_pads_end, Dims{1, 1}).Run().status(),
        "'pads_end'");
    ExpectRefused(Small(kind).Input({{2}, {1, 1}}).Run().status(), "bias");
    ExpectRefused(
        Small(kind).Set(tim_graph_op_attr_pads_begin, Dims{-1}).Check(),
        "no negative pad");
    ExpectRefused(Small(kind)
                      .Set(tim_graph_op_attr_auto_pad, std::string("SAME"))
                      .Check(),
                  "auto_pad");
  }
  ExpectRefused(Small(tim_graph_op_convolution)
                    .Set(tim_graph_op_attr_dilations, Dims{3})
                    .Run()
                    .status(),
                "does not fit");
  ExpectRefused(Small(tim_graph_op_conv_transpose)
                    .Set(tim_graph_op_attr_pads_begin, Dims{4})
                    .Run()
                    .status(),
                "leave nothing");
}

TEST(GraphConvolution, RefusesWhatHasNoOperator) {
  ExpectRefused(Small(tim_graph_op_conv_transpose)
                    .Set(tim_graph_op_attr_dilations, Dims{2})
                    .Supports(),
                "dilations");
  const Dims ones = {1, 1, 1};
  const Status grouped =
      EvaluatedOp(tim_graph_op_convolution)
          .Set(tim_graph_op_attr_strides, ones)
          .Set(tim_graph_op_attr_dilations, ones)
          .Set(tim_graph_op_attr_pads_begin, Dims{})
          .Set(tim_graph_op_attr_pads_end, Dims{})
          .Set(tim_graph_op_attr_groups, int64_t{2})
          .Set(tim_graph_op_attr_data_format, std::string("NCX"))
          .Set(tim_graph_op_attr_weights_format, std::string("OIX"))
          .Input(Random({1, 2, 2, 2, 2}, 1))
          .Input(Random({2, 1, 1, 1, 1}, 2))
          .Output()
          .Supports();
  ExpectRefused(grouped, "groups");
  EXPECT_EQ(grouped.code(), StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace tim::graph
