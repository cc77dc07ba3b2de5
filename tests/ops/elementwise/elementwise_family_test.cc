// What Sub, Multiply, Div, Minimum and Maximum share; Add, on which the
// family's shapes, layouts and policies are tried, has elementwise_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "ir/op_schema.h"
#include "ops/builtin.h"
#include "tests/support/data/binary_reference.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

struct Op {
  const char* name;
  const char* kernel;
  double (*formula)(double a, double b);
};
const Op kOps[] = {
    {"tim.Sub", "sub", [](double a, double b) { return a - b; }},
    {"tim.Multiply", "multiply", [](double a, double b) { return a * b; }},
    {"tim.Div", "div", [](double a, double b) { return a / b; }},
    {"tim.Minimum", "minimum",
     [](double a, double b) { return a < b ? a : b; }},
    {"tim.Maximum", "maximum",
     [](double a, double b) { return a > b ? a : b; }},
};

struct Types {
  const char* a;
  const char* b;
  const char* y;
};

TEST(Binary, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(41);
  for (const Op& op : kOps) {
    for (const std::string a : {"f32", "f16", "u8a", "i8a", "i16a", "i8d",
                                "i16d", "u4a", "i4a", "i8c", "bf16"}) {
      for (const std::string b : {"f32", "f16", "u8a", "i8d", "u4a"}) {
        for (const std::string y : {"f32", "f16", "u8a", "i16d", "i4a"}) {
          const Dims shape = RandomShape(1 + rng() % 5, rng, 500);
          const auto node = MakeBinary(op.name, DescOf(a, shape, rng),
                                       DescOf(b, Shrink(shape, rng), rng),
                                       DescOf(y, shape, rng));
          ASSERT_OK(node);
          const auto inputs = RandomInputs(*node, rng);
          const auto result = Eval(*node, inputs);
          ASSERT_OK(result);
          EXPECT_OK(CheckReal((*result)[0],
                              BinaryReference(*node, inputs, op.formula),
                              {.absolute = 1e-5, .relative = 1e-6}))
              << op.name << " of " << a << ", " << b << " to " << y;
        }
      }
    }
  }
}

const Types kTypes[] = {
    {"f32", "f32", "f32"}, {"f16", "f16", "f16"},    {"u8a", "u8a", "u8a"},
    {"i8a", "i8a", "i8a"}, {"i16a", "i16a", "i16a"}, {"i16d", "i8d", "i16d"},
    {"i32", "i32", "i32"}, {"i64", "i32", "i64"},    {"f32", "u8a", "i8a"},
    {"i8a", "f16", "f32"}, {"u16a", "f32", "u16a"},  {"u8", "i8", "i16"},
};

// An operator takes the first three and every third of the others; the long run
// takes all.
bool Takes(size_t op, size_t types) {
  return types < 3 || (op + types) % 3 == 0 || RunsLongTests();
}

TEST(Binary, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(42);
  Sample sample(3);
  for (size_t o = 0; o < std::size(kOps); ++o) {
    const Op& op = kOps[o];
    for (size_t t = 0; t < std::size(kTypes); ++t) {
      if (!Takes(o, t)) continue;
      const Types& types = kTypes[t];
      for (int repeat = 0; repeat < 8; ++repeat) {
        if (!sample.Takes()) continue;
        const Dims shape = RandomShape(1 + rng() % 8, rng, 3000);
        const auto node =
            MakeBinary(op.name, DescOf(types.a, Shrink(shape, rng), rng),
                       DescOf(types.b, Shrink(shape, rng), rng),
                       DescOf(types.y, shape, rng));
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng))
            << op.name << types.a << types.b << types.y;
      }
    }
  }
}

TEST(Binary, EverySizeAroundAVector) {
  std::mt19937 rng = SeededRng(43);
  Sample sample(5);
  for (const Op& op : kOps) {
    for (const int64_t size : {1, 15, 16, 17, 31, 32, 33}) {
      for (const Dims& other : {Dims{size}, Dims{1}, Dims{1, 3}}) {
        for (const std::string type : {"f32", "u8a", "i32"}) {
          if (!sample.Takes()) continue;
          const auto node =
              MakeBinary(op.name, DescOf(type, {size}, rng),
                         DescOf(type, other, rng), DescOf(type, {1}, rng));
          ASSERT_OK(node);
          ASSERT_OK(CheckKernels(*node, rng)) << op.name << type << size;
        }
      }
    }
  }
}

TEST(Binary, Policies) {
  std::mt19937 rng = SeededRng(44);
  Sample sample(3);
  for (const Op& op : kOps) {
    for (const char* policy : {ir::kOverflowPolicy, ir::kRoundingPolicy}) {
      for (const std::string type : {"u8a", "i16d", "i32", "f32"}) {
        if (!sample.Takes()) continue;
        const Dims shape = RandomShape(3, rng, 2000);
        const auto node = MakeBinary(
            op.name, DescOf(type, shape, rng), DescOf(type, shape, rng),
            DescOf(type, shape, rng), {{policy, int64_t{0}}});
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng)) << op.name << type << policy;
      }
    }
  }
}

// 0 / 0 is NaN in float, the code 0 in codes: no tail lane may hold it, unless
// it stands for 0.
TEST(Binary, BlockedLayoutsWhereTailLanesStayZero) {
  std::mt19937 rng = SeededRng(45);
  const Dims shape = {3, 5, 17, 2};
  for (const Op& op : kOps) {
    for (const std::string type : {"f32", "f16", "u8a", "i8d", "i32"}) {
      for (const Dims& other : {shape, Dims{1, 1, 17, 1}}) {
        const auto node =
            MakeBinary(op.name, DescOf(type, shape, rng),
                       DescOf(type, other, rng), DescOf(type, {1}, rng));
        ASSERT_OK(node);
        const bool zero = node->output().quantization.ZeroPoint() == 0 &&
                          !ir::IsFloat(node->output().type);
        const bool blocks = std::string(op.kernel) != "div" || zero;
        EXPECT_EQ(LayoutCount(*node, op.kernel), blocks ? 2 : 1)
            << op.name << type;
        ASSERT_OK(CheckKernels(*node, rng)) << op.name << type;
      }
    }
  }
}

// A work-item makes several of them; operands have one for all, one element for
// each, or other ones for planes.
TEST(Binary, ManyRowsOfOneVector) {
  std::mt19937 rng = SeededRng(47);
  const Dims pixels = {40, 30, 48, 2};
  const Dims rows = {16, 61, 40};
  const std::pair<Dims, Dims> shapes[] = {
      {pixels, {1, 1, 48, 1}}, {rows, {16}},        {rows, {1, 61, 40}},
      {rows, {16, 1, 40}},     {rows, {16, 61, 1}}, {rows, {1, 1, 40}}};
  for (const std::string type : {"f32", "u8a"}) {
    for (const auto& [whole, part] : shapes) {
      const auto a = DescOf(type, whole, rng);
      const auto b = DescOf(type, part, rng);
      const auto y = DescOf(type, {1}, rng);
      for (const auto& node :
           {MakeBinary("tim.Sub", a, b, y), MakeBinary("tim.Sub", b, a, y)}) {
        ASSERT_OK(node);
        EXPECT_OK(CheckKernels(*node, rng)) << type << b.ToString();
      }
    }
  }
}

// Rows of less than a vector, of some and of what is none, beside an operand
// that has one element for each, one row for all, or as many; in place, too.
TEST(Binary, RowsThatEndBetweenVectors) {
  std::mt19937 rng = SeededRng(48);
  for (const std::string type : {"f32", "u8a"}) {
    for (const int64_t length : {15, 16, 17, 31, 33, 49, 1031}) {
      const auto whole = DescOf(type, {length, 37}, rng);
      for (const Dims& dims : {Dims{1, 37}, {length}, {length, 37}}) {
        const auto part = DescOf(type, dims, rng);
        const auto y = DescOf(type, {1}, rng);
        for (const auto& node : {MakeBinary("tim.Multiply", whole, part, y),
                                 MakeBinary("tim.Multiply", part, whole, y)}) {
          ASSERT_OK(node);
          SCOPED_TRACE(StrCat(node->input(0).ToString(), " and ",
                              node->input(1).ToString()));
          EXPECT_OK(CheckKernels(*node, rng));
          const auto inputs = RandomInputs(*node, rng);
          const auto expected = Eval(*node, inputs);
          const auto pairs = InPlacePairs(*node, "multiply", 0);
          ASSERT_OK(expected);
          ASSERT_OK(pairs);
          ASSERT_FALSE(pairs->empty());
          for (const ir::InPlacePair& pair : *pairs) {
            const auto found =
                RunKernel(*node, "multiply", 0, inputs, {.in_place = pair});
            ASSERT_OK(found);
            EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
          }
        }
      }
    }
  }
}

TEST(Binary, FourBitAndPerChannelRunInEval) {
  std::mt19937 rng = SeededRng(46);
  for (const Op& op : kOps) {
    for (const std::string type : {"u4a", "i8c"}) {
      const auto desc = DescOf(type, {4, 3}, rng);
      const auto node = MakeBinary(op.name, desc, desc, desc);
      ASSERT_OK(node);
      EXPECT_TRUE(SupportedKernels(*node).empty());
    }
  }
}

TEST(Binary, RejectedInputs) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto b8 = Desc(DataType::kBool8, {4});
  const auto u64 = Desc(DataType::kUint64, {4});
  for (const Op& op : kOps) {
    const auto make = [&](const ir::TensorDesc& a, const ir::TensorDesc& b,
                          const ir::TensorDesc& y) {
      return MakeBinary(op.name, a, b, y);
    };
    EXPECT_ERROR(make(f32, Desc(DataType::kFloat32, {3}), f32),
                 "shapes [4] and [3] do not broadcast: along axis 0 4 meets 3");
    EXPECT_ERROR(make(b8, f32, f32), "input 0 is bool8");
    EXPECT_ERROR(make(f32, u64, f32), "input 1 is uint64");
    EXPECT_ERROR(make(f32, f32, b8), "output 0 is bool8");
    EXPECT_ERROR(MakeNode(op.name, {}, {f32}, {f32}), "input 1 is not bound");
    EXPECT_ERROR(
        MakeNode(op.name, {}, {f32, f32}, {Desc(DataType::kFloat32, {2, 3})}),
        "declared as [2, 3]");
  }
}

TEST(Binary, OnlyMultiplyAndDivHaveAFiniteScale) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  for (const Op& op : kOps) {
    const ir::OpSchema* schema = ops::BuiltinOperators().Find(op.name);
    ASSERT_NE(schema, nullptr);
    EXPECT_NE(schema->permute_rule, nullptr);
    const auto scaled = [&](double scale) {
      return MakeBinary(op.name, f32, f32, f32, {{"scale", scale}});
    };
    if (schema->attributes.empty()) {
      EXPECT_ERROR(scaled(2.0), "has no attribute 'scale'");
      continue;
    }
    EXPECT_OK(scaled(2.0));
    EXPECT_ERROR(scaled(INFINITY), "scale is inf, expected a finite number");
    EXPECT_ERROR(scaled(NAN), "scale is nan, expected a finite number");
  }
}

}  // namespace
}  // namespace tim::testing
