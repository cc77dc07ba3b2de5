// Gradients of parameters that are broadcast: BiasAddBackward, PReLUBackward.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

int64_t ChannelAxis(const Op& op, int64_t rank) {
  return IsChannelsLast(op) ? rank - 1 : 1;
}

Status CheckBiasRank(const Dims& diff_dst) {
  if (diff_dst.size() >= 4) return OkStatus();
  return InvalidArgument("diff_dst has the rank ", diff_dst.size(),
                         ", expected 4 or more");
}

Status LowerBias(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor dd = f.In(0);
  TIM_RETURN_IF_ERROR(CheckBiasRank(dd.dims));
  const int64_t axis = ChannelAxis(op, dd.rank());
  const Tensor sum = f.Sum(dd, AxesBut(dd.rank(), axis));
  return f.Store(0, f.Reshape(sum, {dd.dims[static_cast<size_t>(axis)]}));
}

Result<std::vector<Dims>> EmptyBias(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_RETURN_IF_ERROR(CheckBiasRank(inputs[0]));
  const auto axis = static_cast<size_t>(
      ChannelAxis(op, static_cast<int64_t>(inputs[0].size())));
  return std::vector<Dims>{{inputs[0][axis]}};
}

// Sums of nothing.
Status LowerEmptyBias(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const LogicalTensor& dd = op.inputs[0];
  const int64_t channels =
      dd.dims[static_cast<size_t>(ChannelAxis(op, dd.ndims))];
  return f.Store(0, f.Try(lowering.Filled(0, {channels})));
}

// The slope's dims as they stand to those of src: one of rank 1 is that of the
// channels, or one for all.
Result<Dims> SlopeDims(const Op& op, const Dims& slope, const Dims& src) {
  const auto rank = static_cast<int64_t>(src.size());
  Dims out(src.size(), 1);
  if (slope.size() > src.size()) {
    return InvalidArgument("slope has the rank ", slope.size(),
                           ", src only the rank ", src.size());
  }
  if (slope.size() == 1 && rank >= 2) {
    out[static_cast<size_t>(ChannelAxis(op, rank))] = slope[0];
  } else {
    std::copy_backward(slope.begin(), slope.end(), out.end());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 1 || out[i] == src[i]) continue;
    return InvalidArgument("slope {", StrJoin(slope, ", "),
                           "} cannot be broadcast to src {", StrJoin(src, ", "),
                           "}");
  }
  return out;
}

Status LowerPrelu(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor src = f.In(0);
  const Tensor slope = f.In(1);
  const Tensor dd = f.In(2);
  if (src.dims != dd.dims) {
    return InvalidArgument("src has dims {", StrJoin(src.dims, ", "),
                           "}, diff_dst {", StrJoin(dd.dims, ", "),
                           "}; expected equal ones");
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, SlopeDims(op, slope.dims, src.dims));
  const Tensor below = f.Multiply(dd, f.Reshape(slope, dims));
  TIM_RETURN_IF_ERROR(f.Store(
      0, f.Select(f.Binary("GreaterOrEqual", src, f.Number(0)), dd, below)));
  const Tensor products = f.Multiply(dd, f.Binary("Minimum", src, f.Number(0)));
  std::vector<int64_t> stretched;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) stretched.push_back(static_cast<int64_t>(i));
  }
  return f.Store(1, f.Reshape(f.Sum(products, stretched), slope.dims));
}

}  // namespace

TIM_GRAPH_OPS(backward_parameters) {
  table.Add({.kind = tim_graph_op_bias_add_backward,
             .name = "BiasAddBackward",
             .types = {{"T", FloatTypes()}},
             .inputs = {{"diff_dst", "T"}},
             .outputs = {{"diff_bias", "T"}},
             .attributes = {DataFormatDef()},
             .lower = LowerBias,
             .lower_empty = LowerEmptyBias,
             .empty_dims = EmptyBias});
  table.Add({.kind = tim_graph_op_prelu_backward,
             .name = "PReLUBackward",
             .types = {{"T", FloatTypes()}},
             .inputs = {{"src", "T"}, {"slope", "T"}, {"diff_dst", "T"}},
             .outputs = {{"diff_src", "T"}, {"diff_slope", "T"}},
             .attributes = {DataFormatDef()},
             .lower = LowerPrelu});
}

}  // namespace tim::graph
