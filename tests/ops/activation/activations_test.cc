#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/half.h"
#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;

struct Case {
  const char* name;
  double (*formula)(double x);
};
const Case kCases[] = {
    {"tim.Relu", [](double x) { return std::fmax(0.0, x); }},
    {"tim.Relu6", [](double x) { return std::fmin(std::fmax(0.0, x), 6.0); }},
    {"tim.Relu1", [](double x) { return std::fmin(std::fmax(-1.0, x), 1.0); }},
    {"tim.Tanh", [](double x) { return std::tanh(x); }},
    {"tim.Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"tim.HardSwish",
     [](double x) {
       const double bounded = std::fmax(x, -3.0);
       return bounded * std::fmin(bounded + 3, 6.0) / 6;
     }},
};
// tanh, sigmoid and hard swish: 3 ulp.
constexpr Tolerance kTolerance = {.absolute = 0x1p-149,
                                  .relative = 3 * 0x1p-23};

const char* const kInputs[] = {"f32", "f16",  "u8a", "i8a", "i16a", "u16a",
                               "i8d", "i16d", "i32", "u8",  "i8",   "i64"};
const char* const kOutputs[] = {"f32", "f16",  "u8a", "i8a", "i16a",
                                "i8d", "i16d", "i32", "u8"};

std::vector<double> Reference(const Case& c, const TensorData& x) {
  std::vector<double> out = RealValues(x);
  for (double& value : out) value = c.formula(value);
  return out;
}

TEST(Activations, ReluByHand) {
  const auto desc = Desc(DataType::kFloat32, {5});
  const auto node = MakeNode("tim.Relu", {}, {desc}, {desc});
  ASSERT_OK(node);
  const auto y =
      Eval(*node, {MakeTensor<float>(desc, {-1.5f, 0.0f, 2.25f, 7.0f, -0.1f})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]), (std::vector<float>{0, 0, 2.25f, 7.0f, 0}));
}

TEST(Activations, Relu6OfCodesByHand) {
  const auto x = Desc(DataType::kUint8, {5}, 0.1f, 10);
  const auto y = Desc(DataType::kInt8, {}, 0.05f, -128);
  const auto node = MakeNode("tim.Relu6", {}, {x},
                             {{.type = y.type,
                               .shape = {},
                               .quantization = y.quantization,
                               .layout = {}}});
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({5}));
  const auto result =
      Eval(*node, {MakeTensor<uint8_t>(x, {0, 10, 11, 70, 255})});
  ASSERT_OK(result);
  // 0, 0, 0.1, 6 and 6 in steps of 0.05.
  EXPECT_EQ(Codes((*result)[0]),
            (std::vector<int64_t>{-128, -128, -126, -8, -8}));
}

TEST(Activations, SmoothOnesByHand) {
  const auto desc = Desc(DataType::kFloat32, {5});
  const auto x = MakeTensor<float>(desc, {-4, -1, 0, 1.5f, 3.5f});
  const struct {
    const char* op;
    std::vector<double> expected;
  } cases[] = {
      {"tim.Relu1", {-1, -1, 0, 1, 1}},
      {"tim.Tanh",
       {-0.99932929973906704, -0.76159415595576489, 0, 0.90514825364486643,
        0.99817789761119868}},
      {"tim.Sigmoid",
       {0.017986209962091559, 0.26894142136999512, 0.5, 0.81757447619364365,
        0.97068776924864364}},
      {"tim.HardSwish", {0, -1.0 / 3, 0, 1.125, 3.5}},
  };
  for (const auto& c : cases) {
    const auto node = MakeNode(c.op, {}, {desc}, {desc});
    ASSERT_OK(node);
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    EXPECT_OK(CheckReal((*y)[0], c.expected, kTolerance)) << c.op;
    EXPECT_OK(CheckKernels(*node, {x})) << c.op;
  }
}

// Every exponent, subnormal numbers included; kernels give the bits of eval.
TEST(Activations, FloatsOfTheWholeRange) {
  std::vector<float> values;
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (const float fraction : {1.0f, -1.0f, 1.4f, -1.7f}) {
      values.push_back(std::ldexp(fraction, exponent));
    }
  }
  const auto desc =
      Desc(DataType::kFloat32, {static_cast<int64_t>(values.size())});
  const auto x = MakeTensor<float>(desc, values);
  for (const Case& c : kCases) {
    const auto node = MakeNode(c.name, {}, {desc}, {desc});
    ASSERT_OK(node);
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    EXPECT_OK(CheckReal((*y)[0], Reference(c, x), kTolerance)) << c.name;
    EXPECT_OK(CheckKernels(*node, {x})) << c.name;
  }
}

TEST(Activations, KeepNanAndInfinity) {
  const auto desc = Desc(DataType::kFloat32, {3});
  const float inf = std::numeric_limits<float>::infinity();
  const auto x = MakeTensor<float>(desc, {NAN, inf, -inf});
  for (const Case& c : kCases) {
    const auto node = MakeNode(c.name, {}, {desc}, {desc});
    ASSERT_OK(node);
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    const auto values = Values<float>((*y)[0]);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], static_cast<float>(c.formula(inf)));
    EXPECT_EQ(values[2], static_cast<float>(c.formula(-inf)));
    EXPECT_OK(CheckKernels(*node, std::vector{x}));
  }
}

// Only the exact path keeps integers that float cannot hold.
TEST(Activations, PlainIntegersAreExact) {
  const auto desc = Desc(DataType::kInt32, {3});
  const auto node = MakeNode("tim.Relu", {}, {desc}, {desc});
  ASSERT_OK(node);
  const auto x = MakeTensor<int32_t>(desc, {16777217, -16777217, 2147483647});
  const auto y = Eval(*node, {x});
  ASSERT_OK(y);
  EXPECT_EQ(Values<int32_t>((*y)[0]),
            (std::vector<int32_t>{16777217, 0, 2147483647}));
  EXPECT_OK(CheckKernels(*node, std::vector{x}));
}

TEST(Activations, PlainIntegersAreRounded) {
  const auto desc = Desc(DataType::kInt64, {6});
  const auto x =
      MakeTensor<int64_t>(desc, {-5, -1, 0, 1, 2, (int64_t{1} << 53) + 1});
  const std::pair<const char*, std::vector<int64_t>> cases[] = {
      {"tim.Relu1", {-1, -1, 0, 1, 1, 1}},
      {"tim.Tanh", {-1, -1, 0, 1, 1, 1}},
      {"tim.Sigmoid", {0, 0, 0, 1, 1, 1}},
      {"tim.HardSwish", {0, 0, 0, 1, 2, (int64_t{1} << 53) + 1}},
  };
  for (const auto& [op, expected] : cases) {
    const auto node = MakeNode(op, {}, {desc}, {desc});
    ASSERT_OK(node);
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    EXPECT_EQ(Codes((*y)[0]), expected) << op;
    EXPECT_OK(CheckKernels(*node, {x})) << op;
  }
}

TEST(Activations, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(1);
  for (const Case& c : kCases) {
    for (const std::string in :
         {"f32", "f16", "bf16", "f64", "u8a", "i8a", "i16a", "i8d", "i16d",
          "u4a", "i4a", "u8c", "i32", "i64"}) {
      for (const std::string out :
           {"f32", "f16", "bf16", "u8a", "i16d", "u4a", "i4a", "i8c", "i32"}) {
        const auto shape = RandomShape(1 + rng() % 4, rng, 500);
        const auto node = MakeNode(c.name, {}, {DescOf(in, shape, rng)},
                                   {DescOf(out, shape, rng)});
        ASSERT_OK(node);
        const auto inputs = RandomInputs(*node, rng);
        const auto y = Eval(*node, inputs);
        ASSERT_OK(y);
        EXPECT_OK(CheckReal((*y)[0], Reference(c, inputs[0]),
                            {.absolute = 2e-7, .relative = 1e-6}))
            << c.name << " " << in << " to " << out;
      }
    }
  }
}

TEST(Activations, EverySizeAroundAVector) {
  std::mt19937 rng = SeededRng(3);
  Sample sample(7);
  for (const int64_t size : {1, 15, 16, 17, 31, 32, 33, 1000}) {
    for (const std::string type : {"f32", "f16", "u8a", "i16d"}) {
      const auto desc = DescOf(type, {size}, rng);
      for (const Case& c : kCases) {
        if (!sample.Takes()) continue;
        const auto node = MakeNode(c.name, {}, {desc}, {desc});
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng)) << c.name << desc.ToString();
      }
    }
  }
}

TEST(Activations, BlockedLayouts) {
  std::mt19937 rng = SeededRng(4);
  for (const Case& c : kCases) {
    for (const std::string type : {"f32", "f16", "u8a", "i8a", "i8d", "i16a"}) {
      for (const int64_t channels : {1, 15, 16, 17, 33}) {
        const std::vector<int64_t> shape = {3, 5, channels, 2};
        const auto node = MakeNode(c.name, {}, {DescOf(type, shape, rng)},
                                   {DescOf(type, shape, rng)});
        ASSERT_OK(node);
        // Sigmoid of 0 is 0 only in coarse codes, and tail lanes must be 0.
        const bool zero = c.formula(0) == 0 || channels % 16 == 0;
        const bool known = zero || ir::IsFloat(node->output().type);
        for (const std::string& kernel : SupportedKernels(*node)) {
          if (!known) continue;
          EXPECT_EQ(LayoutCount(*node, kernel), zero ? 2 : 1) << kernel;
        }
        ASSERT_OK(CheckKernels(*node, rng)) << type;
      }
    }
  }
}

TEST(Activations, BlocksNeedRank4) {
  for (const auto& shape :
       {std::vector<int64_t>{4, 4, 16}, std::vector<int64_t>{2, 2, 16, 1, 1}}) {
    const auto desc = Desc(DataType::kFloat32, shape);
    const auto node = MakeNode("tim.Relu", {}, {desc}, {desc});
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "relu"), 1);
  }
}

TEST(Activations, FourBitAndPerChannelRunInEval) {
  std::mt19937 rng = SeededRng(5);
  for (const std::string type : {"u4a", "i4a", "i8c"}) {
    const auto desc = DescOf(type, {4, 3}, rng);
    const auto node = MakeNode("tim.Relu", {}, {desc}, {desc});
    ASSERT_OK(node);
    EXPECT_TRUE(SupportedKernels(*node).empty());
  }
}

TEST(Activations, UnknownShapes) {
  for (const ir::Shape& shape :
       {ir::Shape(), ir::Shape({4, ir::kUnknownDim, 2})}) {
    ir::TensorDesc x = Desc(DataType::kFloat16, {});
    x.shape = shape;
    const auto node = MakeNode("tim.Relu", {}, {x}, {ir::TensorDesc()});
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, shape);
    EXPECT_EQ(node->output().type, DataType::kFloat16);
  }
}

TEST(Activations, InferredTypeHasTheQuantization) {
  const auto x = Desc(DataType::kUint8, {4}, 0.5f, 3);
  const auto node = MakeNode("tim.Relu", {}, {x}, {ir::TensorDesc()});
  ASSERT_OK(node);
  EXPECT_EQ(node->output(), x);
}

TEST(Activations, RejectedInputs) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto b8 = Desc(DataType::kBool8, {4});
  const auto u64 = Desc(DataType::kUint64, {4});
  for (const Case& c : kCases) {
    const std::string op = c.name;
    EXPECT_ERROR(MakeNode(op, {}, {b8}, {f32}),
                 "input 0 is bool8, expected a float or integer type");
    EXPECT_ERROR(MakeNode(op, {}, {f32}, {b8}),
                 "output 0 is bool8, expected a float or integer type");
    EXPECT_ERROR(MakeNode(op, {}, {u64}, {u64}), "input 0 is uint64");
    EXPECT_ERROR(MakeNode(op, {}, {}, {f32}), "input 0 is not bound");
    EXPECT_ERROR(MakeNode(op, {}, {f32, f32}, {f32}), "at most 1 are taken");
    EXPECT_ERROR(MakeNode(op, {{"alpha", 1.0}}, {f32}, {f32}),
                 "has no attribute 'alpha'");
    EXPECT_ERROR(MakeNode(op, {}, {f32}, {Desc(DataType::kFloat32, {5})}),
                 "declared as [5]");
  }
}

TEST(Activations, RefuseFusedOperators) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  auto node = MakeNode("tim.Relu", {}, {f32}, {f32});
  ASSERT_OK(node);
  const auto fused = Fuse(*node, "tim.Relu6", {}, {}, f32);
  ASSERT_OK(fused);
  EXPECT_ERROR(Supports(*fused, "relu"), "takes no fused operators");
}

}  // namespace
}  // namespace tim::testing
