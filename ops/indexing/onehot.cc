// OneHot: out(i, d, o) = indices(i, o) == d ? on_value : off_value.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/indices.h"

namespace tim::ops {
namespace {

constexpr char kOn[] = "on_value";
constexpr char kOff[] = "off_value";

// Of the new dimension, in an output of `rank`.
Result<int> AxisOf(const ir::AttributeMap& attributes, int rank) {
  const int64_t axis = attributes.Int("axis");
  if (axis >= -1 && axis < rank) return static_cast<int>(std::max(axis, {}));
  return InvalidArgument("attribute 'axis' is ", axis, ", expected [-1, ", rank,
                         ") for an output of rank ", rank);
}

Status InferOneHot(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const int64_t depth = attributes.Int("depth");
  if (depth < 1) {
    return InvalidArgument("attribute 'depth' is ", depth, ", expected >= 1");
  }
  auto& output = context.outputs[0];
  if (output.desc.type == ir::DataType::kUnknown) {
    output.desc.type = ir::DataType::kFloat32;
  }
  output.desc.shape = ir::Shape();
  const bool scalar = context.inputs[0].is_scalar;
  if (!scalar && !context.shape(0).ranked()) return OkStatus();
  std::vector<int64_t> dims;
  if (!scalar) dims = context.shape(0).dims();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       AxisOf(attributes, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, depth);
  output.desc.shape = ir::Shape(std::move(dims));
  return OkStatus();
}

Status CheckOneHot(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckIndices(view, 0));
  TIM_RETURN_IF_ERROR(CheckNumberOrBool(view, Operand::kOutput, 0));
  TIM_RETURN_IF_ERROR(CheckMoved(view, Operand::kOutput, 0));
  for (const char* name : {kOn, kOff}) {
    const float value = view.node.attributes.Float(name);
    if (!std::isnan(value)) continue;
    return InvalidArgument("attribute '", name, "' is not a number");
  }
  return OkStatus();
}

// The output as [inner, depth, ...], the indices as [inner, ...].
struct Expansion {
  int64_t inner = 1;
  int64_t depth = 1;
};
Result<Expansion> ExpansionOf(const ir::AttributeMap& attributes,
                              const ir::Shape& indices) {
  TIM_ASSIGN_OR_RETURN(const int axis, AxisOf(attributes, indices.rank() + 1));
  return Expansion{.inner = indices.Product(0, axis),
                   .depth = attributes.Int("depth")};
}

Status EvalOneHot(const ir::EvalContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const ir::Shape& shape = context.inputs[0].desc->shape;
  TIM_ASSIGN_OR_RETURN(const Expansion expansion,
                       ExpansionOf(attributes, shape));
  const auto& [inner, depth] = expansion;
  const IndexReader indices(context.inputs[0]);
  kernels::ElementWriter output(context.outputs[0]);
  const int64_t count = *shape.NumElements() * depth;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t d = i / inner % depth;
    const int64_t index = indices(i % inner + i / inner / depth * inner);
    output.StoreReal(i, attributes.Float(index == d ? kOn : kOff));
  }
  return OkStatus();
}

// The new dimension stays where it is.
Result<ir::PermutedNode> PermuteOneHot(const ir::NodeView& view, int operand,
                                       std::span<const int> perm) {
  TIM_ASSIGN_OR_RETURN(
      const int axis,
      AxisOf(view.node.attributes, static_cast<int>(perm.size()) + 1));
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.inputs[operand].assign(perm.begin(), perm.end());
  ir::Permutation& moved = out.outputs[0];
  for (const int from : perm) moved.push_back(from < axis ? from : from + 1);
  moved.insert(moved.begin() + axis, axis);
  return out;
}

ir::OpSchema OneHotSchema() {
  const auto real = [](const char* name, double otherwise) {
    return ir::AttributeSpec{.name = name,
                             .type = ir::AttributeType::kFloat,
                             .default_value = otherwise};
  };
  return {
      .name = "OneHot",
      .inputs = {1, 1},
      .surplus_inputs = 3,  // TFLite: depth, on_value, off_value
      .attributes = {{.name = "depth"},
                     real(kOn, 1.0),
                     real(kOff, 0.0),
                     {.name = "axis", .default_value = int64_t{0}}},
      .check = CheckOneHot,
      .infer_shapes = InferOneHot,
      .eval = EvalOneHot,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .permute_rule = PermuteOneHot};
}

Result<Expansion> AnalyzeOneHot(const ir::KernelNode& node,
                                const ir::DeviceInfo&) {
  const ir::TensorDesc& to = node.outputs[0];
  if (ir::Info(to.type).bits < 8) {
    return Unimplemented("4-bit elements have no kernel");
  }
  TIM_RETURN_IF_ERROR(CheckElementCount(to));
  TIM_RETURN_IF_ERROR(CheckKernelIndices(node.inputs[0]));
  return ExpansionOf(node.attributes(), node.inputs[0].shape);
}

Result<ir::Lowering> LowerOneHot(const Expansion& expansion,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo& device) {
  const ir::TensorDesc& indices = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const int64_t total =
      indices.shape.Product(0, indices.shape.rank()) * expansion.depth;
  // On a CPU enough to pay for finding the tile's place.
  const int64_t tile = device.device_class == ir::DeviceClass::kCpu ? 1024 : 16;
  Launch launch("ops/indexing/onehot.cl", "onehot");
  launch.Option(StrCat("-DWORD=", BitsType(to.type)));
  AddIndexOptions(indices, {}, &launch);
  launch.Input("indices", node, 0).Output("y", node, 0);
  launch.Int("total", total)
      .Int("inner", expansion.inner)
      .Int("depth", expansion.depth)
      .Int("tile", tile)
      .Long("on", RealBits(to, node.attributes().Float(kOn)))
      .Long("off", RealBits(to, node.attributes().Float(kOff)))
      .InputQuantization("index", indices);
  return launch.Tiles(device, CeilDiv(total, tile)).Build();
}

ir::KernelDef OneHotKernel() {
  return ir::TypedKernel<Expansion>{.op = "tim.OneHot",
                                    .name = "onehot",
                                    .analyze = AnalyzeOneHot,
                                    .cost = CostAt(prices::kOneHot),
                                    .lower = LowerOneHot};
}

}  // namespace

TIM_OPERATOR(onehot) {
  registry.Add(OneHotSchema());
  registry.Add(OneHotKernel());
}

}  // namespace tim::ops
