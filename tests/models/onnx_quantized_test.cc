// Quantized models of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

NodeRunner Quantized(const std::string& op, int opset = 13) {
  return NodeRunner(AddQuantized, op, opset);
}

// Ties at 0.5, 1.5 and -0.5 of a scale of 2, and what saturates.
const std::vector<float> kTies = {0, 1, 3, -1, 2.5f, 1e9f, -1e9f};

template <typename T>
std::vector<int64_t> QuantizedTies(T zero_point, bool known) {
  NodeRunner runner = Quantized("QuantizeLinear", 21);
  runner.Input(kTies, {7});
  if (known) {
    runner.Constant<float>({2}, {}).template Constant<T>({zero_point}, {});
  } else {
    runner.Input<float>({2}, {}).template Input<T>({zero_point}, {});
  }
  return IntsOf(runner);
}

TEST(OnnxQuantized, RoundsBeforeTheZeroPointIsAdded) {
  for (const bool known : {true, false}) {
    SCOPED_TRACE(known);
    EXPECT_THAT(QuantizedTies<uint8_t>(128, known),
                ElementsAre(128, 128, 130, 128, 129, 255, 0));
    EXPECT_THAT(QuantizedTies<uint8_t>(127, known),
                ElementsAre(127, 127, 129, 127, 128, 255, 0));
    EXPECT_THAT(QuantizedTies<int8_t>(-3, known),
                ElementsAre(-3, -3, -1, -3, -2, 127, -128));
    EXPECT_THAT(QuantizedTies<int16_t>(5, known),
                ElementsAre(5, 5, 7, 5, 6, 32767, -32768));
    EXPECT_THAT(QuantizedTies<uint16_t>(32767, known),
                ElementsAre(32767, 32767, 32769, 32767, 32768, 65535, 0));
  }
}

TEST(OnnxQuantized, QuantizesByAxisAndType) {
  NodeRunner runner = Quantized("QuantizeLinear");
  EXPECT_THAT(IntsOf(runner.With("axis", int64_t{-2})
                         .Input<float>({1, 2, 3, 4}, {1, 2, 2})
                         .Constant<float>({1, 2}, {2})
                         .Constant<int8_t>({10, -1}, {2})),
              ElementsAre(11, 12, 1, 1));
  NodeRunner typed = Quantized("QuantizeLinear", 21);
  const auto results = typed.With("output_dtype", int64_t{5})
                           .Input<float>({1.5f, -700}, {2})
                           .Constant<float>({0.5f}, {})
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, vx::DataType::INT16);
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(3, -1400));
}

TEST(OnnxQuantized, Dequantizes) {
  NodeRunner input = Quantized("DequantizeLinear");
  EXPECT_THAT(FloatsOf(input.Input<uint8_t>({0, 3, 128, 255}, {4})
                           .Constant<float>({2}, {})
                           .Constant<uint8_t>({128}, {})),
              ElementsAre(-256, -250, 0, 254));
  // The input has got the meaning of its codes.
  EXPECT_EQ(input.node().builder->inputs()[0].tensor->GetQuantization().Type(),
            vx::QuantType::ASYMMETRIC);
  NodeRunner channels = Quantized("DequantizeLinear");
  EXPECT_THAT(FloatsOf(channels.Constant<int8_t>({1, 2, 3, 4}, {1, 2, 2})
                           .Constant<float>({0.5f, 2}, {2})
                           .Constant<int8_t>({1, 0}, {2})),
              ElementsAre(0, 0.5f, 6, 8));
  NodeRunner wide = Quantized("DequantizeLinear");
  EXPECT_THAT(FloatsOf(wide.Constant<int32_t>({-7, 100000}, {2})
                           .Constant<float>({0.25f}, {})),
              ElementsAre(-1.75f, 25000));
  NodeRunner unknown = Quantized("DequantizeLinear");
  EXPECT_THAT(FloatsOf(unknown.With("axis", int64_t{0})
                           .Input<int8_t>({1, 2, 3, 4}, {2, 2})
                           .Input<float>({0.5f, 2}, {2})
                           .Input<int8_t>({1, -1}, {2})),
              ElementsAre(0, 0.5f, 8, 10));
}

TEST(OnnxQuantized, QuantizesByTheRangeOfTheData) {
  NodeRunner runner = Quantized("DynamicQuantizeLinear");
  const auto results = runner.Wants({true, true, true})
                           .Input<float>({-1, 0, 4, 1.55f}, {2, 2})
                           .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Integers(results.value()[0]).value(),
              ElementsAre(0, 51, 255, 130));
  EXPECT_THAT(Floats(results.value()[1]).value(), ElementsAre(5.0f / 255));
  EXPECT_THAT(Integers(results.value()[2]).value(), ElementsAre(51));
  NodeRunner zeros = Quantized("DynamicQuantizeLinear");
  EXPECT_THAT(IntsOf(zeros.Input<float>({0, 0}, {2})), ElementsAre(0, 0));
}

int64_t Code(double real, double scale, int64_t zero, int64_t least,
             int64_t greatest) {
  const auto code = static_cast<int64_t>(std::nearbyint(real / scale)) + zero;
  return std::clamp(code, least, greatest);
}

TEST(OnnxQuantized, ConvolvesCodes) {
  // Two channels of 3 cells, windows of 2, three outputs with scales of their
  // own.
  const std::vector<uint8_t> x = {10, 200, 30, 0, 128, 255};
  const std::vector<int8_t> w = {1, -2, 3, 100, -128, 7, 0, 5, 64, -9, 11, 2};
  const std::vector<float> scales = {0.02f, 0.07f, 0.5f};
  const std::vector<int32_t> bias = {5, -100, 40};
  NodeRunner runner = Quantized("QLinearConv");
  const auto made = IntsOf(runner.Input(x, {1, 2, 3})
                               .Constant<float>({0.03f}, {})
                               .Constant<uint8_t>({20}, {})
                               .Constant(w, {3, 2, 2})
                               .Constant(scales, {3})
                               .Constant<int8_t>({0, 0, 0}, {3})
                               .Constant<float>({0.9f}, {})
                               .Constant<uint8_t>({100}, {})
                               .Constant(bias, {3}));
  std::vector<int64_t> expected;
  for (int o = 0; o < 3; ++o) {
    for (int at = 0; at < 2; ++at) {
      int64_t sum = bias[o];
      for (int i = 0; i < 4; ++i) {
        sum += (x[i / 2 * 3 + at + i % 2] - 20) * w[o * 4 + i];
      }
      expected.push_back(
          Code(0.03 * scales[o] * static_cast<double>(sum), 0.9, 100, 0, 255));
    }
  }
  EXPECT_THAT(made, ElementsAreArray(expected));
}

TEST(OnnxQuantized, MultipliesCodes) {
  const std::vector<int8_t> a = {1, -20, 30, 4, 55, -66};
  const std::vector<int8_t> b = {10, -2, 3, 44, 5, 127};
  const std::vector<float> several = {0.1f, 0.3f};
  const std::vector<int8_t> zeros = {3, -4};
  for (const bool by_column : {false, true}) {
    SCOPED_TRACE(by_column);
    NodeRunner runner = Quantized("QLinearMatMul", 21);
    runner.Input(a, {2, 3})
        .Constant<float>({0.2f}, {})
        .Constant<int8_t>({-5}, {});
    if (by_column) {
      runner.Constant(b, {3, 2}).Constant(several, {2}).Constant(zeros, {2});
    } else {
      runner.Input(b, {3, 2})
          .Constant<float>({0.1f}, {})
          .Constant<int8_t>({3}, {});
    }
    const auto made =
        IntsOf(runner.Constant<float>({0.7f}, {}).Constant<int8_t>({10}, {}));
    std::vector<int64_t> expected;
    for (int i = 0; i < 4; ++i) {
      const int column = by_column ? i % 2 : 0;
      int64_t sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += (a[i / 2 * 3 + k] + 5) * (b[k * 2 + i % 2] - zeros[column]);
      }
      expected.push_back(Code(0.2 * several[column] * static_cast<double>(sum),
                              0.7, 10, -128, 127));
    }
    EXPECT_THAT(made, ElementsAreArray(expected));
  }
}

// Blocks of 2 along axis 1, of which the second has one index.
NodeRunner Blocked(const std::string& op) {
  NodeRunner runner = Quantized(op, 21);
  runner.With("axis", int64_t{-2}).With("block_size", int64_t{2});
  return runner;
}

TEST(OnnxQuantized, BlocksOfAnAxisHaveScales) {
  const std::vector<int8_t> codes = {1, 2, 3, 4, 5, 6};
  const std::vector<float> scales = {1, 0.5f, 10, 2};
  const std::vector<int8_t> zeros = {0, 1, 2, -1};
  const auto reals = ElementsAre(1, 0.5f, 3, 1.5f, 30, 14);
  NodeRunner known = Blocked("DequantizeLinear");
  EXPECT_THAT(FloatsOf(known.Constant(codes, {1, 3, 2})
                           .Constant(scales, {1, 2, 2})
                           .Constant(zeros, {1, 2, 2})),
              reals);
  NodeRunner codes_later = Blocked("DequantizeLinear");
  EXPECT_THAT(FloatsOf(codes_later.Input(codes, {1, 3, 2})
                           .Constant(scales, {1, 2, 2})
                           .Constant(zeros, {1, 2, 2})),
              reals);
  NodeRunner all_later = Blocked("DequantizeLinear");
  EXPECT_THAT(FloatsOf(all_later.Input(codes, {1, 3, 2})
                           .Input(scales, {1, 2, 2})
                           .Input(zeros, {1, 2, 2})),
              reals);
  NodeRunner back = Blocked("QuantizeLinear");
  EXPECT_THAT(IntsOf(back.Input<float>({1, 0.5f, 3, 1.5f, 30, 14}, {1, 3, 2})
                         .Constant(scales, {1, 2, 2})
                         .Constant(zeros, {1, 2, 2})),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(OnnxQuantized, BlocksOfNibblesHaveScales) {
  // Rows of 3 codes in 2 bytes: -8 1 2, 7 -1 0.
  HostArray codes = ArrayOf(std::vector<uint8_t>{0x18, 0x02, 0xf7, 0x00}, {4});
  codes.type = vx::DataType::INT4;
  codes.dims = {2, 3};
  HostArray zeros = ArrayOf(std::vector<uint8_t>{0x21, 0x0f}, {2});
  zeros.type = vx::DataType::INT4;
  zeros.dims = {1, 3};
  NodeRunner runner = Blocked("DequantizeLinear");
  EXPECT_THAT(FloatsOf(runner.Constant(codes)
                           .Constant<float>({1, 2, 3}, {1, 3})
                           .Constant(zeros)),
              ElementsAre(-9, -2, 9, 6, -6, 3));
}

TEST(OnnxQuantized, Refusals) {
  const auto message = [](NodeRunner& runner) {
    const auto results = runner.Run();
    return results.ok() ? std::string() : results.status().message();
  };
  NodeRunner blocks = Quantized("DequantizeLinear", 21);
  EXPECT_THAT(message(blocks.With("block_size", int64_t{2})
                          .Input<int8_t>({1, 2, 3}, {1, 3})
                          .Constant<float>({1}, {1, 1})),
              HasSubstr("expected [1,2] for blocks of 2 along axis 1"));
  for (const float scale : {0.0f, -1.0f, NAN}) {
    NodeRunner runner = Quantized("QuantizeLinear");
    EXPECT_THAT(
        message(runner.Input<float>({1}, {1}).Constant<float>({scale}, {})),
        HasSubstr("positive"));
  }
  NodeRunner count = Quantized("QuantizeLinear");
  EXPECT_THAT(
      message(
          count.Input<float>({1, 2}, {1, 2}).Constant<float>({1, 2, 3}, {3})),
      HasSubstr("scales"));
  NodeRunner unknown = Quantized("QLinearMatMul");
  EXPECT_THAT(message(unknown.Input<int8_t>({1}, {1, 1})
                          .Input<float>({1}, {})
                          .Constant<int8_t>({0}, {})
                          .Input<int8_t>({1}, {1, 1})
                          .Constant<float>({1}, {})
                          .Constant<int8_t>({0}, {})
                          .Constant<float>({1}, {})
                          .Constant<int8_t>({0}, {})),
              HasSubstr("operand 1"));
}

}  // namespace
}  // namespace tim::models::onnx
