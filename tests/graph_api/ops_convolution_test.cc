// Convolution and ConvTranspose against loops in double, in every format.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "evaluated_op.h"

namespace tim::graph {
namespace {

struct Case {
  std::string name = {};
  Dims spatial = {};
  int64_t channels = 1;
  int64_t outputs = 1;
  int64_t groups = 1;
  Dims kernel = {};
  Dims strides = {};
  Dims dilations = {};
  Dims begin = {};  // What `auto_pad` makes of the pads, written by hand.
  Dims end = {};
  std::string auto_pad = "None";
  bool bias = false;
  Dims output_padding = {};  // ConvTranspose
};

// Three spatial axes, the first ones of `fill`.
Dims Three(Dims list, int64_t fill = 1) {
  while (list.size() < 3) list.insert(list.begin(), fill);
  return list;
}

// Row-major data of planes [D, H, W].
class Planes {
 public:
  Planes(const Dims& spatial, int64_t planes)
      : d_(Three(spatial)),
        values_(static_cast<size_t>(planes * d_[0] * d_[1] * d_[2])) {}
  Planes(const Dims& spatial, Numbers values)
      : d_(Three(spatial)), values_(std::move(values)) {}

  const Dims& extents() const { return d_; }
  const Numbers& values() const { return values_; }
  bool Has(const Dims& at) const {
    for (size_t i = 0; i < 3; ++i) {
      if (at[i] < 0 || at[i] >= d_[i]) return false;
    }
    return true;
  }
  double& At(int64_t plane, const Dims& at) {
    return values_[static_cast<size_t>(
        ((plane * d_[0] + at[0]) * d_[1] + at[1]) * d_[2] + at[2])];
  }

 private:
  Dims d_;
  Numbers values_;
};

template <typename Visit>
void ForEach(const Dims& extents, Visit visit) {
  for (int64_t z = 0; z < extents[0]; ++z) {
    for (int64_t y = 0; y < extents[1]; ++y) {
      for (int64_t x = 0; x < extents[2]; ++x) visit(Dims{z, y, x});
    }
  }
}

// Cells i and o of input and output that tap k connects: i = o * s + k * d - p
// of a convolution.
Dims CellOf(const Case& test, const Dims& o, const Dims& k) {
  const Dims stride = Three(test.strides);
  const Dims dilation = Three(test.dilations);
  const Dims begin = Three(test.begin, 0);
  Dims out(3);
  for (size_t i = 0; i < 3; ++i) {
    out[i] = o[i] * stride[i] + k[i] * dilation[i] - begin[i];
  }
  return out;
}

constexpr int64_t kBatch = 2;

// src [N, C, X], weights [O, C / g, X]
Array Convolved(const Case& test, const Array& src, const Array& weights,
                const Array& bias) {
  Dims spatial;
  for (size_t i = 0; i < test.spatial.size(); ++i) {
    spatial.push_back((test.spatial[i] + test.begin[i] + test.end[i] -
                       (test.kernel[i] - 1) * test.dilations[i] - 1) /
                          test.strides[i] +
                      1);
  }
  Planes x(test.spatial, src.values);
  Planes w(test.kernel, weights.values);
  Planes y(spatial, kBatch * test.outputs);
  const int64_t read = test.channels / test.groups;
  const int64_t made = test.outputs / test.groups;
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t oc = 0; oc < test.outputs; ++oc) {
      ForEach(y.extents(), [&](const Dims& o) {
        double sum = test.bias ? bias.values[static_cast<size_t>(oc)] : 0;
        for (int64_t ic = 0; ic < read; ++ic) {
          const int64_t plane = n * test.channels + oc / made * read + ic;
          ForEach(w.extents(), [&](const Dims& k) {
            const Dims i = CellOf(test, o, k);
            if (x.Has(i)) sum += x.At(plane, i) * w.At(oc * read + ic, k);
          });
        }
        y.At(n * test.outputs + oc, o) = sum;
      });
    }
  }
  Array out = {.dims = {kBatch, test.outputs}, .values = y.values()};
  out.dims.insert(out.dims.end(), spatial.begin(), spatial.end());
  return out;
}

// src [N, C, X], weights [O / g, C, X]
Array Transposed(const Case& test, const Array& src, const Array& weights,
                 const Array& bias) {
  Dims spatial;
  for (size_t i = 0; i < test.spatial.size(); ++i) {
    spatial.push_back(
        test.strides[i] * (test.spatial[i] - 1) + test.kernel[i] +
        (test.output_padding.empty() ? 0 : test.output_padding[i]) -
        test.begin[i] - test.end[i]);
  }
  Planes x(test.spatial, src.values);
  Planes w(test.kernel, weights.values);
  Planes y(spatial, kBatch * test.outputs);
  const int64_t read = test.channels / test.groups;
  const int64_t made = test.outputs / test.groups;
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t oc = 0; oc < test.outputs; ++oc) {
      const int64_t plane = n * test.outputs + oc;
      ForEach(y.extents(), [&](const Dims& o) {
        y.At(plane, o) = test.bias ? bias.values[static_cast<size_t>(oc)] : 0;
      });
      for (int64_t c = 0; c < read; ++c) {
        const int64_t ic = oc / made * read + c;
        ForEach(x.extents(), [&](const Dims& i) {
          ForEach(w.extents(), [&](const Dims& k) {
            const Dims o = CellOf(test, i, k);
            if (!y.Has(o)) return;
            y.At(plane, o) += x.At(n * test.channels + ic, i) *
                              w.At(oc % made * test.channels + ic, k);
          });
        });
      }
    }
  }
  Array out = {.dims = {kBatch, test.outputs}, .values = y.values()};
  out.dims.insert(out.dims.end(), spatial.begin(), spatial.end());
  return out;
}

// Orders that make the format of NCX or OIX.
std::vector<size_t> OrderOf(const std::string& format, size_t rank) {
  std::vector<size_t> order;
  for (const char letter : format) {
    if (letter == 'N' || letter == 'O') order.push_back(0);
    if (letter == 'C' || letter == 'I') order.push_back(1);
    for (size_t i = 2; letter == 'X' && i < rank; ++i) order.push_back(i);
  }
  return order;
}

EvaluatedOp WithAttributes(tim_graph_op_kind_t kind, const Case& test,
                           const std::string& data,
                           const std::string& weights) {
  const bool explicit_pads = test.auto_pad == "None";
  EvaluatedOp op(kind);
  op.Set(tim_graph_op_attr_strides, test.strides)
      .Set(tim_graph_op_attr_dilations, test.dilations)
      .Set(tim_graph_op_attr_pads_begin, explicit_pads ? test.begin : Dims())
      .Set(tim_graph_op_attr_pads_end, explicit_pads ? test.end : Dims())
      .Set(tim_graph_op_attr_auto_pad, test.auto_pad)
      .Set(tim_graph_op_attr_groups, test.groups)
      .Set(tim_graph_op_attr_data_format, data)
      .Set(tim_graph_op_attr_weights_format, weights);
  if (!test.output_padding.empty()) {
    op.Set(tim_graph_op_attr_output_padding, test.output_padding);
  }
  return op;
}

Dims Joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void ExpectBoth(const Array& found, const Array& expected, double tolerance) {
  EXPECT_EQ(found.dims, expected.dims);
  ExpectNear(found.values, expected.values, tolerance);
}

using Reference = Array (*)(const Case&, const Array&, const Array&,
                            const Array&);

void Compare(tim_graph_op_kind_t kind, const Case& test,
             const Dims& weights_dims, Reference reference,
             const std::vector<std::string>& formats) {
  SCOPED_TRACE(test.name);
  const Array src = Random(Joined({kBatch, test.channels}, test.spatial), 1);
  const Array weights = Random(Joined(weights_dims, test.kernel), 2);
  const Array bias = Random({test.outputs}, 3);
  const Array expected = reference(test, src, weights, bias);
  const size_t rank = src.dims.size();
  for (const char* data : {"NCX", "NXC"}) {
    for (const std::string& format : formats) {
      SCOPED_TRACE(data + (" " + format));
      EvaluatedOp op = WithAttributes(kind, test, data, format);
      op.Input(Permuted(src, OrderOf(data, rank)))
          .Input(Permuted(weights, OrderOf(format, rank)))
          .Output();
      if (test.bias) op.Input(bias);
      ExpectBoth(op.First(), Permuted(expected, OrderOf(data, rank)), 1e-5);
    }
  }
}

TEST(GraphConvolution, AgreesWithLoopsInEveryFormat) {
  const std::vector<Case> cases = {
      {"1d", {9}, 3, 4, 1, {3}, {2}, {1}, {1}, {0}, "None", true},
      {"1d groups", {8}, 4, 6, 2, {2}, {1}, {3}, {0}, {2}},
      {"2d",
       {6, 7},
       3,
       5,
       1,
       {3, 2},
       {2, 1},
       {1, 2},
       {1, 0},
       {0, 2},
       "None",
       true},
      {"2d groups", {5, 4}, 6, 4, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"depthwise",
       {5, 6},
       3,
       6,
       3,
       {3, 2},
       {1, 2},
       {2, 1},
       {2, 0},
       {2, 1},
       "None",
       true},
      {"3d",
       {4, 3, 5},
       2,
       3,
       1,
       {2, 2, 3},
       {1, 2, 2},
       {2, 1, 1},
       {1, 0, 1},
       {0, 1, 1},
       "None",
       true},
      // 7 mod 2 = 1: 4 - 1 = 3 pads; 6 mod 3 = 0: 5 - 3 = 2 pads.
      {"upper",
       {7, 6},
       2,
       2,
       1,
       {4, 3},
       {2, 3},
       {1, 2},
       {1, 1},
       {2, 1},
       "SAME_UPPER"},
      {"lower",
       {7, 6},
       2,
       2,
       1,
       {4, 3},
       {2, 3},
       {1, 2},
       {2, 1},
       {1, 1},
       "same_lower"},
      // A stride beyond the kernel needs no pads.
      {"wide stride",
       {7, 8},
       1,
       2,
       1,
       {1, 2},
       {3, 4},
       {1, 1},
       {0, 0},
       {0, 0},
       "SAME_UPPER"},
      {"valid",
       {5, 6},
       2,
       1,
       1,
       {3, 3},
       {1, 1},
       {1, 1},
       {0, 0},
       {0, 0},
       "VALID"},
  };
  for (const Case& test : cases) {
    Compare(tim_graph_op_convolution, test,
            {test.outputs, test.channels / test.groups}, Convolved,
            {"XIO", "OIX"});
  }
}

TEST(GraphConvTranspose, AgreesWithLoopsInEveryFormat) {
  const std::vector<Case> cases = {
      {"1d", {4}, 3, 2, 1, {3}, {2}, {1}, {1}, {0}, "None", true, {1}},
      {"2d",
       {3, 4},
       2,
       3,
       1,
       {3, 2},
       {2, 1},
       {1, 1},
       {1, 0},
       {0, 1},
       "None",
       true},
      {"groups",
       {3, 3},
       4,
       6,
       2,
       {2, 3},
       {2, 3},
       {1, 1},
       {0, 1},
       {0, 1},
       "None",
       false,
       {1, 2}},
      {"depthwise",
       {3, 2},
       3,
       3,
       3,
       {3, 3},
       {1, 2},
       {1, 1},
       {1, 1},
       {1, 1},
       "None",
       true},
      // 4 - 1 = 3 pads, 3 - 2 = 1 pad.
      {"upper",
       {4, 3},
       2,
       2,
       1,
       {4, 3},
       {1, 2},
       {1, 1},
       {1, 0},
       {2, 1},
       "SAME_UPPER"},
      {"lower",
       {4, 3},
       2,
       2,
       1,
       {4, 3},
       {1, 2},
       {1, 1},
       {2, 1},
       {1, 0},
       "SAME_LOWER"},
      {"valid",
       {4, 3},
       1,
       2,
       1,
       {2, 1},
       {1, 2},
       {1, 1},
       {0, 0},
       {0, 0},
       "VALID"},
  };
  for (const Case& test : cases) {
    Compare(tim_graph_op_conv_transpose, test,
            {test.outputs / test.groups, test.channels}, Transposed,
            {"XOI", "IOX"});
  }
}

TEST(GraphConvolution, RoundsNarrowTypesOnce) {
  Case test = {"narrow", {4, 5}, 3,      2,      1,      {3, 3},
               {1, 1},   {1, 1}, {1, 1}, {1, 1}, "None", true};
  for (const auto type : {tim_graph_f16, tim_graph_bf16}) {
    const Array src = Rounded(Random({kBatch, 3, 4, 5}, 1), type);
    const Array weights = Rounded(Random({2, 3, 3, 3}, 2), type);
    const Array bias = Rounded(Random({2}, 3), type);
    const Array expected = Convolved(test, src, weights, bias);
    const Array found =
        WithAttributes(tim_graph_op_convolution, test, "NCX", "OIX")
            .Input(src)
            .Input(weights)
            .Input(bias)
            .Output(type)
            .First();
    // Half a unit in the last place.
    ExpectBoth(found, expected, type == tim_graph_f16 ? 0x1.01p-11 : 0x1.01p-8);
  }
}

}  // namespace
}  // namespace tim::graph
