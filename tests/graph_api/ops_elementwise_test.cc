// Element-wise operations of one input against their formulas in double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

using Function = std::function<double(double)>;
using Attributes = std::vector<std::pair<tim_graph_op_attr_t, AttributeValue>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ClampOf(double x, double low, double high) {
  return std::min(std::max(x, low), high);
}
double SoftPlusOf(double x) { return std::log1p(std::exp(x)); }

struct Point {
  double x;
  double y;
};

struct Case {
  std::string name;
  tim_graph_op_kind_t kind;
  Function formula;
  std::vector<Point> points;  ///< Worked out by hand.
  Attributes attributes = {};
  bool positive = false;  ///< Of sources above 0 only.
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"Abs",
       tim_graph_op_abs,
       [](double x) { return std::fabs(x); },
       {{-2.5, 2.5}, {0, 0}, {-kInfinity, kInfinity}}},
      {"Exp",
       tim_graph_op_exp,
       [](double x) { return std::exp(x); },
       {{0, 1}, {-kInfinity, 0}}},
      {"Log",
       tim_graph_op_log,
       [](double x) { return std::log(x); },
       {{1, 0}, {0, -kInfinity}},
       {},
       true},
      {"Sqrt",
       tim_graph_op_sqrt,
       [](double x) { return std::sqrt(x); },
       {{9, 3}, {0, 0}},
       {},
       true},
      {"Square",
       tim_graph_op_square,
       [](double x) { return x * x; },
       {{-3, 9}}},
      {"Sigmoid",
       tim_graph_op_sigmoid,
       [](double x) { return 1 / (1 + std::exp(-x)); },
       {{0, 0.5}, {kInfinity, 1}}},
      {"Tanh",
       tim_graph_op_tanh,
       [](double x) { return std::tanh(x); },
       {{0, 0}, {kInfinity, 1}}},
      {"Mish",
       tim_graph_op_mish,
       [](double x) { return x * std::tanh(SoftPlusOf(x)); },
       {{0, 0}}},
      {"HardSwish",
       tim_graph_op_hard_swish,
       [](double x) { return x * ClampOf(x + 3, 0, 6) / 6; },
       {{-3, 0}, {3, 3}, {0, 0}}},
      {"ReLU",
       tim_graph_op_relu,
       [](double x) { return std::max(x, 0.0); },
       {{-1, 0}, {2, 2}}},
      {"Round",
       tim_graph_op_round,
       [](double x) { return std::nearbyint(x); },
       {{0.5, 0}, {1.5, 2}, {-2.5, -2}}},
      {"Reciprocal",
       tim_graph_op_reciprocal,
       [](double x) { return 1 / x; },
       {{4, 0.25}, {0, kInfinity}},
       {},
       true},
      {"LeakyReLU",
       tim_graph_op_leaky_relu,
       [](double x) { return x >= 0 ? x : 0.125 * x; },
       {{-8, -1}, {8, 8}},
       {{tim_graph_op_attr_alpha, 0.125f}}},
      {"Elu",
       tim_graph_op_elu,
       [](double x) { return x >= 0 ? x : 0.75 * std::expm1(x); },
       {{2, 2}, {-kInfinity, -0.75}},
       {{tim_graph_op_attr_alpha, 0.75f}}},
      {"GELU",
       tim_graph_op_gelu,
       [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; },
       {{0, 0}}},
      {"GELU of tanh",
       tim_graph_op_gelu,
       [](double x) {
         const double u =
             std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
         return x * (1 + std::tanh(u)) / 2;
       },
       {{0, 0}},
       {{tim_graph_op_attr_mode, std::string("gelu_tanh")}}},
      {"HardSigmoid",
       tim_graph_op_hard_sigmoid,
       [](double x) { return ClampOf(0.25 * x + 0.5, 0, 1); },
       {{-2, 0}, {2, 1}, {1, 0.75}},
       {{tim_graph_op_attr_alpha, 0.25f}, {tim_graph_op_attr_beta, 0.5f}}},
      {"SoftPlus",
       tim_graph_op_softplus,
       SoftPlusOf,
       {{-kInfinity, 0}, {100, 100}}},
      {"SoftPlus of -2",
       tim_graph_op_softplus,
       [](double x) { return SoftPlusOf(-2 * x) / -2; },
       {{100, 0}, {-100, -100}},
       {{tim_graph_op_attr_beta, -2.0f}}},
      {"Clamp",
       tim_graph_op_clamp,
       [](double x) { return ClampOf(x, -1.5, 2.25); },
       {{-kInfinity, -1.5}, {5, 2.25}, {1, 1}},
       {{tim_graph_op_attr_min, -1.5f}, {tim_graph_op_attr_max, 2.25f}}},
      {"Clamp of crossed limits",
       tim_graph_op_clamp,
       [](double) { return 1.0; },
       {{0, 1}},
       {{tim_graph_op_attr_min, 3.0f}, {tim_graph_op_attr_max, 1.0f}}},
      {"Pow of 3",
       tim_graph_op_pow,
       [](double x) { return std::pow(x, 3); },
       {{-2, -8}},
       {{tim_graph_op_attr_beta, 3.0f}}},
      {"Pow of 0",
       tim_graph_op_pow,
       [](double) { return 1.0; },
       {{0, 1}, {kInfinity, 1}},
       {{tim_graph_op_attr_beta, 0.0f}}},
      {"Pow of 2",
       tim_graph_op_pow,
       [](double x) { return x * x; },
       {{-3, 9}},
       {{tim_graph_op_attr_beta, 2.0f}}},
      {"Pow of 1/2",
       tim_graph_op_pow,
       [](double x) { return std::sqrt(x); },
       {{16, 4}},
       {{tim_graph_op_attr_beta, 0.5f}},
       true},
      {"Pow of -1",
       tim_graph_op_pow,
       [](double x) { return 1 / x; },
       {{-4, -0.25}},
       {{tim_graph_op_attr_beta, -1.0f}},
       true},
  };
  return cases;
}

EvaluatedOp OpOf(const Case& one, const Array& x) {
  EvaluatedOp op(one.kind);
  op.Input(x).Output(x.type);
  for (const auto& [attribute, value] : one.attributes) {
    op.Set(attribute, value);
  }
  return op;
}

// From -6 to 6.
Array Sources(bool positive, const Dims& dims = {3, 1, 33}) {
  Array x = Random(dims, 7);
  for (double& value : x.values) {
    value = positive ? std::fabs(6 * value) + 0.01 : 6 * value;
    value = static_cast<float>(value);
  }
  return x;
}

TEST(Elementwise, PointsAreThoseOfTheFormula) {
  for (const Case& one : Cases()) {
    Array x;
    for (const Point& point : one.points) x.values.push_back(point.x);
    x.dims = {static_cast<int64_t>(x.values.size())};
    const Array y = OpOf(one, x).First();
    ASSERT_EQ(y.dims, x.dims) << one.name;
    for (size_t i = 0; i < one.points.size(); ++i) {
      EXPECT_FLOAT_EQ(static_cast<float>(y.values[i]),
                      static_cast<float>(one.points[i].y))
          << one.name << " of " << one.points[i].x;
    }
  }
}

// Narrow types are computed in float32 and rounded once.
TEST(Elementwise, EqualTheFormulaInEveryType) {
  const std::pair<tim_graph_data_type_t, double> tolerances[] = {
      {tim_graph_f32, 1e-6}, {tim_graph_f16, 6e-4}, {tim_graph_bf16, 4.5e-3}};
  for (const Case& one : Cases()) {
    for (const auto& [type, tolerance] : tolerances) {
      SCOPED_TRACE(one.name + " of " + tim_graph_dt2str(type));
      const Array x = Rounded(Sources(one.positive), type);
      Array expected = x;
      for (double& value : expected.values) value = one.formula(value);
      const Array y = OpOf(one, x).First();
      EXPECT_EQ(y.dims, x.dims);
      ExpectNear(y.values, expected.values, tolerance);
    }
  }
}

TEST(Elementwise, ScalarsStayScalars) {
  for (const Case& one : Cases()) {
    const Array y = OpOf(one, {.dims = {}, .values = {0.5}}).First();
    EXPECT_EQ(y.dims, Dims()) << one.name;
    ExpectNear(y.values, {one.formula(0.5)}, 1e-6);
  }
}

TEST(Elementwise, NothingOfNothing) {
  for (const Case& one : Cases()) {
    const Array y = OpOf(one, {.dims = {2, 0}, .values = {}}).First();
    EXPECT_EQ(y.dims, (Dims{2, 0})) << one.name;
  }
}

TEST(Elementwise, NanStaysNan) {
  for (const auto kind :
       {tim_graph_op_abs, tim_graph_op_exp, tim_graph_op_sqrt,
        tim_graph_op_tanh, tim_graph_op_mish, tim_graph_op_gelu}) {
    const Array y = EvaluatedOp(kind)
                        .Input({.dims = {1}, .values = {std::nan("")}})
                        .Output()
                        .First();
    EXPECT_TRUE(std::isnan(y.values.at(0))) << kind;
  }
}

TEST(Elementwise, RulesAreChecked) {
  const Array x = {.dims = {1}, .values = {1}};
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_FALSE(OpOf(one, x).Input(x).Check().ok());
    EvaluatedOp integers(one.kind);
    EXPECT_FALSE(
        integers.Input({.dims = {1}, .values = {1}, .type = tim_graph_s32})
            .Output(tim_graph_s32)
            .Check()
            .ok());
    EvaluatedOp mixed(one.kind);
    EXPECT_FALSE(mixed.Input(x).Output(tim_graph_f16).Check().ok());
    EXPECT_FALSE(
        OpOf(one, x).Set(tim_graph_op_attr_groups, int64_t{1}).Check().ok());
  }
  const std::pair<tim_graph_op_kind_t, const char*> required[] = {
      {tim_graph_op_leaky_relu, "alpha"},   {tim_graph_op_elu, "alpha"},
      {tim_graph_op_hard_sigmoid, "alpha"}, {tim_graph_op_clamp, "min"},
      {tim_graph_op_pow, "beta"},           {tim_graph_op_gen_index, "axis"}};
  for (const auto& [kind, attribute] : required) {
    const auto type =
        kind == tim_graph_op_gen_index ? tim_graph_s32 : tim_graph_f32;
    ExpectRefused(EvaluatedOp(kind).Input(x).Output(type).Check(), attribute);
  }
  ExpectRefused(EvaluatedOp(tim_graph_op_gelu)
                    .Input(x)
                    .Output()
                    .Set(tim_graph_op_attr_mode, std::string("erf"))
                    .Check(),
                "gelu_tanh");
}

TEST(TypeCast, RoundsToNearestEven) {
  // Halfway between two neighbours of each type.
  const Array x = {.dims = {4},
                   .values = {1 + 0x1p-11, 1 + 3 * 0x1p-11, 70000, -1.5}};
  EXPECT_EQ(EvaluatedOp(tim_graph_op_type_cast)
                .Input(x)
                .Output(tim_graph_f16)
                .First()
                .values,
            (Numbers{1, 1 + 0x1p-9, kInfinity, -1.5}));
  const Array y = {.dims = {2}, .values = {1 + 0x1p-8, 1 + 3 * 0x1p-8}};
  EXPECT_EQ(EvaluatedOp(tim_graph_op_type_cast)
                .Input(y)
                .Output(tim_graph_bf16)
                .First()
                .values,
            (Numbers{1, 1 + 0x1p-6}));
  for (const auto type : {tim_graph_f16, tim_graph_bf16}) {
    const Array narrow = Rounded(Sources(false), type);
    EXPECT_EQ(EvaluatedOp(tim_graph_op_type_cast)
                  .Input(narrow)
                  .Output(tim_graph_f32)
                  .First()
                  .values,
              narrow.values);
  }
}

TEST(TypeCast, IsToAndFromFloat32) {
  const std::pair<tim_graph_data_type_t, tim_graph_data_type_t> refused[] = {
      {tim_graph_f32, tim_graph_f32},
      {tim_graph_f16, tim_graph_bf16},
      {tim_graph_bf16, tim_graph_f16},
      {tim_graph_bf16, tim_graph_bf16}};
  for (const auto& [from, to] : refused) {
    ExpectRefused(EvaluatedOp(tim_graph_op_type_cast)
                      .Input({.dims = {1}, .values = {1}, .type = from})
                      .Output(to)
                      .Check(),
                  "expected f32 for one of them");
  }
}

TEST(Reorder, KeepsEveryElementOfEveryType) {
  for (const auto type : {tim_graph_f32, tim_graph_bf16, tim_graph_f16,
                          tim_graph_s32, tim_graph_s8, tim_graph_u8}) {
    const Array x = {
        .dims = {2, 3}, .values = {0, 1, 2, 127, 64, 5}, .type = type};
    const Array y =
        EvaluatedOp(tim_graph_op_reorder).Input(x).Output(type).First();
    EXPECT_EQ(y.dims, x.dims);
    EXPECT_EQ(y.values, x.values) << tim_graph_dt2str(type);
  }
  const Array large = {
      .dims = {2}, .values = {2147483647, -16777217}, .type = tim_graph_s32};
  EXPECT_EQ(EvaluatedOp(tim_graph_op_reorder)
                .Input(large)
                .Output(tim_graph_s32)
                .First()
                .values,
            large.values);
}

TEST(Reorder, KeepsTheType) {
  ExpectRefused(EvaluatedOp(tim_graph_op_reorder)
                    .Input({.dims = {1}, .values = {1}})
                    .Output(tim_graph_bf16)
                    .Check(),
                "bf16");
}

EvaluatedOp GenIndex(const Dims& dims, int64_t axis,
                     tim_graph_data_type_t type = tim_graph_f32) {
  Array x = Random(dims, 1);
  x.type = type;
  return EvaluatedOp(tim_graph_op_gen_index)
      .Input(Rounded(std::move(x), type))
      .Output(tim_graph_s32)
      .Set(tim_graph_op_attr_axis, axis);
}

TEST(GenIndex, CountsAlongItsAxis) {
  for (const auto type : {tim_graph_f32, tim_graph_bf16, tim_graph_f16}) {
    EXPECT_EQ(GenIndex({2, 3}, 1, type).First().values,
              (Numbers{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(GenIndex({2, 3}, -2, type).First().values,
              (Numbers{0, 0, 0, 1, 1, 1}));
  }
  const Array y = GenIndex({2, 3, 2}, 1).First();
  EXPECT_EQ(y.dims, (Dims{2, 3, 2}));
  EXPECT_EQ(y.values, (Numbers{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
}

TEST(GenIndex, AxisIsOfTheSource) {
  EXPECT_EQ(GenIndex({2, 3}, 2).CompileCode(), tim_graph_invalid_shape);
  EXPECT_EQ(GenIndex({2, 3}, -3).CompileCode(), tim_graph_invalid_shape);
  EXPECT_EQ(GenIndex({2, 0}, 2).CompileCode(), tim_graph_invalid_shape);
  EXPECT_EQ(GenIndex({}, 0).CompileCode(), tim_graph_invalid_shape);
  EXPECT_EQ(GenIndex({2, 0}, 0).First().dims, (Dims{2, 0}));
}

}  // namespace
}  // namespace tim::graph
