// Moments: mean and variance (of the population) along some axes.  TensorFlow
// nn.moments.
//
// The mean is ReduceMean's in float32, m; the variance is the sum of (x - m)^2
// in float32, in the order of reduce_axes.h, divided by the number of elements.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/reduction/reduce_node.h"
#include "ops/reduction/reduce_permute.h"

namespace tim::ops {
namespace {

constexpr char kAxes[] = "axes";

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  return CheckNumber(view, Operand::kOutput, 1);
}

Status Infer(ir::InferContext& context) { return InferReduced(context, kAxes); }

ir::TensorDesc Floats(int64_t count) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape({count});
  return desc;
}

// How the mean is made, and how it and the sum of squares are stored.
struct Rules {
  ReduceRule mean;
  ReduceRule stored_mean;
  ReduceRule variance;
};
Rules RulesOf(const ir::TensorDesc& input, const ir::TensorDesc& mean,
              const ir::TensorDesc& variance, int64_t count) {
  const ir::TensorDesc real = Floats(1);
  return {.mean = ReduceRuleOf(ReduceKind::kMean, input, real, count),
          .stored_mean = ReduceRuleOf(ReduceKind::kSum, real, mean, 1),
          .variance = ReduceRuleOf(ReduceKind::kMean, real, variance, count)};
}

// ---- eval ----

Result<std::vector<float>> MeansOf(const ReduceRule& rule,
                                   std::span<const ReduceGroup> groups,
                                   const kernels::ElementReader& reader) {
  std::vector<float> means(static_cast<size_t>(groups.back().kept()));
  const ir::TensorDesc desc = Floats(groups.back().kept());
  const ir::MutableTensor output = {&desc, means.data()};
  if (rule.value == ReduceRule::Value::kReal) {
    const std::vector<float> sums = ReduceGroupsOf(
        groups, 0.0f, [&](int64_t i) { return reader.Real(i); },
        [](float a, float b) { return a + b; });
    TIM_RETURN_IF_ERROR(StoreReduced(rule, sums, output));
  } else {
    const std::vector<int64_t> sums = ReduceGroupsOf(
        groups, int64_t{0},
        [&](int64_t i) { return SubtractWrapped(reader.Code(i), rule.zero); },
        AddWrapped);
    TIM_RETURN_IF_ERROR(StoreReduced(rule, sums, output));
  }
  return means;
}

Status Eval(const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  const ir::Shape& shape = input.shape;
  TIM_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       ReducedAxesOf(context.attributes(), kAxes, shape));
  const std::vector<ReduceGroup> groups = ReduceGroups(shape, reduced);
  const Rules rules = RulesOf(input, *context.outputs[0].desc,
                              *context.outputs[1].desc, ReducedCount(groups));
  const kernels::ElementReader reader(context.inputs[0]);
  TIM_ASSIGN_OR_RETURN(const std::vector<float> means,
                       MeansOf(rules.mean, groups, reader));
  TIM_RETURN_IF_ERROR(
      StoreReduced(rules.stored_mean, means, context.outputs[0]));
  const auto strides = BroadcastStrides(
      ReducedShape(shape, reduced, /*keep_dims=*/true).dims(), shape.dims());
  const std::vector<float> squares = ReduceGroupsOf(
      groups, 0.0f,
      [&](int64_t i) {
        const float d =
            reader.Real(i) -
            means[static_cast<size_t>(IndexOf(i, shape.dims(), strides))];
        return d * d;
      },
      [](float a, float b) { return a + b; });
  return StoreReduced(rules.variance, squares, context.outputs[1]);
}

int64_t MemoryEstimate(const ir::NodeView& view) {
  const ir::Shape& shape = view.inputs[0]->shape;
  const auto reduced = ReducedAxesOf(view.node.attributes, kAxes, shape);
  if (!reduced.ok()) return 0;
  const auto groups = ReduceGroups(shape, *reduced);
  const Rules rules = RulesOf(*view.inputs[0], *view.outputs[0],
                              *view.outputs[1], ReducedCount(groups));
  return ReduceScratchBytes(groups, ReduceElementBytes(rules.mean)) +
         groups.back().kept() * 4;
}

// A sum, and a sum of squared differences.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto count = view.inputs[0]->shape.NumElements();
  return {.flops = 4 * static_cast<double>(count.value_or(0)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

Result<ir::PermutedNode> Permute(const ir::NodeView& view, int,
                                 std::span<const int> perm) {
  const bool floats =
      ir::IsFloat(view.outputs[0]->type) && ir::IsFloat(view.outputs[1]->type);
  return PermuteReduced(
      view, kAxes, floats ? ReduceOrder::kAny : ReduceOrder::kMatters, perm);
}

ir::OpSchema MomentsSchema() {
  return {.name = "Moments",
          .inputs = {1, 1},
          .outputs = {2, 2},
          .attributes = {{kAxes, ir::AttributeType::kInts},
                         {"keep_dims", ir::AttributeType::kBool, false}},
          .check = Check,
          .doubts = AllCodes,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = MemoryEstimate,
          .compute_estimate = Estimate,
          .permute_rule = Permute};
}

// ---- kernel ----

// Axes that are reduced, as flags.
Result<std::vector<bool>> Analyze(const ir::KernelNode& node,
                                  const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckSumOperand(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return ReducedAxesOf(node.attributes(), kAxes, node.inputs[0].shape);
}

Result<ir::Lowering> Lower(const std::vector<bool>& reduced,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& input = node.inputs[0];
  const std::vector<ReduceGroup> groups = ReduceGroups(input.shape, reduced);
  const int64_t count = ReducedCount(groups);
  const int64_t kept = groups.back().kept();
  const Rules rules = RulesOf(input, node.outputs[0], node.outputs[1], count);
  ir::Lowering lowering;
  const ReduceSource source = {.desc = input, .zero = rules.mean.zero};
  TIM_ASSIGN_OR_RETURN(
      const int means,
      AppendReduction(node, device,
                      {.groups = groups,
                       .arithmetic = ReduceArithmeticOf(
                           ReduceKind::kMean, rules.mean, input, count),
                       .finish = rules.mean.finish,
                       .source = source,
                       .output = -1},
                      &lowering));
  TIM_RETURN_IF_ERROR(
      AppendReduction(node, device,
                      {.groups = {{.inner = kept}},
                       .finish = rules.stored_mean.finish,
                       .source = {.desc = Floats(kept), .scratch = means},
                       .output = 0},
                      &lowering)
          .status());
  const ReduceMeans around = {
      .scratch = means, .axes = AxesBehindFirstGroup(input.shape, reduced)};
  TIM_RETURN_IF_ERROR(AppendReduction(node, device,
                                      {.groups = groups,
                                       .arithmetic = {.value = "SQUARE"},
                                       .finish = rules.variance.finish,
                                       .source = source,
                                       .means = around,
                                       .output = 1},
                                      &lowering)
                          .status());
  return lowering;
}

ir::KernelDef MomentsKernel() {
  return ir::TypedKernel<std::vector<bool>>{.op = "tim.Moments",
                                            .name = "moments",
                                            .analyze = Analyze,
                                            .cost = CostAt(prices::kMoments),
                                            .lower = Lower};
}

}  // namespace

TIM_OPERATOR(moments) {
  registry.Add(MomentsSchema());
  registry.Add(MomentsKernel());
}

}  // namespace tim::ops
