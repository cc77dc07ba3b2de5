// Transpose: axis i of the output is axis perm[i] of the input.
#include "ops/movement/transpose.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ir/element_map/compose.h"
#include "ir/element_map_attributes.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/axes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

Status CheckPerm(const std::vector<int64_t>& perm, const ir::Shape& input) {
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank > ir::kMaxRank) {
    return InvalidArgument("attribute 'perm' has ", rank, " axes, at most ",
                           ir::kMaxRank, " are legal");
  }
  if (input.ranked() && input.rank() != rank) {
    return InvalidArgument("attribute 'perm' has ", rank, " axes, the input ",
                           input.ToString(), " has ", input.rank());
  }
  if (!ir::IsPermutation(perm)) {
    return InvalidArgument("attribute 'perm' [", StrJoin(perm, ", "),
                           "] is not a permutation of 0 to ", rank - 1);
  }
  return OkStatus();
}

ir::Permutation PermOf(const ir::AttributeMap& attributes) {
  const auto& perm = attributes.Ints("perm");
  return ir::Permutation(perm.begin(), perm.end());
}

// Channels move along: they do not turn a copy into a conversion.
kernels::ConvertRule RuleOf(const ir::TensorDesc& input,
                            const ir::TensorDesc& output,
                            std::span<const int> perm) {
  return kernels::ConvertRuleOf(ir::Permuted(input, perm), output);
}

Status InferTranspose(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(
      CheckPerm(context.attributes().Ints("perm"), context.shape(0)));
  const ir::TensorDesc moved =
      ir::Permuted(*context.inputs[0].desc, PermOf(context.attributes()));
  ir::TensorDesc& output = context.outputs[0].desc;
  output.shape = moved.shape;
  if (output.type != ir::DataType::kUnknown) return OkStatus();
  output.type = moved.type;
  output.quantization = moved.quantization;
  return OkStatus();
}

Status CheckTranspose(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  return CheckKnownType(view, Operand::kOutput, 0);
}

// Strides in the input along the axes of the output.
std::vector<int64_t> InputStrides(const ir::Shape& input,
                                  std::span<const int> perm) {
  return ir::Permuted(ir::DenseStrides(input), perm);
}

Status EvalTranspose(const ir::EvalContext& context) {
  const ir::Permutation perm = PermOf(context.attributes());
  const ir::TensorDesc& input = *context.inputs[0].desc;
  const ir::TensorDesc& output = *context.outputs[0].desc;
  const std::vector<int64_t> strides = InputStrides(input.shape, perm);
  const std::vector<int64_t> extents = ir::Permuted(input.shape.dims(), perm);
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0],
                                      RuleOf(input, output, perm));
  const int64_t count = *input.shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    converter.Convert(IndexOf(i, extents, strides), i);
  }
  return OkStatus();
}

bool IsIdentity(const ir::NodeView& view) {
  return ir::IsIdentity(PermOf(view.node.attributes)) &&
         ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
         view.inputs[0]->shape == view.outputs[0]->shape;
}

// The output stays: its axis i is old axis perm[i] of the input.
Result<ir::PermutedNode> PermuteTranspose(const ir::NodeView& view, int,
                                          std::span<const int> moved) {
  std::vector<int64_t> perm;
  for (const int axis : PermOf(view.node.attributes)) {
    perm.push_back(ir::NewAxis(moved, axis));
  }
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.attributes.Set("perm", std::move(perm));
  out.inputs[0].assign(moved.begin(), moved.end());
  return out;
}

std::optional<ir::ElementMap> MapOf(const ir::NodeView& view) {
  const ir::Permutation perm = PermOf(view.node.attributes);
  const ir::Shape& input = view.inputs[0]->shape;
  return ir::ElementMap{.start = 0,
                        .extents = ir::Permuted(input.dims(), perm),
                        .strides = InputStrides(input, perm),
                        .bounds = {}};
}

// Where the outermost axis stays it.
std::vector<bool> SlicedInputs(const ir::NodeView& view, int axis) {
  const auto perm = PermOf(view.node.attributes);
  if (perm[axis] != axis) return {};
  return {true};
}

ir::OpSchema TransposeSchema() {
  return {
      .name = "Transpose",
      .inputs = {1, 1},
      .surplus_inputs = 1,  // TFLite: perm
      .attributes = {{.name = "perm", .type = ir::AttributeType::kInts}},
      .check = CheckTranspose,
      .doubts = AllCodes,
      .infer_shapes = InferTranspose,
      .eval = EvalTranspose,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_identity = IsIdentity,
      .element_map = MapOf,
      .sliced_inputs = SlicedInputs,
      .permute_rule = PermuteTranspose,
      .vjp = TransposeVjp};
}

// Axes of the output, the tile's two first: axis 0 and the one that is fastest
// in the input, where they have these strides.  Strides are those of the input
// and of the output.
std::vector<Axis> TileAxes(const std::vector<int64_t>& extents,
                           const std::vector<int64_t>& strides) {
  const ir::Shape output(extents);
  std::vector<Axis> axes =
      JoinAxes(extents, {strides, ir::DenseStrides(output)});
  if (axes.size() == 1) axes.push_back({.extent = 1, .strides = {0, 0}});
  const auto fastest = std::min_element(
      axes.begin() + 1, axes.end(),
      [](const Axis& a, const Axis& b) { return a.strides[0] < b.strides[0]; });
  std::rotate(axes.begin() + 1, fastest, fastest + 1);
  return axes;
}

Result<Tiles> AnalyzeTranspose(const ir::KernelNode& node,
                               const ir::DeviceInfo&) {
  const ir::Permutation perm = PermOf(node.attributes());
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = RuleOf(from, to, perm);
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, rule));
  return Tiles{.axes = TileAxes(ir::Permuted(from.shape.dims(), perm),
                                InputStrides(from.shape, perm)),
               .rule = rule};
}

// ---- element maps -----------------------------------------------------------

// Those that go through the input in other strides than through the output, as
// a transposed matrix does.
Result<Tiles> AnalyzeElementMap(const ir::KernelNode& node,
                                const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const ir::ElementMap whole,
                       ir::ElementMapOf(node.attributes()));
  const ir::ElementMap map = ir::Joined(whole);
  const auto& strides = map.strides;
  if (map.start != 0 || !map.bounds.empty() || strides[0] == 1 ||
      std::count(strides.begin(), strides.end(), 1) != 1 ||
      *std::min_element(strides.begin(), strides.end()) != 1) {
    return Unimplemented("no matrix is transposed");
  }
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, rule));
  return Tiles{.axes = TileAxes(map.extents, map.strides), .rule = rule};
}

// Tiles of both tensors' rows: cheaper than the kernel of all element maps.
ir::KernelDef ElementMapKernel() {
  return ir::TypedKernel<Tiles>{
      .op = ir::kElementMapOp,
      .name = "elementmap_transpose",
      .analyze = AnalyzeElementMap,
      .cost =
          [](const Tiles&, const ir::KernelNode& node,
             const ir::DeviceInfo& device) {
            return ElementwiseCost(node, device, prices::kElementMapTranspose) /
                   2;
          },
      .lower = LowerTiles};
}

ir::KernelDef TransposeKernel() {
  return ir::TypedKernel<Tiles>{.op = "tim.Transpose",
                                .name = "transpose",
                                .analyze = AnalyzeTranspose,
                                .cost = CostAt(prices::kTranspose),
                                .lower = LowerTiles};
}

}  // namespace

Result<ir::Lowering> LowerTiles(const Tiles& tiles, const ir::KernelNode& node,
                                const ir::DeviceInfo& device) {
  constexpr int64_t kTile = 16;
  const auto& [axes, rule] = tiles;
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const auto outer = std::span(axes).subspan(2);
  const int64_t count = CeilDiv(axes[0].extent, 16) *
                        CeilDiv(axes[1].extent, kTile) * CountElements(outer);
  Launch launch("ops/movement/transpose.cl", "transpose");
  launch.Option(StrCat("-DTILE=", kTile));
  // A tile of 16 vectors fits the registers of a CPU's core, not those that a
  // work-item has on a GPU.
  if (device.device_class == ir::DeviceClass::kCpu &&
      rule == kernels::ConvertRule::kBits && ir::Info(from.type).bits == 32 &&
      axes[1].strides[0] == 1) {
    launch.Option("-DWHOLE_TILES");
  }
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, 0).Output("y", node, 0);
  launch.Packed("outer", PackAxes(outer, 2), 4)
      .Int("outer_rank", static_cast<int64_t>(outer.size()));
  launch.Int("tiles", count)
      .Int("n0", axes[0].extent)
      .Int("n1", axes[1].extent);
  launch.Int("x0", axes[0].strides[0]).Int("x1", axes[1].strides[0]);
  launch.Int("y1", axes[1].strides[1]);
  AddConvertArguments(from, to, rule, &launch);
  return launch.Items(count).Build();
}

TIM_OPERATOR(transpose) {
  registry.Add(TransposeSchema());
  registry.Add(TransposeKernel());
  registry.Add(ElementMapKernel());
}

}  // namespace tim::ops
