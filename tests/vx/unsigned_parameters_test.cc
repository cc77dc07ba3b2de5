// Negative numbers in the unsigned parameters of TIM-VX's signatures.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::PadType;
using vx::ShapeType;
using vx::TensorAttribute;
using Array2 = std::array<uint32_t, 2>;
using Array3 = std::array<uint32_t, 3>;
using Array4 = std::array<uint32_t, 4>;
using Uints = std::vector<uint32_t>;

uint32_t Minus(uint32_t value) { return -value; }

// One operation on inputs of these shapes; outputs are found by inference.
struct OneOperation {
  template <typename Op, typename... Arguments>
  static OneOperation Of(const std::vector<ShapeType>& shapes, int outputs,
                         Arguments... arguments) {
    OneOperation made;
    made.graph = HostGraph();
    const auto operation = made.graph->CreateOperation<Op>(arguments...);
    for (const ShapeType& shape : shapes) {
      made.inputs.push_back(
          made.graph->CreateTensor(Floats(shape, TensorAttribute::INPUT)));
      std::vector<float> values(made.inputs.back()->GetSpec().GetElementNum());
      std::iota(values.begin(), values.end(), 1.0f);
      Write(made.inputs.back(), values);
      operation->BindInput(made.inputs.back());
    }
    for (int i = 0; i < outputs; ++i) {
      const auto tensor = made.graph->CreateTensor(
          vx::TensorSpec(vx::DataType::FLOAT32, {}, TensorAttribute::OUTPUT));
      made.outputs.push_back(tensor);
      operation->BindOutput(tensor);
    }
    return made;
  }

  std::vector<std::vector<float>> Run() const {
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    std::vector<std::vector<float>> values;
    for (const auto& tensor : outputs) values.push_back(Read(tensor));
    return values;
  }

  std::shared_ptr<vx::Graph> graph;
  std::vector<std::shared_ptr<vx::Tensor>> inputs;
  std::vector<std::shared_ptr<vx::Tensor>> outputs;
};

// Compile() says `text`, and the number that -1 or -2 wraps to nowhere.
template <typename Op, typename... Arguments>
void ExpectRefused(const std::string& text,
                   const std::vector<ShapeType>& shapes, int outputs,
                   Arguments... arguments) {
  SCOPED_TRACE(Op::OpName());
  const auto made = OneOperation::Of<Op>(shapes, outputs, arguments...);
  EXPECT_TRUE(CompileFailsWith(*made.graph, text));
  EXPECT_EQ(vx::LastError().find("42949672"), std::string::npos)
      << vx::LastError();
}

// An axis from the end and the same from the front.
template <typename Op, typename Make>
void ExpectSame(const std::vector<ShapeType>& shapes, int outputs, Make make,
                uint32_t negative, uint32_t positive) {
  SCOPED_TRACE(Op::OpName());
  const auto result = make(shapes, outputs, negative).Run();
  EXPECT_EQ(result, make(shapes, outputs, positive).Run());
  EXPECT_FALSE(result.empty());
}

TEST(NegativeAxes, CountFromTheEnd) {
  using Shapes = const std::vector<ShapeType>&;
  ExpectSame<vx::ops::Concat>(
      {{2, 3}, {2, 1}}, 1,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::Concat>(shapes, outputs, axis, 2);
      },
      Minus(1), 1);
  ExpectSame<vx::ops::Split>(
      {{2, 3}}, 2,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::Split>(shapes, outputs, axis,
                                                Uints{1, 2});
      },
      Minus(1), 1);
  ExpectSame<vx::ops::Stack>(
      {{2, 3}, {2, 3}}, 1,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::Stack>(shapes, outputs, axis, 2);
      },
      Minus(2), 1);
  ExpectSame<vx::ops::Squeeze>(
      {{1, 3, 1}}, 1,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::Squeeze>(shapes, outputs, Uints{axis});
      },
      Minus(3), 0);
  ExpectSame<vx::ops::SignalFrame>(
      {{2, 5}}, 1,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::SignalFrame>(
            shapes, outputs, uint32_t{2}, uint32_t{1}, uint32_t{0}, axis);
      },
      Minus(1), 1);
  ExpectSame<vx::ops::FullyConnected>(
      {{2, 3, 2}, {6, 4}}, 1,
      [](Shapes shapes, int outputs, uint32_t axis) {
        return OneOperation::Of<vx::ops::FullyConnected>(shapes, outputs, axis);
      },
      Minus(2), 1);
}

TEST(NegativeAxes, OutsideOfTheRankAreShownAsGiven) {
  const std::vector<ShapeType> two = {{2, 3}, {2, 3}};
  const std::string text = "axis -4 is outside [-2, 2) for rank 2";
  ExpectRefused<vx::ops::Concat>(text, two, 1, Minus(4), 2);
  ExpectRefused<vx::ops::Split>(text, {{2, 3}}, 2, Minus(4), Uints{1, 1});
  ExpectRefused<vx::ops::Stack>("axis -4", two, 1, Minus(4), 2);
  ExpectRefused<vx::ops::Squeeze>(text, {{2, 3}}, 1, Uints{Minus(4)});
  ExpectRefused<vx::ops::SignalFrame>(text, {{2, 3}}, 1, 1u, 1u, 0u, Minus(4));
  ExpectRefused<vx::ops::FullyConnected>(text, {{2, 3}, {2, 4}}, 1, Minus(4));
  ExpectRefused<vx::ops::Transpose>("[-1, 0] is not a permutation", {{2, 3}}, 1,
                                    Uints{Minus(1), 0});
}

TEST(NegativeSizes, AreShownAsGiven) {
  const ShapeType image = {4, 4, 2, 1};
  ExpectRefused<vx::ops::Reshape>("extent of -2", {{2, 3}}, 1,
                                  Uints{Minus(2), 3});
  ExpectRefused<vx::ops::Broadcast>("extent of -1", {{1, 3}}, 1,
                                    Uints{Minus(1), 3});
  ExpectRefused<vx::ops::ScatterND>("-1", {{1, 2}, {2}}, 1, Uints{Minus(1)});
  ExpectRefused<vx::ops::Split>("extent of -1", {{2, 3}}, 2, 1u,
                                Uints{2, Minus(1)});
  ExpectRefused<vx::ops::Topk>("'k' is -1", {{2, 3}}, 2, Minus(1));
  ExpectRefused<vx::ops::Reorg>("'stride' is -2", {image}, 1, Minus(2));
  ExpectRefused<vx::ops::AddN>("-1", {{2}, {2}}, 1, Minus(1));
  ExpectRefused<vx::ops::Slice>("-1", {{2, 3}}, 1, Minus(1),
                                std::vector<int32_t>{0, 0},
                                std::vector<int32_t>{1, 1});
  ExpectRefused<vx::ops::SignalFrame>("'window_length' is -1", {{2, 3}}, 1,
                                      Minus(1), 1u);
  ExpectRefused<vx::ops::SignalFrame>("'step' is -1", {{2, 3}}, 1, 1u,
                                      Minus(1));
  ExpectRefused<vx::ops::LocalResponseNormalization>("-1", {image}, 1, Minus(1),
                                                     1.0f, 0.5f, 1.0f, 2);
  ExpectRefused<vx::ops::SpatialTransformer>(
      "-1", {image, {6, 1}}, 1, Minus(1), 2u, false, false, false, false, false,
      false, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
}

TEST(NegativePads, AreShownWhereTheyHaveNoMeaning) {
  const ShapeType image = {4, 4, 2, 1};
  const ShapeType row = {4, 2, 1};
  const Array4 pad = {0, 0, 0, Minus(1)};
  const Array2 one = {1, 1}, two = {2, 2};
  ExpectRefused<vx::ops::Conv2d>("pad is 0 and -1", {image, {2, 2, 2, 3}}, 1,
                                 pad, one, one);
  ExpectRefused<vx::ops::GroupedConv2d>(
      "pad is 0 and -1", {image, {2, 2, 1, 2}}, 1, pad, one, one, 2);
  ExpectRefused<vx::ops::Conv1d>("pad is 0 and -1", {row, {2, 2, 3}}, 1,
                                 Array2{0, Minus(1)}, 1u, 1u);
  ExpectRefused<vx::ops::Pool2d>("[0, 0, 0, -1]", {image}, 1, vx::PoolType::MAX,
                                 pad, two, one);
  ExpectRefused<vx::ops::Pool1d>("[0, -1", {row}, 1, vx::PoolType::AVG,
                                 Array2{0, Minus(1)}, 2u, 1u);
  ExpectRefused<vx::ops::Pad>("[0, -1] has a negative count; Slice", {{2, 3}},
                              1, Uints{0, 0}, Uints{0, Minus(1)}, 0);
  ExpectRefused<vx::ops::PadV2>("[-2, 0] has a negative count", {{2, 3}}, 1,
                                Uints{Minus(2), 0}, Uints{0, 0}, 0.0f);
}

TEST(NegativeWindows, AreShownAsGiven) {
  const ShapeType image = {4, 4, 2, 1};
  const Array2 negative = {Minus(1), 1}, one = {1, 1}, two = {2, 2};
  const Array4 none = {0, 0, 0, 0};
  ExpectRefused<vx::ops::Conv2d>("stride is -1", {image, {2, 2, 2, 3}}, 1, none,
                                 negative, one);
  ExpectRefused<vx::ops::Conv2d>("dilation is -1", {image, {2, 2, 2, 3}}, 1,
                                 none, one, negative);
  ExpectRefused<vx::ops::DeConv2d>("stride is -1", {image, {2, 2, 2, 3}}, 1, 3,
                                   PadType::AUTO, two, negative, Array2{0, 0},
                                   none);
  ExpectRefused<vx::ops::DeConv2d>("output_padding is -1",
                                   {image, {2, 2, 2, 3}}, 1, 3, PadType::AUTO,
                                   two, one, negative, none);
  ExpectRefused<vx::ops::DeConv2d>("group is -1", {image, {2, 2, 2, 3}}, 1, 3,
                                   PadType::AUTO, two, one, Array2{0, 0}, none,
                                   Minus(1));
  ExpectRefused<vx::ops::Pool2d>("[-1, 1]", {image}, 1, vx::PoolType::MAX, none,
                                 negative, one);
  ExpectRefused<vx::ops::Pool2d>("[-1, 1]", {image}, 1, vx::PoolType::MAX, none,
                                 two, negative);
  ExpectRefused<vx::ops::Pool2d>("[-1, 1]", {image}, 1, vx::PoolType::AVG,
                                 negative);
  ExpectRefused<vx::ops::MaxPool3d>(
      "-1", {{4, 4, 4, 2, 1}}, 1, vx::RoundType::FLOOR, Array3{2, 2, 2},
      Array3{1, 1, Minus(1)}, std::array<uint32_t, 6>{}, PadType::AUTO);
  ExpectRefused<vx::ops::MaxUnpool2d>("-1", {image, image}, 1, two, negative);
}

TEST(UnsignedAttributes, AreReadAsTheyWereGiven) {
  const auto graph = HostGraph();
  const auto concat = graph->CreateOperation<vx::ops::Concat>(Minus(1), 2);
  uint32_t unsigned_axis = 0;
  int32_t axis = 0;
  int64_t kept = 0;
  ASSERT_TRUE(concat->GetAttribute("axis", &unsigned_axis));
  ASSERT_TRUE(concat->GetAttribute("axis", &axis));
  ASSERT_TRUE(concat->GetAttribute("axis", &kept));
  EXPECT_EQ(unsigned_axis, 4294967295u);
  EXPECT_EQ(axis, -1);
  EXPECT_EQ(kept, -1);
  // Extents beyond 2^31 are extents.
  const auto reshape =
      graph->CreateOperation<vx::ops::Reshape>(Uints{3000000000u, Minus(1)});
  std::vector<int64_t> extents;
  Uints shape;
  ASSERT_TRUE(reshape->GetAttribute("shape", &extents));
  ASSERT_TRUE(reshape->GetAttribute("shape", &shape));
  EXPECT_EQ(extents, (std::vector<int64_t>{3000000000, -1}));
  EXPECT_EQ(shape, (Uints{3000000000u, 4294967295u}));
}

// TRANSPOSE_CONV of TFLite as its delegate for TIM-VX hands it over: SAME, a
// stride of 3 and a kernel of 2.
TEST(NegativePads, OfTransposedConvolutionsAreComputed) {
  const auto made = OneOperation::Of<vx::ops::DeConv2d>(
      {{2, 1, 1, 1}, {2, 1, 1, 1}}, 1, 1, PadType::SAME, Array2{2, 1},
      Array2{3, 1}, Array2{0, 0}, Array4{0, Minus(1), 0, 0});
  EXPECT_EQ(made.Run()[0], (std::vector<float>{1, 2, 0, 2, 4, 0}));
  const auto row = OneOperation::Of<vx::ops::DeConv1d>(
      {{2, 1, 1}, {2, 1, 1}}, 1, 1, PadType::AUTO, 2u, 3u, 0u,
      Array2{Minus(2), Minus(1)});
  EXPECT_EQ(row.Run()[0], (std::vector<float>{0, 0, 1, 2, 0, 2, 4, 0}));
}

}  // namespace
}  // namespace tim::testing
