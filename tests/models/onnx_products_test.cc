// MatMul, Gemm, MatMulInteger and Einsum, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

NodeRunner Product(const std::string& op, int opset = 13) {
  return NodeRunner(AddProducts, op, opset);
}

enum class Known { kNo, kYes };

// a [2, 3] and b [3, 2], or with batches, known at import or not.
std::vector<float> MatMul(const std::vector<float>& a, const Dims& a_dims,
                          const std::vector<float>& b, const Dims& b_dims,
                          Known known, Dims* dims = nullptr) {
  NodeRunner runner = Product("MatMul");
  runner.Input(a, a_dims);
  known == Known::kYes ? runner.Constant(b, b_dims) : runner.Input(b, b_dims);
  const auto made = FloatsOf(runner);
  if (dims != nullptr) *dims = runner.node().outputs[0].dims;
  return made;
}

TEST(OnnxProducts, MatMulFollowsNumpy) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> b = {1, 0, 2, 1, 0, 3};
  for (const Known known : {Known::kNo, Known::kYes}) {
    Dims dims;
    EXPECT_THAT(MatMul(a, {2, 3}, b, {3, 2}, known, &dims),
                ElementsAre(5, 11, 14, 23));
    EXPECT_EQ(dims, Dims({2, 2}));
    // Rows of a batch by one matrix.
    EXPECT_THAT(MatMul(a, {2, 1, 3}, b, {3, 2}, known, &dims),
                ElementsAre(5, 11, 14, 23));
    EXPECT_EQ(dims, Dims({2, 1, 2}));
    // Vectors on either side.
    EXPECT_THAT(MatMul({1, 2, 3}, {3}, b, {3, 2}, known, &dims),
                ElementsAre(5, 11));
    EXPECT_EQ(dims, Dims({2}));
    EXPECT_THAT(MatMul(a, {2, 3}, {1, 0, 2}, {3}, known, &dims),
                ElementsAre(7, 16));
    EXPECT_EQ(dims, Dims({2}));
    EXPECT_THAT(MatMul({1, 2, 3}, {3}, {4, 5, 6}, {3}, known, &dims),
                ElementsAre(32));
    EXPECT_EQ(dims, Dims());
    // Batches that stretch: [2, 1, 1, 3] by [2, 3, 1].
    EXPECT_THAT(MatMul(a, {2, 1, 1, 3}, b, {2, 3, 1}, known, &dims),
                ElementsAre(7, 10, 16, 22));
    EXPECT_EQ(dims, Dims({2, 2, 1, 1}));
  }
}

TEST(OnnxProducts, MatMulOfIntegersAndRefusals) {
  NodeRunner integers = Product("MatMul");
  EXPECT_THAT(IntsOf(integers.Input<int32_t>({100000, 1}, {1, 2})
                         .Input<int32_t>({20000, 7}, {2, 1})),
              ElementsAre(2000000007));
  NodeRunner terms = Product("MatMul");
  const auto unequal =
      terms.Input<float>({1, 2}, {1, 2}).Input<float>({1}, {1, 1}).Run();
  EXPECT_THAT(unequal.status().message(), HasSubstr("terms"));
  NodeRunner bytes = Product("MatMul");
  EXPECT_THAT(bytes.Input<uint8_t>({1}, {1, 1})
                  .Input<uint8_t>({1}, {1, 1})
                  .Run()
                  .status()
                  .message(),
              HasSubstr("operand 0"));
}

TEST(OnnxProducts, GemmOfAllAttributes) {
  const auto made = [](const std::vector<float>& c, const Dims& dims,
                       Known known) {
    NodeRunner runner = Product("Gemm");
    runner.With("alpha", 0.5f)
        .With("beta", 2.0f)
        .With("transA", int64_t{1})
        .With("transB", int64_t{1})
        .Input<float>({1, 4, 2, 5, 3, 6}, {3, 2});
    const std::vector<float> b = {1, 2, 0, 0, 1, 3};
    known == Known::kYes ? runner.Constant(b, {2, 3}) : runner.Input(b, {2, 3});
    if (!c.empty()) runner.Input(c, dims);
    return FloatsOf(runner);
  };
  for (const Known known : {Known::kNo, Known::kYes}) {
    // The product is 5 11 / 14 23.
    EXPECT_THAT(made({}, {}, known), ElementsAre(2.5f, 5.5f, 7, 11.5f));
    EXPECT_THAT(made({1, 2}, {2}, known), ElementsAre(4.5f, 9.5f, 9, 15.5f));
    EXPECT_THAT(made({1, 2}, {2, 1}, known),
                ElementsAre(4.5f, 7.5f, 11, 15.5f));
    EXPECT_THAT(made({3}, {}, known), ElementsAre(8.5f, 11.5f, 13, 17.5f));
    EXPECT_THAT(made({1, 2, 3, 4}, {2, 2}, known),
                ElementsAre(4.5f, 9.5f, 13, 19.5f));
  }
  NodeRunner bias = Product("Gemm");
  EXPECT_THAT(FloatsOf(bias.Input<float>({1, 2}, {1, 2})
                           .Constant<float>({1, 0, 0, 1}, {2, 2})
                           .Constant<float>({10, 20}, {2})),
              ElementsAre(11, 22));
  NodeRunner wide = Product("Gemm");
  EXPECT_FALSE(wide.Input<float>({1, 2}, {1, 2})
                   .Input<float>({1, 0, 0, 1}, {2, 2})
                   .Input<float>({1, 2, 3}, {3})
                   .Run()
                   .ok());
}

TEST(OnnxProducts, MatMulIntegerIsExact) {
  NodeRunner zeros = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(zeros.Input<uint8_t>({11, 7, 3, 10, 6, 2}, {2, 3})
                         .Input<uint8_t>({1, 4, 2, 5, 3, 6}, {3, 2})
                         .Constant<uint8_t>({12}, {1})
                         .Constant<uint8_t>({0}, {1})),
              ElementsAre(-38, -83, -44, -98));
  NodeRunner each = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(each.Input<int8_t>({1, 2, 3, 4}, {2, 2})
                         .Input<int8_t>({1, 2, 3, 4}, {2, 2})
                         .Input<int8_t>({1, 3}, {2})
                         .Input<int8_t>({1, 2}, {2})),
              ElementsAre(2, 2, 2, 2));
}

// Matrices that are known, whose columns' sums take the zero point's place.
TEST(OnnxProducts, MatMulIntegerOfAConstantMatrix) {
  const std::vector<uint8_t> a = {11, 7, 3, 10, 6, 2};
  const auto made = [&a](NodeRunner* node) -> NodeRunner& {
    return node->Input<uint8_t>(a, {2, 3});
  };
  NodeRunner shared = Product("MatMulInteger");
  EXPECT_THAT(
      IntsOf(made(&shared)
                 .Constant<uint8_t>({129, 132, 130, 133, 131, 134}, {3, 2})
                 .Input<uint8_t>({12}, {1})
                 .Constant<uint8_t>({128}, {1})),
      ElementsAre(-38, -83, -44, -98));
  NodeRunner wide = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(made(&wide)
                         .Constant<uint8_t>({255, 0, 255, 0, 255, 1}, {3, 2})
                         .Input<uint8_t>({12}, {1})
                         .Constant<uint8_t>({3, 2}, {2})),
              ElementsAre(-15 * 252, -1 * -2 - 5 * -2 - 9 * -1, -18 * 252,
                          -2 * -2 - 6 * -2 - 10 * -1));
  // Both ends of what differences of codes can be.
  NodeRunner ends = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(made(&ends)
                         .Constant<uint8_t>({255, 0, 255, 0, 254, 255}, {3, 2})
                         .Absent()
                         .Constant<uint8_t>({0, 255}, {2})),
              ElementsAre(11 * 255 + 7 * 255 + 3 * 254, -255 * (11 + 7),
                          10 * 255 + 6 * 255 + 2 * 254, -255 * (10 + 6)));
  NodeRunner rows = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(made(&rows)
                         .Constant<int8_t>({1, -128, 2, 127, 3, 0}, {3, 2})
                         .Input<uint8_t>({10, 6}, {2})),
              ElementsAre(1 - 6 - 21, -128 - 3 * 127, 4 - 12, -4 * 128));
  NodeRunner none = Product("MatMulInteger");
  EXPECT_THAT(IntsOf(none.Input<int8_t>({-128, 1, 2}, {3})
                         .Constant<uint8_t>({255, 1, 1, 1, 1, 1}, {3, 2})),
              ElementsAre(-128 * 255 + 3, -125));
  NodeRunner wrong = Product("MatMulInteger");
  EXPECT_FALSE(made(&wrong)
                   .Constant<int8_t>({1, 2, 3, 4, 5, 6}, {3, 2})
                   .Input<uint8_t>({1, 2, 3}, {3})
                   .Run()
                   .ok());
}

std::vector<float> EinsumOf(const std::string& equation,
                            const std::vector<std::vector<float>>& values,
                            const std::vector<Dims>& dims,
                            Dims* result = nullptr) {
  NodeRunner runner = Product("Einsum");
  runner.With("equation", equation);
  for (size_t i = 0; i < values.size(); ++i) runner.Input(values[i], dims[i]);
  const auto made = FloatsOf(runner);
  if (result != nullptr) *result = runner.node().outputs[0].dims;
  return made;
}

TEST(OnnxProducts, EinsumOfOneOperand) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(EinsumOf("ij->ji", {x}, {{2, 3}}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(EinsumOf("ij->i", {x}, {{2, 3}}), ElementsAre(6, 15));
  EXPECT_THAT(EinsumOf("ij", {x}, {{2, 3}}), ElementsAreArray(x));
  EXPECT_THAT(EinsumOf("ba", {x}, {{2, 3}}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(EinsumOf("ij->", {x}, {{2, 3}}), ElementsAre(21));
  EXPECT_THAT(EinsumOf("ii->i", {{1, 2, 3, 4}}, {{2, 2}}), ElementsAre(1, 4));
  EXPECT_THAT(EinsumOf("ii", {{1, 2, 3, 4}}, {{2, 2}}), ElementsAre(5));
  EXPECT_THAT(EinsumOf("...ii->...i", {{1, 2, 3, 4, 5, 6, 7, 8}}, {{2, 2, 2}}),
              ElementsAre(1, 4, 5, 8));
}

TEST(OnnxProducts, EinsumOfSeveralOperands) {
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {1, 0, 2, 1};
  EXPECT_THAT(EinsumOf("ij,jk->ik", {a, b}, {{2, 2}, {2, 2}}),
              ElementsAre(5, 2, 11, 4));
  EXPECT_THAT(EinsumOf(" i j , k j -> k i ", {a, b}, {{2, 2}, {2, 2}}),
              ElementsAre(1, 3, 4, 10));
  EXPECT_THAT(EinsumOf("i,i", {a, b}, {{4}, {4}}), ElementsAre(11));
  EXPECT_THAT(EinsumOf("i,j->ij", {{1, 2}, {3, 4}}, {{2}, {2}}),
              ElementsAre(3, 4, 6, 8));
  Dims dims;
  // A batch that stretches, by an ellipsis.
  EXPECT_THAT(
      EinsumOf("...ij,...jk->...ik", {a, b}, {{2, 1, 2}, {1, 2, 2}}, &dims),
      ElementsAre(5, 2, 11, 4));
  EXPECT_EQ(dims, Dims({2, 1, 2}));
  // Elements times elements, summed over one axis; three operands.
  EXPECT_THAT(EinsumOf("ij,ij->i", {a, b}, {{2, 2}, {2, 2}}),
              ElementsAre(1, 10));
  EXPECT_THAT(EinsumOf("ij,jk,k->i", {a, b, {1, 1}}, {{2, 2}, {2, 2}, {2}}),
              ElementsAre(7, 15));
}

TEST(OnnxProducts, EinsumRefusesEquationsThatDoNotFit) {
  for (const char* equation : {"ij,jk->ik", "ijk->i", "i->i", "ij->k", "ij->ii",
                               "i3->i", "", "i..j", "...", "......ij"}) {
    SCOPED_TRACE(equation);
    NodeRunner runner = Product("Einsum");
    const auto results = runner.With("equation", std::string(equation))
                             .Input<float>({1, 2, 3, 4}, {2, 2})
                             .Run();
    if (std::string(equation) == "...") {
      EXPECT_OK(results);
    } else {
      EXPECT_THAT(results.status().message(), HasSubstr("'equation'"));
    }
  }
}

}  // namespace
}  // namespace tim::models::onnx
