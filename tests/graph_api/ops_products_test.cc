// MatMul against loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "evaluated_op.h"

namespace tim::graph {
namespace {

EvaluatedOp MatMul(Array src, Array weights) {
  EvaluatedOp op(tim_graph_op_matmul);
  op.Input(std::move(src)).Input(std::move(weights));
  return op;
}

void ExpectArray(const Array& found, const Dims& dims, const Numbers& values,
                 double tolerance) {
  EXPECT_EQ(found.dims, dims);
  ExpectNear(found.values, values, tolerance);
}

// Offset of an element of `dims` that is broadcast, at `index` of `whole`.
size_t Offset(const Dims& dims, const Dims& whole, Dims index) {
  size_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t at = whole.size() - dims.size() + i;
    offset = offset * static_cast<size_t>(dims[i]) +
             static_cast<size_t>(dims[i] == 1 ? 0 : index[at]);
  }
  return offset;
}

// Matrices in the last two dims of a and b, of dims that broadcast to `dims`.
Numbers Product(const Array& a, const Array& b, bool transpose_a,
                bool transpose_b, const Dims& dims, int64_t depth) {
  Numbers out;
  const size_t rank = dims.size();
  Dims index(rank, 0);
  const Array whole = {.dims = dims};
  for (int64_t i = 0; i < CountOf(whole); ++i) {
    int64_t rest = i;
    for (size_t axis = rank; axis-- > 0;) {
      index[axis] = rest % dims[axis];
      rest /= dims[axis];
    }
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      Dims at_a = index;
      Dims at_b = index;
      at_a[rank - 1] = k;
      at_b[rank - 2] = k;
      if (transpose_a) std::swap(at_a[rank - 1], at_a[rank - 2]);
      if (transpose_b) std::swap(at_b[rank - 1], at_b[rank - 2]);
      sum += a.values[Offset(a.dims, dims, at_a)] *
             b.values[Offset(b.dims, dims, at_b)];
    }
    out.push_back(sum);
  }
  return out;
}

TEST(GraphMatMul, CountsByHand) {
  const Array a = {{2, 2}, {1, 2, 3, 4}};
  const Array b = {{2, 2}, {5, 6, 7, 8}};
  ExpectArray(MatMul(a, b).Output().First(), {2, 2}, {19, 22, 43, 50}, 0);
  ExpectArray(MatMul(a, b).Input({{2}, {100, 200}}).Output().First(), {2, 2},
              {119, 222, 143, 250}, 0);
}

TEST(GraphMatMul, TakesVectors) {
  const Array row = {{2}, {1, 2}};
  const Array matrix = {{2, 3}, {1, 2, 3, 4, 5, 6}};
  ExpectArray(MatMul(row, matrix).Output().First(), {3}, {9, 12, 15}, 0);
  ExpectArray(MatMul(matrix, {{3}, {1, 0, 2}}).Output().First(), {2}, {7, 16},
              0);
  ExpectArray(MatMul(row, {{2}, {3, 4}}).Output().First(), {}, {11}, 0);
  // Flags of vectors are ignored.
  ExpectArray(MatMul(row, matrix)
                  .Output()
                  .Set(tim_graph_op_attr_transpose_a, true)
                  .First(),
              {3}, {9, 12, 15}, 0);
  ExpectArray(MatMul({{2, 1, 2}, {1, 2, 3, 4}}, row)
                  .Output()
                  .Set(tim_graph_op_attr_transpose_b, true)
                  .First(),
              {2, 1}, {5, 11}, 0);
}

struct Case {
  Dims a;  // Without transposition.
  Dims b;
  Dims dst;
};

TEST(GraphMatMul, BroadcastsBatchesAndTransposes) {
  const std::vector<Case> cases = {
      {{3, 5}, {5, 4}, {3, 4}},
      {{2, 3, 5}, {5, 4}, {2, 3, 4}},
      {{3, 5}, {2, 5, 4}, {2, 3, 4}},
      {{2, 1, 3, 5}, {3, 5, 1}, {2, 3, 3, 1}},
      {{2, 3, 1, 7}, {2, 1, 7, 2}, {2, 3, 1, 2}},
  };
  for (const Case& test : cases) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        Dims dims_a = test.a;
        Dims dims_b = test.b;
        const int64_t depth = dims_a.back();
        if (transpose_a) std::swap(dims_a.end()[-1], dims_a.end()[-2]);
        if (transpose_b) std::swap(dims_b.end()[-1], dims_b.end()[-2]);
        const Array a = Random(dims_a, 1);
        const Array b = Random(dims_b, 2);
        const Array found = MatMul(a, b)
                                .Output()
                                .Set(tim_graph_op_attr_transpose_a, transpose_a)
                                .Set(tim_graph_op_attr_transpose_b, transpose_b)
                                .First();
        ExpectArray(found, test.dst,
                    Product(a, b, transpose_a, transpose_b, test.dst, depth),
                    1e-6);
      }
    }
  }
}

TEST(GraphMatMul, RoundsNarrowTypesOnce) {
  for (const auto type : {tim_graph_f16, tim_graph_bf16}) {
    for (const auto to : {type, tim_graph_f32}) {
      const Array a = Rounded(Random({4, 33}, 1), type);
      const Array b = Rounded(Random({33, 5}, 2), type);
      const Array bias = Rounded(Random({4, 1}, 3), type);
      Numbers expected = Product(a, b, false, false, {4, 5}, 33);
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] += bias.values[i / 5];
      }
      const double half = type == tim_graph_f16 ? 0x1.01p-11 : 0x1.01p-8;
      ExpectArray(MatMul(a, b).Input(bias).Output(to).First(), {4, 5}, expected,
                  to == tim_graph_f32 ? 1e-6 : half);
    }
  }
}

TEST(GraphMatMul, SumsNothingToZero) {
  ExpectArray(MatMul({{2, 0}, {}}, {{0, 3}, {}}).Output().First(), {2, 3},
              {0, 0, 0, 0, 0, 0}, 0);
  ExpectArray(MatMul({{2, 0}, {}}, {{0, 3}, {}})
                  .Input({{3}, {1, 2, 3}})
                  .Output()
                  .First(),
              {2, 3}, {1, 2, 3, 1, 2, 3}, 0);
}

TEST(GraphMatMul, RefusesShapesAndTypesThatDoNotFit) {
  const auto status = [](const Dims& a, const Dims& b) {
    return MatMul(Random(a, 1), Random(b, 2)).Output().Run().status();
  };
  ExpectRefused(status({2, 3}, {4, 2}), "take 4");
  ExpectRefused(status({2, 2, 3}, {3, 3, 2}), "do not broadcast");
  ExpectRefused(status({}, {1, 2}), "scalar");
  ExpectRefused(MatMul(Random({2, 3}, 1), Random({3, 2}, 2))
                    .Input(Random({3, 2, 2}, 3))
                    .Output()
                    .Run()
                    .status(),
                "bias");
  ExpectRefused(MatMul(Random({2, 3}, 1), Random({3, 2}, 2))
                    .Output(tim_graph_f16)
                    .Check(),
                "dst is f16");
  ExpectRefused(
      MatMul(Random({2, 3}, 1), Random({3, 2}, 2))
          .Output()
          .Set(tim_graph_op_attr_accumulation_mode, std::string("f64"))
          .Check(),
      "accumulation_mode");
}

}  // namespace
}  // namespace tim::graph
