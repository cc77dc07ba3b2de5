// The kernel of operators of two inputs.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/elements/axes.h"
#include "ops/elements/operands.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/byte_pairs.h"
#include "ops/launch/activation.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/launch/pieces.h"

namespace tim::ops {
namespace {

// A node, with the operator that follows.
struct FusedBinary {
  BinaryProblem binary;
  Activation activation;
  int operators = 0;  // Of the epilogue.
};

// The operator that follows, where it may be applied before the store: limits
// also to what is not rounded yet (NaN as the code 0 that it would become), as
// rounding keeps the order, unless codes wrap or a limit would be rounded
// otherwise than the operator does.
Result<Activation> FusedOf(const ir::KernelNode& node) {
  if (node.epilogue.empty()) return Activation();
  const std::string& name = node.epilogue[0].node->schema->name;
  if (node.epilogue.size() > 1) {
    return Unimplemented("only one operator is fused, not also ",
                         node.epilogue[1].node->schema->name);
  }
  TIM_ASSIGN_OR_RETURN(const Activation activation,
                       ActivationOf(node.epilogue[0], node.anchor_output));
  const kernels::RequantizePolicy policy = kernels::PolicyOf(node.attributes());
  if (policy.wrap || policy.to_zero) {
    return Unimplemented("a fused ", name,
                         " needs the policies saturate and to nearest even");
  }
  return activation;
}

Result<FusedBinary> Analyze(const BinaryOp& op, const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const Activation activation, FusedOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return FusedBinary{
      .binary =
          ProblemOf(op, {node.attributes(), node.inputs[0], node.inputs[1]},
                    node.outputs[0]),
      .activation = activation,
      .operators = static_cast<int>(node.epilogue.size())};
}

// Whether a dense operand, taken to have `dims`, can go with results in blocks:
// one value for all channels, or one for each that fills the blocks.
bool IsPerChannel(const std::vector<int64_t>& dims, const ir::TensorDesc& y) {
  const int64_t channels = y.shape[2];
  if (channels % kChannelBlock != 0 || dims.size() > 4) return false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1 && (axis != 2 || dims[axis] != channels)) return false;
  }
  return true;
}

const std::vector<int64_t>& DimsOf(const BinaryProblem& problem, int input) {
  return input == 0 ? problem.a.shape.dims() : problem.b_shape.dims();
}

// Blocks need operands with the output's channels: one channel that is
// broadcast would also reach the tail lanes.
std::vector<ir::LayoutTuple> BinaryLayouts(const FusedBinary& problem,
                                           const ir::KernelNode& node,
                                           const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& y = node.outputs[0];
  if (!FitsChannelBlocks(y)) return out;
  ir::LayoutTuple blocks = SameLayouts(node, ChannelBlocks());
  int blocked = 0;
  for (int i = 0; i < 2; ++i) {
    const ir::TensorDesc& input = node.inputs[i];
    if (FitsChannelBlocks(input) && input.shape[2] == y.shape[2]) {
      ++blocked;
    } else if (IsPerChannel(DimsOf(problem.binary, i), y)) {
      blocks.inputs[i] = ir::Layout::Dense();
    } else {
      return out;
    }
  }
  if (blocked > 0 && KeepsTail(node)) out.push_back(std::move(blocks));
  return out;
}

// Extents in memory of an operand that goes with results `y`.
std::vector<int64_t> DimsBeside(const ir::KernelNode& node,
                                const BinaryProblem& problem, int input) {
  const ir::TensorDesc& desc = node.inputs[input];
  const std::vector<int64_t>& dims = DimsOf(problem, input);
  if (desc.layout.blocked()) return ir::PhysicalDims(desc);
  if (!node.outputs[0].layout.blocked()) return dims;
  if (dims.size() < 3 || dims[2] == 1) return {1};
  return {kChannelBlock, 1, 1, dims[2] / kChannelBlock};
}

Axis AxisOr1(const std::vector<Axis>& axes, size_t axis) {
  return axis < axes.size() ? axes[axis] : Axis{.strides = {0, 0}};
}

// Rows along the first axis.
void AddRows(const std::vector<Axis>& axes, const ir::DeviceInfo& device,
             Launch* launch) {
  const Axis& along = axes[0];
  const Axis rows = AxisOr1(axes, 1);
  const auto outer = std::span(axes).subspan(std::min<size_t>(axes.size(), 2));
  const RowExtents extents = {.length = along.extent,
                              .rows = rows.extent,
                              .planes = CountElements(outer)};
  const Pieces pieces = PiecesOf(extents, device);
  launch->Packed("outer", PackAxes(outer, 2), 4)
      .Struct("sizes", {{"outer_rank", static_cast<int64_t>(outer.size())},
                        {"planes", extents.planes},
                        {"rows", extents.rows},
                        {"a_row", rows.strides[0]},
                        {"b_row", rows.strides[1]},
                        {"group", pieces.group},
                        {"row_length", extents.length},
                        {"a_step", along.strides[0]},
                        {"b_step", along.strides[1]},
                        {"piece", pieces.piece}})
      .Items(CountItems(extents, pieces));
}

// The parameters from `scale` on.
void AddNumbers(const BinaryProblem& problem, const ir::TensorDesc& y,
                const std::optional<BytePairs>& bytes,
                const Activation& activation, Launch* launch) {
  const LinearCodes* linear =
      bytes && bytes->linear ? &*bytes->linear : nullptr;
  launch->Float("scale", linear ? linear->start : problem.scale)
      .Float("activation_a", activation.parameters.a)
      .Float("activation_b", activation.parameters.b);
  const ir::Limits limits = activation.limits.value_or(ir::Limits());
  launch->Int("low", bytes ? CodeOf(limits.low, y) : 0)
      .Int("high", bytes ? CodeOf(limits.high, y) : 0);
  if (linear) {
    launch->Float("a_scale", linear->a).Int("a_zero", 0);
    launch->Float("b_scale", linear->b).Int("b_zero", 0);
  } else {
    launch->InputQuantization("a", problem.a);
    launch->InputQuantization("b", problem.b);
  }
  launch->OutputQuantization("y", y);
}

Result<ir::Lowering> LowerBinary(const FusedBinary& fused,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo& device) {
  const auto& [problem, activation, operators] = fused;
  const ir::TensorDesc& a = problem.a;
  const ir::TensorDesc& b = problem.b;
  const ir::TensorDesc& y = node.outputs[0];
  const std::vector<int64_t> extents = ir::PhysicalDims(y);
  const auto bytes =
      BytePairsOf(problem, y, kernels::PolicyOf(node.attributes()));
  Launch launch("ops/elementwise/elementwise.cl", "elementwise");
  launch.Type("IN0", a).Type("IN1", b).Type("OUT", y);
  launch.Formula("FUNCTION", problem.formula);
  if (bytes) {
    launch.Option(StrCat("-DCORRECTIONS=", bytes->corrections));
  } else if (activation.pointwise != nullptr) {
    launch.Formula("ACTIVATION", *activation.pointwise);
  }
  if (bytes && bytes->linear) {
    launch.Option("-DLINEAR");
  } else if (problem.scale != 1.0f) {
    launch.Option("-DSCALED");
  }
  if (problem.exact) launch.Option("-DPLAIN");
  launch.Policy(node.attributes());
  launch.Input("a", node, 0).Input("b", node, 1).Output("y", node, 0);
  launch.InPlace(node, 0).InPlace(node, 1);
  launch.Applies(operators);
  AddRows(JoinAxes(extents,
                   {BroadcastStrides(DimsBeside(node, problem, 0), extents),
                    BroadcastStrides(DimsBeside(node, problem, 1), extents)}),
          device, &launch);
  AddNumbers(problem, y, bytes, activation, &launch);
  return launch.Build();
}

}  // namespace

ir::KernelDef BinaryKernel(const BinaryOp& op) {
  return ir::TypedKernel<FusedBinary>{
      .op = StrCat("tim.", op.name),
      .name = LowerCase(op.name),
      .takes_epilogue = true,
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo&) { return Analyze(op, node); },
      .layouts = BinaryLayouts,
      .cost = CostAt(prices::kBinary),
      .lower = LowerBinary};
}

}  // namespace tim::ops
