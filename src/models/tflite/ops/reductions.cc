// Reductions, extremes and running sums.
#include <algorithm>

#include "models/tflite/node.h"
#include "tim/vx/ops/arg.h"
#include "tim/vx/ops/cumsum.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/topk.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

template <typename Op>
Status Reduce(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Reducer>());
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  Value input = node.inputs[0];
  const int rank = input.rank();
  if (rank == 0) {
    TIM_ASSIGN_OR_RETURN(input, node.builder().Reshape(input, {1}));
  }
  std::vector<int32_t> axes;
  std::vector<bool> reduced(static_cast<size_t>(std::max(rank, 1)));
  for (const int64_t axis : listed) {
    TIM_ASSIGN_OR_RETURN(const int positive,
                         node.Axis("input 1", axis, std::max(rank, 1)));
    if (reduced[positive]) continue;
    reduced[positive] = true;
    axes.push_back(GraphAxis(positive, std::max(rank, 1)));
  }
  Dims dims;
  for (int i = 0; i < rank; ++i) {
    if (!reduced[i]) dims.push_back(input.dims[i]);
    if (reduced[i] && options->keeps_dims()) dims.push_back(1);
  }
  if (axes.empty()) {
    // Over no axis nothing changes, but for the quantization.
    TIM_ASSIGN_OR_RETURN(input, node.builder().Reshape(input, [&] {
      Dims more = input.dims;
      more.push_back(1);
      return more;
    }()));
    axes.push_back(0);
  }
  return node.SetOutput(
      0, node.builder().Add<Op>({input}, node.WantedOf(0, dims), axes,
                                options->keeps_dims() && !listed.empty()));
}

template <typename Op>
Status Extreme(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const int64_t listed, node.ConstantInt(1));
  const int rank = node.inputs[0].rank();
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("input 1", listed, rank));
  Dims dims = node.inputs[0].dims;
  dims.erase(dims.begin() + axis);
  return node.SetOutput(
      0, node.builder().Add<Op>({node.inputs[0]}, node.WantedOf(0, dims),
                                GraphAxis(axis, rank)));
}

Status Cumsum(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Cumsum>());
  TIM_ASSIGN_OR_RETURN(const int64_t listed, node.ConstantInt(1));
  const int rank = node.inputs[0].rank();
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("input 1", listed, rank));
  return node.SetOutput(
      0, node.builder().Add<ops::CumSum>(
             {node.inputs[0]}, node.WantedOf(0), GraphAxis(axis, rank),
             static_cast<int32_t>(options->exclusive()),
             static_cast<int32_t>(options->reverse())));
}

Status TopK(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2, 2));
  TIM_ASSIGN_OR_RETURN(const int64_t count, node.ConstantInt(1));
  const Value& input = node.inputs[0];
  if (input.rank() == 0 || count < 1 || count > input.dims.back()) {
    return node.Refuse("input 1", "k is ", count, " of ", Describe(input));
  }
  TIM_ASSIGN_OR_RETURN(auto made,
                       node.builder().AddAll<ops::Topk>(
                           {input}, {node.WantedOf(0), node.WantedOf(1)},
                           static_cast<uint32_t>(count), 0));
  TIM_RETURN_IF_ERROR(node.SetOutput(0, std::move(made[0])));
  return node.SetOutput(1, std::move(made[1]));
}

}  // namespace

void AddReductions(OperatorTable* table) {
  OperatorTable& to = *table;
  to["MEAN"] = Reduce<ops::ReduceMean>;
  to["SUM"] = Reduce<ops::ReduceSum>;
  to["REDUCE_MAX"] = Reduce<ops::ReduceMax>;
  to["REDUCE_MIN"] = Reduce<ops::ReduceMin>;
  to["REDUCE_PROD"] = Reduce<ops::ReduceProd>;
  to["REDUCE_ANY"] = Reduce<ops::ReduceAny>;
  to["REDUCE_ALL"] = Reduce<ops::ReduceAll>;
  to["ARG_MAX"] = Extreme<ops::ArgMax>;
  to["ARG_MIN"] = Extreme<ops::ArgMin>;
  to["CUMSUM"] = Cumsum;
  to["TOPK_V2"] = TopK;
}

}  // namespace tim::models::tflite
