// HashtableLookup: slices of a table whose keys are equal to what is looked up.
//
// Keys may be in any order, so that each lookup compares itself with the keys
// from the first on, sixteen at once.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/rows.h"

namespace tim::ops {
namespace {

enum Input { kLookups, kKeys, kValues };
enum Output { kResult, kHits };

Status CheckList(const char* what, const ir::Shape& shape) {
  if (!shape.ranked() || shape.rank() == 1) return OkStatus();
  return InvalidArgument("the ", what, " ", shape.ToString(), " have rank ",
                         shape.rank(), ", expected 1");
}

Status InferHashtableLookup(ir::InferContext& context) {
  InferTypeFrom(context, kValues, kResult);
  auto& hits = context.outputs[kHits].desc;
  if (hits.type == ir::DataType::kUnknown) hits.type = ir::DataType::kInt32;
  const ir::Shape& lookups = context.shape(kLookups);
  const ir::Shape& keys = context.shape(kKeys);
  const ir::Shape& values = context.shape(kValues);
  TIM_RETURN_IF_ERROR(CheckList("lookups", lookups));
  TIM_RETURN_IF_ERROR(CheckList("keys", keys));
  hits.shape = lookups;
  ir::Shape& result = context.outputs[kResult].desc.shape;
  result = values;
  if (!values.ranked()) return OkStatus();
  const int slowest = values.rank() - 1;
  if (keys.ranked() && keys[0] != ir::kUnknownDim &&
      values[slowest] != ir::kUnknownDim && keys[0] != values[slowest]) {
    return InvalidArgument("there are ", keys[0], " keys for ", values[slowest],
                           " slices of the values ", values.ToString());
  }
  result.set_dim(slowest, lookups.ranked() ? lookups[0] : ir::kUnknownDim);
  return OkStatus();
}

Status CheckKey(const ir::NodeView& view, Input input) {
  const ir::TensorDesc& desc = *view.inputs[input];
  if (ir::IsInteger(desc.type) && !desc.quantized() &&
      desc.type != ir::DataType::kUint64) {
    return OkStatus();
  }
  return InvalidArgument("input ", static_cast<int>(input), " is ",
                         desc.ToString(),
                         ", expected plain integers other than uint64");
}

Status CheckHashtableLookup(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKey(view, kLookups));
  TIM_RETURN_IF_ERROR(CheckKey(view, kKeys));
  TIM_RETURN_IF_ERROR(CheckMoved(view, Operand::kInput, kValues));
  TIM_RETURN_IF_ERROR(CheckMoved(view, Operand::kOutput, kResult));
  TIM_RETURN_IF_ERROR(CheckNumberOrBool(view, Operand::kOutput, kHits));
  return CheckMoved(view, Operand::kOutput, kHits);
}

// Number of the first key that is equal; kNoPlace if none is.
int64_t Find(const kernels::ElementReader& keys, int64_t count,
             int64_t lookup) {
  for (int64_t k = 0; k < count; ++k) {
    if (keys.Code(k) == lookup) return k;
  }
  return kNoPlace;
}

Status EvalHashtableLookup(const ir::EvalContext& context) {
  const ir::Shape& values = context.inputs[kValues].desc->shape;
  const int64_t run = values.Product(0, values.rank() - 1);
  const int64_t key_count = context.inputs[kKeys].desc->shape[0];
  const int64_t lookup_count = context.inputs[kLookups].desc->shape[0];
  const kernels::ElementReader lookups(context.inputs[kLookups]);
  const kernels::ElementReader keys(context.inputs[kKeys]);
  kernels::ElementConverter converter(context.inputs[kValues],
                                      context.outputs[kResult]);
  kernels::ElementWriter result(context.outputs[kResult]);
  kernels::ElementWriter hits(context.outputs[kHits]);
  for (int64_t l = 0; l < lookup_count; ++l) {
    const int64_t k = Find(keys, key_count, lookups.Code(l));
    hits.StoreReal(l, k == kNoPlace ? 0.0f : 1.0f);
    for (int64_t i = 0; i < run; ++i) {
      if (k == kNoPlace) {
        result.StoreReal(l * run + i, 0.0f);
      } else {
        converter.Convert(k * run + i, l * run + i);
      }
    }
  }
  return OkStatus();
}

ir::ComputeEstimate EstimateHashtableLookup(const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 1);
  const auto lookups = view.inputs[kLookups]->shape.NumElements();
  const auto keys = view.inputs[kKeys]->shape.NumElements();
  estimate.flops += static_cast<double>(lookups.value_or(0)) *
                    static_cast<double>(keys.value_or(0));
  return estimate;
}

// The axes of a slice may move.
Result<ir::PermutedNode> PermuteHashtableLookup(const ir::NodeView& view,
                                                int operand,
                                                std::span<const int> perm) {
  const int rank = static_cast<int>(perm.size());
  TIM_RETURN_IF_ERROR(CheckStay(perm, rank - 1, rank));
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.inputs[operand].assign(perm.begin(), perm.end());
  out.outputs[kResult] = out.inputs[operand];
  return out;
}

ir::OpSchema HashtableLookupSchema() {
  return {.name = "HashtableLookup",
          .inputs = {3, 3},
          .outputs = {2, 2},
          .check = CheckHashtableLookup,
          .infer_shapes = InferHashtableLookup,
          .eval = EvalHashtableLookup,
          .memory_estimate = NoScratch,
          .compute_estimate = EstimateHashtableLookup,
          .permute_rule = PermuteHashtableLookup};
}

Status SupportsHashtableLookup(const ir::KernelNode& node,
                               const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(SupportsRows(node, kValues, kLookups));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.inputs[kKeys]));
  for (const ir::DataType type :
       {node.inputs[kKeys].type, node.outputs[kHits].type}) {
    if (KernelTypeName(type) != nullptr) continue;
    return Unimplemented(ir::ToString(type), " has no kernel");
  }
  return OkStatus();
}

Status AppendFind(const ir::KernelNode& node, ir::Lowering* lowering) {
  const int64_t lookups = node.inputs[kLookups].shape[0];
  Launch launch("ops/indexing/hashtable_lookup.cl", "hashtable_find");
  launch.Type("IN0", node.inputs[kLookups])
      .Type("IN1", node.inputs[kKeys])
      .Type("OUT", node.outputs[kHits]);
  launch.Input("lookups", node, kLookups)
      .Input("keys", node, kKeys)
      .Scratch("found", lookups * 4, 4)
      .Output("hits", node, kHits);
  launch.Int("lookup_count", lookups)
      .Int("key_count", node.inputs[kKeys].shape[0])
      .OutputQuantization("hits", node.outputs[kHits]);
  return launch.Items(lookups).AppendTo(lowering);
}

Result<ir::Lowering> LowerHashtableLookup(const ir::KernelNode& node,
                                          const ir::DeviceInfo& device) {
  const ir::Shape& values = node.inputs[kValues].shape;
  const int slowest = values.rank() - 1;
  RowLookup rows;
  rows.data = kValues;
  rows.run = values.Product(0, slowest);
  rows.count = node.inputs[kLookups].shape[0];
  rows.coordinate = {{values[slowest], rows.run}};
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(AppendFind(node, &lowering));
  TIM_RETURN_IF_ERROR(AppendFoundRows(node, rows, 0, device, &lowering));
  return lowering;
}

ir::KernelDef HashtableLookupKernel() {
  return ir::PlainKernel{
      .op = "tim.HashtableLookup",
      .name = "hashtable_lookup",
      .analyze = SupportsHashtableLookup,
      .cost =
          [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
            return ElementwiseCost(node, device, prices::kHashtableLookup) +
                   device.launch_us;
          },
      .lower = LowerHashtableLookup};
}

}  // namespace

TIM_OPERATOR(hashtable_lookup) {
  registry.Add(HashtableLookupSchema());
  registry.Add(HashtableLookupKernel());
}

}  // namespace tim::ops
