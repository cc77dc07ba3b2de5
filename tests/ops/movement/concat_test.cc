#include <gtest/gtest.h>

#include <algorithm>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;
using Inputs = std::vector<std::optional<ir::TensorDesc>>;

Result<TestNode> Concat(int64_t axis, const Inputs& inputs, ir::TensorDesc y) {
  y.shape = ir::Shape();
  return MakeNode(
      "tim.Concat",
      {{"axis", axis}, {"input_cnt", static_cast<int64_t>(inputs.size())}},
      inputs, {y});
}

ir::TensorDesc F32(const Dims& shape) {
  return Desc(DataType::kFloat32, shape);
}

// Element by element, by the coordinate along the axis.
std::vector<double> Reference(const std::vector<TensorData>& inputs, int axis,
                              const ir::Shape& shape) {
  std::vector<double> out(*shape.NumElements());
  int64_t start = 0;
  for (const TensorData& input : inputs) {
    const std::vector<double> values = RealValues(input);
    const ir::Shape& from = input.desc.shape;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
      int64_t rest = i;
      int64_t target = 0;
      int64_t stride = 1;
      for (int a = 0; a < shape.rank(); ++a) {
        const int64_t coordinate = rest % from[a] + (a == axis ? start : 0);
        rest /= from[a];
        target += coordinate * stride;
        stride *= shape[a];
      }
      out[target] = values[i];
    }
    start += from[axis];
  }
  return out;
}

// Shapes that agree but for `axis`.
std::vector<Dims> RandomShapes(int rank, int axis, int count,
                               std::mt19937& rng) {
  std::vector<Dims> shapes(count, RandomShape(rank, rng, 2000));
  for (Dims& shape : shapes) shape[axis] = 1 + rng() % 5;
  return shapes;
}

TEST(Concat, ByHand) {
  const auto a = F32({2, 2});
  const auto b = F32({1, 2});
  const auto rows = Concat(0, {a, b}, F32({}));
  ASSERT_OK(rows);
  EXPECT_EQ(rows->output().shape, ir::Shape({3, 2}));
  const auto y = Eval(*rows, {MakeTensor<float>(a, {1, 2, 3, 4}),
                              MakeTensor<float>(b, {5, 6})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]), (std::vector<float>{1, 2, 5, 3, 4, 6}));
}

TEST(Concat, RequantizesByHand) {
  const auto a = Desc(DataType::kUint8, {2}, 0.5f, 10);
  const auto b = Desc(DataType::kUint8, {2}, 0.25f, 0);
  const auto node = Concat(0, {a, b}, a);
  ASSERT_OK(node);
  const auto y = Eval(*node, {MakeTensor<uint8_t>(a, {10, 200}),
                              MakeTensor<uint8_t>(b, {4, 7})});
  ASSERT_OK(y);
  // 1 and 1.75 in steps of 0.5 from 10.
  EXPECT_EQ(Codes((*y)[0]), (std::vector<int64_t>{10, 200, 12, 14}));
}

TEST(Concat, EvalMatchesTheReference) {
  std::mt19937 rng = SeededRng(51);
  for (const std::string from :
       {"f32", "f16", "u8a", "i16d", "u4a", "i32", "b8", "i64", "f64"}) {
    for (const std::string to : {"f32", "f16", "u8a", "i8d", "i4a", "i32"}) {
      const int rank = 1 + static_cast<int>(rng() % 4);
      const int axis = static_cast<int>(rng() % rank);
      Inputs inputs;
      for (const Dims& shape : RandomShapes(rank, axis, 1 + rng() % 4, rng)) {
        inputs.push_back(DescOf(from, shape, rng));
      }
      const auto node = Concat(axis, inputs, DescOf(to, {1}, rng));
      ASSERT_OK(node);
      const auto data = RandomInputs(*node, rng);
      const auto y = Eval(*node, data);
      ASSERT_OK(y);
      EXPECT_OK(CheckReal((*y)[0], Reference(data, axis, node->output().shape),
                          {.absolute = 1e-30, .relative = 2e-7}))
          << from << " to " << to;
    }
  }
}

TEST(Concat, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(52);
  Sample sample(3);
  const std::pair<const char*, const char*> pairs[] = {
      {"f32", "f32"}, {"f16", "f16"}, {"i64", "i64"},   {"b8", "b8"},
      {"u8a", "u8a"}, {"i8a", "i8a"}, {"i16d", "i16d"}, {"f32", "u8a"},
      {"u8a", "f32"}, {"i8d", "i8a"}, {"i32", "i32"},   {"f16", "f32"}};
  for (const auto& [from, to] : pairs) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!sample.Takes()) continue;
      const int rank = 1 + static_cast<int>(rng() % 5);
      const int axis = static_cast<int>(rng() % rank);
      const auto y = DescOf(to, {1}, rng);
      Inputs inputs;
      for (const Dims& shape : RandomShapes(rank, axis, 1 + rng() % 4, rng)) {
        inputs.push_back(DescOf(from, shape, rng));
        // Some inputs are copied, the others are converted.
        if (rng() % 3 == 0) {
          inputs.back() = y;
          inputs.back()->shape = ir::Shape(shape);
        }
      }
      const auto node = Concat(axis, inputs, y);
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
    }
  }
}

TEST(Concat, ManyInputs) {
  std::mt19937 rng = SeededRng(53);
  const Inputs inputs(100, F32({3, 2}));
  const auto node = Concat(1, inputs, F32({}));
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({3, 200}));
  EXPECT_OK(CheckKernels(*node, rng));
}

TEST(Concat, AbsentInputsAreSkipped) {
  std::mt19937 rng = SeededRng(54);
  const auto a = F32({3, 2});
  for (const Inputs& inputs :
       {Inputs{a, std::nullopt, a}, Inputs{std::nullopt, a, a},
        Inputs{a, a, std::nullopt}}) {
    const auto node = Concat(0, inputs, F32({}));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape({6, 2}));
    EXPECT_OK(CheckKernels(*node, rng));
  }
  const auto unbound =
      MakeNode("tim.Concat", {{"axis", int64_t{1}}, {"input_cnt", int64_t{3}}},
               {a, a}, {ir::TensorDesc()});
  ASSERT_OK(unbound);
  EXPECT_EQ(unbound->output(), F32({3, 4}));
  EXPECT_OK(CheckKernels(*unbound, rng));
}

TEST(Concat, BlockedLayouts) {
  std::mt19937 rng = SeededRng(55);
  for (const std::string type : {"f32", "f16", "u8a", "i8d"}) {
    for (const Dims& channels : {Dims{16, 32}, Dims{16, 3}, Dims{32, 16, 17}}) {
      Inputs inputs;
      for (const int64_t c : channels) {
        inputs.push_back(DescOf(type, {3, 5, c, 2}, rng));
      }
      const auto node = Concat(2, inputs, DescOf(type, {1}, rng));
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "concat"), 2);
      ASSERT_OK(CheckKernels(*node, rng)) << type;
    }
    for (const int64_t axis : {0, 1, 3}) {
      const auto node = Concat(
          axis,
          {DescOf(type, {3, 5, 17, 2}, rng), DescOf(type, {3, 5, 17, 2}, rng)},
          DescOf(type, {1}, rng));
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "concat"), 2);
      ASSERT_OK(CheckKernels(*node, rng)) << type;
    }
  }
}

TEST(Concat, PartsOfBlocks) {
  std::mt19937 rng = SeededRng(57);
  for (const Dims& channels : {Dims{3, 16}, Dims{7, 30, 2}}) {
    for (const std::string type : {"f32", "f16"}) {
      Inputs inputs;
      for (const int64_t c : channels) {
        inputs.push_back(DescOf(type, {3, 5, c, 2}, rng));
      }
      const auto node = Concat(2, inputs, DescOf(type, {1}, rng));
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "concat"), 2);
      ASSERT_OK(CheckKernels(*node, rng)) << type;
    }
  }
  // What is converted on its way is not moved as it is.
  const auto node = Concat(2, {F32({2, 2, 3, 1}), F32({2, 2, 16, 1})},
                           DescOf("f16", {1}, rng));
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "concat"), 1);
}

TEST(Concat, RefusedByTheKernel) {
  std::mt19937 rng = SeededRng(56);
  const auto u4 = DescOf("u4a", {4}, rng);
  EXPECT_ERROR(Supports(*Concat(0, {F32({4}), u4}, F32({})), "concat"),
               "input 1: converting uint4 has no kernel");
  const auto node = Concat(0, {F32({4})}, F32({}));
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*Fuse(*node, "tim.Relu", {}, {}, F32({4})), "concat"),
               "takes no fused operators");
}

TEST(Concat, IdentityOfOneInput) {
  const auto is_identity = [](const TestNode& node) {
    std::vector<const ir::TensorDesc*> inputs;
    const ir::Node& op = node.graph.node(node.node);
    for (const ir::ValueId id : op.inputs) {
      inputs.push_back(id == ir::kNone ? nullptr : &node.graph.value(id).desc);
    }
    const ir::TensorDesc* outputs[] = {&node.output()};
    return op.schema->is_identity({op, inputs, outputs});
  };
  const auto a = F32({4});
  EXPECT_TRUE(is_identity(*Concat(0, {a}, a)));
  EXPECT_TRUE(is_identity(*Concat(0, {a, std::nullopt}, a)));
  EXPECT_FALSE(is_identity(*Concat(0, {a, a}, a)));
  EXPECT_FALSE(is_identity(*Concat(0, {std::nullopt, a}, a)));
  EXPECT_FALSE(is_identity(*Concat(0, {a}, Desc(DataType::kFloat16, {}))));
}

TEST(Concat, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  const struct {
    ir::Shape a;
    ir::Shape b;
    ir::Shape y;
  } cases[] = {
      {ir::Shape(), ir::Shape(), ir::Shape()},
      {ir::Shape(), ir::Shape({3, 2}), ir::Shape({kAny, 2})},
      {ir::Shape({3, 2}), ir::Shape(), ir::Shape({kAny, 2})},
      {ir::Shape({kAny, 2}), ir::Shape({3, kAny}), ir::Shape({kAny, 2})},
      {ir::Shape({3, kAny}), ir::Shape({4, kAny}), ir::Shape({7, kAny})},
  };
  for (const auto& c : cases) {
    ir::TensorDesc a = F32({});
    ir::TensorDesc b = a;
    a.shape = c.a;
    b.shape = c.b;
    const auto node = Concat(0, {a, b}, ir::TensorDesc());
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, c.y) << c.y.ToString();
    EXPECT_EQ(node->output().type, DataType::kFloat32);
  }
}

TEST(Concat, BoundedShapes) {
  ir::TensorDesc a = F32({4, 3});
  ir::TensorDesc b = F32({});
  ir::TensorDesc c = F32({});
  b.shape = ir::Shape({ir::kUnknownDim, ir::kUnknownDim});
  b.shape.SetBound(0, 5);
  c.shape = b.shape;
  c.shape.SetBound(0, 7);
  c.shape.SetBound(1, 9);
  const auto join = [](int64_t axis, const Inputs& inputs) {
    const auto node = Concat(axis, inputs, ir::TensorDesc());
    EXPECT_OK(node);
    return node.ok() ? node->output().shape.ToString() : std::string();
  };
  EXPECT_EQ(join(0, {a, b}), "[?<=9, 3]");
  EXPECT_EQ(join(0, {b, c}), "[?<=12, ?<=9]");
  EXPECT_EQ(join(1, {b, c}), "[?<=5, ?]");
  EXPECT_EQ(join(0, {c, F32({2, 3}), b}), "[?<=14, 3]");
}

TEST(Concat, NegativeAxisCountsFromTheSlowest) {
  const auto node = Concat(-1, {F32({2, 3}), F32({2, 1})}, F32({}));
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({2, 4}));
}

TEST(Concat, RejectedInputs) {
  const auto a = F32({2, 3});
  EXPECT_ERROR(Concat(2, {a}, a), "axis 2 is outside [-2, 2) for rank 2");
  EXPECT_ERROR(Concat(0, {a, F32({2})}, a),
               "input 1 [2] has another rank than the inputs before it");
  EXPECT_ERROR(Concat(0, {a, F32({2, 4})}, a),
               "input 1 [2, 4] differs along axis 1 from the inputs before "
               "it, [2, 3]");
  EXPECT_ERROR(Concat(0, {std::nullopt}, a), "no input is bound");
  EXPECT_ERROR(Concat(0, {a, ir::TensorDesc()}, a), "input 1 has no data type");
  EXPECT_ERROR(
      MakeNode("tim.Concat", {{"axis", int64_t{0}}, {"input_cnt", int64_t{2}}},
               {a, a}, {F32({2, 6})}),
      "declared as [2, 6], but the inputs join to [4, 3]");
  EXPECT_ERROR(
      MakeNode("tim.Concat", {{"axis", int64_t{0}}, {"input_cnt", int64_t{2}}},
               {a, a}, {F32({12})}),
      "declared as [12], but the inputs join to [4, 3]");
  EXPECT_ERROR(
      MakeNode("tim.Concat", {{"axis", int64_t{0}}, {"input_cnt", int64_t{1}}},
               {a, a}, {a}),
      "2 inputs are bound, at most 1 are taken");
  EXPECT_ERROR(
      MakeNode("tim.Concat", {{"axis", int64_t{0}}, {"input_cnt", int64_t{0}}},
               {a, a}, {F32({8, 3})}),
      "attribute 'input_cnt' is 0, expected the number of inputs");
  EXPECT_ERROR(MakeNode("tim.Concat", {{"axis", int64_t{0}}}, {a}, {a}),
               "attribute 'input_cnt' (int) is missing");
}

}  // namespace
}  // namespace tim::testing
