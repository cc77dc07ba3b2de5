// CumSum: sums of the elements before each along an axis.  ONNX CumSum, TFLite
// CUMSUM.
//
// Integers (one scale for all): with S the exact sum of code - zero point, the
// output is clamp(rint(float(S) * M + zero point)), M = float(scale in / scale
// out), or float(S) * scale in in a float type; integers without quantization
// on both sides: S, saturated (sums of int64 wrap).  Float types: float32, one
// addition after the other.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/reduction/reduce_node.h"

namespace tim::ops {
namespace {

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  return CheckNumber(view, Operand::kOutput, 0);
}

Status Infer(ir::InferContext& context) {
  const ir::Shape& shape = context.shape(0);
  if (shape.ranked()) {
    const auto axis = WrapAxis(context.attributes().Int("axis"), shape.rank());
    TIM_RETURN_IF_ERROR(axis.status());
  }
  return InferSameAsInput(context);
}

struct Sums {
  ReduceGroup group;
  ReduceRule rule;
  bool exclusive = false;
  bool reverse = false;
};

Result<Sums> SumsOf(const ir::AttributeMap& attributes,
                    const ir::TensorDesc& input, const ir::TensorDesc& output) {
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int("axis"), input.shape.rank()));
  return Sums{.group = GroupOfAxis(input.shape, axis),
              .rule = ReduceRuleOf(ReduceKind::kSum, input, output, 1),
              .exclusive = attributes.Int("exclusive") != 0,
              .reverse = attributes.Int("reverse") != 0};
}

// Sums of all rows.
template <typename T, typename Value, typename Add>
std::vector<T> AddUp(const Sums& sums, const Value& value, const Add& add) {
  const ReduceGroup& group = sums.group;
  std::vector<T> out(static_cast<size_t>(group.kept() * group.count));
  for (int64_t row = 0; row < group.kept(); ++row) {
    const int64_t first =
        row / group.inner * group.count * group.inner + row % group.inner;
    T sum = 0;
    for (int64_t i = 0; i < group.count; ++i) {
      const int64_t along = sums.reverse ? group.count - 1 - i : i;
      const int64_t index = first + along * group.inner;
      const T before = sum;
      sum = add(sum, value(index));
      out[static_cast<size_t>(index)] = sums.exclusive ? before : sum;
    }
  }
  return out;
}

Status Eval(const ir::EvalContext& context) {
  const ir::MutableTensor& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(
      const Sums sums,
      SumsOf(context.attributes(), *context.inputs[0].desc, *output.desc));
  const kernels::ElementReader reader(context.inputs[0]);
  if (sums.rule.value == ReduceRule::Value::kReal) {
    return StoreReduced(sums.rule,
                        AddUp<float>(
                            sums, [&](int64_t i) { return reader.Real(i); },
                            [](float a, float b) { return a + b; }),
                        output);
  }
  const auto centered = [&](int64_t i) {
    return SubtractWrapped(reader.Code(i), sums.rule.zero);
  };
  return StoreReduced(sums.rule, AddUp<int64_t>(sums, centered, AddWrapped),
                      output);
}

int64_t MemoryEstimate(const ir::NodeView& view) {
  const ReduceRule rule =
      ReduceRuleOf(ReduceKind::kSum, *view.inputs[0], *view.outputs[0], 1);
  return ReduceElementBytes(rule) *
         view.inputs[0]->shape.NumElements().value_or(0);
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  return ElementwiseEstimate(view, 1);
}

ir::OpSchema CumSumSchema() {
  return {.name = "CumSum",
          .inputs = {1, 1},
          .surplus_inputs = 1,  // TFLite, ONNX: axis
          .attributes = {{"axis", ir::AttributeType::kInt, int64_t{0}},
                         {"exclusive", ir::AttributeType::kInt, int64_t{0}},
                         {"reverse", ir::AttributeType::kInt, int64_t{0}}},
          .check = Check,
          .doubts = FirstCodes,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = MemoryEstimate,
          .compute_estimate = Estimate,
          .sliced_inputs = SliceBesideAxis("axis"),
          .permute_rule = MoveAxis("axis")};
}

// ---- kernel ----

Result<Sums> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckSumOperand(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return SumsOf(node.attributes(), node.inputs[0], node.outputs[0]);
}

// Neighbouring rows of one work-item of cumsum_columns, in vectors: as many as
// leave work for every core, as they are read together.
int64_t VectorsOf(const ReduceGroup& group, const ir::DeviceInfo& device) {
  if (device.device_class != ir::DeviceClass::kCpu) return 1;
  for (const int64_t vectors : {16, 4}) {
    const int64_t items = group.inner / (vectors * kReduceLanes) * group.outer;
    if (items >= int64_t{2} * device.compute_units) return vectors;
  }
  return 1;
}

Result<ir::Lowering> Lower(const Sums& sums, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& input = node.inputs[0];
  const ReduceGroup& group = sums.group;
  const ReduceArithmetic arithmetic =
      ReduceArithmeticOf(ReduceKind::kSum, sums.rule, input, group.count);
  const bool columns = group.inner >= kReduceLanes;
  const char* function = group.inner == 1 ? "cumsum_row"
                         : columns        ? "cumsum_columns"
                                          : "cumsum_items";
  Launch launch("ops/reduction/cumsum.cl", function);
  launch.Type("IN", input).Type("OUT", node.outputs[0]);
  AddSumOptions(arithmetic.sum, arithmetic.value, &sums.rule.finish, &launch);
  const int64_t vectors = VectorsOf(group, device);
  if (columns) launch.Option(StrCat("-DVECTORS=", vectors));
  if (sums.exclusive) launch.Option("-DEXCLUSIVE");
  if (sums.reverse) launch.Option("-DREVERSE");
  launch.Input("in", node, 0).Output("out", node, 0).InPlace(node, 0);
  if (group.inner != 1) launch.Int("inner", group.inner);
  launch.Int("count", group.count);
  if (!columns) launch.Int("rows", group.kept());
  AddSumArguments(input, sums.rule.zero, sums.rule.finish, &launch);
  if (columns) {
    launch.Tiles(device, CeilDiv(group.inner, vectors * kReduceLanes),
                 group.outer);
  } else {
    launch.Tiles(device, group.kept());
  }
  return launch.Build();
}

ir::KernelDef CumSumKernel() {
  return ir::TypedKernel<Sums>{.op = "tim.CumSum",
                               .name = "cumsum",
                               .analyze = Analyze,
                               .cost = CostAt(prices::kCumSum),
                               .lower = Lower};
}

}  // namespace

TIM_OPERATOR(cumsum) {
  registry.Add(CumSumSchema());
  registry.Add(CumSumKernel());
}

}  // namespace tim::ops
