// StaticReshape, StaticTranspose, Concat, and the marks End and Wildcard.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

constexpr tim_graph_data_type_t kFloats[] = {tim_graph_f32, tim_graph_bf16,
                                             tim_graph_f16};

Array Counted(const Dims& dims, tim_graph_data_type_t type = tim_graph_f32) {
  Array array = {.dims = dims, .values = {}, .type = type};
  for (int64_t i = 0; i < CountOf(array); ++i) {
    array.values.push_back(static_cast<double>(i));
  }
  return array;
}

// ---- StaticReshape.

EvaluatedOp Reshape(const Array& src, const Dims& shape, bool special_zero) {
  return EvaluatedOp(tim_graph_op_static_reshape)
      .Input(src)
      .Output(src.type)
      .Set(tim_graph_op_attr_shape, shape)
      .Set(tim_graph_op_attr_special_zero, special_zero);
}

TEST(StaticReshape, KeepsTheOrderOfElements) {
  struct Shapes {
    Dims src, shape;
    bool special_zero;
    Dims dst;
  };
  const Shapes all[] = {
      {{2, 3, 4}, {4, 6}, false, {4, 6}},
      {{2, 3, 4}, {-1}, false, {24}},
      {{2, 3, 4}, {3, -1, 2}, false, {3, 4, 2}},
      {{2, 3, 4}, {0, -1}, true, {2, 12}},
      {{2, 3, 4}, {0, 0, 0}, true, {2, 3, 4}},
      {{1, 1}, {}, false, {}},
      {{}, {1, -1, 1}, false, {1, 1, 1}},
      {{2, 3}, {2, 3}, false, {2, 3}},
      {{0, 3}, {3, 0}, false, {3, 0}},
      {{0, 3}, {-1, 3}, false, {0, 3}},
      {{2, 0}, {0, 5, 0}, false, {0, 5, 0}},
  };
  for (const Shapes& one : all) {
    for (const auto type : kFloats) {
      const Array src = Counted(one.src, type);
      const Array dst = Reshape(src, one.shape, one.special_zero).First();
      EXPECT_EQ(dst.dims, one.dst);
      EXPECT_EQ(dst.values, src.values);
    }
  }
}

TEST(StaticReshape, ShapesThatDoNotFitAreRefused) {
  const Array src = Counted({2, 3});
  for (const Dims& shape : std::vector<Dims>{{7},
                                             {-1, 4},
                                             {-1, -1},
                                             {-2, -3},
                                             {0, -1},
                                             {},
                                             {int64_t{1} << 62, 8}}) {
    EXPECT_EQ(Reshape(src, shape, false).CompileCode(), tim_graph_invalid_shape)
        << StrJoin(shape, ", ");
  }
  EXPECT_EQ(Reshape(src, {2, 3, 0}, true).CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(Reshape(Counted({0, 3}), {2, 3}, false).CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(Reshape(src, {1, 1, 1, 1, 1, 1, 1, 2, 3}, false).CompileCode(),
            tim_graph_unimplemented);
}

TEST(StaticReshape, AttributesAreRequired) {
  const Array src = Counted({2});
  ExpectRefused(EvaluatedOp(tim_graph_op_static_reshape)
                    .Input(src)
                    .Output()
                    .Set(tim_graph_op_attr_special_zero, false)
                    .Check(),
                "shape");
  ExpectRefused(EvaluatedOp(tim_graph_op_static_reshape)
                    .Input(src)
                    .Output()
                    .Set(tim_graph_op_attr_shape, Dims{2})
                    .Check(),
                "special_zero");
  EXPECT_FALSE(EvaluatedOp(tim_graph_op_static_reshape)
                   .Input(src)
                   .Output(tim_graph_f16)
                   .Set(tim_graph_op_attr_shape, Dims{2})
                   .Set(tim_graph_op_attr_special_zero, false)
                   .Check()
                   .ok());
}

// ---- StaticTranspose.

EvaluatedOp Transpose(const Array& src, const Dims& order) {
  return EvaluatedOp(tim_graph_op_static_transpose)
      .Input(src)
      .Output(src.type)
      .Set(tim_graph_op_attr_order, order);
}

TEST(StaticTranspose, MovesAxes) {
  const std::pair<Dims, std::vector<size_t>> orders[] = {
      {{2, 0, 1}, {2, 0, 1}},   {{1, 2, 0}, {1, 2, 0}}, {{0, 2, 1}, {0, 2, 1}},
      {{-1, 0, -2}, {2, 0, 1}}, {{}, {2, 1, 0}},        {{0, 1, 2}, {0, 1, 2}}};
  for (const auto& [order, axes] : orders) {
    for (const auto type : kFloats) {
      const Array src = Counted({2, 3, 5}, type);
      const Array dst = Transpose(src, order).First();
      const Array expected = Permuted(src, axes);
      EXPECT_EQ(dst.dims, expected.dims);
      EXPECT_EQ(dst.values, expected.values);
    }
  }
  EXPECT_EQ(Transpose(Counted({2, 2}), {1, 0}).First().values,
            (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(Transpose(Counted({}), {}).First().values, Numbers{0});
  EXPECT_EQ(Transpose(Counted({0, 3, 2}), {1, 0, 2}).First().dims,
            (Dims{3, 0, 2}));
}

TEST(StaticTranspose, OrdersThatAreNoneAreRefused) {
  for (const Dims& order :
       std::vector<Dims>{{0}, {0, 1, 2}, {0, 2}, {0, -3}, {1, 1}, {1, -1}}) {
    EXPECT_EQ(Transpose(Counted({2, 3}), order).CompileCode(),
              tim_graph_invalid_shape)
        << StrJoin(order, ", ");
  }
  EXPECT_EQ(Transpose(Counted({0, 3}), {1, 1}).CompileCode(),
            tim_graph_invalid_shape);
  ExpectRefused(EvaluatedOp(tim_graph_op_static_transpose)
                    .Input(Counted({2}))
                    .Output()
                    .Check(),
                "order");
}

// ---- Concat.

EvaluatedOp Concat(const std::vector<Array>& sources, int64_t axis) {
  EvaluatedOp op(tim_graph_op_concat);
  for (const Array& src : sources) op.Input(src);
  op.Output(sources.at(0).type).Set(tim_graph_op_attr_axis, axis);
  return op;
}

TEST(Concat, JoinsAlongItsAxis) {
  for (const auto type : kFloats) {
    const Array a = Counted({2, 2}, type);
    const Array b = {.dims = {2, 1}, .values = {7, 8}, .type = type};
    for (const int64_t axis : {1, -1}) {
      const Array joined = Concat({a, b}, axis).First();
      EXPECT_EQ(joined.dims, (Dims{2, 3}));
      EXPECT_EQ(joined.values, (Numbers{0, 1, 7, 2, 3, 8}));
    }
    const Array rows =
        Concat({a, {.dims = {1, 2}, .values = {7, 8}, .type = type}}, 0)
            .First();
    EXPECT_EQ(rows.dims, (Dims{3, 2}));
    EXPECT_EQ(rows.values, (Numbers{0, 1, 2, 3, 7, 8}));
  }
}

TEST(Concat, OfOneIsACopy) {
  const Array src = Counted({2, 3});
  EXPECT_EQ(Concat({src}, 1).First().values, src.values);
}

TEST(Concat, TakesSixtyFourSources) {
  Numbers expected;
  std::vector<Array> sources;
  for (int i = 0; i < 64; ++i) {
    sources.push_back({.dims = {1}, .values = {i * 1.0}});
    expected.push_back(i);
  }
  EXPECT_EQ(Concat(sources, 0).First().values, expected);
  sources.push_back(sources[0]);
  ExpectRefused(Concat(sources, 0).Check(), "64");
}

TEST(Concat, SourcesWithoutElementsAddNothing) {
  const Array nothing = {.dims = {0, 2}, .values = {}};
  const Array some = Counted({3, 2});
  EXPECT_EQ(Concat({nothing, some}, 0).First().values, some.values);
  EXPECT_EQ(Concat({some, nothing, some}, 0).First().dims, (Dims{6, 2}));
  EXPECT_EQ(Concat({nothing, nothing}, 1).First().dims, (Dims{0, 4}));
  EXPECT_EQ(Concat({some, nothing}, 1).CompileCode(), tim_graph_invalid_shape);
}

TEST(Concat, RulesAreChecked) {
  const Array a = Counted({2, 3});
  EXPECT_EQ(Concat({a, Counted({3, 3})}, 1).CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(Concat({a, Counted({2})}, 0).CompileCode(),
            tim_graph_invalid_shape);
  EXPECT_EQ(Concat({a, a}, 2).CompileCode(), tim_graph_invalid_arguments);
  EXPECT_EQ(Concat({a, a}, -3).CompileCode(), tim_graph_invalid_arguments);
  EXPECT_FALSE(Concat({a, Counted({2, 3}, tim_graph_f16)}, 0).Check().ok());
  ExpectRefused(EvaluatedOp(tim_graph_op_concat).Input(a).Output().Check(),
                "axis");
}

// ---- Marks.

TEST(Marks, AreLegalAndNotSupported) {
  EvaluatedOp end(tim_graph_op_end);
  end.Input(Counted({2}));
  EXPECT_TRUE(end.Check().ok()) << end.Check().ToString();
  EXPECT_EQ(end.Supports().code(), StatusCode::kUnimplemented);
  EvaluatedOp of_undef(tim_graph_op_end);
  of_undef.Input({.dims = {1}, .values = {1}, .type = tim_graph_s8});
  EXPECT_TRUE(of_undef.Check().ok());
  EvaluatedOp with_output(tim_graph_op_end);
  with_output.Input(Counted({2})).Output();
  EXPECT_FALSE(with_output.Check().ok());

  EvaluatedOp wildcard(tim_graph_op_wildcard);
  EXPECT_TRUE(wildcard.Check().ok()) << wildcard.Check().ToString();
  for (int i = 0; i < 3; ++i) {
    wildcard.Input(Counted({2}));
    wildcard.Input({.dims = {1}, .values = {1}, .type = tim_graph_u8});
    wildcard.Output(tim_graph_boolean).Output(tim_graph_f32);
  }
  EXPECT_TRUE(wildcard.Check().ok()) << wildcard.Check().ToString();
  EXPECT_EQ(wildcard.Supports().code(), StatusCode::kUnimplemented);
  wildcard.Set(tim_graph_op_attr_axis, int64_t{1});
  EXPECT_FALSE(wildcard.Check().ok());
}

}  // namespace
}  // namespace tim::graph
