// The worked examples of docs/numbers.md, computed by graphs.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/structure/source_tree.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::ShapeType;
using vx::TensorAttribute;
using vx::TensorSpec;

TensorSpec Codes(DataType type, const ShapeType& shape,
                 TensorAttribute attribute, float scale, int32_t zero) {
  return TensorSpec(type, shape, attribute,
                    Quantization(QuantType::ASYMMETRIC, scale, zero));
}

struct Scales {
  float input, weights, output;
};

// The code of one output of FullyConnected.
int CodeOf(const std::string& device, const std::vector<uint8_t>& input,
           int32_t input_zero, const std::vector<int8_t>& weights, int32_t bias,
           const Scales& scales) {
  const auto context = ContextOn(device);
  if (context == nullptr) return -1;
  const auto graph = context->CreateGraph();
  const auto count = static_cast<uint32_t>(input.size());
  const auto x = graph->CreateTensor(Codes(DataType::UINT8, {count, 1},
                                           TensorAttribute::INPUT, scales.input,
                                           input_zero));
  const auto w =
      graph->CreateTensor(Codes(DataType::INT8, {count, 1},
                                TensorAttribute::CONSTANT, scales.weights, 0),
                          weights.data());
  const auto b =
      graph->CreateTensor(Codes(DataType::INT32, {1}, TensorAttribute::CONSTANT,
                                scales.input * scales.weights, 0),
                          &bias);
  const auto y = graph->CreateTensor(Codes(
      DataType::UINT8, {1, 1}, TensorAttribute::OUTPUT, scales.output, 3));
  graph->CreateOperation<vx::ops::FullyConnected>(0u)
      ->BindInputs({x, w, b})
      .BindOutput(y);
  Write(x, input);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read<uint8_t>(y)[0];
}

int MeanOf(const std::string& device, const std::vector<uint8_t>& cells) {
  const auto context = ContextOn(device);
  if (context == nullptr) return -1;
  const auto graph = context->CreateGraph();
  const auto x = graph->CreateTensor(
      Codes(DataType::UINT8, {2, 2, 1, 1}, TensorAttribute::INPUT, 0.1f, 0));
  const auto y = graph->CreateTensor(
      Codes(DataType::UINT8, {1, 1, 1, 1}, TensorAttribute::OUTPUT, 0.1f, 0));
  const std::array<uint32_t, 2> size = {2, 2};
  graph
      ->CreateOperation<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::VALID,
                                         size, size)
      ->BindInput(x)
      .BindOutput(y);
  Write(x, cells);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read<uint8_t>(y)[0];
}

void ExpectOnThePage(const std::string& text) {
  static const std::string page = structure::ReadText("docs/numbers.md");
  EXPECT_NE(page.find(text), std::string::npos)
      << "docs/numbers.md does not say '" << text << "'";
}

class NumbersPage : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (ContextOn(GetParam()) == nullptr) {
      GTEST_SKIP() << "there is no device " << GetParam();
    }
  }
};

TEST_P(NumbersPage, SumOfProducts) {
  const std::vector<uint8_t> input = {200, 90, 255};
  const std::vector<int8_t> weights = {50, -127, 3};
  int64_t sum = 0;
  for (size_t i = 0; i < input.size(); ++i)
    sum += (input[i] - 128) * weights[i];
  ExpectOnThePage(StrCat("127 * 3 = ", sum, " |"));
  ExpectOnThePage(StrCat("| with the bias | ", sum + 700, " |"));
  ExpectOnThePage(StrCat(
      "| code | ",
      CodeOf(GetParam(), input, 128, weights, 700, {0.02f, 0.005f, 0.05f}),
      " |"));
}

TEST_P(NumbersPage, TiesOfSumsAreEven) {
  const auto code = [](uint8_t sum) {
    return CodeOf(GetParam(), {sum}, 0, {1}, 0, {0.5f, 0.25f, 0.25f});
  };
  EXPECT_EQ(code(5), 6);
  EXPECT_EQ(code(7), 6);
  EXPECT_EQ(code(9), 8);
}

TEST_P(NumbersPage, TiesOfMeansAreEven) {
  EXPECT_EQ(MeanOf(GetParam(), {2, 3, 2, 3}), 2);
  EXPECT_EQ(MeanOf(GetParam(), {3, 4, 3, 4}), 4);
  // One sum in eight has another code where ties go away from zero.
  constexpr int kSums = 32;
  int away = 0;
  for (int sum = 0; sum < kSums; ++sum) {
    std::vector<uint8_t> cells(4, static_cast<uint8_t>(sum / 4));
    for (int i = 0; i < sum % 4; ++i) ++cells[i];
    if (MeanOf(GetParam(), cells) != (sum + 2) / 4) ++away;
  }
  EXPECT_EQ(away * 8, kSums);
}

INSTANTIATE_TEST_SUITE_P(Devices, NumbersPage,
                         ::testing::Values("host", "opencl"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace tim::testing
