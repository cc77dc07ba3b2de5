// Extents, constants and ranges of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using vx::DataType;

using Ints = std::vector<int64_t>;

NodeRunner ShapeNode(const std::string& op, int opset = 18) {
  return NodeRunner(AddShapes, op, opset);
}

TEST(OnnxShapes, ExtentsFromStartToEnd) {
  const std::vector<float> values(24);
  NodeRunner whole = ShapeNode("Shape");
  EXPECT_THAT(IntsOf(whole.Input(values, {2, 3, 4})), ElementsAre(2, 3, 4));
  ASSERT_NE(whole.node().outputs[0].constant, nullptr);
  EXPECT_EQ(whole.node().outputs[0].type, DataType::INT64);
  const struct {
    int64_t start;
    int64_t end;
    Ints expected;
  } cases[] = {{1, 3, {3, 4}},     {-1, 3, {4}}, {0, -1, {2, 3}},
               {-9, 9, {2, 3, 4}}, {2, 1, {}},   {5, 9, {}}};
  for (const auto& one : cases) {
    NodeRunner runner = ShapeNode("Shape");
    EXPECT_EQ(IntsOf(runner.With("start", one.start)
                         .With("end", one.end)
                         .Input(values, {2, 3, 4})),
              one.expected);
  }
  NodeRunner scalar = ShapeNode("Shape");
  EXPECT_THAT(IntsOf(scalar.Input<float>({1}, {})), IsEmpty());
  NodeRunner size = ShapeNode("Size");
  const auto count = size.Input(values, {2, 3, 4}).Run();
  ASSERT_OK(count);
  EXPECT_EQ(count.value()[0].dims, Dims());
  EXPECT_THAT(Integers(count.value()[0]).value(), ElementsAre(24));
}

TEST(OnnxShapes, FormsOfConstants) {
  NodeRunner tensor = ShapeNode("Constant");
  EXPECT_THAT(
      FloatsOf(tensor.With("value", ArrayOf(std::vector<float>{1, 2}, {2, 1}))),
      ElementsAre(1, 2));
  EXPECT_EQ(tensor.node().outputs[0].dims, (Dims{2, 1}));
  NodeRunner whole = ShapeNode("Constant");
  EXPECT_THAT(IntsOf(whole.With("value_int", 7)), ElementsAre(7));
  EXPECT_EQ(whole.node().outputs[0].dims, Dims());
  NodeRunner real = ShapeNode("Constant");
  EXPECT_THAT(FloatsOf(real.With("value_float", 0.5f)), ElementsAre(0.5f));
  NodeRunner list = ShapeNode("Constant");
  EXPECT_THAT(IntsOf(list.With("value_ints", Ints{3, 4})), ElementsAre(3, 4));
  NodeRunner reals = ShapeNode("Constant");
  EXPECT_THAT(FloatsOf(reals.With("value_floats", std::vector<float>{3, 4})),
              ElementsAre(3, 4));
  NodeRunner text = ShapeNode("Constant");
  EXPECT_ERROR(text.With("value_string", "a").Run(),
               "attribute 'value_string' is not taken");
  NodeRunner none = ShapeNode("Constant");
  EXPECT_ERROR(none.Run(), "expected 1");
  NodeRunner wrong = ShapeNode("Constant");
  EXPECT_ERROR(wrong.With("value", 7).Run(), "is no tensor");
}

TEST(OnnxShapes, FilledConstants) {
  NodeRunner zeros = ShapeNode("ConstantOfShape");
  EXPECT_THAT(FloatsOf(zeros.Constant<int64_t>({2, 2}, {2})),
              ElementsAre(0, 0, 0, 0));
  NodeRunner ones = ShapeNode("ConstantOfShape");
  const auto results = ones.With("value", ArrayOf(std::vector<int32_t>{5}, {1}))
                           .Constant<int64_t>({1, 3}, {2})
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, DataType::INT32);
  EXPECT_EQ(results.value()[0].dims, (Dims{1, 3}));
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(5, 5, 5));
  NodeRunner scalar = ShapeNode("ConstantOfShape");
  EXPECT_THAT(FloatsOf(scalar.Constant<int64_t>({}, {0})), ElementsAre(0));
}

TEST(OnnxShapes, FilledConstantsAreBounded) {
  NodeRunner large = ShapeNode("ConstantOfShape");
  EXPECT_ERROR(large.Constant<int64_t>({1 << 20, 1 << 20}, {2}).Run(),
               "larger than");
  NodeRunner beyond = ShapeNode("ConstantOfShape");
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_ERROR(beyond.Constant<int64_t>({most, most}, {2}).Run(),
               "larger than");
  NodeRunner negative = ShapeNode("ConstantOfShape");
  EXPECT_ERROR(negative.Constant<int64_t>({2, -1}, {2}).Run(),
               "which is negative");
  NodeRunner value = ShapeNode("ConstantOfShape");
  EXPECT_ERROR(value.With("value", ArrayOf(std::vector<float>{1, 2}, {2}))
                   .Constant<int64_t>({2}, {1})
                   .Run(),
               "no tensor of one element");
}

TEST(OnnxShapes, Ranges) {
  const struct {
    Ints bounds;
    Ints expected;
  } cases[] = {{{1, 7, 2}, {1, 3, 5}},
               {{1, 8, 2}, {1, 3, 5, 7}},
               {{5, 0, -3}, {5, 2}},
               {{5, 0, 3}, {}}};
  for (const auto& one : cases) {
    NodeRunner runner = ShapeNode("Range");
    EXPECT_EQ(IntsOf(runner.Constant<int64_t>({one.bounds[0]}, {})
                         .Constant<int64_t>({one.bounds[1]}, {})
                         .Constant<int64_t>({one.bounds[2]}, {})),
              one.expected);
  }
  NodeRunner real = ShapeNode("Range");
  EXPECT_THAT(FloatsOf(real.Constant<float>({0.5f}, {})
                           .Constant<float>({2}, {})
                           .Constant<float>({0.5f}, {})),
              ElementsAre(0.5f, 1, 1.5f));
}

TEST(OnnxShapes, RangesAreBounded) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const Ints& bounds :
       {Ints{least, most, 1}, Ints{most, least, -1}, Ints{0, most, 3}}) {
    NodeRunner runner = ShapeNode("Range");
    EXPECT_ERROR(runner.Constant<int64_t>({bounds[0]}, {})
                     .Constant<int64_t>({bounds[1]}, {})
                     .Constant<int64_t>({bounds[2]}, {})
                     .Run(),
                 "a range of more than");
  }
  NodeRunner still = ShapeNode("Range");
  EXPECT_ERROR(still.Constant<int64_t>({0}, {})
                   .Constant<int64_t>({5}, {})
                   .Constant<int64_t>({0}, {})
                   .Run(),
               "operand 2 (delta) is 0");
  NodeRunner infinite = ShapeNode("Range");
  EXPECT_ERROR(
      infinite.Constant<float>({0}, {})
          .Constant<float>({std::numeric_limits<float>::infinity()}, {})
          .Constant<float>({1}, {})
          .Run(),
      "operand 1 is not finite");
  NodeRunner computed = ShapeNode("Range");
  EXPECT_FALSE(computed.Constant<int64_t>({0}, {})
                   .Input<int64_t>({5}, {})
                   .Constant<int64_t>({1}, {})
                   .Run()
                   .ok());
}

TEST(OnnxShapes, Diagonals) {
  const std::vector<float> values(6);
  NodeRunner above = ShapeNode("EyeLike");
  EXPECT_THAT(FloatsOf(above.With("k", 1).Input(values, {2, 3})),
              ElementsAre(0, 1, 0, 0, 0, 1));
  NodeRunner below = ShapeNode("EyeLike");
  EXPECT_THAT(
      IntsOf(below.With("k", -1).With("dtype", 7).Input(values, {2, 3})),
      ElementsAre(0, 0, 0, 1, 0, 0));
  NodeRunner far = ShapeNode("EyeLike");
  EXPECT_THAT(FloatsOf(far.With("k", std::numeric_limits<int64_t>::min())
                           .Input(values, {2, 3})),
              ElementsAre(0, 0, 0, 0, 0, 0));
  NodeRunner refused = ShapeNode("EyeLike");
  EXPECT_ERROR(refused.Input(values, {6}).Run(), "no matrix");
}

TEST(OnnxShapes, IndicesOfConstants) {
  NodeRunner runner = ShapeNode("NonZero");
  const auto results = runner.Constant<float>({0, 1, 2, -0.0f}, {2, 2}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, (Dims{2, 2}));
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(0, 1, 1, 0));
  NodeRunner refused = ShapeNode("NonZero");
  EXPECT_ERROR(refused.Input<float>({1}, {1}).Run(),
               "must be known when the model is loaded");
}

TEST(OnnxShapes, RandomNumbersAreRefused) {
  NodeRunner runner = ShapeNode("RandomNormal");
  EXPECT_ERROR(runner.Run(), "RandomNormal gives other numbers in each run");
}

}  // namespace
}  // namespace tim::models::onnx
