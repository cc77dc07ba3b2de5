// Enumerators have the numbers that programs were compiled with.
#include <gtest/gtest.h>

#include <iterator>

#include "tim/graph/graph.hpp"

namespace tim::graph {
namespace {

TEST(Enumerators, Kinds) {
  using kind = op::kind;
  constexpr kind kInOrder[] = {kind::Abs,
                               kind::AbsBackward,
                               kind::Add,
                               kind::AvgPool,
                               kind::AvgPoolBackward,
                               kind::BatchNormTrainingBackward,
                               kind::BatchNormForwardTraining,
                               kind::BatchNormInference,
                               kind::BiasAdd,
                               kind::BiasAddBackward,
                               kind::Clamp,
                               kind::ClampBackward,
                               kind::Concat,
                               kind::Convolution,
                               kind::ConvolutionBackwardData,
                               kind::ConvolutionBackwardWeights,
                               kind::ConvTranspose,
                               kind::ConvTransposeBackwardData,
                               kind::ConvTransposeBackwardWeights,
                               kind::Dequantize,
                               kind::Divide,
                               kind::DynamicDequantize,
                               kind::DynamicQuantize,
                               kind::Elu,
                               kind::EluBackward,
                               kind::End,
                               kind::Exp,
                               kind::GELU,
                               kind::GELUBackward,
                               kind::HardSwish,
                               kind::HardSwishBackward,
                               kind::Interpolate,
                               kind::InterpolateBackward,
                               kind::LayerNorm,
                               kind::LayerNormBackward,
                               kind::LeakyReLU,
                               kind::Log,
                               kind::LogSoftmax,
                               kind::LogSoftmaxBackward,
                               kind::MatMul,
                               kind::Maximum,
                               kind::MaxPool,
                               kind::MaxPoolBackward,
                               kind::Minimum,
                               kind::Mish,
                               kind::MishBackward,
                               kind::Multiply,
                               kind::PReLU,
                               kind::PReLUBackward,
                               kind::Quantize,
                               kind::Reciprocal,
                               kind::ReduceL1,
                               kind::ReduceL2,
                               kind::ReduceMax,
                               kind::ReduceMean,
                               kind::ReduceMin,
                               kind::ReduceProd,
                               kind::ReduceSum,
                               kind::ReLU,
                               kind::ReLUBackward,
                               kind::Reorder,
                               kind::Round,
                               kind::Sigmoid,
                               kind::SigmoidBackward,
                               kind::SoftMax,
                               kind::SoftMaxBackward,
                               kind::SoftPlus,
                               kind::SoftPlusBackward,
                               kind::Sqrt,
                               kind::SqrtBackward,
                               kind::Square,
                               kind::SquaredDifference,
                               kind::StaticReshape,
                               kind::StaticTranspose,
                               kind::Subtract,
                               kind::Tanh,
                               kind::TanhBackward,
                               kind::TypeCast,
                               kind::Wildcard,
                               kind::HardSigmoid,
                               kind::HardSigmoidBackward,
                               kind::Select,
                               kind::Pow,
                               kind::GroupNorm,
                               kind::GenIndex,
                               kind::GreaterEqual,
                               kind::RMSNorm,
                               kind::Dropout};
  ASSERT_EQ(std::size(kInOrder), 88u);
  for (size_t i = 0; i < std::size(kInOrder); ++i) {
    EXPECT_EQ(static_cast<size_t>(kInOrder[i]), i);
  }
  EXPECT_EQ(static_cast<int>(kind::LastSymbol), 88);
}

TEST(Enumerators, Attributes) {
  using attr = op::attr;
  struct Row {
    attr attribute;
    int number;
  };
  constexpr Row kRows[] = {{attr::undef, 0},
                           {attr::alpha, 1},
                           {attr::beta, 2},
                           {attr::epsilon, 3},
                           {attr::max, 4},
                           {attr::min, 5},
                           {attr::momentum, 6},
                           {attr::scales, 0x20},
                           {attr::axis, 0x30},
                           {attr::begin_norm_axis, 0x31},
                           {attr::groups, 0x32},
                           {attr::axes, 0x40},
                           {attr::dilations, 0x41},
                           {attr::dst_shape, 0x42},
                           {attr::kernel, 0x43},
                           {attr::order, 0x44},
                           {attr::output_padding, 0x45},
                           {attr::pads_begin, 0x46},
                           {attr::pads_end, 0x47},
                           {attr::shape, 0x48},
                           {attr::sizes, 0x49},
                           {attr::src_shape, 0x4a},
                           {attr::strides, 0x4b},
                           {attr::weights_shape, 0x4c},
                           {attr::zps, 0x4d},
                           {attr::group_shape, 0x4e},
                           {attr::exclude_pad, 0x60},
                           {attr::keep_dims, 0x61},
                           {attr::keep_stats, 0x62},
                           {attr::per_channel_broadcast, 0x63},
                           {attr::special_zero, 0x64},
                           {attr::transpose_a, 0x65},
                           {attr::transpose_b, 0x66},
                           {attr::use_affine, 0x67},
                           {attr::use_dst, 0x68},
                           {attr::auto_broadcast, 0x80},
                           {attr::auto_pad, 0x81},
                           {attr::coordinate_transformation_mode, 0x82},
                           {attr::data_format, 0x83},
                           {attr::mode, 0x84},
                           {attr::qtype, 0x85},
                           {attr::rounding_type, 0x86},
                           {attr::weights_format, 0x87},
                           {attr::accumulation_mode, 0x88},
                           {attr::end, 0xff}};
  for (const Row& row : kRows) {
    EXPECT_EQ(static_cast<int>(row.attribute), row.number);
  }
}

TEST(Enumerators, Types) {
  using type = logical_tensor::data_type;
  struct Row {
    type data_type;
    int number;
  };
  constexpr Row kRows[] = {
      {type::undef, 0},    {type::f16, 1},     {type::bf16, 2},
      {type::f32, 3},      {type::s32, 4},     {type::s8, 5},
      {type::u8, 6},       {type::boolean, 8}, {type::f8_e5m2, 9},
      {type::f8_e4m3, 10}, {type::s4, 11},     {type::u4, 12},
      {type::s64, 16}};
  for (const Row& row : kRows) {
    EXPECT_EQ(static_cast<int>(row.data_type), row.number);
  }
  EXPECT_EQ(tim_graph_f64, 7);
  EXPECT_EQ(tim_graph_e8m0, 13);
  EXPECT_EQ(tim_graph_f4_e2m1, 14);
  EXPECT_EQ(tim_graph_f4_e3m0, 15);
}

TEST(Enumerators, Others) {
  EXPECT_EQ(static_cast<int>(status::invalid_arguments), 2);
  EXPECT_EQ(static_cast<int>(status::invalid_graph), 7);
  EXPECT_EQ(static_cast<int>(status::invalid_data_type), 10);
  EXPECT_EQ(static_cast<int>(engine::kind::gpu), 2);
  EXPECT_EQ(static_cast<int>(fpmath_mode::tf32), 4);
  EXPECT_EQ(static_cast<int>(accumulation_mode::f16), 5);
  EXPECT_EQ(static_cast<int>(logical_tensor::layout_type::opaque), 3);
  EXPECT_EQ(static_cast<int>(logical_tensor::property_type::host_scalar), 3);
  EXPECT_EQ(static_cast<int>(partition::policy::debug), 2);
  EXPECT_EQ(static_cast<unsigned>(graph_dump_mode::graph), 2u);
  EXPECT_EQ(stream::flags::default_flags, stream::flags::in_order);
  EXPECT_EQ(static_cast<unsigned>(stream::flags::out_of_order |
                                  stream::flags::asynchronous),
            0x102u);
}

}  // namespace
}  // namespace tim::graph
