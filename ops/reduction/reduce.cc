// ReduceMin, ReduceMax, ReduceAny, ReduceAll, ReduceProd, ReduceMean and
// ReduceSum over several axes.  ONNX ReduceMin, ReduceMax, ReduceProd,
// ReduceMean, ReduceSum; TFLite REDUCE_MIN, REDUCE_MAX, REDUCE_ANY, REDUCE_ALL,
// REDUCE_PROD, MEAN, SUM.
//
// Integers (one scale for all): with S the exact sum (or the extreme) of code -
// zero point, the output is clamp(rint(float(S) * M + zero point)) with M =
// float(scale in / scale out), or float(S) * scale in in a float type; a mean
// is of float(S) / float(count), correctly rounded.  Integers without
// quantization on both sides: exact, saturated (sums of int64 wrap); a mean is
// rounded half to even.  Products of quantized integers, and all of float
// types, are joined as real values in float32, in the order of reduce_axes.h.
// NaN among the elements of a minimum or maximum is the result.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/reduction/reduce_node.h"
#include "ops/reduction/reduce_permute.h"
#include "ops/reduction/reduction_rules.h"

namespace tim::ops {
namespace {

struct ReduceOp {
  const char* name = nullptr;  ///< Of the schema.
  ReduceKind kind = ReduceKind::kSum;
  VjpRule vjp = nullptr;
};

constexpr ReduceOp kOps[] = {
    {"ReduceMin", ReduceKind::kMin, ReduceExtremeVjp},
    {"ReduceMax", ReduceKind::kMax, ReduceExtremeVjp},
    {"ReduceAny", ReduceKind::kAny},
    {"ReduceAll", ReduceKind::kAll},
    {"ReduceProd", ReduceKind::kProd},
    {"ReduceMean", ReduceKind::kMean, ReduceMeanVjp},
    {"ReduceSum", ReduceKind::kSum, ReduceSumVjp},
};

bool IsLogical(ReduceKind kind) {
  return kind == ReduceKind::kAny || kind == ReduceKind::kAll;
}

Status Check(ReduceKind kind, const ir::NodeView& view) {
  const auto check = IsLogical(kind) ? CheckNumberOrBool : CheckNumber;
  TIM_RETURN_IF_ERROR(check(view, Operand::kInput, 0));
  return check(view, Operand::kOutput, 0);
}

Result<std::vector<ReduceGroup>> GroupsOf(const ir::AttributeMap& attributes,
                                          const ir::Shape& shape) {
  TIM_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       ReducedAxesOf(attributes, "axis", shape));
  return ReduceGroups(shape, reduced);
}

// ---- eval ----

float JoinFloats(ReduceKind kind, float a, float b) {
  switch (kind) {
    case ReduceKind::kProd:
      return a * b;
    case ReduceKind::kMin:
      return b < a || b != b ? b : a;
    case ReduceKind::kMax:
      return b > a || b != b ? b : a;
    default:
      return a + b;
  }
}

int64_t MultiplySaturated(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min()
                            : std::numeric_limits<int64_t>::max();
}

int64_t JoinIntegers(ReduceKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ReduceKind::kProd:
      return MultiplySaturated(a, b);
    case ReduceKind::kMin:
    case ReduceKind::kAll:
      return std::min(a, b);
    case ReduceKind::kMax:
    case ReduceKind::kAny:
      return std::max(a, b);
    default:
      return AddWrapped(a, b);
  }
}

// What changes nothing when it is joined.
template <typename T>
T IdentityOf(ReduceKind kind) {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
    case ReduceKind::kProd:
      return 1;
    case ReduceKind::kMin:
    case ReduceKind::kAll:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ReduceKind::kMax:
    case ReduceKind::kAny:
      return Limits::has_infinity ? -Limits::infinity() : Limits::min();
    default:
      return 0;
  }
}

Status EvalReduce(ReduceKind kind, const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  TIM_ASSIGN_OR_RETURN(const std::vector<ReduceGroup> groups,
                       GroupsOf(context.attributes(), input.shape));
  const ReduceRule rule =
      ReduceRuleOf(kind, input, *context.outputs[0].desc, ReducedCount(groups));
  const kernels::ElementReader reader(context.inputs[0]);
  if (rule.value == ReduceRule::Value::kReal) {
    const std::vector<float> results = ReduceGroupsOf(
        groups, IdentityOf<float>(kind),
        [&](int64_t i) { return reader.Real(i); },
        [&](float a, float b) { return JoinFloats(kind, a, b); });
    return StoreReduced(rule, results, context.outputs[0]);
  }
  const bool truth = rule.value == ReduceRule::Value::kTruth;
  const std::vector<int64_t> results = ReduceGroupsOf(
      groups, IdentityOf<int64_t>(kind),
      [&](int64_t i) -> int64_t {
        if (truth) return reader.Real(i) != 0.0f;
        return SubtractWrapped(reader.Code(i), rule.zero);
      },
      [&](int64_t a, int64_t b) { return JoinIntegers(kind, a, b); });
  return StoreReduced(rule, results, context.outputs[0]);
}

int64_t MemoryEstimate(ReduceKind kind, const ir::NodeView& view) {
  const auto groups = GroupsOf(view.node.attributes, view.inputs[0]->shape);
  if (!groups.ok()) return 0;
  const ReduceRule rule = ReduceRuleOf(kind, *view.inputs[0], *view.outputs[0],
                                       ReducedCount(*groups));
  return ReduceScratchBytes(*groups, ReduceElementBytes(rule));
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto count = view.inputs[0]->shape.NumElements();
  return {.flops = static_cast<double>(count.value_or(0)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

// Extremes of single elements are these elements.
bool IsView(ReduceKind kind, const ir::NodeView& view) {
  if (kind != ReduceKind::kMin && kind != ReduceKind::kMax) return false;
  const auto groups = GroupsOf(view.node.attributes, view.inputs[0]->shape);
  return groups.ok() && ReducedCount(*groups) == 1 &&
         ir::SameElements(*view.inputs[0], *view.outputs[0]);
}

// Sums of integers are exact; float results may differ in their last bits, of
// which rounding to codes, an overflow or a zero could make more.
ReduceOrder OrderOf(ReduceKind kind, const ir::NodeView& view) {
  const ir::TensorDesc& input = *view.inputs[0];
  const ir::TensorDesc& output = *view.outputs[0];
  bool any = true;
  if (kind == ReduceKind::kProd) {
    any = ReduceRuleOf(kind, input, output, 1).value ==
              ReduceRule::Value::kCentered &&
          ir::Info(output.type).bits <= 32;
  } else if (kind == ReduceKind::kMean || kind == ReduceKind::kSum) {
    any = HasOneRule(input) || ir::IsFloat(output.type);
  }
  return any ? ReduceOrder::kAny : ReduceOrder::kMatters;
}

ir::OpSchema Schema(const ReduceOp& op) {
  const ReduceKind kind = op.kind;
  return {
      .name = op.name,
      .inputs = {1, 1},
      .surplus_inputs = 1,  // TFLite: axes
      .attributes = {{"axis", ir::AttributeType::kInts},
                     {"keep_dims", ir::AttributeType::kBool}},
      .check = [kind](const ir::NodeView& view) { return Check(kind, view); },
      .doubts = FirstCodes,
      .infer_shapes =
          [](ir::InferContext& context) {
            return InferReduced(context, "axis");
          },
      .eval =
          [kind](const ir::EvalContext& context) {
            return EvalReduce(kind, context);
          },
      .memory_estimate =
          [kind](const ir::NodeView& view) {
            return MemoryEstimate(kind, view);
          },
      .compute_estimate = Estimate,
      .is_view =
          [kind](const ir::NodeView& view) { return IsView(kind, view); },
      .permute_rule =
          [kind](const ir::NodeView& view, int, std::span<const int> perm) {
            return PermuteReduced(view, "axis", OrderOf(kind, view), perm);
          },
      .vjp = op.vjp};
}

// ---- kernel ----

// Axes that are reduced, as flags.
Result<std::vector<bool>> Analyze(const ir::KernelNode& node,
                                  const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckSumOperand(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return ReducedAxesOf(node.attributes(), "axis", node.inputs[0].shape);
}

std::vector<ir::LayoutTuple> Layouts(const std::vector<bool>& reduced,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out;
  for (const auto& [input, output] :
       ReduceLayouts(node.inputs[0], node.outputs[0], reduced)) {
    out.push_back({{input}, {output}});
  }
  return out;
}

Result<ir::Lowering> Lower(ReduceKind kind, const std::vector<bool>& reduced,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& input = node.inputs[0];
  ReduceLaunch reduction;
  reduction.groups = GroupsInMemory(reduced, input);
  const int64_t count = ReducedCount(reduction.groups);
  const ReduceRule rule = ReduceRuleOf(kind, input, node.outputs[0], count);
  reduction.arithmetic = ReduceArithmeticOf(kind, rule, input, count);
  reduction.finish = rule.finish;
  reduction.source = {.desc = input, .zero = rule.zero};
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(
      AppendReduction(node, device, reduction, &lowering).status());
  return lowering;
}

ir::KernelDef Kernel(const ReduceOp& op) {
  const ReduceKind kind = op.kind;
  return ir::TypedKernel<std::vector<bool>>{
      .op = StrCat("tim.", op.name),
      .name = LowerCase(op.name),
      .analyze = Analyze,
      .layouts = Layouts,
      .cost = CostAt(prices::kReduce),
      .lower = [kind](const std::vector<bool>& reduced,
                      const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
        return Lower(kind, reduced, node, device);
      }};
}

}  // namespace

TIM_OPERATOR(reduce) {
  for (const ReduceOp& op : kOps) {
    registry.Add(Schema(op));
    registry.Add(Kernel(op));
  }
}

}  // namespace tim::ops
