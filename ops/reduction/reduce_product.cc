// Kernel of a product of float32 whose sum or mean is all that is read of it:
// ReduceSum or ReduceMean, in the order in which their own kernel sums.
#include <optional>
#include <utility>
#include <vector>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/axes.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/prices.h"
#include "ops/reduction/reduce_node.h"

namespace tim::ops {
namespace {

struct Problem {
  ReduceKind kind = ReduceKind::kSum;
  std::vector<bool> reduced = {};
  int in = 0;  // The input of the product's shape; the other is `factor`.
  int factor = 1;
};

std::optional<ReduceKind> KindOf(const ir::KernelNode& node) {
  if (node.epilogue.size() != 1) return std::nullopt;
  const ir::EpilogueStep& step = node.epilogue[0];
  if (step.operands[0] != ir::kRunning) return std::nullopt;
  if (step.node->schema->name == "ReduceSum") return ReduceKind::kSum;
  if (step.node->schema->name == "ReduceMean") return ReduceKind::kMean;
  return std::nullopt;
}

Status CheckFloats(const ir::KernelNode& node) {
  for (const ir::TensorDesc* desc : {&node.inputs[0], &node.inputs[1],
                                     &node.anchor_output, &node.outputs[0]}) {
    if (desc->type == ir::DataType::kFloat32) continue;
    return Unimplemented("sums products of float32, not of ",
                         ir::ToString(desc->type));
  }
  return OkStatus();
}

// Extents in memory of the factor beside an input; none where the one or the
// other should lie in another layout.  A factor that all channels share would
// reach the lanes behind the last one, too.
std::vector<int64_t> DimsBeside(const ir::TensorDesc& factor,
                                const ir::TensorDesc& input) {
  std::vector<int64_t> dims = factor.shape.dims();
  if (factor.layout.blocked()) return ir::PhysicalDims(factor);
  if (!input.layout.blocked()) return dims;
  const bool whole = input.shape[2] % kChannelBlock == 0;
  if (!whole || factor.shape.DimOr1(2) != 1) return {};
  dims.insert(dims.begin(), 1);
  return dims;
}

// The axes of a group's inner, count or outer, and the stride of the first of
// them in a factor.
struct Part {
  int64_t extent = 1;
  int64_t taken = 1;
  int64_t stride = 0;
  int64_t period = 0;  // The factor comes again after so many; 0: it does not.

  bool complete() const { return taken == extent; }
  // False where the factor goes along some of the axes only, but the fastest.
  bool Take(int64_t axis_extent, int64_t axis_stride) {
    if (taken == 1) stride = axis_stride;
    if (axis_stride == 0 && stride != 0) {
      if (period == 0) period = taken;
    } else if (period != 0 || axis_stride != stride * taken) {
      return false;
    }
    taken *= axis_extent;
    return true;
  }
};

// How a factor lies beside elements of the first group of an input; nothing
// where it goes along some of the axes only that the kernel has as one.
std::optional<ReduceFactor> FactorOf(const Problem& problem,
                                     const ir::TensorDesc& input,
                                     const ir::TensorDesc& factor) {
  const std::vector<int64_t> dims = DimsBeside(factor, input);
  if (dims.empty()) return std::nullopt;
  const std::vector<int64_t> extents = ir::PhysicalDims(input);
  const std::vector<int64_t> strides = BroadcastStrides(dims, extents);
  const ReduceGroup group = GroupsInMemory(problem.reduced, input)[0];
  Part inner{.extent = group.inner};
  Part along{.extent = group.count};
  Part outer{.extent = group.outer};
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 1) continue;
    Part& part = !inner.complete() ? inner : !along.complete() ? along : outer;
    if (!part.Take(extents[axis], strides[axis])) return std::nullopt;
  }
  if (inner.period != 0 || along.period != 0) return std::nullopt;
  return ReduceFactor{.input = problem.factor,
                      .inner = inner.stride > 0,
                      .step = along.stride,
                      .outer = outer.stride,
                      .images = outer.period > 0 ? outer.period : group.outer};
}

Result<Problem> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  const std::optional<ReduceKind> kind = KindOf(node);
  if (!kind) {
    return Unimplemented(
        "takes a product with the ReduceSum or ReduceMean that reads it");
  }
  TIM_RETURN_IF_ERROR(CheckFloats(node));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  if (node.attributes().Float("scale") != 1.0f) {
    return Unimplemented("takes no scaled product");
  }
  const ir::Shape& shape = node.anchor_output.shape;
  Problem problem{.kind = *kind};
  TIM_ASSIGN_OR_RETURN(
      problem.reduced,
      ReducedAxesOf(node.epilogue[0].node->attributes, "axis", shape));
  problem.in = node.inputs[0].shape == shape ? 0 : 1;
  problem.factor = 1 - problem.in;
  if (node.inputs[problem.in].shape != shape ||
      !FactorOf(problem, node.inputs[problem.in],
                node.inputs[problem.factor])) {
    return Unimplemented("takes no factors of shapes ",
                         node.inputs[0].shape.ToString(), " and ",
                         node.inputs[1].shape.ToString());
  }
  return problem;
}

std::vector<ir::LayoutTuple> Layouts(const Problem& problem,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out;
  ir::TensorDesc input = node.inputs[problem.in];
  for (const auto& [of_input, of_output] :
       ReduceLayouts(input, node.outputs[0], problem.reduced)) {
    ir::TensorDesc factor = node.inputs[problem.factor];
    if (of_input.blocked() && FitsChannelBlocks(factor) &&
        factor.shape[2] == input.shape[2]) {
      factor.layout = of_input;
    }
    input.layout = of_input;
    if (!FactorOf(problem, input, factor)) continue;
    ir::LayoutTuple tuple = ir::DenseLayouts(node);
    tuple.inputs[problem.in] = of_input;
    tuple.inputs[problem.factor] = factor.layout;
    tuple.outputs[0] = of_output;
    out.push_back(std::move(tuple));
  }
  return out;
}

// A product and a sum for each element.
double Cost(const Problem&, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const std::vector<const ir::TensorDesc*> inputs = {&node.inputs[0],
                                                     &node.inputs[1]};
  const ir::TensorDesc* const outputs[] = {&node.outputs[0]};
  const ir::NodeView view = {*node.anchor, inputs, outputs};
  const int64_t count = node.anchor_output.shape.NumElements().value_or(0);
  const ir::ComputeEstimate estimate{.flops = 2.0 * static_cast<double>(count),
                                     .bytes_read = InputBytes(view),
                                     .bytes_written = OutputBytes(view)};
  return EstimateMicroseconds(estimate, device, prices::kReduce);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& input = node.inputs[problem.in];
  ReduceLaunch reduction;
  reduction.groups = GroupsInMemory(problem.reduced, input);
  reduction.arithmetic.value = "PRODUCT";
  reduction.finish = ReduceRuleOf(problem.kind, input, node.outputs[0],
                                  ReducedCount(reduction.groups))
                         .finish;
  reduction.source = {.desc = input, .input = problem.in};
  reduction.factor = FactorOf(problem, input, node.inputs[problem.factor]);
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(
      AppendReduction(node, device, reduction, &lowering).status());
  lowering.applied = 1;
  return lowering;
}

}  // namespace

TIM_OPERATOR(reduce_product) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.Multiply",
                                        .name = "reduce_product",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = Layouts,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
