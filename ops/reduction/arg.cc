// ArgMax and ArgMin: the index of the first greatest (least) element along an
// axis.  ONNX ArgMax, ArgMin with keepdims 0; TFLite ARG_MAX, ARG_MIN.
//
// A scan with a strict comparison from element 0 on: NaN wins only as element
// 0, which nothing beats then.  Integers are compared by their codes.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/reduction/reduce_permute.h"

namespace tim::ops {
namespace {

struct ArgOp {
  const char* name = nullptr;
  const char* macro = nullptr;  ///< Of arg.cl.
  bool greatest = true;
};
constexpr ArgOp kOps[] = {{"ArgMax", "GREATEST", true},
                          {"ArgMin", "LEAST", false}};

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  const ir::DataType type = view.outputs[0]->type;
  if (ir::IsInteger(type) && type != ir::DataType::kUint64) return OkStatus();
  return InvalidArgument("output 0 is ", ir::ToString(type),
                         ", expected an integer type other than uint64");
}

Result<int> AxisOf(const ir::AttributeMap& attributes, const ir::Shape& shape) {
  return WrapAxis(attributes.Int("axis"), shape.rank());
}

std::vector<bool> OnlyAxis(int axis, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  reduced[axis] = true;
  return reduced;
}

Status Infer(ir::InferContext& context) {
  auto& output = context.outputs[0];
  if (output.desc.type == ir::DataType::kUnknown) {
    output.desc.type = ir::DataType::kInt32;
  }
  const ir::Shape& shape = context.shape(0);
  if (!shape.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const int axis, AxisOf(context.attributes(), shape));
  output.desc.shape = ReducedShape(shape, OnlyAxis(axis, shape.rank()),
                                   /*keep_dims=*/false);
  output.is_scalar = shape.rank() == 1;
  return OkStatus();
}

Result<ReduceGroup> GroupOf(const ir::AttributeMap& attributes,
                            const ir::Shape& shape) {
  TIM_ASSIGN_OR_RETURN(const int axis, AxisOf(attributes, shape));
  return GroupOfAxis(shape, axis);
}

template <typename Value>
void EvalArg(bool greatest, const ReduceGroup& group, const Value& value,
             kernels::ElementWriter* output) {
  for (int64_t result = 0; result < group.kept(); ++result) {
    const int64_t first =
        result / group.inner * group.count * group.inner + result % group.inner;
    int64_t best = 0;
    for (int64_t i = 1; i < group.count; ++i) {
      const auto x = value(first + i * group.inner);
      const auto y = value(first + best * group.inner);
      if (greatest ? x > y : x < y) best = i;
    }
    output->StoreCode(result, best);
  }
}

Status Eval(bool greatest, const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  TIM_ASSIGN_OR_RETURN(const ReduceGroup group,
                       GroupOf(context.attributes(), input.shape));
  const kernels::ElementReader reader(context.inputs[0]);
  kernels::ElementWriter writer(context.outputs[0]);
  if (ir::IsFloat(input.type)) {
    EvalArg(
        greatest, group, [&](int64_t i) { return reader.Real(i); }, &writer);
  } else {
    EvalArg(
        greatest, group, [&](int64_t i) { return reader.Code(i); }, &writer);
  }
  return OkStatus();
}

// A comparison for each element.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto count = view.inputs[0]->shape.NumElements();
  return {.flops = static_cast<double>(count.value_or(0)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

Result<ir::PermutedNode> Permute(const ir::NodeView& view, int,
                                 std::span<const int> perm) {
  return PermuteWithoutAxis(view, perm);
}

ir::OpSchema Schema(const ArgOp& op) {
  return {.name = op.name,
          .inputs = {1, 1},
          .surplus_inputs = 1,  // TFLite: dimension
          .attributes = {{"axis", ir::AttributeType::kInt}},
          .check = Check,
          .infer_shapes = Infer,
          .eval =
              [greatest = op.greatest](const ir::EvalContext& context) {
                return Eval(greatest, context);
              },
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate,
          .permute_rule = Permute};
}

// ---- kernel ----

// Elements along the axis that one work-item looks at.
constexpr int64_t kArgChunk = 8192;

// Codes are compared as they are: per-channel scales do not matter.
Result<ReduceGroup> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node, {0}));
  return GroupOf(node.attributes(), node.inputs[0].shape);
}

const char* ValueType(ir::DataType type) {
  if (ir::IsFloat(type)) return "float";
  const bool fits = ir::Info(type).bits <= 16 || type == ir::DataType::kInt8 ||
                    type == ir::DataType::kInt32;
  return fits ? "int" : "long";
}

Launch ArgLaunch(const ArgOp& op, const ir::KernelNode& node,
                 const char* function) {
  Launch launch("ops/reduction/arg.cl", function);
  launch.Type("IN", node.inputs[0])
      .Option(StrCat("-DVALUE=", ValueType(node.inputs[0].type)))
      .Option(StrCat("-DARG=", op.macro));
  launch.Input("in", node, 0);
  return launch;
}

Status AppendArg(const ArgOp& op, const ir::KernelNode& node,
                 const ir::DeviceInfo& device, const ReduceGroup& group,
                 ir::Lowering* lowering) {
  const int64_t chunks = CeilDiv(group.count, kArgChunk);
  const int64_t results = group.kept() * chunks;
  const bool row = group.inner == 1 && group.count >= kReduceLanes;
  const bool columns = group.inner >= kReduceLanes;
  Launch launch = ArgLaunch(op, node,
                            row       ? "arg_row"
                            : columns ? "arg_columns"
                                      : "arg_gather");
  if (chunks > 1) {
    launch.Option("-DOUT=I32").Scratch("out", results * 4, 4);
  } else {
    launch.Type("OUT", node.outputs[0]).Output("out", node, 0);
  }
  if (!row) launch.Int("inner", group.inner);
  launch.Int("count", group.count).Int("chunks", chunks);
  if (!columns) launch.Int("results", results);
  launch.Int("chunk", kArgChunk);
  if (columns) {
    launch.Tiles(device, CeilDiv(group.inner, kReduceLanes),
                 chunks * group.outer);
  } else {
    launch.Tiles(device, row ? results : CeilDiv(results, kReduceLanes));
  }
  return launch.AppendTo(lowering);
}

// The best of what the chunks have found.
Status AppendJoin(const ArgOp& op, const ir::KernelNode& node,
                  const ir::DeviceInfo& device, const ReduceGroup& group,
                  ir::Lowering* lowering) {
  const int found = static_cast<int>(lowering->scratch.size()) - 1;
  Launch launch = ArgLaunch(op, node, "arg_join");
  launch.Type("OUT", node.outputs[0])
      .EarlierScratch("found", found, 4)
      .Output("out", node, 0)
      .Int("inner", group.inner)
      .Int("count", group.count)
      .Int("chunks", CeilDiv(group.count, kArgChunk))
      .Int("results", group.kept())
      .Tiles(device, group.kept());
  return launch.AppendTo(lowering);
}

Result<ir::Lowering> Lower(const ArgOp& op, const ReduceGroup& group,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(AppendArg(op, node, device, group, &lowering));
  if (group.count > kArgChunk) {
    TIM_RETURN_IF_ERROR(AppendJoin(op, node, device, group, &lowering));
  }
  return lowering;
}

ir::KernelDef Kernel(const ArgOp& op) {
  return ir::TypedKernel<ReduceGroup>{
      .op = StrCat("tim.", op.name),
      .name = LowerCase(op.name),
      .analyze = Analyze,
      .cost = CostAt(prices::kArg),
      .lower = [op](const ReduceGroup& group, const ir::KernelNode& node,
                    const ir::DeviceInfo& device) {
        return Lower(op, group, node, device);
      }};
}

}  // namespace

TIM_OPERATOR(arg) {
  for (const ArgOp& op : kOps) {
    registry.Add(Schema(op));
    registry.Add(Kernel(op));
  }
}

}  // namespace tim::ops
