#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op_schema.h"
#include "kernels/chain_rule.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

Result<TestNode> Cast(const ir::TensorDesc& from, ir::TensorDesc to) {
  to.shape = ir::Shape();
  return MakeNode("tim.Cast", {}, {from}, {to});
}

// Stored integers of the result of eval, which the kernel must repeat.
std::vector<int64_t> CastCodes(const TensorData& x, const ir::TensorDesc& to) {
  const auto node = Cast(x.desc, to);
  EXPECT_OK(node);
  const auto y = Eval(*node, {x});
  EXPECT_OK(y);
  EXPECT_OK(CheckKernels(*node, std::vector{x}));
  return Codes((*y)[0]);
}

TEST(Cast, FloatIsTruncatedAndSaturated) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto x =
      MakeTensor<float>(Desc(DataType::kFloat32, {8}),
                        {2.9f, -2.9f, -0.5f, kInf, -kInf, NAN, 3e9f, -200});
  EXPECT_EQ(CastCodes(x, Desc(DataType::kInt32, {})),
            (std::vector<int64_t>{2, -2, 0, INT32_MAX, INT32_MIN, 0, INT32_MAX,
                                  -200}));
  EXPECT_EQ(CastCodes(x, Desc(DataType::kUint8, {})),
            (std::vector<int64_t>{2, 0, 0, 255, 0, 0, 255, 0}));
  EXPECT_EQ(CastCodes(x, Desc(DataType::kInt64, {})),
            (std::vector<int64_t>{2, -2, 0, INT64_MAX, INT64_MIN, 0, 3000000000,
                                  -200}));
}

TEST(Cast, IgnoresQuantization) {
  const auto u8 = Desc(DataType::kUint8, {3}, 0.5f, 10);
  const auto x = MakeTensor<uint8_t>(u8, {0, 10, 200});
  EXPECT_EQ(CastCodes(x, Desc(DataType::kInt32, {})),
            (std::vector<int64_t>{0, 10, 200}));
  EXPECT_EQ(CastCodes(x, Desc(DataType::kInt8, {}, 0.25f, 3)),
            (std::vector<int64_t>{0, 10, 127}));
  EXPECT_EQ(CastCodes(x, Desc(DataType::kUint8, {}, 3.0f, 7)),
            (std::vector<int64_t>{0, 10, 200}));
  const auto values =
      MakeTensor<float>(Desc(DataType::kFloat32, {2}), {3.7f, -3.7f});
  EXPECT_EQ(CastCodes(values, Desc(DataType::kInt8, {}, 0.5f, 10)),
            (std::vector<int64_t>{3, -3}));
}

TEST(Cast, Booleans) {
  const auto b8 = Desc(DataType::kBool8, {4});
  const auto f32 = Desc(DataType::kFloat32, {4});
  // A zero point is a number, not zero.
  const auto u8 = Desc(DataType::kUint8, {4}, 0.5f, 10);
  EXPECT_EQ(CastCodes(MakeTensor<float>(f32, {0, -0.0f, 1e-40f, NAN}), b8),
            (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(CastCodes(MakeTensor<uint8_t>(u8, {0, 10, 1, 255}), b8),
            (std::vector<int64_t>{0, 1, 1, 1}));
  const auto truth = MakeTensor<uint8_t>(b8, {0, 1, 1, 0});
  EXPECT_EQ(CastCodes(truth, u8), (std::vector<int64_t>{0, 1, 1, 0}));
  const auto node = Cast(b8, f32);
  ASSERT_OK(node);
  EXPECT_EQ(Values<float>((*Eval(*node, {truth}))[0]),
            (std::vector<float>{0, 1, 1, 0}));
}

TEST(Cast, NarrowerIntegersSaturate) {
  const auto x = MakeTensor<int64_t>(Desc(DataType::kInt64, {4}),
                                     {INT64_MAX, INT64_MIN, -1, 70000});
  EXPECT_EQ(CastCodes(x, Desc(DataType::kInt32, {})),
            (std::vector<int64_t>{INT32_MAX, INT32_MIN, -1, 70000}));
  EXPECT_EQ(CastCodes(x, Desc(DataType::kUint16, {})),
            (std::vector<int64_t>{65535, 0, 0, 65535}));
}

// The number that a stored element is.
std::vector<double> Numbers(const TensorData& tensor) {
  TensorData plain = tensor;
  plain.desc.quantization = {};
  return RealValues(plain);
}

std::vector<double> Reference(const TensorData& x, const ir::TensorDesc& to) {
  std::vector<double> out = Numbers(x);
  const ir::DataTypeInfo& info = ir::Info(to.type);
  for (double& number : out) {
    if (to.type == DataType::kBool8) {
      number = number != 0;
    } else if (!ir::IsFloat(to.type)) {
      number = std::clamp(std::trunc(number), static_cast<double>(info.min),
                          static_cast<double>(info.max));
    }
  }
  return out;
}

const std::vector<std::string> kTypes = {
    "f32", "f16", "u8a", "i8a", "i16a", "u16a", "i8d", "i16d",
    "i8c", "u8",  "i8",  "i16", "i32",  "u32",  "i64", "b8"};

TEST(Cast, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(51);
  std::vector<std::string> types = kTypes;
  types.insert(types.end(), {"u4a", "i4a", "bf16", "f64"});
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      const Dims shape = RandomShape(1 + rng() % 4, rng, 500);
      const auto node = Cast(DescOf(from, shape, rng), DescOf(to, shape, rng));
      ASSERT_OK(node);
      const auto inputs = RandomInputs(*node, rng);
      const auto y = Eval(*node, inputs);
      ASSERT_OK(y);
      TensorData plain = (*y)[0];
      plain.desc.quantization = {};
      EXPECT_OK(CheckReal(plain, Reference(inputs[0], plain.desc),
                          {.absolute = 1e-30, .relative = 2e-7}))
          << from << " to " << to;
    }
  }
}

// A program per pair of types takes time: each type with itself, and from and
// to float32, uint8 and int32; all pairs in the long run.
TEST(Cast, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(52);
  Sample sample(3);
  const auto common = [](const std::string& type) {
    return type == "f32" || type == "u8a" || type == "i32";
  };
  for (const std::string& from : kTypes) {
    for (const std::string& to : kTypes) {
      if (from != to && !common(from) && !common(to) && !RunsLongTests())
        continue;
      for (int repeat = 0; repeat < 4; ++repeat) {
        if (!sample.Takes()) continue;
        const Dims shape = RandomShape(1 + rng() % 8, rng);
        const auto node =
            Cast(DescOf(from, shape, rng), DescOf(to, shape, rng));
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
      }
    }
  }
}

// A launch that cannot stand in a chain ends the one before it.
TEST(Cast, StandsInChains) {
  std::mt19937 rng = SeededRng(55);
  for (const auto& [from, to] : {std::pair("f32", "u8"),
                                 {"f16", "i32"},
                                 {"i32", "f32"},
                                 {"u8", "i64"}}) {
    const auto node = Cast(DescOf(from, {9}, rng), DescOf(to, {1}, rng));
    ASSERT_OK(node);
    const auto launches =
        LaunchesOf(*node, "cast", TestDevice(ir::DeviceClass::kCpu));
    ASSERT_OK(launches);
    ASSERT_EQ(launches->size(), 1u);
    EXPECT_OK(kernels::CheckChainable((*launches)[0])) << from << " to " << to;
  }
}

TEST(Cast, EverySizeAroundAVector) {
  std::mt19937 rng = SeededRng(53);
  for (const int64_t size : {1, 15, 16, 17, 31, 32, 33}) {
    for (const auto& [from, to] :
         {std::pair("f32", "i32"), {"u8a", "f32"}, {"f32", "b8"}}) {
      const auto node = Cast(DescOf(from, {size}, rng), DescOf(to, {1}, rng));
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to << size;
    }
  }
}

// Tail lanes hold the zero point, which is a number like any other; without
// tail lanes there is nothing to keep.
TEST(Cast, BlocksWhereTheZeroPointsAreZero) {
  std::mt19937 rng = SeededRng(54);
  for (const int64_t channels : {1, 15, 16, 17, 33}) {
    const Dims shape = {3, 5, channels, 2};
    for (const auto& [from, to] :
         {std::pair("f32", "i32"), {"i8d", "f32"}, {"i32", "u8"}}) {
      const auto node = Cast(DescOf(from, shape, rng), DescOf(to, {1}, rng));
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "cast"), 2);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
    }
    const auto node = Cast(Desc(DataType::kUint8, shape, 0.5f, 10),
                           Desc(DataType::kFloat32, {}));
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "cast"), channels % 16 == 0 ? 2 : 1);
  }
}

TEST(Cast, SameTypeIsAView) {
  const auto u8 = Desc(DataType::kUint8, {4}, 0.5f, 3);
  const auto other = Desc(DataType::kUint8, {4}, 0.5f, 4);
  const struct {
    ir::TensorDesc to;
    bool view;
    bool identity;
  } cases[] = {{u8, true, true},
               {other, true, false},
               {Desc(DataType::kInt8, {4}, 0.5f, 3), false, false}};
  for (const auto& c : cases) {
    const auto node = Cast(u8, c.to);
    ASSERT_OK(node);
    const ir::Node& op = node->graph.node(node->node);
    const ir::TensorDesc* inputs[] = {&node->input(0)};
    const ir::TensorDesc* outputs[] = {&node->output()};
    EXPECT_EQ(op.schema->is_view({op, inputs, outputs}), c.view);
    EXPECT_EQ(op.schema->is_identity({op, inputs, outputs}), c.identity);
  }
}

TEST(Cast, RefusedByTheKernel) {
  std::mt19937 rng = SeededRng(55);
  const auto f32 = Desc(DataType::kFloat32, {4});
  EXPECT_ERROR(Supports(*Cast(DescOf("u4a", {4}, rng), f32), "cast"),
               "converting uint4 has no kernel");
  EXPECT_ERROR(Supports(*Cast(DescOf("f64", {4}, rng), f32), "cast"),
               "converting float64 has no kernel");
  EXPECT_ERROR(
      Supports(*Fuse(*Cast(f32, f32), "tim.Relu", {}, {}, f32), "cast"),
      "takes no fused operators");
}

TEST(Cast, UnknownShapes) {
  for (const ir::Shape& shape :
       {ir::Shape(), ir::Shape({ir::kUnknownDim, 2})}) {
    ir::TensorDesc x = Desc(DataType::kFloat32, {});
    x.shape = shape;
    const auto node = Cast(x, Desc(DataType::kInt32, {}));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, shape);
    EXPECT_EQ(node->output().type, DataType::kInt32);
  }
}

TEST(Cast, RejectedInputs) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto u64 = Desc(DataType::kUint64, {4});
  EXPECT_ERROR(Cast(u64, f32),
               "input 0 is uint64, expected bool8, a float or integer type");
  EXPECT_ERROR(Cast(f32, u64), "output 0 is uint64");
  EXPECT_ERROR(Cast(ir::TensorDesc(), f32), "input 0 is unknown");
  EXPECT_ERROR(MakeNode("tim.Cast", {}, {}, {f32}), "input 0 is not bound");
  EXPECT_ERROR(MakeNode("tim.Cast", {}, {f32}, {Desc(DataType::kInt32, {5})}),
               "declared as [5]");
}

}  // namespace
}  // namespace tim::testing
