// Quantize, Dequantize and the dynamic ones against their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/graph_api/evaluated_op.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph {
namespace {

const std::string kPerChannel = "per_channel";

struct Range {
  double low, high;
};
Range RangeOf(tim_graph_data_type_t type) {
  return type == tim_graph_u8 ? Range{0, 255} : Range{-128, 127};
}

double CodeOf(double x, float scale, double zero, tim_graph_data_type_t type) {
  const float units = static_cast<float>(x) / scale + static_cast<float>(zero);
  const Range range = RangeOf(type);
  return std::clamp<double>(std::nearbyint(units), range.low, range.high);
}

EvaluatedOp QuantizeOf(const Array& x, tim_graph_data_type_t type,
                       const Floats& scales, const Dims& zps) {
  EvaluatedOp op(tim_graph_op_quantize);
  op.Input(x).Output(type).Set(tim_graph_op_attr_scales, scales);
  if (!zps.empty()) op.Set(tim_graph_op_attr_zps, zps);
  return op;
}

EvaluatedOp DequantizeOf(const Array& codes, const Floats& scales,
                         const Dims& zps) {
  EvaluatedOp op(tim_graph_op_dequantize);
  op.Input(codes).Output().Set(tim_graph_op_attr_scales, scales);
  if (!zps.empty()) op.Set(tim_graph_op_attr_zps, zps);
  return op;
}

// The zero point is added before rounding: 0.5 + 1 is a tie between 1 and 2.
TEST(Quantize, RoundsHalfToEvenBehindTheZeroPointAndSaturates) {
  const Array x = {{7}, {0.5, 1.5, -0.5, 2.25, 1000, -1000, 0}};
  EXPECT_EQ(QuantizeOf(x, tim_graph_u8, {1}, {1}).First().values,
            (Numbers{2, 2, 0, 3, 255, 0, 1}));
  EXPECT_EQ(QuantizeOf(x, tim_graph_s8, {0.5f}, {}).First().values,
            (Numbers{1, 3, -1, 4, 127, -128, 0}));
}

TEST(Dequantize, HandCheckedValues) {
  const Array codes = {{3}, {0, 128, 255}, tim_graph_u8};
  EXPECT_EQ(DequantizeOf(codes, {0.5f}, {128}).First().values,
            (Numbers{-64, 0, 63.5}));
}

TEST(Quantize, OfChannelsAlongAnyAxis) {
  const Array x = Random({3, 4, 5}, 1);
  const Dims zps = {3, -2, 0, 7, 1};
  const Floats scales = {0.01f, 0.03f, 0.5f, 0.0071f, 0.002f};
  for (const int64_t axis : {0, 1, -1}) {
    const size_t at = axis < 0 ? 2 : static_cast<size_t>(axis);
    const auto count = static_cast<size_t>(x.dims[at]);
    const size_t inner = at == 0 ? 20 : at == 1 ? 5 : 1;
    for (const auto type : {tim_graph_s8, tim_graph_u8}) {
      EvaluatedOp op = QuantizeOf(
          x, type, Floats(scales.begin(), scales.begin() + x.dims[at]),
          Dims(zps.begin(), zps.begin() + x.dims[at]));
      op.Set(tim_graph_op_attr_qtype, kPerChannel)
          .Set(tim_graph_op_attr_axis, axis);
      Numbers codes, reals;
      for (size_t i = 0; i < x.values.size(); ++i) {
        const size_t k = i / inner % count;
        codes.push_back(
            CodeOf(x.values[i], scales[k], static_cast<double>(zps[k]), type));
        reals.push_back((codes.back() - static_cast<double>(zps[k])) *
                        scales[k]);
      }
      const Array made = op.First();
      EXPECT_EQ(made.values, codes);
      EvaluatedOp back = DequantizeOf(
          made, Floats(scales.begin(), scales.begin() + x.dims[at]),
          Dims(zps.begin(), zps.begin() + x.dims[at]));
      back.Set(tim_graph_op_attr_qtype, kPerChannel)
          .Set(tim_graph_op_attr_axis, axis);
      ExpectNear(back.First().values, reals, 1e-7);
    }
  }
}

// What descriptions of tensors cannot say: negative scales, huge zero points.
TEST(Quantize, TakesAnyScale) {
  const Array x = {{2}, {1, -3}};
  EXPECT_EQ(QuantizeOf(x, tim_graph_s8, {-0.5f}, {1}).First().values,
            (Numbers{-1, 7}));
  const Array codes = {{2}, {-1, 7}, tim_graph_s8};
  EXPECT_EQ(DequantizeOf(codes, {-0.5f}, {1}).First().values, x.values);
  EXPECT_EQ(QuantizeOf(x, tim_graph_s8, {1}, {int64_t{1} << 40}).First().values,
            (Numbers{127, 127}));
}

TEST(Quantize, Rules) {
  const Array x = Random({2, 3}, 1);
  ExpectRefused(QuantizeOf(x, tim_graph_u8, {1, 2}, {}).Check(), "scales");
  ExpectRefused(QuantizeOf(x, tim_graph_u8, {1}, {1, 2}).Check(), "zps");
  ExpectRefused(QuantizeOf(x, tim_graph_f8_e5m2, {1}, {1}).Check(), "zps");
  EvaluatedOp channels = QuantizeOf(x, tim_graph_u8, {1, 2}, {});
  channels.Set(tim_graph_op_attr_qtype, kPerChannel);
  ExpectRefused(channels.Run().status(), "extent of 3");
  channels.Set(tim_graph_op_attr_axis, int64_t{2});
  ExpectRefused(channels.Run().status(), "axis 2");
  EvaluatedOp missing(tim_graph_op_dequantize);
  missing.Input({{1}, {1}, tim_graph_u8}).Output();
  ExpectRefused(missing.Check(), "scales");
}

// ---- 8-bit floats ----

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Fields of a code, as the formats' names say.
struct Float8 {
  tim_graph_data_type_t type;
  int mantissa_bits;
  int bias;
  int greatest_code;  // Of the finite ones.

  double ValueOf(int code) const {
    const int sign = code >> 7;
    const int exponent = (code & 127) >> mantissa_bits;
    const int ones = 1 << mantissa_bits;
    const double fraction = static_cast<double>(code & (ones - 1)) / ones;
    if ((code & 127) > greatest_code) {
      const bool infinite = type == tim_graph_f8_e5m2 && fraction == 0;
      return infinite ? (sign != 0 ? -kInfinity : kInfinity) : std::nan("");
    }
    const double size = exponent == 0
                            ? std::pow(2.0, 1 - bias) * fraction
                            : std::pow(2.0, exponent - bias) * (1 + fraction);
    return sign != 0 ? -size : size;
  }
  // Nearest code, by search among the finite ones of x's sign.
  int CodeOf(double x) const {
    const double size = std::min(std::fabs(x), ValueOf(greatest_code));
    int best = 0;
    for (int code = 1; code <= greatest_code; ++code) {
      const double gain =
          std::fabs(ValueOf(best) - size) - std::fabs(ValueOf(code) - size);
      if (gain > 0 || (gain == 0 && code % 2 == 0)) best = code;
    }
    return std::signbit(x) ? best + 128 : best;
  }
};
constexpr Float8 kFloat8s[] = {{tim_graph_f8_e5m2, 2, 15, 0x7b},
                               {tim_graph_f8_e4m3, 3, 7, 0x7e}};

TEST(Float8, EveryCodeIsItsNumber) {
  for (const Float8& format : kFloat8s) {
    Array codes = {{256}, {}, format.type};
    for (int code = 0; code < 256; ++code) codes.values.push_back(code);
    const Numbers found = DequantizeOf(codes, {0.5f}, {}).First().values;
    ASSERT_EQ(found.size(), 256u);
    for (int code = 0; code < 256; ++code) {
      const double expected = format.ValueOf(code) * 0.5;
      const double value = found[static_cast<size_t>(code)];
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << code;
      } else {
        EXPECT_EQ(value, expected) << code;
        EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
      }
    }
  }
}

TEST(Float8, EveryNumberBecomesTheNearestCode) {
  constexpr float kFar = std::numeric_limits<float>::max();
  for (const Float8& format : kFloat8s) {
    Array x = {{}, {0.0, -0.0, 1e-30, -1e-30, 3e38, -3e38, kInfinity}};
    x.values.push_back(-kInfinity);
    for (int code = 0; code <= format.greatest_code; ++code) {
      const double value = format.ValueOf(code);
      const double next = format.ValueOf(std::min(code + 1, 0x7b));
      const auto between = static_cast<float>((value + next) / 2);
      for (const float near :
           {static_cast<float>(value), between, std::nextafter(between, kFar),
            std::nextafter(between, 0.0f)}) {
        x.values.push_back(near);
        x.values.push_back(-near);
      }
    }
    x.dims = {static_cast<int64_t>(x.values.size())};
    Numbers expected;
    for (const double value : x.values) {
      expected.push_back(format.CodeOf(value));
    }
    EXPECT_EQ(QuantizeOf(x, format.type, {1}, {}).First().values, expected);
    const Array nothing = {{1}, {std::nan("")}};
    EXPECT_TRUE(std::isnan(format.ValueOf(static_cast<int>(
        QuantizeOf(nothing, format.type, {1}, {}).First().values[0]))));
  }
}

TEST(Float8, DevicesGiveTheCodesOfTheHost) {
  const auto device = testing::OpenClEngine();
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const Float8& format : kFloat8s) {
    Array x = {{}, {0.0, -0.0, 1e-30, -1e-30, 3e38, -3e38, kInfinity}};
    for (int code = 0; code <= format.greatest_code; ++code) {
      const auto value = static_cast<float>(format.ValueOf(code));
      x.values.insert(x.values.end(), {value, -value, value * 1.03f});
    }
    x.dims = {static_cast<int64_t>(x.values.size())};
    EvaluatedOp op = QuantizeOf(x, format.type, {0.7f}, {});
    const Array codes = op.First();
    EXPECT_EQ(op.On(device).First().values, codes.values);
    EvaluatedOp back = DequantizeOf(codes, {0.7f}, {});
    const Numbers reals = back.First().values;
    EXPECT_EQ(back.On(device).First().values, reals);
  }
}

TEST(Float8, OfChannels) {
  const Array x = Random({2, 3, 4}, 1);
  const Floats scales = {0.25f, 3, 0.01f};
  for (const Float8& format : kFloat8s) {
    EvaluatedOp op = QuantizeOf(x, format.type, scales, {});
    op.Set(tim_graph_op_attr_qtype, kPerChannel);
    Numbers codes, reals;
    for (size_t i = 0; i < x.values.size(); ++i) {
      const float scale = scales[i / 4 % 3];
      codes.push_back(format.CodeOf(static_cast<float>(x.values[i]) / scale));
      reals.push_back(static_cast<float>(
          format.ValueOf(static_cast<int>(codes.back())) * scale));
    }
    const Array made = op.First();
    EXPECT_EQ(made.values, codes);
    EvaluatedOp back = DequantizeOf(made, scales, {});
    back.Set(tim_graph_op_attr_qtype, kPerChannel);
    EXPECT_EQ(back.First().values, reals);
  }
}

// ---- Dynamic ----

TEST(DynamicQuantize, PerTensorAndPerChannel) {
  const Array x = Random({2, 3, 2}, 1);
  const Array scale = {{1}, {0.013f}};
  EvaluatedOp all(tim_graph_op_dynamic_quantize);
  all.Input(x).Input(scale).Input({{1}, {5}, tim_graph_s32});
  all.Output(tim_graph_s8);
  Numbers expected;
  for (const double value : x.values) {
    expected.push_back(CodeOf(value, 0.013f, 5, tim_graph_s8));
  }
  EXPECT_EQ(all.First().values, expected);

  const Array scales = {{3}, {0.01f, 0.02f, 0.005f}};
  for (const Dims& zps : {Dims{7}, Dims{1, 2, 3}}) {
    const auto count = static_cast<int64_t>(zps.size());
    EvaluatedOp op(tim_graph_op_dynamic_quantize);
    op.Input(x).Input(scales);
    op.Input({{count}, {zps.begin(), zps.end()}, tim_graph_u8});
    op.Output(tim_graph_u8).Set(tim_graph_op_attr_qtype, kPerChannel);
    expected.clear();
    for (size_t i = 0; i < x.values.size(); ++i) {
      const size_t k = i / 2 % 3;
      expected.push_back(
          CodeOf(x.values[i], static_cast<float>(scales.values[k]),
                 static_cast<double>(zps[count == 1 ? 0 : k]), tim_graph_u8));
    }
    EXPECT_EQ(op.First().values, expected);
  }
}

TEST(DynamicQuantize, HandCheckedValues) {
  EvaluatedOp op(tim_graph_op_dynamic_quantize);
  op.Input({{4}, {0.5, 1.5, -300, 300}}).Input({{1}, {1}});
  op.Input({{1}, {-1}, tim_graph_s8}).Output(tim_graph_s8);
  EXPECT_EQ(op.First().values, (Numbers{0, 0, -128, 127}));
}

TEST(DynamicDequantize, GroupsOfElements) {
  // Groups of two along the first axis, of one along the second.
  EvaluatedOp op(tim_graph_op_dynamic_dequantize);
  op.Input({{4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, tim_graph_s8});
  op.Input({{2, 2}, {1, 10, 0.5, 2}});
  op.Input({{2, 2}, {0, 1, 2, 3}, tim_graph_s8}).Output();
  op.Set(tim_graph_op_attr_qtype, std::string("per_group"))
      .Set(tim_graph_op_attr_group_shape, Dims{2, 1});
  EXPECT_EQ(op.First().values, (Numbers{1, 10, 3, 30, 1.5, 6, 2.5, 10}));
}

TEST(DynamicDequantize, FourBitsAndNarrowScales) {
  for (const auto type : {tim_graph_s4, tim_graph_u4}) {
    const double low = type == tim_graph_s4 ? -8 : 0;
    Array codes = {{4, 6}, {}, type};
    Array scales = Rounded(Random({2, 2}, 1), tim_graph_bf16);
    for (int i = 0; i < 24; ++i) codes.values.push_back(low + i % 16);
    EvaluatedOp op(tim_graph_op_dynamic_dequantize);
    op.Input(codes).Input(scales).Output(tim_graph_bf16);
    op.Set(tim_graph_op_attr_qtype, std::string("per_group"))
        .Set(tim_graph_op_attr_group_shape, Dims{2, 3});
    Array expected = {codes.dims};
    for (size_t i = 0; i < 24; ++i) {
      expected.values.push_back(codes.values[i] *
                                scales.values[i / 12 * 2 + i % 6 / 3]);
    }
    EXPECT_EQ(op.First().values, Rounded(expected, tim_graph_bf16).values);
  }
}

// Rows of an odd extent begin in the middle of a byte.
TEST(DynamicDequantize, OddRowsOfFourBits) {
  const Dims dims = {3, 5};
  for (const auto type : {tim_graph_s4, tim_graph_u4}) {
    const double low = type == tim_graph_s4 ? -8 : 0;
    Array codes = {dims, {}, type};
    Array zps = {{3, 1}, {low + 1, low + 15, low + 6}, type};
    const Array scales = {{3, 1}, {0.5, 2, 1}};
    Numbers expected;
    for (size_t i = 0; i < 15; ++i) {
      codes.values.push_back(low + static_cast<double>(i * 7 % 16));
      expected.push_back((codes.values[i] - zps.values[i / 5]) *
                         scales.values[i / 5]);
    }
    EvaluatedOp op(tim_graph_op_dynamic_dequantize);
    op.Input(codes).Input(scales).Input(zps).Output();
    op.Set(tim_graph_op_attr_qtype, std::string("per_group"))
        .Set(tim_graph_op_attr_group_shape, Dims{1, 5});
    EXPECT_EQ(op.First().values, expected);
  }
}

TEST(DynamicDequantize, Rules) {
  const Array codes = {{2, 3}, {1, 2, 3, 4, 5, 6}, tim_graph_u8};
  EvaluatedOp tensor(tim_graph_op_dynamic_dequantize);
  tensor.Input(codes).Input(Random({3}, 1)).Output();
  ExpectRefused(tensor.Check(), "expected 1 where qtype is per_tensor");
  EvaluatedOp channels(tim_graph_op_dynamic_dequantize);
  channels.Input(codes).Input(Random({3}, 1));
  channels.Input({{2}, {1, 2}, tim_graph_s32}).Output();
  channels.Set(tim_graph_op_attr_qtype, kPerChannel);
  ExpectRefused(channels.Check(), "zps");
  EvaluatedOp group(tim_graph_op_dynamic_dequantize);
  group.Input(codes).Input(Random({2, 2}, 1)).Output();
  group.Set(tim_graph_op_attr_qtype, std::string("per_group"));
  ExpectRefused(group.Check(), "group_shape");
  group.Set(tim_graph_op_attr_group_shape, Dims{1, 2});
  ExpectRefused(group.Run().status(), "along axis 1");
}

}  // namespace
}  // namespace tim::graph
