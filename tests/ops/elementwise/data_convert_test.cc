#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

Result<TestNode> Convert(const ir::TensorDesc& from, ir::TensorDesc to) {
  to.shape = ir::Shape();
  return MakeNode("tim.DataConvert", {}, {from}, {to});
}

TEST(DataConvert, FloatToCodesByHand) {
  const auto x = Desc(DataType::kFloat32, {5});
  const auto node = Convert(x, Desc(DataType::kUint8, {}, 0.5f, 10));
  ASSERT_OK(node);
  const auto y =
      Eval(*node, {MakeTensor<float>(x, {0.0f, 0.25f, 0.75f, -100, 1000})});
  ASSERT_OK(y);
  // 10, 10.5, 11.5 in codes: ties go to even codes.
  EXPECT_EQ(Codes((*y)[0]), (std::vector<int64_t>{10, 10, 12, 0, 255}));
}

TEST(DataConvert, CodesToFloatByHand) {
  const auto x = Desc(DataType::kInt8, {3}, 0.5f, -3);
  const auto node = Convert(x, Desc(DataType::kFloat32, {}));
  ASSERT_OK(node);
  const auto y = Eval(*node, {MakeTensor<int8_t>(x, {-3, 4, -128})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]), (std::vector<float>{0, 3.5f, -62.5f}));
}

TEST(DataConvert, CodesToOtherCodesByHand) {
  const auto x = Desc(DataType::kUint8, {4}, 0.5f, 10);
  const auto node = Convert(x, Desc(DataType::kUint8, {}, 0.25f, 20));
  ASSERT_OK(node);
  const auto y = Eval(*node, {MakeTensor<uint8_t>(x, {10, 0, 11, 200})});
  ASSERT_OK(y);
  EXPECT_EQ(Codes((*y)[0]), (std::vector<int64_t>{20, 0, 22, 255}));
}

// Extreme zero points, ratios above 1 and tiny ones, results in the middle of
// two codes, and a row that is no whole vector.
TEST(DataConvert, AllCodesOfEightBitsEqualEval) {
  Sample sample(5);
  const auto u8 = DataType::kUint8;
  const auto i8 = DataType::kInt8;
  const auto codes = [](DataType type, float scale, int32_t zero) {
    return Desc(type, {256 + 7}, scale, zero);
  };
  std::vector<uint8_t> bytes(256 + 7);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  for (const auto& from :
       {codes(u8, 0.02f, 0), codes(u8, 0.5f, 255), codes(i8, 0.021f, -128),
        codes(i8, 3.0f, 127), Desc(u8, {256 + 7}), codes(i8, 1e-25f, 1)}) {
    for (const auto& to :
         {codes(u8, 0.013f, 255), codes(u8, 1.0f, 128), codes(i8, 1e-4f, 0),
          codes(i8, 0.25f, -128), codes(i8, 70.0f, 5), codes(u8, 1e20f, 1)}) {
      if (!sample.Takes()) continue;
      const auto node = Convert(from, to);
      ASSERT_OK(node);
      const std::vector inputs = {MakeTensor<uint8_t>(from, bytes)};
      const auto expected = Eval(*node, inputs);
      ASSERT_OK(expected);
      // By a table, and by the formula.
      for (const int lanes : {16, 8}) {
        const auto actual = RunKernel(*node, "data_convert", 0, inputs,
                                      TestDeviceOfLanes(lanes));
        ASSERT_OK(actual);
        EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0]))
            << lanes << " lanes" << from.ToString() << to.ToString();
      }
    }
  }
}

TEST(DataConvert, BooleansAndPlainIntegers) {
  const auto b8 = Desc(DataType::kBool8, {2});
  const auto i32 = Desc(DataType::kInt32, {4});
  const auto to_int = Convert(b8, i32);
  ASSERT_OK(to_int);
  EXPECT_EQ(Codes((*Eval(*to_int, {MakeTensor<uint8_t>(b8, {0, 1})}))[0]),
            (std::vector<int64_t>{0, 1}));
  const auto x = MakeTensor<int32_t>(i32, {0, -7, 300, 2147483647});
  const auto to_bool = Convert(i32, b8);
  ASSERT_OK(to_bool);
  EXPECT_EQ(Codes((*Eval(*to_bool, {x}))[0]),
            (std::vector<int64_t>{0, 1, 1, 1}));
  const auto to_narrow = Convert(i32, Desc(DataType::kInt8, {}));
  ASSERT_OK(to_narrow);
  EXPECT_EQ(Codes((*Eval(*to_narrow, {x}))[0]),
            (std::vector<int64_t>{0, -7, 127, 127}));
}

TEST(DataConvert, EqualElementsAreCopiedBitForBit) {
  std::mt19937 rng = SeededRng(21);
  const auto f16 = Desc(DataType::kFloat16, {3});
  const auto f64 = Desc(DataType::kFloat64, {2});
  const auto u64 = Desc(DataType::kUint64, {2});
  const std::vector<TensorData> cases = {
      MakeTensor<uint16_t>(f16, {0x7d01, 0x8000, 0x0001}),
      MakeTensor<double>(f64, {0.1, 1e300}),
      MakeTensor<uint64_t>(u64, {~uint64_t{0}, 5}),
      RandomTensor(DescOf("u4a", {5, 3}, rng), rng),
      RandomTensor(DescOf("i8c", {3, 4}, rng), rng),
  };
  for (const TensorData& x : cases) {
    const auto node = Convert(x.desc, x.desc);
    ASSERT_OK(node);
    EXPECT_EQ((*Eval(*node, {x}))[0].bytes, x.bytes) << x.desc.ToString();
    if (ir::Info(x.desc.type).bits < 8) continue;
    const auto y = RunKernel(*node, "data_convert", 0, {x});
    ASSERT_OK(y);
    EXPECT_EQ((*y)[0].bytes, x.bytes) << x.desc.ToString();
  }
}

TEST(DataConvert, NanAndInfinity) {
  const auto x = Desc(DataType::kFloat32, {3});
  const float inf = std::numeric_limits<float>::infinity();
  const auto values = MakeTensor<float>(x, {NAN, inf, -inf});
  for (const auto& to :
       {Desc(DataType::kInt8, {}, 0.5f, 3), Desc(DataType::kInt32, {}),
        Desc(DataType::kInt16, {}, 0.1f, 0), Desc(DataType::kFloat16, {}),
        Desc(DataType::kBool8, {}), Desc(DataType::kInt64, {})}) {
    const auto node = Convert(x, to);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, std::vector{values})) << to.ToString();
  }
  const auto node = Convert(x, Desc(DataType::kInt8, {}, 0.5f, 3));
  EXPECT_EQ(Codes((*Eval(*node, {values}))[0]),
            (std::vector<int64_t>{0, 127, -128}));
}

TEST(DataConvert, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(22);
  const std::vector<std::string> types = {
      "f32",  "f16",  "bf16", "f64",  "u8a", "i8a", "i16a",
      "u16a", "i32a", "i8d",  "i16d", "u4a", "i4a", "i8c",
      "u8c",  "i8",   "u8",   "i16",  "i32", "i64", "b8"};
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      const Dims shape = RandomShape(1 + rng() % 4, rng, 500);
      const int axis = static_cast<int>(rng() % shape.size());
      const auto node =
          Convert(DescOf(from, shape, rng, axis), DescOf(to, shape, rng, axis));
      ASSERT_OK(node);
      const auto inputs = RandomInputs(*node, rng);
      const auto y = Eval(*node, inputs);
      ASSERT_OK(y);
      EXPECT_OK(CheckReal((*y)[0], RealValues(inputs[0]),
                          {.absolute = 1e-30, .relative = 2e-7}))
          << from << " to " << to;
    }
  }
}

// A program per pair of types takes time: each type with itself, and from and
// to float32, uint8 and int32; all pairs in the long run.
TEST(DataConvert, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(23);
  Sample sample(3);
  const std::vector<std::string> types = {
      "f32",  "f16", "u8a", "i8a", "i16a", "u16a", "i32a", "i8d",
      "i16d", "u8",  "i8",  "i16", "i32",  "u32",  "i64",  "b8"};
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      const auto common = [](const std::string& t) {
        return t == "f32" || t == "u8a" || t == "i32";
      };
      if (from != to && !common(from) && !common(to) && !RunsLongTests())
        continue;
      for (int repeat = 0; repeat < 5; ++repeat) {
        if (!sample.Takes()) continue;
        const Dims shape = RandomShape(1 + rng() % 5, rng);
        const auto node =
            Convert(DescOf(from, shape, rng), DescOf(to, shape, rng));
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
      }
    }
  }
}

TEST(DataConvert, BlockedLayouts) {
  std::mt19937 rng = SeededRng(24);
  const std::pair<const char*, const char*> pairs[] = {
      {"f32", "f16"}, {"f32", "u8a"}, {"u8a", "i8a"}, {"i8d", "f32"},
      {"i32", "u8"},  {"u8a", "u8a"}, {"f16", "f16"}};
  for (const auto& [from, to] : pairs) {
    for (const int64_t channels : {1, 15, 16, 17, 33}) {
      const Dims shape = {3, 5, channels, 2};
      const auto node =
          Convert(DescOf(from, shape, rng), DescOf(to, shape, rng));
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "data_convert"), 2);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
    }
  }
}

// No code of uint8 has the real value 0 here.
TEST(DataConvert, NoBlocksWithoutACodeForZero) {
  const auto node = Convert(Desc(DataType::kUint8, {2, 2, 4, 1}, 0.5f, -1),
                            Desc(DataType::kFloat32, {}));
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "data_convert"), 1);
}

TEST(DataConvert, RefusedByTheKernel) {
  std::mt19937 rng = SeededRng(25);
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto refusal = [&](const char* from, const ir::TensorDesc& to) {
    return Supports(*Convert(DescOf(from, {4}, rng), to), "data_convert");
  };
  EXPECT_ERROR(refusal("u4a", f32), "converting uint4 has no kernel");
  EXPECT_ERROR(refusal("f64", f32), "converting float64 has no kernel");
  EXPECT_ERROR(refusal("i8c", f32),
               "converting per-channel quantization has no kernel");
  const auto u4 = DescOf("u4a", {4}, rng);
  EXPECT_ERROR(Supports(*Convert(u4, u4), "data_convert"),
               "4-bit elements have no kernel");
  EXPECT_ERROR(Supports(*Fuse(*Convert(f32, f32), "tim.Relu", {}, {}, f32),
                        "data_convert"),
               "takes no fused operators");
}

TEST(DataConvert, IdentityOfEqualElements) {
  const auto is_identity = [](const TestNode& node) {
    const ir::TensorDesc* inputs[] = {&node.input(0)};
    const ir::TensorDesc* outputs[] = {&node.output()};
    const ir::Node& op = node.graph.node(node.node);
    return op.schema->is_identity({op, inputs, outputs});
  };
  const auto u8 = Desc(DataType::kUint8, {4}, 0.5f, 3);
  EXPECT_TRUE(is_identity(*Convert(u8, u8)));
  EXPECT_FALSE(is_identity(*Convert(u8, Desc(DataType::kUint8, {}, 0.5f, 4))));
  EXPECT_FALSE(is_identity(*Convert(u8, Desc(DataType::kUint8, {}))));
}

TEST(DataConvert, UnknownShapes) {
  for (const ir::Shape& shape :
       {ir::Shape(), ir::Shape({ir::kUnknownDim, 2})}) {
    ir::TensorDesc x = Desc(DataType::kFloat32, {});
    x.shape = shape;
    const auto node = Convert(x, Desc(DataType::kUint8, {}, 0.5f, 3));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, shape);
  }
}

TEST(DataConvert, RejectedInputs) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  EXPECT_ERROR(Convert(ir::TensorDesc(), f32), "input 0 has no data type");
  EXPECT_ERROR(
      MakeNode("tim.DataConvert", {}, {ir::TensorDesc()}, {ir::TensorDesc()}),
      "has no data type");
  EXPECT_ERROR(MakeNode("tim.DataConvert", {}, {}, {f32}),
               "input 0 is not bound");
  EXPECT_ERROR(
      MakeNode("tim.DataConvert", {}, {f32}, {Desc(DataType::kUint8, {5})}),
      "declared as [5]");
}

TEST(DataConvert, CodesAtTheLimitsOf64BitsSaturateAgainstTheZeroPoint) {
  ir::TensorDesc from = Desc(DataType::kInt64, {32});
  from.quantization = ir::Quantization::PerTensor(1.0f, -1);
  const ir::TensorDesc to = Desc(DataType::kFloat32, {32});
  const auto node = MakeNode("tim.DataConvert", {}, {from}, {to});
  ASSERT_OK(node);
  const std::vector<TensorData> inputs = {MakeTensor(
      from, std::vector<int64_t>(32, std::numeric_limits<int64_t>::max()))};
  EXPECT_OK(CheckKernels(*node, inputs));
  const auto result = Eval(*node, inputs);
  ASSERT_OK(result);
  EXPECT_EQ(Values<float>((*result)[0]), std::vector<float>(32, 0x1p63f));
}

}  // namespace
}  // namespace tim::testing
