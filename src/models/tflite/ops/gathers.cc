// Elements chosen by indices and conditions.
#include <numeric>

#include "models/tflite/node.h"
#include "tim/vx/ops/embedding_lookup.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/gathernd.h"
#include "tim/vx/ops/hashtable_lookup.h"
#include "tim/vx/ops/onehot.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/scatternd.h"
#include "tim/vx/ops/select.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

Status Gather(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Gather>());
  const Value& input = node.inputs[0];
  const Value& indices = node.inputs[1];
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("axis", options->axis(), input.rank()));
  int batch = options->batch_dims();
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > axis || batch > indices.rank()) {
    return node.Refuse("batch_dims", "it is ", options->batch_dims(),
                       " with axis ", axis);
  }
  Dims dims(input.dims.begin(), input.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin() + batch, indices.dims.end());
  dims.insert(dims.end(), input.dims.begin() + axis + 1, input.dims.end());
  return node.SetOutput(0, node.builder().Add<ops::Gather>(
                               {input, indices}, node.WantedOf(0, dims),
                               GraphAxis(axis, input.rank()), batch));
}

// Coordinates count from the slowest axis here, from the fastest of those that
// they name there.
Status GatherNd(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  const Value& input = node.inputs[0];
  Value indices = node.inputs[1];
  if (indices.rank() == 0) {
    return node.Refuse("input 1", "a scalar names no coordinates");
  }
  const int64_t named = indices.dims.back();
  if (named < 1 || named > input.rank()) {
    return node.Refuse("input 1", named, " coordinates of ", Describe(input));
  }
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), input.dims.begin() + named, input.dims.end());
  if (indices.rank() == 1) {
    // The graph takes [N] for N coordinates.
    TIM_ASSIGN_OR_RETURN(indices, node.builder().Reshape(indices, {1, named}));
  }
  if (named > 1) {
    const std::vector<int32_t> fastest = {0};
    TIM_ASSIGN_OR_RETURN(indices,
                         node.builder().Add<ops::Reverse>(
                             {indices}, Wanted::Like(indices), fastest));
  }
  return node.SetOutput(0, node.builder().Add<ops::GatherNd>(
                               {input, indices}, node.WantedOf(0, dims)));
}

Status ScatterNd(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const Dims dims, node.ConstantInts(2));
  for (const int64_t extent : dims) {
    if (extent >= 1 && extent <= INT32_MAX) continue;
    return node.Refuse("input 2", "extents [", StrJoin(dims, ","), "]");
  }
  Value indices = node.inputs[0];
  if (indices.rank() == 1) {
    TIM_ASSIGN_OR_RETURN(indices,
                         node.builder().Reshape(indices, {1, indices.dims[0]}));
  }
  return node.SetOutput(0,
                        node.builder().Add<ops::ScatterND>(
                            {indices, node.inputs[1]}, node.WantedOf(0, dims),
                            std::vector<uint32_t>(GraphShape(dims))));
}

Status OneHot(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(4, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::OneHot>());
  TIM_ASSIGN_OR_RETURN(const int64_t depth, node.ConstantInt(1));
  TIM_ASSIGN_OR_RETURN(const auto on, node.ConstantFloats(2));
  TIM_ASSIGN_OR_RETURN(const auto off, node.ConstantFloats(3));
  const int rank = node.inputs[0].rank();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("axis", options->axis(), rank + 1));
  if (depth < 1 || depth > INT32_MAX || on.size() != 1 || off.size() != 1) {
    return node.Refuse("input 1", "the depth is ", depth, ", with ", on.size(),
                       " and ", off.size(), " values");
  }
  Dims dims = node.inputs[0].dims;
  dims.insert(dims.begin() + axis, depth);
  const Wanted wanted = node.WantedOf(0, dims);
  // The graph's scalars have rank 1.
  TIM_ASSIGN_OR_RETURN(
      const Value made,
      node.builder().Add<ops::OneHot>(
          {node.inputs[0]}, rank == 0 ? node.WantedOf(0, {1, depth}) : wanted,
          static_cast<int32_t>(depth), on[0], off[0],
          rank == 0 ? 0 : GraphAxis(axis, rank + 1)));
  return node.SetOutput(0, node.builder().Reshape(made, dims));
}

Status SelectBroadcast(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  return node.SetOutput(
      0, node.builder().Add<ops::Select>(node.inputs, node.WantedOf(0)));
}

// A condition of rank 1 beside tensors of a higher rank is one of slices along
// their slowest axis.
Status Select(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  Value condition = node.inputs[0];
  const Value& x = node.inputs[1];
  if (condition.rank() == 1 && x.rank() > 1 && condition.dims[0] == x.dims[0]) {
    Dims dims(x.dims.size(), 1);
    dims[0] = x.dims[0];
    TIM_ASSIGN_OR_RETURN(condition, node.builder().Reshape(condition, dims));
  }
  return node.SetOutput(
      0, node.builder().Add<ops::Select>({condition, x, node.inputs[2]},
                                         node.WantedOf(0)));
}

Status EmbeddingLookup(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  Value table = node.inputs[1];
  if (table.type == vx::DataType::UINT8 ||
      table.quantization.Scales().size() > 1) {
    TIM_ASSIGN_OR_RETURN(table, node.WeightsFor(node.declared[0], table));
  }
  return node.SetOutput(0, node.builder().Add<ops::EmbeddingLookup>(
                               {node.inputs[0], table}, node.WantedOf(0)));
}

Status HashtableLookup(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3, 2));
  TIM_ASSIGN_OR_RETURN(auto made,
                       node.builder().AddAll<ops::HashtableLookup>(
                           node.inputs, {node.WantedOf(0), node.WantedOf(1)}));
  TIM_RETURN_IF_ERROR(node.SetOutput(0, std::move(made[0])));
  return node.SetOutput(1, std::move(made[1]));
}

}  // namespace

void AddGathers(OperatorTable* table) {
  OperatorTable& to = *table;
  to["GATHER"] = Gather;
  to["GATHER_ND"] = GatherNd;
  to["SCATTER_ND"] = ScatterNd;
  to["ONE_HOT"] = OneHot;
  to["SELECT"] = Select;
  to["SELECT_V2"] = SelectBroadcast;
  to["EMBEDDING_LOOKUP"] = EmbeddingLookup;
  to["HASHTABLE_LOOKUP"] = HashtableLookup;
}

}  // namespace tim::models::tflite
