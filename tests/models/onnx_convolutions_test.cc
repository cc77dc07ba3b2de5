// Conv, ConvTranspose and ConvInteger, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/models/windows_reference.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Ints = std::vector<int64_t>;

NodeRunner Convolution(const std::string& op = "Conv", int opset = 11) {
  return NodeRunner(AddConvolutions, op, opset);
}

TEST(OnnxConvolutions, PadsStridesAndDilationsOfTwoAxes) {
  const auto x = SmallNumbers(2 * 3 * 6 * 5, 1);
  const auto w = SmallNumbers(4 * 3 * 3 * 2, 2);
  const auto bias = SmallNumbers(4, 3);
  ReferenceWindows windows;
  windows.kernel = {1, 3, 2};
  windows.strides = {1, 2, 1};
  windows.dilations = {1, 1, 2};
  windows.before = {0, 1, 2};
  windows.output = {1, 4, 6};  // (6 + 1 + 2 - 3) / 2 + 1, 5 + 2 + 1 - 3 + 1
  NodeRunner runner = Convolution();
  const auto made = FloatsOf(runner.With("pads", Ints{1, 2, 2, 1})
                                 .With("strides", Ints{2, 1})
                                 .With("dilations", Ints{1, 2})
                                 .Input(x, {2, 3, 6, 5})
                                 .Constant(w, {4, 3, 3, 2})
                                 .Constant(bias, {4}));
  EXPECT_THAT(made, ElementsAreArray(ConvolutionReference(
                        x, w, bias, 2, 3, 4, 1, {1, 6, 5}, windows)));
  EXPECT_EQ(runner.node().outputs[0].dims, Dims({2, 4, 4, 6}));
}

TEST(OnnxConvolutions, GroupsAndDepthwise) {
  for (const int64_t group : {2, 4}) {
    SCOPED_TRACE(group);
    const int64_t own = 4 / group;
    const auto x = SmallNumbers(4 * 5 * 5, 4);
    const auto w = SmallNumbers(8 * own * 9, 5);
    ReferenceWindows windows;
    windows.kernel = {1, 3, 3};
    windows.output = {1, 3, 3};
    NodeRunner runner = Convolution();
    EXPECT_THAT(FloatsOf(runner.With("group", group)
                             .Input(x, {1, 4, 5, 5})
                             .Constant(w, {8, own, 3, 3})),
                ElementsAreArray(ConvolutionReference(x, w, {}, 1, 4, 8, group,
                                                      {1, 5, 5}, windows)));
  }
}

TEST(OnnxConvolutions, OneAxisAndThree) {
  ReferenceWindows windows;
  windows.kernel = {1, 1, 3};
  windows.strides = {1, 1, 2};
  windows.before = {0, 0, 1};
  windows.output = {1, 1, 4};
  const auto x = SmallNumbers(2 * 7, 6);
  const auto w = SmallNumbers(3 * 2 * 3, 7);
  NodeRunner line = Convolution();
  EXPECT_THAT(FloatsOf(line.With("auto_pad", std::string("SAME_UPPER"))
                           .With("strides", Ints{2})
                           .Input(x, {1, 2, 7})
                           .Constant(w, {3, 2, 3})),
              ElementsAreArray(ConvolutionReference(x, w, {}, 1, 2, 3, 1,
                                                    {1, 1, 7}, windows)));
  windows = {};
  windows.kernel = {2, 2, 3};
  windows.strides = {2, 1, 1};
  windows.before = {1, 0, 1};
  windows.output = {2, 2, 3};  // (3 + 1 - 2) / 2 + 1, 3 - 2 + 1, 3 + 2 - 3 + 1
  const auto volume = SmallNumbers(2 * 27, 8);
  const auto kernel = SmallNumbers(2 * 2 * 12, 9);
  NodeRunner runner = Convolution();
  EXPECT_THAT(FloatsOf(runner.With("pads", Ints{1, 0, 1, 0, 0, 1})
                           .With("strides", Ints{2, 1, 1})
                           .Input(volume, {1, 2, 3, 3, 3})
                           .Input(kernel, {2, 2, 2, 2, 3})),
              ElementsAreArray(ConvolutionReference(volume, kernel, {}, 1, 2, 2,
                                                    1, {3, 3, 3}, windows)));
}

TEST(OnnxConvolutions, HalfPrecision) {
  const auto halves = [](const std::vector<uint16_t>& bits, Dims dims) {
    HostArray array = ArrayOf(bits, std::move(dims));
    array.type = vx::DataType::FLOAT16;
    return array;
  };
  constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000, kThree = 0x4200;
  NodeRunner runner = Convolution();
  EXPECT_THAT(FloatsOf(runner.Input(halves({kOne, kTwo, kThree}, {1, 1, 3}))
                           .Constant(halves({kOne, kTwo}, {1, 1, 2}))
                           .Constant(halves({kThree}, {1}))),
              ElementsAre(8, 11));
  EXPECT_EQ(runner.node().outputs[0].type, vx::DataType::FLOAT16);
}

TEST(OnnxConvolutions, SameLowerPutsTheOddPadFirst) {
  // Windows of 2 over [1, 2, 3]: one cell of padding, before or behind.
  NodeRunner lower = Convolution();
  EXPECT_THAT(FloatsOf(lower.With("auto_pad", std::string("SAME_LOWER"))
                           .Input<float>({1, 2, 3}, {1, 1, 3})
                           .Constant<float>({1, 10}, {1, 1, 2})),
              ElementsAre(10, 21, 32));
  NodeRunner upper = Convolution();
  EXPECT_THAT(FloatsOf(upper.With("auto_pad", std::string("SAME_UPPER"))
                           .Input<float>({1, 2, 3}, {1, 1, 3})
                           .Constant<float>({1, 10}, {1, 1, 2})),
              ElementsAre(21, 32, 3));
}

TEST(OnnxConvolutions, RefusesWhatDoesNotFit) {
  const auto refused = [](NodeRunner& runner) {
    const auto results = runner.Input(SmallNumbers(18, 1), {1, 2, 3, 3})
                             .Constant(SmallNumbers(8, 1), {1, 2, 2, 2})
                             .Run();
    return results.ok() ? std::string() : results.status().message();
  };
  const auto with = [&](const char* name, Attribute value) {
    NodeRunner runner = Convolution();
    return refused(runner.With(name, std::move(value)));
  };
  EXPECT_THAT(with("group", int64_t{3}), ::testing::HasSubstr("3 groups"));
  EXPECT_THAT(with("pads", Ints{-1, 0, 0, 0}), ::testing::HasSubstr("'pads'"));
  EXPECT_THAT(with("pads", Ints{1, 0}), ::testing::HasSubstr("expected 4"));
  EXPECT_THAT(with("strides", Ints{0, 1}), ::testing::HasSubstr("'strides'"));
  EXPECT_THAT(with("dilations", Ints{3, 1}),
              ::testing::HasSubstr("does not fit"));
  EXPECT_THAT(with("kernel_shape", Ints{3, 3}),
              ::testing::HasSubstr("'kernel_shape'"));
  EXPECT_THAT(with("auto_pad", std::string("LATER")),
              ::testing::HasSubstr("'LATER'"));
  EXPECT_THAT(with("unheard_of", int64_t{1}),
              ::testing::HasSubstr("'unheard_of'"));
}

// Sums of what each input adds, cell by cell.
std::vector<float> TransposedReference(const std::vector<float>& x,
                                       const std::vector<float>& weights,
                                       int64_t channels, int64_t outputs,
                                       int64_t group,
                                       const ReferenceWindows::Axes& input,
                                       const ReferenceWindows& windows) {
  const int64_t plane = input[0] * input[1] * input[2];
  const auto& out = windows.output;
  const int64_t made = out[0] * out[1] * out[2];
  const int64_t cells =
      windows.kernel[0] * windows.kernel[1] * windows.kernel[2];
  std::vector<float> results(static_cast<size_t>(outputs * made));
  const int64_t own = outputs / group;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t o = 0; o < own; ++o) {
      const int64_t to = c / (channels / group) * own + o;
      for (int64_t i = 0; i < plane; ++i) {
        // The window of an input cell is one over the result.
        VisitWindow(
            windows, out,
            {i / (input[1] * input[2]), i / input[2] % input[1], i % input[2]},
            [&](int64_t place, int64_t cell) {
              if (place < 0) return;
              results[to * made + place] +=
                  x[c * plane + i] * weights[(c * own + o) * cells + cell];
            });
      }
    }
  }
  return results;
}

TEST(OnnxConvolutions, TransposedInGroupsWithDilationsAndPadding) {
  const auto x = SmallNumbers(4 * 3 * 3, 1);
  const auto w = SmallNumbers(4 * 3 * 2 * 3, 2);
  ReferenceWindows windows;
  windows.kernel = {1, 2, 3};
  windows.strides = {1, 2, 3};
  windows.dilations = {1, 2, 1};
  windows.before = {0, 1, 0};
  // (3 - 1) * 2 + 3 - 1 + 1, (3 - 1) * 3 + 3 - 2
  windows.output = {1, 7, 7};
  NodeRunner runner = Convolution("ConvTranspose");
  EXPECT_THAT(
      FloatsOf(runner.With("group", int64_t{2})
                   .With("strides", Ints{2, 3})
                   .With("dilations", Ints{2, 1})
                   .With("pads", Ints{1, 0, 0, 2})
                   .With("output_padding", Ints{1, 0})
                   .Input(x, {1, 4, 3, 3})
                   .Constant(w, {4, 3, 2, 3})),
      ElementsAreArray(TransposedReference(x, w, 4, 6, 2, {1, 3, 3}, windows)));
}

TEST(OnnxConvolutions, TransposedOverOneAxisAndThree) {
  ReferenceWindows windows;
  windows.kernel = {1, 1, 3};
  windows.strides = {1, 1, 2};
  windows.before = {0, 0, 1};
  windows.output = {1, 1, 7};  // In of 4, twice as long less one.
  const auto x = SmallNumbers(2 * 4, 3);
  const auto w = SmallNumbers(2 * 2 * 3, 4);
  NodeRunner line = Convolution("ConvTranspose");
  EXPECT_THAT(
      FloatsOf(line.With("strides", Ints{2})
                   .With("pads", Ints{1, 1})
                   .Input(x, {1, 2, 4})
                   .Constant(w, {2, 2, 3})),
      ElementsAreArray(TransposedReference(x, w, 2, 2, 1, {1, 1, 4}, windows)));
  windows = {};
  windows.kernel = {2, 3, 2};
  windows.strides = {2, 1, 3};
  windows.dilations = {1, 2, 1};
  windows.before = {1, 0, 0};
  windows.output = {4, 6, 6};  // 2 + 2 - 1 + 1, 1 + 5, 3 + 2 + 1
  const auto volume = SmallNumbers(2 * 8, 5);
  const auto kernel = SmallNumbers(2 * 3 * 12, 6);
  NodeRunner runner = Convolution("ConvTranspose");
  EXPECT_THAT(FloatsOf(runner.With("strides", Ints{2, 1, 3})
                           .With("dilations", Ints{1, 2, 1})
                           .With("pads", Ints{1, 0, 0, 0, 0, 0})
                           .With("output_padding", Ints{1, 0, 1})
                           .Input(volume, {1, 2, 2, 2, 2})
                           .Constant(kernel, {2, 3, 2, 3, 2})),
              ElementsAreArray(TransposedReference(volume, kernel, 2, 3, 1,
                                                   {2, 2, 2}, windows)));
}

TEST(OnnxConvolutions, TransposedToAnExtentThatIsAskedFor) {
  // Inputs 1, 2 and windows of 3, 2 apart: 1 1 3 2 2; one more is a zero, one
  // less is cut at the beginning, or at the end for SAME_UPPER.
  const auto made = [](const char* mode, int64_t extent) {
    NodeRunner runner = Convolution("ConvTranspose");
    return FloatsOf(runner.With("strides", Ints{2})
                        .With("auto_pad", std::string(mode))
                        .With("output_shape", Ints{extent})
                        .Input<float>({1, 2}, {1, 1, 2})
                        .Constant<float>({1, 1, 1}, {1, 1, 3}));
  };
  EXPECT_THAT(made("NOTSET", 6), ElementsAre(1, 1, 3, 2, 2, 0));
  EXPECT_THAT(made("NOTSET", 4), ElementsAre(1, 3, 2, 2));
  EXPECT_THAT(made("SAME_UPPER", 4), ElementsAre(1, 1, 3, 2));
  NodeRunner same = Convolution("ConvTranspose");
  EXPECT_THAT(FloatsOf(same.With("strides", Ints{2})
                           .With("auto_pad", std::string("SAME_UPPER"))
                           .Input<float>({1, 2}, {1, 1, 2})
                           .Constant<float>({1, 1, 1}, {1, 1, 3})),
              ElementsAre(1, 1, 3, 2));
}

// Pads, which are the zero point, add nothing, whatever it is.
TEST(OnnxConvolutions, IntegersLessAZeroPointThatIsNotKnown) {
  for (const bool has_pads : {true, false}) {
    for (const int64_t group : {1, 2}) {
      const int64_t own = 4 / group;
      std::vector<uint8_t> codes;
      std::vector<float> x;
      for (int64_t i = 0; i < 4 * 6 * 5; ++i) {
        codes.push_back(static_cast<uint8_t>(i * 37 % 256));
        x.push_back(static_cast<float>(codes.back()) - 131);
      }
      const std::vector<float> w = SmallNumbers(6 * own * 3 * 2, 5);
      ReferenceWindows windows;
      windows.kernel = {1, 3, 2};
      windows.strides = {1, 2, 1};
      windows.dilations = {1, 1, 2};
      if (has_pads) windows.before = {0, 1, 2};
      windows.output = {1, has_pads ? 4 : 2, has_pads ? 6 : 3};
      NodeRunner runner = Convolution("ConvInteger", 10);
      const auto made = IntsOf(
          runner.With("pads", has_pads ? Ints{1, 2, 2, 1} : Ints{0, 0, 0, 0})
              .With("strides", Ints{2, 1})
              .With("dilations", Ints{1, 2})
              .With("group", group)
              .Input(codes, {1, 4, 6, 5})
              .Constant(std::vector<int8_t>(w.begin(), w.end()), {6, own, 3, 2})
              .Input<uint8_t>({131}, {}));
      const std::vector<float> expected =
          ConvolutionReference(x, w, {}, 1, 4, 6, group, {1, 6, 5}, windows);
      EXPECT_THAT(made, ElementsAreArray(std::vector<int64_t>(expected.begin(),
                                                              expected.end())))
          << has_pads << " " << group;
    }
  }
}

TEST(OnnxConvolutions, IntegersAreExact) {
  NodeRunner plain = Convolution("ConvInteger", 10);
  EXPECT_THAT(
      IntsOf(plain.Input<uint8_t>({2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 1, 3, 3})
                 .Constant<uint8_t>({1, 1, 1, 1}, {1, 1, 2, 2})
                 .Constant<uint8_t>({1}, {})),
      ElementsAre(12, 16, 24, 28));
  // Weights less a zero point that leaves both 8-bit types, in two pieces, with
  // and without a zero point of the codes.
  for (const int zero : {0, 9}) {
    NodeRunner wide = Convolution("ConvInteger", 10);
    const auto made =
        IntsOf(wide.With("pads", Ints{1, 0, 0, 0})
                   .Input<uint8_t>({2, 3, 4, 255}, {1, 1, 2, 2})
                   .Constant<uint8_t>({0, 178, 255, 1}, {1, 1, 2, 2})
                   .Input<uint8_t>({static_cast<uint8_t>(zero)}, {})
                   .Constant<uint8_t>({178}, {}));
    const int a = 2 - zero, b = 3 - zero, c = 4 - zero, d = 255 - zero;
    EXPECT_THAT(made,
                ElementsAre(77 * a - 177 * b, -178 * a + 77 * c - 177 * d));
  }
  // Sums beyond what float32 counts: 300 channels of 255 * 255 and a 1.
  std::vector<uint8_t> x(300, 255), w(600, 255);
  w[599] = 254;
  NodeRunner large = Convolution("ConvInteger", 10);
  EXPECT_THAT(IntsOf(large.Input(x, {1, 300, 1})
                         .Input(w, {2, 300, 1})
                         .Absent()
                         .Input<uint8_t>({0, 1}, {2})),
              ElementsAre(300 * 255 * 255, 299 * 255 * 254 + 255 * 253));
}

}  // namespace
}  // namespace tim::models::onnx
