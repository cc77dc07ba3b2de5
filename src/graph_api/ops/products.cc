// MatMul: matrix products with the broadcasting of numpy.
#include <algorithm>

#include "graph_api/formula.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

bool IsTransposed(const Op& op, tim_graph_op_attr_t attribute,
                  const Dims& dims) {
  return dims.size() > 1 && op.Bool(attribute);
}

// Rows and columns of a factor as it is multiplied: a 1-D src is a row, 1-D
// weights are a column.
struct Factor {
  int64_t outer = 1;
  int64_t depth = 1;
  Dims batches = {};
};
Factor FactorOf(const Dims& dims, bool depth_is_last) {
  const size_t rank = dims.size();
  if (rank == 1) return {.depth = dims[0]};
  Factor out = {.outer = dims[rank - 2],
                .depth = dims[rank - 1],
                .batches = {dims.begin(), dims.end() - 2}};
  if (!depth_is_last) std::swap(out.outer, out.depth);
  return out;
}

// Extents that broadcast to each other, aligned at the last.
Result<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  Dims out = a.size() < b.size() ? b : a;
  const Dims& shorter = a.size() < b.size() ? a : b;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[out.size() - shorter.size() + i];
    if (extent == 1) {
      extent = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != extent) {
      return InvalidArgument("batches {", StrJoin(a, ", "), "} of src and {",
                             StrJoin(b, ", "),
                             "} of weights do not broadcast to each other");
    }
  }
  return out;
}

Result<Dims> ProductDims(const Op& op, const Dims& src, const Dims& weights) {
  if (src.empty() || weights.empty()) {
    return InvalidArgument(
        src.empty() ? "src is a scalar" : "weights are a scalar",
        ", expected a rank of 1 or more");
  }
  const bool transpose_a = IsTransposed(op, tim_graph_op_attr_transpose_a, src);
  const bool transpose_b =
      IsTransposed(op, tim_graph_op_attr_transpose_b, weights);
  const Factor a = FactorOf(src, !transpose_a);
  const Factor b = FactorOf(weights, transpose_b);
  if (a.depth != b.depth) {
    return InvalidArgument("src {", StrJoin(src, ", "), "}",
                           transpose_a ? " transposed" : "", " gives ", a.depth,
                           " values for each sum, weights {",
                           StrJoin(weights, ", "), "}",
                           transpose_b ? " transposed" : "", " take ", b.depth);
  }
  TIM_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.batches, b.batches));
  if (src.size() > 1) dims.push_back(a.outer);
  if (weights.size() > 1) dims.push_back(b.outer);
  return dims;
}

Status CheckBias(const Dims& bias, const Dims& dst) {
  bool fits = bias.size() <= dst.size();
  for (size_t i = 0; fits && i < bias.size(); ++i) {
    const int64_t extent = dst[dst.size() - bias.size() + i];
    fits = bias[i] == 1 || bias[i] == extent;
  }
  if (fits) return OkStatus();
  return InvalidArgument("bias {", StrJoin(bias, ", "),
                         "} does not broadcast to dst {", StrJoin(dst, ", "),
                         "}");
}

// dst of `dims` is `product`, and the bias if there is one.
Status Finish(Formula& formula, const Tensor& product, const Dims& dims) {
  const Tensor bias = formula.In(2);
  if (!bias) return formula.Store(0, product);
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_RETURN_IF_ERROR(CheckBias(bias.dims, dims));
  return formula.Store(0, formula.Add(product, bias));
}

Status LowerMatMul(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  const Tensor weights = formula.In(1);
  TIM_ASSIGN_OR_RETURN(const Dims dims,
                       ProductDims(op, src.dims, weights.dims));
  const Tensor product = formula.Try(lowering.Add(
      "Matmul", {src, weights},
      {{"transpose_a",
        IsTransposed(op, tim_graph_op_attr_transpose_a, src.dims)},
       {"transpose_b",
        IsTransposed(op, tim_graph_op_attr_transpose_b, weights.dims)}}));
  return Finish(formula, product, dims);
}

// Sums of nothing.
Status LowerEmptyMatMul(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  TIM_ASSIGN_OR_RETURN(const Dims dims,
                       ProductDims(op, formula.In(0).dims, formula.In(1).dims));
  return Finish(formula, formula.Try(lowering.Filled(0, dims)), dims);
}

Result<std::vector<Dims>> EmptyDims(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(Dims dims, ProductDims(op, inputs[0], inputs[1]));
  if (inputs.size() > 2) TIM_RETURN_IF_ERROR(CheckBias(inputs[2], dims));
  return std::vector<Dims>{std::move(dims)};
}

Status CheckTypes(const Op& op) {
  const auto type = op.outputs[0].data_type;
  if (type == op.inputs[0].data_type || type == tim_graph_f32) {
    return OkStatus();
  }
  return InvalidArgument("dst is ", tim_graph_dt2str(type),
                         ", expected src's type, ",
                         tim_graph_dt2str(op.inputs[0].data_type), ", or f32");
}

}  // namespace

TIM_GRAPH_OPS(products) {
  OpDef matmul;
  matmul.kind = tim_graph_op_matmul;
  matmul.name = "MatMul";
  matmul.types = {{"T", FloatTypes()}, {"T1", FloatTypes()}};
  matmul.inputs = {{"src", "T"}, {"weights", "T"}, {"bias", "T", true}};
  matmul.outputs = {{"dst", "T1"}};
  matmul.attributes = {
      {.attribute = tim_graph_op_attr_transpose_a, .default_value = false},
      {.attribute = tim_graph_op_attr_transpose_b, .default_value = false},
      {.attribute = tim_graph_op_attr_accumulation_mode,
       .default_value = std::string("strict"),
       .choices = {"strict", "relaxed", "any", "f32", "s32", "f16"}}};
  matmul.rule = CheckTypes;
  matmul.anchor = true;
  matmul.lower = LowerMatMul;
  matmul.lower_empty = LowerEmptyMatMul;
  matmul.empty_dims = EmptyDims;
  table.Add(std::move(matmul));
}

}  // namespace tim::graph
