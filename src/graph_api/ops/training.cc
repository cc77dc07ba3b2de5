// BatchNormForwardTraining: normalization by the statistics of the batch, which
// are outputs, too.
#include <cstdint>
#include <string>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/statistics.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

enum Input : size_t { kSource, kMean, kVariance, kGamma, kBeta };

// momentum * old + (1 - momentum) * batch
Tensor Running(Formula& f, double momentum, const Tensor& old,
               const Tensor& batch) {
  return f.Add(f.Linear(old, momentum, 0), f.Linear(batch, 1 - momentum, 0));
}

Status CheckSides(const Op& op, Formula& f) {
  const Tensor src = f.In(kSource);
  if (src.rank() < 2) {
    return InvalidArgument("src has the rank ", src.rank(),
                           ", expected 2 or more");
  }
  const ChannelStatistics channels(op, src.dims);
  for (size_t i = kMean; i < op.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(channels.Check(op.def->inputs[i].name, f.In(i).dims));
  }
  return OkStatus();
}

Status SupportsForward(const Op& op) {
  if (op.Has(tim_graph_op_attr_momentum)) return OkStatus();
  return Unimplemented(
      "attribute 'momentum' is missing, which running_mean and "
      "running_variance are made with");
}

Status LowerForward(const Op& op, Lowering& lowering) {
  TIM_RETURN_IF_ERROR(SupportsForward(op));
  Formula f(lowering);
  TIM_RETURN_IF_ERROR(CheckSides(op, f));
  const Tensor src = f.In(kSource);
  const ChannelStatistics channels(op, src.dims);
  std::vector<int64_t> axes;
  for (const int64_t axis : channels.reduced()) {
    axes.push_back(InnerAxis(axis, src.rank()));
  }
  const std::vector<Tensor> moments = f.Try(lowering.AddMany(
      "Moments", {src}, {{"axes", axes}, {"keep_dims", false}},
      {{.type = ir::DataType::kFloat32}, {.type = ir::DataType::kFloat32}}));
  TIM_RETURN_IF_ERROR(f.status());
  const Tensor& mean = moments[0];
  const Tensor& variance = moments[1];
  Tensor factor = channels.Rsqrt(f, variance);
  if (f.In(kGamma)) {
    factor = f.Multiply(factor, channels.Place(f, f.In(kGamma)));
  }
  Tensor dst = f.Multiply(f.Sub(src, channels.Place(f, mean)), factor);
  if (f.In(kBeta)) dst = f.Add(dst, channels.Place(f, f.In(kBeta)));
  const double momentum = op.Float(tim_graph_op_attr_momentum);
  TIM_RETURN_IF_ERROR(f.Store(0, dst));
  TIM_RETURN_IF_ERROR(f.Store(1, Running(f, momentum, f.In(kMean), mean)));
  TIM_RETURN_IF_ERROR(
      f.Store(2, Running(f, momentum, f.In(kVariance), variance)));
  TIM_RETURN_IF_ERROR(f.Store(3, mean));
  return f.Store(4, variance);
}

Result<std::vector<Dims>> EmptyForward(const Op& op,
                                       const std::vector<Dims>& inputs) {
  const Dims side = {ChannelStatistics(op, inputs[0]).channels()};
  return std::vector<Dims>{inputs[0], side, side, side, side};
}

OpDef ForwardRecord() {
  return {.kind = tim_graph_op_batch_norm_forward_training,
          .name = "BatchNormForwardTraining",
          .types = StatisticsTypes(),
          .inputs = {{"src", "T1"},
                     {"mean", "T2"},
                     {"variance", "T2"},
                     {"gamma", "T2", true},
                     {"beta", "T2", true}},
          .outputs = {{"dst", "T1"},
                      {"running_mean", "T2"},
                      {"running_variance", "T2"},
                      {"batch_mean", "T2"},
                      {"batch_variance", "T2"}},
          .attributes = {{.attribute = tim_graph_op_attr_epsilon},
                         {.attribute = tim_graph_op_attr_momentum,
                          .optional = true},
                         DataFormatDef()},
          .rule = CheckStatisticsType,
          .supports = SupportsForward,
          .lower = LowerForward,
          .empty_dims = EmptyForward};
}

}  // namespace

TIM_GRAPH_OPS(training) { table.Add(ForwardRecord()); }

}  // namespace tim::graph
