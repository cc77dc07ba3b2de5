// Element-wise operations of several inputs: formulas, broadcast, types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

using Function = std::function<double(double, double)>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  const char* name;
  tim_graph_op_kind_t kind;
  Function formula;
  double of_7_and_2;
  bool boolean = false;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"Add", tim_graph_op_add, [](double x, double y) { return x + y; }, 9},
      {"Subtract", tim_graph_op_subtract,
       [](double x, double y) { return x - y; }, 5},
      {"Multiply", tim_graph_op_multiply,
       [](double x, double y) { return x * y; }, 14},
      {"Divide", tim_graph_op_divide, [](double x, double y) { return x / y; },
       3.5},
      {"Maximum", tim_graph_op_maximum,
       [](double x, double y) { return std::max(x, y); }, 7},
      {"Minimum", tim_graph_op_minimum,
       [](double x, double y) { return std::min(x, y); }, 2},
      {"SquaredDifference", tim_graph_op_squared_difference,
       [](double x, double y) { return (x - y) * (x - y); }, 25},
      {"GreaterEqual", tim_graph_op_greater_equal,
       [](double x, double y) { return x >= y ? 1.0 : 0.0; }, 1, true},
  };
  return cases;
}

EvaluatedOp OpOf(const Case& one, const Array& x, const Array& y) {
  EvaluatedOp op(one.kind);
  op.Input(x).Input(y).Output(one.boolean ? tim_graph_boolean : x.type);
  return op;
}

// Element of `array`, stretched to `dims`, at the flat index `i` of these.
double At(const Array& array, const Dims& dims, int64_t i) {
  int64_t flat = 0;
  int64_t stride = 1;
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t extent = dims[dims.size() - 1 - k];
    const int64_t at = i % extent;
    i /= extent;
    if (k >= array.dims.size()) continue;
    const int64_t own = array.dims[array.dims.size() - 1 - k];
    if (own != 1) flat += at * stride;
    stride *= own;
  }
  return array.values[static_cast<size_t>(flat)];
}

Numbers Expected(const Function& formula, const Array& x, const Array& y,
                 const Dims& dims) {
  Numbers out;
  const int64_t count = CountOf(Array{.dims = dims});
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(formula(At(x, dims, i), At(y, dims, i)));
  }
  return out;
}

// None is near 0, so that quotients are small.
Array Sources(const Dims& dims, uint32_t seed) {
  Array x = Random(dims, seed);
  for (double& value : x.values) {
    value = static_cast<float>(value < 0 ? value - 0.5 : value + 0.5);
  }
  return x;
}

struct Shapes {
  Dims x, y, out;
};

const std::vector<Shapes>& Broadcasts() {
  static const std::vector<Shapes> shapes = {
      {{2, 3}, {2, 3}, {2, 3}},
      {{2, 3}, {3}, {2, 3}},
      {{3}, {2, 3}, {2, 3}},
      {{2, 1, 5}, {3, 1}, {2, 3, 5}},
      {{4, 1}, {1, 33}, {4, 33}},
      {{2, 3}, {}, {2, 3}},
      {{}, {1, 1}, {1, 1}},
      {{}, {}, {}},
      {{1}, {}, {1}},
  };
  return shapes;
}

TEST(Binary, NumbersWorkedOutByHand) {
  for (const Case& one : Cases()) {
    const Array y =
        OpOf(one, {.dims = {1}, .values = {7}}, {.dims = {1}, .values = {2}})
            .First();
    EXPECT_EQ(y.values, Numbers{one.of_7_and_2}) << one.name;
  }
}

TEST(Binary, AlignAtTheLastAxisInEveryType) {
  const std::pair<tim_graph_data_type_t, double> tolerances[] = {
      {tim_graph_f32, 1e-6}, {tim_graph_f16, 6e-4}, {tim_graph_bf16, 4.5e-3}};
  for (const Case& one : Cases()) {
    for (const auto& [type, tolerance] : tolerances) {
      for (const Shapes& shapes : Broadcasts()) {
        SCOPED_TRACE(std::string(one.name) + " of " + tim_graph_dt2str(type));
        const Array x = Rounded(Sources(shapes.x, 1), type);
        const Array y = Rounded(Sources(shapes.y, 2), type);
        const Array found = OpOf(one, x, y).First();
        EXPECT_EQ(found.dims, shapes.out);
        ExpectNear(found.values, Expected(one.formula, x, y, shapes.out),
                   tolerance);
      }
    }
  }
}

TEST(Binary, DimsThatDoNotBroadcastAreRefused) {
  for (const Case& one : Cases()) {
    const Array x = Random({2, 3}, 1);
    EXPECT_EQ(OpOf(one, x, Random({2}, 1)).CompileCode(),
              tim_graph_invalid_shape)
        << one.name;
    EvaluatedOp none = OpOf(one, x, Random({3}, 1));
    none.Set(tim_graph_op_attr_auto_broadcast, std::string("none"));
    EXPECT_EQ(none.CompileCode(), tim_graph_invalid_shape) << one.name;
    ExpectRefused(none.Run().status(), "auto_broadcast is none");
    EvaluatedOp equal = OpOf(one, x, Random({2, 3}, 2));
    equal.Set(tim_graph_op_attr_auto_broadcast, std::string("none"));
    EXPECT_EQ(equal.First().dims, x.dims) << one.name;
    EvaluatedOp unknown = OpOf(one, x, x);
    unknown.Set(tim_graph_op_attr_auto_broadcast, std::string("pdpd"));
    ExpectRefused(unknown.Check(), "numpy");
  }
}

TEST(Binary, NothingIsBroadcastToNothing) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const Array nothing = {.dims = {4, 0}, .values = {}};
    EXPECT_EQ(OpOf(one, nothing, Random({1}, 1)).First().dims, (Dims{4, 0}));
    EXPECT_EQ(
        OpOf(one, Random({4, 1}, 1), {.dims = {0}, .values = {}}).First().dims,
        (Dims{4, 0}));
    EXPECT_EQ(OpOf(one, nothing, Random({3, 1}, 1)).CompileCode(),
              tim_graph_invalid_shape);
  }
}

TEST(Binary, TypesAreChecked) {
  const Array x = {.dims = {1}, .values = {1}};
  const Array integer = {.dims = {1}, .values = {1}, .type = tim_graph_s32};
  const Array half = {.dims = {1}, .values = {1}, .type = tim_graph_f16};
  for (const auto kind :
       {tim_graph_op_multiply, tim_graph_op_divide, tim_graph_op_maximum,
        tim_graph_op_minimum, tim_graph_op_squared_difference}) {
    EXPECT_FALSE(
        EvaluatedOp(kind).Input(integer).Input(integer).Output().Check().ok());
  }
  for (const auto kind : {tim_graph_op_maximum, tim_graph_op_minimum,
                          tim_graph_op_squared_difference}) {
    EXPECT_FALSE(EvaluatedOp(kind).Input(x).Input(half).Output().Check().ok());
  }
  EvaluatedOp compared(tim_graph_op_greater_equal);
  EXPECT_FALSE(compared.Input(x).Input(x).Output().Check().ok());
  EvaluatedOp mixed(tim_graph_op_greater_equal);
  EXPECT_FALSE(
      mixed.Input(x).Input(integer).Output(tim_graph_boolean).Check().ok());
  EXPECT_FALSE(EvaluatedOp(tim_graph_op_add).Input(x).Output().Check().ok());
}

// ---- Mixed types.

Array RunMixed(tim_graph_op_kind_t kind, const Array& x, const Array& y,
               tim_graph_data_type_t type) {
  return EvaluatedOp(kind).Input(x).Input(y).Output(type).First();
}

TEST(Binary, IntegersAreExact) {
  const Array x = {
      .dims = {3}, .values = {16777217, -2147483647, 5}, .type = tim_graph_s32};
  const Array y = {.dims = {1}, .values = {1}, .type = tim_graph_s32};
  EXPECT_EQ(RunMixed(tim_graph_op_add, x, y, tim_graph_s32).values,
            (Numbers{16777218, -2147483646, 6}));
  EXPECT_EQ(RunMixed(tim_graph_op_subtract, x, y, tim_graph_s32).values,
            (Numbers{16777216, -2147483648.0, 4}));
  const Array z = {.dims = {1}, .values = {16777216}, .type = tim_graph_s32};
  EXPECT_EQ(
      RunMixed(tim_graph_op_greater_equal, z, x, tim_graph_boolean).values,
      (Numbers{0, 1, 1}));
}

TEST(Binary, MixedTypesAreRoundedOnce) {
  // The sum 2049 is no float16 and rounds to 2048; as float32 and as an
  // integer it is exact.
  const Array x = {.dims = {1}, .values = {2048}, .type = tim_graph_f16};
  const Array y = {.dims = {1}, .values = {1}, .type = tim_graph_f16};
  EXPECT_EQ(RunMixed(tim_graph_op_add, x, y, tim_graph_f16).values.at(0), 2048);
  EXPECT_EQ(RunMixed(tim_graph_op_add, x, y, tim_graph_f32).values.at(0), 2049);
  EXPECT_EQ(RunMixed(tim_graph_op_add, x, y, tim_graph_s32).values.at(0), 2049);
  const Array integer = {.dims = {1}, .values = {3}, .type = tim_graph_s32};
  const Array real = {.dims = {1}, .values = {0.75}};
  EXPECT_EQ(RunMixed(tim_graph_op_subtract, integer, real, tim_graph_f32)
                .values.at(0),
            2.25);
  EXPECT_EQ(RunMixed(tim_graph_op_subtract, real, integer, tim_graph_bf16)
                .values.at(0),
            -2.25);
  EXPECT_EQ(
      RunMixed(tim_graph_op_add, integer, real, tim_graph_s32).values.at(0), 4);
  EXPECT_EQ(RunMixed(tim_graph_op_add, integer, y, tim_graph_f16).values.at(0),
            4);
  EXPECT_EQ(
      RunMixed(tim_graph_op_add, integer, integer, tim_graph_f16).values.at(0),
      6);
  EXPECT_EQ(
      RunMixed(tim_graph_op_multiply, x, real, tim_graph_bf16).values.at(0),
      1536);
  EXPECT_EQ(RunMixed(tim_graph_op_divide, real, x, tim_graph_f32).values.at(0),
            0.75 / 2048);
}

TEST(Binary, InfinityAndNan) {
  const Array x = {.dims = {3}, .values = {1, -1, 0}};
  const Array zero = {.dims = {}, .values = {0}};
  const Numbers found =
      RunMixed(tim_graph_op_divide, x, zero, tim_graph_f32).values;
  EXPECT_EQ(found.at(0), kInfinity);
  EXPECT_EQ(found.at(1), -kInfinity);
  EXPECT_TRUE(std::isnan(found.at(2)));
  const Array nan = {.dims = {}, .values = {std::nan("")}};
  EXPECT_EQ(
      RunMixed(tim_graph_op_greater_equal, nan, x, tim_graph_boolean).values,
      (Numbers{0, 0, 0}));
}

// ---- Select.

EvaluatedOp SelectOf(const Array& cond, const Array& a, const Array& b) {
  return EvaluatedOp(tim_graph_op_select)
      .Input(cond)
      .Input(a)
      .Input(b)
      .Output(a.type);
}

Array Condition(const Dims& dims, Numbers values) {
  return {.dims = dims, .values = std::move(values), .type = tim_graph_boolean};
}

TEST(Select, TakesOneOrTheOther) {
  for (const auto type : {tim_graph_f32, tim_graph_bf16, tim_graph_f16}) {
    const Array a = {
        .dims = {2, 3}, .values = {1, 2, 3, 4, 5, 6}, .type = type};
    const Array b = {.dims = {3}, .values = {-1, -2, -3}, .type = type};
    EXPECT_EQ(
        SelectOf(Condition({2, 3}, {1, 0, 1, 0, 0, 1}), a, b).First().values,
        (Numbers{1, -2, 3, -1, -2, 6}));
    EXPECT_EQ(SelectOf(Condition({2, 1}, {0, 1}), a, b).First().values,
              (Numbers{-1, -2, -3, 4, 5, 6}));
    EXPECT_EQ(SelectOf(Condition({}, {1}), a, b).First().values, a.values);
  }
}

TEST(Select, TheConditionStretchesNothing) {
  const Array a = Random({3}, 1);
  EXPECT_EQ(SelectOf(Condition({2, 3}, {1, 0, 1, 0, 0, 1}), a, a).CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(SelectOf(Condition({2}, {1, 0}), a, a).CompileCode(),
            tim_graph_invalid_shape);
  EvaluatedOp none = SelectOf(Condition({1}, {1}), a, a);
  none.Set(tim_graph_op_attr_auto_broadcast, std::string("none"));
  EXPECT_EQ(none.CompileCode(), tim_graph_invalid_shape);
  const Array nothing = {.dims = {2, 0}, .values = {}};
  EXPECT_EQ(SelectOf(Condition({2, 1}, {1, 0}), nothing, nothing).First().dims,
            (Dims{2, 0}));
}

TEST(Select, TypesAreChecked) {
  const Array a = Random({1}, 1);
  EXPECT_FALSE(SelectOf(a, a, a).Check().ok());
  const Array half = {.dims = {1}, .values = {1}, .type = tim_graph_f16};
  EXPECT_FALSE(SelectOf(Condition({1}, {1}), a, half).Check().ok());
}

// ---- BiasAdd and PReLU.

EvaluatedOp WithParameter(tim_graph_op_kind_t kind, const Array& src,
                          const Array& parameter,
                          const std::string& format = "") {
  EvaluatedOp op(kind);
  op.Input(src).Input(parameter).Output(src.type);
  if (!format.empty()) op.Set(tim_graph_op_attr_data_format, format);
  return op;
}

double SlopedOf(double x, double slope) { return x >= 0 ? x : slope * x; }

TEST(ChannelParameters, LieAlongTheChannelsOfEachFormat) {
  struct Kind {
    tim_graph_op_kind_t kind;
    Function formula;
  };
  const Kind kinds[] = {
      {tim_graph_op_bias_add, [](double x, double y) { return x + y; }},
      {tim_graph_op_prelu, SlopedOf}};
  const std::pair<tim_graph_data_type_t, double> tolerances[] = {
      {tim_graph_f32, 1e-6}, {tim_graph_f16, 6e-4}, {tim_graph_bf16, 4.5e-3}};
  for (const Kind& one : kinds) {
    for (const auto& [type, tolerance] : tolerances) {
      const Array y = Rounded(Random({3}, 4), type);
      const Array wide = {.dims = {3, 1, 1}, .values = y.values};
      const Array ncx = Rounded(Random({2, 3, 5, 3}, 3), type);
      ExpectNear(WithParameter(one.kind, ncx, y, "NCX").First().values,
                 Expected(one.formula, ncx, wide, ncx.dims), tolerance);
      // NXC is the default.
      for (const std::string format : {"NXC", ""}) {
        ExpectNear(WithParameter(one.kind, ncx, y, format).First().values,
                   Expected(one.formula, ncx, y, ncx.dims), tolerance);
      }
      const Array matrix = Rounded(Random({4, 3}, 5), type);
      for (const std::string format : {"NCX", "NXC"}) {
        ExpectNear(WithParameter(one.kind, matrix, y, format).First().values,
                   Expected(one.formula, matrix, y, matrix.dims), tolerance);
      }
    }
  }
}

TEST(BiasAdd, NumbersWorkedOutByHand) {
  const Array src = {.dims = {1, 2, 2}, .values = {1, 2, 3, 4}};
  const Array bias = {.dims = {2}, .values = {10, 20}};
  EXPECT_EQ(
      WithParameter(tim_graph_op_bias_add, src, bias, "NCX").First().values,
      (Numbers{11, 12, 23, 24}));
  EXPECT_EQ(
      WithParameter(tim_graph_op_bias_add, src, bias, "NXC").First().values,
      (Numbers{11, 22, 13, 24}));
}

TEST(BiasAdd, BiasIsOfTheChannels) {
  const auto kind = tim_graph_op_bias_add;
  const Array src = Random({2, 3, 5}, 1);
  for (const Array& bias :
       {Random({5}, 1), Random({1}, 1), Random({3, 1}, 1), Random({}, 1)}) {
    EXPECT_EQ(WithParameter(kind, src, bias, "NCX").CompileCode(),
              tim_graph_invalid_shape);
  }
  EXPECT_EQ(WithParameter(kind, src, Random({3}, 1), "NXC").CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(WithParameter(kind, Random({3}, 1), Random({3}, 1)).CompileCode(),
            tim_graph_invalid_shape);
  ExpectRefused(WithParameter(kind, src, Random({3}, 1), "NCHW").Check(),
                "NCX");
  const Array nothing = {.dims = {0, 3}, .values = {}};
  EXPECT_EQ(WithParameter(kind, nothing, Random({3}, 1)).First().dims,
            (Dims{0, 3}));
}

TEST(Prelu, NumbersWorkedOutByHand) {
  const Array src = {.dims = {1, 2, 2}, .values = {-1, 2, -3, -4}};
  const Array slope = {.dims = {2}, .values = {10, 0.5}};
  EXPECT_EQ(WithParameter(tim_graph_op_prelu, src, slope, "NCX").First().values,
            (Numbers{-10, 2, -1.5, -2}));
  EXPECT_EQ(WithParameter(tim_graph_op_prelu, src, slope, "NXC").First().values,
            (Numbers{-10, 2, -30, -2}));
  EvaluatedOp last = WithParameter(tim_graph_op_prelu, src, slope, "NCX");
  last.Set(tim_graph_op_attr_per_channel_broadcast, false);
  EXPECT_EQ(last.First().values, (Numbers{-10, 2, -30, -2}));
}

TEST(Prelu, SlopesOfMoreAxesBroadcastOneWay) {
  const auto kind = tim_graph_op_prelu;
  const Array src = Random({2, 3, 4}, 1);
  for (const Array& slope : {Random({3, 1}, 2), Random({2, 3, 4}, 3),
                             Random({1}, 4), Random({}, 5)}) {
    ExpectNear(WithParameter(kind, src, slope, "NCX").First().values,
               Expected(SlopedOf, src, slope, src.dims), 1e-6);
  }
  for (const Array& slope :
       {Random({1, 2, 3, 4}, 2), Random({2, 1}, 3), Random({4}, 4)}) {
    EXPECT_EQ(WithParameter(kind, src, slope, "NCX").CompileCode(),
              tim_graph_invalid_shape);
  }
  EXPECT_EQ(WithParameter(kind, Random({1, 3}, 1), Random({2, 3}, 2), "NCX")
                .CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_FALSE(WithParameter(kind, src, Random({3}, 1))
                   .Set(tim_graph_op_attr_alpha, 1.0f)
                   .Check()
                   .ok());
}

}  // namespace
}  // namespace tim::graph
