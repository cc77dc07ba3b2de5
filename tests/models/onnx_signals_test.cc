// Windows, transforms and losses of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using vx::DataType;

NodeRunner SignalNode(const std::string& op, int opset = 17) {
  return NodeRunner(AddSignals, op, opset);
}

NodeRunner Loss(const std::string& op) { return NodeRunner(AddLosses, op, 13); }

TEST(OnnxSignals, WindowsOfSignals) {
  using ::testing::FloatNear;
  NodeRunner hann = SignalNode("HannWindow");
  EXPECT_THAT(FloatsOf(hann.Constant<int32_t>({4}, {})),
              ElementsAre(FloatNear(0, 1e-6f), FloatNear(0.5f, 1e-6f),
                          FloatNear(1, 1e-6f), FloatNear(0.5f, 1e-6f)));
  NodeRunner symmetric = SignalNode("BlackmanWindow");
  EXPECT_THAT(
      FloatsOf(symmetric.With("periodic", 0).Constant<int64_t>({3}, {})),
      ElementsAre(FloatNear(0, 1e-6f), FloatNear(1, 1e-6f),
                  FloatNear(0, 1e-6f)));
  NodeRunner half = SignalNode("HammingWindow");
  const auto results =
      half.With("output_datatype", 10).Constant<int32_t>({2}, {}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, DataType::FLOAT16);
  EXPECT_THAT(Floats(results.value()[0]).value(),
              ElementsAre(FloatNear(4.0f / 46, 1e-3f), FloatNear(1, 1e-3f)));
  NodeRunner large = SignalNode("HannWindow");
  EXPECT_ERROR(
      large.Constant<int64_t>({std::numeric_limits<int64_t>::max()}, {}).Run(),
      "operand 0 (size)");
  NodeRunner negative = SignalNode("HannWindow");
  EXPECT_ERROR(negative.Constant<int64_t>({-1}, {}).Run(),
               "operand 0 (size) is -1");
}

TEST(OnnxSignals, BandsOfMel) {
  NodeRunner runner = SignalNode("MelWeightMatrix");
  const auto results = runner.Constant<int64_t>({2}, {})
                           .Constant<int64_t>({16}, {})
                           .Constant<int64_t>({8000}, {})
                           .Constant<float>({0}, {})
                           .Constant<float>({4000}, {})
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, (Dims{9, 2}));
  // Mel from 0 to 2146.1 in four steps: 0, 427, 1114 and 2220 Hz, which lie in
  // bins 0, 0, 2 and 4.
  EXPECT_THAT(Floats(results.value()[0]).value(),
              ElementsAre(1, 0, 0.5f, 0.5f, 0, 1, 0, 0.5f, 0, 0, 0, 0, 0, 0, 0,
                          0, 0, 0));
  NodeRunner refused = SignalNode("MelWeightMatrix");
  EXPECT_ERROR(refused.Constant<int64_t>({1 << 20}, {})
                   .Constant<int64_t>({1 << 20}, {})
                   .Constant<int64_t>({8000}, {})
                   .Constant<float>({0}, {})
                   .Constant<float>({4000}, {})
                   .Run(),
               "a matrix of");
}

/// The transform of complex numbers, `length` long, by its definition.
std::vector<float> Dft(const std::vector<std::complex<double>>& x, int length,
                       int bins, bool is_inverse) {
  std::vector<float> made;
  for (int bin = 0; bin < bins; ++bin) {
    std::complex<double> sum = 0;
    for (int i = 0; i < length && i < static_cast<int>(x.size()); ++i) {
      const double angle = 2 * M_PI * bin * i / length;
      sum += x[i] * std::polar(1.0, is_inverse ? angle : -angle);
    }
    if (is_inverse) sum /= length;
    made.push_back(static_cast<float>(sum.real()));
    made.push_back(static_cast<float>(sum.imag()));
  }
  return made;
}

void ExpectNear(const std::vector<float>& values,
                const std::vector<float>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
  }
}

TEST(OnnxSignals, TransformsOfRealAndComplexNumbers) {
  NodeRunner real = SignalNode("DFT");
  ExpectNear(FloatsOf(real.Input<float>({1, 2, -1, 3}, {1, 4, 1})),
             Dft({1, 2, -1, 3}, 4, 4, false));
  NodeRunner half = SignalNode("DFT");
  ExpectNear(
      FloatsOf(half.With("onesided", 1).Input<float>({1, 2, -1, 3}, {1, 4, 1})),
      Dft({1, 2, -1, 3}, 4, 3, false));
  NodeRunner complex = SignalNode("DFT");
  ExpectNear(FloatsOf(complex.With("inverse", 1)
                          .Input<float>({1, 2, -1, 3, 0, 1}, {1, 3, 2})),
             Dft({{1, 2}, {-1, 3}, {0, 1}}, 3, 3, true));
}

TEST(OnnxSignals, TransformsOfOtherLengthsAndAxes) {
  for (const int64_t length : {3, 6}) {
    NodeRunner runner = SignalNode("DFT");
    const auto results = runner.Input<float>({1, 2, -1, 3}, {1, 4, 1})
                             .Constant<int64_t>({length}, {})
                             .Run();
    ASSERT_OK(results);
    EXPECT_EQ(results.value()[0].dims, (Dims{1, length, 2}));
    ExpectNear(Floats(results.value()[0]).value(),
               Dft({1, 2, -1, 3}, length, length, false));
  }
  // Columns of {2, 2, 1}.
  NodeRunner columns = SignalNode("DFT");
  ExpectNear(
      FloatsOf(columns.With("axis", 0).Input<float>({1, 2, 3, 5}, {2, 2, 1})),
      {4, 0, 7, 0, -2, 0, -3, 0});
  NodeRunner operand = SignalNode("DFT", 20);
  ExpectNear(FloatsOf(operand.Input<float>({1, 2, 3, 5}, {2, 2, 1})
                          .Absent()
                          .Constant<int64_t>({0}, {})),
             {4, 0, 7, 0, -2, 0, -3, 0});
}

TEST(OnnxSignals, TransformsThatAreRefused) {
  NodeRunner parts = SignalNode("DFT");
  EXPECT_ERROR(parts.With("axis", 2).Input<float>({1, 2}, {1, 2, 1}).Run(),
               "has the parts of numbers");
  NodeRunner both = SignalNode("DFT");
  EXPECT_ERROR(both.With("inverse", 1)
                   .With("onesided", 1)
                   .Input<float>({1, 2}, {1, 2, 1})
                   .Run(),
               "at once");
  NodeRunner large = SignalNode("DFT");
  EXPECT_ERROR(large.Input<float>({1, 2}, {1, 2, 1})
                   .Constant<int64_t>({1 << 30}, {})
                   .Run(),
               "too large");
  NodeRunner zero = SignalNode("DFT");
  EXPECT_ERROR(
      zero.Input<float>({1, 2}, {1, 2, 1}).Constant<int64_t>({0}, {}).Run(),
      "operand 1 is [0]");
  NodeRunner empty = SignalNode("DFT");
  EXPECT_ERROR(empty.Constant<float>({}, {1, 0, 1}).Run(), "operand 0 is");
  NodeRunner shape = SignalNode("DFT");
  EXPECT_ERROR(shape.Input<float>({1, 2, 3}, {1, 3}).Run(), "operand 0 is");
}

TEST(OnnxSignals, TransformsOfFrames) {
  NodeRunner runner = SignalNode("STFT");
  const auto results = runner.Input<float>({1, 2, -1, 3, 4, 0}, {1, 6, 1})
                           .Constant<int64_t>({2}, {})
                           .Constant<float>({0.5f, 1, 1, 0.5f}, {4})
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, (Dims{1, 2, 3, 2}));
  std::vector<float> expected = Dft({0.5, 2, -1, 1.5}, 4, 3, false);
  const std::vector<float> second = Dft({-0.5, 3, 4, 0}, 4, 3, false);
  expected.insert(expected.end(), second.begin(), second.end());
  ExpectNear(Floats(results.value()[0]).value(), expected);
  NodeRunner refused = SignalNode("STFT");
  EXPECT_ERROR(refused.Input<float>({1, 2}, {1, 2, 1})
                   .Constant<int64_t>({1}, {})
                   .Absent()
                   .Constant<int64_t>({3}, {})
                   .Run(),
               "a frame of 3 elements");
  NodeRunner window = SignalNode("STFT");
  EXPECT_ERROR(window.Input<float>({1, 2}, {1, 2, 1})
                   .Constant<int64_t>({1}, {})
                   .Constant<float>({}, {0})
                   .Run(),
               "how long frames are");
  NodeRunner missing = SignalNode("STFT");
  EXPECT_ERROR(
      missing.Input<float>({1, 2}, {1, 2, 1}).Constant<int64_t>({1}, {}).Run(),
      "how long frames are");
}

TEST(OnnxLosses, ReductionsAndWeights) {
  const std::vector<float> scores = {-1, -2, -3, -4, -5, -6};
  NodeRunner none = Loss("NegativeLogLikelihoodLoss");
  EXPECT_THAT(FloatsOf(none.With("reduction", "none")
                           .Input(scores, {2, 3})
                           .Input<int64_t>({2, 0}, {2})),
              ElementsAre(3, 4));
  NodeRunner sum = Loss("NegativeLogLikelihoodLoss");
  EXPECT_THAT(FloatsOf(sum.With("reduction", "sum")
                           .Input(scores, {2, 3})
                           .Input<int64_t>({2, 0}, {2})
                           .Constant<float>({2, 1, 10}, {3})),
              ElementsAre(38));
  NodeRunner mean = Loss("NegativeLogLikelihoodLoss");
  EXPECT_THAT(FloatsOf(mean.Input(scores, {2, 3})
                           .Input<int64_t>({2, 0}, {2})
                           .Constant<float>({2, 1, 10}, {3})),
              ElementsAre(FloatEq(38.0f / 12)));
  // Scores {1, 2, 3}: three elements, of which one is ignored.
  NodeRunner ignored = Loss("NegativeLogLikelihoodLoss");
  EXPECT_THAT(FloatsOf(ignored.With("ignore_index", 1)
                           .Input(scores, {1, 2, 3})
                           .Input<int32_t>({0, 1, 0}, {1, 3})),
              ElementsAre(2));
  NodeRunner negative = Loss("NegativeLogLikelihoodLoss");
  EXPECT_THAT(FloatsOf(negative.With("ignore_index", -1)
                           .Input(scores, {1, 2, 3})
                           .Input<int32_t>({0, -1, 1}, {1, 3})),
              ElementsAre(3.5f));
}

TEST(OnnxLosses, CrossEntropyOfScores) {
  NodeRunner runner = Loss("SoftmaxCrossEntropyLoss");
  const auto results = runner.Input<float>({1, 2, 3, 1}, {2, 2})
                           .Input<int64_t>({0, 0}, {2})
                           .Wants({true, true})
                           .Run();
  ASSERT_OK(results);
  const float low = -std::log1p(std::exp(1.0f));
  const float high = -std::log1p(std::exp(-2.0f));
  EXPECT_EQ(results.value()[0].dims, Dims());
  ExpectNear(Floats(results.value()[0]).value(), {-(low + high) / 2});
  ExpectNear(Floats(results.value()[1]).value(),
             {low, low + 1, high, high - 2});
}

TEST(OnnxLosses, Refusals) {
  NodeRunner shape = Loss("NegativeLogLikelihoodLoss");
  EXPECT_ERROR(
      shape.Input<float>({1, 2}, {1, 2}).Input<int64_t>({0, 1}, {2}).Run(),
      "operand 1 is");
  NodeRunner reduction = Loss("NegativeLogLikelihoodLoss");
  EXPECT_ERROR(reduction.With("reduction", "max")
                   .Input<float>({1, 2}, {1, 2})
                   .Input<int64_t>({0}, {1})
                   .Run(),
               "'max'");
}

}  // namespace
}  // namespace tim::models::onnx
