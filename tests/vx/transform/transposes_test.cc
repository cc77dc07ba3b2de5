// How many Transposes LayoutInference() leaves, and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/inferred_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using vx::DataLayout;
using vx::ShapeType;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;
using Perm = std::vector<uint32_t>;
using Lstm = ops::UnidirectionalSequenceLstm;

// Builds graphs; values between operations are TRANSIENT, without shapes.
struct Builder {
  std::shared_ptr<vx::Graph> graph = HostContext()->CreateGraph();
  int constants = 0;

  TensorPtr Input(const ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::INPUT));
  }
  TensorPtr Between() { return graph->CreateTensor(Floats({}, vx::TRANSIENT)); }
  TensorPtr Output(const ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::OUTPUT));
  }
  TensorPtr Constant(const ShapeType& shape) {
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    std::vector<float> values;
    for (size_t i = 0; i < count; ++i) {
      const auto mixed = (i * 37 + static_cast<size_t>(++constants)) % 17;
      values.push_back((static_cast<float>(mixed) - 8) / 16);
    }
    return graph->CreateTensor(Floats(shape, vx::CONSTANT), values.data());
  }

  template <typename Op, typename... Args>
  TensorPtr Do(const std::vector<TensorPtr>& inputs, TensorPtr output,
               Args... args) {
    (*graph->CreateOperation<Op>(args...))
        .BindInputs(inputs)
        .BindOutput(output);
    return output;
  }
  template <typename Op, typename... Args>
  TensorPtr Do(const std::vector<TensorPtr>& inputs, Args... args) {
    return Do<Op>(inputs, Between(), args...);
  }

  // Of [C, W, H, N]; weights IcWHOc.
  TensorPtr Conv(const TensorPtr& x, uint32_t from, uint32_t to,
                 TensorPtr output = nullptr) {
    return Do<ops::Conv2d>({x, Constant({from, 3, 3, to}), Constant({to})},
                           output != nullptr ? output : Between(),
                           vx::PadType::SAME, Pair{1, 1}, Pair{1, 1}, 0,
                           DataLayout::CWHN, DataLayout::IcWHOc);
  }
  TensorPtr Pool(const TensorPtr& x) {
    return Do<ops::Pool2d>({x}, vx::PoolType::MAX, vx::PadType::VALID,
                           Pair{2, 2}, Pair{2, 2}, vx::RoundType::FLOOR,
                           DataLayout::CWHN);
  }
};

// Both graphs compute the same from `values`: the source where it has no
// layout arguments.
void ExpectSameAsSource(const Builder& source, const TensorPtr& x,
                        const TensorPtr& y, InferredGraph& inferred) {
  const auto values =
      Ramp(static_cast<size_t>(x->GetSpec().GetElementNum()), 40);
  Write(x, values);
  ASSERT_TRUE(source.graph->Run()) << vx::LastError();
  inferred.Write(x, values);
  inferred.Run();
  EXPECT_THAT(inferred.Read(y), Pointwise(FloatNear(1e-5f), Read(y)));
}

TEST(Transposes, OneForAChainOfConvolutionsAndWhatIsBetween) {
  Builder b;
  auto x = b.Input({3, 8, 8, 1});
  auto t = b.Do<ops::Relu6>({b.Conv(x, 3, 4)});
  auto u = b.Do<ops::Sigmoid>({b.Do<ops::Relu>({b.Conv(t, 4, 4)})});
  auto sum = b.Do<ops::Add>({t, u});
  auto scaled = b.Do<ops::Multiply>({sum, b.Constant({4})});
  auto joined = b.Do<ops::Concat>({scaled, t}, 0u, 2);
  auto pooled = b.Pool(joined);
  auto mean =
      b.Do<ops::ReduceMean>({pooled}, std::vector<int32_t>{1, 2}, false);
  auto y = b.Output({8, 1});
  b.Do<ops::Softmax>({mean}, y, 1.0f, 0);
  InferredGraph inferred(b.graph);
  EXPECT_EQ(inferred.transposes(), 1);
  const auto readers = inferred.graph().GetConsumersOp(inferred[x]);
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_STREQ(readers[0]->Name(), "Transpose");
  inferred.Write(x, Ramp(192));
  inferred.Run();
}

// The smallest tensor on the way is transposed: behind the pooling.
TEST(Transposes, StandWhereTheFewestBytesPass) {
  Builder b;
  auto x = b.Input({8, 8, 3, 1});
  auto a = b.Do<ops::Relu>({x});
  auto pooled = b.Do<ops::Pool2d>({a}, vx::PoolType::MAX, vx::PadType::VALID,
                                  Pair{4, 4}, Pair{4, 4});
  auto t = b.Do<ops::Transpose>({pooled}, Perm{1, 0, 2, 3});
  auto wide = b.Do<ops::Tile>({t}, std::vector<int32_t>{2, 2, 2, 2});
  auto y = b.Output({4, 4, 6, 2});
  b.Do<ops::Relu>({wide}, y);
  InferredGraph inferred(b.graph);
  EXPECT_EQ(inferred.transposes(), 1);
  for (const auto& operation : inferred.graph().OpVector()) {
    if (operation->Name() != std::string("Transpose")) continue;
    const TensorPtr from = operation->impl()->inputs[0];
    EXPECT_EQ(from->GetShape(), (ShapeType{2, 2, 3, 1}));
  }
  ExpectSameAsSource(b, x, y, inferred);
}

TEST(Transposes, OfTheSourceCancel) {
  Builder b;
  auto x = b.Input({2, 3, 4});
  auto t = b.Do<ops::Transpose>({x}, Perm{2, 0, 1});
  auto u = b.Do<ops::Softmax>({b.Do<ops::Relu>({t})}, 1.0f, 0);
  auto v = b.Do<ops::Transpose>({u}, Perm{1, 2, 0});
  auto y = b.Output({2, 3, 4});
  b.Do<ops::Tanh>({v}, y);
  InferredGraph inferred(b.graph);
  EXPECT_EQ(inferred.transposes(), 0);
  ExpectSameAsSource(b, x, y, inferred);
}

TEST(Transposes, OfOneTensorAreSharedByItsReaders) {
  Builder b;
  auto x = b.Input({2, 3});
  auto y = b.Output({2, 2});
  auto z = b.Output({2, 2});
  const Perm swap = {1, 0};
  auto weights = b.Constant({2, 3});
  b.Do<ops::Matmul>({b.Do<ops::Transpose>({x}, swap), weights}, y);
  b.Do<ops::Matmul>({b.Do<ops::Transpose>({x}, swap), weights}, z);
  InferredGraph inferred(b.graph);
  EXPECT_LE(inferred.transposes(), 1);
  ExpectSameAsSource(b, x, y, inferred);
}

TEST(Transposes, ThatMoveNoElementAreViews) {
  Builder b;
  auto x = b.Input({1, 1, 5, 1});
  auto y = b.Output({5, 1, 1, 1});
  b.Do<ops::Transpose>({x}, y, Perm{2, 0, 1, 3});
  InferredGraph inferred(b.graph);
  ExpectSameAsSource(b, x, y, inferred);
  Builder c;
  auto in = c.Input({8, 2, 2, 1});
  auto out = c.Output({4});
  auto pooled = c.Pool(c.Conv(in, 8, 4));
  c.Do<ops::Reshape>({pooled}, out, std::vector<uint32_t>{4});
  InferredGraph small(c.graph);
  EXPECT_EQ(small.transposes(), 1);
}

// An output and what is transposed of it are outputs, too.
TEST(Transposes, OfOutputsAreKept) {
  Builder b;
  auto x = b.Input({2, 3});
  auto y = b.Output({2, 3});
  auto z = b.Output({3, 2});
  auto w = b.Output({2, 3});
  b.Do<ops::Relu>({x}, y);
  b.Do<ops::Transpose>({y}, z, Perm{1, 0});
  b.Do<ops::Transpose>({z}, w, Perm{1, 0});
  InferredGraph inferred(b.graph, {{x, Pv({1, 0})}});
  inferred.Write(x, {1, 2, 3, 4, 5, 6});  // 3 rows of 2 for the client
  EXPECT_EQ(inferred[x]->GetShape(), (ShapeType{2, 3}));
  InferredGraph plain(b.graph);
  EXPECT_EQ(plain.transposes(), 1);
  for (const TensorPtr& output : {y, z, w}) {
    ExpectSameAsSource(b, x, output, plain);
  }
}

// The maps of an SSD: each head's result is flattened in the order of its
// pixels, so that it must be transposed; nothing else is but the image.
TEST(Transposes, OfAnSsdHead) {
  Builder b;
  auto x = b.Input({3, 16, 16, 1});
  std::vector<TensorPtr> boxes;
  std::vector<TensorPtr> scores;
  auto map = b.Do<ops::Relu6>({b.Conv(x, 3, 4)});
  uint32_t anchors = 0;
  for (const uint32_t size : {8u, 4u, 2u}) {
    map = b.Do<ops::Relu6>({b.Conv(b.Pool(map), 4, 4)});
    const uint32_t count = 3 * size * size;
    boxes.push_back(b.Do<ops::Reshape>({b.Conv(map, 4, 12)},
                                       std::vector<uint32_t>{4, count, 1}));
    scores.push_back(b.Do<ops::Reshape>({b.Conv(map, 4, 6)},
                                        std::vector<uint32_t>{2, count, 1}));
    anchors += count;
  }
  auto box = b.Output({4, anchors, 1});
  auto score = b.Output({2, anchors, 1});
  b.Do<ops::Concat>(boxes, box, 1u, 3);
  b.Do<ops::Sigmoid>({b.Do<ops::Concat>(scores, 1u, 3)}, score);
  InferredGraph inferred(b.graph);
  EXPECT_EQ(inferred.transposes(), 1 + 2 * 3);
  inferred.Write(x, Ramp(3 * 16 * 16));
  inferred.Run();
}

TensorPtr AddLstm(Builder& b, const TensorPtr& x, uint32_t width,
                  bool time_major) {
  const uint32_t units = 4;
  auto none = b.graph->CreateTensorPlaceHolder();
  std::vector<TensorPtr> inputs = {x, none, none};
  for (int i = 0; i < 4; ++i) inputs.push_back(b.Constant({width, units}));
  for (int i = 0; i < 4; ++i) inputs.push_back(b.Constant({units, units}));
  for (int i = 0; i < 3; ++i) inputs.push_back(none);
  for (int i = 0; i < 4; ++i) inputs.push_back(b.Constant({units}));
  return b.Do<Lstm>(inputs, 0.0f, 0.0f, Lstm::kTANH, 0.0f, time_major,
                    Lstm::kSIGMOID, true);
}

// Batch-major layers between Transposes to time-major and back, and others:
// each computes in the order in which the sequence comes.
TEST(Transposes, NoneForLayersOfLstm) {
  Builder b;
  auto x = b.Input({3, 5, 2});  // width, steps, batch
  const Perm swap = {0, 2, 1};
  auto t = b.Do<ops::Transpose>({x}, swap);
  auto first = AddLstm(b, t, 3, true);
  auto back = b.Do<ops::Transpose>({b.Do<ops::Tanh>({first})}, swap);
  auto second = AddLstm(b, back, 4, false);
  auto y = b.Output({4, 5, 2});
  b.Do<ops::Relu>({second}, y);
  InferredGraph inferred(b.graph);
  EXPECT_EQ(inferred.transposes(), 0);
  ExpectSameAsSource(b, x, y, inferred);
}

// Columns of a CWHN image as a sequence: the image, and the map that becomes
// rows of channels.
TEST(Transposes, OfConvolutionsBeforeAnLstm) {
  Builder b;
  auto x = b.Input({1, 8, 4, 2});
  auto map = b.Pool(b.Do<ops::Relu>({b.Conv(x, 1, 4)}));  // [4, 4, 2, 2]
  auto rows = b.Do<ops::Reshape>({map}, std::vector<uint32_t>{16, 2, 2});
  auto y = b.Output({4, 2, 2});
  b.Do<ops::Relu>({AddLstm(b, rows, 16, false)}, y);
  InferredGraph inferred(b.graph);
  // The image has one channel: it is not moved at all.
  EXPECT_EQ(inferred.transposes(), 1);
  inferred.Write(x, Ramp(64));
  inferred.Run();
}

}  // namespace
}  // namespace tim::testing
